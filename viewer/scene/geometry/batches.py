"""Work on many small parts at once: NumPy's calls cost more than their work on a triangle or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.mesh import Float, Int, Mesh


def offsets(counts: ArrayLike) -> NDArray[np.int64]:
    """(N + 1,): each part's first item, where parts of these counts (N,) follow one another, and the total."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def expand_ranges(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The concatenation of the ranges of integers that begin with ``first`` (N,) and have ``counts`` (N,) each."""
    starts = offsets(counts)
    return np.repeat(first - starts[:-1], counts) + np.arange(starts[-1])


class JoinedMeshes(NamedTuple):
    """Meshes as one: positions (V, 3), triangles (T, 3) of them; ``vertices`` and ``faces`` (N + 1,): the first of each
    mesh, and the total."""

    positions: Float
    triangles: Int
    vertices: NDArray[np.int64]
    faces: NDArray[np.int64]


def join_meshes(meshes: Sequence[Mesh]) -> JoinedMeshes:
    """The arrays of all meshes, one after the other; of one mesh its own."""
    vertices, faces = (
        offsets([len(mesh.positions) for mesh in meshes]),
        offsets([len(mesh.triangles) for mesh in meshes]),
    )
    if len(meshes) == 1:
        return JoinedMeshes(meshes[0].positions, meshes[0].triangles, vertices, faces)
    triangles = np.concatenate([mesh.triangles for mesh in meshes])
    triangles += np.repeat(vertices[:-1], np.diff(faces)).astype(np.int32)[:, None]
    return JoinedMeshes(np.concatenate([mesh.positions for mesh in meshes]), triangles, vertices, faces)


def batches(counts: NDArray[np.int64], max_items: int) -> Iterator[slice]:
    """Slices that split parts of these counts (N,) into runs of at most ``max_items`` items, or of a single part."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(ends):
        items_before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, items_before + max_items, side="right")))
        yield slice(first, end)
        first = end


def equal_groups(kinds: NDArray, indices: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Positions in ``indices`` (N,), grouped by equal rows ``kinds[indices]`` of kinds (K, F); in a group, those of one
    index follow one another."""
    if not len(indices):
        return
    _, row_group = np.unique(kinds, axis=0, return_inverse=True)
    groups = row_group.reshape(-1)[indices]
    order = np.lexsort((indices, groups))
    yield from np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
