"""A program as a diagram: states below each other, and a lane for every state that others lead to.

Made from the program's own table (`raystream.stream.declare.program.Program`), so that the two cannot drift apart. An
exit to the next state is an arrow down, one to the same state a loop on the left; every other one runs to the right
into the lane of the state it leads to. A lane is one state's alone, so that lines cross at right angles and never lie
on each other, and labels stand before the first lane. States that are called have a frame; its RETURN leads back to
where the callers named, by dashed lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from raystream.stream.declare.kernel import Access
from raystream.stream.declare.program import DONE, RETURN, Call, Program, State
from raystream.stream.declare.record import Record

COLORS = ("#2f6fab", "#b8591a", "#2e7d46", "#a33a37", "#6d4fa3", "#7a5c1e", "#ab4a8a", "#4b5563")
INK, MUTED, LINE, BACKGROUND, FRAME_COLOR = "#1d232b", "#5d6875", "#9aa4b0", "#ffffff", "#eef2f6"
# Pixels. Widths of characters are those of wide fonts, since nobody knows which one will be there.
NAME_SIZE, TEXT_SIZE = 13.0, 10.5
CHARACTER_WIDTH = 0.62  # of the font size
LINE_HEIGHT, EXIT_SPACING, PADDING = 14.0, 17.0, 9.0
ROW_GAP, LANE_SPACING, MARGIN = 30.0, 13.0, 14.0
LINE_CHARACTERS = 46  # characters of a line in a box
ACCESS = {Access.IN: "reads", Access.INOUT: "updates", Access.OUT: "writes", Access.GATHER: "gathers"}


@dataclass(frozen=True)
class Rectangle:
    """x and y of the upper left corner, width and height, pixels."""

    x: float
    y: float
    width: float
    height: float

    def overlaps(self, other: Rectangle) -> bool:
        """Whether they have more than an edge in common."""
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


@dataclass(frozen=True)
class Lane:
    """The vertical line to a ``target`` row: its x, and its y from ``top`` to ``bottom``, pixels."""

    target: str
    x: float
    top: float
    bottom: float


@dataclass
class Diagram:
    """A finished diagram: ``parts`` are its SVG elements; labels of exits, boxes of states by name, and lanes, in
    pixels, are for tests."""

    width: float = 0.0
    height: float = 0.0
    parts: list[str] = field(default_factory=list)
    labels: list[tuple[str, Rectangle]] = field(default_factory=list)
    boxes: dict[str, Rectangle] = field(default_factory=dict)
    lanes: list[Lane] = field(default_factory=list)

    def svg(self, title: str) -> str:
        """The SVG document."""
        width, height = round(self.width), round(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="{TEXT_SIZE:g}">'
        )
        return "\n".join([head, f"<title>{escape(title)}</title>", *self.parts, "</svg>"]) + "\n"


@dataclass
class _Row:
    """A row of the diagram: a state, the start, the end, or the return of called states."""

    key: str
    title: str
    lines: list[tuple[str, str]] = field(default_factory=list)  # (what, names), in small print
    exits: list[tuple[str, str]] = field(default_factory=list)  # (label, key of the row it leads to)
    round: bool = False
    frame: str = ""  # the entry of the called states that this row is one of
    dashed: bool = False
    box: Rectangle = Rectangle(0, 0, 0, 0)

    def exits_by_side(self, next_key: str) -> tuple[list[tuple[str, str]], list[str], list[str]]:
        """The exits to lanes, the labels of those to the next row, and the labels of those to the row itself."""
        lanes = [(label, to) for label, to in self.exits if to not in (self.key, next_key)]
        down = [label for label, to in self.exits if to == next_key]
        loop = [label for label, to in self.exits if to == self.key]
        return lanes, down, loop


def draw_program(program: Program, caption: str = "") -> Diagram:
    """The diagram of a program, with a table of its streams and records below."""
    rows = _rows(program)
    drawing = Diagram()
    next_keys = [*(row.key for row in rows[1:]), ""]
    sides = [row.exits_by_side(next_key) for row, next_key in zip(rows, next_keys, strict=True)]
    box_width = max(_box_width(row) for row in rows)
    loops = max([_text_width(", ".join(loop), TEXT_SIZE) for _, _, loop in sides if loop], default=0.0)
    labels = max([_text_width(label, TEXT_SIZE) for lanes, _, _ in sides for label, _ in lanes], default=0.0)
    left = MARGIN + loops + 38
    lanes_left = left + box_width + labels + 22  # labels end and lanes begin here
    y = MARGIN
    parts = drawing.parts
    y = _heading(drawing, program, caption, y)
    # Boxes of rows and frames of called states, from top to bottom.
    frames: dict[str, tuple[float, float]] = {}
    for index, (row, (lanes, _, _)) in enumerate(zip(rows, sides, strict=True)):
        opens = row.frame and (index == 0 or rows[index - 1].frame != row.frame)
        y += 20 if opens else 0
        height = max(_box_height(row), EXIT_SPACING * (len(lanes) + 1) + 4)
        width = box_width if not row.round else min(box_width, _text_width(row.title, NAME_SIZE) + 36)
        row.box = Rectangle(left, y, width, height)
        drawing.boxes[row.key] = row.box
        if row.frame:
            top = frames.get(row.frame, (y - 22, 0.0))[0]
            frames[row.frame] = top, y + height + 10
        closes = row.frame and (index + 1 == len(rows) or rows[index + 1].frame != row.frame)
        y += height + ROW_GAP + (6 if closes else 0)
    lanes_of = _lanes(rows, sides, lanes_left)
    drawing.lanes = list(lanes_of.values())
    right = max([lane.x for lane in drawing.lanes], default=lanes_left) + MARGIN
    for key, (top, bottom) in frames.items():
        x = MARGIN / 2
        parts.append(_rect(Rectangle(x, top, lanes_left - x - 6, bottom - top), FRAME_COLOR, "none", 8))
        parts.append(_text(x + 8, top + 13, f"called at {key}", TEXT_SIZE, MUTED))
    keys = [row.key for row in rows]
    for row, next_key, (lanes, down, loop) in zip(rows, next_keys, sides, strict=True):
        for index, (label, to) in enumerate(lanes):
            color = COLORS[keys.index(to) % len(COLORS)]
            exit_y, lane = row.box.y + EXIT_SPACING * (index + 1.5), lanes_of[to]
            parts.append(_line(row.box.x + row.box.width, exit_y, lane.x, exit_y, color, row.dashed))
            parts.append(f'<circle cx="{lane.x:.1f}" cy="{exit_y:.1f}" r="2.4" fill="{color}"/>')
            _label(drawing, left + box_width + 7, exit_y - 3.5, label, color)
        if down:
            x, top = row.box.x + 34, row.box.y + row.box.height
            below = next(other for other in rows if other.key == next_key).box.y
            parts += _arrow(x, top, x, below, INK, row.dashed)
            _label(drawing, x + 8, (top + below) / 2 + 4, ", ".join(down), INK)
        if loop:
            middle = row.box.y + row.box.height / 2
            x = row.box.x - 20
            path = f"M {row.box.x:.1f} {middle + 9:.1f} H {x:.1f} V {middle - 9:.1f} H {row.box.x - 5:.1f}"
            parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.2"/>')
            parts.append(_arrow_head(row.box.x, middle - 9, 1, 0, INK))
            text = ", ".join(loop)
            _label(drawing, x - 6 - _text_width(text, TEXT_SIZE), middle + 4, text, INK)
    for key, lane in lanes_of.items():
        color = COLORS[keys.index(key) % len(COLORS)]
        box = drawing.boxes[key]
        entry_y = box.y + min(EXIT_SPACING * 0.5, box.height / 2)
        parts.append(_line(lane.x, lane.top, lane.x, lane.bottom, color))
        parts += _arrow(lane.x, entry_y, box.x + box.width, entry_y, color)
    for row in rows:
        parts += _box(row)
    y, table_width = _streams(drawing, program, y + 4, max(right, 620.0))
    drawing.width, drawing.height = max(right, table_width, 620.0), y + MARGIN
    parts.insert(0, _rect(Rectangle(0, 0, drawing.width, drawing.height), BACKGROUND, "none", 0))
    return drawing


# -- the column ----------------------------------------------------------------------------------------------------


def _rows(program: Program) -> list[_Row]:
    """The rows of the start, of the states in the program's order, of returns of called states, and of the end."""
    returns: dict[str, list[str]] = {}  # entry of called states -> states at which its callers go on
    inside: dict[str, str] = {}  # called state -> that entry
    for call in program.calls():
        then = "DONE" if call.then is DONE else str(call.then)
        if then not in returns.setdefault(call.state, []):
            returns[call.state].append(then)
        for name in program.subroutine(call.state):
            inside.setdefault(name, call.state)
    rows = [_Row("START", "start", exits=[_exit_target(program.start, "")], round=True)]
    entries = set()
    for state in program.states:
        entry = inside.get(state.name, "")
        if not entry:
            rows.append(_state(state, ""))
        elif entry not in entries:
            entries.add(entry)
            rows += [_state(member, entry) for member in program.states if inside.get(member.name) == entry]
            exits = [("to the caller's", then) for then in returns[entry]]
            row = _Row(f"RETURN {entry}", "return", exits=exits, round=True, frame=entry, dashed=True)
            rows.append(row)
    rows.append(_Row("DONE", "done", round=True))
    return rows


def _state(state: State, frame: str) -> _Row:
    """The row of a state, with its kernel, streams by access, and exits. frame : as of `_Row`."""
    lines = [("kernel", state.kernel.file or "copies")]
    for access, word in ACCESS.items():
        arguments = [argument.name for argument in state.kernel.arguments if argument.access is access]
        streams = [(state.stream_of(argument), argument) for argument in arguments]
        names = [stream if stream == argument else f"{stream} as {argument}" for stream, argument in streams]
        for index, line in enumerate(_wrapped_lines(names, LINE_CHARACTERS)):
            lines.append((word if index == 0 else "", line))
    exits = []
    for name, target in state.exits.items():
        label, to = _exit_target(target, name)
        exits.append((label, f"RETURN {frame}" if to == "RETURN" else to))
    return _Row(state.name, state.name, lines, exits, frame=frame)


def _exit_target(target: object, name: str) -> tuple[str, str]:
    """The label of an exit, and the key of the row that it leads to."""
    if isinstance(target, Call):
        then = "done" if target.then is DONE else str(target.then)
        return f"{name}: call, then {then}".removeprefix(": "), target.state
    if target is DONE or target is RETURN:
        return name, repr(target)
    return name, str(target)


def _lanes(rows: Sequence[_Row], sides: Sequence[tuple[list, list, list]], left: float) -> dict[str, Lane]:
    """A vertical lane for each row that exits lead to, by the row's key, the shortest to the left; lanes whose spans do
    not overlap share a track. sides : each row's exits by lanes, and its others. left : x of the first track."""
    spans: dict[str, list[float]] = {}
    for row, (lanes, _, _) in zip(rows, sides, strict=True):
        for index, (_, to) in enumerate(lanes):
            spans.setdefault(to, []).append(row.box.y + EXIT_SPACING * (index + 1.5))
    boxes = {row.key: row.box for row in rows}
    for key, span in spans.items():
        span.append(boxes[key].y + min(EXIT_SPACING * 0.5, boxes[key].height / 2))
    tracks: list[list[tuple[float, float]]] = []
    lane_of: dict[str, Lane] = {}
    for key, span in sorted(spans.items(), key=lambda item: (max(item[1]) - min(item[1]), item[0])):
        top, bottom = min(span), max(span)
        free = (all(bottom + 8 < low or high + 8 < top for low, high in intervals) for intervals in tracks)
        track = next((track for track, is_free in enumerate(free) if is_free), len(tracks))
        if track == len(tracks):
            tracks.append([])
        tracks[track].append((top, bottom))
        lane_of[key] = Lane(key, left + LANE_SPACING * (track + 0.5), top, bottom)
    return lane_of


# -- text ----------------------------------------------------------------------------------------------------------


def _heading(drawing: Diagram, program: Program, caption: str, y: float) -> float:
    drawing.parts.append(_text(MARGIN, y + 12, f"program {program.name}", 15, INK, bold=True))
    if caption:
        drawing.parts.append(_text(MARGIN, y + 29, caption, TEXT_SIZE, MUTED))
    return y + (46 if caption else 30)


def _streams(drawing: Diagram, program: Program, y: float, width: float) -> tuple[float, float]:
    """Draw the table of streams from ``y`` down; returns the y at its end, and its width, pixels."""
    parts = drawing.parts
    parts.append(_text(MARGIN, y + 12, "streams", NAME_SIZE, INK, bold=True))
    y += 32
    names = [(name, _role(program, name)) for name in program.streams]
    first = MARGIN + max(_text_width(name, TEXT_SIZE) for name, _ in names) + 14
    second = first + max(_text_width(role, TEXT_SIZE) for _, role in names) + 14
    room = max(40, int((width - second - MARGIN) / (TEXT_SIZE * CHARACTER_WIDTH)))
    table_width = 0.0
    for name, role in names:
        parts.append(_text(MARGIN, y, name, TEXT_SIZE, INK, bold=True))
        parts.append(_text(first, y, role, TEXT_SIZE, MUTED))
        for line in _wrapped_lines(_fields(program, name), room):
            parts.append(_text(second, y, line, TEXT_SIZE, MUTED))
            table_width = max(table_width, second + _text_width(line, TEXT_SIZE) + MARGIN)
            y += LINE_HEIGHT
        y += 3
    return y, table_width


def _role(program: Program, name: str) -> str:
    words = [word for word, group in (("input", program.inputs), ("result", program.results)) if name in group]
    return ", ".join(words) or "between kernels"


def _fields(program: Program, name: str) -> list[str]:
    record = program.streams[name]
    if not isinstance(record, Record):
        return [f"{record.name}: its fields are of the module that provides them"]
    texels = f"{record.name}, {record.texels} {'texel' if record.texels == 1 else 'texels'}:"
    fields = [f"{field.type} {field.name}" for field in record.fields]
    return [f"{texels} {fields[0]}", *fields[1:]] if fields else [texels.rstrip(":")]


def _wrapped_lines(words: Sequence[str], room: int) -> Iterator[str]:
    """Words joined by commas, in lines of at most ``room`` characters."""
    line = ""
    for index, word in enumerate(words):
        piece = word + ("," if index + 1 < len(words) else "")
        if line and len(line) + 1 + len(piece) > room:
            yield line
            line = piece
        else:
            line = f"{line} {piece}".strip()
    if line:
        yield line


def _text_width(text: str, size: float) -> float:
    return len(text) * size * CHARACTER_WIDTH


def _box_width(row: _Row) -> float:
    small = [_text_width(names, TEXT_SIZE) + 52 for _, names in row.lines]
    return max([_text_width(row.title, NAME_SIZE) * 1.1, *small, 60.0]) + 2 * PADDING


def _box_height(row: _Row) -> float:
    return 24 + LINE_HEIGHT * len(row.lines) + (4 if row.lines else 0)


# -- SVG -----------------------------------------------------------------------------------------------------------


def _box(row: _Row) -> Iterator[str]:
    box = row.box
    yield _rect(box, BACKGROUND, INK if not row.round else LINE, 12 if row.round else 5)
    yield _text(box.x + (18 if row.round else PADDING), box.y + 17, row.title, NAME_SIZE, INK, bold=not row.round)
    for index, (what, names) in enumerate(row.lines):
        y = box.y + 32 + LINE_HEIGHT * index
        yield _text(box.x + PADDING, y, what, TEXT_SIZE, MUTED)
        yield _text(box.x + PADDING + 52, y, names, TEXT_SIZE, INK)


def _label(drawing: Diagram, x: float, y: float, text: str, color: str) -> None:
    """Add the label of an exit, its lower left corner at (x, y)."""
    if text:
        drawing.labels.append((text, Rectangle(x, y - TEXT_SIZE + 2, _text_width(text, TEXT_SIZE), TEXT_SIZE)))
        drawing.parts.append(_text(x, y, text, TEXT_SIZE, color))


def _coordinate(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(x: float, y: float, text: str, size: float, color: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    other = "" if size == TEXT_SIZE else f' font-size="{size:g}"'
    return f'<text x="{_coordinate(x)}" y="{_coordinate(y)}"{other} fill="{color}"{weight}>{escape(text)}</text>'


def _rect(box: Rectangle, fill: str, stroke: str, radius: float) -> str:
    x, y, width, height = map(_coordinate, (box.x, box.y, box.width, box.height))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius:g}" fill="{fill}" stroke="{stroke}"/>'


def _line(x0: float, y0: float, x1: float, y1: float, color: str, dashed: bool = False) -> str:
    ends = " ".join(
        f'{name}="{_coordinate(value)}"' for name, value in (("x1", x0), ("y1", y0), ("x2", x1), ("y2", y1))
    )
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<line {ends} stroke="{color}" stroke-width="1.3"{dash}/>'


def _arrow(x0: float, y0: float, x1: float, y1: float, color: str, dashed: bool = False) -> Iterator[str]:
    """A line parallel to an axis, with its head at the second point."""
    length = max(abs(x1 - x0), abs(y1 - y0), 1e-9)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    yield _line(x0, y0, x1 - 5 * dx, y1 - 5 * dy, color, dashed)
    yield _arrow_head(x1, y1, dx, dy, color)


def _arrow_head(x: float, y: float, dx: float, dy: float, color: str) -> str:
    back = x - 7 * dx, y - 7 * dy
    points = [(x, y), (back[0] - 3.5 * dy, back[1] + 3.5 * dx), (back[0] + 3.5 * dy, back[1] - 3.5 * dx)]
    return f'<polygon points="{" ".join(f"{_coordinate(a)},{_coordinate(b)}" for a, b in points)}" fill="{color}"/>'
