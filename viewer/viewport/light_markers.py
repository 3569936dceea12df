"""The lights of the scene as the window shows and moves them: by markers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.scene.edits.movable import Movable, movable_lights, placed_light
from raystream.scene.scene import Scene
from raystream.viewport.debug_views.wires import project_points
from raystream.viewport.viewport import Viewport

REACH = 14.0  # window coordinates around a marker in which the cursor takes it
FAR_AWAY = 0.5  # of the scene's diagonal: where a light that is infinitely far has its marker

Position = tuple[float, float, float]


class LightMarkers:
    """All lights of the scene on show. visible : whether markers are drawn. chosen : (area, number) of the selected."""

    def __init__(self, view: Viewport) -> None:
        self.view = view
        self.visible = False
        self.chosen: tuple[bool, int] | None = None
        self._listed: tuple[Scene | None, list[Movable]] = (None, [])  # of a scene
        self._box: tuple[Scene, NDArray[np.float64]] | None = None  # of a scene: (2, 3)

    def listed(self) -> list[Movable]:
        """Every light."""
        scene = self.view.scene
        if self._listed[0] is not scene:
            self._listed = scene, [] if scene is None else movable_lights(scene)
        return self._listed[1]

    def is_chosen(self, light: Movable) -> bool:
        """Whether it is the selected one."""
        return self.chosen == (light.kind == "area", light.item_index)

    def next(self) -> Movable | None:
        """Select the next one, and show the markers."""
        listed = self.listed()
        if not listed:
            return None
        index = next((k for k, light in enumerate(listed) if self.is_chosen(light)), -1)
        light = listed[(index + 1) % len(listed)]
        self.visible, self.chosen = True, (light.kind == "area", light.item_index)
        return light

    def marker_position(self, light: Movable) -> NDArray[np.float64]:
        """(3,) where its marker is, world space."""
        if light.kind != "directional":
            return np.asarray(light.position, np.float64)
        middle, diagonal = self._frame()
        return middle + FAR_AWAY * diagonal * np.asarray(light.position)

    def shifted(self, light: Movable, shift: NDArray[np.float64]) -> Position:
        """Its position when the marker is shifted, world space."""
        position = self.marker_position(light) + shift
        if light.kind == "directional":
            position = position - self._frame()[0]
            if not position.any():
                return light.position
        return float(position[0]), float(position[1]), float(position[2])

    def _frame(self) -> tuple[NDArray[np.float64], float]:
        """The scene's middle, and its diagonal."""
        scene = self.view.scene
        assert scene is not None
        if self._box is None or self._box[0] is not scene:
            self._box = scene, scene.bounds()
        low, high = self._box[1]
        return (low + high) / 2, float(np.linalg.norm(high - low)) or 1.0

    def under(self, cursor: tuple[float, float]) -> Movable | None:
        """The light whose marker is nearest to the cursor, if it is drawn and near enough."""
        if not self.visible or self.view.controller is None:
            return None
        best, nearest = REACH, None
        for light, position in self.markers():
            away = float(np.hypot(position[0] - cursor[0], position[1] - cursor[1]))
            if away < best:
                best, nearest = away, light
        return nearest

    def markers(self) -> list[tuple[Movable, tuple[float, float]]]:
        """Lights that are before the camera, and where in the window."""
        listed, controller = self.listed(), self.view.controller
        if not listed or controller is None:
            return []
        positions = np.array([self.marker_position(light) for light in listed])
        on_screen, before = project_points(controller.camera, self.view.area.size, positions)
        return [
            (light, (float(x), float(y)))
            for light, (x, y), visible in zip(listed, on_screen, before, strict=True)
            if visible
        ]


def moved_light(scene: Scene, light: Movable, position: Sequence[float]) -> Scene:
    """The scene with a light without extent elsewhere."""
    x, y, z = map(float, position)
    lights = list(scene.lights)
    lights[light.item_index] = placed_light(lights[light.item_index], (x, y, z))
    return scene.with_parts(lights=lights)
