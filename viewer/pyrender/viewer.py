"""The window on a scene of pyrender."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from raystream.base.errors import ViewerError, warn
from raystream.notebook.show import in_notebook, show
from raystream.pyrender.camera import PerspectiveCamera
from raystream.pyrender.conversion import Conversion, Eye
from raystream.pyrender.light import DirectionalLight
from raystream.pyrender.scene import Scene
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene as Converted
from raystream.viewport.keymap import parse_key

SIZE = (640, 480)
FOV = np.pi / 3  # of a scene without a camera, radians
INTENSITY = 3.0  # of lights at the eye
# Polar angle and azimuths of the three lights about the eye, radians.
RAYMOND = np.pi / 6, (0.0, 2 * np.pi / 3, 4 * np.pi / 3)
# pyrender's flags; those of `WITHOUT` are told where they are on.
RENDER_FLAGS: dict[str, Any] = {
    **dict.fromkeys(
        ("flip_wireframe", "all_wireframe", "all_solid", "shadows", "vertex_normals", "face_normals"), False
    ),
    **{"cull_faces": True, "point_size": 1.0},
}
VIEWER_FLAGS: dict[str, Any] = {
    **{"mouse_pressed": False, "rotate": False, "rotate_rate": np.pi / 3, "rotate_axis": np.array([0.0, 0.0, 1.0])},
    **{"view_center": None, "record": False, "use_raymond_lighting": False, "use_direct_lighting": False},
    **{"lighting_intensity": INTENSITY, "use_perspective_cam": True, "save_directory": None, "window_title": None},
    **{"refresh_rate": 30.0, "fullscreen": False, "show_world_axis": False, "show_mesh_axes": False, "caption": None},
}
FLAGS = RENDER_FLAGS.keys() | VIEWER_FLAGS.keys()
UNSUPPORTED_FLAGS = (
    *("flip_wireframe", "all_wireframe", "vertex_normals", "face_normals", "rotate", "record", "show_world_axis"),
    *("show_mesh_axes", "caption"),
)


class Viewer:
    """Opens the window of `raystream.show` on a scene, and returns when it is closed; in a notebook it is the cell's
    output. Mouse and keys are the window's. What a script changes in the scene meanwhile is shown.

    viewport_size : of the window. render_flags, viewer_flags, flags : pyrender's flags; of these use_raymond_lighting,
    use_direct_lighting and lighting_intensity add lights at the eye, which then stay where they are, point_size sizes
    points, refresh_rate (Hz) is how often the scene is looked at, window_title and fullscreen are the window's.
    registered_keys : a character -> a function, called with the viewer; or it, a list of further arguments and a dict
    of keywords. run_in_thread : return at once, the window in a thread of its own; not on macOS. auto_start : False
    opens it by `start`.

    render_lock : held while the scene is looked at; a thread that changes it acquires it before. is_active : the window
    is open.

    Raises ViewerError without a display, and for a scene that cannot be shown.
    """

    def __init__(
        self,
        scene: Scene,
        viewport_size: tuple[int, int] | None = None,
        render_flags: dict[str, Any] | None = None,
        viewer_flags: dict[str, Any] | None = None,
        registered_keys: dict[str, Any] | None = None,
        run_in_thread: bool = False,
        auto_start: bool = True,
        **flags: Any,
    ) -> None:
        chosen = {**(render_flags or {}), **(viewer_flags or {}), **flags}
        if run_in_thread and sys.platform == "darwin":
            what = "the window belongs to the main thread on macOS"
            raise ViewerError("run_in_thread=True", what, "render frames of a motion with OffscreenRenderer")
        without = [name for name in chosen if name not in FLAGS or (name in UNSUPPORTED_FLAGS and chosen[name])]
        if without:
            warn([f"the window has no {', '.join(without)}"])
        self.scene, self.viewport_size, self.run_in_thread = scene, tuple(viewport_size or SIZE), run_in_thread
        self.render_flags = {name: chosen.get(name, value) for name, value in RENDER_FLAGS.items()}
        self.viewer_flags = {name: chosen.get(name, value) for name, value in VIEWER_FLAGS.items()}
        self.registered_keys: dict[str, Any] = dict(registered_keys or {})
        self.render_lock = threading.RLock()
        self.is_active, self.widget = False, None
        self._app: Any = None
        self._convert = Conversion("lit")
        self._last_state: tuple[Any, Converted] | None = None
        self._pressed: list[str] = []
        if run_in_thread:
            self._start_thread()
        elif auto_start:
            self.start()

    def start(self) -> None:
        """Open the window, until it is closed."""
        if not in_notebook():
            self._open(lambda: None)
            return
        converted, options = self.converted_scene()
        self.widget = show(converted, size=self.viewport_size, **options)
        self.is_active = True

    def _start_thread(self) -> None:
        """Open the window in a thread; returns once it is there."""
        if in_notebook():  # the widget has a thread already
            self.start()
            return
        opened, faults = threading.Event(), []

        def run() -> None:
            try:
                self._open(opened.set)
            except BaseException as fault:
                if opened.is_set():
                    raise
                faults.append(fault)
            finally:
                opened.set()

        threading.Thread(target=run, name="viewer").start()
        opened.wait()
        if faults:
            raise faults[0]

    def _open(self, opened: Callable[[], None]) -> None:
        """The window, until it is closed; ``opened`` is called once it is there."""
        from raystream.window import opening  # loads GLFW

        with self.render_lock:
            converted, options = self.converted_scene()

        def begin(app: Any) -> None:
            self._app, self.is_active = app, True
            app.each_turn, app.period = self._update, 1.0 / float(self.viewer_flags["refresh_rate"])
            opened()

        keys = {_key_text(key): partial(self._pressed.append, key) for key in self.registered_keys}
        full_screen = bool(self.viewer_flags["fullscreen"])
        try:
            opening.show_live(converted, begin, keys, full_screen, size=self.viewport_size, **options)
        finally:
            self._app, self.is_active = None, False

    def _update(self) -> None:
        """Act on registered keys, and look for changes of the scene."""
        with self.render_lock:
            pressed, self._pressed[:] = list(self._pressed), []
            for key in pressed:
                binding = self.registered_keys[key]
                function, *more = binding if isinstance(binding, (list, tuple)) else (binding,)
                function(self, *(more[0] if more else ()), **(more[1] if len(more) > 1 else {}))
            if self._app is not None and (converted := self._changed_scene()) is not None:
                self._app.editing.offer(converted)

    def close_external(self) -> None:
        """Close the window from another thread, and wait until it is closed."""
        app = self._app
        if app is not None:
            app.window.close()
            app.window.wake()
        while self.is_active and self._app is not None:
            time.sleep(0.01)

    def _ipython_display_(self) -> None:
        """A notebook's cell shows the widget."""
        from IPython.display import display  # only a notebook asks

        display(self.widget)

    def converted_scene(self) -> tuple[Converted, dict[str, Any]]:
        """The scene as the renderer takes it, and the options of its window: the main camera, or one that sees all of
        it; light of its own, or the renderer's."""
        scene, camera_node = self.scene, self.scene.main_camera_node
        size: tuple[int, int] = (int(self.viewport_size[0]), int(self.viewport_size[1]))
        if camera_node is not None:
            self._eye = Eye.of(scene, size)
            camera = self._eye.camera()
        else:
            camera = Camera.framing(scene.bounds, float(np.degrees(FOV)), aspect=size[0] / size[1])
            right, up, forward = camera.basis()
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = np.column_stack([right, up, -forward]), camera.origin
            self._eye = Eye(pose, PerspectiveCamera(FOV).get_projection_matrix(*size), 0.0, np.inf, size)
        converted = self._changed_scene()
        assert converted is not None
        options: dict[str, Any] = {"camera": camera, "accel": "two-level-bvh"}  # objects move
        if converted.lights or scene.ambient_light.any():
            options["environment"] = tuple(map(float, scene.ambient_light))
        return converted, options

    def _changed_scene(self) -> Converted | None:
        """The scene where it is another than at the last call, with the lights at the eye."""
        scene = self.scene
        added = [scene.add(light, pose=self._eye.pose @ pose) for light, pose in self._lights()]
        try:
            converted = self._convert(scene, self._eye, float(self.render_flags["point_size"]))
        finally:
            for node in added:
                scene.remove_node(node)
        placed = [(instance.mesh, instance.transform.tobytes()) for instance in converted.instances]
        state = (
            placed,
            [id(mesh) for mesh in converted.meshes],
            converted.materials,
            converted.lights,
            [id(texture) for texture in converted.textures],
        )
        if self._last_state is not None and state == self._last_state[0]:
            return None
        self._last_state = state, converted  # whose parts live on, so that their numbers are no others'
        return replace(converted, name=self.viewer_flags["window_title"] or converted.name)

    def _lights(self) -> list[tuple[DirectionalLight, np.ndarray]]:
        """Lights at the eye, and their poses in its space."""
        bright = float(self.viewer_flags["lighting_intensity"])
        if self.viewer_flags["use_direct_lighting"]:
            return [(DirectionalLight(np.ones(3), bright), np.eye(4))]
        if not self.viewer_flags["use_raymond_lighting"]:
            return []
        polar, azimuths = RAYMOND
        lights = []
        for azimuth in azimuths:
            back = np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])
            side = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
            pose = np.eye(4)
            pose[:3, :3] = np.column_stack([side, np.cross(back, side), back])
            lights.append((DirectionalLight(np.ones(3), bright), pose))
        return lights


def _key_text(character: str) -> str:
    """The window's text of a key. Raises ViewerError for one that it does not know."""
    return "Space" if character == " " else parse_key(character)
