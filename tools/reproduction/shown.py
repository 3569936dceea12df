"""Pictures of scenes for figures: rendered, encoded as WebP, and kept as such."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import raystream
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene

from .context import Context

# Pixels across a figure as the page shows it, of several pictures and of one; of WebP, 0 to 100.
WIDE, NARROW, QUALITY = 960, 480, 78
# The last renderer of each report, for the next picture of the same scene and settings.
_last: WeakKeyDictionary[Context, tuple[Scene, dict[str, Any], raystream.Renderer]] = WeakKeyDictionary()


def _of(context: Context, scene: Scene, settings: dict[str, Any]) -> raystream.Renderer:
    found = _last.get(context)
    if found is not None and found[0] is scene and found[1] == settings:
        return found[2]
    release(context)
    renderer = raystream.Renderer(scene, device=context.device, **settings)
    _last[context] = scene, settings, renderer
    return renderer


def release(context: Context) -> None:
    """Let go of the last picture's renderer."""
    found = _last.pop(context, None)
    if found is not None:
        found[2].release()


@dataclass(frozen=True)
class Shot:
    """A picture of a sheet. view : the scene and where it is seen from (None: its first camera), loaded when the
    picture is made; settings : of the renderer."""

    view: Callable[..., tuple[Scene, Camera | None]]
    size: tuple[int, int]
    spp: int = 1
    settings: dict[str, Any] = field(default_factory=dict)


def sheet(context: Context, key: Any, *shots: Shot, width: int = 0) -> bytes:
    """Pictures of one height side by side as a WebP file, kept under its key, sizes, samples and settings.

    width : of the sheet at most, which is made smaller if need be; 0: `WIDE`, and `NARROW` of a single picture.
    """

    def make() -> bytes:
        made = []
        for shot in shots:
            scene, camera = shot.view()
            renderer = _of(context, scene, shot.settings)
            renderer.update(camera=camera or scene.camera())
            made.append(np.asarray(renderer.render(shot.size, spp=shot.spp).srgb8()))
        return webp(*made, width=width or (WIDE if len(shots) > 1 else NARROW))

    each = [(shot.size, shot.spp, shot.settings) for shot in shots]
    found: bytes = context.keep(("picture", key, each), make)
    return found


def webp(*pictures: NDArray[np.uint8], gap: int = 6, width: int = WIDE) -> bytes:
    """(H, W, 3) pictures of one height side by side, white between them, as a WebP file of ``width`` pixels at most."""
    parts: list[NDArray[np.uint8]] = []
    for picture in pictures:
        if parts:
            parts.append(np.full((picture.shape[0], gap, 3), 255, np.uint8))
        parts.append(picture)
    image = Image.fromarray(np.ascontiguousarray(np.concatenate(parts, axis=1)))
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "WEBP", quality=QUALITY, method=6)
    return file.getvalue()
