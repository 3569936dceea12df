"""Searches JOINT_ORDER of ``shaders/lib/nets.glsl``: ``python tools/joint_order.py [--seconds 75] [--seed 1]``.

Two pairs of coordinates of one net, the second under an index whose bits are a linear order of the first's, are to be
even in four dimensions. What counts is the variance that functions of both pairs have in squares of pixels and powers
of two of numbers, as a part of that of pairs in random order. Such a function's Walsh coefficients are taken to fall
with the square of their frequency in each coordinate; with Owen's scrambling the variance is the sum of their squares
over the dual net (A. B. Owen, "Monte Carlo variance of scrambled net quadrature", 1997), for a linear net one mean over
its points. The order is found by random restarts, each of which climbs by flips of one to three bits.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TESTS = Path(__file__).resolve().parents[1] / "tests" / "lighting"
PLACE, BITS, LEVELS = 12, 18, 12  # bits of the place; of all that the order acts on; digits of a coordinate that count
# log2 of a square's side in pixels, and of its numbers.
CASES = [(0, 2), (0, 4), (0, 6), (1, 2), (1, 4), (1, 5), (2, 2), (2, 4), (2, 5), (2, 6)]
CASES += [(3, 0), (3, 2), (3, 3), (3, 4), (3, 5)]
PATIENCE = 250  # flips in vain after which a climb ends
_LEVEL = np.arange(1, LEVELS + 1)
_STEP = 2.0 ** (-2 * _LEVEL + _LEVEL - 1)  # of a level's 2^(level - 1) Walsh functions together
_BEFORE = np.concatenate([[0.0], np.cumsum(_STEP)])
_OF_A_PAIR = (1.0 + _STEP.sum()) ** 2 - 1.0

Order = list[int]
Words = NDArray[np.int64]


def product(order: Order, index: Words) -> Words:
    """The index times the matrix whose columns are the order's words, modulo 2."""
    return reduce(np.bitwise_xor, (np.where(index >> bit & 1, word, 0) for bit, word in enumerate(order)))


def kernel(word: Words) -> NDArray[np.float64]:
    """The sum of a coordinate's Walsh functions by their weights, of a word whose lowest bit is the first digit."""
    first = np.full(len(word), LEVELS)  # digits that are zero before the first that is not
    for level in range(LEVELS, 0, -1):
        first = np.where(word >> (level - 1) & 1, level - 1, first)
    return 1.0 + _BEFORE[first] - np.append(_STEP, 0.0)[first]


class Search:
    """The cases' points and their kernels under the first index."""

    def __init__(self) -> None:
        sys.path.insert(0, str(TESTS))
        from sampler_twin import net_2d  # type: ignore[import-not-found]

        columns = [net_2d(np.array([1 << bit], np.uint32)) for bit in range(32)]
        self.pair: list[Order] = [[int(column[axis][0]) for column in columns] for axis in (0, 1)]
        self.points = []
        for side, numbers in CASES:
            place = np.arange(4**side) << (PLACE - 2 * side)
            self.points.append((place[:, None] | (np.arange(2**numbers) << PLACE)).ravel())
        self.first = [self._of_both(index) for index in self.points]

    def _of_both(self, index: Words) -> NDArray[np.float64]:
        return kernel(product(self.pair[0], index)) * kernel(product(self.pair[1], index)) - 1.0

    def variances(self, order: Order) -> list[float]:
        """Of each case; 1 is that of random orders."""
        both = [
            first * self._of_both(product(order, index)) for first, index in zip(self.first, self.points, strict=True)
        ]
        return [float(values.mean()) * len(values) / _OF_A_PAIR**2 for values in both]

    def score(self, order: Order) -> float:
        """The mean logarithm of the variances."""
        return float(np.mean(np.log(np.maximum(self.variances(order), 1e-6))))


def run(seconds: float, seed: int) -> None:
    """Print every order that is better than those before."""
    search, random, until = Search(), np.random.default_rng(seed), time.perf_counter() + seconds
    free = [(bit, other) for bit in range(PLACE) for other in range(bit + 1, PLACE)]  # of smaller squares
    free += [(bit, other) for bit in range(PLACE + 1, BITS) for other in range(PLACE, bit)]  # lower ones of the number
    best = np.inf
    while time.perf_counter() < until:
        order = [1 << bit for bit in range(BITS)]
        for bit, other in free:
            order[bit] ^= int(random.integers(2)) << other
        score, vain = search.score(order), 0
        while vain < PATIENCE and time.perf_counter() < until:
            changed = list(order)
            for flip in random.integers(len(free), size=random.integers(1, 4)):
                changed[free[flip][0]] ^= 1 << free[flip][1]
            changed_score = search.score(changed)
            order, score, vain = (changed, changed_score, 0) if changed_score < score else (order, score, vain + 1)
        if score < best:
            best = score
            summary = ", ".join(
                f"{case} {value:.2f}" for case, value in zip(CASES, search.variances(order), strict=True)
            )
            print(f"{score:.3f} {[hex(word) for word in order]}\n    {summary}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    run(arguments.seconds, arguments.seed)
