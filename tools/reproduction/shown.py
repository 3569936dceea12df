"""Pictures of scenes for figures: rendered, kept, and encoded as JPEG."""

from __future__ import annotations

import io
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import viewer
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene

from .context import Context

# The last renderer of each report, for the next picture of the same scene and settings.
_last: WeakKeyDictionary[Context, tuple[Scene, dict[str, Any], viewer.Renderer]] = WeakKeyDictionary()


def _of(context: Context, scene: Scene, settings: dict[str, Any]) -> viewer.Renderer:
    found = _last.get(context)
    if found is not None and found[0] is scene and found[1] == settings:
        return found[2]
    release(context)
    renderer = viewer.Renderer(scene, device=context.device, **settings)
    _last[context] = scene, settings, renderer
    return renderer


def release(context: Context) -> None:
    """Let go of the last picture's renderer."""
    found = _last.pop(context, None)
    if found is not None:
        found[2].release()


def rendered(
    context: Context,
    key: Any,
    scene: Scene,
    size: tuple[int, int],
    spp: int = 1,
    camera: Camera | None = None,
    **settings: Any,
) -> NDArray[np.uint8]:
    """(H, W, 3) sRGB of a scene, kept under its key, size, samples and settings."""

    def make() -> NDArray[np.uint8]:
        renderer = _of(context, scene, settings)
        renderer.update(camera=camera or scene.camera())
        return np.asarray(renderer.render(size, spp=spp).srgb8())

    where = camera or scene.camera()
    return np.asarray(context.keep((key, size, spp, where.text(), where.fov, settings), make), np.uint8)


def jpeg(*pictures: NDArray[np.uint8], gap: int = 6) -> bytes:
    """Pictures of one height side by side, white between them."""
    parts: list[NDArray[np.uint8]] = []
    for picture in pictures:
        if parts:
            parts.append(np.full((picture.shape[0], gap, 3), 255, np.uint8))
        parts.append(picture)
    file = io.BytesIO()
    Image.fromarray(np.concatenate(parts, axis=1)).save(file, "JPEG", quality=88)
    return file.getvalue()
