"""Values within sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def listed(values: Iterable[Any], shown: str = "") -> str:
    """Values with commas between, each in a format: ``1.5, 2``."""
    return ", ".join(format(each, shown) for each in values)


def named(values: Mapping[str, Any], shown: str = "") -> str:
    """The same with their names: ``Sphere 1.5, Bunny 2``."""
    return ", ".join(f"{name} {format(each, shown)}" for name, each in values.items())


def by(sides: Iterable[Any]) -> str:
    """A resolution or size: ``250 x 1 x 250``."""
    return " x ".join(map(str, sides))


def yes(flag: bool) -> str:
    """A flag as a word."""
    return "yes" if flag else "no"
