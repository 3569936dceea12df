"""What the host knows of the passes that may find a ray, by the queries read so far: for the whole stream, or tile by
tile.

Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels, without those in which
a query has found no active pixel. That loop is one kernel; here it may have several, and rays alternate between them: a
pass skips a tile until a pass whose exits lead to it has found a ray there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.stream.gl.objects import Query
from viewer.stream.machines.count import Queries

ASK_AGAIN = 8  # an eighth of a loop's rounds may be drawn in tiles without rays, for fewer queries


@dataclass
class _Drawn:
    """A pass with pending answers. kept : (rows, columns) its tiles. queries : one for each of them, by rows; none
    where rays are taken to be in all."""

    number: int
    kept: NDArray[np.bool_]
    queries: Sequence[Query]


class TileLoop:
    """The tiles of (rows, columns) in which each pass of a loop may find a ray.

    after : (passes, passes) whether a ray served by the first may wait for the second next. entered : (passes,) those
    that rays may wait for at the start; all, by default.

    Only these passes change the rays' state: none is left for a pass once it is drawn, but by its own exit, until one
    before it finds a ray. Late answers only cost extra draws.
    """

    def __init__(
        self,
        queries: Queries,
        after: NDArray[np.bool_],
        shape: tuple[int, int] = (1, 1),
        entered: NDArray[np.bool_] | None = None,
    ) -> None:
        self.queries, self.after = queries, after
        self.empty = np.zeros((len(after), *shape), bool)
        if entered is not None:
            self.empty[~entered] = True
        self._drawn: deque[_Drawn] = deque()

    @property
    def over(self) -> bool:
        """Whether no pass can find a ray."""
        return not self._drawn and bool(self.empty.all())

    def ready(self, but: int = 0) -> bool:
        """Whether all passes ``but`` the latest ones have their answers."""
        return all(query.ready for drawn in [*self._drawn][: len(self._drawn) - but] for query in drawn.queries)

    def any(self, numbers: Sequence[int]) -> bool:
        """Whether one of these passes may find a ray, by the answers read."""
        return not bool(self.empty[list(numbers)].all())

    def may(self, numbers: Sequence[int]) -> bool:
        """Whether one of these passes may find a ray, left there by a pending pass or not."""
        return self.any(numbers) or any(self.after[drawn.number, k] for drawn in self._drawn for k in numbers)

    def ask(self, number: int, asks: bool = True) -> tuple[NDArray[np.bool_], list[Query]]:
        """The tiles that a pass must draw, and a query for each, by rows; none unless it ``asks``: rays are then taken
        to be in all of them."""
        kept = ~self.empty[number]
        queries = [self.queries.take() for _ in range(np.count_nonzero(kept))] if asks else []
        self.note(number, kept, queries)
        return kept, queries

    def note(self, number: int, kept: NDArray[np.bool_], queries: Sequence[Query] = ()) -> None:
        """A pass drawn on ``kept`` tiles, with a query for each, or none: rays may be in all of them."""
        if kept.any():
            self._drawn.append(_Drawn(number, kept, queries))

    def read(self, but: int = 0) -> int | None:
        """Read the answers of all passes ``but`` the latest ones. Returns their rays, None without a query."""
        total = None
        while len(self._drawn) > but:
            drawn = self._drawn.popleft()
            found = drawn.kept.astype(np.int64)
            if drawn.queries:
                found[drawn.kept] = [self.queries.read(query) for query in drawn.queries]
                total = (total or 0) + int(found.sum())
            self.learn(drawn.number, drawn.kept, found)
        return total

    def learn(self, number: int, kept: NDArray[np.bool_], found: NDArray[np.int64]) -> None:
        """A pass has found so many rays in each of its tiles."""
        self.empty[number] |= kept
        for k in np.flatnonzero(self.after[number]):
            self.empty[k] &= found == 0

    def forget(self) -> None:
        """Free the pending queries."""
        for drawn in self._drawn:
            self.queries.give_back(drawn.queries)
        self._drawn.clear()
