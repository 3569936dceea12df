"""Alias tables: one of n things chosen with given probabilities by one comparison (Walker 1977; Vose 1991).

Probabilities are whole numbers of quanta, so that a table holds them exactly, whatever a float can: a slot is chosen
uniformly, and one of its ``levels`` quanta uniformly; below the slot's threshold it is the slot's own number, else its
alias. Only the requested probability is rounded: an estimator that divides by the table's own stays unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.jit import run
from raystream.stream.declare.record import ROWS, Field

MAX_INTERPRETED = 1 << 10  # slots up to which the loop runs uncompiled


def slot_fields(what: str) -> tuple[Field, Field]:
    """The fields, of a texture's record, of a slot of an alias table of things with the name ``what``."""
    threshold = Field("threshold", "int", "quanta", about=f"below it the slot stands for the {what} of its own number")
    return threshold, Field("alias", "int", about=f"the {what} that the slot stands for else", within=ROWS)


@dataclass(frozen=True)
class AliasTable:
    """N slots of ``levels`` quanta each, for n <= N things. threshold (N,) int64, 0 .. levels: quanta of a slot that
    choose the thing of its index. alias (N,) int64: the thing that the others choose. quanta (n,) int64: number of each
    thing's in all slots; their sum is N * levels."""

    threshold: NDArray[np.int64]
    alias: NDArray[np.int64]
    quanta: NDArray[np.int64]
    levels: int

    @property
    def probability(self) -> NDArray[np.float64]:
        """(n,): the exact probability of choosing each thing; the sum is 1."""
        return self.quanta / float(len(self.threshold) * self.levels)


def power_of_two(count: int) -> int:
    """The least power of two that is not below ``count``, at least 1."""
    return 1 << max(0, count - 1).bit_length()


def apportion(weights: ArrayLike, total: int) -> NDArray[np.int64]:
    """(n,): ``total`` quanta in proportion to the weights (n,), by largest remainders; at least 1 for each weight
    above 0. The weights are finite and not negative, and one is above 0; total >= n."""
    values = np.asarray(weights, np.float64)
    scaled = values / values.max()  # sums of huge weights would leave float64
    exact = scaled * (total / scaled.sum())
    quanta = np.floor(exact).astype(np.int64)
    quanta[(values > 0) & (quanta == 0)] = 1
    remaining = total - int(quanta.sum())
    if remaining > 0:
        positive = np.flatnonzero(values)
        per_weight, remainder = divmod(remaining, len(positive))
        quanta[positive] += per_weight
        if remainder:
            lack = (np.floor(exact) - exact)[positive]
            # Sorting millions of texels would take longer than the rest.
            bound = np.partition(lack, remainder - 1)[remainder - 1]
            first, equal = positive[lack < bound], positive[lack == bound]
            quanta[first] += 1
            quanta[equal[: remainder - len(first)]] += 1
    while remaining < 0:  # small weights were rounded up to 1, which the others make up for
        reducible = np.maximum(quanta - 1, 0)
        reduction = (reducible * (-remaining / reducible.sum())).astype(np.int64)
        if not reduction.any():
            reduction[np.argsort(-reducible, kind="stable")[:-remaining]] = 1
            reduction = np.minimum(reduction, reducible)
        quanta -= reduction
        remaining += int(reduction.sum())
    return quanta


def build(weights: ArrayLike, slots: int, levels: int) -> AliasTable:
    """The table of ``slots`` slots for weights (n,), n <= slots. Things that have less than a slot's quanta fill it up
    with the surplus of things that have more, in one sweep over both (L. Hübschle-Schneider and P. Sanders, *Parallel
    Weighted Random Sampling*, 2022). O(slots)."""
    quanta = apportion(weights, slots * levels)
    slot_quanta = np.zeros(slots, np.int64)
    slot_quanta[: len(quanta)] = quanta
    threshold, aliases = np.empty(slots, np.int64), np.empty(slots, np.int64)
    run(_fill_slots, slot_quanta, levels, threshold, aliases, small=slots <= MAX_INTERPRETED)
    return AliasTable(threshold, aliases, quanta, levels)


def _fill_slots(quanta, levels, threshold, alias):
    """Write thresholds and aliases (N,) int64 of N slots whose things have these quanta (N,) int64."""
    count = len(quanta)
    # A small slot takes from the first large one whose surplus was not spent before.
    large = 0
    while large < count and quanta[large] < levels:
        large += 1
    spent, surplus = 0, quanta[large] - levels if large < count else 0
    for slot in range(count):
        threshold[slot], alias[slot] = quanta[slot], slot
        if quanta[slot] >= levels:
            continue
        while surplus < spent:
            large += 1
            if quanta[large] >= levels:
                surplus += quanta[large] - levels
        alias[slot] = large
        spent += levels - quanta[slot]
    # A large one that has given more than its surplus lacks that much itself, and takes it from the next.
    small, lack, surplus, before, over = -1, 0, 0, -1, 0
    for slot in range(count):
        if quanta[slot] < levels:
            continue
        if over > 0:
            alias[before] = slot
        surplus += quanta[slot] - levels
        while small < count and lack <= surplus:
            small += 1
            while small < count and quanta[small] >= levels:
                small += 1
            if small < count:
                lack += levels - quanta[small]
        over = lack - surplus if small < count else 0
        threshold[slot], before = levels - over, slot
