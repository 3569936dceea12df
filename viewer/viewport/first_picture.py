"""A scene's first picture in the viewport: it follows the camera until the session has one of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.cameras.backdrop import backdrop_of
from raystream.formats.image.environment_maps import environment_of
from raystream.options.table import OPTIONS
from raystream.renderer.inputs.camera import view as camera_of
from raystream.renderer.inputs.lighting import background_of, seems_lit
from raystream.renderer.inputs.own_light import only_suns, sky_of, white_radiance
from raystream.renderer.inputs.prepared import PreparedScene, arranged
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.headlight import DIRECTIONS, Headlight, HeadlightScene, headlight_scene
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import is_single_object
from raystream.scene.environment import ConstantEnvironment
from raystream.scene.light import luminance
from raystream.scene.scene import Scene
from raystream.scene.sky import SUN, sky
from raystream.stream.gl.device import Device
from raystream.viewport.viewport import Viewport

WORDS = OPTIONS["environment"].value.words
UNREAD = 0.5  # of an environment that is not read yet
BRIGHTEST = 4.0  # radiance of an environment behind the scene: of suns
FAINTEST = 1e-30  # radiance of white surfaces
HORIZON = -0.5, 0.15  # of a gradient: where it begins and ends; also shaders/shading/plain_background.glsl


class Glance:
    """The worker's first result on a scene, as soon as its file is read. scene : as the settings arrange it, in its
    textures' own size."""

    def __init__(self, scene: Scene, settings: Settings, before: PreparedScene | None = None, pixels: int = 0) -> None:
        self.scene = arranged(scene, settings.replace(max_texture=None))
        behind, white = background(self.scene, settings), white_under(self.scene, settings)
        self.drawn: HeadlightScene = headlight_scene(self.scene, behind, white)
        self.scene.camera()  # which a framing takes a while to find

    def camera(self, settings: Settings, aspect: float) -> Camera:
        """Where a picture of that aspect is seen from, with these settings."""
        try:
            return camera_of(settings, self.scene, aspect)
        except ViewerError:  # told when the scene is there
            return camera_of(settings.replace(camera=None), self.scene, aspect)


def background(scene: Scene, settings: Settings) -> NDArray[np.float32]:
    """(*`DIRECTIONS`, 3) the background of a scene to come, at a glance, linear; grey in place of a file, which takes
    longer."""
    rows, columns = DIRECTIONS
    backdrop = backdrop_of(background_of(scene, settings), None)
    if backdrop is not None and backdrop.tones is not None:
        low, high = np.array(backdrop.tones)
        up = np.cos((np.arange(rows) + 0.5) * np.pi / rows)
        fraction = np.clip((up - HORIZON[0]) / (HORIZON[1] - HORIZON[0]), 0.0, 1.0)
        tones = low + (fraction * fraction * (3.0 - 2.0 * fraction))[:, None] * (high - low)
        return np.repeat(tones.astype(np.float32)[:, None], columns, axis=1)
    value = settings.environment
    if isinstance(value, str) and value not in WORDS:
        return np.full((rows, columns, 3), UNREAD, np.float32)
    single, grounded = is_single_object(scene), scene.ground is not None
    environment, _ = environment_of(value, 0.0, seems_lit(scene), settings.sun, single, grounded)
    lights = [light for light in scene.lights if any(light.intensity)]
    shines = any(any(material.emission) for material in scene.materials)
    if value is None and settings.sun is None and scene.fills and not single and not shines and only_suns(lights):
        environment = sky(sun=sky_of(lights).sun or SUN, disc=False)  # in the open, and through a room's windows
    if isinstance(environment, ConstantEnvironment):
        return np.tile(np.array(environment.radiance, np.float32), (rows, columns, 1))
    height, width = environment.pixels.shape[:2]
    row = (np.arange(rows) + 0.5) * height / rows
    column = ((np.arange(columns) + 0.5) / columns + settings.environment_rotation / 360.0) % 1.0 * width
    return np.minimum(environment.pixels[row.astype(int)[:, None], column.astype(int)], BRIGHTEST)


def white_under(scene: Scene, settings: Settings) -> float:
    """About the radiance of a white surface of a scene to come, at a glance."""
    value = settings.environment
    lit = seems_lit(scene) and settings.sun is None
    if lit and value in (None, "none"):
        return white_radiance(scene)
    constant = value is not None and not isinstance(value, str)
    if constant and isinstance(environment := environment_of(value, 0.0, lit)[0], ConstantEnvironment):
        return white_radiance(scene, max(float(luminance(environment.radiance)), FAINTEST))
    return white_radiance(scene, 1.0)


class FirstPicture:
    """Shows scenes under a headlight on a session's screen. The context is current in every call.

    shown : the scene's picture has been drawn, and the session has none of it yet. drawn : the subject of the picture.
    """

    def __init__(self, view: Viewport, device: Device) -> None:
        self.view, self.device = view, device
        self.shown = False
        self._headlight: Headlight | None = None
        self._glance: Glance | None = None
        self._before = 0  # pictures of the session until then
        self.drawn: tuple[Any, ...] = ()  # what the picture on show is of

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
        self._glance, self._before, self.drawn = glance, self.view.session.pictures, ()

    def draw(self) -> None:
        """Show the scene as the controller's camera sees it by now, where it has moved; or end."""
        view, session, controller = self.view, self.view.session, self.view.controller
        if self._glance is None or controller is None:
            return
        if session.pictures > self._before or (session.running and not session.previewing):
            self.end()
            return
        of = controller.camera, view.area.pixels
        if of == self.drawn or session.screen is None or min(view.area.pixels) < 1:
            return
        if controller.camera.kind:  # the headlight's picture is a pinhole's
            return
        headlight = self._headlight
        assert headlight is not None
        session.screen.warp(view.area.pixels, lambda stream: headlight.draw(controller.camera, stream))
        self.drawn, self.shown = of, True
        view.wake()

    def end(self) -> None:
        """Free its memory."""
        self._glance, self.shown = None, False
        if self._headlight is not None:
            self._headlight.release()
