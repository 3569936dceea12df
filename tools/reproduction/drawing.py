"""Drawings of boxes, texts and arrows as SVG documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

INK, SOFT, PAPER = "#1d232b", "#5d6875", "#ffffff"
SHADES = ("#dbe8f5", "#f8e3d2", "#dcefe0", "#f3dcdb", "#e7e0f2", "#efe7d8")
HEAD = 7.0  # length of an arrow's head
Point = tuple[float, float]


class Drawing:
    """Collects the elements of a document; lengths in points, y down."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, size: float = 11, color: str = INK, middle: bool = False) -> None:
        """A text on its base line, from x or around it."""
        anchor = ' text-anchor="middle"' if middle else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}"{anchor}>{escape(text)}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = PAPER, edge: str = INK, radius: float = 0
    ) -> None:
        """A rectangle by its upper left corner."""
        around = f' rx="{radius:g}"' if radius else ""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect {place}{around} fill="{fill}" stroke="{edge}"/>')

    def named(
        self, x: float, y: float, width: float, height: float, name: str, about: str = "", fill: str = PAPER
    ) -> None:
        """A rounded box with its name in the middle, and a line below it."""
        self.box(x, y, width, height, fill, radius=6)
        middle = y + height / 2
        self.text(x + width / 2, middle + (-3 if about else 5), name, 12, middle=True)
        if about:
            self.text(x + width / 2, middle + 13, about, 9.5, SOFT, True)

    def cells(
        self, x: float, y: float, width: float, height: float, cells: Sequence[tuple[str, int]], size: float = 10.5
    ) -> None:
        """Boxes side by side: of each its text, and the number of its shade, -1 for none."""
        for k, (text, shade) in enumerate(cells):
            self.box(x + k * width, y, width, height, SHADES[shade] if shade >= 0 else PAPER, SOFT)
            self.text(x + (k + 0.5) * width, y + height / 2 + 4, text, size, middle=True)

    def ellipse(
        self, x: float, y: float, across: float, down: float, text: str, size: float = 11, fill: str = PAPER
    ) -> None:
        """An ellipse by its middle and half axes, around a text."""
        axes = f'cx="{x:g}" cy="{y:g}" rx="{across:g}" ry="{down:g}"'
        self.parts.append(f'<ellipse {axes} fill="{fill}" stroke="{INK}"/>')
        self.text(x, y + 4, text, size, middle=True)

    def line(self, *points: Point, color: str = INK, dashed: bool = False) -> None:
        """A line from point to point."""
        path = " L ".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(f'<path d="M {path}" fill="none" stroke="{color}"{dash}/>')

    def arrow(self, *points: Point, dashed: bool = False) -> None:
        """A line with a head at its last point."""
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0)
        u, v = HEAD * (x1 - x0) / length, HEAD * (y1 - y0) / length
        self.line(*points[:-1], (x1 - u, y1 - v), dashed=dashed)
        sides = " ".join(f"{x1 - u + k * v:g},{y1 - v - k * u:g}" for k in (0.57, -0.57))
        self.parts.append(f'<polygon points="{x1:g},{y1:g} {sides}" fill="{INK}"/>')

    def document(self, width: float, height: float, title: str) -> str:
        """The whole SVG document."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="Helvetica, Arial, sans-serif">'
        )
        return "\n".join([head, f"<title>{escape(title)}</title>", *self.parts, "</svg>"]) + "\n"
