"""Feature layers of a scene with unlit surfaces did not compile: what is emitted towards the camera asked for a
constant that comes with BSDFs, and these are not in that program."""

from __future__ import annotations

import numpy as np

import raystream
from raystream.scene.material import Material


def test_layers_of_unlit_surfaces(device):
    scene = raystream.Scene.from_triangles([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]])
    scene.materials = [Material("sign", (1.0, 0.5, 0.25, 1.0), kind="principled", unlit=True)]
    picture = raystream.render(
        scene, camera="0,0,4 0,0,0", size=8, spp=2, environment="none", layers=("depth", "albedo"), device=device
    )
    assert np.allclose(picture.linear, (1.0, 0.5, 0.25), rtol=1e-5)
    assert np.allclose(picture.layers["depth"].min(), 4, rtol=0.01)
