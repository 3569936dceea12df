"""Drawings of boxes, texts and arrows: our own, after the papers' text and captions. Those in ``svg`` are drawn by
hand; the rest shows names and numbers of linked programs, small scenes' own arrays, and records' declarations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.accel.grid import build
from raystream.accel.grid.blocks import BLOCK, Blocks, allocate
from raystream.accel.two_level.structure import objects_of
from raystream.kernels import photons, records
from raystream.programs import photon_emission, photon_frame
from raystream.programs.photon_map import photon_map
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.scene.builtin import build as builtin
from raystream.stream.declare.kernel import Table, Volume
from raystream.stream.declare.limits import LIMITS
from raystream.stream.declare.record import COMPONENTS
from reproduction.simulators.counts import RECIPE, published_program
from reproduction.simulators.photons import bitonic_sort
from reproduction.simulators.whitted.probes import ANGLE, INDEX, directions, small, visited

from .plots import figure, svg
from .report import Figure, captioned

INK, SOFT, PAPER = "#1d232b", "#5d6875", "#ffffff"
SHADES = ("#dbe8f5", "#f8e3d2", "#dcefe0", "#f3dcdb", "#e7e0f2", "#efe7d8")
HEAD = 7.0  # length of an arrow's head
WIDTH, HEIGHT, GAP, ROW = 150.0, 46.0, 34.0, 24  # of a box, between two, and of a row of cells
OURS = "Our own drawing: of the printed one the caption is at hand."


def by_hand(name: str) -> str:
    """A drawing of the folder ``svg``, with the limits of 2004 where it asks for them."""
    return (Path(__file__).parent / "svg" / f"{name}.svg").read_text(encoding="utf-8").format(day=LIMITS["2004"])


class Drawing:
    """Collects the elements of an SVG document; lengths in points, y down."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def _put(self, element: str, *pairs: tuple[str, Any], text: str = "") -> None:
        written = "".join(f' {k}="{f"{v:g}" if isinstance(v, float | int) else v}"' for k, v in pairs)
        self.parts.append(f"<{element}{written}>{escape(text)}</{element}>" if text else f"<{element}{written}/>")

    def text(self, x: float, y: float, text: str, size: float = 11, color: str = INK, middle: bool = False) -> None:
        """A text on its base line, from x or around it."""
        anchor = [("text-anchor", "middle")] * middle
        self._put("text", ("x", x), ("y", y), ("font-size", size), ("fill", color), *anchor, text=text)

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = PAPER, edge: str = INK, radius: float = 0
    ) -> None:
        """A rectangle by its upper left corner."""
        around = [("rx", radius)] if radius else []
        at = ("x", x), ("y", y), ("width", width), ("height", height)
        self._put("rect", *at, *around, ("fill", fill), ("stroke", edge))

    def cells(
        self, x: float, y: float, width: float, height: float, cells: Iterable[tuple[str, int]], size: float = 10.5
    ) -> None:
        """Boxes side by side: of each its text, and the number of its shade, -1 for none."""
        for k, (text, shade) in enumerate(cells):
            self.box(x + k * width, y, width, height, SHADES[shade] if shade >= 0 else PAPER, SOFT)
            self.text(x + (k + 0.5) * width, y + height / 2 + 4, text, size, middle=True)

    def ellipse(
        self, x: float, y: float, across: float, down: float, text: str, size: float = 11, fill: str = PAPER
    ) -> None:
        """An ellipse by its middle and half axes, around a text."""
        self._put("ellipse", ("cx", x), ("cy", y), ("rx", across), ("ry", down), ("fill", fill), ("stroke", INK))
        self.text(x, y + 4, text, size, middle=True)

    def line(self, *points: Sequence[float], color: str = INK, dashed: bool = False) -> None:
        """A line from point to point."""
        path = "M " + " L ".join(f"{x:g} {y:g}" for x, y in points)
        dash = [("stroke-dasharray", "4 3")] * dashed
        self._put("path", ("d", path), ("fill", "none"), ("stroke", color), *dash)

    def arrow(self, *points: Sequence[float], dashed: bool = False) -> None:
        """A line with a head at its last point."""
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0)
        u, v = HEAD * (x1 - x0) / length, HEAD * (y1 - y0) / length
        self.line(*points[:-1], (x1 - u, y1 - v), dashed=dashed)
        wings = " ".join(f"{x1 - u + k * v:g},{y1 - v - k * u:g}" for k in (0.57, -0.57))
        self._put("polygon", ("points", f"{x1:g},{y1:g} {wings}"), ("fill", INK))

    def row(self, boxes: Sequence[str], top: float, between: Sequence[Sequence[str]] = (), gap: float = GAP) -> float:
        """Boxes from left to right with arrows, whose texts stand above them; of each box its name, behind a bar a line
        below it, and a ``*`` before where it runs a program. Returns the row's width."""
        for k, box in enumerate(boxes):
            (name, _, about), x, y = box.lstrip("*").partition("|"), 12 + k * (WIDTH + gap), top + HEIGHT / 2
            self.box(x, top, WIDTH, HEIGHT, SHADES[0] if box.startswith("*") else PAPER, radius=6)
            self.text(x + WIDTH / 2, y + (-3 if about else 5), name, 12, middle=True)
            if about:
                self.text(x + WIDTH / 2, y + 13, about, 9.5, SOFT, True)
            if k + 1 < len(boxes):
                self.arrow((x + WIDTH, y), (x + WIDTH + gap, y))
                for line, text in enumerate(reversed(between[k] if k < len(between) else ())):
                    self.text(x + WIDTH + gap / 2, y - 6 - 13 * line, text, 10, SOFT, True)
        return 24 + len(boxes) * WIDTH + (len(boxes) - 1) * gap

    def document(self, width: float, height: float, title: str) -> str:
        """The whole SVG document."""
        size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Helvetica, Arial, sans-serif">'
        return "\n".join([head, f"<title>{escape(title)}</title>", *self.parts, "</svg>"]) + "\n"


# -- streams and passes ----------------------------------------------------------------------------------------------


def draw_streams() -> str:
    """Kernels of the ray caster in their order, and the streams that go from one to the next."""
    linked = published_program("cast", grid=8)
    steps = {step.name: step for step in linked.steps("none")}
    shown = [steps[name] for name in ("eye", "setup", "traverse", "intersect", "shade")]
    between = [[name for name in one.stores if name in two.loads] for one, two in pairwise(shown)]
    drawing, gap, top = Drawing(), 84.0, 70.0
    width = drawing.row([f"*{step.name}|kernel" for step in shown], top, between, gap)
    for k, step in enumerate(shown):
        x, y = 12 + k * (WIDTH + gap) + WIDTH / 2, top + HEIGHT
        for line, memory in enumerate(linked.memories_of(step)):
            drawing.text(x, y + 40 + 13 * line, memory.name, 10, SOFT, True)
        if linked.memories_of(step):
            drawing.arrow((x, y + 26), (x, y))
    drawing.text(12, 18, "above the arrows: streams, an element for each ray", 10.5, SOFT)
    drawing.text(12, 33, "below the kernels: memories, read at any address", 10.5, SOFT)
    most = max(len(linked.memories_of(step)) for step in shown)
    return drawing.document(width, top + HEIGHT + 46 + 13 * most, "kernels and streams")


def draw_pass(state: str = "intersect") -> str:
    """A pass as the graphics processor runs it: the textures that it reads, its units, and those that it writes."""
    linked = published_program("cast", grid=GRID)
    (step,) = (each for each in linked.steps("none") if each.name == state)
    read = [f"stream {name}" for name in step.loads] + [f"memory {m.name}" for m in linked.memories_of(step)]
    written, kernel = [f"stream {name}" for name in step.stores], linked.program.by_name[state].kernel.name
    units = "one quad|over all rays", "rasterizer|a fragment for each ray", f"mask|passes rays in state '{state}'"
    drawing, top = Drawing(), 46.0
    width, below = drawing.row((*units, f"*fragment program|{kernel}"), top), top + HEIGHT + GAP
    for column, (title, names, shade) in enumerate((("reads", read, 2), ("writes", written, 1))):
        x = 12 + (2 + 1.25 * column) * (WIDTH + GAP)
        drawing.text(x, below - 8, title, 11, SOFT)
        for k, name in enumerate(names):
            drawing.cells(x, below + k * ROW, 1.15 * WIDTH, ROW, [(name, shade)])
    said = ("an occlusion query around the pass", "counts the rays that ran", "the ray's own texel of each stream,")
    for k, text in enumerate((*said, "any texel of a memory")):
        drawing.text(12, below + 8 + 16 * k, text, 10.5, SOFT)
    tall = max(max(len(read), len(written)) * ROW, 64)
    return drawing.document(width + 70, below + tall + 14, f"a pass of {kernel}")


def draw_stages() -> str:
    """Photon mapping's programs in turn, with the streams that go from one to the next."""
    emission, frame, picture = photon_emission(), photon_frame(), photon_map(search="nearest")
    boxes: tuple[str, ...] = f"{emission.name}|photons leave the lights", f"{frame.name}|a frame for each bounce"
    boxes += "photon map|sort and search, or routing", f"{picture.name}|rays and radiance estimate"
    # What the one leaves and the next takes.
    between = [
        [name for name in emission.results if name in frame.inputs],
        ["photon"],
        [name for name in picture.inputs if name not in ("pixel", "film")],
    ]
    drawing, gap, top = Drawing(), 104.0, 44.0
    width, below = drawing.row(boxes, top, between, gap), top + HEIGHT
    centre, last = (12 + k * (WIDTH + gap) + WIDTH / 2 for k in (1, 3))
    drawing.arrow((centre - 40, below), (centre - 40, below + 22), (centre + 40, below + 22), (centre + 40, below))
    again = ", ".join(name for name in frame.results if name in frame.inputs)
    drawing.text(centre, below + 38, f"next bounce: {again}", 10.5, middle=True)
    drawing.text(last, below + 38, f"result: {', '.join(picture.results)}", 10.5, middle=True)
    drawing.text(12, 18, "when geometry or lights change", 11, SOFT)
    drawing.text(last - WIDTH / 2, 18, "every frame", 11, SOFT)
    return drawing.document(width, below + 56, "photon mapping")


# -- memories --------------------------------------------------------------------------------------------------------

WIDE, NAME = 74, 176  # of a cell, and of a row's name
GRID, SHOWN = 4, 9  # voxels along the Cornell box; cells shown of each texture
COMPONENT, RECORD = 92, 150  # widths of a component, and of a record's name
SCENE, OBJECTS, MOST = "chair", 6, 16  # the scene whose grids are drawn, how many, and of each its tiles
OBJECT, TILE = 230, 46  # widths of an object's name and of a tile
RECORDS = (
    *(records.PIXEL, records.RAY, records.HIT, records.RADIANCE, records.PATH, records.FILM, records.TRIANGLE),
    *(photons.PHOTON, photons.ENTRY, photons.FIRST),
)


class _Textures(Drawing):
    """Rows of cells with their names, from ``y`` on."""

    def __init__(self, y: float) -> None:
        super().__init__()
        self.y = y

    def texture(self, name: str, about: str, cells: Sequence[tuple[str, int]], points: Iterable[Any] = ()) -> None:
        """points : (cell, cell of the next row) with an arrow between them; without a row follows at once."""
        self.text(12, self.y + 11, name, 12)
        self.text(12, self.y + 25, about, 9.5, SOFT)
        self.cells(NAME, self.y, WIDE, ROW, cells)
        below = self.y + ROW + GAP
        for one, other in points:
            self.arrow((NAME + (one + 0.5) * WIDE, self.y + ROW), (NAME + (other + 0.5) * WIDE, below))
        self.y = below if about else self.y + ROW


def draw_scene_memory() -> str:
    """Figure 5.1: from a voxel to its list of triangles, and from there to their corners."""
    prepared = prepare(raystream.load("cornell"), Settings().replace(**{**RECIPE, "program": "cast", "grid": GRID}))
    memories = {m.name: m for module in prepared.structure.modules(True) for m in module.memories}
    volume, lists, triangles = (memories[name] for name in ("grid_pointers", "grid_lists", "triangles"))
    assert isinstance(volume, Volume) and isinstance(lists, Table) and isinstance(triangles, Table)
    pointers = volume.data.ravel().astype(int)
    (entry,) = (field.name for field in lists.record.fields)
    first = int(np.flatnonzero(pointers >= 0)[2])
    low, start = max(0, first - 3), int(pointers[first])
    entries = lists.data[entry][start : start + SHOWN].astype(int)
    last = int(np.argmax(entries < 0))  # the list's last entry n is stored as -n - 1
    named = [int(-n - 1 if n < 0 else n) for n in entries]
    own = named[: last + 1]
    some = sorted([*own, *(n for n in range(len(triangles.data)) if n not in own)][:SHOWN])
    drawing, high = _Textures(40.0), min(low + SHOWN, len(pointers))
    drawing.text(NAME, 20, "each a texture of its own, addressed in one dimension; a number is an address", 11, SOFT)
    voxels = [(str(pointers[k]) if pointers[k] >= 0 else "none", 0 if k == first else -1) for k in range(low, high)]
    drawing.texture(volume.name, f"voxels {low} on: where a list begins", voxels, [(first - low, 0)])
    texts = [f"{n}{', last' if e < 0 else ''}" for n, e in zip(named, entries, strict=True)]
    to = [(k, some.index(n)) for k, n in enumerate(own) if n in some]
    entered = [(text, 1 if k <= last else -1) for k, text in enumerate(texts)]
    drawing.texture(lists.name, f"entries {start} on: triangles", entered, to)
    for corner in ("a", "b", "c"):
        at = triangles.data[corner]
        cells = [(" ".join(f"{each:.0f}" for each in at[n]), 2 if n in own else -1) for n in some]
        drawing.texture(f"{triangles.name}: {corner}, x y z", "", cells)
    for k, n in enumerate(some):
        drawing.text(NAME + (k + 0.5) * WIDE, drawing.y + 14, f"triangle {n}", 9.5, SOFT, True)
    return drawing.document(NAME + SHOWN * WIDE + 12, drawing.y + 26, "a scene in texture memory")


def draw_photon_memory(drawn: NDArray) -> str:
    """Figure 6.4: the grid's first photons, the sorted list, the photons' data; of photons (N, 2) in 3 x 3 cells."""
    cells = (np.floor(drawn[:, 1]) * 3 + np.floor(drawn[:, 0])).astype(int)
    padded = np.full(1 << (len(cells) - 1).bit_length(), 9)
    padded[: len(cells)] = cells
    order = bitonic_sort(padded)
    order = order[order < len(cells)]
    first, counts = np.searchsorted(cells[order], np.arange(9)), np.bincount(cells, minlength=9)
    drawing = _Textures(30.0)
    for k in range(9):
        drawing.text(NAME + (k + 0.5) * WIDE, 22, f"cell {k}", 9.5, SOFT, True)
    grid = [(str(first[k]), 0 if counts[k] else -1) for k in range(9)]
    to = [(k, int(first[k])) for k in range(9) if counts[k]]
    drawing.texture("uniform grid", "of each cell: its first photon", grid, to)
    drawing.texture("photon list", "photons, sorted by cell", [(str(n), 1) for n in order], enumerate(order))
    for name in ("position", "power", "direction"):
        shown = [("{:.2g} {:.2g}".format(*at) if name == "position" else "", 2) for at in drawn]
        drawing.texture(f"photon data: {name}", "", shown)
    return drawing.document(NAME + 9 * WIDE + 12, drawing.y + 12, "a photon map in texture memory")


def draw_records() -> str:
    """The texels of records, a row each."""
    drawing, y = Drawing(), 28.0
    for k, name in enumerate(COMPONENTS):
        drawing.text(RECORD + COMPONENT * (k + 0.5), 18, name, 11, SOFT, True)
    for record in RECORDS:
        drawing.text(12, y + 16, record.name, 12)
        names = [field.name for field in record.fields]
        for texel in range(record.texels):
            drawing.box(RECORD, y, 4 * COMPONENT, ROW, edge=SOFT)
            for run in (each for each in record.slices if each.texel == texel):
                span = COMPONENTS[run.first : run.first + run.size]
                text = run.field.name if run.size == run.field.width else f"{run.field.name}.{span}"
                shade = names.index(run.field.name) % len(SHADES)
                drawing.cells(RECORD + COMPONENT * run.component, y, COMPONENT * run.size, ROW, [(text, shade)])
            y += ROW
        y += 12
    return drawing.document(RECORD + 4 * COMPONENT + 12, y, "records in texels")


def placed() -> tuple[list[tuple[int, int, int]], Blocks]:
    """The resolutions of the scene's first grids, and all of them in blocks."""
    grids = [build.build(corners) for corners in objects_of(builtin(SCENE)).corners]
    return [tuple(map(int, grid.resolution)) for grid in grids], allocate(grids)  # type: ignore[misc]


def tiles(resolution: tuple[int, int, int]) -> int:
    """Of a grid: blocks or less, that its voxels are cut into."""
    return int(np.prod([-(-each // BLOCK) for each in resolution]))


def draw_texture() -> str:
    """Each object's grid and where its tiles lie in the texture, in blocks."""
    resolutions, blocks = placed()
    drawing, y = Drawing(), 26.0
    drawing.text(OBJECT, 16, "blocks of the texture, by their place x y z", 11, SOFT)
    for number, resolution in enumerate(resolutions[:OBJECTS]):
        count, first = tiles(resolution), int(blocks.headers["table"][number])
        drawing.text(12, y + 15, f"object {number}: {' x '.join(map(str, resolution))} voxels", 11.5)
        drawing.text(12, y + 28, f"{count} tile{'s' if count > 1 else ''}", 9.5, SOFT)
        corners, shade = blocks.tiles["corner"][first : first + min(count, MOST)] // BLOCK, number % len(SHADES)
        drawing.cells(OBJECT, y, TILE, 24, [(" ".join(map(str, each)), shade) for each in corners.tolist()], 10)
        if count > MOST:
            drawing.text(OBJECT + TILE * MOST + 6, y + 16, f"and {count - MOST}", 10, SOFT)
        y += 34
    return drawing.document(OBJECT + TILE * MOST + 70, y + 8, "grids in one texture")


# -- the thesis --------------------------------------------------------------------------------------------------------

STEP, LEVEL, CELL = 58, 46, 22


def draw_structure() -> str:
    """Two levels in depth-first order: trees, their arrays, and the nodes that a ray is tested against."""
    model, ray = small(), np.array([3.4, 0.3, -5.0, 0.02, 0.01, 1.0], np.float32)
    ray[3:] /= np.linalg.norm(ray[3:])
    top, below = visited(model, ray)
    drawing, number, height = Drawing(), next(iter(below)), 46 + 3 * LEVEL + 3 * CELL
    names = {k: f"instance {i}" for k, i in enumerate(model.top_links[:, 1].tolist()) if i >= 0}
    width = _tree(drawing, "over instances", model.top_links[:, 0], names, top, 14)
    leaves = {k: f"triangle {model.numbers[at]}" for k, (_, at, count) in enumerate(model.links.tolist()) if count}
    text = f"over triangles of the object; tested: those of instance {number}"
    width = max(width, _tree(drawing, text, model.links[:, 0], leaves, below[number], 24 + height))
    return drawing.document(width + 20, 2 * height + 30, "two levels by escape indices")


def _tree(
    drawing: Drawing, title: str, escape: NDArray[np.int32], leaves: dict[int, str], seen: list[int], top: float
) -> float:
    """A tree above its array; returns the drawing's width."""
    count, ends, depths = len(escape), list[int](), list[int]()
    for node in range(count):
        while ends and node >= ends[-1]:
            ends.pop()
        depths.append(len(ends))
        if node not in leaves:
            ends.append(int(escape[node]))
    drawing.text(12, top + 8, title, 12)
    places = [(60 + STEP * (node + 0.5), top + 30 + LEVEL * depths[node]) for node in range(count)]
    for node in range(count):
        for child in () if node in leaves else (node + 1, int(escape[node + 1])):
            drawing.line(places[node], places[child], color=SOFT)
    for node, (x, y) in enumerate(places):
        shade = SHADES[1 if node in leaves else 0] if node in seen else PAPER
        drawing.ellipse(x, y, 13, 13, str(node), 11, shade)
    y = top + 46 + LEVEL * (max(depths) + 1) - LEVEL / 2
    names = [leaves.get(k, "").replace("instance", "inst.") for k in range(count)]
    for name, cells in (("node", range(count)), ("escape", escape), ("leaf", names)):
        drawing.text(8, y + 15, name, 11, SOFT)
        drawing.cells(60, y, STEP, CELL, [(str(each), -1) for each in cells], 9.5 if name == "leaf" else 11)
        y += CELL
    return 60 + STEP * count


def draw_escape() -> str:
    """The lower tree in depth-first order, and from each node, dotted, where a ray goes on that misses its box."""
    model, drawing, step, y = small(), Drawing(), 74.0, 120.0
    escape = model.links[:, 0].tolist()
    for node, other in enumerate(escape):
        x, leaf = 40 + step * node, model.links[node, 2] > 0
        drawing.ellipse(x, y, 15, 15, str(node), 11, SHADES[1] if leaf else SHADES[0])
        if leaf:
            drawing.text(x, y + 32, f"triangle {model.numbers[model.links[node, 1]]}", 9.5, SOFT, True)
        if node + 1 < len(escape):
            drawing.arrow((x + 15, y), (x + step - 15, y))
        if not leaf:
            tall, end = 20.0 + 11 * (len(escape) - node), 40 + step * min(other, len(escape))
            drawing.arrow((x, y - 15), (x, y - tall), (end, y - tall), (end, y - 15), dashed=True)
    end = 40 + step * len(escape)
    drawing.text(end, y + 4, "end", 11, middle=True)
    return drawing.document(end + 40, y + 44, "traversal by escape indices")


def _at_surface(title: str, components: bool, reflection: bool) -> str:
    """The tracer's own rays at a surface: reflected, or refracted with its angles or its components."""
    (_, up), (_, down) = directions(ANGLE)
    drawing, long, x0, y0, turn = Drawing(), 110.0, 180.0, 130.0, math.radians(ANGLE)
    drawing.box(20, y0, 320, 110, SHADES[0], SOFT)
    drawing.line((x0, 14), (x0, 240), color=SOFT, dashed=True)
    leaving = up if reflection else down
    start = x0 - long * math.sin(turn), y0 - long * math.cos(turn)
    end = float(x0 + long * leaving[0]), float(y0 - long * leaving[1])
    drawing.arrow(start, (x0, y0))
    drawing.arrow((x0, y0), end)
    drawing.text(start[0] - 4, start[1] - 6, "d", 12)
    drawing.text(end[0] + 6, end[1], "r" if reflection else "t", 12)
    if components:
        for (x, y), sign in ((start, "d"), (end, "t")):
            drawing.line((x, y), (x, y0), dashed=True)
            drawing.line((x, y0), (x0, y0), dashed=True)
            drawing.text(x + 4, (y + y0) / 2, f"{sign} along n", 10, SOFT)
    else:
        other = math.degrees(math.acos(abs(float(leaving[1]))))
        drawing.text(x0 - 60, 60, f"{ANGLE:g}\N{DEGREE SIGN}", 11)
        place = (x0 + 34, 60) if reflection else (x0 + 8, 220)
        drawing.text(*place, f"{other:.1f}\N{DEGREE SIGN}", 11)
    return drawing.document(360, 252, title)


def draw_vectors() -> str:
    """Reflection, refraction into and out of glass, total reflection, and a sheet of some thickness."""
    critical = math.degrees(math.asin(1 / INDEX))
    panels: dict[str, tuple[float, bool, dict[str, float]]] = {
        f"into glass, {ANGLE:g}°": (ANGLE, False, {}),
        "out of it, 30°": (30.0, True, {}),
        f"beyond {critical:.1f}°": (ANGLE, True, {}),
        "a sheet": (ANGLE, False, {"thickness": 0.5}),
    }
    drawing, axes = figure(9.0, 2.7, ncols=len(panels))
    for axis, (title, (angle, inside, fields)) in zip(axes, panels.items(), strict=True):
        turn = math.radians(angle)
        start = np.array([-math.sin(turn), -math.cos(turn) if inside else math.cos(turn)])
        axis.axhspan(-fields["thickness"] if fields else -1.2, 0, color="#dbe8f5")
        axis.plot([0, 0], [-1.1, 1.1], color="#9aa4b0", linewidth=0.8, linestyle=":")
        axis.annotate("", (0, 0), start, arrowprops={"arrowstyle": "->", "color": "#1d232b"})
        for number, (origin, way) in enumerate(directions(angle, inside, **fields)):
            color = ("#d1772e", "#3f8f4f")[number]
            axis.annotate("", origin[:2] + way[:2], origin[:2], arrowprops={"arrowstyle": "->", "color": color})
            if number and fields:
                axis.plot([0, origin[0]], [0, origin[1]], color=color, linestyle="--", linewidth=1.0)
        axis.set(xlim=(-1.2, 1.4), ylim=(-1.2, 1.2), aspect="equal", title=title, xticks=[], yticks=[])
        axis.grid(False)
    return svg(drawing)


def draw_tree(levels: Sequence[Mapping[str, Sequence[Any]]]) -> str:
    """The rays of a pixel by level, as of `sections.thesis_text.tree`: lines from parents, weights in the circles."""
    width = 60 + STEP * max(len(each["parent"]) for each in levels)
    drawing, places = Drawing(), []
    for number, each in enumerate(levels):
        count = len(each["parent"])
        places.append([(60 + (width - 60) * (k + 0.5) / count, 24 + 1.2 * LEVEL * number) for k in range(count)])
        drawing.text(4, places[-1][0][1] + 4, f"level {number}", 10, SOFT)
        for k, parent in enumerate(each["parent"] if number else ()):
            drawing.line(places[-2][parent], places[-1][k], dashed=bool(each["refracted"][k]))
    for row, each in zip(places, levels, strict=True):
        for (x, y), weight, missed in zip(row, each["weight"], each["missed"], strict=True):
            drawing.ellipse(x, y, 24, 13, f"{weight:.2g}", 10.5, SHADES[0] if missed else PAPER)
    return drawing.document(width + 10, places[-1][0][1] + 24, "the rays of a pixel")


# Of the figures after a caption, in their order, those that are not drawn by hand.
NUMBERS: tuple[str, ...] = ("2.1", "2.3", "2.4", "2.5", "2.6", "4.1", "4.2", "4.3")
NUMBERS += ("6-1", "6-2", "6-3", "6-4", "6-7", "6-8", "6-9", "6-10", "6-14")
DRAWN: dict[str, Callable[[], str]] = {
    "2.4": draw_streams,
    "6-3": draw_structure,
    "6-8": partial(_at_surface, "specular reflection", False, True),
    "6-9": partial(_at_surface, "Snell's law", False, False),
    "6-10": partial(_at_surface, "vector components", True, False),
    "6-14": draw_escape,
}


def figures(chapter: str) -> Iterator[Figure]:
    """Those whose number begins so: ``2.`` or ``4.`` of D, ``6-`` of T."""
    for number in NUMBERS:
        if number.startswith(chapter):
            shown = captioned(number, svg=DRAWN[number]() if number in DRAWN else by_hand(number), index=INDEX)
            yield replace(shown, note=f"{shown.note} {OURS}")
