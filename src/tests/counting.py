"""Counts of what ran, where a clock would tell more of the machine than of the code."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def python_calls(function: Callable[[], Any]) -> int:
    """Python and C functions called by one call of ``function``: work left to NumPy and to compiled loops counts once
    a call, work in loops of Python once a turn. Garbage is collected before and not meanwhile: what listens to the
    collector (Hypothesis does) would be counted, too."""
    count = 0

    def tell(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    gc.collect()
    gc.disable()
    sys.setprofile(tell)
    try:
        function()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return count
