"""Lines in space over the picture: the grid's voxels as wires, and a probed ray's way through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import ImVec2, imgui
from numpy.typing import ArrayLike, NDArray

from viewer.scene.camera import Camera
from viewer.window.history import Probe, Segment
from viewer.window.theme import color, units
from viewer.window.wires import box_edges, grid_lines, project

if TYPE_CHECKING:
    from viewer.window.app import App

Ink = tuple[float, float, float]
Size = tuple[int, int]
Points = NDArray[np.floating]

GRID: Ink = (0.36, 0.66, 0.93)
VISITED: Ink = (1.0, 0.72, 0.25)
TESTED: Ink = (0.95, 0.45, 0.60)
NEAREST: Ink = (0.45, 0.90, 0.45)
PATH: Ink = (1.0, 1.0, 1.0)
MOST_BOXES = 400  # of a path: more would hide it


def draw_in_space(app: App) -> None:
    """Below all panels, from where the picture's camera stands."""
    if app.renderer is None or not (app.wires or app.probe is not None):
        return
    camera, size = app.renderer.camera, imgui.get_io().display_size
    window = (int(size.x), int(size.y))
    if app.wires:
        _lines(camera, window, grid_lines(app.renderer.grid, camera), GRID, 0.30)
    if app.probe is not None:
        _path(camera, window, app.probe)


def _lines(camera: Camera, size: Size, lines: ArrayLike, ink: Ink, alpha: float, width: float = 1.0) -> None:
    """World-space lines (N, 2, 3), those in sight."""
    flat = project(camera, size, lines)
    inside = ((flat.max(axis=1) >= 0) & (flat.min(axis=1) <= size)).all(axis=1)
    draw, packed = imgui.get_background_draw_list(), imgui.color_convert_float4_to_u32(color(ink, alpha))
    for (ax, ay), (bx, by) in flat[inside].tolist():
        draw.add_line(ImVec2(ax, ay), ImVec2(bx, by), packed, units(width))


def _path(camera: Camera, size: Size, probe: Probe) -> None:
    boxes = probe.boxes()[:MOST_BOXES]
    if len(boxes):
        _lines(camera, size, box_edges(boxes[:, 0], boxes[:, 1]).reshape(-1, 2, 3), VISITED, 0.45)
    for segment in probe.segments:
        for nearest, ink in ((False, TESTED), (True, NEAREST)):
            corners = [test.corners for test in segment.tests if test.nearest is nearest]
            if corners:
                _lines(camera, size, _outlines(corners), ink, 0.9, 1.5)
        _lines(camera, size, _way(segment), PATH, 0.9, 2.0)
        if segment.hit_point is not None:
            _point(camera, size, segment.hit_point)


def _outlines(corners: list[Points]) -> Points:
    """(N, 2, 3): the edges of triangles given by their corners, (3, 3) each."""
    triangles = np.stack(corners).astype(np.float64)
    return np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2, 3)


def _way(segment: Segment) -> Points:
    """(1, 2, 3): from the ray's origin to its hit, or to where it leaves the grid."""
    last = segment.t_hit if segment.t_hit is not None else segment.span[1] if segment.span else 0.0
    return np.stack([segment.at(0.0), segment.at(last)])[None]


def _point(camera: Camera, size: Size, point: Points) -> None:
    flat = project(camera, size, np.stack([point, point])[None])
    if len(flat):
        x, y = flat[0, 0].tolist()
        packed = imgui.color_convert_float4_to_u32(color(NEAREST))
        imgui.get_background_draw_list().add_circle_filled(ImVec2(x, y), units(4), packed)
