"""Counts of what ran, where a clock would tell more of the machine than of the code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def python_calls(function: Callable[[], Any]) -> int:
    """Python and C functions called by one call of ``function``: work left to NumPy and to compiled loops counts once
    a call, work in loops of Python once a turn."""
    count = 0

    def tell(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tell)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
