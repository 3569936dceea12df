"""Triangles that deform, or move in world space, while a shutter is open: their corners at the keys, and for grids
their boxes over all of them (trees: `raystream.accel.bvh_tree`). Between two keys corners are linear, and so within
the boxes of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from raystream.accel.primitives import box_triangles
from raystream.base.errors import ViewerError
from raystream.base.ordered import distinct
from raystream.kernels.records import TRIANGLE
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, Field, Record

KEYS = Field("keys", "int", about="address of its first key; -1: it stands still", within=ROWS)
TRIANGLE_KEY = Record("TriangleKey", *TRIANGLE.fields[:3])
MOTION, DEFORMING = "MOTION", "DEFORMING"  # features of the scene
ROUNDING = 2.0**-21  # of corners: more than the errors of sum and product between two keys


@dataclass(frozen=True)
class Moving:
    """The moving triangles of a table. indices : (M,), ascending. corners : (K, M, 3, 3) float32, at each key."""

    indices: NDArray[np.intp]
    corners: NDArray[np.float32]

    @classmethod
    def of(cls, keys: Sequence[NDArray[np.float32]] | NDArray[np.float32]) -> Moving | None:
        """The triangles whose corners (T, 3, 3) differ among the keys; None where there are none."""
        differs = np.zeros(len(keys[0]), bool)
        for other in keys[1:]:
            differs |= (keys[0] != other).reshape(-1, 9).any(axis=1)
        indices = np.flatnonzero(differs)
        if not len(indices):
            return None
        if len(indices) == len(differs) and isinstance(keys, np.ndarray):
            return cls(indices, keys)
        return cls(indices, np.stack([key[indices] for key in keys]))

    def boxes(self) -> NDArray[np.float32]:
        """(M, 2, 3): lowest and highest corner over all keys; NaN where a corner is not finite."""
        low, high = self.corners.min(axis=(0, 2)), self.corners.max(axis=(0, 2))
        margin = np.float32(ROUNDING) * np.maximum(np.abs(low), np.abs(high))
        return np.stack([low - margin, high + margin], axis=1)

    def mean_boxes(self) -> NDArray[np.float32]:
        """(M, 2, 3): the means of lowest and highest corners over the keys; not finite where a corner is not."""
        means = [end.mean(axis=0, dtype=np.float64).astype(np.float32) for end in corner_bounds(self.corners)]
        return np.stack(means, axis=1)

    def rows(self, order: NDArray[np.integer]) -> NDArray[np.int32]:
        """(N,) addresses of the first keys of the triangles ``order`` (N,), -1 of those that stand still."""
        addresses = np.full(1 + max(int(order.max(initial=0)), int(self.indices.max(initial=0))), -1, np.int32)
        addresses[self.indices] = np.arange(len(self.indices)) * len(self.corners)
        return addresses[order]


def corner_bounds(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Lowest and highest corners (..., 3) of triangles (..., 3, 3); a reduction along so short an axis is slow."""
    a, b, c = (corners[..., k, :] for k in range(3))
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def builder_corners(
    corners: NDArray[np.float32],
    moving: Moving | None,
    culled: NDArray[np.bool_] | None = None,
    mean: bool = False,
) -> NDArray[np.float32]:
    """Corners (T, 3, 3) for builders, without repeated triangles: of those that move, a triangle over their box.
    culled : as of `without_duplicates`. mean : over their mean box, for trees whose boxes follow."""
    if moving is None:
        return without_duplicates(corners, culled)
    static = corners.copy()
    static[moving.indices] = np.nan  # two that are equal at one time need not be so at others
    bounds = without_duplicates(static, culled)
    bounds[moving.indices] = box_triangles(moving.mean_boxes() if mean else moving.boxes())
    return bounds


def with_keys(test: Module, moving: Moving, order: NDArray[np.int32] | None = None) -> Module:
    """A triangle test of `raystream.accel.primitives` over triangles of which some move. order : of the table, of which
    ``moving`` has the indices; by default their own. Raises ViewerError for the test by planes."""
    table, *other_memories = test.memories
    assert isinstance(table, Table)
    if table.record.fields[:3] != TRIANGLE.fields[:3]:
        raise ViewerError(
            "--intersection planes", "takes no triangles that move while the shutter is open", "take watertight"
        )
    record = Record(table.record.name, *table.record.fields, KEYS)
    rows = np.zeros(len(table.data), record.dtype)
    for name in table.data.dtype.names or ():
        rows[name] = table.data[name]
    rows["keys"] = moving.rows(np.arange(len(rows)) if order is None else order)
    count, moving_count = moving.corners.shape[:2]
    keys = np.empty((moving_count, count, 9), np.float32)
    keys[:] = moving.corners.reshape(count, moving_count, 9).transpose(1, 0, 2)
    return replace(
        test,
        memories=(
            Table(table.name, record, rows, hot=table.hot),
            Table("triangle_keys", TRIANGLE_KEY, keys.ravel().view(TRIANGLE_KEY.dtype)),
            *other_memories,
        ),
        uniforms={**test.uniforms, "triangle_segments": ("int", len(moving.corners) - 1)},
        features=test.features | {MOTION, DEFORMING},
    )


SAMPLE_SIZE = 1 << 12  # triangles in the first sample: enough to detect duplicates of a thousandth of all


def without_duplicates(corners: NDArray[np.float32], culled: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Corners (T, 3, 3) float32 for a builder: of equal triangles the first keeps its corners, the others become NaN,
    so that they are left out; indices stay.

    The lower index wins a tie anyway, so hits do not change; without this every nearby ray tests each duplicate.
    ``culled`` (T,): triangles whose back face some rays pass through; these do not replace others. Scenes with few
    duplicates, none in a sample, are returned unchanged.
    """
    count = len(corners)
    if count <= SAMPLE_SIZE:
        sample = corners
    else:
        sample = corners[distinct(_random_bits(SAMPLE_SIZE) % np.uint64(count))]
    if len(distinct(_hashes(sample))) == len(sample):
        return corners
    bits = np.ascontiguousarray(corners).view(np.uint32).reshape(count, 9)
    _, first, inverse = np.unique(_hashes(corners), return_index=True, return_inverse=True)
    original = first[inverse]
    repeats = np.flatnonzero(original != np.arange(count))
    repeats = repeats[(bits[repeats] == bits[original[repeats]]).all(axis=1)]  # not those with merely equal hashes
    if culled is not None:
        repeats = repeats[~culled[original[repeats]]]
    unique = corners.copy()
    unique[repeats] = np.nan
    return unique


def _random_bits(count: int) -> NDArray[np.uint64]:
    """(count,) random numbers, always the same, by SplitMix64 (Steele, Lea and Flood 2014): NumPy's own generators take
    longer to load than a scene of some thousand triangles to read."""
    state = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(state ^ (state >> np.uint64(31)))


def _hashes(corners: NDArray[np.float32]) -> NDArray[np.uint64]:
    """(T,): equal for bitwise equal corners."""
    bits = np.ascontiguousarray(corners).view(np.uint32).reshape(len(corners), 9)
    hashes = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
        hashes ^= hashes >> np.uint64(29)
    return hashes
