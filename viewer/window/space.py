"""What is drawn over the picture in space: the grid's voxels, a probed ray's way, and the heat map."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from viewer.window.imgui_draw import ImguiDraw
from viewer.window.inspector_panel import draw_legend
from viewer.window.wires import box_edges, grid_lines, project

if TYPE_CHECKING:
    from viewer.window.app import App

SHOWN = 0.2  # seconds between two pictures of a heat map that is being made
WIRES, VISITED, RAY, TESTED, HIT = 0x30FFFFFF, 0xA0F0C040, 0xFF40D0FF, 0x806060FF, 0xFF40FF60  # ABGR


class Space:
    """Draws behind the panels."""

    def __init__(self, draw: ImguiDraw) -> None:
        self._draw = draw
        self._shown: tuple[Any, float] | None = None  # heat map and its progress as last uploaded
        self._legend: Any = None
        self._next = 0.0  # when the heat map is uploaded again
        self._texture: Any = None
        self._id: Any = None

    def draw(self, app: App) -> None:
        """Over the picture, under the panels."""
        if app.heat_map is not None and app.heat is not None:
            self._heat(app)
        if app.flight is None or app.renderer is None:
            return
        if app.wires:
            self._lines(app, grid_lines(app.renderer.grid, app.flight.camera), WIRES)
        if app.probe is not None:
            self._probe(app)

    def _lines(self, app: App, lines: NDArray[np.float64], color: int, thick: float = 1.0) -> None:
        assert app.flight is not None
        target = imgui.get_background_draw_list()
        for (x0, y0), (x1, y1) in project(app.flight.camera, app.window.size, lines):
            target.add_line(imgui.ImVec2(x0, y0), imgui.ImVec2(x1, y1), color, thick)

    def _probe(self, app: App) -> None:
        """Voxels visited, triangles tested, and the ray up to its hit."""
        assert app.probe is not None
        for segment in app.probe.segments:
            origin, direction = segment.origin.astype(np.float64), segment.direction.astype(np.float64)
            if segment.visits:
                boxes = np.stack([visit.box for visit in segment.visits])
                self._lines(app, box_edges(boxes[:, 0], boxes[:, 1]).reshape(-1, 2, 3), VISITED)
            for test in segment.tests:
                corners = test.corners.astype(np.float64)
                edges = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
                self._lines(app, edges, HIT if test.nearest else TESTED)
            end = segment.t_hit if segment.t_hit is not None else max((v.t_exit for v in segment.visits), default=0.0)
            self._lines(app, np.stack([origin, origin + end * direction])[None], RAY, 2.0)

    def _heat(self, app: App) -> None:
        heat = app.heat_map
        assert heat is not None
        now = time.monotonic()
        new = self._shown is None or self._shown[0] is not heat
        if new or (self._shown != (heat, heat.progress) and (heat.complete or now >= self._next)):
            shown = heat.show()
            self._upload(app, shown.picture)
            self._legend, self._shown, self._next = shown.legend, (heat, heat.progress), now + SHOWN
        width, height = app.window.size
        target = imgui.get_background_draw_list()
        target.add_image(self._id, imgui.ImVec2(0, 0), imgui.ImVec2(width, height))
        imgui.set_next_window_pos(imgui.ImVec2(width / 2, height - 90), imgui.Cond_.always, imgui.ImVec2(0.5, 1.0))
        if imgui.begin("heat map", None, imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.always_auto_resize)[0]:
            draw_legend(self._legend)
        imgui.end()

    def _upload(self, app: App, picture: NDArray[np.uint8]) -> None:
        height, width = picture.shape[:2]
        if self._texture is None or self._texture.size != (width, height):
            if self._texture is not None:
                self._texture.release()
            self._texture = app.window.context.texture((width, height), 3, alignment=1)
            self._id = self._draw.register(self._texture)
        self._texture.write(np.ascontiguousarray(picture), alignment=1)
