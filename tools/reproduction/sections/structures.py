"""D 3.3, P2 3: grid, hierarchy and octree, which the papers hold to be within a factor of two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import raystream

from .. import timed
from ..context import Context
from ..report import TWICE, AbsentError, Parts, concluded, listed, section, tabled

SIZE, QUICK = 512, 64
STRUCTURES = ("grid", "bvh", "octree")
# Programs by their rays: the camera's; and those that surfaces scatter, which part, with their shadow rays.
RAYS: dict[str, dict[str, Any]] = {"eye rays": {"program": "cast"}, "paths": {"program": "path", "depth": 3}}
SCENES = {"Teapotahedron": "teapotahedron", "bunny": "bunny.ply", "dragon": "dragon.ply", "forest": "forest"}
QUICK_SCENES = 1  # of them


@section("structures", paper="D 3.3, P2 3", title="Grid, hierarchy and octree", order=2, timed=True)
def make(context: Context) -> Parts:
    """Seconds of the same picture by each."""
    edge = QUICK if context.quick else SIZE
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, dict[str, float]] = {}
    for name, source in list(SCENES.items())[: QUICK_SCENES if context.quick else None]:
        try:
            if context.stored is None:
                context.scene(source)
            timings = timed.keep(
                context, ("structures", name, edge), lambda source=source: cases(context, source, edge)
            )
        except AbsentError as error:
            yield error.part
            continue
        for rays in RAYS:
            times = {each: timings[f"{each}, {rays}"] for each in STRUCTURES}
            seconds = [each.cpu.median for each in times.values()]
            ratio = max(seconds) / min(seconds)
            ratios.setdefault(rays, {})[name] = ratio
            rows.append((f"{name}, {rays}", *(each.cpu.text() for each in times.values()), f"{ratio:.1f}"))
    columns = ("scene, rays", *STRUCTURES, "slowest / fastest")
    device = context.device_name
    yield tabled("seconds_by_structure", rows, columns=columns, edge=edge, half=edge // 2, device=device)
    if ratios:
        figures = (f"{rays} {listed(f'{name} {each:.1f}' for name, each in by.items())}" for rays, by in ratios.items())
        yield concluded(
            "within_twice",
            [round(each, 1) <= TWICE for by in ratios.values() for each in by.values()],
            f"the slowest of grid, hierarchy and octree over the fastest, to a tenth: {'; '.join(figures)}",
        )


@contextmanager
def cases(context: Context, source: str, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Each structure under each kind of rays, ready to be rendered again."""
    scene = context.scene(source)

    def case(renderer: raystream.Renderer, size: tuple[int, int]) -> None:
        renderer.render(size, spp=1)

    with timed.Releasing() as held:
        renderings: dict[str, timed.Case] = {}
        for rays, settings in RAYS.items():
            size = (edge, edge) if rays == "eye rays" else (edge // 2, edge // 2)
            for accel in STRUCTURES:
                own: dict[str, Any] = {"device": context.device, "machine": "singlepass", "accel": accel, **settings}
                renderings[f"{accel}, {rays}"] = partial(case, held.own(raystream.Renderer(scene, **own)), size)
        yield renderings
