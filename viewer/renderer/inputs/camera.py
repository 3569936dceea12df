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
    """The scene's camera by the options, for pictures of that aspect, width to height. Raises ViewerError for a name
    that the scene does not have, and for options that contradict each other."""
    requested = settings.camera
    if isinstance(requested, str) and not any(c.name == requested for c in scene.cameras) and "," in requested:
        requested = Camera.parse(requested)
    camera = requested if isinstance(requested, Camera) else scene.camera(requested, aspect)
    camera = camera if settings.fov is None else camera.with_fov(settings.fov)
    if settings.aperture is not None or settings.focus is not None:
        camera = camera.with_lens(settings.aperture, settings.focus)
    return projected(camera.about(scene.origin), settings)


def projected(camera: Camera, settings: Settings) -> Camera:
    """The camera with the options' projection and stereo distance. Raises ViewerError where options contradict each
    other, and for intrinsics that are no camera's."""
    kind = _requested_kind(settings)
    if kind is None:
        return camera if settings.stereo is None else camera.with_projection(camera.projection, settings.stereo)
    return camera.with_projection(_projection(kind, camera, settings), settings.stereo)


OPTION_PROJECTIONS = {  # option -> projections that it goes with; the first is meant where no --projection says so
    "ortho": ("orthographic",),
    "fisheye": ("fisheye", "equisolid"),
    "intrinsics": ("perspective", "opencv-fisheye"),
    "distortion": ("perspective", "opencv-fisheye"),
}


def _requested_kind(settings: Settings) -> str | None:
    """The name of the options' projection; None: that of the camera stays. Raises ViewerError for contradictions."""
    kind: str | None = settings.projection
    source = "projection"
    for name, kinds in OPTION_PROJECTIONS.items():
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
    """The projection of that name with the options' numbers, else the camera's; None is perspective, by ``fov``."""
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
    """Remarks for the user on options that have no effect on the camera."""
    notes = []
    if camera.aperture > 0 and camera.model.wide:
        notes.append("a camera that sees all around, or a fisheye, has no lens: everything is in focus")
    as_wide = isinstance(camera.projection, Orthographic) and settings.ortho in (None, "auto")
    if settings.fov is not None and camera.projection is not None and not as_wide:
        notes.append("--fov changes nothing: the camera's projection is not by a field of view")
    return notes


def projection_kind(settings: Settings, scene: Scene) -> str:
    """The name of the shader of the settings' camera, see `Camera.kind`; found without framing the scene."""
    requested = settings.camera
    if isinstance(requested, Camera):
        camera = requested
    elif isinstance(requested, str):
        camera = next((c for c in scene.cameras if c.name == requested), _PINHOLE)
    else:
        camera = scene.cameras[0] if scene.cameras else _PINHOLE
    return projected(camera, settings).kind


_PINHOLE = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


def fitted(camera: Camera, settings: Settings, scene: Scene, size: tuple[int, int]) -> Camera:
    """The renderer's camera for pictures of ``size`` (width, height): the default view is framed again for their
    aspect, all others stay."""
    width, height = size
    if width == height or settings.camera is not None or scene.own_camera is not None:
        return camera
    return view(settings, scene, width / height)


def sampled_lens(settings: Settings, camera: Camera) -> tuple[Camera, str]:
    """The camera and the pixel filter of samples; with shared eye rays a pinhole, and rays through pixels' centres."""
    if settings.eye_rays == "shared":
        return replace(camera, aperture=0.0), "point"
    return camera, settings.pixel_filter


def camera_options(camera: Camera) -> dict[str, Any]:
    """The values of the view's options by which this camera is used as it is, with its field of view and lens."""
    return {**dict.fromkeys(VIEW), "camera": camera}
