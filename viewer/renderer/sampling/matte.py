"""The alpha of a picture, from the camera rays of its own samples."""

from __future__ import annotations

import numpy as np

from viewer.film.device_film import FilmBuffer
from viewer.film.files.image import Matte
from viewer.renderer.sampling.denoising import MOST_FEATURES, denoised, denoiser_of, features_of
from viewer.renderer.sampling.parts import RendererParts


def matte(renderer: RendererParts, size: tuple[int, int], samples: int, denoiser: str | None = None) -> Matte | None:
    """The matte of a picture of ``size`` (width, height) of ``samples``; None where it is not before a colour, or
    nothing.

    Alpha is the share of the background hidden by surfaces, or by shadows on a floor. It is denoised as the
    picture is, by ``denoiser`` (None: as the settings have it).
    """
    backdrop = renderer.prepared.lighting.backdrop
    if backdrop is None or not (backdrop.transparent or backdrop.color):
        return None
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    try:
        for _ in renderer.sampler.backdrop_weight(renderer.plan(size, samples=samples), film):
            pass
        how = denoiser_of(renderer.settings, None) if denoiser is None else denoiser
        if how == "none" or backdrop.floor is None:
            with renderer.device.current():
                weight = film.film().mean()
        else:
            with features_of(renderer, size, min(samples, MOST_FEATURES), white=True) as features:
                weight = denoised(renderer, film, features, how)
    finally:
        with renderer.device.current():
            film.release()
    return Matte(np.clip(1 - weight[..., 0], 0, 1), None if backdrop.transparent else backdrop.color)
