"""The camera that the settings mean in a scene."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from viewer.renderer.inputs.settings import VIEW, Settings
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene


def view(settings: Settings, scene: Scene, aspect: float = 1.0) -> Camera:
    """The camera of the options ``camera``, ``fov``, ``aperture`` and ``focus``, for pictures of that aspect. Raises
    ViewerError for a name that the scene does not have."""
    camera = settings.camera
    if isinstance(camera, str) and not any(c.name == camera for c in scene.cameras) and "," in camera:
        camera = Camera.parse(camera)
    found = camera if isinstance(camera, Camera) else scene.camera(camera, aspect)
    found = found if settings.fov is None else found.with_fov(settings.fov)
    if settings.aperture is None and settings.focus is None:
        return found
    return found.with_lens(settings.aperture, settings.focus)


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
