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

MOST_SPHERES = 16  # of a scene: each photon looks at all of them
MESH_SPHERES = 8  # of a mesh, whose parts may lie far apart
GAIN = 0.8  # of two spheres in place of one: their discs together are at most so much of its disc
MARGIN = 1e-5  # of a sphere's place and size: what the device rounds

Sphere = tuple[NDArray[np.float64], float]  # middle (3,), radius; scene units


def is_specular(material: Material) -> bool:
    """Whether some of its light goes into single directions."""
    if material.kind == "principled":
        reflects = material.metallic > 0.0 or material.specular_factor > 0.0 or material.transmission > 0.0
        base = reflects and material.roughness < SMOOTH
        return not material.unlit and (base or (material.clearcoat > 0.0 and material.clearcoat_roughness < SMOOTH))
    if material.kind == "classic" and material.classic is not None:
        return material.classic.reflectivity > 0.0 or material.classic.transmittance > 0.0
    return material.kind in ("mirror", "dielectric") or (material.kind == "phong" and material.reflectivity > 0)


class SpecularBounds:
    """Finds them; meshes that it has seen before, and that have not changed, cost nothing."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], tuple[Mesh, NDArray[np.float64]]] = {}

    def of(self, scene: Scene) -> NDArray[np.float32]:
        """(S, 4) middle and radius, world space, S <= `MOST_SPHERES`: every specular triangle is within one of them,
        wherever it moves while the shutter is open."""
        specular = np.array([is_specular(material) for material in scene.materials], bool)
        before, self._known = self._known, {}
        placed: dict[tuple[int, int | None], list[NDArray[np.float64]]] = {}
        moving: dict[tuple[int, int | None], list[NDArray[np.float64]]] = {}
        for instance in scene.instances if specular.any() else ():
            own_key = instance.mesh, instance.material
            placed.setdefault(own_key, [])
            if instance.motion is None:
                placed[own_key].append(instance.transform)
            else:
                moving.setdefault(own_key, []).append(instance.motion)
        world_spheres = [np.zeros((0, 4))]
        for (index, material), transforms in placed.items():
            mesh = scene.meshes[index]
            specular_triangles = specular[mesh.materials] if material is None else specular[[material]]
            if specular_triangles.any():
                key = id(mesh), specular_triangles.tobytes()
                self._known[key] = before.get(key) or (mesh, _mesh_spheres(mesh, specular_triangles))
                spheres = self._known[key][1]
                world_spheres.append(_in_world(spheres, np.array(transforms).reshape(-1, 4, 4)))
                for motion in moving.get((index, material), ()):  # what is within all keys' is, in between, within one
                    world_spheres.append(np.array([(*middle, radius) for middle, radius in _swept(spheres, motion)]))
        every = np.concatenate(world_spheres)
        every = _split(every, _around_spheres, every[:, :3], MOST_SPHERES)
        every[:, 3] += MARGIN * np.abs(every).max(axis=1, initial=0.0)
        return every[every[:, 3] > 0].astype(np.float32)


def _in_world(spheres: NDArray[np.float64], transforms: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 4): spheres (S, 4) of a mesh around all its instances, whose transforms are (I, 4, 4); the finite ones."""
    transforms = transforms[np.isfinite(transforms).all(axis=(1, 2))]
    linear, translation = transforms[:, :3, :3], transforms[:, :3, 3]
    with np.errstate(all="ignore"):
        middles = spheres[None, :, :3] @ linear.transpose(0, 2, 1) + translation[:, None]
        radii = spheres[None, :, 3] * np.linalg.norm(linear, 2, axis=(1, 2))[:, None]  # by the greatest stretch
    every = np.concatenate([middles, radii[..., None]], axis=2).reshape(-1, 4)
    return every[np.isfinite(every).all(axis=1)]


def _swept(spheres: NDArray[np.float64], motion: NDArray[np.float64]) -> list[Sphere]:
    """Around each of a mesh's spheres (S, 4) at all keys of an instance (K, 4, 4)."""
    return [_around_spheres(_in_world(sphere[None], motion)) for sphere in spheres]


def _mesh_spheres(mesh: Mesh, counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(S, 4) around the triangles that count, ``counted`` (T,) or (1,), or around a quadric, object space."""
    if isinstance(mesh, Quadric):
        middle, radius = _around_quadric(mesh)
        return np.array([[*middle, radius]])
    triangles = mesh.triangles[np.broadcast_to(counted, len(mesh.triangles))]
    poses = [mesh.posed(key) for key in mesh.motion] if isinstance(mesh, DeformedMesh) and mesh.motion else [mesh]
    corners = np.concatenate([pose.positions[triangles] for pose in poses], axis=1).astype(np.float64)
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    spheres = _split(corners, _around_corners, corners.mean(axis=1), MESH_SPHERES)
    if isinstance(mesh, Quadrics):
        spheres[:, 3] += mesh.radius
    return spheres


def _around_quadric(quadric: Quadric) -> Sphere:
    """Around a quadric in its mesh's space: tight for spheres and unsheared surfaces of revolution; of others around
    the box."""
    shape, linear = quadric.shape, quadric.shape.transform[:3, :3]
    low, high = shape.bounds()
    if not shape.round:
        return _around_corners(quadric.positions.astype(np.float64))
    middle = shape.transform[:3, 3] + linear[:, 1] * (low[1] + high[1]) / 2
    if shape.whole_sphere:
        return middle, float(np.linalg.norm(linear, 2))
    wide = float(np.linalg.norm(linear[:, ::2], 2)) * float(high[0])
    tall = float(np.linalg.norm(linear[:, 1])) * float(high[1] - low[1]) / 2
    upright = np.abs(linear[:, ::2].T @ linear[:, 1]).max() <= 1e-9 * float(np.square(linear).sum())
    return middle, math.hypot(wide, tall) if upright else wide + tall


def _around_corners(corners: NDArray[np.float64]) -> Sphere:
    points = corners.reshape(-1, 3)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    return middle, math.sqrt(float(((points - middle) ** 2).sum(axis=1).max()))


def _around_spheres(spheres: NDArray[np.float64]) -> Sphere:
    middles, radii = spheres[:, :3], spheres[:, 3:]
    middle = ((middles - radii).min(axis=0) + (middles + radii).max(axis=0)) / 2
    return middle, float((np.linalg.norm(middles - middle, axis=1) + radii[:, 0]).max())


def _split(
    things: NDArray[np.float64],
    around: Callable[[Any], Sphere],
    points: NDArray[np.float64],
    most: int,
) -> NDArray[np.float64]:
    """(S, 4), S <= ``most``: spheres around groups of things (N, ...), which are halved at the middle of their places
    (N, 3), the largest first, wherever the smaller spheres are less to aim at than the whole."""
    if not len(things):
        return np.zeros((0, 4))
    root = _Group(np.arange(len(things)), *around(things))
    leaves, ends = [root], 0
    while leaves and len(leaves) + ends < most:
        largest = leaves.pop(int(np.argmax([leaf.radius for leaf in leaves])))
        at = points[largest.members, int(np.argmax(np.ptp(points[largest.members], axis=0)))]
        low = at < (at.min() + at.max()) / 2
        if not low.any() or low.all():
            ends += 1  # they lie at one place
            continue
        largest.halves = [_Group(part, *around(things[part])) for part in (largest.members[low], largest.members[~low])]
        leaves += largest.halves
    return np.array([[*group.middle, group.radius] for group in root.best()])


@dataclass
class _Group:
    """Things within a sphere, and the two halves of them."""

    members: NDArray[np.intp]
    middle: NDArray[np.float64]
    radius: float
    halves: list[_Group] = field(default_factory=list)

    def best(self) -> list[_Group]:
        """The groups of the fewest discs in sum."""
        parts = [group for half in self.halves for group in half.best()]
        discs = sum(part.radius**2 for part in parts)
        return parts if parts and discs <= GAIN * self.radius**2 else [self]
