"""Arrays: the height field of a wave, coloured by its height. An object of trimesh or PyVista is taken as well."""

import os

import numpy as np

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

x, z = np.meshgrid(np.linspace(-3, 3, 120), np.linspace(-3, 3, 120))
y = np.cos(3 * np.hypot(x, z)) * np.exp(-0.4 * np.hypot(x, z)) * 0.6
vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)

corner = np.arange(120 * 120).reshape(120, 120)
a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
faces = np.stack([a, b, c, d], axis=-1).reshape(-1, 4)  # quadrilaterals, or triangles

share = np.clip(y.reshape(-1, 1) + 0.4, 0, 1)
colors = (1 - share) * (0.02, 0.1, 0.5) + share * (0.9, 0.5, 0.1)  # linear; whole numbers would be sRGB

options = {"environment": "sky", "camera": "3.5,3.5,5 0,-0.2,0", "size": (SIZE, SIZE), "spp": SPP}
raystream.render((vertices, faces, colors), **options).save("02_arrays.png")
