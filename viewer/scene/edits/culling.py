"""Back faces of one-sided materials, which a camera does not see (glTF 2.0, 3.9.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Scene


def culls(material: Material) -> bool:
    """Whether back faces are culled. Those of a surface that light enters are its other side, seen from within."""
    return material.backface_culling and not (
        material.transmission > 0.0 or material.diffuse_transmission > 0.0 or material.kind in ("dielectric", "classic")
    )


def culled(materials: NDArray[np.int32], found: Sequence[Material]) -> NDArray[np.bool_] | None:
    """(T,): whether back faces of triangles with these numbers (T,) of materials are culled; None where no one's are.

    A number that names nothing is of a surface of two sides.
    """
    rows = np.array([*map(culls, found), False])
    if not rows.any():
        return None
    sides = rows[np.where((materials >= 0) & (materials < len(found)), materials, -1)]
    return sides if sides.any() else None


def culled_of_objects(
    scene: Scene, meshes: Sequence[Mesh], of: NDArray[np.int32], own: NDArray[np.bool_]
) -> list[NDArray[np.bool_] | None]:
    """The same of the objects (O,), of these ``meshes``, that a scene's instances are made ``of`` (I,), -1 for none;
    ``own`` (I,): the object is the instance itself, its material too.

    Instances that give an object materials of different kinds share its triangles: these are culled where all cull.
    """
    found: dict[int, NDArray[np.bool_] | None] = {}
    for instance, number, single in zip(scene.instances, of.tolist(), own.tolist(), strict=True):
        if number < 0:
            continue
        materials = meshes[number].materials
        if instance.material is not None and not single:
            materials = np.full(len(materials), instance.material, np.int32)
        elif number in found and found[number] is None:
            continue
        sides = culled(materials, scene.materials)
        before = found.get(number, sides)
        found[number] = None if sides is None or before is None else sides & before
    return [found.get(number) for number in range(len(meshes))]
