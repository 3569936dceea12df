"""Which numbers a pixel's samples see, and how often: exact counts, ranked for files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_PAIRS = 1 << 22  # that are kept apart before equal ones are counted together


class Coverage:
    """Counts of numbers over the samples of a picture's pixels; -1 is none.

    Most pixels see one number alone, which is counted in place; all others are pairs of a pixel and a number.
    """

    def __init__(self, pixels: int, numbers: int) -> None:
        """numbers : they are from 0 to below it."""
        self.pixels, self.numbers = pixels, max(1, numbers)
        self._first = np.full(pixels, -1, np.int64)
        self._count = np.zeros(pixels, np.int32)
        self._others: list[NDArray[np.int64]] = []
        self._merged = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, numbers: NDArray) -> None:
        """One sample of every pixel: (pixels,) numbers."""
        numbers = numbers.astype(np.int64)
        fresh = (self._first < 0) & (numbers >= 0)
        np.copyto(self._first, numbers, where=fresh)
        same = (numbers == self._first) & (numbers >= 0)
        self._count += same
        other = np.flatnonzero(~same & (numbers >= 0))
        if other.size:
            self._others.append(other * self.numbers + numbers[other])
            if sum(map(len, self._others)) > MOST_PAIRS:
                self._merge()

    def _merge(self) -> None:
        keys = np.concatenate([self._merged[0], *self._others])
        counts = np.concatenate([self._merged[1], np.ones(len(keys) - len(self._merged[0]), np.int64)])
        self._others, self._merged = [], summed(keys, counts)

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pixels, numbers and counts (P,): each pair once."""
        self._merge()
        keys, counts = self._merged
        covered = np.flatnonzero(self._first >= 0)
        pixels = np.concatenate([covered, keys // self.numbers])
        numbers = np.concatenate([self._first[covered], keys % self.numbers])
        return pixels, numbers, np.concatenate([self._count[covered].astype(np.int64), counts])


def summed(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different keys in order, and the sum of each one's counts."""
    unique_keys, places = np.unique(keys, return_inverse=True)
    return unique_keys, np.bincount(places, counts, len(unique_keys)).astype(np.int64)


def ranked(
    pixels: NDArray[np.int64], numbers: NDArray[np.int64], counts: NDArray[np.int64], size: int, ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(size, ranks) each: the most frequent numbers of each of ``size`` pixels, -1 for none, and their counts; of
    equal counts the lower number first."""
    order = np.lexsort((numbers, -counts, pixels))
    pixels, numbers, counts = pixels[order], numbers[order], counts[order]
    begins = np.searchsorted(pixels, pixels, side="left")
    rank = np.arange(len(pixels)) - begins
    within = rank < ranks
    ranked_numbers, times = np.full((size, ranks), -1, np.int64), np.zeros((size, ranks), np.int64)
    ranked_numbers[pixels[within], rank[within]] = numbers[within]
    times[pixels[within], rank[within]] = counts[within]
    return ranked_numbers, times
