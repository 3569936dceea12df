"""The compiled loops over binary PLY with lists of varying length."""

from __future__ import annotations

import numpy as np


def traversal(data, at, count, length_sizes, length_signed, sizes, big, wanted, starts, lengths):
    """Find the offsets of the wanted properties in every entry.

    length_sizes (P,): bytes of a list's length, 0 for scalars; sizes (P,): bytes of a value; big: big-endian. starts,
    lengths (W, count) int64, written. Returns the end, and the entry beyond the end of the data or -1.
    """
    end = len(data)
    for row in range(count):
        for p in range(len(sizes)):
            length = 1
            width = length_sizes[p]
            if width > 0:
                if at + width > end:
                    return at, row
                length = 0
                for k in range(width):
                    byte = np.int64(data[at + k if big else at + width - 1 - k])
                    if k == 0 and length_signed[p] and byte >= 128:
                        return at, row
                    if length > (1 << 40):
                        return at, row
                    length = length * 256 + byte  # type: ignore[assignment]
                at += width
            if length < 0 or length > (end - at) // sizes[p]:
                return at, row
            for w in range(len(wanted)):
                if wanted[w] == p:
                    starts[w, row] = at
                    lengths[w, row] = length
            at += length * sizes[p]
    return at, -1


def gather(data, starts, lengths, size, out):
    """Concatenate the bytes of all lists: entry i has lengths[i] values of ``size`` bytes from starts[i]."""
    to = 0
    for row in range(len(starts)):
        for k in range(lengths[row] * size):
            out[to] = data[starts[row] + k]
            to += 1
