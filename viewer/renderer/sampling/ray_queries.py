"""Rays that are no pictures': arbitrary ones, and those of a coarse view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.cameras.lens import lens_uniforms
from viewer.kernels.records import HIT
from viewer.programs import LEVELS, eye_hits, trace
from viewer.renderer.device.gpu_scene import GpuScene
from viewer.renderer.device.machine_pool import Key
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.sampling.rays import Hits, run_rays, unpack_hits
from viewer.scene.camera import Camera
from viewer.stream.declare.program import Program
from viewer.stream.gl.stream import LARGEST_STREAM, Stream

COARSE = 256, 160  # rays across and down, of `RayQueries.coarse_hits`


class RayQueries:
    """Hits of rays in a scene on a device."""

    def __init__(self, scene: GpuScene) -> None:
        self.scene = scene

    def trace(self, settings: Settings, rays: NDArray, scale: NDArray[np.float64]) -> Hits:
        """Hits of arbitrary rays (N,) with their scale, as of `pack_rays`, by the machine of ``settings``."""
        scene = self.scene
        out = np.zeros(len(rays), HIT.dtype)
        columns, program = min(1024, scene.device.max_texture), trace(LEVELS[scene.structure.levels])
        for first in range(0, len(rays), LARGEST_STREAM):
            piece = rays[first : first + LARGEST_STREAM]
            rows = 1 << (-(-len(piece) // columns) - 1).bit_length()  # few shapes, so that machines are used again
            with scene.device.current():
                key = scene.key(("trace",), program, settings, (columns, rows))
                machine = scene.machines.take(program, key, settings)
                out[first : first + LARGEST_STREAM] = run_rays(machine, piece)
        return unpack_hits(out, scale, scene.prepared)

    def trace_ready(self, settings: Settings) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key.identity == ("trace",) and key.passes == settings.passes for key in self.scene.machines)

    def coarse_hits(self, settings: Settings, camera: Camera, size: tuple[int, int]) -> Stream:
        """`HIT` of rays through the middles of `COARSE` (width, height) equal parts of a picture of ``size``, row 0 at
        the top: on the device, until the next call. Nothing is read back."""
        scene, rectangle = self.scene, (slice(0, COARSE[1]), slice(0, COARSE[0]))
        with scene.device.current():
            program, key = self._coarse(settings)
            hit = scene.resources.stream("coarse hit", HIT, COARSE)  # stays, when the machine is not kept any more
            machine = scene.machines.take(program, key, settings, {"hit": hit})
            machine.borrow({"hit": hit})
            scene.pixels.fill(machine.streams["pixel"], rectangle)
            view = lens_uniforms(camera.with_lens(0.0), size, "point")
            shared = scene.first_hits(settings, camera).shared
            texel = {"camera_texel": (2 / COARSE[0], 2 / COARSE[1])}
            machine.set({**view, **texel, **scene.prepared.sample_uniforms(program, settings, shared)})
            machine.finish()
        return hit

    def coarse_hits_ready(self, settings: Settings) -> bool:
        """Whether `coarse_hits` will run without compiling."""
        return self._coarse(settings)[1] in self.scene.machines

    def _coarse(self, settings: Settings) -> tuple[Program, Key]:
        program = eye_hits(LEVELS[self.scene.structure.levels])
        return program, self.scene.key(("coarse hits",), program, settings, COARSE)
