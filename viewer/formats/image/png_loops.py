"""The loop over the bytes of a PNG picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def unfilter(lines: NDArray[np.uint8], step: int) -> int:
    """Undo the filters of lines (H, 1 + bytes) in place, each with its filter number first (PNG, 3rd edition, section
    9); ``step`` bytes per pixel. Returns the first line with an unknown filter, or -1."""
    height, width = lines.shape
    for line in range(height):
        kind = lines[line, 0]
        if kind > 4:
            return line
        for k in range(1, width):
            left = int(lines[line, k - step]) if k > step else 0
            above = int(lines[line - 1, k]) if line > 0 else 0
            corner = int(lines[line - 1, k - step]) if k > step and line > 0 else 0
            guess = 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            elif kind == 4:
                by_left, by_above, by_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
                if by_left <= by_above and by_left <= by_corner:
                    guess = left
                elif by_above <= by_corner:
                    guess = above
                else:
                    guess = corner
            lines[line, k] = (int(lines[line, k]) + guess) & 255
    return -1
