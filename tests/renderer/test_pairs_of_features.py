"""Two features at once: a shining square that moves while the shutter is open, by its node, by a morph target or by a
joint, seen by cameras with two eyes, a lens or another projection; against float64 rays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from motion import HALF, OPTIONS, following, morphing, sliding
from numpy.typing import NDArray

from raystream.cameras.lens import lens_rays
from raystream.scene.camera import Camera
from raystream.scene.exposure import exposed
from raystream.scene.projections import Fisheye, Intrinsics, Orthographic

SIZE = (20, 12)
SAMPLES, RAYS = 64, 256  # of a pixel: rendered, and asked
SLANTED = Camera((0.6, -0.4, 2.6), (0.3, 0.1, 0.0), (0.1, 1.0, 0.0), fov=50.0)
BARREL = Intrinsics(11.0, 10.0, 4.1, 6.4, distortion=(-0.2, 0.03, 0.01, -0.02))
CAMERAS = {
    "stereo": replace(SLANTED, eyes=0.4),
    "a measured pair": replace(SLANTED, eyes=0.4, projection=BARREL).with_picture_size(SIZE),
    "a lens": replace(SLANTED, aperture=0.3, focus=1.5),
    "a fisheye": replace(SLANTED, projection=Fisheye(60.0, equisolid=True)),
    "parallel rays through a lens": replace(SLANTED, projection=Orthographic(2.0), aperture=0.3, focus=1.5),
}
PAIRS = [
    (sliding, "stereo"),
    (following, "a measured pair"),
    (morphing, "a lens"),
    (sliding, "a fisheye"),
    (following, "parallel rays through a lens"),
]


def seen(camera: Camera) -> NDArray[np.float64]:
    """(H, W): the share of a pixel's rays that meet the square, which goes from x = 0 to 1, from its front."""
    random = np.random.default_rng(4)
    pixels = np.stack(np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1])), axis=-1).reshape(-1, 2).repeat(RAYS, axis=0)
    film, lens = random.random((2, len(pixels), 2))
    origins, ways = lens_rays(camera, SIZE, pixels, film, lens, "box")
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = -origins[:, 2] / ways[:, 2]
        places = origins + distance[:, None] * ways
    inside = np.abs(places[:, :2] - np.stack([random.random(len(pixels)), np.zeros(len(pixels))], axis=1)) < HALF
    met = inside.all(axis=1) & (distance > 0) & (ways[:, 2] < 0)
    return met.reshape(SIZE[1], SIZE[0], RAYS).mean(axis=-1)


@pytest.mark.parametrize(("scene", "name"), PAIRS, ids=[f"{scene.__name__} x {name}" for scene, name in PAIRS])
def test_what_moves_is_where_the_camera_sees_it(device: Any, scene: Any, name: str) -> None:
    shown = places.picture(exposed(scene(), 0.0, 1.0), SIZE, SAMPLES, camera=CAMERAS[name], device=device, **OPTIONS)
    found = shown.linear[..., 0].astype(np.float64)
    wanted = seen(CAMERAS[name])
    error = np.sqrt(np.maximum(wanted * (1 - wanted), 1 / RAYS) * (1 / SAMPLES + 1 / RAYS))
    blurred = (wanted > 0.02) & (wanted < 0.98)
    chi = np.mean(((found - wanted) / error)[blurred] ** 2)
    # Samples are spread more evenly than chance, by which it is 1 +- 0.2 of 50 pixels: at most 0.6 is measured.
    assert blurred.sum() > 40 and chi < 1.2 and (np.abs(found - wanted) < 5 * error).all(), chi
