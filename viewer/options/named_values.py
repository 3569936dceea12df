"""Values of options that are names with numbers: policies, unrolling and photon filters, and their readers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from raystream.options.declare import Option, suggestion, wrong
from raystream.options.values import is_auto, real, takes, whole


@dataclass(frozen=True)
class PolicyChoice:
    """Which state the multipass machine serves next.

    name  : ``sweep`` (the states in turn, without counts), ``naive``, ``threshold`` or
            ``most-work``.
    share : of threshold: the intersection pass runs once this share of the rays waits for it, in (0, 1].
    of    : of threshold: the rays that the share is of, the ``active`` rays or ``all`` rays.
    """

    name: str = "sweep"
    share: float = 0.2
    of: str = "active"

    def __str__(self) -> str:
        return f"threshold={self.share:g},{self.of}" if self.name == "threshold" else self.name


@dataclass(frozen=True)
class Unroll:
    """How many calls of a looping kernel one pass may make.

    counts : one number for all looping kernels, or one for each in the program's order; None lets the machine choose.
    """

    counts: tuple[int, ...] | None = None

    @property
    def auto(self) -> bool:
        """Whether the machine chooses."""
        return self.counts is None

    def __str__(self) -> str:
        return "auto" if self.counts is None else ",".join(map(str, self.counts))


@dataclass(frozen=True)
class PhotonFilter:
    """How a radiance estimate weighs photons by their distance d within its radius r.

    name  : ``constant`` (alike), ``cone`` (1 - d / (width r)) or ``epanechnikov`` (1 - d^2 / r^2).
    width : of the cone, at least 1: H. W. Jensen's filter constant (2001, section 7.2.1).
    """

    name: str = "constant"
    width: float = 1.1

    def __str__(self) -> str:
        return f"cone={self.width:g}" if self.name == "cone" else self.name

    @property
    def slope(self) -> float:
        """c in the weight (1 - c (d / r)^p)."""
        return {"constant": 0.0, "cone": 1 / self.width, "epanechnikov": 1.0}[self.name]

    @property
    def exponent(self) -> int:
        """p in the weight (1 - c (d / r)^p)."""
        return {"constant": 0, "cone": 1, "epanechnikov": 2}[self.name]

    @property
    def integral(self) -> float:
        """Of the weight over the disc, as a share of the disc's area."""
        return 1 - self.slope * 2 / (self.exponent + 2) if self.exponent else 1.0


def read_policy(option: Option, value: Any) -> PolicyChoice:
    """A policy, by its name and number, as in ``threshold=0.2,all``."""
    choice = value
    if isinstance(value, str):
        name, equals, text = value.partition("=")
        share_text, comma, of = text.partition(",")
        if name not in option.value.choices:
            raise wrong(option, value, hint=suggestion(name, option.value.choices))
        if equals and (name != "threshold" or not share_text or (comma and not of)):
            raise wrong(option, value)
        number = real(share_text) if equals else PolicyChoice.share
        choice = PolicyChoice(name, math.nan if number is None else number, of or PolicyChoice.of)
    if not isinstance(choice, PolicyChoice) or choice.name not in option.value.choices:
        raise wrong(option, value)
    share_number = real(choice.share)
    if share_number is None or not 0 < share_number <= 1 or choice.of not in ("active", "all"):
        raise wrong(option, value)
    return PolicyChoice(choice.name, share_number, choice.of)


def read_photon_filter(option: Option, value: Any) -> PhotonFilter:
    """A filter of photons, by its name and number."""
    choice = value
    if isinstance(value, str):
        name, equals, text = value.partition("=")
        if name not in option.value.choices:
            raise wrong(option, value, hint=suggestion(name, option.value.choices))
        width = real(text) if equals else PhotonFilter.width
        if equals and (name != "cone" or width is None):
            raise wrong(option, value)
        choice = PhotonFilter(name, PhotonFilter.width if width is None else width)
    if not isinstance(choice, PhotonFilter) or choice.name not in option.value.choices:
        raise wrong(option, value)
    filter_width = real(choice.width)
    if filter_width is None or not 1 <= filter_width <= 1e6:
        raise wrong(option, value)
    return PhotonFilter(choice.name, filter_width)


@takes("Unroll | int | str | Sequence[int]")
def read_unroll(option: Option, value: Any) -> Unroll:
    """Calls of a kernel in a pass: one number for all, one for each kernel, or ``auto``."""
    calls = value.counts if isinstance(value, Unroll) else value
    if is_auto(calls):
        return Unroll()
    if isinstance(calls, str):
        calls = calls.split(",")
    elif not isinstance(calls, Iterable):
        calls = (calls,)
    counts = tuple(whole(part) for part in calls)
    if not counts or any(count is None or not option.value.low <= count <= option.value.high for count in counts):
        raise wrong(option, value)
    return Unroll(counts)  # type: ignore[arg-type]
