"""Figures by matplotlib in the report's dress, as SVG text."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

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

    matplotlib.rcParams.update({**STYLE, "axes.prop_cycle": cycler(color=COLORS)})  # legends made later ask for it too
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(made)
    return made, made.subplots(**subplots)


def svg(figure: Figure) -> str:
    """The figure as a whole SVG document without a date, to a hundredth of a point, in the reader's own font."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    attributes = re.sub(r'="[^"]*"', lambda each: _NUMBER.sub(_short, each[0]), text.getvalue())
    for long, short in (
        (r"\n\s*", "\n"),
        (r"; font-family: [^;\"]*", ""),
        ("<svg ", '<svg font-family="sans-serif" '),
        (r'<g id="[^"]*"', "<g"),
        (r' transform="rotate\(-0 [^"]*"', ""),
    ):
        attributes = re.sub(long, short, attributes)
    attributes = _ungrouped(attributes)
    stroked = set(re.findall(r'<path id="([^"]*)"[^>]* style="stroke', attributes))
    return _USE.sub(lambda use: use[1] + (f'{use[3]}"' if use[3] else "") if use[2] in stroked else use[0], attributes)


def _ungrouped(text: str) -> str:
    """Without the groups that have no attributes."""
    kept: list[bool] = []  # of the groups around

    def tag(found: re.Match[str]) -> str:
        if found[0].endswith("/>"):
            return ""
        if found[0] != "</g>":
            kept.append(found[0] != "<g>")
            return found[0] if kept[-1] else ""
        return found[0] if kept.pop() else ""

    return re.sub(r"\n\n+", "\n", re.sub(r"<g\b[^>]*>|</g>", tag, text))


# A marker: its fill is of each use, its stroke the path's, which each use names again.
_USE = re.compile(r'(<use xlink:href="#([^"]*)"[^>]*?)( style="fill: [^;"]*)?(?: style="|; )stroke[^"]*"')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
