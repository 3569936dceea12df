"""Number 0 is a triangle as any other: it throws a shadow."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer
from raystream.scene.light import Light

DARK: dict[str, Any] = {"machine": "singlepass", "environment": "none", "depth": 1}


def test_the_first_triangle_throws_a_shadow(device) -> None:
    """A lamp right above the middle of a floor, and a triangle between, that is the scene's first or its last. All
    programs ask for shadows by one kernel."""
    floor = places.flat(places.quads(np.array([[[-9, 0, 9], [9, 0, 9], [9, 0, -9], [-9, 0, -9]]])))
    plate = places.flat(np.float32([[[-1, 1, 1], [1, 1, 1], [0, 1, -1]]]))
    lamp = Light("point", "lamp", (0.0, 2.0, 0.0), intensity=(4.0, 4.0, 4.0))
    seen: list[float] = []
    renderer: Renderer | None = None
    for meshes in ([floor], [plate, floor], [floor, plate]):
        side = Camera((3.0, 0.5, 0.0), (0.0, 0.0, 0.0), fov=1.0)
        scene = places.scene(meshes, [places.material(0.5)], side, lights=[lamp])
        if renderer is None:
            renderer = Renderer(scene, pixel_filter="point", **DARK)
        else:
            renderer.update(scene)
        seen.append(float(renderer.render((1, 1), spp=1).linear[0, 0, 0]))
    # Lambert's law at distance 2: 0.5 / pi 4 / 4, to the rounding of a few float32 products.
    assert seen == [pytest.approx(0.5 / np.pi, rel=1e-5), 0.0, 0.0]
    assert renderer is not None
    renderer.release()
