"""Photons over the picture: when they are shown, of which renderer and camera, and when they are found anew."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.photons.grid import PhotonGrid
from raystream.scene.camera import Camera
from raystream.scene.projections import Orthographic
from raystream.viewport.debug_views import photons as module
from raystream.viewport.debug_views.photons import (
    OPACITY,
    PhotonView,
    cell_wires,
    count_colors,
    occupied,
    view_uniforms,
)
from raystream.viewport.keymap import Keymap
from raystream.viewport.viewport import PictureArea, Viewport, choose_pivot

START, OTHER = Camera((0, 0, 5), (0, 0, 0), fov=90.0), Camera((0, 0, 7), (0, 0, 0))
GRID = PhotonGrid.over((0, 0, 0), (2, 1, 1), (4, 2, 3))


class Desk:
    """A view of a scene under a program that maps photons, five of them stored in three cells."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self.compiled: list[Any] = []
        self.traced: list[Any] = []
        self.ready, self.reads = True, 0
        monkeypatch.setattr(PhotonView, "renderer", property(lambda view: self.renderer))
        records = np.zeros(7, [("position", "f4", 3), ("stored", "i4")])
        records["position"] = [(0.1, 0.1, 0.1)] * 3 + [(1.9, 0.9, 0.9), (9, 9, 9), (0.6, 0.1, 0.1), (9, 9, 9)]
        records["stored"] = [1, 2, 1, 1, 0, 1, -1]
        mapped: Any = SimpleNamespace(streams={"photons": SimpleNamespace(read=lambda: self._read(records))})
        mapped.grid, mapped.build_count = GRID, 1
        program = SimpleNamespace(maps_photons=True)
        self.settings = SimpleNamespace(picture_program=program, program="photon")
        self.renderer: Any = SimpleNamespace(settings=self.settings, photon_map=mapped, prepared="scene")
        self.renderer.device = SimpleNamespace(current=nullcontext)
        self.renderer.ray_queries = SimpleNamespace(
            coarse_hits_ready=lambda settings: self.ready,
            coarse_hits=lambda settings, *of: self.traced.append(of) or f"hits {len(self.traced)}",
        )
        session = SimpleNamespace(shown=(START, (24, 16)))
        self.view: Any = SimpleNamespace(session=session, renderer=self.renderer, area=PictureArea((24, 16)))
        self.view.keymap, self.view.require_scene = Keymap(), lambda: (self.renderer, None)
        self.view.say_switched = lambda name, on: self.said.append(f"{name} {on}")
        self.view.compilation = SimpleNamespace(name="", request=lambda what, work: self.compiled.append((what, work)))
        self.photons = PhotonView(self.view)

    def _read(self, records: np.ndarray) -> np.ndarray:
        self.reads += 1
        return records


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_programs_without_photons_say_so(desk: Desk) -> None:
    """But what is on show can be hidden."""
    photons = desk.photons
    desk.settings.picture_program.maps_photons, desk.settings.program = False, "cast"
    for toggle in (photons.toggle_points, photons.toggle_cells):
        with pytest.raises(ViewerError, match=r"program cast has none \(5 maps them\)"):
            toggle()
    assert not photons.points and not photons.cells and desk.said == []
    photons.points = photons.cells = True
    photons.toggle_points()
    photons.toggle_cells()
    assert not photons.points and not photons.cells


def test_other_projections_than_a_pinhole_have_none(desk: Desk) -> None:
    """The reason is told; those of a picture before are hidden."""
    desk.view.session.shown = replace(START, projection=Orthographic(2.0)), (24, 16)
    photons = desk.photons
    for toggle in (photons.toggle_points, photons.toggle_cells):
        with pytest.raises(ViewerError, match="in perspective alone"):
            toggle()
    photons.points = photons.cells = True
    assert photons.scene() is None and photons.wires() is None


def test_what_hides_them_is_compiled_after_it_is_said(desk: Desk) -> None:
    desk.ready = False
    desk.photons.toggle_points()
    ((what, work),) = desk.compiled
    assert what == "the rays that hide photons" and desk.traced == []
    work()
    assert desk.traced == [(START, (24, 16))]
    assert desk.photons.scene() == (START, "hits 1"), "traced once"


def test_hits_are_found_anew_for_another_picture(desk: Desk) -> None:
    photons, session = desk.photons, desk.view.session
    assert photons.scene() is None
    photons.points = True
    for number in (1, 1):
        assert photons.scene() == (START, f"hits {number}")
    session.shown = OTHER, (24, 16)
    assert photons.scene() == (OTHER, "hits 2")
    desk.view.area.pixels = (12, 8)
    assert photons.scene() == (OTHER, "hits 3") and desk.traced[-1] == (OTHER, (12, 8))
    desk.renderer.prepared = "another"
    assert photons.scene() == (OTHER, "hits 4")
    photons.forget()
    assert photons.scene() == (OTHER, "hits 5")
    desk.view.compilation.name = "kernels"
    assert photons.scene() is None
    desk.view.compilation.name, session.shown = "", None
    assert photons.scene() is None
    session.shown, desk.renderer = (START, (24, 16)), None
    assert photons.scene() is None


def test_cells_of_the_map(desk: Desk) -> None:
    """Of the stored photons, the fullest first; read again for another map, or where it was sorted anew."""
    photons = desk.photons
    assert photons.wires() is None and photons.legend is None
    photons.cells = True
    camera, lines, ink = photons.wires()
    assert camera is START and lines.shape == (36, 2, 3) and ink.shape == (36, 4)
    np.testing.assert_allclose(lines[:12].reshape(-1, 3).min(axis=0), (0, 0, 0), atol=1e-7)
    np.testing.assert_allclose(lines[:12].reshape(-1, 3).max(axis=0), (0.5, 0.5, 1 / 3), rtol=1e-6)
    assert photons.legend is not None and photons.legend.title == "photons in a cell, 3 at most"
    photons.wires()
    assert desk.reads == 1
    desk.renderer.photon_map.build_count = 2
    photons.wires()
    assert desk.reads == 2
    photons.forget()
    assert photons.legend is None
    photons.wires()
    assert desk.reads == 3
    desk.view.session.shown = None
    assert photons.wires() is None


def test_the_fullest_cells_alone_are_drawn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CELLS", 1)
    desk.photons.cells = True
    _, lines, ink = desk.photons.wires()
    assert len(lines) == len(ink) == 12 and lines.max() <= 0.5 + 1e-6


def test_cells_and_their_colours() -> None:
    positions = np.float32([(1.9, 0.9, 0.9)] + [(0.1, 0.1, 0.1)] * 3 + [(0.6, 0.1, 0.1)])
    cells, counts = occupied(positions, GRID)
    assert cells.tolist() == [[0, 0, 0], [1, 0, 0], [3, 1, 2]] and counts.tolist() == [3, 1, 1]
    lines, ink = cell_wires(cells, counts, GRID)
    np.testing.assert_allclose(lines[24:].reshape(-1, 3).min(axis=0), (1.5, 0.5, 2 / 3), rtol=1e-6)
    colors = count_colors(counts).picture[0].astype(np.float32) / 255
    np.testing.assert_allclose(ink[::12, :3], colors * OPACITY, rtol=1e-6)
    assert (ink[:, 3] == np.float32(OPACITY)).all() and OPACITY == 0.55
    np.testing.assert_array_equal(ink, np.repeat(ink[::12], 12, axis=0))


def test_the_projection_of_a_picture() -> None:
    """Twice as wide as high, at 90 degrees: an edge at 1 after division by the depth."""
    found = view_uniforms(START, (200, 100))
    assert found["eye"] == (0, 0, 5) and found["forward"] == pytest.approx((0, 0, -1))
    assert found["rightward"] == pytest.approx((0.5, 0, 0)) and found["upward"] == pytest.approx((0, 1, 0))
    found = view_uniforms(START.with_fov(2 * math.degrees(math.atan(0.5))), (100, 100))
    assert found["rightward"] == pytest.approx((2, 0, 0)) and found["upward"] == pytest.approx((0, 2, 0))


# -- where orbit turns about -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [True, False])
@pytest.mark.parametrize("indoors", [True, False])
def test_the_first_surface_in_the_middle(ready: bool, indoors: bool) -> None:
    """Indoors alone; after what it compiles has been said."""
    aimed: list[float] = []
    traced: list[Any] = []
    waiting: list[Any] = []
    woken: list[int] = []
    controller = SimpleNamespace(indoors=indoors, camera=START, aim=aimed.append)
    hits = SimpleNamespace(distance=np.float32([2.5]))
    queries = SimpleNamespace(trace_ready=lambda settings: ready)
    renderer = SimpleNamespace(
        settings=None, ray_queries=queries, trace=lambda *ray, view: traced.append((*ray, view)) or hits
    )
    view: Any = SimpleNamespace(renderer=renderer, controller=controller, wake=lambda: woken.append(1))
    view.compilation = SimpleNamespace(request=lambda what, work: waiting.append((what, work)))
    view.require_scene = lambda: (renderer, controller)
    view.trace_soon = lambda work: Viewport.trace_soon(view, work)
    choose_pivot(view)
    if indoors and not ready:
        assert aimed == [] and waiting[0][0] == "the kernels for rays of their own"
        waiting.pop()[1]()
    assert aimed == ([2.5] if indoors else []) and len(woken) == len(aimed) and not waiting
    if indoors:
        ((origins, directions, seen),) = traced
        assert origins == [(0, 0, 5)] and seen
        np.testing.assert_allclose(directions, [(0, 0, -1)], atol=1e-15)
    for name in ("renderer", "controller"):
        choose_pivot(SimpleNamespace(**{**vars(view), name: None}))  # type: ignore[arg-type]
    assert len(aimed) == int(indoors)
