"""What the host does for the second picture of a renderer: nothing that the first has done, and no reading in vain."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.film.film import Film, set_single_samples
from raystream.programs import PICTURES
from raystream.stream.gl.stream import Stream


@pytest.mark.parametrize(
    ("program", "layers", "floats"),
    [
        ("cast", (), [3]),  # the radiance, without the texture's fourth component
        ("cast", ("depth",), [3, 4]),  # of a hit distance and triangle, which lie in one
        ("cast", ("instance",), [3, 4, 1]),
        ("cast", ("normal", "albedo"), [3, 3, 3]),
        ("path", (), [4, 4]),  # the film
    ],
)
def test_programs_are_wired_once_and_what_is_asked_for_is_read(program, layers, floats, device, monkeypatch) -> None:
    made: list[str] = []
    make = PICTURES[program].make

    @wraps(make)
    def counted(*given: Any, **named: Any) -> Any:
        made.append(program)
        return make(*given, **named)

    monkeypatch.setitem(PICTURES, program, replace(PICTURES[program], make=counted))
    renderer = Renderer(raystream.load("cornell"), device=device, program=program, machine="singlepass")
    first = renderer.render((8, 8), spp=1, layers=layers)
    assert made
    made.clear()
    read: list[int] = []
    texels = Stream._texels
    monkeypatch.setattr(Stream, "_texels", lambda *given: [found := texels(*given), read.append(found.shape[2])][0])
    second = renderer.render((8, 8), spp=1, layers=layers)
    assert not made and read == floats  # of a pixel
    assert np.array_equal(first.linear, second.linear)


def test_a_single_sample_is_a_film_s_mean() -> None:
    samples = np.random.default_rng(1).normal(size=(5, 7, 4)).astype(np.float32)[..., :3]
    samples[0, 0, 1], samples[1, 2, 0], samples[2, 2, 2], samples[3, 3] = np.nan, np.inf, -2e30, -0.0
    samples[4, 6, 0] = 2.0**100
    film, out = Film(7, 5), samples.copy()
    film.add(samples)
    set_single_samples(out)
    np.testing.assert_array_equal(out.view(np.uint32), film.mean().view(np.uint32))  # zeros have a sign
    assert np.count_nonzero((out == 0).all(axis=-1)) == 5
