"""The emitters of a scene: the triangles and spheres of all instances with emissive materials."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.lighting.shining import coordinates, shares
from raystream.materials.look import shining
from raystream.scene.exposure import at_keys, key_count
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

EVEN = 1e-4  # relative difference of a sphere's axes up to which it is a sphere


class Emitters(NamedTuple):
    """Triangles and spheres that shine, L of them: triangles where their corners run counter-clockwise.

    corners (L, 3, 3) float32, world space. emission (L, 3) float32, W/(m^2 sr), the same wherever material (L,) int32
    is the same. sphere (L,): where a row of corners is a sphere's centre, then its radius and side as in `LIGHT`; None:
    nowhere. texture (L,), uvs (L, 3, 2), share (L,): the texture that shines there, -1: none, its coordinates at the
    corners, and its mean luminance over that of ``emission``; None where no texture shines. both (L,): whether both
    sides shine; None: nowhere. instance (L,), triangle (L,): whose triangle each is, and its index in the scene,
    ascending; starts (I,): of each instance's first triangle; None: they are of no scene. keys (K, L, 3, 3): the
    corners at the keys of an exposure, the first of them ``corners``; None: nothing moves.
    """

    corners: NDArray[np.float32]
    emission: NDArray[np.float32]
    material: NDArray[np.int32]
    sphere: NDArray[np.bool_] | None = None
    texture: NDArray[np.int32] | None = None
    uvs: NDArray[np.float32] | None = None
    share: NDArray[np.float64] | None = None
    both: NDArray[np.bool_] | None = None
    instance: NDArray[np.int32] | None = None
    triangle: NDArray[np.int64] | None = None
    starts: NDArray[np.int64] | None = None
    keys: NDArray[np.float32] | None = None


def emitters(scene: Scene) -> Emitters:
    """The triangles of all instances whose material shines, in scene order: those of `Scene.flatten`, for flat and
    two-level scenes alike; with their keys where some move.

    Raises ViewerError for a quadric that shines and is no sphere in the world.
    """
    triangles = _standing(scene)
    if not len(triangles.corners) or key_count(scene) == 1:
        return triangles
    keys = np.stack([triangles.corners, *(_standing(scene_at_key).corners for scene_at_key in at_keys(scene)[1:])])
    return triangles._replace(keys=keys) if (keys != keys[:1]).any() else triangles


def _standing(scene: Scene) -> Emitters:
    emission = np.array([material.emission for material in scene.materials], np.float32).reshape(-1, 3)
    textured = shining(scene)
    spotted = np.array([material.emission_texture is not None for material in scene.materials], bool)
    spotted[sorted(textured)] = False
    textures, uvs, bright = [np.zeros(0, np.int32)], [np.zeros((0, 3, 2), np.float32)], [np.zeros(0)]
    share_cache: dict[int, NDArray[np.float64]] = {}
    dark = np.asarray(np.all(emission <= 0, axis=1)) | spotted  # what is not a number is found below
    corners: list[NDArray] = [np.zeros((0, 3, 3), np.float32)]
    materials: list[NDArray] = [np.zeros(0, np.int32)]
    round_ones: list[NDArray] = [np.zeros(0, bool)]
    places: list[NDArray] = [np.zeros((0, 2), np.int64)]
    starts = np.cumsum([0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)])[:-1]
    for instance_index, instance in () if dark.all() else enumerate(scene.instances):
        mesh = scene.meshes[instance.mesh]
        override = instance.material
        face_materials = mesh.materials if override is None else np.full(len(mesh.triangles), override, np.int32)
        lit = np.flatnonzero(~dark[face_materials])
        if not len(lit):
            continue
        materials.append(face_materials[lit].astype(np.int32))
        places.append(np.column_stack([np.full(len(lit), instance_index), starts[instance_index] + lit]))
        round_ones.append(np.full(len(lit), isinstance(mesh, (Quadric, Quadrics))))
        textures.append(np.full(len(lit), -1, np.int32))
        uvs.append(np.zeros((len(lit), 3, 2), np.float32))
        bright.append(np.ones(len(lit)))
        for index in sorted(textured & set(face_materials[lit].tolist())):
            texture = scene.materials[index].emission_texture
            assert texture is not None
            if id(mesh) not in share_cache:
                share_cache[id(mesh)] = shares(scene, mesh)
            alike = np.flatnonzero(face_materials[lit] == index)
            textures[-1][alike], bright[-1][alike] = texture, share_cache[id(mesh)][lit[alike]]
            uvs[-1][alike] = coordinates(mesh, scene.textures[texture])[mesh.triangles[lit[alike]]]
        if isinstance(mesh, (Quadric, Quadrics)):
            corners.append(_spheres(f"{scene.name}: {instance.name or mesh.name}", mesh, instance.transform)[lit])
            continue
        points = mesh.positions[mesh.triangles[lit]]
        linear = instance.transform[:3, :3]
        if not np.array_equal(instance.transform, np.eye(4)):
            with np.errstate(all="ignore"):  # what is not finite is left out below
                points = (points.astype(np.float64) @ linear.T + instance.transform[:3, 3]).astype(np.float32)
        mirrored = np.linalg.det(linear) < 0
        corners.append(points[:, [0, 2, 1]] if mirrored else points)
        if mirrored:
            uvs[-1] = uvs[-1][:, [0, 2, 1]]
    material_indices = np.concatenate(materials)
    triangles = Emitters(
        np.concatenate(corners), emission[material_indices], material_indices, np.concatenate(round_ones)
    )
    listed = np.concatenate(places)
    triangles = triangles._replace(instance=listed[:, 0].astype(np.int32), triangle=listed[:, 1], starts=starts)
    doubled = np.array([material.double_sided for material in scene.materials], bool)
    if len(material_indices) and doubled[material_indices].any():
        triangles = triangles._replace(both=doubled[material_indices])
    if not textured:
        return triangles
    return triangles._replace(texture=np.concatenate(textures), uvs=np.concatenate(uvs), share=np.concatenate(bright))


def _spheres(where: str, mesh: Quadric | Quadrics, transform: NDArray[np.float64]) -> NDArray[np.float32]:
    """(T, 3, 3), see `Emitters`."""
    placed = transform @ mesh.maps
    linear = placed[:, :3, :3]
    square = linear.transpose(0, 2, 1) @ linear
    size = np.trace(square, axis1=1, axis2=2) / 3.0
    off = np.abs(square - size[:, None, None] * np.eye(3)).max(axis=(1, 2))
    if not mesh.shape.whole_sphere or not (off <= EVEN * size).all():
        hint = "of quadrics only whole spheres, scaled evenly, are lights; use triangles"
        raise ViewerError(where, "emits light, and is not a sphere", hint)
    rows = np.zeros((len(placed), 3, 3), np.float32)
    rows[:, 0], rows[:, 1, 0] = placed[:, :3, 3], np.sqrt(size)
    rows[:, 1, 1] = -1.0 if mesh.shape.flipped else 1.0
    return rows
