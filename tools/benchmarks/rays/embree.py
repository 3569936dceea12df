"""Embree on the same triangles and rays, as the yardstick: one process per thread, since embreex holds Python's lock.

Rays are distributed in bands of rows beforehand; only tracing is timed, from the start signal to the last process's
hits. The rate is that of single rays (`rtcIntersect1`) with the robust flag, as in the tests.
"""

from __future__ import annotations

import multiprocessing
import time
from importlib.util import find_spec
from multiprocessing.connection import Connection

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
        rays = [array for array in (origins, directions, ends) if array is not None]
        parts = zip(*(np.array_split(np.asarray(array, np.float32), threads) for array in rays), strict=True)
        self._arrays = [(np.ascontiguousarray(corners, np.float32), *part) for part in parts]
        self._workers: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []

    def __enter__(self) -> Embree:
        context = multiprocessing.get_context("spawn")
        for arrays in self._arrays:
            here, there = context.Pipe()
            worker = context.Process(target=_work, args=(there, *arrays), daemon=True)
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


def _work(pipe: Connection, corners: NDArray, origins: NDArray, directions: NDArray, *ends: NDArray) -> None:
    from embreex.mesh_construction import TriangleMesh
    from embreex.rtcore_scene import EmbreeScene

    scene = EmbreeScene(robust=True)
    TriangleMesh(scene, corners)
    hits = scene.run(origins[:1], directions[:1])  # Embree builds its tree at the first query
    more = (*ends, "OCCLUDED") if ends else ()
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
