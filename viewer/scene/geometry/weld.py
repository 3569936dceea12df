"""Welding: vertices of equal bits are merged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run


def weld(words: NDArray[np.uint32], small: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows of equal bits, numbered by first appearance: (number of each row (N,), first row of each number).

    words (N, K); -0.0 counts as 0.0 (the same position). small : too few for a compiled loop.
    """
    count = len(words)
    table = np.full(max(16, 1 << (2 * count - 1).bit_length()), -1, np.int32)
    number, first = np.empty(count, np.int32), np.empty(count, np.int32)
    distinct = run(_weld, words, table, number, first, small=small)
    return number, first[:distinct]


def _weld(words, table, number, first):
    """See `weld`; returns the count of numbers. number, first (N,) int32, written.

    Open addressing with linear probing; table (S,) int32: -1, S a power of two and at least 2 N.
    """
    count, width = words.shape
    size = len(table)
    distinct = 0
    mask = np.uint64(size - 1)
    for row in range(count):
        key = np.uint64(0x9E3779B97F4A7C15)
        for k in range(width):
            word = words[row, k]
            if word == np.uint32(0x80000000):
                word = np.uint32(0)
            key ^= np.uint64(word)
            key *= np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(29)
        slot = np.int64(key & mask)
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = distinct
                first[distinct] = row
                number[row] = distinct
                distinct += 1
                break
            same = True
            for k in range(width):
                a, b = words[row, k], words[first[other], k]
                if a != b and not ((a | b) == np.uint32(0x80000000) and (a & b) == np.uint32(0)):
                    same = False
                    break
            if same:
                number[row] = other
                break
            slot += 1
            if slot == size:
                slot = np.int64(0)
    return distinct
