"""Many lights: 400 point lights in a spiral, of which a light tree chooses for every surface."""

import os

import numpy as np

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

turn = np.sqrt(np.arange(1, 401)) * 1.2
places = np.stack([0.2 * turn * np.cos(turn * 3), np.full(400, 0.12), 0.2 * turn * np.sin(turn * 3)], axis=1)
colors = 0.5 + 0.5 * np.cos(turn[:, None] + np.array([0, 2.1, 4.2]))
lights = [
    raystream.Light("point", f"lamp {k}", p, intensity=0.02 * c)
    for k, (p, c) in enumerate(zip(places, colors, strict=True))
]
scene = raystream.Scene(
    [raystream.Quadric.sphere((0, 0.8, 0), 0.8)], [raystream.Instance(0)], lights=lights, name="spiral"
)

options = {"light_sampler": "tree", "camera": "4,4,7 0,0.3,0", "size": (SIZE, SIZE), "spp": SPP}
raystream.render(scene, ground="auto", **options).save("09_many_lights.png")
