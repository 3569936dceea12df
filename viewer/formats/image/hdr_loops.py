"""The loop over the bytes of a Radiance picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DONE, TRUNCATED, OVERRUN, NOTHING_TO_REPEAT = range(4)


def decode(data: NDArray[np.uint8], start: int, out: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Fill out (lines, length, 4) from the bytes after the header; (state, line, address in ``data``).

    A line starts with 2, 2 and its length, followed by each component in turn as runs (a byte b above 128: b - 128
    copies of a value) and literals (a byte b up to 128: b values). Otherwise it is pixels of four bytes, where 1, 1, 1,
    n repeats the previous one n times; n gains 8 bits for each consecutive such mark.
    """
    lines, length = out.shape[0], out.shape[1]
    size, at = len(data), start
    for line in range(lines):
        if at + 4 > size:
            return TRUNCATED, line, at
        marked = data[at] == 2 and data[at + 1] == 2 and (int(data[at + 2]) << 8 | int(data[at + 3])) == length
        if marked and 8 <= length < 32768:
            at += 4
            for component in range(4):
                column = 0
                while column < length:
                    if at + 2 > size:
                        return TRUNCATED, line, at
                    count = int(data[at])
                    if count > 128:
                        count -= 128
                        if column + count > length:
                            return OVERRUN, line, at
                        for k in range(count):
                            out[line, column + k, component] = data[at + 1]
                        at += 2
                    else:
                        if count == 0 or column + count > length:
                            return OVERRUN, line, at
                        if at + 1 + count > size:
                            return TRUNCATED, line, at
                        for k in range(count):
                            out[line, column + k, component] = data[at + 1 + k]
                        at += 1 + count
                    column += count
            continue
        column, shift = 0, 0
        while column < length:
            if at + 4 > size:
                return TRUNCATED, line, at
            if data[at] == 1 and data[at + 1] == 1 and data[at + 2] == 1:
                if column == 0:
                    return NOTHING_TO_REPEAT, line, at
                if shift > 16:
                    return OVERRUN, line, at
                count = int(data[at + 3]) << shift
                if column + count > length:
                    return OVERRUN, line, at
                for k in range(count):
                    for component in range(4):
                        out[line, column + k, component] = out[line, column - 1, component]
                column += count
                shift += 8
            else:
                for component in range(4):
                    out[line, column, component] = data[at + component]
                column += 1
                shift = 0
            at += 4
    return DONE, lines, at
