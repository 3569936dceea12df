"""Open Image Denoise (Intel, Apache 2.0) by its Python binding ``pyoidn``, of the extra ``raystream[denoise]``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.options.values import OPEN_IMAGE_DENOISE

PACKAGE = OPEN_IMAGE_DENOISE


def installed() -> bool:
    """Whether the binding is there."""
    return find_spec(PACKAGE) is not None


def check_installed() -> None:
    """Raises ViewerError with the command that installs it, where it is not there."""
    if not installed():
        raise ViewerError("--denoise oidn", f"needs {PACKAGE}", "pip install 'raystream[denoise]'")


def denoise(
    linear: NDArray[np.float32],
    albedo: NDArray[np.float32],
    normal: NDArray[np.float32],
    clean: bool = True,
    draft: bool = False,
) -> NDArray[np.float32]:
    """The picture (H, W, 3), linear sRGB, steered by the same samples' albedo and normals, both (H, W, 3), 0 where
    nothing is hit. ``clean``: these have no noise, and all that they show is in the picture. ``draft``: by a smaller
    network, in four tenths of the time.

    Pixels must not share samples, whatever the pixel filter. Any thread may call it. Raises ViewerError where it is not
    installed or fails.
    """
    check_installed()
    beside = {"albedo": np.clip(albedo, 0, 1), "normal": np.clip(normal, -1, 1)}
    try:
        library: Any = import_module(PACKAGE)
        picture = library.denoise(
            np.maximum(linear, 0), **beside, hdr=True, clean_aux=clean, quality="balanced" if draft else "high"
        )
    except (RuntimeError, OSError) as error:
        raise ViewerError("--denoise oidn", str(error), "--denoise shader needs nothing but OpenGL") from None
    return np.asarray(picture, np.float32)
