"""Plots without a window: matplotlib where it is installed, with colours for colour-blind readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, "Color universal design" (2008), without the yellow, too light for lines.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # identifies lines without colour


T = TypeVar("T")


def look(number: int, width: float = 1.5) -> dict[str, Any]:
    """A line of its own by its number in a figure: colour, marker, width in points; dashed where the colours begin
    again."""
    again, turn = divmod(number, len(COLORS))
    dash = "--" if again % 2 else "-"
    return {"color": COLORS[turn], "marker": MARKERS[turn], "markersize": 3.5, "linewidth": width, "linestyle": dash}


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


def bars(
    axes: Axes,
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    width: float = 0.8,
    text: str = "",
    size: float = 8,
) -> None:
    """Bars side by side at each name, one for each label of ``values``, in its colour.

    width : of all bars of a name, 1 touches the next. text : a format of the numbers above the bars, none without;
    size : theirs, in points.
    """
    wide = width / len(values)
    for number, (label, heights) in enumerate(values.items()):
        places = np.arange(len(names)) + (number - (len(values) - 1) / 2) * wide
        shown = axes.bar(places, heights, 0.92 * wide, color=COLORS[number], label=label)
        if text:
            axes.bar_label(shown, fmt=text, fontsize=size, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.grid(False, axis="x")


def flips(looks: Mapping[str, Sequence[tuple[float, float]]], label: str, readable: float | None = None) -> Figure:
    """FLIP over seconds, a line of (seconds, FLIP) for each scene.

    label : of the seconds. readable : a FLIP that is marked.
    """
    made, (panel,) = figure(6.4, 4.0)
    for number, (name, line) in enumerate(looks.items()):
        seconds, found = zip(*line, strict=True)
        panel.loglog(seconds, found, label=name, **look(number))
    if readable is not None:
        panel.axhline(readable, color="0.4", linewidth=0.8, linestyle="--")
    panel.set_xlabel(label)
    panel.set_ylabel("FLIP")
    panel.legend(frameon=False, fontsize=7)
    return made
