"""Whitted's recursion in NumPy float64 over brute-force intersections: the oracle of the machines, and scenes for both.

It is written from the published algorithm and the formulas of optics, shares no code with the shaders, and really calls
itself for both children of a surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import exact
import meshes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream import Camera, Scene
from raystream.cameras.lens import lens_rays
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

Array = NDArray[np.float64]
OFF = 1e-6  # scene units by which origins leave a surface, in scenes of about 10 units


@dataclass(frozen=True)
class Tree:
    """What of the tree is followed. min_intensity : the weight that a child's ray has to exceed in a channel."""

    depth: int = 4
    shadows: bool = True
    reflections: bool = True
    refractions: bool = True
    min_intensity: float = 0.0


class Oracle:
    """A scene without area lights, in the same radiance (3,) from everywhere beyond it, which nothing shadows."""

    def __init__(self, scene: Scene, surrounding: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        flat = scene.flatten()
        self.corners = flat.corners().astype(np.float64)
        self.normals = flat.normals[flat.triangles].astype(np.float64)
        self.of = flat.materials
        self.materials, self.lights = scene.materials, scene.lights
        self.surrounding = np.asarray(surrounding, np.float64)

    def picture(self, camera: Camera, size: tuple[int, int], tree: Tree, off: float = 0.0) -> Array:
        """(H, W, 3) through pixels' centres, or points that are ``off`` pixels right and below of them."""
        y, x = np.mgrid[: size[1], : size[0]]
        pixels, film = np.stack([x.ravel(), y.ravel()], axis=1), np.full((x.size, 2), 0.5 + off)
        origins, directions = lens_rays(camera, size, pixels, film, np.full((x.size, 2), 0.5), "box")
        weights = np.ones((len(origins), 3))
        return self.radiance(origins, directions, weights, tree, 0).reshape(size[1], size[0], 3)

    def radiance(self, origins: Array, directions: Array, weights: Array, tree: Tree, left: int) -> Array:
        """(N, 3) that comes to origins (N, 3) from directions (N, 3), on rays that have left so many surfaces and add
        to their pixels by weights (N, 3)."""
        out = np.zeros((len(origins), 3))
        if not len(origins):
            return out
        hits = exact.nearest(self.corners, origins, directions)
        met = hits.triangle >= 0
        out[~met] = self.surrounding
        if left >= tree.depth:
            return out
        number, wo = hits.triangle[met], -directions[met]
        at = origins[met] + hits.t[met][:, None] * directions[met]
        face, shading = self._normals(number, at)
        found = np.zeros((len(at), 3))
        for index, material in enumerate(self.materials):
            mine = self.of[number] == index
            if mine.any():
                given = (at[mine], face[mine], shading[mine], wo[mine])
                if material.kind not in ("mirror", "dielectric"):
                    found[mine] = self._lit(material, *given, tree, left)
                if material.kind in ("mirror", "dielectric") or material.reflectivity > 0:
                    found[mine] += self._branches(material, *given, weights[met][mine], tree, left)
        out[met] = found
        return out

    def _normals(self, number: Array, at: Array) -> tuple[Array, Array]:
        a, b, c = (self.corners[number, k] for k in range(3))
        face = np.cross(b - a, c - a)
        area = dot(face, face)
        weights = [dot(np.cross(q - p, at - p), face) / area for p, q in ((b, c), (c, a), (a, b))]
        shading = sum(w[:, None] * self.normals[number, k] for k, w in enumerate(weights))
        return unit(face), unit(np.asarray(shading))

    def _branches(
        self,
        material: Material,
        at: Array,
        face: Array,
        shading: Array,
        wo: Array,
        weights: Array,
        tree: Tree,
        left: int,
    ) -> Array:
        """Both children of a mirror or of glass, and that of a polished surface, by calling itself."""
        color = np.asarray(material.base_color[:3])
        if material.kind == "phong":
            shading = np.where((dot(shading, wo) * dot(face, wo) <= 0)[:, None], face, shading)
            color = np.full(3, material.reflectivity / _whole(material))
        here = dot(shading, wo)
        reflected = 2 * here[:, None] * shading - wo
        share = np.ones((len(at), 3)) * color
        out = np.zeros((len(at), 3))
        if material.kind == "dielectric":
            ratio = np.where(here >= 0, 1 / material.ior, material.ior)  # index on this side / on the other
            behind = 1 - ratio**2 * (1 - here**2)
            through = behind > 0
            cosine, sine = np.abs(here), np.sqrt(np.maximum(behind, 0))
            s = ((ratio * cosine - sine) / (ratio * cosine + sine)) ** 2  # Fresnel, polarised across and along
            p = ((cosine - ratio * sine) / (cosine + ratio * sine)) ** 2
            share = np.where(through, (s + p) / 2, 1.0)[:, None] * np.ones(3)
            if tree.refractions and through.any():
                facing = np.where(here[:, None] >= 0, shading, -shading)
                refracted = ratio[:, None] * -wo + (ratio * cosine - sine)[:, None] * facing
                factor = (1 - share) * color * ratio[:, None] ** 2  # radiance is denser in the denser medium
                out += factor * self._child(at, face, refracted, through, weights * factor, tree, left)
        if tree.reflections:
            out += share * self._child(at, face, reflected, np.ones(len(at), bool), weights * share, tree, left)
        return out

    def _child(
        self, at: Array, face: Array, towards: Array, some: NDArray, weights: Array, tree: Tree, left: int
    ) -> Array:
        some = some & (weights > tree.min_intensity).any(axis=1)
        out, towards = np.zeros((len(at), 3)), unit(towards[some])
        out[some] = self.radiance(leaving(at[some], face[some], towards), towards, weights[some], tree, left + 1)
        return out

    def _lit(
        self, material: Material, at: Array, face: Array, shading: Array, wo: Array, tree: Tree, left: int
    ) -> Array:
        """Every light through Lambert's or Phong's surface, if nothing hides it."""
        whole = _whole(material)
        diffuse, specular = np.asarray(material.base_color[:3]) / whole, material.specular / whole
        out = np.tile((diffuse + specular) * self.surrounding, (len(at), 1))
        away = dot(shading, wo) * dot(face, wo) <= 0
        shading = np.where(away[:, None], face, shading)
        for light in self.lights:
            way = np.broadcast_to(-np.asarray(light.direction), at.shape)
            distance, power = np.full(len(at), np.inf), np.ones(len(at))
            if light.kind != "directional":
                way = np.asarray(light.position) - at
                distance = np.sqrt(dot(way, way))
                way = way / distance[:, None]
                power = 1 / distance**2
            if light.kind == "spot":
                scale, offset = light.falloff
                power = power * np.clip(-(way @ np.asarray(light.direction)) * scale + offset, 0, 1) ** 2
            cosine = dot(shading, way)
            one_side = (dot(face, wo) * dot(face, way) > 0) & (dot(shading, wo) * cosine > 0)
            mirrored = np.maximum(dot(2 * dot(shading, wo)[:, None] * shading - wo, way), 0)
            lobe = specular * (material.exponent + 2) / (2 * np.pi) * mirrored**material.exponent
            value = (diffuse / np.pi + lobe[:, None]) * (np.abs(cosine) * one_side * power)[:, None]
            if tree.shadows:
                hidden = exact.nearest(self.corners, leaving(at, face, way), way, distance * (1 - 1e-5)).triangle >= 0
                value = np.where(hidden[:, None], 0, value)
            out += value * np.asarray(light.intensity)
        return out


def _whole(material: Material) -> float:
    """What Phong's reflectances are scaled down by, so that no more comes back than came."""
    return max(1.0, max(material.base_color[:3]) + material.specular + material.reflectivity)


def dot(a: Array, b: Array) -> Array:
    return np.einsum("nk,nk->n", a, b)


def unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def leaving(at: Array, face: Array, direction: Array) -> Array:
    return at + OFF * np.where(dot(face, direction)[:, None] < 0, -face, face)


def piece(points: ArrayLike, faces: ArrayLike, material: int, name: str, round_: bool = False) -> Mesh:
    """A mesh of one material; round ones are spheres around 0 before they are placed, with vertex normals."""
    points = np.asarray(points, np.float64)
    mesh = Mesh(
        points.astype(np.float32),
        np.asarray(faces, np.int32),
        np.full(len(faces), material, np.int32),
        normals=unit(points).astype(np.float32) if round_ else None,
        name=name,
    )
    if round_:
        return mesh
    corners = mesh.positions[mesh.triangles].reshape(-1, 3)  # each triangle its own corners: flat normals
    triangles = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    a, b, c = (corners[k::3].astype(np.float64) for k in range(3))
    normals = np.repeat(unit(np.cross(b - a, c - a)), 3, axis=0).astype(np.float32)
    return Mesh(corners, triangles, mesh.materials, normals=normals, name=name)


def square(material: int, name: str) -> Mesh:
    """From -1 to 1 in x and z, seen from +Y."""
    return piece([(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)], [(0, 1, 2), (0, 2, 3)], material, name)


def placed(scale: ArrayLike = 1.0, at: ArrayLike = (0, 0, 0), tilt: float = 0.0) -> Array:
    """A transformation: scaled, tilted about x by so many degrees, moved."""
    out = np.eye(4)
    c, s = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))
    out[:3, :3] = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.diag(np.broadcast_to(scale, 3))
    out[:3, 3] = at
    return out


SIZE = (80, 60)


def mixed(lights: bool = True) -> Scene:
    """Matte, Phong, mirror and glass, flat and round, under a point, a spot and a directional light; 190 triangles.
    Light inside of the glass box is totally reflected at some of its faces."""
    materials = [
        Material("matte", (0.7, 0.6, 0.5, 1.0)),
        Material("phong", (0.3, 0.4, 0.6, 1.0), kind="phong", specular=0.3, exponent=20.0, reflectivity=0.25),
        Material("mirror", (0.9, 0.85, 0.8, 1.0), kind="mirror"),
        Material("glass", (0.95, 1.0, 0.9, 1.0), kind="dielectric", ior=1.5),
    ]
    box, ball = meshes.box(), meshes.icosphere(1)
    parts = [
        square(0, "floor"),
        square(1, "wall"),
        square(2, "pane"),
        piece(ball.points, ball.faces, 2, "ball", round_=True),
        piece(box.points, box.faces, 3, "block"),
        piece(ball.points, ball.faces, 3, "drop", round_=True),
        piece(box.points, box.faces, 1, "stone"),
    ]
    places = [
        placed(6.0, (0, -1, 0)),
        placed(6.0, (0, 2, -5), tilt=90),
        placed(2.0, (-2.6, 1, -3), tilt=105),
        placed(0.9, (1.6, 0, -1.5)),
        placed(0.8, (-0.4, 0, 0.8)),
        placed(0.8, (1.7, -0.1, 1.2)),
        placed(0.5, (-1.9, -0.4, 0.4)),
    ]
    emitting = [
        Light("point", "lamp", (2.5, 5, 3), intensity=(30, 28, 24)),
        Light("spot", "torch", (-4, 4, 4), (0.6, -0.7, -0.5), (60, 20, 20), inner=0.2, outer=0.5),
        Light("directional", "sun", direction=(0.3, -1, -0.6), intensity=(0.4, 0.5, 0.7)),
    ]
    return Scene(
        parts,
        [Instance(number, place, name=parts[number].name) for number, place in enumerate(places)],
        materials,
        [Camera((0.4, 2.2, 6.5), (0, 0.2, 0), fov=38)],
        lights=emitting if lights else [],
        name="mixed",
    )
