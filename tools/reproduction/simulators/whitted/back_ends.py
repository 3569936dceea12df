"""The thesis's back ends on the processor: its recursion, compiled (CPU); its OpenCL algorithm emulated serially by
NumPy; and its four kernels by pyopencl on whatever device is there. All read one structure, the thesis's own.

The emulation has kernels for primary rays, intersection, and the shading of hits and of misses, level after level, with
the rays of a level in one array; intersection is a compiled loop (float32). Textures are filtered bilinearly from the
full image, where the machines take mip levels by ray cones; the environment is alike from all sides. Source of the
shading: `raystream.scene.material`, and shaders/shading/bsdf_classic.glsl, which this follows in float64. For OpenCL,
as there, the host reads a level's hits back and sorts its rays into those for the cube map and those for the renderer
(T 6.4, figure 6-16); each level is a layer that is added to the picture.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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


def wide(rays: NDArray) -> NDArray[np.float32]:
    """RAY records (N,) as rows of the loops: of weight 1, all channels, level 0."""
    made = np.ones((len(rays), loops.COLUMNS), np.float32)
    made[:, :3], made[:, 3:6] = rays["origin"], rays["direction"]
    made[:, loops.CHANNEL], made[:, loops.LEVEL] = -1.0, 0.0
    return made


class Processor:
    """A scene of classic materials, ready to be traced."""

    def __init__(self, traced: Traced) -> None:
        self.model, self.depth = traced.model, traced.depth
        self.environment = np.asarray(traced.environment, np.float32)
        self._stack = np.empty((1 + loops.MOST_CHILDREN * (self.depth + 1), loops.COLUMNS), np.float32)

    def render(self, camera: Camera, size: tuple[int, int]) -> Frame:
        """A frame of one ray a pixel; its rays are counted together."""
        width, height = size
        pixels, rays = self.trace(wide(eye_rays(camera, size)))
        return Frame(pixels.reshape(height, width, 3), [rays])

    def trace(self, eyes: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
        """The light (N, 3) of eye rays, rows of the loops; and how many rays their trees have."""
        pixels = np.zeros((len(eyes), 3), np.float32)
        arrays = (*self.model.structure, *self.model.surface, eyes, self.environment, self.depth)
        rays = jit.run(loops.trace, *arrays, self._stack, pixels)
        return pixels, int(rays)


POCL = "Portable Computing Language"
INSTALL = 'pip install ".[reproduce]", which brings pyopencl, and on Linux on x86-64 pocl'
GROUP = 64  # work-items: one size, as pocl compiles a kernel anew for each


class NoOpenClError(Exception):
    """Raised without pyopencl or a device of OpenCL: what to do."""


def device() -> Any:
    """The first device of OpenCL. Raises NoOpenClError."""
    try:
        import pyopencl as cl
    except ImportError as error:
        raise NoOpenClError(f"{error}; {INSTALL}") from None
    try:
        platform = cl.get_platforms()[0]
        device = platform.get_devices()[0]
    except (cl.Error, IndexError) as error:
        raise NoOpenClError(f"no device of OpenCL ({error or 'none listed'}); {INSTALL}") from None
    if platform.name == POCL and not _links():  # it would end the process
        raise NoOpenClError("pocl cannot link its kernels here; apt-get install gcc libc6-dev")
    if fault := _build_fault(device):
        raise NoOpenClError(f"{named(device)}: compiles nothing ({fault}); install an OpenCL that knows this processor")
    return device


@cache
def _build_fault(device: Any) -> str:
    """Why a device does not compile an empty kernel; empty where it does. An LLVM of before a processor does not know
    it."""
    import pyopencl as cl

    try:
        cl.Program(cl.Context([device]), "__kernel void nothing() {}").build()
    except cl.Error as error:
        lines = [line for line in str(error).splitlines() if line.startswith("error:")]
        return lines[0] if lines else str(error).split("\n", 1)[0]
    return ""


@cache
def _links() -> bool:
    """Whether a C compiler makes a shared library."""
    with tempfile.TemporaryDirectory() as folder, suppress(OSError, subprocess.CalledProcessError):
        command = ["cc", "-shared", "-x", "c", os.devnull, "-o", str(Path(folder) / "empty.so")]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        return True
    return False


def named(device: Any) -> str:
    """A device, with its platform."""
    return f"{device.platform.name}, {device.name}"


class OpenCl:
    """A scene of classic materials, ready to be traced. Raises NoOpenClError."""

    def __init__(self, traced: Traced) -> None:
        found = device()
        import pyopencl as cl

        self._cl, self.name = cl, named(found)
        self._context = cl.Context([found])
        self._queue = cl.CommandQueue(self._context)
        source = (Path(__file__).parent / "tracer.cl").read_text(encoding="utf-8")
        self._kernels = {each.function_name: each for each in cl.Program(self._context, source).build().all_kernels()}
        self.model, self.depth = traced.model, traced.depth
        self._structure = [self._read(array) for array in self.model.structure]
        self._surface = [self._read(array) for array in self.model.surface]
        self.environment = np.array([*traced.environment, 0.0], np.float32)

    def render(self, camera: Camera, size: tuple[int, int]) -> Frame:
        """A frame of one ray a pixel."""
        width, height = size
        pixels, counts = np.zeros((width * height, 3)), []
        rays = self._primary(camera, width, height)
        for level in range(self.depth + 1):
            if not len(rays):
                break
            counts.append(len(rays))
            light, children = self._level(rays, level < self.depth)
            np.add.at(pixels, rays[:, -1].astype(np.int64), light)
            rays = children
        return Frame(pixels.reshape(height, width, 3).astype(np.float32), counts)

    def _primary(self, camera: Camera, width: int, height: int) -> NDArray[np.float32]:
        right, up, forward = camera.basis()
        tangent = math.tan(math.radians(camera.fov) / 2)
        vectors = camera.origin, right * tangent * width / height, up * tangent, forward
        rays = np.empty((width * height, loops.COLUMNS), np.float32)
        to = self._written(rays)
        given = [np.array([*vector, 0.0], np.float32) for vector in vectors]
        self._run("primary_rays", len(rays), *given, np.int32(width), np.int32(height), to)
        return self._fetch(rays, to)

    def _level(self, rays: NDArray[np.float32], more: bool) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The light (N, 3) that rays (N, COLUMNS) bring to their pixels, and their children, if more levels follow."""
        held, light = self._read(rays), np.zeros((len(rays), 3), np.float32)
        face = np.empty(len(rays), np.int32)
        distances, hits, lit = self._room(4 * len(rays)), self._written(face), self._read(light, written=True)
        ends = np.int32(len(self.model.top_links)), np.int32(len(self.model.links))
        self._run("intersector", len(rays), *self._structure, *ends, held, distances, hits)
        self._fetch(face, hits)
        missed, hit = (np.flatnonzero(each).astype(np.int32) for each in (face < 0, face >= 0))
        if len(missed):
            self._run("cube_map", len(missed), self._read(missed), held, self.environment, lit)
        children = np.empty((len(hit), loops.MOST_CHILDREN, loops.COLUMNS), np.float32)
        made = np.zeros(len(hit), np.int32)
        if len(hit):
            to = self._written(children), self._written(made)
            self._run("renderer", len(hit), *self._surface, self._read(hit), held, distances, hits, *to, lit)
            self._fetch(made, to[1])
            if more:
                self._fetch(children, to[0])
        self._fetch(light, lit)
        alive = np.arange(loops.MOST_CHILDREN) < made[:, None]
        return light, np.ascontiguousarray(children[alive]) if more else children[:0, 0]

    def _run(self, name: str, count: int, *arguments: Any) -> None:
        whole = -(-count // GROUP) * GROUP
        self._kernels[name](self._queue, (whole,), (GROUP,), *arguments, np.int32(count))

    def _read(self, array: NDArray, written: bool = False) -> Any:
        flags = self._cl.mem_flags
        access = flags.READ_WRITE if written else flags.READ_ONLY
        return self._cl.Buffer(self._context, access | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(array))

    def _room(self, size: int) -> Any:
        return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size)

    def _written(self, array: NDArray) -> Any:
        return self._room(array.nbytes)

    def _fetch(self, array: NDArray, buffer: Any) -> Any:
        self._cl.enqueue_copy(self._queue, array, buffer)
        return array
