"""Exact duplicates of triangles: indistinguishable for rays, and inseparable by splits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.base.ordered import distinct

SAMPLE = 1 << 12  # triangles in the first sample: enough to detect duplicates of a thousandth of all


def without_repeats(corners: NDArray[np.float32], culled: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Corners (T, 3, 3) float32 for a builder: of equal triangles the first keeps its corners, the others become NaN,
    so that they are left out; numbers stay.

    The lower number wins a tie anyway, so hits do not change; without this every nearby ray tests each duplicate.
    ``culled`` (T,): triangles whose back face some rays pass through; these do not replace others. Scenes with few
    duplicates, none in a sample, are returned unchanged.
    """
    count = len(corners)
    if count <= SAMPLE:
        looked = corners
    else:
        looked = corners[distinct(_random_bits(SAMPLE) % np.uint64(count))]
    if len(distinct(_hashes(looked))) == len(looked):
        return corners
    bits = np.ascontiguousarray(corners).view(np.uint32).reshape(count, 9)
    _, first, place = np.unique(_hashes(corners), return_index=True, return_inverse=True)
    original = first[place]
    repeats = np.flatnonzero(original != np.arange(count))
    repeats = repeats[(bits[repeats] == bits[original[repeats]]).all(axis=1)]  # not those with merely equal hashes
    if culled is not None:
        repeats = repeats[~culled[original[repeats]]]
    kept = corners.copy()
    kept[repeats] = np.nan
    return kept


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
    found = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        found = (found ^ column) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
        found ^= found >> np.uint64(29)
    return found
