"""Diagrams of streams, of the graphics pipeline and of loops over passes: our own, after the papers' text, with names
and numbers of linked programs and of the limits of the day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from raystream.stream.declare.limits import LIMITS
from reproduction.simulators.counts.programs import published_program

from .memory_layout import INK, SHADES, SOFT, document, label

WIDTH, HEIGHT, GAP = 150.0, 46.0, 34.0


@dataclass(frozen=True)
class Box:
    """A box of a row: its name, a line below it inside, and whether it runs a program."""

    name: str
    about: str = ""
    runs: bool = False


def _lines(x: float, y: float, lines: Sequence[str]) -> list[str]:
    return [label(x, y + 13 * k, line, 10, SOFT, middle=True) for k, line in enumerate(lines)]


def _head(x: float, y: float, down: float) -> str:
    return f'<polygon points="{x:g},{y:g} {x - 4:g},{y - down * 7:g} {x + 4:g},{y - down * 7:g}" fill="{INK}"/>'


def row(boxes: Sequence[Box], top: float, between: Sequence[Sequence[str]] = (), gap: float = GAP) -> list[str]:
    """Boxes from left to right with arrows; ``between`` stands above each arrow."""
    parts = []
    for k, box in enumerate(boxes):
        x = 12 + k * (WIDTH + gap)
        fill = SHADES[0] if box.runs else "#ffffff"
        parts.append(
            f'<rect x="{x:g}" y="{top:g}" width="{WIDTH:g}" height="{HEIGHT:g}" rx="6" fill="{fill}" stroke="{INK}"/>'
        )
        parts.append(label(x + WIDTH / 2, top + (20 if box.about else 28), box.name, 12, middle=True))
        parts.append(label(x + WIDTH / 2, top + 36, box.about, 9.5, SOFT, middle=True))
        if k + 1 < len(boxes):
            left, right, y = x + WIDTH, x + WIDTH + gap, top + HEIGHT / 2
            parts.append(f'<line x1="{left:g}" y1="{y:g}" x2="{right - 6:g}" y2="{y:g}" stroke="{INK}"/>')
            parts.append(
                f'<polygon points="{right:g},{y:g} {right - 7:g},{y - 4:g} {right - 7:g},{y + 4:g}" fill="{INK}"/>'
            )
            if k < len(between):
                parts += _lines((left + right) / 2, y - 6 - 13 * (len(between[k]) - 1), between[k])
    return parts


def back(first: int, last: int, top: float, text: str, gap: float = GAP, depth: float = 26.0) -> list[str]:
    """An arrow below a row, from the middle of its box ``last`` back to that of ``first``."""
    x0, x1 = (12 + k * (WIDTH + gap) + WIDTH / 2 for k in (first, last))
    y = top + HEIGHT
    return [
        f'<path d="M {x1:g} {y:g} v {depth:g} H {x0:g} v {-depth + 6:g}" fill="none" stroke="{INK}"/>',
        _head(x0, y, -1),
        label((x0 + x1) / 2, y + depth - 5, text, 10, SOFT, middle=True),
    ]


def _width(boxes: int, gap: float = GAP) -> float:
    return 24 + boxes * WIDTH + (boxes - 1) * gap


def draw_streams(program: str = "cast") -> str:
    """Kernels of a program in their order, and the streams that go from one to the next."""
    linked = published_program(program, grid=8)
    steps = {step.name: step for step in linked.steps("none")}
    names = ("eye", "setup", "traverse", "intersect", "shade")
    shown = [steps[name] for name in names]
    between = [[name for name in one.stores if name in two.loads] for one, two in pairwise(shown)]
    gap, top = 84.0, 70.0
    parts = row([Box(name, "kernel", True) for name in names], top, between, gap)
    for k, step in enumerate(shown):
        read = [memory.name for memory in linked.memories_of(step)]
        x = 12 + k * (WIDTH + gap) + WIDTH / 2
        if read:
            y = top + HEIGHT
            parts.append(f'<line x1="{x:g}" y1="{y + 26:g}" x2="{x:g}" y2="{y + 7:g}" stroke="{INK}"/>')
            parts.append(_head(x, y, -1))
            parts += _lines(x, y + 40, read)
    parts.append(label(12, 18, "above the arrows: streams, an element for each ray", 10.5, SOFT))
    parts.append(label(12, 33, "below the kernels: memories, read at any address", 10.5, SOFT))
    most = max(len(linked.memories_of(step)) for step in shown)
    return document(parts, _width(len(names), gap), top + HEIGHT + 46 + 13 * most, "kernels and streams")


def draw_pipeline() -> str:
    """The graphics pipeline with its two programs, and the way back by which it becomes a stream processor."""
    boxes = (
        Box("application", "draws one quad"),
        Box("vertex program", "places its corners", True),
        Box("rasterizer", "a fragment for each ray"),
        Box("fragment program", "a kernel", True),
        Box("depth, stencil", "a mask of the rays"),
        Box("textures", "what is written"),
    )
    top = 16.0
    text = "the next pass reads what this one wrote"
    parts = [*row(boxes, top), *back(3, 5, top, text)]
    return document(parts, _width(len(boxes)), top + HEIGHT + 38, "the graphics pipeline")


def draw_fragment_processor() -> str:
    """A fragment processor: what its program reads and writes, with the limits of 2004."""
    day = LIMITS["2004"]
    reads = (
        ("position, attributes", "interpolated over the quad"),
        ("constants", "uniforms"),
        ("textures", f"{day.samplers} at most, {day.fetches} levels deep"),
        ("registers", "lost after the fragment"),
    )
    parts: list[str] = []
    top, tall = 14.0, HEIGHT + 10
    x = 12 + WIDTH + 3 * GAP
    middle = top + 2 * tall - 5
    for k, (name, about) in enumerate(reads):
        y = top + k * tall
        parts.append(
            f'<rect x="12" y="{y:g}" width="{WIDTH + 20:g}" height="{HEIGHT:g}" fill="{SHADES[2]}" stroke="{SOFT}"/>'
        )
        parts.append(label(22 + WIDTH / 2, y + 20, name, 12, middle=True))
        parts.append(label(22 + WIDTH / 2, y + 36, about, 9.5, SOFT, middle=True))
        parts.append(
            f'<line x1="{32 + WIDTH:g}" y1="{y + HEIGHT / 2:g}" x2="{x - 2:g}" y2="{middle + (k - 1.5) * 12:g}" '
            f'stroke="{INK}"/>'
        )
    boxes = (Box("fragment program", f"{day.instructions} instructions", True), Box(f"{day.outputs} outputs", "RGBA"))
    parts += [f'<g transform="translate({x - 12:g} 0)">', *row(boxes, middle - HEIGHT / 2), "</g>"]
    return document(parts, x + 2 * WIDTH + GAP + 12, top + 4 * tall, "a fragment processor")


# The loops of D 4.1.2, by how the mask is made and where the query stands: (title, passes of a round, what repeats).
LOOPS = (
    (
        "discard: the query is around the test pass",
        (
            Box("test pass", "discards rays that are done", True),
            Box("query", "fragments that are left"),
            Box("kernel over all", "runs for every ray", True),
        ),
        "until the query counts none",
    ),
    (
        "depth: the query is around the kernel",
        (
            Box("test pass", "writes each ray's depth", True),
            Box("kernel, depth equal", "early test skips the rest", True),
            Box("query", "fragments that ran"),
        ),
        "until the query counts none",
    ),
    (
        "stencil: the kernel itself sets the state (P2)",
        (
            Box("kernel, stencil equal", "sets the next state", True),
            Box("count of each state", "over the stencil"),
            Box("host", "chooses the next kernel"),
        ),
        "until no ray waits",
    ),
)


def draw_loop(number: int) -> str:
    """A loop over passes, one of `LOOPS`."""
    title, boxes, text = LOOPS[number]
    top = 14.0
    parts = [*row(boxes, top), *back(0, len(boxes) - 1, top, text)]
    return document(parts, _width(len(boxes)), top + HEIGHT + 38, title)
