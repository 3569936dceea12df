"""Optional attributes of a scene's meshes, concatenated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.geometry.transform import transform_tangents
from viewer.scene.mesh import Float, Mesh


def second_coordinates(meshes: list[Mesh]) -> Float | None:
    """Of all meshes, concatenated; None if no mesh has any."""
    if all(mesh.uvs_1 is None for mesh in meshes):
        return None
    return np.concatenate(
        [np.zeros((len(mesh.positions), 2), np.float32) if mesh.uvs_1 is None else mesh.uvs_1 for mesh in meshes]
    )


def opacities(meshes: list[Mesh]) -> Float | None:
    """Of the vertex colours of all meshes, concatenated; None if all are 1."""
    if all(mesh.colors is None or bool((mesh.colors[:, 3] == 1.0).all()) for mesh in meshes):
        return None
    return np.concatenate(
        [np.ones(len(mesh.positions), np.float32) if mesh.colors is None else mesh.colors[:, 3] for mesh in meshes]
    )


def tangents(placed: list[tuple[Mesh, NDArray]]) -> Float | None:
    """Of all meshes in world space, concatenated; None if no mesh has any."""
    if all(mesh.tangents is None for mesh, _ in placed):
        return None
    return np.concatenate(
        [
            np.zeros((len(mesh.positions), 4), np.float32)
            if mesh.tangents is None
            else transform_tangents(mesh.tangents, transform)
            for mesh, transform in placed
        ]
    )
