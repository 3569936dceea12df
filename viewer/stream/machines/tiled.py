"""The passes of a loop that may find a ray, by the program's exits and the queries read so far: for the whole stream,
or tile by tile.

Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels, without those in which
a query has found no active pixel. That loop is one kernel; here it may have several, and rays alternate between them: a
pass skips a tile until a pass whose exits lead to it has found a ray there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.stream.machines.flow import Flow


class LoopTiles:
    """The tiles of (rows, columns) in which each pass of a loop may find a ray.

    Only these passes change the rays' state: a pass leaves no ray behind, but by its own exit, until one before it
    finds a ray.
    """

    def __init__(self, flow: Flow, shape: tuple[int, int] = (1, 1)) -> None:
        self.flow = flow
        self.alive = np.zeros((len(flow.after), *shape), bool)
        self.alive[flow.entered] = True

    def any(self, numbers: Sequence[int]) -> bool:
        """Whether one of these passes may find a ray."""
        return bool(self.alive[list(numbers)].any())

    @property
    def over(self) -> bool:
        """Whether no pass can find a ray."""
        return not self.alive.any()

    def note(self, number: int, found: NDArray[np.bool_]) -> None:
        """A pass was drawn on all of its tiles, and rays were found, or may have been, in some."""
        self.alive[number] = False
        self.alive[self.flow.after[number]] |= found
