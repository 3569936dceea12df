"""Rays that are no pictures': arbitrary ones, and those of a coarse view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewer.base.lock import exclusive
from viewer.cameras.lens import lens_uniforms
from viewer.film.device_film import Pixels
from viewer.kernels.records import HIT
from viewer.lighting.sampler import sampler_uniforms
from viewer.programs import LEVELS, eye_hits, trace
from viewer.renderer.device.gpu_scene import DeviceScene
from viewer.renderer.device.machine_pool import Key
from viewer.renderer.sampling.rays import Hits, pack_rays, run_rays, unpack_hits
from viewer.scene.camera import Camera
from viewer.stream.declare.program import Program
from viewer.stream.gl.stream import LARGEST_STREAM, Stream

COARSE = 256, 160  # rays across and down, of `RayTracer.coarse_hits`


class RayTracer(DeviceScene):
    """Traces rays in a scene on a device."""

    _pixel_pass: Pixels | None = None

    def uniforms(self, samples: int = 1) -> dict[str, Any]:
        """The uniforms of paths and random numbers in a run that brings every pixel to so many samples."""
        uniforms = self.settings.path_uniforms(self.first_hits.shared, samples)
        return {**uniforms, **sampler_uniforms(self.settings.seed)}

    @property
    def _pixels(self) -> Pixels:
        if self._pixel_pass is None:
            with self.device.current():
                self._pixel_pass = Pixels(self.device)
        return self._pixel_pass

    @exclusive
    def trace(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        t_max: ArrayLike = np.inf,
        any_hit: ArrayLike = False,
        view: bool = False,
    ) -> Hits:
        """Hits of arbitrary rays.

        origins, directions : (N, 3), world space; directions of any length but zero. t_max : a number or (N,), in units
        of the direction; hits at t_max or beyond do not count. any_hit : a flag or (N,): the first hit found will do.
        view : as the camera sees, to whom back faces that are culled do not count.

        Raises ViewerError for shapes that disagree, and for a ray that is not finite or has no direction.
        """
        self.revive()
        records, scale = pack_rays(origins, directions, t_max, any_hit, view)
        out = np.zeros(len(records), HIT.dtype)
        columns, program = min(1024, self.device.max_texture), trace(LEVELS[self.structure.levels])
        for first in range(0, len(records), LARGEST_STREAM):
            piece = records[first : first + LARGEST_STREAM]
            rows = 1 << (-(-len(piece) // columns) - 1).bit_length()  # few shapes, so that machines are used again
            with self.device.current():
                key = self._key(("trace",), (columns, rows), False, program, self.settings)
                machine = self._machines.take(program, key, self.settings)
                out[first : first + LARGEST_STREAM] = run_rays(machine, piece)
        return unpack_hits(out, scale, self.prepared)

    @exclusive
    def coarse_hits(self, camera: Camera, size: tuple[int, int]) -> Stream:
        """`HIT` of rays through the middles of `COARSE` (width, height) equal parts of a picture of ``size``, row 0 at
        the top: on the device, until the next call. Nothing is read back."""
        rows, columns = slice(0, COARSE[1]), slice(0, COARSE[0])
        with self.device.current():
            program, key = self._coarse()
            hit = self.resources.stream("coarse hit", HIT, COARSE)  # stays, when the machine is not kept any more
            machine = self._machines.take(program, key, self.settings, {"hit": hit})
            machine.borrow({"hit": hit})
            self._pixels.fill(machine.streams["pixel"], (rows, columns))
            view = lens_uniforms(camera.with_lens(0.0), size, "point")
            machine.set({**view, "camera_texel": (2 / COARSE[0], 2 / COARSE[1]), **self.uniforms()})
            machine.finish()
        return hit

    def coarse_hits_ready(self) -> bool:
        """Whether `coarse_hits` will run without compiling."""
        return self._coarse()[1] in self._machines

    def _coarse(self) -> tuple[Program, Key]:
        program = eye_hits(LEVELS[self.structure.levels])
        return program, self._key(("coarse hits",), COARSE, False, program, self.settings)

    def trace_ready(self) -> bool:
        """Whether `trace` of a few rays will run without compiling."""
        return any(key.what == ("trace",) and key.passes == self.settings.passes for key in self._machines)
