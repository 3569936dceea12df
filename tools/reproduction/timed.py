"""Seconds of what a section times."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any


def median_seconds(run: Callable[[], Any], runs: int) -> float:
    """The median of these runs, by the wall clock, after one that does not count: it compiles."""
    run()
    seconds = []
    for _ in range(runs):
        began = perf_counter()
        run()
        seconds.append(perf_counter() - began)
    return statistics.median(seconds)
