"""Figure 7.1: how processors and memory grew apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import plots
from ..context import Context
from ..published.chapter7 import LAST, MEMORY, PROCESSOR
from ..report import Parts, captioned, section


def growth(rates: Sequence[tuple[int, float]], years: NDArray[np.int64]) -> NDArray[np.float64]:
    """Speed in each of the years, 1 in the first of them."""
    factors = np.ones(len(years))
    for first, rate in rates:
        factors[(years > first)] = rate
    return np.cumprod(factors, dtype=np.float64)


def _powers(rates: Sequence[tuple[int, float]]) -> str:
    """Factors to the power of the years for which they hold: ``1.35^6 x 1.55^14``."""
    ends = [first for first, _ in rates[1:]] + [LAST]
    return " x ".join(f"{rate:g}^{end - first}" for (first, rate), end in zip(rates, ends, strict=True))


@section("fig_7_1", paper="D 7.1", title="The gap between processor and memory (figure 7.1)")
def memory_gap(context: Context) -> Parts:
    """Speed relative to 1980, by the yearly rates of the text."""
    years = np.arange(1980, LAST + 1)
    processor, memory = growth(PROCESSOR, years), growth(MEMORY, years)
    figure, axes = plots.figure(6.4, 3.2)
    axes.semilogy(years, processor, label="processor, x 1.35 a year, from 1986 x 1.55")
    axes.semilogy(years, memory, label="latency of memory, x 1.07 a year")
    axes.set(xticks=range(1980, LAST + 1, 5), ylabel="speed, 1980 = 1")
    axes.legend()
    ends = {"last": LAST, "faster": processor[-1], "latency": memory[-1]}
    powers: dict[str, Any] = {"processor": _powers(PROCESSOR), "memory": _powers(MEMORY)}
    yield captioned("memory_gap", svg=plots.svg(figure), **ends, **powers)
