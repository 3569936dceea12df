"""Batches of samples: runs to lesser limits, where a driver ends the loops of one that does all at once."""

from __future__ import annotations

from collections.abc import Iterator

ENOUGH = 4  # batches that pass before a larger one is tried at first


class SampleBatches:
    """The limits to which a program runs one after the other (`Program.limit`).

    A run does all at once until the driver has ended its loops. From then on batches are small enough for it. As rays
    of other pictures may be cheaper, batches are doubled after some have passed; each time in vain, after twice as
    many: a batch in vain is drawn again but for the rays that it has served. Where rays stand is taken from the runs
    before; where that is wrong, from no progress at all.
    """

    def __init__(self) -> None:
        self.most: int | None = None  # of a batch; None: no loop has been ended
        self._span = (0, 0)  # of the last run
        self._at = self._to = 0
        self._known = False  # that rays have come to ``_at``
        self._passed = 0  # full batches in a row, none in vain
        self._enough = ENOUGH  # of them, before a larger one is tried
        self._tried = False  # whether no batch of the present size has passed since it was doubled

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
        """Whether the present batch cannot be halved."""
        return self._known and self._to - self._at <= 1

    def note(self, done: bool, unaided: bool = True) -> None:
        """All rays have come to the present limit, or some have not. unaided : not by another machine's help."""
        if done:
            if unaided and self._known and self._to - self._at == self.most:
                self._pass()
            self._at, self._known = self._to, True
        elif not self._known:
            self._at, self._known = 0, True
        else:
            self.most = max(1, (self._to - self._at) // 2)
            self._enough *= 1 + self._tried
            self._passed, self._tried = 0, False

    def _pass(self) -> None:
        """A batch of the largest size has passed."""
        assert self.most is not None
        if self._tried:
            self._enough = ENOUGH
        self._passed, self._tried = self._passed + 1, False
        if self._passed >= self._enough:
            self.most, self._passed, self._tried = 2 * self.most, 0, True
