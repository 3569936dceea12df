"""Nested volumes by priority: which scenes need them, and the table of their media.

C. M. Schmidt and B. Budge, "Simple Nested Dielectrics in Ray Traced Images" (2002): where volumes overlap, that of the
highest priority is there. A boundary of any other within it is none, and where it ends, the next one's index lies
behind. A ray keeps the media around it as one number of up to `DEPTH` ranks: the highest is there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base.ordered import distinct
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.material import Material
from raystream.scene.quadric import Quadric, bounds_of_quadric
from raystream.scene.scene import Instance, Scene
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import SMALL, Field, Record

BITS = 5  # of a medium's rank
DEPTH = 4  # media that a ray can be in; of more the lowest are dropped
MAX_MEDIA = (1 << BITS) - 1  # of a scene; further ones, of the lowest priority, count as not nested
MAX_ABSORPTION = 1e6  # per scene unit: black after less than anything is thick
TOUCHING_SHARE = 1e-3  # of a volume's extent: surfaces that reach no farther into it only touch it

MEDIUM = Record(
    "Medium",
    Field("attenuation", "vec3", "1 / scene units", about="coefficient of absorption"),
    Field("ior", "float", about="index of refraction, relative to the outside of all media"),
    Field("half_spread", "float", about="of the indices of red and blue about green's"),
)

MEDIUM_RANK = Record(
    "MediumRank", Field("rank", "int", about="of a material's volume; 0: it bounds none", within=SMALL)
)

MEDIA = {  # that a ray is within, by whether volumes are nested
    False: Record("Media"),
    True: Record("Media", Field("inside", "int", about="a number of ranks: shaders/interface/medium.glsl")),
}


def absorption(color: Sequence[float], distance: float) -> tuple[float, ...]:
    """The coefficients of absorption, per scene unit, by which white light has this color after the distance
    (KHR_materials_volume)."""
    if not 0.0 < distance < math.inf:
        return (0.0, 0.0, 0.0)
    return tuple(min(-math.log(max(channel, 1e-30)) / distance, MAX_ABSORPTION) for channel in color)


def is_volume(material: Material) -> bool:
    """Whether surfaces of the material bound a volume that light enters."""
    passes = material.transmission > 0.0 or material.diffuse_transmission > 0.0
    return material.kind == "principled" and material.thickness > 0.0 and passes


def ranks(materials: Sequence[Material]) -> dict[int, int]:
    """Index of a material with a volume -> its rank, from 1 on, of which the highest wins: by priority, and of equal
    ones the first material."""
    volumes = [index for index, material in enumerate(materials) if is_volume(material)]
    ordered = sorted(volumes, key=lambda index: (materials[index].priority, -index))[-MAX_MEDIA:]
    return {index: rank for rank, index in enumerate(ordered, 1)}


def ray_media(interaction: Record, nested: bool) -> Module:
    """The module of ``interface/media.glsl``: the media that a ray is in, an empty state unless volumes are nested.
    interaction : the scene's record."""
    name = "nested" if nested else "none"
    return Module(
        "media of rays",
        provides=("media_of", "media_number", "media_behind", "media_transmitted", "media_surround"),
        source=f"shading/media_{name}.glsl",
        module_state=MEDIA[nested],
        needs=("interaction_kind", *(("media_top",) if nested else ())),
        uses=(interaction,),
    )


def media(materials: Sequence[Material]) -> Module:
    """The module of ``interface/medium.glsl``, with the tables of media by rank, 0 outside of all, and of the
    materials' ranks."""
    rows = np.zeros(MAX_MEDIA + 1, MEDIUM.dtype)
    rows["ior"] = 1.0
    ranked = np.zeros(max(1, len(materials)), MEDIUM_RANK.dtype)
    for index, rank in ranks(materials).items():
        material = materials[index]
        ranked["rank"][index] = rank
        rows[rank] = (
            absorption(material.attenuation_color, material.attenuation_distance),
            material.ior or 1e4,
            material.half_spread,
        )
    return Module(
        "media",
        provides=("media_top", "medium_of"),
        source="shading/medium.glsl",
        memories=(Table("media", MEDIUM, rows), Table("medium_ranks", MEDIUM_RANK, ranked)),
        constants={"MEDIA_BITS": BITS, "MEDIA_MOST": MAX_MEDIA},
    )


def has_nested_volumes(scene: Scene) -> bool:
    """Whether another volume or surface reaches into a volume, by boxes of triangles: no case is missed, and a surface
    close to a volume may count."""
    volumes = {index for index, material in enumerate(scene.materials) if is_volume(material)}
    if not volumes:
        return False
    owners, boxes = [], []
    for instance_index, instance in enumerate(scene.instances):
        used = volumes & _instance_materials(scene, instance)
        for index in sorted(used):
            low, high = _triangle_boxes(scene, instance, index)[0]
            owners.append((instance_index, index))
            inset = TOUCHING_SHARE * (high.max(axis=0) - low.min(axis=0))
            boxes.append((low.min(axis=0) + inset, high.max(axis=0) - inset))
    if not boxes:
        return False
    lows, highs = (np.array(corners) for corners in zip(*boxes, strict=True))
    for instance_index, instance in enumerate(scene.instances):
        low, high = _world_bounds(scene, instance)
        candidates = np.flatnonzero(((low <= highs) & (high >= lows)).all(axis=1))
        if not len(candidates):
            continue
        (low, high), face_materials = _triangle_boxes(scene, instance)
        for k in candidates.tolist():
            foreign = (
                face_materials != owners[k][1] if owners[k][0] == instance_index else np.ones(len(face_materials), bool)
            )
            if ((low <= highs[k]) & (high >= lows[k])).all(axis=1)[foreign].any():
                return True
    return False


def _instance_materials(scene: Scene, instance: Instance) -> set[int]:
    if instance.material is not None:
        return {instance.material}
    return set(distinct(scene.meshes[instance.mesh].materials).tolist())


def _world_bounds(scene: Scene, instance: Instance) -> NDArray[np.float64]:
    """(2, 3): the bounds of an instance, world space."""
    mesh = scene.meshes[instance.mesh]
    if isinstance(mesh, Quadric):
        return np.asarray(bounds_of_quadric(mesh.shape, instance.transform @ mesh.shape.transform), np.float64)
    if not len(mesh.positions):
        return np.array([[np.inf] * 3, [-np.inf] * 3])
    points = mesh.positions.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    if isinstance(mesh, Quadrics):
        low, high = low - mesh.radius, high + mesh.radius
    corners = np.array(list(_corners(low, high))) @ instance.transform[:3, :3].T + instance.transform[:3, 3]
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def _corners(low: NDArray, high: NDArray) -> Iterator[tuple[float, ...]]:
    for k in range(8):
        yield tuple(high[axis] if k >> axis & 1 else low[axis] for axis in range(3))


def _triangle_boxes(
    scene: Scene, instance: Instance, material: int | None = None
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], NDArray[np.int32]]:
    """The boxes, lowest and highest corners (T, 3), world space, of an instance's triangles, of one material or of all;
    and their materials (T,)."""
    mesh = scene.meshes[instance.mesh]
    override = instance.material
    face_materials = mesh.materials if override is None else np.full(len(mesh.triangles), override, np.int32)
    if isinstance(mesh, Quadric):
        low, high = _world_bounds(scene, instance)
        return (low[None], high[None]), face_materials[:1]
    selection = slice(None) if material is None else face_materials == material
    points = mesh.positions.astype(np.float64) @ instance.transform[:3, :3].T + instance.transform[:3, 3]
    corners = points[mesh.triangles[selection]]
    radius = mesh.radius * np.linalg.norm(instance.transform[:3, :3], 2) if isinstance(mesh, Quadrics) else 0.0
    return (corners.min(axis=1) - radius, corners.max(axis=1) + radius), face_materials[selection]
