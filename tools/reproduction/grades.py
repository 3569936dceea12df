"""Grades of cells: the rules by which a value of ours agrees with a published one, or cannot be compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .model import CLAIM, NOT_EXAMINED, Cell, Check

# Why cells cannot be compared, said once.
OTHER_SCENE = "not comparable: a stand-in, as the published scene and camera are not to be had"
FITTED = "not comparable: fitted to it, as the published scene and camera are not to be had"
LONGEST = "not comparable: a stand-in, fitted in v, t and s; the longest rays, which set the passes, are its own"
OTHER_DEVICE = "not comparable: another device"
OTHER_MACHINE = "not comparable: another set of instructions and other records"
NOT_HERE = "not comparable: nothing was counted here"
NOT_RUN = "not comparable: the published device is not to be had, and nothing of ours stands for it"
NOT_PRINTED = "not comparable: ours alone, no paper prints it"


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
    agrees = abs(ours - published) <= share * abs(published)
    value = format(ours, shown) if shown else ours
    reason = f"agrees to {share:.0%}: {because}" if agrees else f"differs by more than {share:.0%}: {otherwise}"
    return Cell(published, value, agrees, reason)


def beside(published: Any, ours: Any, why: str) -> Cell:
    """A cell that cannot be compared."""
    return Cell(published, ours, None, why)


def unprinted(ours: Any) -> Cell:
    """A cell of a column with published values, for which none is printed."""
    return Cell(None, ours, None, NOT_PRINTED)


def among(what: str, published: str, values: Sequence[float], shown: str, grades: Sequence[bool]) -> Check:
    """A claim on several views at once, by the grade of each."""
    text = ", ".join(format(each, shown) for each in values)
    return Check(CLAIM, what, published, text, all(grades), bound=f"in {sum(grades)} of {len(grades)} views")
