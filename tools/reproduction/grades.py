"""Grades: the rules by which a value of ours agrees with a published one, of cells and claims, totals and single
views alike; and what stands beside it without a grade."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .model import CLAIM, NOT_EXAMINED, Cell, Check

# How near two values have to be, by their kind: a share of the published one, but for shares of a whole, which are set
# against each other in points.
COUNT = 0.25  # instructions, passes, ratios and gains: the same work, written down independently or of another scene
COST = 0.10  # relative to ray casting, by the papers' own kernels
ROUND_NUMBER = 0.05  # of triangles and photons, printed in thousands or to two digits
ABOUT = 0.02  # "about 100,000"
FEWEST = 0.01  # of passes: what the best found may need less, as thresholds are tried in steps
ALL = 0.01  # what "all" may leave out
POINTS = 0.05  # of a share: the texts' are round, "half", "60 %", "about 10 %"
BY_EYE = 0.10  # of a share: what two eyes may differ by
LITTLE, MUCH, MOST = 0.10, 0.25, 0.50  # of a share that has no number
TWICE = 2.0  # "comparable", by the factor that the papers give structures
# Why two values stand beside each other without a grade, said once.
OTHER_SCENE = "a stand-in, as the published scene and camera are not available"
FITTED = "fitted to it, as the published scene and camera are not available"
LONGEST = "a stand-in, fitted in v, t and s; the longest rays, which set the passes, are its own"
OTHER_DEVICE = "another device"
NOT_HERE = "nothing was counted here"
NOT_RUN = "the published device is not available, and nothing of ours stands for it"
NOT_PRINTED = "ours alone, no paper prints it"


def about(published: float, ours: float, bound: float) -> bool:
    """Whether ours is within a share of the published value."""
    return abs(ours - published) <= bound * abs(published)


def at_points(published: float, ours: float, bound: float = POINTS) -> bool:
    """Whether two shares of a whole are within so much of each other."""
    return abs(ours - published) <= bound


def saves(published: float, ours: float) -> bool:
    """Whether a change is the published fall, or a greater one: what saves more than was said is no failure."""
    return ours <= published + POINTS


def between(least: float, most: float, ours: float) -> bool:
    """Whether a value lies between two that are printed to two digits: 10.5 does in 6 to 10, 303 in 200 to 300."""
    low, high = (0.5 * 10 ** (math.floor(math.log10(each)) - 1) for each in (least, most))
    return least - low <= ours <= most + high


def exact(published: Any, ours: Any, otherwise: str = NOT_EXAMINED) -> Cell:
    """A cell that agrees where the two are equal."""
    same = published == ours
    return Cell(published, ours, same, "agrees: equal" if same else f"differs: {otherwise}")


def near(
    published: float, ours: float, share: float, because: str, otherwise: str = NOT_EXAMINED, shown: str = ""
) -> Cell:
    """A cell that agrees within a share of the published value.

    because : why that bound. otherwise : what was measured of the difference, or that it was not examined. shown : a
    format of ours, ``.2f``.
    """
    agrees = about(published, ours, share)
    value = format(ours, shown) if shown else ours
    reason = f"agrees to {share:.0%}: {because}" if agrees else f"differs by more than {share:.0%}: {otherwise}"
    return Cell(published, value, agrees, reason)


def beside(published: Any, ours: Any, why: str) -> Cell:
    """A cell whose two values stand beside each other, without a grade. why : what parts them."""
    return Cell(published, ours, None, why)


def unprinted(ours: Any) -> Cell:
    """A cell of a column with published values, for which none is printed."""
    return Cell(None, ours, None, NOT_PRINTED)


def among(what: str, published: str, values: Sequence[float], shown: str, grades: Sequence[bool]) -> Check:
    """A claim on several views at once, by the grade of each."""
    text = ", ".join(format(each, shown) for each in values)
    return Check(CLAIM, what, published, text, all(grades), bound=f"in {sum(grades)} of {len(grades)} views")
