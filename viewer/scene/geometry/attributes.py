"""Optional attributes of instances of a scene's meshes, concatenated: ``which`` (I,) is the mesh of each instance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.scene.geometry.transform import transform_tangents
from viewer.scene.mesh import Float, Mesh


def second_coordinates(meshes: Sequence[Mesh], which: NDArray[np.intp]) -> Float | None:
    """Of all instances; None if no mesh has any."""
    if all(mesh.uvs_1 is None for mesh in meshes):
        return None
    own = [np.zeros((len(mesh.positions), 2), np.float32) if mesh.uvs_1 is None else mesh.uvs_1 for mesh in meshes]
    return np.concatenate([own[number] for number in which.tolist()])


def opacities(meshes: Sequence[Mesh], which: NDArray[np.intp]) -> Float | None:
    """Of the vertex colours of all instances; None if all are 1."""
    if all(mesh.colors is None or bool((mesh.colors[:, 3] == 1.0).all()) for mesh in meshes):
        return None
    own = [np.ones(len(mesh.positions), np.float32) if mesh.colors is None else mesh.colors[:, 3] for mesh in meshes]
    return np.concatenate([own[number] for number in which.tolist()])


def tangents(meshes: Sequence[Mesh], which: NDArray[np.intp], transforms: NDArray[np.float64]) -> Float | None:
    """Of all instances under their maps (I, 4, 4), in world space; None if no mesh has any."""
    if all(mesh.tangents is None for mesh in meshes):
        return None
    placed = zip(which.tolist(), transforms, strict=True)
    return np.concatenate(
        [
            np.zeros((len(mesh.positions), 4), np.float32)
            if mesh.tangents is None
            else transform_tangents(mesh.tangents, transform)
            for mesh, transform in ((meshes[number], transform) for number, transform in placed)
        ]
    )
