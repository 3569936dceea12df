"""The view of a picture's pixels, for passes."""

from __future__ import annotations

import math

import numpy as np

from viewer.scene.camera import Camera


def view_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, tuple[float, ...]]:
    """Of ``shaders/film/denoise/view.glsl``, for a picture of ``size`` (width, height)."""
    right, up, forward = (np.asarray(axis, np.float64) for axis in camera.basis())
    tangent, (width, height) = math.tan(math.radians(camera.fov) / 2), size
    across, down = right * (2 * tangent / height), -up * (2 * tangent / height)
    corner = forward - across * (width - 1) / 2 - down * (height - 1) / 2
    names = "view_corner", "view_across", "view_down"
    return {name: tuple(map(float, value)) for name, value in zip(names, (corner, across, down), strict=True)}


def lattice_view(view: dict[str, tuple[float, ...]], stride: int) -> dict[str, tuple[float, ...]]:
    """Likewise of a lattice's points: every ``stride``-th pixel of a row and a column, from the first on."""
    return {name: value if name == "view_corner" else tuple(stride * v for v in value) for name, value in view.items()}
