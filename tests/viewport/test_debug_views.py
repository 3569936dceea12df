"""Inspector, probe and heat map of a view: opened, closed, worked on in its turns, dropped with their scene."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.viewport.canvas import CanvasView
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.debug_views import DebugViews, Heat
from tests.viewport.test_canvas_view import opened, rest

SIZE = (24, 16)
PATIENCE = 600.0  # seconds, against hanging alone


@pytest.fixture(scope="module")
def opened_once(device: Any) -> Iterator[CanvasView]:
    made = opened("cornell", SIZE, machine="multipass")
    rest(made)
    yield made
    made.release()


@pytest.fixture
def view(opened_once: CanvasView) -> Iterator[CanvasView]:
    """Of the Cornell box, half as large as its bitmap."""
    opened_once.handle({"event_type": "resize", "width": SIZE[0] / 2, "height": SIZE[1] / 2, "pixel_ratio": 2.0})
    opened_once.view.overlays.panels.on = False
    rest(opened_once)
    yield opened_once
    with opened_once.device.current():
        debug_views(opened_once).drop(None)
    debug_views(opened_once).heat = None
    opened_once.view.take(opened_once.view.scene.camera())


def debug_views(view: CanvasView) -> DebugViews:
    return view.context.debug_views


def until(view: CanvasView, condition: Callable[[], Any]) -> None:
    """Turns until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        view.advance()


def counted(view: CanvasView) -> Heat:
    """The heat map, complete; its counts are those of the picture."""
    views = debug_views(view)
    until(view, lambda: views.counting is None)
    found = views.heat_map
    assert found is not None and found.complete and found.camera == view.view.controller.camera
    with view.device.current():
        wanted = view.session.renderer.render(found.size, layers=found.layer).layers[found.layer]
    np.testing.assert_array_equal(found.counts, wanted)
    return found


def moved(view: CanvasView) -> None:
    """The camera, upwards; the picture has not begun anew yet."""
    camera = view.view.controller.camera
    view.view.take(replace(camera, origin=tuple(np.add(camera.origin, (0.0, 300.0, 0.0)))))


def test_the_inspector(view: CanvasView) -> None:
    """Its kernels are told before they are compiled; single passes, all of them, and anew with another camera."""
    views = debug_views(view)
    views.toggle_inspector()
    assert views.inspector is None and view.view.compiling == "the inspector's kernels"
    until(view, lambda: views.inspector is not None)
    inspector = views.inspector
    assert inspector is not None and view.view.overlays.panels.on and inspector.passes == []
    with view.device.current():
        views.step_inspector()
        assert len(inspector.passes) == 1 and not views.busy
        views.step_inspector(to_end=True)
    assert views.inspecting and views.busy
    until(view, lambda: not views.inspecting)
    with view.device.current():
        assert inspector.complete and len(inspector.passes) > 3
        views.step_inspector()
        assert "no ray is left" in view.view.message.text
        before = inspector.values("hit.t")[0]
        moved(view)
        views.restart_inspector()
        assert views.inspector is inspector and inspector.passes == []
        assert inspector.run_to_end() and not np.array_equal(inspector.values("hit.t")[0], before)
        views.toggle_inspector()
    assert views.inspector is None and view.view.message.text == "inspector off"


@pytest.mark.parametrize(
    ("cursor", "pixel"),
    [((3, 2), (6, 4)), ((3.2, 2.4), (6, 4)), ((3.6, 2.6), (7, 5)), ((-3, -1), (0, 0)), ((12, 7e9), (23, 15))],
)
def test_the_pixel_under_the_cursor_is_probed(
    view: CanvasView, cursor: tuple[float, float], pixel: tuple[int, int]
) -> None:
    """Of the picture, in whose pixels the view's are two."""
    views = debug_views(view)
    view.view.input.cursor = cursor
    views.toggle_probe()
    assert views.probe is None and view.view.compiling == "the probe's kernels"
    until(view, lambda: views.probe is not None and views.probing is None)
    probe = views.probe
    assert probe is not None and probe.complete and (probe.pixel, probe.size) == (pixel, SIZE)
    assert view.view.overlays.panels.on
    views.toggle_probe()
    assert views.probe is None


def test_heat_maps_in_turn(view: CanvasView) -> None:
    """Each is counted once, and stays while the picture is there; another picture's has the same colours."""
    views = debug_views(view)
    maps = []
    for what in ("steps", "tests", None, "steps"):
        views.next_heat()
        assert views.heat == what and view.view.message.text == (f"heat map of {what}" if what else "no heat map")
        maps.append(counted(view) if what else None)
    steps, tests, _, again = maps
    assert steps is not None and tests is not None and again is steps and steps.size == SIZE
    moved(view)
    assert views.counting == 0.0
    other = counted(view)
    assert other is not steps and other.limit == steps.limit != false_color.highest(other.rough)[0]


def test_a_heat_map_in_motion_is_coarse_and_survives_what_is_traced_in_between(
    view: CanvasView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one stays until there is another; a tile that a picture has cut is counted anew."""
    views, cut, interrupted = debug_views(view), list[bool](), Heat.interrupted
    monkeypatch.setattr(Heat, "interrupted", lambda heat_map: (cut.append(heat_map._cut), interrupted(heat_map)))
    views.next_heat()
    first = counted(view)
    moved(view)
    session = view.session
    with view.device.current():
        session.restart()
        for _ in range(100):
            views.advance(0.0)
        coarse = views.heat_map
        assert coarse is not None and coarse is not first and coarse.ready and not coarse.complete
        assert (coarse.counts == -1).all()
        for _ in range(3):  # pieces of the picture and of the map by turns
            session.restart()
            session.finish(converged=False)
            views.advance(0.0)
    assert counted(view) is coarse and any(cut)


def test_another_scene_and_other_shaders(view: CanvasView) -> None:
    """Results go; the inspector begins anew, and a probe that is complete stays, where only shaders have changed."""
    views = debug_views(view)

    def open_all() -> None:
        views.heat = None
        views.next_heat()
        counted(view)
        views.toggle_probe()
        until(view, lambda: views.probe is not None and views.probing is None)
        views.step_inspector(to_end=True)
        until(view, lambda: views.inspector is not None and not views.inspecting)

    open_all()
    probe, inspector, heat_map = views.probe, views.inspector, views.heat_map
    with view.device.current():
        views.reloaded()
    assert views.probe is probe and views.inspector is inspector and views.heat_map is None
    assert inspector is not None and inspector.passes == []
    for _ in range(3):  # and back to the steps
        views.next_heat()
    assert views.heat_map is None and counted(view) is not heat_map
    with view.device.current():
        views.scene_changed()
    assert views.probe is views.inspector is views.heat_map is None and not views.inspecting and views.heat == "steps"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"program cast has none \(5 maps them\)"),
        ({"program": "photon", "projection": "equirectangular"}, "in perspective alone"),
    ],
)
def test_pictures_without_photons_say_so(device: Any, options: dict[str, Any], words: str) -> None:
    """What is on show can be hidden all the same."""
    view = opened("cornell", SIZE, **{"photons": 64, "spp": 1, "error": None, **options})
    rest(view)
    photons = debug_views(view).photons
    for toggle in (photons.toggle_points, photons.toggle_cells):
        with pytest.raises(ViewerError, match=words):
            toggle()
    assert not photons.points and not photons.cells and photons.scene() is None and photons.wires() is None
    photons.points = photons.cells = True
    photons.toggle_points()
    photons.toggle_cells()
    assert not photons.points and not photons.cells
    view.release()
