"""A call of the interface makes the context current once; the second picture does nothing that the first has done."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import moderngl
import numpy as np
import pytest

import raystream
from raystream import Renderer, Scene
from raystream.film.error import Stop
from raystream.film.film import Film, set_single_samples
from raystream.programs import PICTURES
from raystream.renderer.session.session import Session
from raystream.scene.scene import Instance
from raystream.stream.gl import contexts
from raystream.stream.gl.stream import Stream

PATIENCE = 60.0  # seconds, after which a thread that should have ended hangs
SIZE = (24, 16)
TRIANGLE = Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
LIT = TRIANGLE.with_parts(instances=[Instance(0), Instance(0, np.diag([0.5, 0.5, 2.0, 1.0]))])
OPTIONS: dict[str, Any] = {"accel": "two-level-bvh", "environment": "sky", "camera": "0.2,0.1,3 0,0,0"}

CALLS: dict[str, Callable[[Renderer], Any]] = {
    "samples": lambda renderer: renderer.render(SIZE, spp=3),
    "layers": lambda renderer: renderer.render(SIZE, spp=2, layers=("albedo", "direct_diffuse", "occlusion", "steps")),
    "the default": lambda renderer: renderer.render(SIZE),
    "until an error": lambda renderer: renderer.render(SIZE, error=0.1),
    "rays": lambda renderer: renderer.trace([[0, 0, 3], [0, 9, 3]], [[0, 0, -1]] * 2),
    "a setting": lambda renderer: renderer.update(fov=30.0),
    "a move": lambda renderer: renderer.move({1: renderer.scene.instances[1].transform @ np.diag([1.1, 1, 1, 1])}),
    "vertices": lambda renderer: renderer.deform(0, LIT.meshes[0].positions * np.float32(1.25)),
    "facts": lambda renderer: renderer.info(),
    "shaders": lambda renderer: renderer.reload(),
    "the end": lambda renderer: renderer.release(),
}


@pytest.fixture
def switches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each time that a context is made current; none is."""
    request.getfixturevalue("device")
    found: list[int] = []
    enter = moderngl.Context.__enter__

    def counted(context: moderngl.Context) -> moderngl.Context:
        found.append(1)
        return enter(context)

    monkeypatch.setattr(moderngl.Context, "__enter__", counted)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_once_a_call(switches: list[int], name: str) -> None:
    renderer = Renderer(LIT, **OPTIONS)
    if name != "the end":
        CALLS[name](renderer)
    switches.clear()
    CALLS[name](renderer)
    assert len(switches) == 1


@pytest.mark.parametrize("options", [{"program": "cast", "fuse": "none"}, {"program": "photon", "photons": 64}])
def test_programs_of_many_passes(switches: list[int], options: dict[str, Any]) -> None:
    scene = raystream.load("cornell")
    renderer = Renderer(scene, **options)
    first = renderer.render(SIZE, spp=2, stats=True)
    switches.clear()
    assert np.array_equal(renderer.render(SIZE, spp=2).linear, first.linear)
    assert len(switches) == 1 and len(first.stats.passes) > 10


def test_a_session_of_its_own(switches: list[int]) -> None:
    """Which nobody's call surrounds."""
    renderer = Renderer(LIT, **OPTIONS)
    for _ in range(2):
        session = Session(renderer, SIZE, Stop(3))
        switches.clear()
        session.finish()
        assert session.samples == 3
    assert len(switches) == 1


def test_a_picture_in_one_line(switches: list[int]) -> None:
    """One for the scene's parts at most, one for the picture and the end."""
    raystream.render(LIT, size=SIZE, spp=1, **OPTIONS)
    switches.clear()
    raystream.render(LIT, size=SIZE, spp=1, **OPTIONS)
    assert len(switches) <= 2


def test_another_structure_is_built_aside(switches: list[int]) -> None:
    """Since that may take long, other threads may use the context meanwhile."""
    renderer = Renderer(LIT, **OPTIONS)
    switches.clear()
    renderer.update(accel="bvh")
    assert len(switches) == 2


def test_not_at_all_where_it_is_current(switches: list[int]) -> None:
    renderer = Renderer(LIT, **OPTIONS)
    with renderer.device.current():
        switches.clear()
        renderer.render(SIZE, spp=2)
        renderer.trace([[0, 0, 3]], [[0, 0, -1]])
    assert not switches


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="contexts are given back on Linux")
def test_a_callback_has_the_context_of_its_owner(switches: list[int]) -> None:
    """And other threads may render meanwhile, on the same device."""
    renderer = Renderer(LIT, **OPTIONS)
    expected = renderer.render(SIZE, spp=2).linear
    neighbour = moderngl.create_context(standalone=True, backend="egl")
    handle, others, seen = contexts.egl_context(), [], []

    def beside() -> None:
        others.append(Renderer(LIT, **OPTIONS).render(SIZE, spp=2).linear)

    def report(share: float, text: str) -> None:
        seen.append(contexts.egl_context())
        if len(seen) == 1:
            thread = threading.Thread(target=beside, daemon=True)
            thread.start()
            thread.join(PATIENCE)
            assert not thread.is_alive()

    try:
        assert np.array_equal(renderer.render(SIZE, spp=2, progress=report).linear, expected)
        assert contexts.egl_context() == handle and set(seen) == {handle}
        np.testing.assert_array_equal(others, [expected])
    finally:
        neighbour.__exit__(None, None, None)
        neighbour.release()


def test_an_error_in_a_call_leaves_the_context(switches: list[int]) -> None:
    renderer = Renderer(LIT, **OPTIONS)

    def fail(share: float, text: str) -> None:
        raise OSError("enough")

    with pytest.raises(OSError, match="enough"):
        renderer.render(SIZE, spp=2, progress=fail)
    assert contexts.egl_context() is None
    assert renderer.render(SIZE, spp=2).linear.any() and contexts.egl_context() is None


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
