"""Kernels drawn tile by tile, each tile inside an occlusion query: the published loop termination, per tile.

Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels, without those in which
a query has found no active pixel. That loop is one kernel; here it may have several, and rays alternate between them: a
pass skips a tile where it has found no ray, until another pass finds some there.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.stream.gl.draw import Tiles
from viewer.stream.gl.objects import Query
from viewer.stream.machines.count import Queries


@dataclass
class _Asked:
    """A pass with pending answers. kept : (rows, columns) its tiles, a query for each by rows."""

    number: int
    kept: NDArray[np.bool_]
    queries: list[Query]


class TileLoop:
    """The tiles that each pass of a loop must draw, from the queries read so far.

    Only these passes change the rays' state: a loop is over for a tile when every pass, since rays were last found
    there, has found none. Late answers only cost extra draws.
    """

    def __init__(self, tiles: Tiles, queries: Queries, passes: int) -> None:
        self.tiles, self.queries = tiles, queries
        self.empty = np.zeros((passes, tiles.rows, tiles.columns), bool)
        self._asked: deque[_Asked] = deque()

    @property
    def over(self) -> bool:
        """Whether no pass can find a ray."""
        return not self._asked and bool(self.empty.all())

    def ask(self, number: int) -> list[Query]:
        """Keep the tiles that a pass must draw; a query for each, by rows: none without tiles."""
        kept = ~self.empty[number]
        queries = [self.queries.take() for _ in range(np.count_nonzero(kept))]
        if queries:
            self.tiles.keep(kept)
            self._asked.append(_Asked(number, kept, queries))
        return queries

    def read(self, but: int = 0) -> int:
        """Read the queries of all passes ``but`` the latest ones; returns their rays. Waits for the device."""
        total = 0
        while len(self._asked) > but:
            asked = self._asked.popleft()
            found = np.zeros(asked.kept.shape, np.int64)
            found[asked.kept] = [self.queries.read(query) for query in asked.queries]
            self.empty[asked.number] |= asked.kept & (found == 0)
            self.empty[:, found > 0] = False  # rays here may now wait for any pass of the loop
            total += int(found.sum())
        return total
