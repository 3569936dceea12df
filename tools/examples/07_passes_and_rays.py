"""Passes and rays: what the stream processor did for a picture, and layers beside its colour."""

import os

import numpy as np

import raystream
from raystream.film.files.image import save_srgb8

SIZE = int(os.environ.get("EXAMPLE_SIZE", 360))

layers = ("steps", "normal")
picture = raystream.render("cornell", program="cast", fuse="none", size=(SIZE, SIZE), layers=layers, stats=True)
stats = picture.stats
print(f"{stats.rays:,} rays, {stats.kernel_passes:,} kernel passes, {stats.active_share:.1%} of the rays active")
for state, kernel in stats.kernels.items():
    print(f"{state:10} {kernel.calls:10,} calls of {kernel.kernel}, {kernel.words_random:10,} words fetched")

steps = picture.layers["steps"] / max(1, picture.layers["steps"].max())  # of the walk through the tree, by pixel
heat = np.repeat(steps[..., None] ** 0.5, 3, axis=2) * 255
normal = (picture.layers["normal"] * 0.5 + 0.5) * 255
half = SIZE // 2
save_srgb8("07_passes_and_rays.png", np.hstack([heat[:, :half], normal[:, half:]]).astype(np.uint8))
