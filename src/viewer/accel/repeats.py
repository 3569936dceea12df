"""Triangles that repeat others to the bit: no ray tells them apart, and no split either."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE = 1 << 12  # triangles that are looked at first: enough to find any that a thousandth of all repeat


def without_repeats(corners: NDArray[np.float32], culled: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Corners (T, 3, 3) float32 for a builder: of triangles that are equal the first keeps its corners, and those of
    the others are not numbers, so that they are left out; numbers stay.

    The lower number wins a tie, so that all hits stay as they are; without this every ray that comes near tests each.
    ``culled`` (T,): triangles of which some rays see the front alone, and then what they repeat in their place.
    Scenes of few repeats, of which a sample shows none, are given back as they are.
    """
    count = len(corners)
    if count <= SAMPLE:
        looked = corners
    else:
        numbers = np.unique(np.random.default_rng(0).integers(count, size=SAMPLE))
        looked = corners[numbers]
    if len(np.unique(_hashes(looked))) == len(looked):
        return corners
    bits = np.ascontiguousarray(corners).view(np.uint32).reshape(count, 9)
    _, first, place = np.unique(_hashes(corners), return_index=True, return_inverse=True)
    original = first[place]
    repeats = np.flatnonzero(original != np.arange(count))
    repeats = repeats[(bits[repeats] == bits[original[repeats]]).all(axis=1)]  # not those of equal hashes alone
    if culled is not None:
        repeats = repeats[~culled[original[repeats]]]
    kept = corners.copy()
    kept[repeats] = np.nan
    return kept


def _hashes(corners: NDArray[np.float32]) -> NDArray[np.uint64]:
    """(T,): equal where corners are, to the bit."""
    bits = np.ascontiguousarray(corners).view(np.uint32).reshape(len(corners), 9)
    found = np.zeros(len(bits), np.uint64)
    for column in bits.T:
        found = (found ^ column) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
        found ^= found >> np.uint64(29)
    return found
