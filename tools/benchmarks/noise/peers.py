"""A renderer in its own process: job, answers, both sides of the protocol, and Raystream as one of the renderers.

Peers render the same scene, camera and path length as Raystream. Each runs in a new process, so that its CPU time is
its own. Its Python is ``RAYSTREAM_PEERS_PYTHON``, as some peers are built for a single version; by default this one.
That Python needs NumPy and the peer, nothing of Raystream.

    python -m benchmarks.noise.peers JOB

loads a scene, then renders a picture per line of standard input. Requests and answers are lines of JSON; the renderer's
own output goes to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

TOOLS = Path(__file__).resolve().parents[2]
PHASES = ("import", "scene", "first picture")


class Missing(Exception):
    """A peer that cannot be measured here; the text is one line with name and reason."""


@dataclass(frozen=True)
class Job:
    """A peer's job.

    title : name if missing. module : of this folder, with ``load(job)``, which imports, and ``make(job)``, which gives
    a `Peer`. variant, sampler : of the renderer, by its own names. scene : the file for Raystream. arrays : for the
    others, see `write_arrays`. size : width and height, pixels. surfaces : of a path. device : for Raystream, see
    `Options`. view : of a model that peers read from the scene's file themselves: ``origin``, ``target``, ``up``,
    ``fov_vertical``; ``environment``, a file.
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
    base_color = np.array([material.base_color[:3] for material in scene.materials], np.float32)
    emission = np.array([material.emission for material in scene.materials], np.float32)
    view: dict[str, Any] = {name: np.array(getattr(camera, name)) for name in ("origin", "target", "up", "fov")}
    mesh: dict[str, Any] = {name: getattr(triangles, name) for name in ("positions", "triangles", "materials")}
    np.savez(path, base_color=base_color, emission=emission, **mesh, **view)


def by_material(arrays: Any) -> list[tuple[int, NDArray[np.float32], NDArray[np.int64]]]:
    """Number, positions (V, 3) and triangles (T, 3) of every material in use."""
    parts = []
    for number in range(len(arrays["base_color"])):
        corners = arrays["triangles"][arrays["materials"] == number]
        used, indices = np.unique(corners, return_inverse=True)
        if len(used):
            parts.append((number, arrays["positions"][used], indices.reshape(-1, 3)))
    return parts


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

    def __enter__(self) -> Process:
        own = self.job.module == "peers"
        python = sys.executable if own else os.environ.get("RAYSTREAM_PEERS_PYTHON") or sys.executable
        command = [python, "-m", "benchmarks.noise.peers", json.dumps(asdict(self.job))]
        # Under PYTHONSAFEPATH the current folder is none of the path's.
        folders = os.pathsep.join([str(TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment, started = {**os.environ, "PYTHONPATH": folders}, perf_counter()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="raystream-bench-")))
            self._out = folder / "picture.npy"
            self._errors = stack.enter_context(open(folder / "stderr", "w+b"))
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
            try:
                self._child = subprocess.Popen(command, cwd=TOOLS, env=environment, encoding="utf-8", **pipes)
            except OSError as error:
                raise Missing(f"{self.job.title}: {python} does not start: {error.strerror}") from None
            stack.callback(self._end)
            answer = self._answer()
            if "missing" in answer:
                raise Missing(answer["missing"])
            self._stack = stack.pop_all()
        self.start, self.phases, self.version = perf_counter() - started, answer["phases"], answer["version"]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def render(self, samples: int, seed: int) -> Shot:
        """Render a picture. Raises Missing if the process fails."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps({"samples": samples, "seed": seed, "out": str(self._out)}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._failed() from None
        answer = self._answer()
        return Shot(np.load(self._out), **answer)

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
        message = (lines[-1] if traced else lines[0]).strip()[:160] if lines else "no message"
        return Missing(f"{self.job.title}: its process ended with status {status}: {message}")

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


# -- the child's side ----------------------------------------------------------------------------------------------


def serve(text: str) -> None:
    """Answer requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    fields = json.loads(text)
    job = Job(**{**fields, "size": tuple(fields["size"])})
    at = [perf_counter()]
    try:
        module = import_module(f"benchmarks.noise.{job.module}")
        module.load(job)
        at.append(perf_counter())
        peer: Peer = module.make(job)
        at.append(perf_counter())
        peer.render(1, 0)
        at.append(perf_counter())
    except Missing as error:
        send({"missing": str(error)})
        return
    send({"version": peer.version, "phases": dict(zip(PHASES, np.diff(at).tolist(), strict=True))})
    compiled: set[int] = set()
    for line in sys.stdin:
        wish = json.loads(line)
        if peer.compiles and wish["samples"] not in compiled:
            peer.render(wish["samples"], 0)
            compiled.add(wish["samples"])
        wall, cpu = perf_counter(), process_time()
        samples = peer.render(wish["samples"], wish["seed"])
        wall, cpu = perf_counter() - wall, process_time() - cpu
        np.save(wish["out"], peer.picture())
        send({"samples": samples, "seconds": wall, "cpu_seconds": cpu})


# -- Raystream as one of them --------------------------------------------------------------------------------------


def load(job: Job) -> None:
    """Import Raystream."""
    sys.path.insert(0, str(TOOLS / "editable"))  # the checkout precedes an installed package
    import raystream

    assert raystream.Renderer is not None  # imported on access


class Raystream:
    """Path tracing by `raystream.Renderer` as called by a script, on the machine of the job's variant, all other
    options at their defaults."""

    compiles = False

    def __init__(self, job: Job) -> None:
        import raystream

        self.version, self._size = raystream.__version__, job.size
        options: dict[str, Any] = {"machine": job.variant, "sampler": job.sampler, "depth": job.surfaces}
        if job.view is not None:
            camera = raystream.Camera(*(job.view[name] for name in ("origin", "target", "up", "fov_vertical")))
            options |= {"camera": camera, "environment": job.view["environment"], "pixel_filter": "box"}
            options["back_faces"] = "shown"
        self._renderer = raystream.Renderer(raystream.load(job.scene), program="path", device=job.device, **options)

    def render(self, samples: int, seed: int) -> int:
        """See `Peer`: times `Renderer.render`, with the picture read back."""
        self._renderer.update(seed=seed)
        self._picture = self._renderer.render(self._size, spp=samples).linear
        return samples

    def picture(self) -> NDArray[np.float32]:
        """See `Peer`."""
        return self._picture


make = Raystream

if __name__ == "__main__":
    from benchmarks.noise import peers  # the module that peers import: its exceptions are theirs

    peers.serve(sys.argv[1])
