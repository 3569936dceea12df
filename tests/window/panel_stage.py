"""A desk without a window, for tests of panels: drawn into a texture, under a mouse of the test's own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, imgui

SIZE = (1280, 800)


class Stage:
    """A desk without a window: the panels are drawn into a texture, and what they ask for is written down."""

    def __init__(self, device: Any) -> None:
        from raystream.renderer.inputs.settings import Settings
        from raystream.renderer.renderer import Renderer
        from raystream.renderer.session.session import Session
        from raystream.scene.scene import Scene
        from raystream.viewport import scene_loader, viewport
        from raystream.viewport.camera_controller import CameraController
        from raystream.viewport.debug_views.debug_views import DebugViews
        from raystream.viewport.editing import LightMarkers, ObjectEditing
        from raystream.viewport.keymap import Keymap
        from raystream.viewport.picture_texture import PictureTexture
        from raystream.viewport.preferences import Preferences
        from raystream.window.panels.imgui_draw import ImguiDraw

        asked = self.asked = []

        class View(viewport.Viewport):
            compiling = ""

            def wake(self) -> None:
                asked.append("wake")

        class Bringing(scene_loader.SceneLoader):
            loading = None

            def set(self, **changes: Any) -> None:
                asked.append(changes)
                if isinstance(self.requested, Settings):
                    super().set(**changes)

            def open(self, path: str) -> None:
                asked.append(path)

        self.device, self.imgui = device, imgui.create_context()
        imgui.set_current_context(self.imgui)
        imgui.get_io().set_ini_filename("")
        self.draw_imgui = ImguiDraw(device.context)
        scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.5]], [[0, 1, 2], [1, 3, 2]])
        self.session = Session(Renderer(scene, device=device, program="cast"), SIZE, screen=PictureTexture(device))
        preferences = Preferences(path=Path())
        preferences.recent, preferences.panels, preferences.hint = ["/a/b.ply"], True, False
        self.view = View(self.session, preferences, Keymap())
        self.view.area.size, self.view.area.pixels = SIZE, SIZE
        self.view.actions.available = lambda action: True
        self.view.actions.perform = asked.append
        self.debug_views, self.markers = DebugViews(self.view), LightMarkers(self.view)
        self.scene_loader = Bringing(self.view, self.debug_views, device, self.renderer.settings, lambda path: scene)
        self.editing = ObjectEditing(self.view, self.scene_loader, self.debug_views, self.markers)
        rooms = {name: getattr(self, name) for name in ("view", "scene_loader", "editing", "markers", "debug_views")}
        self.context = SimpleNamespace(**rooms)
        self.view.controller = CameraController(self.renderer.camera, scene.bounds())
        shown = self.session.convergence
        shown.complete, shown.converged, shown.samples = True, True, 1
        self.session.seconds = 0.1
        self.target = device.context.framebuffer([device.context.texture(SIZE, 4)])

    def place(self, name: str) -> tuple[Any, str]:
        """The object and the attribute that hold a state of the viewport."""
        overlay = getattr(self.view.overlays, name, None)
        if overlay is not None:
            return overlay, "on"
        return (self.scene_loader if name == "loading" else self.view), name

    @property
    def renderer(self) -> Any:
        return self.session.renderer

    def draw(self, frames: int = 3, size: tuple[int, int] = SIZE, mouse: Any = None, down: bool = False) -> np.ndarray:
        """(height, width) bool: where something was drawn."""
        self.turn(frames, size, mouse, down)
        self.target.use()
        self.target.clear()
        self.draw_imgui.render(imgui.get_draw_data())
        pixels = np.frombuffer(self.target.read(components=4), np.uint8).reshape(SIZE[1], SIZE[0], 4)[::-1]
        return pixels[..., 3] > 0

    def turn(self, frames: int = 1, size: tuple[int, int] = SIZE, mouse: Any = None, down: bool = False) -> None:
        """Frames that nobody looks at."""
        from raystream.window.panels.panels import draw_panels

        io = imgui.get_io()
        for _ in range(frames):
            io.display_size, io.delta_time = ImVec2(*size), 1 / 60
            if mouse is not None:
                io.add_mouse_pos_event(*mouse)
                io.add_mouse_button_event(0, down)
            imgui.new_frame()
            draw_panels(self.context, self.draw_imgui)
            imgui.render()

    def click(self, x: float, y: float) -> list[Any]:
        """What the panels ask for when the mouse is pressed there."""
        return self.drag((x, y), (x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> list[Any]:
        """What they ask for when it is pressed at one place and released at another."""
        self.asked.clear()
        self.turn(2, mouse=start)
        self.turn(1, mouse=start, down=True)
        if end != start:
            self.turn(1, mouse=tuple((a + b) / 2 for a, b in zip(start, end, strict=True)), down=True)
            self.turn(1, mouse=end, down=True)
        self.turn(2, mouse=end)
        return list(self.asked)

    def inspect(self) -> None:
        from raystream.viewport.debug_views.inspector import Inspector

        self.debug_views.inspector = Inspector(self.renderer, size=(24, 16))
        self.debug_views.inspector.begin(self.view.controller.camera)
        for _ in range(5):
            self.debug_views.inspector.step()


def use_scene(stage: Stage, scene: Any, **settings: Any) -> None:
    """Show another scene, whose picture is complete after one sample."""
    stage.session.use(type(stage.renderer)(scene, device=stage.device, **settings))
    stage.scene_loader.requested = stage.renderer.settings
    shown = stage.session.convergence
    shown.complete, shown.converged, shown.samples = True, True, 1
