"""Diagrams of memory and of a pass, with what lies there: made from a small scene's own arrays and a linked program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import raystream
from raystream.kernels.photons import PHOTON
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.stream.declare.kernel import Table, Volume
from reproduction.simulators.counts.programs import RECIPE, published_program
from reproduction.simulators.photons import bitonic_sort

from .memory_layout import INK, ROW, SHADES, SOFT, document, label

WIDE, NAME, GAP = 74, 176, 34
GRID, SHOWN = 4, 9  # voxels along the Cornell box; cells shown of each texture
Cells = Sequence[tuple[str, int]]  # what a cell holds, and the shade of it


def _row(parts: list[str], name: str, about: str, cells: Cells, y: float, wide: int = WIDE) -> None:
    parts.append(label(12, y + 11, name, 12))
    parts.append(label(12, y + 25, about, 9.5, SOFT))
    for k, (text, shade) in enumerate(cells):
        x = NAME + k * wide
        parts.append(
            f'<rect x="{x}" y="{y}" width="{wide}" height="{ROW}" fill="{SHADES[shade] if shade >= 0 else "#ffffff"}" '
            f'stroke="{SOFT}" stroke-width="0.8"/>'
        )
        parts.append(label(x + wide / 2, y + 16, text, 10.5, middle=True))


def _arrow(parts: list[str], x0: float, y0: float, x1: float, y1: float) -> None:
    parts.append(f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1 - 5}" stroke="{INK}" stroke-width="1.1"/>')
    parts.append(f'<polygon points="{x1},{y1} {x1 - 4},{y1 - 7} {x1 + 4},{y1 - 7}" fill="{INK}"/>')


def draw_scene_memory() -> str:
    """Figure 5.1: from a voxel to its list of triangles, and from there to their corners."""
    prepared = prepare(raystream.load("cornell"), Settings(**RECIPE).replace(program="cast", grid=GRID))
    memories = {m.name: m for module in prepared.structure.modules(True) for m in module.memories}
    volume, lists, triangles = (memories[name] for name in ("grid_pointers", "grid_lists", "triangles"))
    assert isinstance(volume, Volume) and isinstance(lists, Table) and isinstance(triangles, Table)
    pointers = volume.data.ravel().astype(int)
    (entry,) = (field.name for field in lists.record.fields)
    first = int(np.flatnonzero(pointers >= 0)[2])
    low = max(0, first - 3)
    voxels = [(str(p) if p >= 0 else "none", -1 if k != first else 0) for k, p in _numbered(pointers, low)]
    start, parts = int(pointers[first]), []
    entries = lists.data[entry][start : start + SHOWN].astype(int)
    last = int(np.argmax(entries < 0))  # the list's last entry n is stored as -n - 1
    named = [int(-n - 1 if n < 0 else n) for n in entries]
    held = [
        (f"{n}{', last' if e < 0 else ''}", 1 if k <= last else -1)
        for k, (n, e) in enumerate(zip(named, entries, strict=True))
    ]
    others = [n for n in range(len(triangles.data)) if n not in named[: last + 1]]
    some = sorted([*named[: last + 1], *others][:SHOWN])
    y = 40
    parts.append(
        label(NAME, 20, "each a texture of its own, addressed in one dimension; a number is an address", 11, SOFT)
    )
    _row(parts, volume.name, f"voxels {low} on: where a list begins", voxels, y)
    _arrow(parts, NAME + (first - low + 0.5) * WIDE, y + ROW, NAME + 0.5 * WIDE, y + ROW + GAP)
    y += ROW + GAP
    _row(parts, lists.name, f"entries {start} on: triangles", held, y)
    for k in range(last + 1):
        if named[k] in some:
            _arrow(parts, NAME + (k + 0.5) * WIDE, y + ROW, NAME + (some.index(named[k]) + 0.5) * WIDE, y + ROW + GAP)
    y += ROW + GAP
    for corner in ("a", "b", "c"):
        points = triangles.data[corner]
        texts = [(" ".join(f"{each:.0f}" for each in points[n]), 2 if n in named[: last + 1] else -1) for n in some]
        _row(parts, f"{triangles.name}: {corner}, x y z", "", texts, y)
        y += ROW
    for k, n in enumerate(some):
        parts.append(label(NAME + (k + 0.5) * WIDE, y + 14, f"triangle {n}", 9.5, SOFT, middle=True))
    return document(parts, NAME + SHOWN * WIDE + 12, y + 26, "a scene in texture memory")


def _numbered(values: np.ndarray, low: int) -> list[tuple[int, int]]:
    return [(k, int(values[k])) for k in range(low, min(low + SHOWN, len(values)))]


def draw_photon_memory(photons: np.ndarray) -> str:
    """Figure 6.4: the grid's first photons, the sorted list, the photons' data; of photons (N, 2) in 3 x 3 cells."""
    cells = (np.floor(photons[:, 1]) * 3 + np.floor(photons[:, 0])).astype(int)
    padded = np.full(1 << (len(cells) - 1).bit_length(), 9)
    padded[: len(cells)] = cells
    order = bitonic_sort(padded)
    order = order[order < len(cells)]
    first = np.searchsorted(cells[order], np.arange(9))
    counts = np.bincount(cells, minlength=9)
    parts: list[str] = []
    grid = [(str(first[k]), 0 if counts[k] else -1) for k in range(9)]
    y = 30.0
    _row(parts, "uniform grid", "of each cell: its first photon", grid, y)
    for k in range(9):
        parts.append(label(NAME + (k + 0.5) * WIDE, 22, f"cell {k}", 9.5, SOFT, middle=True))
        if counts[k]:
            _arrow(parts, NAME + (k + 0.5) * WIDE, y + ROW, NAME + (first[k] + 0.5) * WIDE, y + ROW + GAP)
    y += ROW + GAP
    _row(parts, "photon list", "photons, sorted by cell", [(str(n), 1) for n in order], y)
    for place, photon in enumerate(order):
        _arrow(parts, NAME + (place + 0.5) * WIDE, y + ROW, NAME + (photon + 0.5) * WIDE, y + ROW + GAP)
    y += ROW + GAP
    for field in (each for each in PHOTON.fields if each.name in ("position", "power", "direction")):
        shown = [("{:.2g} {:.2g}".format(*at) if field.name == "position" else "", 2) for at in photons]
        _row(parts, f"photon data: {field.name}", "", shown, y)
        y += ROW
    return document(parts, NAME + 9 * WIDE + 12, y + 12, "a photon map in texture memory")


def draw_pass(program: str = "cast", state: str = "intersect") -> str:
    """A pass as the graphics processor runs it: the textures that it reads, its units, and those that it writes."""
    linked = published_program(program, grid=GRID)
    (step,) = (each for each in linked.steps("none") if each.name == state)
    kernel = linked.program.by_name[state].kernel.name
    read = [f"stream {name}" for name in step.loads] + [f"memory {m.name}" for m in linked.memories_of(step)]
    written = [f"stream {name}" for name in step.stores]
    units = (
        ("one quad", "over all rays"),
        ("rasterizer", "a fragment for each ray"),
        ("mask", f"passes rays in state '{state}'"),
        ("fragment program", kernel),
    )
    parts: list[str] = []
    x, top, width, height, gap = 12.0, 46.0, 150.0, 52.0, 26.0
    for k, (name, about) in enumerate(units):
        fill = SHADES[0] if k == len(units) - 1 else "#ffffff"
        parts.append(
            f'<rect x="{x:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}" stroke="{INK}"/>'
        )
        parts.append(label(x + width / 2, top + 22, name, 12.5, middle=True))
        parts.append(label(x + width / 2, top + 39, about, 9.5, SOFT, middle=True))
        if k < len(units) - 1:
            y = top + height / 2
            parts.append(f'<line x1="{x + width}" y1="{y}" x2="{x + width + gap - 6}" y2="{y}" stroke="{INK}"/>')
            end = x + width + gap
            parts.append(f'<polygon points="{end},{y} {end - 7},{y - 4} {end - 7},{y + 4}" fill="{INK}"/>')
        x += width + gap
    below = top + height + GAP
    for column, (title, names, shade) in enumerate((("reads", read, 2), ("writes", written, 1))):
        at = 12 + 2.0 * (width + gap) + column * (width + gap) * 1.25
        parts.append(label(at, below - 8, title, 11, SOFT))
        for k, name in enumerate(names):
            y = below + k * ROW
            parts.append(
                f'<rect x="{at:g}" y="{y:g}" width="{1.15 * width:g}" height="{ROW}" fill="{SHADES[shade]}" '
                f'stroke="{SOFT}" stroke-width="0.8"/>'
            )
            parts.append(label(at + 8, y + 16, name, 10.5))
    parts.append(label(12, below + 8, "an occlusion query around the pass", 10.5, SOFT))
    parts.append(label(12, below + 24, "counts the rays that ran", 10.5, SOFT))
    parts.append(label(12, below + 40, "the ray's own texel of each stream,", 10.5, SOFT))
    parts.append(label(12, below + 56, "any texel of a memory", 10.5, SOFT))
    rows = max(len(read), len(written))
    return document(parts, 12 + 4 * (width + gap) + 60, below + max(rows * ROW, 64) + 14, f"a pass of {kernel}")
