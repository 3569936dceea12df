"""Figures by matplotlib in the report's dress, as SVG text."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#2f6fab", "#d1772e", "#3f8f4f", "#b0413e", "#7a5ea8", "#8a6d3b", "#c065a0", "#6b7280")
STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small files, and the reader's font
    "svg.hashsalt": "raystream",  # the same figure is the same file
}


def figure(width: float = 7.0, height: float = 3.5, **subplots: Any) -> tuple[Figure, Any]:
    """A figure of so many inches and its axes, as of ``plt.subplots``, without a window."""
    import matplotlib
    from cycler import cycler
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {**STYLE, "axes.prop_cycle": cycler(color=COLORS)}
    matplotlib.rcParams.update(style)  # legends made later ask for it too
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(made)
    return made, made.subplots(**subplots)


def stacked(axis: Any, places: Any, width: float, stacks: Mapping[str, Any], named: bool = True) -> None:
    """Draws bars upon one another. stacks : heights at each place by label; named : whether the legend has them."""
    below = np.zeros(len(places))
    for color, (label, heights) in zip(COLORS, stacks.items(), strict=False):
        axis.bar(places, heights, width, bottom=below, label=label if named else None, color=color)
        below += heights


def powers_of_two(axis: Any, ticks: Sequence[int], shown: str = "{}", **others: Any) -> None:
    """Makes the axis of x logarithmic, with these ticks, each in a format. others : as of ``Axes.set``."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks, labels=[shown.format(each) for each in ticks])
    axis.set(**others)


def square(x: float, y: float, **style: Any) -> Any:
    """A square of edge 1, by its lower left corner."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, **style)


def svg(figure: Figure) -> str:
    """The figure as a whole SVG document without a date, to a hundredth of a point, in the reader's own font."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    attributes = re.sub(r'="[^"]*"', lambda each: _NUMBER.sub(_short, each[0]), text.getvalue())
    for long, short in (
        (r"font-family: [^;\"]*;? ?", ""),
        (r"(<svg [^>]*)>", r'\1 font-family="sans-serif">'),
        (r' transform="rotate\(-?0 [^"]*"', ""),
        (r'<g id="[^"]*"', "<g"),
        (r" ?\n\s*", " "),
        (r'( d="[^"]*?) "', r'\1"'),
        (r"> <", "><"),
    ):
        attributes = re.sub(long, short, attributes)
    styled = re.sub(r'style="[^"]*"', lambda each: re.sub(r"([;:]) ", r"\1", each[0]), attributes)
    return _without_bare_groups(styled)


def _without_bare_groups(text: str) -> str:
    """The document without groups that have no attribute, which change nothing."""
    kept, depth = [], list[bool]()
    for part in re.split(r"(<g\b[^>]*>|</g>)", text):
        if part.startswith("<g") and not part.endswith("/>"):
            depth.append(part != "<g>")
            part = part if depth[-1] else ""
        elif part == "</g>" and not depth.pop():
            part = ""
        kept.append(part)
    return "".join(kept)


_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
