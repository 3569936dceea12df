"""Pictures of scenes for figures: rendered, kept, and encoded as JPEG."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import viewer
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene

from .context import Context


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
        renderer = viewer.Renderer(scene, device=context.device, **settings)
        if camera is not None:
            renderer.update(camera=camera)
        picture = renderer.render(size, spp=spp).srgb8()
        renderer.release()
        return np.asarray(picture)

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
