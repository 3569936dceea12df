"""Rays that are the same in every sample of a pixel met a partly opaque surface in all samples or in none: pictures by
`--eye-rays shared` or `--pixel-filter point` were black and white grains, whatever the number of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest

from raystream import Camera, Renderer
from raystream.scene.light import Light
from raystream.scene.material import Material

SPP = 64
HALF = Material("half", (0.0, 0.0, 0.0, 0.3), kind="lambert", alpha_mode="blend")
# No ray goes through the edge between its triangles, of which each throws.
PLATE = places.quads([[(-9, -9, 0), (9, -9, 0), (9, 8.1, 0), (-9, 8.1, 0)]])


def shown(device: Any, scene: Any, **options: Any) -> tuple[Renderer, np.ndarray]:
    renderer = Renderer(scene, device=device, **{"machine": "singlepass", "program": "path", **options})
    return renderer, renderer.render((8, 8), SPP).linear[..., 0]


def sevenths(picture: np.ndarray) -> bool:
    """Whether every pixel is a mean of samples of chance 0.7, within 5 deviations of these."""
    return bool((np.abs(picture - 0.7) < 5 * np.sqrt(0.21 / SPP)).all()) and picture.std() > 0


@pytest.mark.parametrize("options", [{"eye_rays": "shared"}, {"pixel_filter": "point"}])
@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_eye_rays(device, options: dict[str, Any], accel: str) -> None:
    scene = places.alone(PLATE, HALF)
    renderer, picture = shown(device, scene, environment=(1.0, 1.0, 1.0), accel=accel, **options)
    assert sevenths(picture)
    if "eye_rays" in options:
        assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "rays" and any(
            "BLEND" in note for note in renderer.notes
        )


@pytest.mark.parametrize("program", ["whitted", "path"])
def test_reflected_and_shadow_rays(device, program: str) -> None:
    """A lamp without extent over a floor, behind the plate, and both in a mirror."""
    floor = PLATE + np.float32([0, 0, -1])
    materials = [HALF, places.material(1.0), places.material(1.0, kind="mirror")]
    meshes = [places.flat(PLATE, 0), places.flat(floor, 1)]
    light = Light("directional", direction=(0.0, 0.3, -1.0), intensity=(1.0, 1.0, 1.0))
    below = Camera((0, 0, -0.5), (0, 0, -1.0), up=(0, 1, 0), fov=35.0)
    common = {"environment": "none", "eye_rays": "shared", "program": program, "depth": 2}
    picture = shown(device, places.scene(meshes, materials, below, lights=[light]), **common)[1]
    assert sevenths(picture * (0.7 / (picture.mean()))) and picture.mean() > 0.1
    mirror = [places.flat(floor + np.float32([0, 0, -3]), 2), places.flat(PLATE + np.float32([0, 0, -2]), 0)]
    scene = places.scene(mirror, materials, Camera((0, 0, -3), (0, 0, -4), up=(0, 1, 0), fov=35.0))
    assert sevenths(shown(device, scene, **{**common, "environment": (1.0, 1.0, 1.0)})[1])
