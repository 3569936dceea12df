"""Hits of arbitrary rays, for `Renderer.trace`, and of a coarse grid of camera rays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.cameras.lens import lens_uniforms
from raystream.kernels import RAY, records
from raystream.kernels.records import HIT
from raystream.programs import LEVELS, eye_hits, trace
from raystream.renderer.device.gpu_scene import GpuScene
from raystream.renderer.device.machine_pool import Key
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.stream.declare.program import Program
from raystream.stream.gl.stream import LARGEST_STREAM, Stream
from raystream.stream.machines.common import Machine

COARSE_SIZE = 256, 160  # (width, height) of the grid of rays of `RayQueries.coarse_hits`
FAR = np.float32(records.FAR)


class Hits(NamedTuple):
    """Hits of N rays: distance (N,) float32 in units of the ray's direction, inf where nothing is hit; barycentrics
    (N, 2) float32, weights of the second and third corner; triangle (N,) in scene order, int32, or int64 in a scene of
    more than 2^31 triangles with all instances; instance (N,) int32; both -1 for none."""

    distance: NDArray[np.float32]
    barycentrics: NDArray[np.float32]
    triangle: NDArray[np.integer]
    instance: NDArray[np.int32]


class RayQueries:
    """Hits of rays in a scene on a device."""

    def __init__(self, scene: GpuScene) -> None:
        self.scene = scene

    def trace(self, settings: Settings, rays: NDArray, scale: NDArray[np.float64]) -> Hits:
        """Hits of ``rays`` (N,) of `RAY` and their ``scale`` (N,), as `pack_rays` returns them, on the settings'
        machine."""
        scene = self.scene
        out = np.zeros(len(rays), HIT.dtype)
        columns, program = min(1024, scene.device.max_texture), trace(LEVELS[scene.structure.levels])
        for first in range(0, len(rays), LARGEST_STREAM):
            batch = rays[first : first + LARGEST_STREAM]
            rows = 1 << (-(-len(batch) // columns) - 1).bit_length()  # a power of two: few shapes, to reuse machines
            with scene.device.current():
                key = scene.key(("trace",), program, settings, (columns, rows))
                machine = scene.machines.take(program, key, settings)
                out[first : first + LARGEST_STREAM] = run_rays(machine, batch)
        return unpack_hits(out, scale, scene.prepared)

    def trace_ready(self, settings: Settings) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key.identity == ("trace",) and key.passes == settings.passes for key in self.scene.machines)

    def coarse_hits(self, settings: Settings, camera: Camera, size: tuple[int, int]) -> Stream:
        """Stream of `HIT` of `COARSE_SIZE` camera rays, evenly over a picture of ``size`` (width, height), row 0 at
        the top. It stays on the device, valid until the next call."""
        scene, rectangle = self.scene, (slice(0, COARSE_SIZE[1]), slice(0, COARSE_SIZE[0]))
        with scene.device.current():
            program, key = self._coarse_program(settings)
            hit = scene.resources.stream("coarse hit", HIT, COARSE_SIZE)  # outlives the machine
            machine = scene.machines.take(program, key, settings, {"hit": hit})
            machine.borrow({"hit": hit})
            scene.pixels.fill(machine.streams["pixel"], rectangle)
            view = lens_uniforms(camera.with_lens(0.0), size, "point")
            shared = scene.first_hits(settings, camera).shared
            texel = {"camera_texel": (2 / COARSE_SIZE[0], 2 / COARSE_SIZE[1])}
            machine.set({**view, **texel, **scene.prepared.sample_uniforms(program, settings, shared)})
            machine.finish()
        return hit

    def coarse_hits_ready(self, settings: Settings) -> bool:
        """Whether `coarse_hits` will run without compiling."""
        return self._coarse_program(settings)[1] in self.scene.machines

    def _coarse_program(self, settings: Settings) -> tuple[Program, Key]:
        """The program of `coarse_hits`, and its machine's key."""
        program = eye_hits(self.scene.traversal(settings))
        return program, self.scene.key(("coarse hits",), program, settings, COARSE_SIZE)


def pack_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    t_max: ArrayLike,
    any_hit: ArrayLike,
    view: bool = False,
    base: Sequence[float] = (0.0, 0.0, 0.0),
) -> tuple[NDArray, NDArray[np.float64]]:
    """`RAY` records (N,) and the scale (N,) of each direction: a power of two, which is exact. base : origin of the
    records' coordinates, world space. Raises ViewerError for shapes that disagree and rays that are not finite."""
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is named below
            if any(base):
                origins = np.asarray(origins, np.float64) - base
            origin, direction = (np.atleast_2d(np.asarray(a, np.float32)) for a in (origins, directions))
            far = np.asarray(t_max, np.float32)
        if origin.ndim != 2 or direction.ndim != 2 or origin.shape[1] != 3 or direction.shape[1] != 3:
            raise ValueError(f"origins {np.shape(origins)}, directions {np.shape(directions)}")
        origin, direction = np.broadcast_arrays(origin, direction)
        far = np.broadcast_to(far, (len(origin),))
        flags = np.broadcast_to(np.asarray(any_hit, bool), (len(origin),))
    except (TypeError, ValueError) as error:
        hint = "origins and directions are (N, 3), t_max and any_hit (N,)"
        raise ViewerError("trace", f"shapes do not fit ({error})", hint) from None
    max_component = np.abs(direction).max(axis=1, initial=0)
    invalid = ~(np.isfinite(origin).all(axis=1) & np.isfinite(max_component) & (max_component > 0) & ~np.isnan(far))
    if invalid.any():
        ray = int(np.flatnonzero(invalid)[0])
        raise ViewerError(
            f"trace: ray {ray}",
            f"origin {origin[ray].tolist()}, direction {direction[ray].tolist()}, t_max {far[ray]} make no ray",
            "numbers must be finite, and directions not zero",
        )
    _, exponent = np.frexp(max_component)
    rays = np.zeros(len(origin), RAY.dtype)
    rays["origin"] = origin
    rays["direction"] = np.ldexp(direction, -exponent[:, None])
    with np.errstate(over="ignore"):
        rays["t_max"] = np.minimum(np.ldexp(far, exponent), FAR)
    rays["any_hit"] = flags + records.RAY_VIEW * view
    return rays, np.ldexp(1.0, -exponent)


def run_rays(machine: Machine, rays: NDArray) -> NDArray:
    """Hits (N,) of record `HIT` of rays (N,) of record `RAY`, N at most that of the machine's streams; the context must
    be current."""
    stream = np.zeros(machine.rays, RAY.dtype)
    stream[: len(rays)] = rays
    machine.write("ray", stream.reshape(machine.size[1], machine.size[0]))
    machine.finish(len(rays))
    return machine.read("hit").reshape(-1)[: len(rays)]


def unpack_hits(records: NDArray, scale: NDArray[np.float64], prepared: PreparedScene) -> Hits:
    """`Hits` from records (N,) of `HIT` in a prepared scene. scale : (N,) of `pack_rays`."""
    hit = records["triangle"] >= 0
    distance = np.full(len(records), np.inf, np.float32)
    # With tiny directions distances overflow float32; such a hit must not become a miss.
    distance[hit] = np.minimum(records["t"][hit] * scale[hit], np.finfo(np.float32).max)
    return Hits(
        distance, prepared.barycentrics(records), prepared.triangle_indices(records), prepared.instance_indices(records)
    )
