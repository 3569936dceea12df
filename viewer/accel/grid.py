"""The uniform grid as a module: its memories, and the record of where a ray is in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.accel.grid_build import Grid
from viewer.kernels.records import RAY
from viewer.stream.kernel import Module, Table, Volume
from viewer.stream.record import Field, Record

WALK = Record(
    "Walk",
    Field("voxel", "ivec3", "voxels", about="the voxel to visit next"),
    Field("inverse", "vec3", about="1 / direction, zeros of the direction replaced"),
    Field("list", "int", about="address of the next candidate, -1: none"),
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the voxel visited last"),
)
ENTRY = Record("GridEntry", Field("entry", "int", about="triangle n, written -n - 1 when it is the list's last"))


def module(grid: Grid) -> Module:
    """The module that walks a grid (`viewer.accel.grid_build.build`)."""
    pointers, entries = _mark_last(grid.pointers, grid.lists)
    lists = np.zeros(len(entries), ENTRY.dtype)
    lists["entry"] = entries
    low = grid.low.astype(np.float32)
    high = low + grid.voxel * np.asarray(grid.resolution, np.float32)
    uniforms: dict[str, tuple[str, Any]] = {
        "grid_low": ("vec3", tuple(map(float, low))),
        "grid_high": ("vec3", tuple(map(float, high))),
        "grid_voxel": ("vec3", tuple(map(float, grid.voxel))),
        "grid_resolution": ("ivec3", tuple(map(int, grid.resolution))),
    }
    return Module(
        "grid",
        provides=("accel_enter", "accel_step", "accel_candidate", "accel_more", "accel_ends"),
        source="accel/grid.glsl",
        memories=(Volume("grid_pointers", pointers), Table("grid_lists", ENTRY, lists)),
        uniforms=uniforms,
        keeps=WALK,
        uses=(RAY,),
    )


def _mark_last(pointers: NDArray[np.float32], lists: NDArray[np.float32]) -> tuple[NDArray, NDArray]:
    """Lists without their null entries, the last entry n of each written -n - 1; and the pointers into them."""
    null = lists < 0
    before = np.cumsum(null, dtype=np.int64) - null  # null entries before each address
    entries = lists.copy()
    last = np.flatnonzero(null[1:])  # the entries that stand before a null one
    entries[last] = -entries[last] - 1
    full = pointers >= 0
    moved = pointers.copy()
    at = pointers[full].astype(np.int64)
    moved[full] = at - before[at]
    return moved, entries[~null]
