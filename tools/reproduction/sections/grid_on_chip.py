"""P2 5.1: the grid of each frame, built by fragment programs from the triangles on the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from benchmarks.rays.grid_build import STAGES, builds

import raystream
from raystream.scene.scene import Scene

from .. import timed
from ..context import Context
from ..report import OWN, Check, Parts, concluded, section, tabled

RAYS = 20_000
COUNTS = ("triangles", "list_entries", "sort_passes")


@section("grid_on_chip", paper="P2 5.1", title="A grid built on the chip", order=5, timed=True)
def make(context: Context) -> Parts:
    """Stages of the build, and the hits over both grids."""
    rows, checks = [], []
    names = ("cornell",) if context.quick else ("cornell", "bunny.ply")
    for name in names:
        share = context.keep(("hits", name), lambda name=name: _same_hits(context, context.scene(name)))
        what = f"{name}: hits over the grid built on the device and over the host's"
        checks.append(Check(OWN, what, "all", f"{share:.0%} the same to the bit", share == 1.0, "another grid"))
    yield from checks
    yield concluded("grid_on_chip", checks, "the same hits to the bit as the host's grid")
    for name in names:
        parts = timed.keep(context, ("build", name), lambda name=name: _builds(context, name))["device"].parts
        stages = [parts[stage].of(lambda seconds: 1e3 * seconds).text() for stage in STAGES]
        rows.append((name, *(int(parts[each].median) for each in COUNTS), *stages))
    columns = ("scene", "triangles", "entries", "passes of the sort", *STAGES)
    yield tabled("the_grid_of_a_frame", rows, columns=columns)


@contextmanager
def _builds(context: Context, name: str) -> Iterator[dict[str, timed.Case]]:
    """Of a scene's triangles: seconds by stage, and counts."""
    with builds(context.device, context.scene(name).flatten().corners()) as found:

        def case() -> dict[str, float]:
            times: dict[str, float] = {}
            found.on_device(times)
            return {**times, **{each: found.grid.statistics[each] for each in COUNTS}}

        yield {"device": case}


def _same_hits(context: Context, scene: Scene) -> float:
    """The share of rays from around a scene whose hits are the same over both grids."""
    low, high = scene.bounds()
    rng = np.random.default_rng(2002)
    origins = rng.uniform(2 * low - high, 2 * high - low, (RAYS, 3))
    directions = rng.uniform(low, high, (RAYS, 3)) - origins
    hits: list[Any] = []
    for rebuild in ("auto", "device-grid"):
        renderer = raystream.Renderer(scene, device=context.device, accel="grid", rebuild=rebuild)
        hits.append(renderer.trace(origins, directions))
        renderer.release()
    one, other = hits
    return float(np.mean((one.triangle == other.triangle) & (one.distance == other.distance)))
