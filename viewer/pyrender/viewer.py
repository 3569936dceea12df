"""The window on a scene of pyrender."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from viewer.base.errors import ViewerError, warn
from viewer.pyrender.camera import PerspectiveCamera
from viewer.pyrender.conversion import Conversion
from viewer.pyrender.eye import Eye
from viewer.pyrender.light import DirectionalLight
from viewer.pyrender.scene import Scene
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene as Converted

SIZE = (640, 480)
FOV = np.pi / 3  # of a scene without a camera, radians
INTENSITY = 3.0  # of lights at the eye
# Polar angle and azimuths of the three lights about the eye, radians.
RAYMOND = np.pi / 6, (0.0, 2 * np.pi / 3, 4 * np.pi / 3)
# pyrender's flags; those of `WITHOUT` are told where they are on.
FLAGS = (
    *("flip_wireframe", "all_wireframe", "all_solid", "shadows", "vertex_normals", "face_normals", "cull_faces"),
    *("point_size", "rotate", "rotate_rate", "rotate_axis", "view_center", "record", "use_raymond_lighting"),
    *("use_direct_lighting", "lighting_intensity", "use_perspective_cam", "save_directory", "window_title"),
    *("refresh_rate", "fullscreen", "show_world_axis", "show_mesh_axes", "caption", "mouse_pressed"),
)
WITHOUT = (
    *("flip_wireframe", "all_wireframe", "vertex_normals", "face_normals", "rotate", "record", "show_world_axis"),
    *("show_mesh_axes", "caption"),
)


class Viewer:
    """Opens the window of `viewer.show` on a scene, and returns when it is closed; in a notebook it is the cell's
    output. Keys and mouse are the window's.

    viewport_size : of the window. render_flags, viewer_flags, flags : pyrender's flags; of these use_raymond_lighting,
    use_direct_lighting and lighting_intensity add lights at the eye, which then stay where they are, and point_size
    sizes points. auto_start : False opens it by `start`.

    Raises ViewerError without a display, for ``run_in_thread``, and for a scene that cannot be shown.
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
        if run_in_thread:
            what = "the window belongs to the main thread"
            raise ViewerError("run_in_thread=True", what, "render frames of a motion with OffscreenRenderer")
        without = [name for name in chosen if name not in FLAGS or (name in WITHOUT and chosen[name])]
        without += ["registered_keys"] * bool(registered_keys)
        if without:
            warn([f"the window has no {', '.join(without)}"])
        self.scene, self.viewport_size = scene, tuple(viewport_size or SIZE)
        self.flags, self.is_active, self.widget = chosen, False, None
        if auto_start:
            self.start()

    def start(self) -> None:
        """Open the window, until it is closed."""
        from viewer.notebook.show import show

        shown, options = self.shown()
        self.is_active = True
        try:
            self.widget = show(shown, size=self.viewport_size, **options)
        finally:
            self.is_active = self.widget is not None

    def _ipython_display_(self) -> None:
        """A notebook's cell shows the widget."""
        from IPython.display import display  # only a notebook asks

        display(self.widget)

    def shown(self) -> tuple[Converted, dict[str, Any]]:
        """The scene as the renderer takes it, and the options of its window: the main camera, or one that sees all of
        it; light of its own, or the renderer's."""
        scene, given = self.scene, self.scene.main_camera_node
        size: tuple[int, int] = (int(self.viewport_size[0]), int(self.viewport_size[1]))
        if given is not None:
            eye = Eye.of(scene, size)
            camera = eye.camera()
        else:
            camera = Camera.framing(scene.bounds, float(np.degrees(FOV)), aspect=size[0] / size[1])
            right, up, forward = camera.basis()
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = np.column_stack([right, up, -forward]), camera.origin
            eye = Eye(pose, PerspectiveCamera(FOV).get_projection_matrix(*size), 0.0, np.inf, size)
        added = [scene.add(light, pose=eye.pose @ turn) for light, turn in self._lights()]
        try:
            shown = Conversion("lit")(scene, eye, float(self.flags.get("point_size", 1.0)))
        finally:
            for node in added:
                scene.remove_node(node)
        options: dict[str, Any] = {"camera": camera}
        if shown.lights or scene.ambient_light.any():
            options["environment"] = tuple(map(float, scene.ambient_light))
        return shown, options

    def _lights(self) -> list[tuple[DirectionalLight, np.ndarray]]:
        """Lights at the eye, and their poses in its space."""
        bright = float(self.flags.get("lighting_intensity", INTENSITY))
        if self.flags.get("use_direct_lighting"):
            return [(DirectionalLight(np.ones(3), bright), np.eye(4))]
        if not self.flags.get("use_raymond_lighting"):
            return []
        polar, azimuths = RAYMOND
        found = []
        for azimuth in azimuths:
            back = np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])
            side = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
            turn = np.eye(4)
            turn[:3, :3] = np.column_stack([side, np.cross(back, side), back])
            found.append((DirectionalLight(np.ones(3), bright), turn))
        return found

    def close_external(self) -> NoReturn:
        """Raises ViewerError: without ``run_in_thread`` there is nobody to close it."""
        raise ViewerError("close_external", "the window belongs to the main thread, which has returned from it")
