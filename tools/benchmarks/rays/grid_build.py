"""The uniform grid, built by fragment programs, for the report of the papers (its section grid_on_chip)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.accel import primitives
from raystream.accel.grid.grid import DeviceGrid, plan
from raystream.renderer.device.grid_build import GridBuild
from raystream.stream.declare import kernel
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.jobs import Executor

STAGES = ("rows", "spans", "sort", "search", "copy")


class Builds(NamedTuple):
    """The grid over triangles, built again by each call. grid : its plan, and its statistics once it is built;
    on_device : waits for the end of each of `STAGES`, and enters its seconds into a dictionary."""

    grid: DeviceGrid
    on_device: Callable[[dict[str, float]], None]


@contextmanager
def builds(device: Device, corners: NDArray[np.float32]) -> Iterator[Builds]:
    """Over triangles (T, 3, 3)."""
    grid = plan(corners)
    with device.current():
        resources = Resources(device)
        table = primitives.triangle_module("watertight", corners).memories[0]
        assert isinstance(table, kernel.Table)
        builder = GridBuild(device, table, resources)
        memories = [resources.get(each) for each in (table, grid.pointers, grid.lists)]
    executor = Executor(device, resources, lambda step: None)  # type: ignore[arg-type, return-value]

    def on_device(times: dict[str, float]) -> None:
        executor.times = times
        for _ in executor.run(builder.job(grid, *memories)):
            pass
        with device.current():
            device.wait()

    try:
        yield Builds(grid, on_device)
    finally:
        with device.current():
            builder.release()
            resources.release()
