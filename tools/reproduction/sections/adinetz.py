"""The table of A, and its figures 1, 4, 5 and 6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import viewer
from viewer.scene.scene import Scene

from ..context import Context
from ..grades import OTHER_DEVICE, beside
from ..model import OWN, Absent, Check, Conclusion, Figure, Part, Table
from ..published.adinetz import DEVICE, FIGURES, SIZE, TABLE
from ..registry import section
from ..shown import Shot, sheet
from ..timed import median_seconds

# Two levels of grids in one pass, shadows and reflections, as published.
SETTINGS: dict[str, Any] = {"program": "whitted", "accel": "two-level-grid", "machine": "singlepass", "depth": 4}
SETTINGS |= {"environment": "none"}  # the published scenes have one light
SHOWN = {"program": "whitted", "depth": 4, "environment": "sky"}
RUNS = 3
WHY = f"{OTHER_DEVICE} than the published {DEVICE}; a stand-in of the same counts"


@section("adinetz", paper="A 5", title="Classical ray tracing of six scenes (table, figures 1, 4, 5 and 6)")
def make(context: Context) -> Iterator[Part]:
    """Stand-ins of the same counts, in two levels."""
    edge = SIZE // 8 if context.quick else SIZE
    rows, checks = [], []
    for name, entry in TABLE.items():
        shot = Shot(lambda entry=entry: (context.scene(entry.scene), None), (edge, edge), 1, SHOWN)
        figure = f"Figure {FIGURES[name]}: {name}" if name in FIGURES else name
        yield Figure(figure, png=sheet(context, name, shot), note="Stand-in of our own, under a sky.", alt=entry.scene)
        counts = tuple(context.keep(("counts", name), lambda entry=entry: _counts(context.scene(entry.scene))))
        if entry.triangles is not None:
            theirs = (entry.triangles, entry.instances, entry.lights)
            what = f"{name}: triangles, instances, lights"
            same = counts == theirs
            checks.append(Check(OWN, what, _listed(theirs), _listed(counts), same, "our stand-in has other counts"))
        fps = context.keep(("fps", name, edge), lambda entry=entry: _rate(context, context.scene(entry.scene), edge))
        rows.append((name, *(f"{each:,}" for each in counts), beside(entry.fps, round(fps, 2), WHY)))
    note = (
        f"{edge} x {edge} on {context.device_name}; published 512 x 512 on an {DEVICE}. Both by a grid of "
        "instances over grids of triangles in one pass, with shadows and reflections. Hind24 has no published counts."
    )
    columns = ("scene", "triangles", "instances", "lights", "frames a second")
    yield Table("Frames a second", columns, rows, note, checks)
    rates = [row[-1].ours for row in rows]
    yield Conclusion(
        "A 5",
        "Scenes of 1,676 to 33,404 triangles are ray traced at 6 to 16 frames a second, 512 x 512.",
        [None],
        f"here {min(rates)} to {max(rates)} on {context.device_name}: a processor, no graphics card",
    )
    yield Conclusion("A 4", "A conditional around the triangle's test gains about 10 %.", [None], "not measured here")
    yield Absent("the gain of the conditional around the triangle's test", "not measured yet")


def _counts(scene: Scene) -> list[int]:
    """Triangles, instances, lights."""
    return [scene.triangle_count, len(scene.instances), len(scene.lights)]


def _listed(counts: tuple[int | None, ...]) -> str:
    return ", ".join(f"{each:,}" for each in counts if each is not None)


def _rate(context: Context, scene: Scene, edge: int) -> float:
    renderer = viewer.Renderer(scene, device=context.device, **SETTINGS)
    seconds = median_seconds(lambda: renderer.render((edge, edge), spp=1), 1 if context.quick else RUNS)
    renderer.release()
    return 1 / seconds
