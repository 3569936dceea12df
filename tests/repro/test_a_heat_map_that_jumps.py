"""The heat map's colours stood for other counts with every tile that came, and again when it was turned off and on;
it came out of the dark, and said nothing of how far it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.renderer.session.session import Session
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.debug_views.debug_views import COARSE, DebugViews, Heat
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import Viewport

SIZE = (70, 50)


@pytest.fixture
def view(device: Any) -> Iterator[Viewport]:
    class Paper:
        begin = end = put = drop = lambda *_: None

    scene = raystream.load("teapotahedron")
    renderer = Renderer(scene, device=device, program="cast", machine="singlepass")
    session = Session(renderer, SIZE, screen=Paper())  # type: ignore[arg-type]
    session.finish()
    made = Viewport(session, Preferences(), Keymap())
    made.area.size, made.area.pixels = SIZE, SIZE
    made.controller = CameraController(renderer.camera, scene.bounds())
    made.apply_camera()
    session.finish()
    yield made


def count(debug_views: DebugViews) -> list[tuple[float | None, float, float]]:
    """(limit, progress, share of the map that is dark) after every piece, until the map is complete."""
    seen = []
    for _ in range(10_000):
        if not debug_views.busy:
            return seen
        debug_views.advance(0.0)
        debug_views.view.drawn()
        debug_views.view.compilation.run()
        made = debug_views.heat_map
        if made is not None:
            shown = made.show()
            (ramp,) = shown.legend.ramps
            assert ramp.high == made.limit
            assert ("counted" in shown.legend.title) == (not made.complete)
            seen.append((made.limit, made.progress, float((shown.picture == (14, 14, 16)).all(axis=-1).mean())))
    raise AssertionError("it never ends")


def test_it_keeps_its_limits(view: Viewport) -> None:
    debug_views = DebugViews(view)
    debug_views.next_heat()
    assert debug_views.heat == "steps" and debug_views.counting == 0.0
    seen = count(debug_views)
    assert len(seen) > 3 and len({limit for limit, _, _ in seen}) == 1  # several tiles, one scale
    shares = [share for _, share, _ in seen]
    assert shares == sorted(shares) and shares[0] < 0.5 and shares[-1] == 1.0
    assert max(dark for _, _, dark in seen) == 0.0  # rough at first, and never dark
    made = debug_views.heat_map
    assert made is not None and debug_views.counting is None
    expected = view.renderer.render(SIZE, layers=("steps",)).layers["steps"]  # type: ignore[union-attr]
    np.testing.assert_array_equal(made.counts, expected)
    np.testing.assert_array_equal(made.rough.shape, (-(-SIZE[1] // COARSE), -(-SIZE[0] // COARSE)))
    # Off and on: the map is there, and nothing is counted again.
    for what in ("tests", None, "steps"):
        debug_views.next_heat()
        assert debug_views.heat == what
        count(debug_views)
    assert debug_views.heat_map is made
    # Another camera, much the same counts: the same scale.
    view.controller.orbit(5, 0)  # type: ignore[union-attr]
    view.apply_camera()
    view.session.finish()
    assert debug_views.counting == 0.0
    assert {limit for limit, _, _ in count(debug_views)} == {made.limit}


def test_other_counts_have_other_limits(view: Viewport) -> None:
    """A scale that is kept serves a map whose own limit is up to twice or half of it."""
    renderer = view.renderer
    assert renderer is not None
    own = Heat(renderer, renderer.camera, SIZE, "steps")
    own.advance()
    assert own.limit is not None
    for factor, kept in ((0.4, False), (0.6, True), (1.9, True), (2.1, False)):
        other = Heat(renderer, renderer.camera, SIZE, "steps", factor * own.limit)
        assert other.advance(rough=True) and not other.complete
        assert other.limit == (factor * own.limit if kept else own.limit)
