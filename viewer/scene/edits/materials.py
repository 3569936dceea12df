"""Decisions on a scene's materials: back faces of one-sided ones, invisible to cameras (glTF 2.0, 3.9.5), and vertex
colours of classic ones, by their meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Scene


def culls(material: Material) -> bool:
    """Whether back faces are culled; never for transmissive surfaces, whose back faces are seen from inside."""
    return material.backface_culling and not (
        material.transmission > 0.0 or material.diffuse_transmission > 0.0 or material.kind in ("dielectric", "classic")
    )


def culled(indices: NDArray[np.int32], materials: Sequence[Material]) -> NDArray[np.bool_] | None:
    """(T,): whether back faces of triangles with these material indices (T,) are culled; None if none are.

    An index out of range counts as two-sided.
    """
    culls_back = np.array([*map(culls, materials), False])
    if not culls_back.any():
        return None
    is_culled = culls_back[np.where((indices >= 0) & (indices < len(materials)), indices, -1)]
    return is_culled if is_culled.any() else None


def culled_of_objects(
    scene: Scene, meshes: Sequence[Mesh], objects: NDArray[np.int32], baked: NDArray[np.bool_]
) -> list[NDArray[np.bool_] | None]:
    """`culled` for each of the objects, which have these ``meshes`` (O,). ``objects`` (I,): the object of each
    instance, -1 for none; ``baked`` (I,): whether it is the instance itself, with its material.

    Instances that share an object under different materials share its triangles: culled only if all cull.
    """
    by_object: dict[int, NDArray[np.bool_] | None] = {}
    for instance, index, is_baked in zip(scene.instances, objects.tolist(), baked.tolist(), strict=True):
        if index < 0:
            continue
        materials = meshes[index].materials
        if instance.material is not None and not is_baked:
            materials = np.full(len(materials), instance.material, np.int32)
        elif index in by_object and by_object[index] is None:
            continue
        is_culled = culled(materials, scene.materials)
        earlier = by_object.get(index, is_culled)
        by_object[index] = None if is_culled is None or earlier is None else is_culled & earlier
    return [by_object.get(index) for index in range(len(meshes))]


def decided_materials(scene: Scene) -> list[Material]:
    """The scene's materials with ``vertex_colors`` of None decided; the same list if all are.

    Raises ViewerError for an undecided material on meshes with and without colours.
    """
    undecided = {index for index, material in enumerate(scene.materials) if _is_undecided(material)}
    if not undecided:
        return scene.materials
    materials = list(scene.materials)
    for index, coloring in colorings(scene, undecided).items():
        material = materials[index]
        if len(coloring) > 1:
            what = "is on meshes with vertex colours and on some without"
            raise ViewerError(f"material '{material.name}'", what, "set vertex_colors, or split the material")
        assert material.classic is not None
        materials[index] = replace(material, classic=replace(material.classic, vertex_colors=True in coloring))
    return materials


def colorings(scene: Scene, indices: set[int]) -> dict[int, set[bool]]:
    """Per material index: whether its meshes have vertex colours; both if mixed."""
    colored: dict[int, set[bool]] = {index: set() for index in indices}
    for mesh_index, override in {(instance.mesh, instance.material) for instance in scene.instances}:
        mesh = scene.meshes[mesh_index]
        used = set(np.unique(mesh.materials).tolist()) if override is None else {override}
        for index in used & indices:
            colored[index].add(mesh.colors is not None)
    return colored


def _is_undecided(material: Material) -> bool:
    return material.kind == "classic" and material.classic is not None and material.classic.vertex_colors is None
