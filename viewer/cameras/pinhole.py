"""The view of a scene as modules: camera and environment."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.scene.camera import Camera
from viewer.stream.declare.kernel import Module

Basis = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
BACKGROUND = (0.05, 0.05, 0.06)  # linear sRGB: dark, so that silhouettes of headlit models stand out


def camera_uniforms(camera: Camera, size: tuple[int, int], basis: Basis | None = None) -> dict[str, tuple[float, ...]]:
    """The pinhole's uniforms for a picture of ``size`` (width, height). basis : the camera's, where it is known."""
    right, up, forward = basis or camera.basis()
    tangent = math.tan(math.radians(camera.fov) / 2)
    width, height = size
    return {
        "camera_origin": tuple(map(float, camera.origin)),
        "camera_forward": tuple(map(float, forward)),
        "camera_right": tuple(map(float, np.asarray(right) * tangent * width / height)),
        "camera_up": tuple(map(float, np.asarray(up) * tangent)),
        "camera_texel": (2.0 / width, 2.0 / height),
    }


def constant_environment(color: tuple[float, float, float] = BACKGROUND) -> Module:
    """The same radiance (linear sRGB) from everywhere."""
    return Module(
        "constant environment",
        provides=("environment_radiance",),
        source="shading/constant_environment.glsl",
        uniforms={"environment_color": ("vec3", color)},
    )
