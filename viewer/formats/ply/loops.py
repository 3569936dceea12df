"""The compiled loops over binary PLY with lists of varying length."""

from __future__ import annotations

import numpy as np


def traversal(data, at, count, length_sizes, length_signed, sizes, big, wanted):
    """Where the wanted properties of every entry begin.

    length_sizes (P,): bytes of a list's length, 0 for scalars; sizes (P,): bytes of a value; big: big-endian.
    Returns (starts (W, count), lengths (W, count), where it ended, the entry that runs past the end or -1).
    """
    end = len(data)
    starts = np.empty((len(wanted), count), np.int64)
    lengths = np.empty((len(wanted), count), np.int64)
    for row in range(count):
        for p in range(len(sizes)):
            length = 1
            width = length_sizes[p]
            if width > 0:
                if at + width > end:
                    return starts, lengths, at, row
                length = 0
                for k in range(width):
                    byte = np.int64(data[at + k if big else at + width - 1 - k])
                    if k == 0 and length_signed[p] and byte >= 128:
                        return starts, lengths, at, row
                    if length > (1 << 40):
                        return starts, lengths, at, row
                    length = length * 256 + byte  # type: ignore[assignment]
                at += width
            if length < 0 or length > (end - at) // sizes[p]:
                return starts, lengths, at, row
            for w in range(len(wanted)):
                if wanted[w] == p:
                    starts[w, row] = at
                    lengths[w, row] = length
            at += length * sizes[p]
    return starts, lengths, at, -1


def gather(data, starts, lengths, size):
    """The bytes of all lists in a row: entry i has lengths[i] values of ``size`` bytes from starts[i]."""
    total = 0
    for row in range(len(starts)):
        total += lengths[row] * size
    out = np.empty(total, np.uint8)
    to = 0
    for row in range(len(starts)):
        for k in range(lengths[row] * size):
            out[to] = data[starts[row] + k]
            to += 1
    return out
