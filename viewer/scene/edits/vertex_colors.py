"""Vertex colours of classic materials, decided by their meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.base.errors import ViewerError
from viewer.scene.material import Material
from viewer.scene.scene import Scene


def decided_materials(scene: Scene) -> list[Material]:
    """The scene's materials with ``vertex_colors`` of None decided; the same list if all are.

    Raises ViewerError for an undecided material on meshes with and without colours.
    """
    undecided = {number for number, each in enumerate(scene.materials) if _is_undecided(each)}
    if not undecided:
        return scene.materials
    materials = list(scene.materials)
    for number, found in colorings(scene, undecided).items():
        material = materials[number]
        if len(found) > 1:
            what = "is on meshes with vertex colours and on some without"
            raise ViewerError(f"material '{material.name}'", what, "set vertex_colors, or split the material")
        assert material.classic is not None
        materials[number] = replace(material, classic=replace(material.classic, vertex_colors=True in found))
    return materials


def colorings(scene: Scene, numbers: set[int]) -> dict[int, set[bool]]:
    """Per material number: whether its meshes have vertex colours; both if mixed."""
    colored: dict[int, set[bool]] = {number: set() for number in numbers}
    for mesh_number, own in {(instance.mesh, instance.material) for instance in scene.instances}:
        mesh = scene.meshes[mesh_number]
        used = set(np.unique(mesh.materials).tolist()) if own is None else {own}
        for number in used & numbers:
            colored[number].add(mesh.colors is not None)
    return colored


def _is_undecided(material: Material) -> bool:
    return material.kind == "classic" and material.classic is not None and material.classic.vertex_colors is None
