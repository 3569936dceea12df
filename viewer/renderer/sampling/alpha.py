"""The alpha channel of a picture without a background."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.film.device_film import FilmBuffer
from viewer.renderer.sampling.parts import RendererParts


def alpha_channel(renderer: RendererParts, size: tuple[int, int], samples: int) -> NDArray[np.float32]:
    """(H, W), 0 to 1: what the first ``samples`` samples of every pixel of a picture of ``size`` (width, height) hide of
    a background, by surfaces, or by what falls on a floor. They are the picture's own samples."""
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    try:
        for _ in renderer.sampler.backdrop_weight(renderer.plan(size, samples=samples), film):
            pass
        with renderer.device.current():
            return np.clip(1 - film.film().mean()[..., 0], 0, 1)
    finally:
        with renderer.device.current():
            film.release()
