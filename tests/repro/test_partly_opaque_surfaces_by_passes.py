"""What a scene has reached the source of those passes alone that read its materials: rays of the camera, which another
pass makes, met partly opaque surfaces alike in all samples with one kernel a pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import places

from raystream import Renderer
from raystream.scene.material import Material

PLATE = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 8.1, 0), (-9, 8.1, 0)]])


def test_multipass_throws_anew_for_each_sample(device) -> None:
    half = Material("half", (0.0, 0.0, 0.0, 0.5), kind="lambert", alpha_mode="blend")
    options: dict[str, Any] = {"program": "path", "environment": (1.0, 1.0, 1.0)}
    options |= {"pixel_filter": "point", "first_hits": "rays"}
    found = [
        Renderer(places.alone(PLATE, half), device=device, machine=machine, fuse=fuse, **options).render((8, 8), 8)
        for machine, fuse in (("singlepass", "none"), ("multipass", "none"), ("multipass", "surface"))
    ]
    assert all(np.array_equal(found[0].linear, each.linear) for each in found[1:])
    assert 0.0 < found[0].linear.mean() < 1.0
