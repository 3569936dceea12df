"""Denoising: the mean of a few samples on the left, the denoised picture on the right."""

import os

import numpy as np

import raystream
from raystream.film.files.image import save_srgb8
from raystream.film.tonemap import srgb8

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 8))

picture = raystream.render("cornell", denoise="shader", size=(SIZE, SIZE), spp=SPP)  # or "oidn"
exposure = picture.stops()
noisy, clean = srgb8(picture.layers["noisy"], exposure, "agx"), picture.srgb8(exposure)
save_srgb8("08_denoise.png", np.hstack([noisy[:, : SIZE // 2], clean[:, SIZE // 2 :]]))
