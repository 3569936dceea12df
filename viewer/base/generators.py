"""Generators that return a value."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")


def returned(steps: Generator[Any, None, T]) -> T:
    """The value that a generator returns once it has been run to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
