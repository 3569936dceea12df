"""Kernels drawn tile by tile, each tile inside an occlusion query: the published end of a loop for each of them.

Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels and leaves out those in
which a query has found no pixel at work. There the loop is one kernel; here it may have several, between which rays go
to and fro: a pass leaves out a tile on which it has found no ray, until another one finds some there.
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
    """A pass whose answers are to come. kept : (rows, columns) tiles that it was drawn on, a query for each by rows."""

    number: int
    kept: NDArray[np.bool_]
    queries: list[Query]


class TileLoop:
    """The tiles of a stream that the passes of a loop are to be drawn on, as far as their queries have been read.

    Rays change their state in these passes alone, so that the loop is over when every pass, since rays were last found
    on a tile, has found none there. What is known late only draws more.
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
        """Keep the tiles that a pass has to be drawn on; a query for each, by rows: none where there is no tile."""
        kept = ~self.empty[number]
        queries = [self.queries.take() for _ in range(np.count_nonzero(kept))]
        if queries:
            self.tiles.keep(kept)
            self._asked.append(_Asked(number, kept, queries))
        return queries

    def read(self, but: int = 0) -> int:
        """Read the queries of all passes ``but`` the latest ones; rays that they ran on. Waits for the device."""
        total = 0
        while len(self._asked) > but:
            asked = self._asked.popleft()
            found = np.zeros(asked.kept.shape, np.int64)
            found[asked.kept] = [self.queries.read(query) for query in asked.queries]
            self.empty[asked.number] |= asked.kept & (found == 0)
            self.empty[:, found > 0] = False  # on from here the rays may wait for any pass of the loop
            total += int(found.sum())
        return total
