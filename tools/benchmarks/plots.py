"""Plots without a window: matplotlib where it is installed, with colours for colour-blind readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, "Color universal design" (2008), without the yellow, too light for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # identifies lines without colour


def figure(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]] | None:
    """A figure in inches with axes side by side; None without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    axes = list(made.subplots(1, columns, squeeze=False)[0])
    for part in axes:
        part.grid(True, color="0.88", linewidth=0.7)
        part.set_axisbelow(True)
        for side in ("top", "right"):
            part.spines[side].set_visible(False)
    return made, axes
