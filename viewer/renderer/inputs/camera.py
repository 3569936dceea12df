"""The camera that the settings mean in a scene."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.settings import VIEW, Settings
from raystream.scene.camera import Camera
from raystream.scene.projections import Equirectangular, Fisheye, Intrinsics, Orthographic, Projection
from raystream.scene.scene import Scene


def view(settings: Settings, scene: Scene, aspect: float = 1.0) -> Camera:
    """The camera of the options of the view, for pictures of that aspect. Raises ViewerError for a name that the scene
    does not have, and for options that contradict each other."""
    requested = settings.camera
    if isinstance(requested, str) and not any(c.name == requested for c in scene.cameras) and "," in requested:
        requested = Camera.parse(requested)
    camera = requested if isinstance(requested, Camera) else scene.camera(requested, aspect)
    camera = camera if settings.fov is None else camera.with_fov(settings.fov)
    if settings.aperture is not None or settings.focus is not None:
        camera = camera.with_lens(settings.aperture, settings.focus)
    return projected(camera.about(scene.origin), settings)


def projected(camera: Camera, settings: Settings) -> Camera:
    """A camera with the projection that the options ask for, and their eyes. Raises ViewerError where these contradict
    each other, and for a measured camera that is none."""
    kind = _requested_kind(settings)
    if kind is None:
        return camera if settings.stereo is None else camera.with_projection(camera.projection, settings.stereo)
    return camera.with_projection(_projection(kind, camera, settings), settings.stereo)


KINDS_OF = {  # projections that an option belongs to; the first one where there is no other word
    "ortho": ("orthographic",),
    "fisheye": ("fisheye", "equisolid"),
    "intrinsics": ("perspective", "opencv-fisheye"),
    "distortion": ("perspective", "opencv-fisheye"),
}


def _requested_kind(settings: Settings) -> str | None:
    """The name of the projection that the options ask for; None: the camera's own."""
    kind: str | None = settings.projection
    source = "projection"
    for name, kinds in KINDS_OF.items():
        if settings[name] is None:
            continue
        if kind is None:
            kind, source = kinds[0], name
        elif kind not in kinds:
            option = f"--projection {kind}" if source == "projection" else f"--{source}"
            raise ViewerError(f"--{name}", f"is not of {option}", "take one of them")
    if settings.intrinsics is None and (kind == "opencv-fisheye" or settings.distortion is not None):
        what = "--distortion" if settings.distortion is not None else f"--projection {kind}"
        raise ViewerError(what, "needs the camera's matrix", "give --intrinsics FX,FY,CX,CY")
    return kind


def _projection(kind: str, camera: Camera, settings: Settings) -> Projection | None:
    projection = camera.projection
    if kind == "orthographic":
        if settings.ortho is None and isinstance(projection, Orthographic):
            return projection
        if settings.ortho is None or settings.ortho == "auto":
            # Of a file's camera the focus is its target: at the middle of the scene.
            return Orthographic(2 * math.tan(math.radians(camera.fov) / 2) * camera.focus_distance)
        return Orthographic(settings.ortho)
    if kind == "equirectangular":
        return Equirectangular()
    if kind in ("fisheye", "equisolid"):
        angle = projection.angle if isinstance(projection, Fisheye) else 180.0
        return Fisheye(angle if settings.fisheye is None else settings.fisheye, kind == "equisolid")
    if settings.intrinsics is None:
        return None
    numbers, size = settings.intrinsics
    rows = numbers[:3], numbers[3:6], numbers[6:]
    try:
        return Intrinsics.of_matrix(rows, size, settings.distortion or (), kind == "opencv-fisheye")
    except ViewerError as error:
        flag = "--distortion" if error.where == "distortion" else "--intrinsics"
        raise ViewerError(flag, error.what, error.hint) from None


def view_notes(settings: Settings, camera: Camera) -> list[str]:
    """Remarks on options that mean nothing to the settings' camera."""
    notes = []
    if camera.aperture > 0 and camera.model.wide:
        notes.append("a camera that sees all around, or a fisheye, has no lens: everything is in focus")
    as_wide = isinstance(camera.projection, Orthographic) and settings.ortho in (None, "auto")
    if settings.fov is not None and camera.projection is not None and not as_wide:
        notes.append("--fov changes nothing: the camera's projection is not by a field of view")
    return notes


def projection_kind(settings: Settings, scene: Scene) -> str:
    """The name of the shader of the settings' camera, see `Camera.kind`; framing the scene is left out."""
    requested = settings.camera
    if isinstance(requested, Camera):
        camera = requested
    elif isinstance(requested, str):
        camera = next((c for c in scene.cameras if c.name == requested), _ANY)
    else:
        camera = scene.cameras[0] if scene.cameras else _ANY
    return projected(camera, settings).kind


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


def camera_keywords(camera: Camera) -> dict[str, Any]:
    """The options that mean this very camera, with its own field of view and lens."""
    return {**dict.fromkeys(VIEW), "camera": camera}
