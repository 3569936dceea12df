"""Targets of photons: bounding spheres of all surfaces that reflect or refract into single directions.

They stand in for the projection maps of H. W. Jensen (*Realistic Image Synthesis Using Photon Mapping*, 2001, section
5.1.3), whose cells tell the directions in which a light meets something specular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.lighting.path import SMOOTH
from raystream.scene.deform import DeformedMesh
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

MAX_SPHERES = 16  # of a scene: each photon tests all of them
MESH_SPHERES = 8  # of a mesh, whose parts may lie far apart
MAX_AREA_RATIO = 0.8  # of two spheres' discs to the disc of the one that they replace
MARGIN = 1e-5  # relative, for rounding on the device

Sphere = tuple[NDArray[np.float64], float]  # middle (3,), radius; scene units


def is_specular(material: Material) -> bool:
    """Whether some of the material's light is scattered specularly."""
    if material.kind == "principled":
        reflects = material.metallic > 0.0 or material.specular_factor > 0.0 or material.transmission > 0.0
        base = reflects and material.roughness < SMOOTH
        return not material.unlit and (base or (material.clearcoat > 0.0 and material.clearcoat_roughness < SMOOTH))
    if material.kind == "classic" and material.classic is not None:
        return material.classic.reflectivity > 0.0 or material.classic.transmittance > 0.0
    return material.kind in ("mirror", "dielectric") or (material.kind == "phong" and material.reflectivity > 0)


class SpecularBounds:
    """Computes bounding spheres of specular surfaces; caches those of meshes."""

    def __init__(self) -> None:
        self._mesh_cache: dict[tuple[int, bytes], tuple[Mesh, NDArray[np.float64]]] = {}

    def spheres(self, scene: Scene) -> NDArray[np.float32]:
        """(S, 4) middles and radii, world space, S <= `MAX_SPHERES`, of spheres such that each specular triangle is
        within one of them, at all times while the shutter is open."""
        specular = np.array([is_specular(material) for material in scene.materials], bool)
        before, self._mesh_cache = self._mesh_cache, {}
        placed: dict[tuple[int, int | None], list[NDArray[np.float64]]] = {}
        moving: dict[tuple[int, int | None], list[NDArray[np.float64]]] = {}
        for instance in scene.instances if specular.any() else ():
            mesh_and_material = instance.mesh, instance.material
            placed.setdefault(mesh_and_material, [])
            if instance.motion is None:
                placed[mesh_and_material].append(instance.transform)
            else:
                moving.setdefault(mesh_and_material, []).append(instance.motion)
        world_spheres = [np.zeros((0, 4))]
        for (index, material), transforms in placed.items():
            mesh = scene.meshes[index]
            specular_triangles = specular[mesh.materials] if material is None else specular[[material]]
            if specular_triangles.any():
                key = id(mesh), specular_triangles.tobytes()
                self._mesh_cache[key] = before.get(key) or (mesh, _mesh_spheres(mesh, specular_triangles))
                spheres = self._mesh_cache[key][1]
                world_spheres.append(_in_world(spheres, np.array(transforms).reshape(-1, 4, 4)))
                for motion in moving.get(
                    (index, material), ()
                ):  # a sphere around all keys holds the motion between them
                    world_spheres.append(
                        np.array([(*middle, radius) for middle, radius in _spheres_of_motion(spheres, motion)])
                    )
        spheres = np.concatenate(world_spheres)
        spheres = _sphere_groups(spheres, _enclosing_sphere, spheres[:, :3], MAX_SPHERES)
        spheres[:, 3] += MARGIN * np.abs(spheres).max(axis=1, initial=0.0)
        return spheres[spheres[:, 3] > 0].astype(np.float32)


def _in_world(spheres: NDArray[np.float64], transforms: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 4): the finite spheres among those (S, 4) of a mesh, transformed by each of its instances (I, 4, 4)."""
    transforms = transforms[np.isfinite(transforms).all(axis=(1, 2))]
    linear, translation = transforms[:, :3, :3], transforms[:, :3, 3]
    with np.errstate(all="ignore"):
        middles = spheres[None, :, :3] @ linear.transpose(0, 2, 1) + translation[:, None]
        radii = spheres[None, :, 3] * np.linalg.norm(linear, 2, axis=(1, 2))[:, None]  # by the greatest stretch
    transformed = np.concatenate([middles, radii[..., None]], axis=2).reshape(-1, 4)
    return transformed[np.isfinite(transformed).all(axis=1)]


def _spheres_of_motion(spheres: NDArray[np.float64], motion: NDArray[np.float64]) -> list[Sphere]:
    """For each of a mesh's spheres (S, 4) the one around it at all keys (K, 4, 4) of an instance."""
    return [_enclosing_sphere(_in_world(sphere[None], motion)) for sphere in spheres]


def _mesh_spheres(mesh: Mesh, specular: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(S, 4), object space: spheres around a mesh's ``specular`` triangles, (T,) or (1,), or around a quadric."""
    if isinstance(mesh, Quadric):
        middle, radius = _quadric_sphere(mesh)
        return np.array([[*middle, radius]])
    triangles = mesh.triangles[np.broadcast_to(specular, len(mesh.triangles))]
    poses = [mesh.posed(key) for key in mesh.motion] if isinstance(mesh, DeformedMesh) and mesh.motion else [mesh]
    corners = np.concatenate([pose.positions[triangles] for pose in poses], axis=1).astype(np.float64)
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    spheres = _sphere_groups(corners, _corner_sphere, corners.mean(axis=1), MESH_SPHERES)
    if isinstance(mesh, Quadrics):
        spheres[:, 3] += mesh.radius
    return spheres


def _quadric_sphere(quadric: Quadric) -> Sphere:
    """The sphere around a quadric, object space: tight for spheres and unsheared surfaces of revolution, else around
    its box."""
    shape, linear = quadric.shape, quadric.shape.transform[:3, :3]
    low, high = shape.bounds()
    if not shape.round:
        return _corner_sphere(quadric.positions.astype(np.float64))
    middle = shape.transform[:3, 3] + linear[:, 1] * (low[1] + high[1]) / 2
    if shape.whole_sphere:
        return middle, float(np.linalg.norm(linear, 2))
    radius = float(np.linalg.norm(linear[:, ::2], 2)) * float(high[0])
    half_height = float(np.linalg.norm(linear[:, 1])) * float(high[1] - low[1]) / 2
    unsheared = np.abs(linear[:, ::2].T @ linear[:, 1]).max() <= 1e-9 * float(np.square(linear).sum())
    return middle, math.hypot(radius, half_height) if unsheared else radius + half_height


def _corner_sphere(corners: NDArray[np.float64]) -> Sphere:
    """A sphere around points (..., 3), with the middle of their box."""
    points = corners.reshape(-1, 3)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    return middle, math.sqrt(float(((points - middle) ** 2).sum(axis=1).max()))


def _enclosing_sphere(spheres: NDArray[np.float64]) -> Sphere:
    """A sphere around spheres (N, 4)."""
    middles, radii = spheres[:, :3], spheres[:, 3:]
    middle = ((middles - radii).min(axis=0) + (middles + radii).max(axis=0)) / 2
    return middle, float((np.linalg.norm(middles - middle, axis=1) + radii[:, 0]).max())


def _sphere_groups(
    items: NDArray[np.float64], bound: Callable[[Any], Sphere], points: NDArray[np.float64], max_groups: int
) -> NDArray[np.float64]:
    """(S, 4), S <= ``max_groups``: spheres around groups of items (N, ...), by ``bound`` of a group. The largest
    group is halved at the middle of its ``points`` (N, 3), and halves are used where their discs are small enough."""
    if not len(items):
        return np.zeros((0, 4))
    root = _Group(np.arange(len(items)), *bound(items))
    leaves, unsplittable = [root], 0
    while leaves and len(leaves) + unsplittable < max_groups:
        largest = leaves.pop(int(np.argmax([leaf.radius for leaf in leaves])))
        coordinates = points[largest.members, int(np.argmax(np.ptp(points[largest.members], axis=0)))]
        low = coordinates < (coordinates.min() + coordinates.max()) / 2
        if not low.any() or low.all():
            unsplittable += 1  # all its points are equal
            continue
        halves = largest.members[low], largest.members[~low]
        largest.halves = [_Group(members, *bound(items[members])) for members in halves]
        leaves += largest.halves
    return np.array([[*group.middle, group.radius] for group in root.cheapest_groups()])


@dataclass
class _Group:
    """A group of items, by index, with the sphere around it, and its halves, if it is split."""

    members: NDArray[np.intp]
    middle: NDArray[np.float64]
    radius: float
    halves: list[_Group] = field(default_factory=list)

    def cheapest_groups(self) -> list[_Group]:
        """The groups below, or this one, by the sum of their discs."""
        parts = [group for half in self.halves for group in half.cheapest_groups()]
        area = sum(part.radius**2 for part in parts)
        return parts if parts and area <= MAX_AREA_RATIO * self.radius**2 else [self]
