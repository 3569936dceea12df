"""Plots without a window: matplotlib where it is installed, with colours for colour-blind readers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, "Color universal design" (2008), without the yellow, too light for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


T = TypeVar("T")


def drawn(draw: Callable[[T], Figure | None], data: T) -> Figure | None:
    """The figure that a function draws of a benchmark's data; None without matplotlib."""
    return draw(data) if find_spec("matplotlib") else None


def figure(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure in inches with axes side by side, by matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    axes = list(made.subplots(1, columns, squeeze=False)[0])
    for part in axes:
        part.grid(True, color="0.88", linewidth=0.7)
        part.set_axisbelow(True)
        for side in ("top", "right"):
            part.spines[side].set_visible(False)
    return made, axes
