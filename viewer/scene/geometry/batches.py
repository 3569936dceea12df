"""Work on many small parts at once: NumPy's calls cost more than their work on a triangle or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.mesh import Float, Int, Mesh


def offsets(counts: ArrayLike) -> NDArray[np.int64]:
    """(N + 1,): the first item of each part where parts of these counts (N,) follow one another, and the total."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from ``first`` (N,) on, ``counts`` (N,) of each, one range after the other."""
    starts = offsets(counts)
    return np.repeat(first - starts[:-1], counts) + np.arange(starts[-1])


class Joined(NamedTuple):
    """Meshes as one: positions (V, 3), triangles (T, 3) of them; ``vertices`` and ``faces`` (N + 1,): the first of each
    mesh, and the total."""

    positions: Float
    triangles: Int
    vertices: NDArray[np.int64]
    faces: NDArray[np.int64]


def joined(meshes: Sequence[Mesh]) -> Joined:
    """The arrays of all meshes, one after the other; of one mesh its own."""
    vertices, faces = (
        offsets([len(mesh.positions) for mesh in meshes]),
        offsets([len(mesh.triangles) for mesh in meshes]),
    )
    if len(meshes) == 1:
        return Joined(meshes[0].positions, meshes[0].triangles, vertices, faces)
    triangles = np.concatenate([mesh.triangles for mesh in meshes])
    triangles += np.repeat(vertices[:-1], np.diff(faces)).astype(np.int32)[:, None]
    return Joined(np.concatenate([mesh.positions for mesh in meshes]), triangles, vertices, faces)


def batches(counts: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Runs of parts of these counts (N,), each of at most ``most`` items or of a single part."""
    ends = np.cumsum(counts)
    at = 0
    while at < len(ends):
        before = int(ends[at - 1]) if at else 0
        end = max(at + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(at, end)
        at = end


def alike(kinds: NDArray, indices: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """The places of ``indices`` (N,), grouped by the row of ``kinds`` (K, F) that each names; those of an index follow
    one another."""
    if not len(indices):
        return
    _, kind = np.unique(kinds, axis=0, return_inverse=True)
    item_kinds = kind.reshape(-1)[indices]
    order = np.lexsort((indices, item_kinds))
    yield from np.split(order, np.flatnonzero(np.diff(item_kinds[order])) + 1)
