"""The camera that the settings mean in a scene."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from viewer.base.errors import ViewerError
from viewer.renderer.inputs.settings import VIEW, Settings
from viewer.scene.camera import Camera
from viewer.scene.projections.models import Equirectangular, Fisheye, Intrinsics, Orthographic, Projection
from viewer.scene.scene import Scene


def view(settings: Settings, scene: Scene, aspect: float = 1.0) -> Camera:
    """The camera of the options of the view, for pictures of that aspect. Raises ViewerError for a name that the scene
    does not have, and for options that contradict each other."""
    camera = settings.camera
    if isinstance(camera, str) and not any(c.name == camera for c in scene.cameras) and "," in camera:
        camera = Camera.parse(camera)
    found = camera if isinstance(camera, Camera) else scene.camera(camera, aspect)
    found = found if settings.fov is None else found.with_fov(settings.fov)
    if settings.aperture is not None or settings.focus is not None:
        found = found.with_lens(settings.aperture, settings.focus)
    return projected(found.about(scene.origin), settings)


def projected(camera: Camera, settings: Settings) -> Camera:
    """A camera with the projection that the options ask for, and their eyes. Raises ViewerError where these contradict
    each other, and for a measured camera that is none."""
    asked = _asked(settings)
    if asked is None:
        return camera if settings.stereo is None else camera.with_projection(camera.projection, settings.stereo)
    return camera.with_projection(_projection(asked, camera, settings), settings.stereo)


OWN = {  # options that belong to some projections alone, and these; the first one where the option alone is given
    "ortho": ("orthographic",),
    "fisheye": ("fisheye", "equisolid"),
    "intrinsics": ("perspective", "opencv-fisheye"),
    "distortion": ("perspective", "opencv-fisheye"),
}


def _asked(settings: Settings) -> str | None:
    """The name of the projection that the options ask for; None: the camera's own."""
    asked, by = settings.projection, "projection"
    for name, kinds in OWN.items():
        if settings[name] is None:
            continue
        if asked is None:
            asked, by = kinds[0], name
        elif asked not in kinds:
            given = f"--projection {asked}" if by == "projection" else f"--{by}"
            raise ViewerError(f"--{name}", f"is not of {given}", "take one of them")
    if settings.intrinsics is None and (asked == "opencv-fisheye" or settings.distortion is not None):
        what = "--distortion" if settings.distortion is not None else f"--projection {asked}"
        raise ViewerError(what, "needs the camera's matrix", "give --intrinsics FX,FY,CX,CY")
    return asked


def _projection(asked: str, camera: Camera, settings: Settings) -> Projection | None:
    own = camera.projection
    if asked == "orthographic":
        if settings.ortho is None and isinstance(own, Orthographic):
            return own
        # Of a file's camera the focus is its target: at the middle of the scene.
        shown = 2 * math.tan(math.radians(camera.fov) / 2) * camera.focus_distance
        return Orthographic(shown if settings.ortho in (None, "auto") else settings.ortho)
    if asked == "equirectangular":
        return Equirectangular()
    if asked in ("fisheye", "equisolid"):
        angle = own.angle if isinstance(own, Fisheye) else 180.0
        return Fisheye(angle if settings.fisheye is None else settings.fisheye, asked == "equisolid")
    if settings.intrinsics is None:
        return None
    numbers, size = settings.intrinsics
    rows = numbers[:3], numbers[3:6], numbers[6:]
    try:
        return Intrinsics.of_matrix(rows, size, settings.distortion or (), asked == "opencv-fisheye")
    except ViewerError as error:
        flag = "--distortion" if error.where == "distortion" else "--intrinsics"
        raise ViewerError(flag, error.what, error.hint) from None


def view_notes(settings: Settings, camera: Camera) -> list[str]:
    """Remarks on options that mean nothing to the settings' camera."""
    found = []
    if camera.aperture > 0 and camera.model.wide:
        found.append("a camera that sees all around, or a fisheye, has no lens: everything is in focus")
    as_wide = isinstance(camera.projection, Orthographic) and settings.ortho in (None, "auto")
    if settings.fov is not None and camera.projection is not None and not as_wide:
        found.append("--fov changes nothing: the camera's projection is not by a field of view")
    return found


def projection_kind(settings: Settings, scene: Scene) -> str:
    """The name of the shader of the settings' camera, see `Camera.kind`; framing the scene is left out."""
    camera = settings.camera
    if isinstance(camera, Camera):
        found = camera
    elif isinstance(camera, str):
        found = next((each for each in scene.cameras if each.name == camera), _ANY)
    else:
        found = scene.cameras[0] if scene.cameras else _ANY
    return projected(found, settings).kind


_ANY = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


def fitted(camera: Camera, settings: Settings, scene: Scene, size: tuple[int, int]) -> Camera:
    """The renderer's camera for pictures of that size (width, height): another one where it is the default view, which
    the scene fills in pictures of every shape."""
    width, height = size
    if width == height or settings.camera is not None or scene.own_camera is not None:
        return camera
    return view(settings, scene, width / height)


def eye(settings: Settings, camera: Camera) -> tuple[Camera, str]:
    """The lens and the pixel filter that samples see through: of shared eye rays a pinhole, and pixels' centres."""
    if settings.eye_rays == "shared":
        return replace(camera, aperture=0.0), "point"
    return camera, settings.pixel_filter


def exactly(camera: Camera) -> dict[str, Any]:
    """The options that mean this very camera, with its own field of view and lens."""
    return {**dict.fromkeys(VIEW), "camera": camera}
