"""A scene with its view for tests of object editing: seen from (0, 0, 5) at 90 degrees, in 200 x 100 pixels, so that a
unit at the origin is 10 wide."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.editing import LightMarkers, ObjectEditing
from raystream.viewport.keymap import Keymap
from raystream.viewport.viewport import InputState, PictureArea, Viewport

FAR = (4096.0, 0.0, -512.0)  # of the file's coordinates, where the scene's are zero
HOME = [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (2.0, 0.0, 0.0)]  # of the instances, see `Stage.places`


class Stage:
    """A scene of two triangles, one of them in two parts, and three lights; its view, whose edits are shown at once."""

    def __init__(self, levels: int = 2) -> None:
        mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], name="triangle")
        glows = [Material(), Material(emission=(1.0, 1.0, 1.0))]
        there = np.eye(4)
        there[:3, 3] = 2.0, 0.0, 0.0
        placed = [
            Instance(0, name="pair"),
            Instance(0, there),
            Instance(0, name="pair"),
            Instance(0, there, 1, "panel"),
        ]
        self.first = Scene([mesh], placed, glows)
        self.first.origin = FAR
        self.first.lights = [
            Light("point", "bulb", position=(-1, 1, 0)),
            Light("directional", "sun", direction=(0, -1, 0)),
        ]
        self.said: list[str] = []
        self.done: list[str] = []
        self.updates: list[Any] = []
        self.compiled: list[Callable[[], None]] = []
        self.hit = SimpleNamespace(instance=np.array([0]), distance=np.array([5.0], np.float32))
        self.ready = True
        structure = SimpleNamespace(levels=levels, name="bvh" if levels == 1 else "two-level-bvh")
        queries = SimpleNamespace(trace_ready=lambda settings: self.ready)
        self.renderer = SimpleNamespace(settings=None, ray_queries=queries)
        self.renderer.prepared = SimpleNamespace(scene=self.first, structure=structure)
        self.renderer.trace = self._trace
        self.session: Any = SimpleNamespace(previewing=False, update=self._update)
        self.controller = CameraController(Camera((0, 0, 5), (0, 0, 0), fov=90.0, base=FAR), [[-1, -1, -1], [1, 1, 1]])
        view: Any = SimpleNamespace(
            session=self.session, controller=self.controller, renderer=self.renderer, paused=False
        )
        view.area, view.input, view.keymap = PictureArea((200, 100)), InputState((100.0, 50.0)), Keymap()
        view.scene = self.first
        view.require_scene = lambda: (self.renderer, self.controller)
        view.ray_under_cursor = lambda: self.controller.ray(*view.input.cursor, *view.area.size)
        view.say = self.said.append
        view.say_switched = lambda name, on: self.said.append(f"{name} {on}")
        view.wake = lambda: self.done.append("wake")
        view.attempt = lambda what: what()
        view.compilation = SimpleNamespace(
            request=lambda what, work: (self.said.append(what), self.compiled.append(work))
        )
        view.trace_soon = lambda work: Viewport.trace_soon(view, work)
        view.trace_under_cursor = lambda work: Viewport.trace_under_cursor(view, work)
        self.view = view
        self.loader: Any = SimpleNamespace(requested=Settings(accel="bvh"), asked=[])
        self.loader.set = lambda **changes: self.loader.asked.append(changes)
        debug: Any = SimpleNamespace(scene_changed=lambda: self.done.append("changed"))
        self.markers = LightMarkers(view)
        self.editing = ObjectEditing(view, self.loader, debug, self.markers)

    @property
    def scene(self) -> Scene:
        return self.renderer.prepared.scene

    def _trace(self, origins: Any, directions: Any, view: bool) -> Any:
        assert view
        np.testing.assert_array_equal(origins, [np.add(self.controller.camera.origin, FAR)])
        np.testing.assert_array_equal(directions, [self.view.ray_under_cursor()[1]])
        return self.hit

    def _update(self, scene: Scene | None = None, **changes: Any) -> None:
        self.updates.append(changes if scene is None else scene)
        if scene is not None:
            self.renderer.prepared.scene = self.view.scene = scene

    def places(self) -> list[tuple[float, ...]]:
        """Of the instances."""
        return [tuple(np.round(each.transform[:3, 3], 9).tolist()) for each in self.scene.instances]

    def move(self, x: float, y: float) -> None:
        """The cursor comes somewhere, and the loop has a turn."""
        self.view.input.cursor = (x, y)
        self.editing.follow()
        self.editing.update(0.0)
