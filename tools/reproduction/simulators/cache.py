"""A texture cache over traces of references: hits, lines fetched and bytes moved, by kind of data.

Least recently used of the ways; writes go through to memory and update a line that is there, or, with ``write_back``,
stay in the cache until their line is evicted. By default the cache of Purcell (2004), 5.2.3: 64 kB, direct mapped,
lines of 48 bytes; 65,536 / 48 is no whole number, so that it has 1,365 lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.base.errors import ViewerError
from reproduction.simulators.references import KINDS, WRITES

REFERENCES, WORDS, MISSES, LINES = range(4)


class Cache:
    """A cache that traces are played through.

    size, line : bytes. ways : lines that share an index. kinds : of data that pass through it; what else is in a trace
    is no part of its figures. sets : in place of size / line / ways, rounded down.
    Raises ViewerError for what makes no cache.
    """

    def __init__(
        self,
        size: int = 64 * 1024,
        line: int = 48,
        ways: int = 1,
        kinds: Sequence[int] = KINDS,
        write_back: bool = False,
        sets: int | None = None,
    ) -> None:
        self.sets = size // max(1, line * ways) if sets is None else sets
        if line < 4 or line % 4 or ways < 1 or self.sets < 1:
            what = f"{size} bytes in lines of {line}, {ways} ways"
            raise ViewerError("texture cache", what, "lines of whole words, of which at least as many as ways fit")
        self.line, self.ways, self.write_back, self.kinds = line, ways, write_back, tuple(kinds)
        self._tags = np.full((self.sets, ways), -1, np.int64)
        self._counts = np.zeros((len(KINDS), 4), np.int64)
        self._written_back = np.zeros(1, np.int64)

    def play(self, chunks: Iterable[NDArray[np.int64]]) -> Cache:
        """References, after those played before. Returns the cache."""
        for codes in chunks:
            self.take(codes)
        return self

    def take(self, codes: NDArray[np.int64]) -> None:
        """One chunk of references (N,)."""
        mask = sum(1 << kind for kind in self.kinds)
        sizes = (self.line, self.sets, self.ways, mask, self.write_back)
        jit.run(_play, codes, *sizes, self._tags, self._counts, self._written_back)

    def _sum(self, column: int, kinds: Sequence[int] | None) -> int:
        return int(self._counts[list(self.kinds if kinds is None else kinds), column].sum())

    def references(self, kinds: Sequence[int] | None = None) -> int:
        """Texels fetched and written."""
        return self._sum(REFERENCES, kinds)

    def hit_rate(self, kinds: Sequence[int] | None = None) -> float:
        """Share of the references that fetch no line."""
        return 1 - self._sum(MISSES, kinds) / max(1, self.references(kinds))

    def bytes_without(self, kinds: Sequence[int] | None = None) -> int:
        """Bytes moved without a cache: every word."""
        return 4 * self._sum(WORDS, kinds)

    def bytes_with(self, kinds: Sequence[int] | None = None) -> int:
        """Bytes moved with it: lines fetched; written words, or lines where they are written back, those too that the
        trace leaves in the cache."""
        kinds = self.kinds if kinds is None else kinds
        moved = self.line * self._sum(LINES, kinds)
        if WRITES in kinds:
            left = int((self._tags[self._tags >= 0] & 1).sum()) + int(self._written_back[0])
            moved += self.line * left if self.write_back else 4 * self._sum(WORDS, [WRITES])
        return moved

    def ratio(self, kinds: Sequence[int] | None = None) -> float:
        """Bytes with the cache over bytes without."""
        return self.bytes_with(kinds) / max(1, self.bytes_without(kinds))


def play_all(caches: Iterable[Cache], chunks: Iterable[NDArray[np.int64]]) -> None:
    """One trace through several caches."""
    caches = list(caches)
    for codes in chunks:
        for cache in caches:
            cache.take(codes)


def _play(codes, line, sets, ways, mask, write_back, tags, counts, written_back):
    for k in range(len(codes)):
        code = codes[k]
        kind = code & 7
        if (mask >> kind) & 1 == 0:
            continue
        words = ((code >> 3) & 3) + 1
        at = code >> 5
        write = kind == WRITES
        counts[kind, REFERENCES] += 1
        counts[kind, WORDS] += words
        if write and not write_back:
            continue  # a line that is there is updated in place
        # Unsigned: a division of numbers with a sign takes twice as long.
        first = np.int64(np.uint32(np.uint64(at) // np.uint64(line)))
        last = first
        while (last + 1) * line < at + 4 * words:
            last += 1
        missed = False
        for place in range(first, last + 1):
            index = np.int64(np.uint32(place) % np.uint32(sets))
            if tags[index, 0] >> 1 == place:  # the one used last, as most are
                if write:
                    tags[index, 0] |= 1
                continue
            found = 1
            while found < ways and tags[index, found] >> 1 != place:
                found += 1
            if found == ways:
                missed = True
                counts[kind, LINES] += 1
                found = ways - 1
                if tags[index, found] >= 0 and tags[index, found] & 1 == 1:
                    written_back[0] += 1
                tag = place * 2
            else:
                tag = tags[index, found]
            for way in range(found, 0, -1):
                tags[index, way] = tags[index, way - 1]
            tags[index, 0] = tag | 1 if write else tag
        if missed:
            counts[kind, MISSES] += 1
