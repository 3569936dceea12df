"""A renderer in its own process: job, answers, and the parent's side of the protocol.

Peers render the same scene, camera and path length as Raystream. Each runs in a new process, so that its CPU time is
its own. Its Python is ``RAYSTREAM_PEERS_PYTHON``, as some peers are built for a single version; by default this one.
That Python needs NumPy and the peer, nothing of Raystream.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

TOOLS = Path(__file__).resolve().parents[2]


class Missing(Exception):
    """A peer that cannot be measured here; the text is one line with name and reason."""


@dataclass(frozen=True)
class Job:
    """A peer's job.

    title : name if missing. module : of `benchmarks`, with a function ``make(job)``. variant, sampler : of the
    renderer, by its own names. scene : the file for Raystream. arrays : for the others, see `write_arrays`. size :
    width and height, pixels. surfaces : of a path. device : for Raystream, see `Options`. view : of a model that peers
    read from the scene's file themselves: ``origin``, ``target``, ``up``, ``fov_vertical``; ``environment``, a file.
    """

    title: str
    module: str
    variant: str
    sampler: str
    scene: str
    arrays: str
    size: tuple[int, int]
    surfaces: int
    threads: int
    device: int | None = None
    view: dict[str, Any] | None = None


class Peer(Protocol):
    """A renderer with a scene loaded. version : of the renderer. compiles : whether every new number of samples
    compiles, and needs an untimed picture first."""

    version: str
    compiles: bool

    def render(self, samples: int, seed: int) -> int:
        """Render a picture of ``samples`` per pixel, the timed call; returns the samples taken."""

    def picture(self) -> NDArray[np.float32]:
        """(H, W, 3): the last picture, linear sRGB, row 0 on top."""


def write_arrays(path: Path, scene: Any) -> None:
    """Write a `raystream.Scene` for peers as NumPy's npz; all surfaces flat and Lambertian, black environment.

    positions (V, 3) float32, triangles (T, 3), materials (T,) int32: world space. base_color, emission (M, 3) linear
    sRGB and radiance, emitted by front faces. origin, target, up (3,) and fov: the camera, vertical degrees. Raises
    Missing for another kind of material, texture or light.
    """
    triangles, camera = scene.tessellated().flatten(), scene.camera()
    if any(m.kind != "lambert" or m.texture is not None or m.emission_texture is not None for m in scene.materials):
        raise Missing(f"{scene.name}: peers are given plain Lambert materials only")
    if scene.lights:
        raise Missing(f"{scene.name}: peers are given emitting surfaces only")
    np.savez(
        path,
        positions=triangles.positions,
        triangles=triangles.triangles,
        materials=triangles.materials,
        base_color=np.array([material.base_color[:3] for material in scene.materials], np.float32),
        emission=np.array([material.emission for material in scene.materials], np.float32),
        origin=np.array(camera.origin),
        target=np.array(camera.target),
        up=np.array(camera.up),
        fov=np.array(camera.fov),
    )


def by_material(arrays: Any) -> list[tuple[int, NDArray[np.float32], NDArray[np.int64]]]:
    """Number, positions (V, 3) and triangles (T, 3) of every material in use."""
    found = []
    for number in range(len(arrays["base_color"])):
        corners = arrays["triangles"][arrays["materials"] == number]
        used, indices = np.unique(corners, return_inverse=True)
        if len(used):
            found.append((number, arrays["positions"][used], indices.reshape(-1, 3)))
    return found


# -- the parent's side ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shot:
    """A picture (H, W, 3), samples per pixel, seconds of the renderer's call, and CPU seconds of its process (user and
    system, all threads)."""

    picture: NDArray[np.float32]
    samples: int
    seconds: float
    cpu_seconds: float


class Process:
    """A context: a peer's process. Entering raises Missing if the peer is not installed or does not start.

    start : seconds from the process's start to a first picture, of one sample. phases : of these the imports, the
    scene, and that picture with its compilation. version : the renderer's.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.start, self.phases, self.version = 0.0, dict[str, float](), ""
        self._stack: list[Callable[[], Any]] = []

    def __enter__(self) -> Process:
        folder = tempfile.TemporaryDirectory(prefix="raystream-bench-")
        self._out = Path(folder.name) / "picture.npy"
        self._errors = open(Path(folder.name) / "stderr", "w+b")
        own = self.job.module == "peers_raystream"
        python = sys.executable if own else os.environ.get("RAYSTREAM_PEERS_PYTHON") or sys.executable
        command = [python, "-m", "benchmarks.noise.peer_process", json.dumps(asdict(self.job))]
        folders = filter(None, [os.environ.get("PYTHONPATH")])  # under PYTHONSAFEPATH the current one is none of them
        self._stack = [folder.cleanup, self._errors.close]
        started = perf_counter()
        try:
            self._child = subprocess.Popen(
                command,
                cwd=TOOLS,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TOOLS), *folders])},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            self._leave()
            raise Missing(f"{self.job.title}: {python} does not start: {error.strerror}") from None
        self._stack.append(self._end)
        try:
            answer = self._answer()
            if "missing" in answer:
                raise Missing(answer["missing"])
        except BaseException:
            self._leave()
            raise
        self.start = perf_counter() - started
        self.phases, self.version = answer["phases"], answer["version"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def render(self, samples: int, seed: int) -> Shot:
        """Render a picture. Raises Missing if the process fails."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps({"samples": samples, "seed": seed, "out": str(self._out)}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._failed() from None
        answer = self._answer()
        return Shot(np.load(self._out), answer["samples"], answer["seconds"], answer["cpu_seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise self._failed()
        return json.loads(line)

    def _failed(self) -> Missing:
        """The process's error message: the last line of a Python traceback, else the first line."""
        status = self._child.wait()
        self._errors.seek(0)
        lines = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        traced = any(line.startswith("Traceback") for line in lines)
        told = (lines[-1] if traced else lines[0]).strip()[:160] if lines else "no message"
        return Missing(f"{self.job.title}: its process ended with status {status}: {told}")

    def _end(self) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()  # the process ends with its standard input
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()

    def _leave(self) -> None:
        while self._stack:
            self._stack.pop()()
