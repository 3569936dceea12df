"""Environments: one renderer, three times of day; only the light is made anew."""

import os

import numpy as np

import raystream
from raystream.film.files.image import save_srgb8

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

renderer = raystream.Renderer("balls", environment="sky", ground="auto")
strips = []
for k, elevation in enumerate((60, 20, 4)):  # or environment="studio", "sky.hdr", (1, 1, 1)
    renderer.update(sun=(elevation, 60 + 40 * k))
    pixels = renderer.render(size=(SIZE, SIZE), spp=SPP).srgb8(exposure=0 if elevation > 10 else 1)
    strips.append(pixels[:, k * SIZE // 3 : (k + 1) * SIZE // 3])
save_srgb8("05_environment.png", np.hstack(strips))
