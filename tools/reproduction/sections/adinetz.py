"""The table of A, and its figures 1, 4, 5 and 6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import viewer
from viewer.scene.scene import Scene

from .. import shown
from ..context import Context
from ..model import Cell, Check, Figure, Part, Table
from ..published.adinetz import DEVICE, FIGURES, SIZE, TABLE
from ..registry import section
from ..timed import median_seconds

# Two levels of grids in one pass, shadows and reflections, as published.
SETTINGS: dict[str, Any] = {"program": "whitted", "accel": "two-level-grid", "machine": "singlepass", "depth": 4}
RUNS = 3


@section("adinetz", paper="A 5", title="Classical ray tracing of six scenes (table, figures 1, 4, 5 and 6)")
def make(context: Context) -> Iterator[Part]:
    """Stand-ins of the same counts, in two levels."""
    edge = SIZE // 8 if context.quick else SIZE
    rows, checks = [], []
    for name, entry in TABLE.items():
        scene = context.scene(entry.scene)
        picture = shown.rendered(context, name, scene, (edge, edge), 1, program="whitted", depth=4, environment="sky")
        figure = f"Figure {FIGURES[name]}: {name}" if name in FIGURES else name
        yield Figure(figure, png=shown.jpeg(picture), note="Stand-in of our own, under a sky.", alt=entry.scene)
        counts = (scene.triangle_count, len(scene.instances), len(scene.lights))
        if entry.triangles is not None:
            theirs = (entry.triangles, entry.instances, entry.lights)
            what = f"{name}: triangles, instances, lights"
            checks.append(Check(what, _listed(theirs), _listed(counts), counts == theirs))
        fps = context.keep(("fps", name, edge), lambda scene=scene: _rate(context, scene, edge))
        rows.append((name, *(f"{each:,}" for each in counts), Cell(entry.fps, round(fps, 2))))
    note = (
        f"{edge} x {edge} on {context.device.name}; published 512 x 512 on an {DEVICE}. Both by a grid of "
        "instances over grids of triangles in one pass, with shadows and reflections. Hind24 has no published counts."
    )
    columns = ("scene", "triangles", "instances", "lights", "frames a second")
    yield Table("Frames a second", columns, rows, note, checks)


def _listed(counts: tuple[int | None, ...]) -> str:
    return ", ".join(f"{each:,}" for each in counts if each is not None)


def _rate(context: Context, scene: Scene, edge: int) -> float:
    renderer = viewer.Renderer(scene, device=context.device, **SETTINGS)
    seconds = median_seconds(lambda: renderer.render((edge, edge), spp=1), 1 if context.quick else RUNS)
    renderer.release()
    return 1 / seconds
