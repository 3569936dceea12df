"""Overlays in space: the structure's boxes, a probed ray's way, and the heat map."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.preview.scheduler import DRAWN_HEAT
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.viewport.debug_views.debug_views import Heat
from raystream.viewport.debug_views.wires import box_edges, project, structure_lines
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, ImVec4, imgui
from raystream.window.panels import theme
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.inspector import draw_legend
from raystream.window.panels.overlay import QUIET
from raystream.window.panels.probe import covered
from raystream.window.panels.theme import ACCENT, color, units

WIRES, VISITED, RAY, TESTED, HIT = 0x30FFFFFF, 0xA0F0C040, 0xFF40D0FF, 0x806060FF, 0xFF40FF60  # ABGR


class Space:
    """Draws behind the panels."""

    def __init__(self, draw: ImguiDraw) -> None:
        self._draw = draw
        self._uploaded: tuple[Any, float] | None = None  # heat map and its progress as last uploaded
        self._legend: Any = None
        self._legend_size = (0.0, 0.0)
        self._next = 0.0  # when the heat map is uploaded again
        self._texture: Any = None

    def draw(self, context: ViewportContext) -> None:
        """Over the picture, under the panels."""
        if context.debug_views.heat_map is not None and context.debug_views.heat is not None:
            self._heat(context, context.debug_views.heat_map)
        view = context.view
        if view.controller is None or view.renderer is None:
            return
        draw_markers(context)
        camera, draw_line = view.controller.camera, imgui.get_background_draw_list().add_line
        for lines, ink, width in overlay_lines(context, view.renderer, camera):
            projected = project(camera, view.area.size, lines)
            for x0, y0, x1, y1 in projected.reshape(-1, 4).tolist():  # plain floats: much faster
                draw_line(ImVec2(x0, y0), ImVec2(x1, y1), ink, width)

    def _heat(self, context: ViewportContext, heat: Heat) -> None:
        now = time.monotonic()
        new = self._uploaded is None or self._uploaded[0] is not heat
        if new or (self._uploaded != (heat, heat.progress) and (heat.complete or now >= self._next)):
            colored = heat.show()
            self._texture = self._draw.upload(self._texture, colored.picture)
            self._legend, self._uploaded, self._next = colored.legend, (heat, heat.progress), now + DRAWN_HEAT
        target = imgui.get_background_draw_list()
        target.add_image(self._draw.register(self._texture), ImVec2(0, 0), ImVec2(*context.view.area.size))
        self._draw_legend(context)

    def _draw_legend(self, context: ViewportContext) -> None:
        """At the bottom of the free part; above the probe's where that is in the way."""
        size, room = imgui.get_io().display_size, units(theme.ROOM)
        panels_on = context.view.overlays.panels.on
        if panels_on and theme.narrow(size.x):
            return  # panels cover the picture
        left, right = theme.free(panels_on, panels_on and context.debug_views.inspector is not None)
        middle, bottom = (left + right) / 2, size.y - units(theme.STATUS) - room
        width, height = self._legend_size
        over = covered(context)
        if over is not None and over[0] < middle + width / 2 and over[2] > middle - width / 2:
            if over[3] > bottom - height and over[1] < bottom:
                bottom = over[1] - room
            if bottom < height + room:  # no room above
                bottom = min(size.y, over[3] + room + height)
        with theme.window("##heat", ImVec2(middle, bottom), None, (0.5, 1.0), flags=QUIET) as drawn:
            if drawn:
                draw_legend(self._legend)
            window_size = imgui.get_window_size()
        self._legend_size = (window_size.x, window_size.y)


def overlay_lines(
    context: ViewportContext, renderer: Renderer, camera: Camera
) -> Iterator[tuple[NDArray[np.float64], int, float]]:
    """Lines (N, 2, 3), world space, with their colour and width: the structure's boxes; of a probed ray the boxes
    visited, the triangles tested, and the ray up to its hit, of two levels where the object stands."""
    if context.view.overlays.boxes.on:
        yield structure_lines(renderer.prepared.structure.built, camera), WIRES, 1.0
    probe = context.debug_views.probe
    for segment in () if probe is None else probe.segments:
        inside = [visit.box for visit in segment.visits if visit.t_enter <= visit.t_exit]
        if inside:
            boxes = np.stack(inside)
            yield segment.world(box_edges(boxes[:, 0], boxes[:, 1]).reshape(-1, 2, 3)), VISITED, 1.0
        for nearest, ink in ((False, TESTED), (True, HIT)):
            triangles = [test.corners for test in segment.tests if test.nearest == nearest]
            if triangles:
                corners = np.stack(triangles).astype(np.float64)
                edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2, 3)
                yield segment.world(edges), ink, 1.0
        span = segment.span or (0.0, 0.0)
        end = segment.t_hit if segment.t_hit is not None else span[1]
        yield segment.world(np.stack([segment.at(0.0), segment.at(end)]))[None], RAY, 2.0


def draw_markers(context: ViewportContext) -> None:
    """A ring at every light, in the picture."""
    lights = context.markers
    if not lights.visible:
        return
    add: Any = imgui.get_background_draw_list()
    dark = imgui.get_color_u32(ImVec4(0, 0, 0, 0.7))
    for light, (x, y) in lights.markers():
        chosen = lights.is_chosen(light)
        ink = imgui.get_color_u32(color(ACCENT) if chosen else ImVec4(1, 1, 1, 0.9))
        radius = units(8 if chosen else 6)
        middle = ImVec2(x, y)
        add.add_circle(middle, radius, dark, 0, units(3.5))
        add.add_circle(middle, radius, ink, 0, units(1.5))
        add.add_circle_filled(middle, units(2), ink)
        if chosen:
            add.add_text(ImVec2(x + 1.6 * radius + 1, y - 0.6 * radius + 1), dark, light.name)
            add.add_text(ImVec2(x + 1.6 * radius, y - 0.6 * radius), ink, light.name)
