"""A scene's first picture in the viewport: it follows the camera until the session has one of its own."""

from __future__ import annotations

from typing import Any

from viewer.base.errors import ViewerError
from viewer.cameras.backdrop import backdrop_of
from viewer.renderer.inputs.camera import view as camera_of
from viewer.renderer.inputs.lighting import background_of
from viewer.renderer.inputs.prepared import PreparedScene, arranged
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.headlight import Headlight, HeadlightScene, headlight_scene
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene
from viewer.stream.gl.device import Device
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.viewport import Viewport


class Glance:
    """The worker's first result on a scene, as soon as its file is read. scene : as the settings arrange it, in its
    textures' own size."""

    def __init__(self, scene: Scene, settings: Settings, before: PreparedScene | None = None, pixels: int = 0) -> None:
        self.scene = arranged(scene, settings.replace(max_texture=None))
        self.drawn: HeadlightScene = headlight_scene(self.scene, backdrop_of(background_of(self.scene, settings), None))
        self.scene.camera()  # which a framing takes a while to find

    def camera(self, settings: Settings, aspect: float) -> Camera:
        """Where a picture of that aspect is seen from, with these settings."""
        try:
            return camera_of(settings, self.scene, aspect)
        except ViewerError:  # told when the scene is there
            return camera_of(settings.replace(camera=None), self.scene, aspect)


class FirstPicture:
    """Shows scenes under a headlight on a session's screen. The context is current in every call.

    shown : the scene's picture has been drawn, and the session has none of it yet.
    """

    def __init__(self, view: Viewport, device: Device) -> None:
        self.view, self.device = view, device
        self.shown = False
        self._headlight: Headlight | None = None
        self._glance: Glance | None = None
        self._before = 0  # pictures of the session until then
        self._drawn: tuple[Any, ...] = ()  # what the picture on show is of

    def warm(self) -> None:
        """Compile its program, once."""
        if self._headlight is None:
            self._headlight = Headlight(self.device)
            self._headlight.warm()

    def begin(self, glance: Glance) -> None:
        """A scene comes, which the controller's camera sees."""
        self.warm()
        assert self._headlight is not None
        self._headlight.load(glance.drawn)
        self._glance, self._before, self._drawn = glance, self.view.session.pictures, ()

    def draw(self) -> None:
        """Show the scene as the controller's camera sees it by now, where it has moved; or end."""
        view, session, controller = self.view, self.view.session, self.view.controller
        if self._glance is None or controller is None:
            return
        if session.pictures > self._before or (session.running and not session.previewing):
            self.end()
            return
        of = controller.camera, view.pixels, view.stops
        if of == self._drawn or session.screen is None or min(view.pixels) < 1:
            return
        if controller.camera.kind:  # the headlight's picture is a pinhole's
            return
        headlight = self._headlight
        assert headlight is not None
        session.screen.warp(view.pixels, lambda stream: headlight.draw(controller.camera, stream, view.stops))
        self._drawn, self.shown = of, True
        view.wake()

    def end(self) -> None:
        """Free its memory."""
        self._glance, self.shown = None, False
        if self._headlight is not None:
            self._headlight.release()


def first_controller(view: Viewport, camera: Camera, bounds: Any) -> CameraController:
    """A camera in the hand for a scene that comes; keys that are down move it."""
    controller = CameraController(camera, bounds)
    controller.mode = "fly" if controller.indoors else view.preferences.mode
    controller.speed = view.preferences.speed * controller.natural_speed
    for motion in view.held:
        controller.press(motion)
    return controller
