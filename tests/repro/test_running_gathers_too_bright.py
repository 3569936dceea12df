"""Under a final gather the running estimate on show had the weight of the path to the surface, not of the gathering ray
from there: too bright by the albedo and the number of rays, until the sample was done."""

from __future__ import annotations

from typing import Any

import numpy as np

import raystream
from raystream import Renderer
from raystream.renderer.device.tile_job import Tile
from raystream.scene.light import Light
from raystream.viewport.debug_views.inspector import Inspector
from raystream.viewport.picture_texture import PictureTexture

SIZE = (8, 4)


def test_on_show_is_what_will_be_added(device: Any) -> None:
    """Before the pass that adds estimates to the sample, the picture is what that pass makes of it."""
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "photon_bounces": 2}
    options |= {
        "estimate": "nearest",
        "nearest": 4,
        "photon_grid": "2x2x2",
        "photon_radius": 1,
        "environment": "none",
        "final_gather": 4,
    }
    renderer = Renderer(scene, device=device, pixel_filter="point", depth=1, camera="0,1,1 0,0.3,0.3", **options)
    renderer.render(SIZE, spp=1)
    inspector, canvas = Inspector(renderer, SIZE), PictureTexture(device)
    inspector.begin(renderer.camera)
    canvas.begin(SIZE, False)
    added, going = 0, True
    while going:
        machine = inspector.machine
        canvas.grow(Tile(slice(0, SIZE[1]), slice(0, SIZE[0]), machine))
        shown, before = canvas.linear(), machine.read("radiance")["rgb"]
        ends = machine.state.read()["at"] == machine.linked.program.number("total")
        full = ends & (machine.read("estimate")["count"] >= 4)  # the disc of fewer is known only at the end
        going = inspector.step()
        if going and inspector.passes[-1].state == "total":
            after = machine.read("radiance")["rgb"]
            np.testing.assert_allclose(shown[full], after[full], rtol=1e-6)  # roundings of a quotient and a sum
            added += (after[full] > before[full]).all(axis=-1).sum()
    assert added > 10
    inspector.release()
