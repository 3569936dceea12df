"""Diagrams of records in texels, and of the programs of photon mapping in turn; from their declarations."""

from __future__ import annotations

from html import escape

from raystream.kernels import photons, records
from raystream.programs import photon_emission, photon_frame
from raystream.programs.photon_map import photon_map
from raystream.stream.declare.record import COMPONENTS, Record

INK, SOFT = "#1d232b", "#5d6875"
SHADES = ("#dbe8f5", "#f8e3d2", "#dcefe0", "#f3dcdb", "#e7e0f2", "#efe7d8")
CELL, ROW, NAME = 92, 24, 150
SHOWN = (
    *(records.PIXEL, records.RAY, records.HIT, records.RADIANCE, records.PATH, records.FILM, records.TRIANGLE),
    *(photons.PHOTON, photons.ENTRY, photons.FIRST),
)


def label(x: float, y: float, text: str, size: float = 11, color: str = INK, middle: bool = False) -> str:
    """An SVG text."""
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}"{anchor}>{escape(text)}</text>'


def document(parts: list[str], width: float, height: float, title: str) -> str:
    """A whole SVG document of these elements."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="Helvetica, Arial, sans-serif">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"]) + "\n"


def draw_records(shown: tuple[Record, ...] = SHOWN) -> str:
    """The texels of records, a row each."""
    parts = [label(NAME + CELL * (k + 0.5), 18, name, 11, SOFT, True) for k, name in enumerate(COMPONENTS)]
    y = 28.0
    for record in shown:
        parts.append(label(12, y + 16, record.name, 12))
        names = [field.name for field in record.fields]
        for texel in range(record.texels):
            parts.append(
                f'<rect x="{NAME}" y="{y:g}" width="{4 * CELL}" height="{ROW}" fill="#ffffff" stroke="#9aa4b0"/>'
            )
            for run in record.runs:
                if run.texel != texel:
                    continue
                x, width = NAME + CELL * run.component, CELL * run.size
                shade = SHADES[names.index(run.field.name) % len(SHADES)]
                parts.append(
                    f'<rect x="{x}" y="{y:g}" width="{width}" height="{ROW}" fill="{shade}" stroke="{SOFT}" '
                    'stroke-width="0.8"/>'
                )
                whole = run.size == run.field.width
                span = COMPONENTS[run.first : run.first + run.size]
                text = run.field.name if whole else f"{run.field.name}.{span}"
                parts.append(label(x + width / 2, y + 16, text, 10.5, middle=True))
            y += ROW
        y += 12
    return document(parts, NAME + 4 * CELL + 12, y, "records in texels")


def draw_stages() -> str:
    """Photon mapping's programs in turn, with the streams that go from one to the next."""
    emission, frame, picture = photon_emission(), photon_frame(), photon_map(search="nearest")
    tables = [name for name in picture.inputs if name not in ("pixel", "film")]
    # The last names of the streams between: what the one leaves and the next takes.
    between = [
        [name for name in emission.results if name in frame.inputs],
        ["photon"],
        tables,
    ]
    boxes = (
        ("emission", "photons leave the lights"),
        ("photons", "a frame for each bounce"),
        ("photon map", "sort and search, or routing"),
        ("photon", "rays and radiance estimate"),
    )
    assert (emission.name, frame.name, picture.name) == ("emission", "photons", "photon")
    width, gap, top, height = 172, 104, 44, 56
    parts: list[str] = []
    for number, (name, about) in enumerate(boxes):
        x = 12 + number * (width + gap)
        parts.append(
            f'<rect x="{x}" y="{top}" width="{width}" height="{height}" rx="6" fill="#ffffff" stroke="{INK}"/>'
        )
        parts.append(label(x + width / 2, top + 24, name, 13, middle=True))
        parts.append(label(x + width / 2, top + 42, about, 10.5, SOFT, True))
        if number < len(between):
            parts += _arrow(x + width, x + width + gap, top + height / 2)
            for line, stream in enumerate(reversed(between[number])):
                parts.append(label(x + width + gap / 2, top + height / 2 - 8 - 13 * line, stream, 10.5, middle=True))
    centre = 12 + (width + gap) + width / 2
    parts.append(
        f'<path d="M {centre - 40} {top + height} v 22 h 80 v -15" fill="none" stroke="{INK}" stroke-width="1.3"/>'
        f'<polygon points="{centre + 40},{top + height} {centre + 36},{top + height + 8} '
        f'{centre + 44},{top + height + 8}" '
        f'fill="{INK}"/>'
    )
    again = ", ".join(name for name in frame.results if name in frame.inputs)
    parts.append(label(centre, top + height + 38, f"next bounce: {again}", 10.5, middle=True))
    last = 12 + 3 * (width + gap) + width / 2
    parts.append(label(last, top + height + 38, f"result: {', '.join(picture.results)}", 10.5, middle=True))
    parts.append(label(12, 18, "when geometry or lights change", 11, SOFT))
    parts.append(label(last - width / 2, 18, "every frame", 11, SOFT))
    return document(parts, 24 + 4 * width + 3 * gap, top + height + 56, "photon mapping")


def _arrow(left: float, right: float, y: float) -> list[str]:
    return [
        f'<line x1="{left}" y1="{y}" x2="{right - 6}" y2="{y}" stroke="{INK}" stroke-width="1.3"/>',
        f'<polygon points="{right},{y} {right - 8},{y - 4} {right - 8},{y + 4}" fill="{INK}"/>',
    ]
