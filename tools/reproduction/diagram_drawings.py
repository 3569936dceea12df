"""Diagrams of streams, passes, memories and records: our own, after the papers' text, with names and numbers of linked
programs, of small scenes' own arrays, of records' declarations and of the limits of the day."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

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
from raystream.stream.declare.record import COMPONENTS
from reproduction.simulators.counts.programs import RECIPE, published_program
from reproduction.simulators.photons import bitonic_sort

from .drawing import PAPER, SHADES, SOFT, Drawing

WIDTH, HEIGHT, GAP = 150.0, 46.0, 34.0  # of a box, and between two
ROW = 24  # height of a cell

# -- streams and passes ----------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """A box of a row: its name, a line below it inside, and whether it runs a program."""

    name: str
    about: str = ""
    runs: bool = False


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


def draw_row(
    drawing: Drawing,
    boxes: Sequence[Box],
    top: float,
    between: Sequence[Sequence[str]] = (),
    gap: float = GAP,
    left: float = 12.0,
) -> float:
    """Boxes from left to right with arrows; ``between`` stands above each arrow. Returns the row's width."""
    for k, box in enumerate(boxes):
        x, y = left + k * (WIDTH + gap), top + HEIGHT / 2
        drawing.named(x, top, WIDTH, HEIGHT, box.name, box.about, SHADES[0] if box.runs else PAPER)
        if k + 1 < len(boxes):
            drawing.arrow((x + WIDTH, y), (x + WIDTH + gap, y))
            for line, text in enumerate(reversed(between[k] if k < len(between) else ())):
                drawing.text(x + WIDTH + gap / 2, y - 6 - 13 * line, text, 10, SOFT, True)
    return 24 + len(boxes) * WIDTH + (len(boxes) - 1) * gap


def _back(drawing: Drawing, first: int, last: int, top: float, text: str) -> None:
    """An arrow below a row, from the middle of its box ``last`` back to that of ``first``."""
    x0, x1 = (12 + k * (WIDTH + GAP) + WIDTH / 2 for k in (first, last))
    y = top + HEIGHT
    drawing.arrow((x1, y), (x1, y + 26), (x0, y + 26), (x0, y))
    drawing.text((x0 + x1) / 2, y + 21, text, 10, SOFT, True)


def draw_streams() -> str:
    """Kernels of the ray caster in their order, and the streams that go from one to the next."""
    linked = published_program("cast", grid=8)
    steps = {step.name: step for step in linked.steps("none")}
    names = ("eye", "setup", "traverse", "intersect", "shade")
    shown = [steps[name] for name in names]
    between = [[name for name in one.stores if name in two.loads] for one, two in pairwise(shown)]
    drawing, gap, top = Drawing(), 84.0, 70.0
    width = draw_row(drawing, [Box(name, "kernel", True) for name in names], top, between, gap)
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
    drawing, top = Drawing(), 16.0
    width = draw_row(drawing, boxes, top)
    _back(drawing, 3, 5, top, "the next pass reads what this one wrote")
    return drawing.document(width, top + HEIGHT + 38, "the graphics pipeline")


def draw_loop(number: int) -> str:
    """A loop over passes, one of `LOOPS`."""
    title, boxes, text = LOOPS[number]
    drawing, top = Drawing(), 14.0
    width = draw_row(drawing, boxes, top)
    _back(drawing, 0, len(boxes) - 1, top, text)
    return drawing.document(width, top + HEIGHT + 38, title)


def draw_pass(state: str = "intersect") -> str:
    """A pass as the graphics processor runs it: the textures that it reads, its units, and those that it writes."""
    linked = published_program("cast", grid=GRID)
    (step,) = (each for each in linked.steps("none") if each.name == state)
    read = [f"stream {name}" for name in step.loads] + [f"memory {m.name}" for m in linked.memories_of(step)]
    written = [f"stream {name}" for name in step.stores]
    units = (
        Box("one quad", "over all rays"),
        Box("rasterizer", "a fragment for each ray"),
        Box("mask", f"passes rays in state '{state}'"),
        Box("fragment program", linked.program.by_name[state].kernel.name, True),
    )
    drawing, top = Drawing(), 46.0
    width = draw_row(drawing, units, top)
    below = top + HEIGHT + GAP
    for column, (title, names, shade) in enumerate((("reads", read, 2), ("writes", written, 1))):
        x = 12 + (2 + 1.25 * column) * (WIDTH + GAP)
        drawing.text(x, below - 8, title, 11, SOFT)
        for k, name in enumerate(names):
            drawing.cells(x, below + k * ROW, 1.15 * WIDTH, ROW, [(name, shade)])
    said = ("an occlusion query around the pass", "counts the rays that ran", "the ray's own texel of each stream,")
    for k, text in enumerate((*said, "any texel of a memory")):
        drawing.text(12, below + 8 + 16 * k, text, 10.5, SOFT)
    rows = max(len(read), len(written))
    return drawing.document(width + 70, below + max(rows * ROW, 64) + 14, f"a pass of {units[-1].about}")


def draw_stages() -> str:
    """Photon mapping's programs in turn, with the streams that go from one to the next."""
    emission, frame, picture = photon_emission(), photon_frame(), photon_map(search="nearest")
    boxes = (
        Box(emission.name, "photons leave the lights"),
        Box(frame.name, "a frame for each bounce"),
        Box("photon map", "sort and search, or routing"),
        Box(picture.name, "rays and radiance estimate"),
    )
    # What the one leaves and the next takes.
    between = [
        [name for name in emission.results if name in frame.inputs],
        ["photon"],
        [name for name in picture.inputs if name not in ("pixel", "film")],
    ]
    drawing, gap, top = Drawing(), 104.0, 44.0
    width = draw_row(drawing, boxes, top, between, gap)
    centre, last = (12 + k * (WIDTH + gap) + WIDTH / 2 for k in (1, 3))
    below = top + HEIGHT
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
Cells = Sequence[tuple[str, int]]  # what a cell holds, and the shade of it


def _texture(drawing: Drawing, name: str, about: str, cells: Cells, y: float) -> None:
    drawing.text(12, y + 11, name, 12)
    drawing.text(12, y + 25, about, 9.5, SOFT)
    drawing.cells(NAME, y, WIDE, ROW, cells)


def _points(drawing: Drawing, cell: int, below: int, y: float) -> None:
    """An arrow from a cell of a row at y to one of the next row."""
    drawing.arrow((NAME + (cell + 0.5) * WIDE, y + ROW), (NAME + (below + 0.5) * WIDE, y + ROW + GAP))


def draw_scene_memory() -> str:
    """Figure 5.1: from a voxel to its list of triangles, and from there to their corners."""
    prepared = prepare(raystream.load("cornell"), Settings().replace(**{**RECIPE, "program": "cast", "grid": GRID}))
    memories = {m.name: m for module in prepared.structure.modules(True) for m in module.memories}
    volume, lists, triangles = (memories[name] for name in ("grid_pointers", "grid_lists", "triangles"))
    assert isinstance(volume, Volume) and isinstance(lists, Table) and isinstance(triangles, Table)
    pointers = volume.data.ravel().astype(int)
    (entry,) = (field.name for field in lists.record.fields)
    first = int(np.flatnonzero(pointers >= 0)[2])
    low = max(0, first - 3)
    start = int(pointers[first])
    entries = lists.data[entry][start : start + SHOWN].astype(int)
    last = int(np.argmax(entries < 0))  # the list's last entry n is stored as -n - 1
    named = [int(-n - 1 if n < 0 else n) for n in entries]
    others = [n for n in range(len(triangles.data)) if n not in named[: last + 1]]
    some = sorted([*named[: last + 1], *others][:SHOWN])
    drawing, y, high = Drawing(), 40.0, min(low + SHOWN, len(pointers))
    drawing.text(NAME, 20, "each a texture of its own, addressed in one dimension; a number is an address", 11, SOFT)
    voxels = [(str(pointers[k]) if pointers[k] >= 0 else "none", 0 if k == first else -1) for k in range(low, high)]
    _texture(drawing, volume.name, f"voxels {low} on: where a list begins", voxels, y)
    _points(drawing, first - low, 0, y)
    y += ROW + GAP
    texts = [f"{n}{', last' if e < 0 else ''}" for n, e in zip(named, entries, strict=True)]
    held = [(text, 1 if k <= last else -1) for k, text in enumerate(texts)]
    _texture(drawing, lists.name, f"entries {start} on: triangles", held, y)
    for k in range(last + 1):
        if named[k] in some:
            _points(drawing, k, some.index(named[k]), y)
    y += ROW + GAP
    for corner in ("a", "b", "c"):
        points = triangles.data[corner]
        cells = [(" ".join(f"{each:.0f}" for each in points[n]), 2 if n in named[: last + 1] else -1) for n in some]
        _texture(drawing, f"{triangles.name}: {corner}, x y z", "", cells, y)
        y += ROW
    for k, n in enumerate(some):
        drawing.text(NAME + (k + 0.5) * WIDE, y + 14, f"triangle {n}", 9.5, SOFT, True)
    return drawing.document(NAME + SHOWN * WIDE + 12, y + 26, "a scene in texture memory")


def draw_photon_memory(drawn: NDArray) -> str:
    """Figure 6.4: the grid's first photons, the sorted list, the photons' data; of photons (N, 2) in 3 x 3 cells."""
    cells = (np.floor(drawn[:, 1]) * 3 + np.floor(drawn[:, 0])).astype(int)
    padded = np.full(1 << (len(cells) - 1).bit_length(), 9)
    padded[: len(cells)] = cells
    order = bitonic_sort(padded)
    order = order[order < len(cells)]
    first = np.searchsorted(cells[order], np.arange(9))
    counts = np.bincount(cells, minlength=9)
    drawing, y = Drawing(), 30.0
    grid = [(str(first[k]), 0 if counts[k] else -1) for k in range(9)]
    _texture(drawing, "uniform grid", "of each cell: its first photon", grid, y)
    for k in range(9):
        drawing.text(NAME + (k + 0.5) * WIDE, 22, f"cell {k}", 9.5, SOFT, True)
        if counts[k]:
            _points(drawing, k, int(first[k]), y)
    y += ROW + GAP
    _texture(drawing, "photon list", "photons, sorted by cell", [(str(n), 1) for n in order], y)
    for place, photon in enumerate(order):
        _points(drawing, place, int(photon), y)
    y += ROW + GAP
    for name in ("position", "power", "direction"):
        shown = [("{:.2g} {:.2g}".format(*at) if name == "position" else "", 2) for at in drawn]
        _texture(drawing, f"photon data: {name}", "", shown, y)
        y += ROW
    return drawing.document(NAME + 9 * WIDE + 12, y + 12, "a photon map in texture memory")


RECORDS = (
    *(records.PIXEL, records.RAY, records.HIT, records.RADIANCE, records.PATH, records.FILM, records.TRIANGLE),
    *(photons.PHOTON, photons.ENTRY, photons.FIRST),
)
COMPONENT, RECORD = 92, 150  # widths of a component, and of a record's name


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


# -- Adinetz and Berezin ---------------------------------------------------------------------------------------------

SCENE, OBJECTS, MOST = "chair", 6, 16  # the scene whose grids are drawn, how many, and of each its tiles
OBJECT, TILE = 230, 46  # widths of an object's name and of a tile
LOOPS_OF_A_PASS = (
    ("rays of a pixel", "eye ray, shadow rays, reflected rays: one casting procedure for all"),
    ("scene's grid", "a turn steps to the next voxel, or tests the next instance of its list"),
    ("object's grid", "voxels along the ray, in the object's space"),
    ("a voxel's triangles", "one row of the texture: the next entry is x + 1"),
)


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
        corners = blocks.tiles["corner"][first : first + min(count, MOST)] // BLOCK
        shade = number % len(SHADES)
        drawing.cells(OBJECT, y, TILE, 24, [(" ".join(map(str, each)), shade) for each in corners.tolist()], 10)
        if count > MOST:
            drawing.text(OBJECT + TILE * MOST + 6, y + 16, f"and {count - MOST}", 10, SOFT)
        y += 34
    return drawing.document(OBJECT + TILE * MOST + 70, y + 8, "grids in one texture")


def draw_loops() -> str:
    """The four loops, one in the other."""
    drawing, wide, tall = Drawing(), 640, 60 * len(LOOPS_OF_A_PASS) + 30
    for k, (name, about) in enumerate(LOOPS_OF_A_PASS):
        x, y = 12 + 22 * k, 10 + 46 * k
        drawing.box(x, y, wide - 44 * k, tall - 60 * k, SHADES[k], radius=6)
        drawing.text(x + 10, y + 19, name, 12)
        drawing.text(x + 10, y + 35, about, 10, SOFT)
    return drawing.document(wide + 24, tall + 20, "loops of the pass")
