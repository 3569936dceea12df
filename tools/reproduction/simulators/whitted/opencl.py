"""The thesis's OpenCL column: its four kernels by pyopencl on whatever device is there, pocl's processor among them.

As there, the host reads the hits of a level back and sorts its rays into those for the cube map and those for the
renderer (T 6.4, figure 6-16); each level is a layer that is added to the picture.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.camera import Camera
from reproduction.simulators.emulation import Frame
from reproduction.simulators.whitted import loops
from reproduction.simulators.whitted.model import Traced

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
