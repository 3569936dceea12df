"""Classic ray tracing emulated by NumPy on the processor, the serial back end of the thesis on OpenCL and CUDA: kernels
for primary rays, intersection, and the shading of hits and of misses, level after level, with the rays of a level in
one array.

The structure is the thesis's, and intersection a compiled loop (`reproduction.simulators.whitted`, float32). Textures
are filtered bilinearly from the full image, where the machines take mip levels by ray cones; the environment is alike
from all sides. Source of the shading: `raystream.scene.material`, and shaders/shading/bsdf_classic.glsl, which this
follows in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.base.errors import ViewerError
from raystream.kernels.records import FAR, RAY
from raystream.scene.camera import Camera
from raystream.scene.edits.materials import decided_materials
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.material import ClassicMaterial, ClassicTexture
from raystream.scene.texture import Texture
from reproduction.simulators.rays import OFFSET, eye_rays
from reproduction.simulators.whitted import loops
from reproduction.simulators.whitted.model import Traced, linear

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """pixels : (H, W, 3) float32, linear. rays : that were intersected with the scene, by level, eye rays first."""

    pixels: NDArray[np.float32]
    rays: list[int]

    @property
    def intersections(self) -> int:
        """All rays of the frame."""
        return sum(self.rays)


@dataclass(frozen=True)
class Level:
    """The N rays of a level of the rays' trees.

    rays : RAY. pixel : of each; parent : the ray of the level above that it comes from, of an eye ray its own number.
    share : (N, 3), of its light that its parent's surface sends on, `weight` the product of those up to the eye
    (T 6.31, 6.32). light : (N, 3), what its hit shines of itself, or the environment. missed, refracted : of each.
    """

    rays: NDArray
    pixel: NDArray[np.int64]
    parent: NDArray[np.int64]
    share: Array
    weight: Array
    light: Array
    missed: NDArray[np.bool_]
    refracted: NDArray[np.bool_]


class Emulation:
    """A scene of classic materials, ready to be traced.

    Raises ViewerError for materials that are sheets or part channels.
    """

    def __init__(self, traced: Traced) -> None:
        scene = traced.scene
        self.flat: Triangles = scene.flatten()
        self.corners = self.flat.corners()
        self.model, self.depth = traced.model, traced.depth
        self.environment = np.asarray(traced.environment, np.float64)
        self.textures = scene.textures
        self._texels: dict[int, Array] = {}
        self.materials: list[tuple[ClassicMaterial, Array]] = []
        for material in decided_materials(scene):
            own = material.classic
            assert own is not None  # as `Traced.of` has it
            if own.parts_channels or own.is_sheet:
                what = f"material '{material.name}' is a sheet or dispersive"
                raise ViewerError(scene.name, what, "give it to the machines")
            self.materials.append((own, np.asarray(material.base_color[:3], np.float64)))
        self.layers = [material.layers for material in decided_materials(scene)]

    def render(self, camera: Camera, size: tuple[int, int]) -> Frame:
        """A frame of one ray a pixel."""
        width, height = size
        pixels, counts = np.zeros((width * height, 3)), []
        for level in self.levels(camera, size):
            counts.append(len(level.rays))
            np.add.at(pixels, level.pixel, level.weight * level.light)
        return Frame(pixels.reshape(height, width, 3).astype(np.float32), counts)

    def levels(self, camera: Camera, size: tuple[int, int]) -> Iterator[Level]:
        """The rays of a frame level by level, eye rays first."""
        rays, whole = eye_rays(camera, size), size[0] * size[1]
        pixel, share = np.arange(whole), np.ones((whole, 3))
        parent, weight, refracted = pixel, share, np.zeros(whole, bool)
        for number in range(self.depth + 1):
            if not len(rays):
                return
            distance, triangle = self._intersect(rays)
            light = np.broadcast_to(self.environment, (len(rays), 3)).copy()
            hit = np.flatnonzero(triangle >= 0)
            light[hit], children = self._shade(rays[hit], triangle[hit], distance[hit])
            yield Level(rays, pixel, parent, share, weight, light, triangle < 0, refracted)
            if number == self.depth:
                return
            rays = np.concatenate([each for each, _ in children])
            share = np.concatenate([each for _, each in children])
            parent, refracted = np.tile(hit, 2), np.repeat([False, True], len(hit))
            alive = (weight[parent] * share).any(axis=1)
            rays, share, parent, refracted = rays[alive], share[alive], parent[alive], refracted[alive]
            pixel, weight = pixel[parent], weight[parent] * share

    def _intersect(self, rays: NDArray) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """The distances and triangles that rays (N,) RAY hit; -1 for none."""
        found = np.empty(len(rays), np.float32), np.empty(len(rays), np.int32)
        given = np.concatenate([rays["origin"], rays["direction"]], axis=1)
        jit.run(loops.intersect, *self.model.structure, given, *found)
        return found

    def _shade(self, rays: NDArray, triangle: NDArray, distance: NDArray) -> tuple[Array, list[tuple[NDArray, Array]]]:
        """What hits shine, (N, 3); and the reflected and the refracted rays with their weights (N, 3)."""
        direction = rays["direction"].astype(np.float64)
        at = rays["origin"].astype(np.float64) + distance[:, None].astype(np.float64) * direction
        a, b, c = (self.corners[triangle, k].astype(np.float64) for k in range(3))
        face = np.cross(b - a, c - a)
        share = _barycentric(at - a, b - a, c - a, face)
        vertices = self.flat.triangles[triangle]
        face /= np.linalg.norm(face, axis=1, keepdims=True)
        normal = (self.flat.normals[vertices] * share[:, :, None]).sum(axis=1)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        color = self._colors(triangle, vertices, share)
        facing = -(normal * direction).sum(axis=1)  # cosine, below zero from behind
        n, cosine = np.where(facing[:, None] < 0, -normal, normal), np.minimum(np.abs(facing), 1.0)
        field = self._field(triangle)
        index = field(lambda own: own.indices[1])
        ratio = np.where(facing >= 0, 1.0 / index, index)
        base = np.maximum(1.0 - cosine, 1e-30)
        back = np.clip(field(lambda m: m.bias) + field(lambda m: m.scale) * base ** field(lambda m: m.power), 0.0, 1.0)
        beyond = ratio**2 * (1.0 - cosine**2) > 1.0
        back = np.where(beyond, 1.0, back)[:, None]
        r, t = field(lambda own: own.reflectivity)[:, None], field(lambda own: own.transmittance)[:, None]
        reflected = direction + 2.0 * cosine[:, None] * n
        behind = np.sqrt(np.maximum(0.0, 1.0 - ratio**2 * (1.0 - cosine**2)))
        refracted = n * (ratio * cosine - behind)[:, None] + direction * ratio[:, None]
        children = [
            (_leaving(at, face, reflected), back * field(lambda own: own.specular) * r),
            (_leaving(at, face, refracted), (1.0 - back) * field(lambda own: own.ambient) * t),
        ]
        return color * (back * (1.0 - r) + (1.0 - back) * (1.0 - t)), children

    def _field(self, triangle: NDArray):  # type: ignore[no-untyped-def]  # a function of a function
        number = self.flat.materials[triangle]
        return lambda take: np.array([take(own) for own, _ in self.materials], np.float64)[number]

    def _colors(self, triangle: NDArray, vertices: NDArray, share: Array) -> Array:
        """C of every hit: the diffuse colour or the vertices', and what textures make of it."""
        number = self.flat.materials[triangle]
        found = np.empty((len(triangle), 3))
        for each in np.unique(number):
            here = np.flatnonzero(number == each)
            own, base = self.materials[each]
            colored = (self.flat.colors[vertices[here]] * share[here, :, None]).sum(axis=1)
            color = colored if own.vertex_colors else np.broadcast_to(base, (len(here), 3))
            uv = (self.flat.uvs[vertices[here]].astype(np.float64) * share[here, :, None]).sum(axis=1)
            for layer in self.layers[each]:
                color = _textured(color, self._texel(layer.texture, uv), layer)
            found[here] = color
        return found

    def _texel(self, number: int, uv: Array) -> Array:
        """(N, 4): bilinear, repeated or clamped; colours linear."""
        texture: Texture = self.textures[number]
        if number not in self._texels:
            self._texels[number] = linear(texture).astype(np.float64)
        texels = self._texels[number]
        size = np.array(texels.shape[1::-1])
        place = (uv @ texture.transform[:, :2].T + texture.transform[:, 2]) * size - 0.5
        low = np.floor(place).astype(np.int64)
        part = place - low
        total = np.zeros((len(uv), 4))
        for dx in (0, 1):
            for dy in (0, 1):
                at = low + [dx, dy]
                for axis in (0, 1):
                    clamp = texture.wrap[axis] == "clamp"
                    at[:, axis] = np.clip(at[:, axis], 0, size[axis] - 1) if clamp else at[:, axis] % size[axis]
                weight = np.abs(1 - dx - part[:, 0]) * np.abs(1 - dy - part[:, 1])
                total += weight[:, None] * texels[at[:, 1], at[:, 0]]
        return total


def _barycentric(p: Array, ab: Array, ac: Array, cross: Array) -> Array:
    """(N, 3): shares of the corners at points p from the first one."""
    size = np.maximum((cross**2).sum(axis=1), 1e-300)
    v = (np.cross(p, ac) * cross).sum(axis=1) / size
    w = (np.cross(ab, p) * cross).sum(axis=1) / size
    return np.stack([1.0 - v - w, v, w], axis=1)


def _textured(color: Array, texel: Array, layer: ClassicTexture) -> Array:
    alpha = texel[:, 3:]
    made: dict[str, Array] = {
        "replace": texel[:, :3],
        "decal": color * (1 - alpha) + texel[:, :3] * alpha,
        "modulate": color * texel[:, :3],
        "blend": color * (1 - texel[:, :3]) + np.asarray(layer.environment) * texel[:, :3],
    }
    return made[layer.mode]


def _leaving(at: Array, face: Array, direction: Array) -> NDArray:
    """Rays (N,) RAY off their surface, on the side into which they go."""
    side = np.where((face * direction).sum(axis=1, keepdims=True) < 0, -face, face)
    rays = np.zeros(len(at), RAY.dtype)
    rays["origin"] = at + side * OFFSET * np.maximum(np.abs(at).max(axis=1, keepdims=True), 1e-6)
    rays["direction"] = direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-30)
    rays["t_max"] = FAR
    return rays
