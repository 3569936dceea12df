"""Runs to lesser limits, where a driver ends the loops of one that does all at once."""

from __future__ import annotations

from collections.abc import Iterator


class Portions:
    """The limits to which a program runs one after the other (`Program.limit`).

    A run does all at once until the driver has ended its loops. From then on portions are small enough for it. Where
    rays stand is taken from the runs before; where that is wrong, from no progress at all.
    """

    def __init__(self) -> None:
        self.most: int | None = None  # of a portion; None: no loop has been ended
        self._span = (0, 0)  # of the last run
        self._at = self._to = 0
        self._known = False  # that rays have come to ``_at``

    def ends(self, end: int) -> Iterator[int]:
        """The limits up to ``end``; after each, `note` says whether the driver let all rays get there."""
        first, last = self._span
        self._at = last if last < end else first if last == end else 0
        self._span, self._known = (self._at, end), self._at == 0
        while True:
            self._to = end if self.most is None else min(end, self._at + self.most)
            yield self._to
            if self._at >= end:
                return

    @property
    def least(self) -> bool:
        """Whether the present portion cannot be halved."""
        return self._known and self._to - self._at <= 1

    def note(self, done: bool) -> None:
        """All rays have come to the present limit, or some have not."""
        if done:
            self._at, self._known = self._to, True
        elif not self._known:
            self._at, self._known = 0, True
        else:
            self.most = max(1, (self._to - self._at) // 2)
