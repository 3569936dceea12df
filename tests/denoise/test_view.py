"""The view of a picture's pixels against the rays of its camera, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from viewer.denoise.view import lattice_view, view_uniforms
from viewer.scene.camera import Camera

CAMERA = Camera((1, 2, 3), (0.5, -1, -4), (0.1, 1, 0), fov=50)


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (4, 9), (640, 480)])
def test_pixels_are_seen_along_the_camera_s_rays(size: tuple[int, int]) -> None:
    """Through their centres; as long as the depth along the view's axis is 1."""
    corner, across, down = (np.array(value) for value in view_uniforms(CAMERA, size).values())
    row, column = np.indices(size[::-1])
    view = corner + column[..., None] * across + row[..., None] * down
    np.testing.assert_allclose(view @ CAMERA.basis()[2], 1, rtol=1e-14)
    _, rays = CAMERA.rays(*size)
    np.testing.assert_allclose(view / np.linalg.norm(view, axis=-1, keepdims=True), rays, atol=1e-14)


def test_a_lattice_has_every_nth_pixel() -> None:
    view = view_uniforms(CAMERA, (640, 480))
    lattice = {name: np.array(value) for name, value in lattice_view(view, 3).items()}
    corner, across, down = (np.array(value) for value in view.values())
    found = lattice["view_corner"] + 5 * lattice["view_across"] + 2 * lattice["view_down"]
    np.testing.assert_allclose(found, corner + 15 * across + 6 * down, rtol=1e-14)
