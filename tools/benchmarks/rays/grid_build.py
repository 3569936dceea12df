"""Building the uniform grid by fragment programs: the stages' times on the device, beside the host's builder.

What the device builds are a scene's own triangles, where they are; the host's time is without their upload and the
grid's. CPU time is of all threads.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from benchmarks.common import Options, Result, Table, Timing, facts, interleave, say
from benchmarks.scenes import found
from raystream.accel import primitives
from raystream.accel.grid.build import build
from raystream.accel.grid.grid import DeviceGrid, lists_with_marked_ends, plan
from raystream.renderer.device.grid_build import GridBuild
from raystream.stream.declare import kernel
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.jobs import Executor

ABOUT = "building the uniform grid on the device: rows, spans, sort, search; beside the host's builder"

RUNS = 9
STAGES = ("rows", "spans", "sort", "search", "copy")


def run(options: Options) -> Result:
    """Every scene, device and host in turn."""
    views, missing = found(("cornell",) if options.quick else ("cornell", "bunny"))
    device = options.open()
    data: dict[str, Any] = {
        "facts": facts(device),
        "runs": 2 if options.quick else RUNS,
        "warm_up": 1,
        "missing": missing,
        "scenes": {},
    }
    for view in views:
        say(f"grid-build: {view.name}")
        data["scenes"][view.name] = build_times(device, raystream.load(view.source).flatten().corners(), data["runs"])
    return Result(data, _tables(data))


class Builds(NamedTuple):
    """The grid over triangles, built again by each call. grid : its plan, and its statistics once it is built;
    on_device : with a dictionary, the end of each of `STAGES` is waited for and its seconds are entered."""

    grid: DeviceGrid
    on_device: Callable[..., None]
    on_host: Callable[[], None]


@contextmanager
def builds(device: Device, corners: NDArray[np.float32]) -> Iterator[Builds]:
    """Over triangles (T, 3, 3), by fragment programs and by the host."""
    grid = plan(corners)
    with device.current():
        resources = Resources(device)
        table = primitives.triangle_module("watertight", corners).memories[0]
        assert isinstance(table, kernel.Table)
        builder = GridBuild(device, table, resources)
        memories = [resources.get(each) for each in (table, grid.pointers, grid.lists)]
    executor = Executor(device, resources, lambda step: None)  # type: ignore[arg-type, return-value]

    def on_device(times: dict[str, float] | None = None) -> None:
        executor.times = times
        for _ in executor.run(builder.job(grid, *memories)):
            pass
        with device.current():
            device.wait()

    def on_host() -> None:
        made = build(corners, grid.resolution)
        lists_with_marked_ends(made.pointers, made.lists)

    try:
        yield Builds(grid, on_device, on_host)
    finally:
        with device.current():
            builder.release()
            resources.release()


def build_times(device: Device, corners: NDArray[np.float32], runs: int) -> dict[str, Any]:
    """Times and counts of the grid over triangles (T, 3, 3), device and host in turn, and of the stages."""
    with builds(device, corners) as (grid, on_device, on_host):
        timings: dict[str, Timing] = interleave({"device": on_device, "host": on_host}, runs)
        stages: dict[str, list[float]] = {stage: [] for stage in STAGES}
        for _ in range(runs):  # by themselves: the end of each stage is waited for
            times: dict[str, float] = {}
            on_device(times)
            for stage in STAGES:
                stages[stage].append(1e3 * times[stage])
    return {
        **grid.statistics,
        "resolution": list(grid.resolution),
        "device": timings["device"].to_json(),
        "host": timings["host"].to_json(),
        "stages": {stage: {"ms": statistics.median(each), "ms_least": min(each)} for stage, each in stages.items()},
    }


def _tables(data: dict[str, Any]) -> list[Table]:
    rows = [
        (
            name,
            scene["triangles"],
            "x".join(map(str, scene["resolution"])),
            scene["rows"],
            scene["list_entries"],
            scene["sort_passes"],
            scene["device"]["ms"],
            scene["device"]["cpu_ms"],
            *(scene["stages"][stage]["ms"] for stage in STAGES),
            scene["host"]["ms"],
            scene["host"]["cpu_ms"],
        )
        for name, scene in data["scenes"].items()
    ]
    columns: tuple[str, ...] = ("scene", "triangles", "voxels", "rows", "entries", "sort passes", "ms", "CPU ms")
    columns += (*(f"{stage}, ms" for stage in STAGES), "host, ms", "host, CPU ms")
    note = (
        f"Medians of {data['runs']} builds, device and host in turn, after {data['warm_up']}; stages in builds of "
        "their own, whose ends are waited for. Rows: of voxels along x within the triangles' bounds."
    )
    return [Table("uniform grids, built on the device", columns, rows, note)]
