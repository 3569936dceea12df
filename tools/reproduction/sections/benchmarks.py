"""Claims on speed that this project's benchmarks decide: two levels, and a tracer for processors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..context import Context
from ..report import TWICE, Conclusion, Parts, concluded, listed, section, tabled

ACCEL = Path(__file__).parents[2] / "results" / "llvmpipe-amd-epyc-2-cpus" / "accel.json"  # of tools/bench.py
PROCESSOR = "Embree, 2 threads"
GRID, IN_PASSES, TREE = "grid, dda, singlepass", "grid, dda, multipass none", "bvh, stack, singlepass"
LEVELS = {"one level": "grid, adinetz, singlepass", "two levels": "two-level-grid, adinetz, singlepass"}
NAMES = {
    GRID: "grid, one pass",
    IN_PASSES: "grid, a pass for each kernel",
    TREE: "hierarchy, one pass",
    LEVELS["two levels"]: "grids of two levels, one pass",
}
TWO_LEVELS = "teapot in a stadium"  # the scene that is traced by grids of one level and of two
Rates = Mapping[str, Mapping[str, Mapping[str, float]]]  # millions of rays a second by scene, type of ray, and tracer


def rates() -> Rates:
    """What the benchmark of structures measured."""
    scenes = json.loads(ACCEL.read_text(encoding="utf-8"))["scenes"]
    return {
        scene: {ray: {tracer: each["mrays"] for tracer, each in by.items()} for ray, by in kept["rates"].items()}
        for scene, kept in scenes.items()
    }


def plain(scene: str) -> str:
    """A scene's name without a comma, for lists."""
    return scene.replace(",", "")


@section("benchmarks", paper="D 3.3, P2 3", title="Speed of structures, and of a tracer for processors", order=3)
def benchmarks(context: Context) -> Parts:
    """Rays a second by structure and scene, over those of Embree on the same processor."""
    made = rates()
    tracers = (GRID, IN_PASSES, TREE, LEVELS["two levels"])
    rows = [
        (
            f"{plain(scene)}, {ray}",
            f"{by[PROCESSOR]:.2f}",
            *(f"{by[each]:.2f}" if each in by else "-" for each in tracers),
        )
        for scene, kept in made.items()
        for ray, by in kept.items()
    ]
    columns = ("scene, rays", PROCESSOR, *(NAMES[tracer] for tracer in tracers))
    yield tabled("rays_a_second_by_structure", rows, columns=columns)
    yield from _conclusions(made)


def _conclusions(made: Rates) -> Iterator[Conclusion]:
    flat = {scene: kept for scene, kept in made.items() if GRID in kept["primary"] and TREE in kept["primary"]}
    shares = {
        tracer: [kept["primary"][tracer] / kept["primary"][PROCESSOR] for kept in flat.values()]
        for tracer in (GRID, IN_PASSES, TREE)
    }
    figures = "; ".join(f"{NAMES[tracer]} {listed(by, '.2f')}" for tracer, by in shares.items())
    yield concluded(
        "as_fast",
        [each * TWICE >= 1 for tracer in (GRID, IN_PASSES) for each in shares[tracer]],
        f"here, eye rays a second over Embree's on the same processor, of {', '.join(map(plain, flat))}: {figures}; "
        "comparable is half of it and more",
    )
    one, two = ([by[LEVELS[each]] for by in made[TWO_LEVELS].values()] for each in LEVELS)
    gains = [after / before for before, after in zip(one, two, strict=True)]
    text = f"{TWO_LEVELS}, rays a second of two levels over one, by type of ray: {listed(gains, '.1f')}"
    yield concluded("two_levels", [each >= 1 for each in gains], text)
