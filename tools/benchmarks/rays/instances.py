"""Scenes of many instances: a forest of 200,000 trees, 100 million triangles, in the memory of its few meshes, beside
that of a flat structure where possible; and a thousand moving instances.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.common import Options, Result, Table, facts, interleave, say
from raystream.accel.two_level.structure import TwoLevel
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin import balls, forest
from raystream.scene.hierarchy import compose
from raystream.scene.scene import Instance, Scene

ABOUT = "instances: 100 million triangles in the memory of their meshes, beside flat; cost of movement"

TREES, FEW_TREES, QUICK_TREES = 200_000, 2_000, 200
MOVING = 1000  # instances
# Objects, instances.
KINDS = {
    "bvh over bvh": {"accel": "two-level-bvh"},
    "grid over bvh": {"accel": "two-level-bvh", "top": "grid"},
    "bvh over grid": {"accel": "two-level-grid", "top": "bvh"},
    "grid over grid": {"accel": "two-level-grid"},
}
FLAT = {"flat bvh": {"accel": "bvh"}}


def run(options: Options) -> Result:
    """Build, render and move."""
    data: dict[str, Any] = {"facts": facts(options.open()), "scenes": {}, "missing": []}
    # The first of each kind is built twice, as it loads the compiled loops.
    for trees, kinds in (
        (QUICK_TREES, KINDS | FLAT),
        *(() if options.quick else ((FEW_TREES, KINDS | FLAT), (TREES, KINDS))),
    ):
        found = _scene(trees, kinds, options)
        if options.quick or trees != QUICK_TREES:
            data["scenes"][str(trees)] = found
    data["moving"] = _moving(2 if options.quick else 40)
    return Result(data, _tables(data))


def _scene(trees: int, kinds: dict[str, dict[str, Any]], options: Options) -> dict[str, Any]:
    """Every kind of structure over a forest of ``trees`` trees."""
    scene = forest.build(trees)
    out: dict[str, Any] = {"triangles": scene.triangle_count, "instances": len(scene.instances), "kinds": {}}
    for name, recipe in kinds.items():
        say(f"instances: {trees:,} trees, {name}")
        wall, cpu = time.perf_counter(), time.process_time()
        prepared = prepare(scene, **recipe)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        renderer = Renderer(prepared, device=options.open(), program="cast")
        memory = renderer.info()["gpu memory"]
        renderer.release()
        out["kinds"][name] = {"build_seconds": wall, "build_cpu_seconds": cpu, "memory": memory}
        out.setdefault("distinct_triangles", prepared.structure.statistics["triangles"])
    return out


def _moving(runs: int) -> dict[str, Any]:
    """Times to build the top structure over a thousand instances, and to move them all: matrices, boxes, rows."""
    rng = np.random.default_rng(1)
    mesh, ones = balls.sphere(balls.SEGMENTS, balls.RINGS).mesh("ball"), np.ones((MOVING, 3))
    places = [compose(rng.uniform(-40, 40, (MOVING, 3)), rng.normal(size=(MOVING, 4)), ones) for _ in range(2)]
    scene = Scene([mesh], [Instance(0, matrix) for matrix in places[0]])
    out: dict[str, Any] = {"instances": MOVING}
    for kind in ("bvh", "grid"):
        two, turn = TwoLevel.of(scene, kind), [0]

        def move(two: TwoLevel = two, turn: list[int] = turn) -> None:
            turn[0] ^= 1
            two.move(np.arange(MOVING), places[turn[0]])

        cases = {"top": lambda two=two: two.top.build(two.low, two.high), "all": move}
        out[kind] = {name: timing.to_json() for name, timing in interleave(cases, runs).items()}
    return out


def _tables(data: dict[str, Any]) -> list[Table]:
    tables = []
    rows: list[tuple[Any, ...]]
    for trees, found in data["scenes"].items():
        rows = [
            (name, row["build_seconds"], row["build_cpu_seconds"], row["memory"]["total"] / 2**20)
            for name, row in found["kinds"].items()
        ]
        title = f"{int(trees):,} trees, {found['triangles']:,} triangles, {found['distinct_triangles']:,} stored"
        tables.append(Table(title, ("structure", "build s", "CPU s", "MiB"), rows, "Build: scene to tables."))
    rows = [
        (kind, *(value for case in ("top", "all") for value in _times(data["moving"][kind][case])))
        for kind in ("bvh", "grid")
    ]
    columns = ["top structure", "built, ms", "CPU ms", "all moved, ms", "CPU ms"]
    tables.append(Table(f"{data['moving']['instances']:,} instances that move", columns, rows))
    return tables


def _times(timing: dict[str, Any]) -> tuple[float, float]:
    return timing["ms"], timing["cpu_ms"]
