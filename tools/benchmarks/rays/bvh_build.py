"""Building the bounding volume hierarchy: surface area heuristic and midpoints, time against the tree's cost.

CPU time is of all threads: about that of a single thread. Targets are seconds on two quiet cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import raystream
from benchmarks import plots
from benchmarks.common import Options, Result, Table, facts, interleave, say, target_tables
from benchmarks.scenes import found
from raystream.accel import bvh_build
from raystream.accel.bvh_build import TEST, TRAVERSAL

ABOUT = "building the bounding volume hierarchy: seconds, memory, SAH cost, depth"

RUNS = 7
METHODS = ("sah", "midpoint")
INSTANCES = 1000  # boxes of a top structure
# Target seconds on two cores.
TARGETS = {"dragon": 1.2, "forest_flat": 2.0}
TOP_TARGET = 0.003


def run(options: Options) -> Result:
    """Build every scene both ways, in turn."""
    views, missing = found(("cornell",) if options.quick else ("bunny", "dragon", "forest_flat"))
    runs = 2 if options.quick else RUNS
    data: dict[str, Any] = {
        "facts": facts(options.open()),
        "runs": runs,
        "warm_up": 1,
        "missing": missing,
        "scenes": {},
    }
    for view in views:
        say(f"bvh-build: {view.name}")
        corners = raystream.load(view.source).flatten().corners()
        data["scenes"][view.name] = {
            "triangles": len(corners),
            "corners_bytes": corners.nbytes,
            "methods": _scene(corners, runs),
        }
    data["top"] = _top(runs)
    data["targets"] = [
        {"target": f"{name}, sah, s", "limit": limit, "measured": data["scenes"][name]["methods"]["sah"]["ms"] / 1e3}
        for name, limit in TARGETS.items()
        if name in data["scenes"]
    ]
    data["targets"].append(
        {"target": f"{INSTANCES:,} boxes, s", "limit": TOP_TARGET, "measured": data["top"]["ms"] / 1e3}
    )
    for target in data["targets"]:
        target["met"] = target["measured"] <= target["limit"]
    return Result(data, _tables(data), plots.drawn(_figure, data))


def _scene(corners: np.ndarray, runs: int) -> dict[str, dict[str, Any]]:
    """Timing and statistics of each method."""
    trees: dict[str, bvh_build.Bvh] = {}

    def case(method: str) -> None:
        trees[method] = bvh_build.build(corners, method)

    timings = interleave({method: lambda method=method: case(method) for method in METHODS}, runs)
    return {method: timings[method].to_json() | trees[method].statistics for method in METHODS}


def _top(runs: int) -> dict[str, Any]:
    """Time of a top structure over boxes, rebuilt as in one frame of a moving scene."""
    low = np.random.default_rng(1).uniform(0, 1, (INSTANCES, 3)).astype(np.float32)
    timings = interleave({"top": lambda: bvh_build.build_boxes(low, low + np.float32(0.05))}, 5 * runs)
    return {"boxes": INSTANCES, **timings["top"].to_json()}


def _tables(data: dict[str, Any]) -> list[Table]:
    rows = [
        (
            f"{name}, {method}",
            scene["triangles"],
            row["ms"],
            row["cpu_ms"],
            1e-3 * scene["triangles"] / row["ms"],
            row["peak_bytes"] / 2**20,
            row["bytes"] / 2**20,
            row["nodes"],
            row["triangles_per_leaf"],
            row["depth"],
            row["sah_cost"],
        )
        for name, scene in data["scenes"].items()
        for method, row in scene["methods"].items()
    ]
    columns: tuple[str, ...] = (
        "scene, build",
        "triangles",
        "ms",
        "CPU ms",
        "Mtriangles/s",
        "peak MiB",
        "tree MiB",
        "nodes",
    )
    columns += ("per leaf", "depth", "SAH cost")
    note = (
        f"Median of {data['runs']} builds in turn after {data['warm_up']}. Peak: of the builder's arrays, beside the "
        f"triangles' corners. SAH cost: expected cost of a random line through the box, "
        f"{TRAVERSAL:g} per inner node and {TEST:g} per triangle tested."
    )
    return [Table("bounding volume hierarchies, built", columns, rows, note), *target_tables(data)]


def _figure(data: dict[str, Any]) -> Any:
    if not data["scenes"]:
        return None
    figure, axes = plots.figure(9.0, 4.0, 2)
    for axis, key, title in ((axes[0], "ms", "build, milliseconds"), (axes[1], "sah_cost", "SAH cost")):
        values = {each: [scene["methods"][each][key] for scene in data["scenes"].values()] for each in METHODS}
        plots.bars(axis, list(data["scenes"]), values, text="%.3g")
        axis.set_title(title, fontsize=10)
    axes[0].legend(frameon=False, fontsize=8)
    return figure
