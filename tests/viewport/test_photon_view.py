"""Photons over the picture: when they are shown, of which renderer and camera, and when they are found anew."""

from __future__ import annotations

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
from raystream.viewport.debug_views.photons import (
    PhotonView,
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
