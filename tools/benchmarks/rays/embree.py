"""Embree on the same triangles and rays, as the yardstick: one process per thread, since embreex holds Python's lock.

Rays are distributed in bands of rows beforehand; only tracing is timed, from the start signal to the last process's
hits. The rate is that of single rays (`rtcIntersect1`) with the robust flag, as in the tests.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def available() -> bool:
    """Whether embreex is installed."""
    return find_spec("embreex") is not None


class Embree:
    """A context: processes with the scene and their part of the rays.

    corners (T, 3, 3) float32; origins, directions (R, 3). ends: (R,) distances of shadow rays, tested only for any
    nearer hit.
    """

    def __init__(
        self, corners: NDArray, origins: NDArray, directions: NDArray, threads: int, ends: NDArray | None = None
    ) -> None:
        self.threads = threads
        self._parts = np.array_split(np.arange(len(origins)), threads)
        self._arrays = {"corners": corners, "origins": origins, "directions": directions}
        if ends is not None:
            self._arrays["ends"] = ends
        self._workers: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []

    def __enter__(self) -> Embree:
        context = multiprocessing.get_context("spawn")
        with tempfile.TemporaryDirectory() as folder:
            for name, array in self._arrays.items():
                np.save(Path(folder) / f"{name}.npy", np.ascontiguousarray(array, np.float32))
            for part in self._parts:
                here, there = context.Pipe()
                bounds = (int(part[0]), int(part[-1]) + 1) if len(part) else (0, 0)
                worker = context.Process(target=_work, args=(folder, *bounds, there), daemon=True)
                worker.start()
                there.close()
                self._workers.append((worker, here))
            for _, pipe in self._workers:
                pipe.recv()  # built
        return self

    def __exit__(self, *_: object) -> None:
        for worker, pipe in self._workers:
            pipe.close()
            worker.join(5)
            if worker.is_alive():
                worker.kill()

    def run(self) -> float:
        """Trace all rays once; CPU seconds of the processes."""
        for _, pipe in self._workers:
            pipe.send("run")
        return float(sum(pipe.recv() for _, pipe in self._workers))

    def triangles(self) -> NDArray[np.int32]:
        """(R,) the first triangle hit by each ray, -1 for none; for shadow rays any number in case of a hit."""
        for _, pipe in self._workers:
            pipe.send("triangles")
        return np.concatenate([pipe.recv() for _, pipe in self._workers])


def _work(folder: str, first: int, last: int, pipe: Connection) -> None:
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scene = EmbreeScene(robust=True)
    TriangleMesh(scene, np.load(Path(folder) / "corners.npy"))
    origins = np.load(Path(folder) / "origins.npy")[first:last]
    directions = np.load(Path(folder) / "directions.npy")[first:last]
    hits = scene.run(origins[:1], directions[:1])  # Embree builds its tree at the first query
    file = Path(folder) / "ends.npy"
    more = (np.load(file)[first:last], "OCCLUDED") if file.is_file() else ()
    pipe.send("built")
    while True:
        try:
            wish = pipe.recv()
        except EOFError:
            return
        if wish == "triangles":
            pipe.send(hits)
            continue
        started = time.process_time()
        hits = scene.run(origins, directions, *more)
        pipe.send(time.process_time() - started)
