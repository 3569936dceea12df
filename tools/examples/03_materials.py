"""Materials: five balls, from metal to glass, on a ground plane."""

import os

import raystream

SIZE, SPP = int(os.environ.get("EXAMPLE_SIZE", 360)), int(os.environ.get("EXAMPLE_SPP", 64))

materials = [
    raystream.Material("gold", (1.0, 0.7, 0.3, 1.0), kind="principled", metallic=1.0, roughness=0.15),
    raystream.Material("steel", (0.6, 0.6, 0.65, 1.0), kind="principled", metallic=1.0, roughness=0.4),
    raystream.Material("car paint", (0.5, 0.02, 0.02, 1.0), kind="principled", roughness=0.5, clearcoat=1.0),
    raystream.Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric", ior=1.5),
    raystream.Material("clay", (0.6, 0.35, 0.25, 1.0)),
]
balls = [raystream.Quadric.sphere((1.1 * (k - 2), 0.5, 0.4 * (k % 2)), 0.5, k) for k in range(5)]
scene = raystream.Scene(balls, [raystream.Instance(k) for k in range(5)], materials, name="balls")

options = {"environment": "sky", "camera": "0,1.9,5 0,0.4,0", "fov": 58, "size": (SIZE, SIZE), "spp": SPP}
raystream.render(scene, ground="auto", **options).save("03_materials.png")
