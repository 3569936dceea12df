"""Whose context is current in calls of the interface and after them; and the film of a single sample."""

from __future__ import annotations

import sys
import threading
from typing import Any

import moderngl
import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.film.film import Film, set_single_samples
from raystream.scene.scene import Instance
from raystream.stream.gl import contexts

PATIENCE = 60.0  # seconds, after which a thread that should have ended hangs
SIZE = (24, 16)
TRIANGLE = Scene.from_triangles([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
LIT = TRIANGLE.with_parts(instances=[Instance(0), Instance(0, np.diag([0.5, 0.5, 2.0, 1.0]))])
OPTIONS: dict[str, Any] = {"accel": "two-level-bvh", "environment": "sky", "camera": "0.2,0.1,3 0,0,0"}


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


def test_a_single_sample_is_a_film_s_mean() -> None:
    samples = np.random.default_rng(1).normal(size=(5, 7, 4)).astype(np.float32)[..., :3]
    samples[0, 0, 1], samples[1, 2, 0], samples[2, 2, 2], samples[3, 3] = np.nan, np.inf, -2e30, -0.0
    samples[4, 6, 0] = 2.0**100
    film, out = Film(7, 5), samples.copy()
    film.add(samples)
    set_single_samples(out)
    np.testing.assert_array_equal(out.view(np.uint32), film.mean().view(np.uint32))  # zeros have a sign
    assert np.count_nonzero((out == 0).all(axis=-1)) == 5
