"""The uniform grid as a module: its memories, and the traversal state of a ray."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid import build
from raystream.accel.grid.build import Grid
from raystream.accel.grid.cost import MAX_ADDRESS, Resolution, by_minimal_dimension, cheapest, parse, within_limits
from raystream.base.errors import ViewerError
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table, Volume
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

TRAVERSAL = Record(
    "Traversal",
    Field("voxel", "ivec3", "voxels", about="the next voxel", within=SMALL),
    Field("inverse", "vec3", about="1 / direction, in scene units or voxels, zeros of the direction replaced"),
    Field("list", "int", about="address of the next candidate, -1: none", within=ROWS),
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the current voxel"),
)
ENTRY = Record(
    "GridEntry", Field("entry", "int", about="triangle n, written -n - 1 when it is the list's last", within=ROWS)
)
# Traversals of a grid: a differential analyser (Amanatides and Woo 1987), and that of Adinetz and Berezin (2006).
TRAVERSALS = {"dda": "accel/grid.glsl", "adinetz": "accel/grid_adinetz.glsl"}


class Box(Protocol):
    """The box of a grid: lowest corner and edges of a voxel, (3,) float32, world; and voxels along x, y, z."""

    @property
    def low(self) -> NDArray[np.float32]: ...
    @property
    def voxel(self) -> NDArray[np.float32]: ...
    @property
    def resolution(self) -> Resolution: ...


def module(grid: Grid, traversal: str = "dda") -> Module:
    """The module that traverses a grid (`raystream.accel.grid.build.build`) by one of `TRAVERSALS`; the hits are the
    same."""
    pointers, entries = lists_with_marked_ends(grid.pointers, grid.lists)
    lists = np.zeros(len(entries), ENTRY.dtype)
    lists["entry"] = entries
    return module_over(grid, Volume("grid_pointers", pointers), Table("grid_lists", ENTRY, lists, hot=True), traversal)


def module_over(grid: Box, pointers: Volume, lists: Table, traversal: str = "dda") -> Module:
    """The module that traverses a grid whose memories exist: ``lists`` of `ENTRY`, and ``pointers`` into them."""
    uniforms: dict[str, tuple[str, Any]] = {"grid_resolution": ("ivec3", tuple(map(int, grid.resolution)))}
    if traversal == "dda":
        low = grid.low.astype(np.float32)
        high = low + grid.voxel * np.asarray(grid.resolution, np.float32)
        uniforms |= {
            "grid_low": ("vec3", tuple(map(float, low))),
            "grid_high": ("vec3", tuple(map(float, high))),
            "grid_voxel": ("vec3", tuple(map(float, grid.voxel))),
        }
    else:
        scale, shift = texel_coordinates(grid)
        uniforms |= {
            "grid_scale": ("vec3", tuple(map(float, scale))),
            "grid_shift": ("vec3", tuple(map(float, shift))),
        }
    return Module(
        "grid",
        provides=(
            *("accel_start", "accel_enter", "accel_start_inside"),
            *("accel_step", "accel_candidate", "accel_more", "accel_ends"),
        ),
        source=TRAVERSALS[traversal],
        memories=(pointers, lists),
        uniforms=uniforms,
        module_state=TRAVERSAL,
        uses=(RAY,),
    )


def texel_coordinates(grid: Box) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(a, b), each (3,) float32: a point p is at the texel coordinates a p + b, and voxel (0, 0, 0) begins at 0.

    a = N dl / L and b = c0 - g0 N dl / L of Adinetz and Berezin (2006), with N voxels over the length L from g0 on, the
    texel coordinate c0 = 0 of the grid's corner, and texels of size dl = 1.
    """
    scale = 1.0 / grid.voxel.astype(np.float64)
    return scale.astype(np.float32), (-grid.low * scale).astype(np.float32)


def lists_with_marked_ends(pointers: NDArray[np.float32], lists: NDArray[np.float32]) -> tuple[NDArray, NDArray]:
    """(pointers, lists) of a grid with lists without terminators: the last entry n of each is written as -n - 1."""
    is_terminator = lists < 0
    terminators_before = np.cumsum(is_terminator, dtype=np.int64) - is_terminator  # null entries before each address
    entries = lists.copy()
    last = np.flatnonzero(is_terminator[1:])  # the entries before a null one
    entries[last] = -entries[last] - 1
    has_list = pointers >= 0
    new_pointers = pointers.copy()
    addresses = pointers[has_list].astype(np.int64)
    new_pointers[has_list] = addresses - terminators_before[addresses]
    return new_pointers, entries[~is_terminator]


# -- pointers and lists made on the device -----------------------------------------------------------------------------
# Box and resolution of a uniform grid whose pointers and lists are made on the device, from the triangles there.
# Purcell et al. (2002), section 5.1, ask for a grid into which the moving geometry is scan-converted each frame.

# Of the overlap test in float32, in units of float32's rounding for each voxel along the longest axis: a corner is off
# by 2 (difference, product), a separating axis's interval by at most 14 (plane: normal times corner 3 and 3, their
# least or largest 1, the row's share 2 and 1, quotient 2, slack 2). Edges stay below that.
FLOAT32_ERROR = 16.0
LIST_HEADROOM = 1.25  # of the lists, as a share of the expected entries
# A resolution is kept from frame to frame, and with it all programs, up to this multiple of the least expected cost.
MAX_COST_RATIO = 1.5


@dataclass(frozen=True)
class DeviceGrid:
    """low, voxel : (3,) float32, as of `raystream.accel.grid.build.Grid`. margin : (3,) float32, voxels, by which they
    are wider. triangles : number of them. pointers, lists : memories that the device fills, without values on the host.
    statistics : of the build; completed by those found on the device.
    """

    low: NDArray[np.float32]
    voxel: NDArray[np.float32]
    margin: NDArray[np.float32]
    resolution: Resolution
    triangles: int
    pointers: Volume
    lists: Table
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def voxels(self) -> int:
        """Number of voxels."""
        return int(np.prod(self.resolution))


def plan(corners: NDArray[np.float32], resolution: object = "auto", earlier: DeviceGrid | None = None) -> DeviceGrid:
    """The grid over triangles (T, 3, 3) float32, world space, to be built on the device.

    resolution : as of `raystream.accel.grid.build.build`. earlier : of an earlier frame, whose memories serve on, and
    whose resolution where "auto" is about as good.

    Raises ViewerError for an invalid resolution and one beyond 2^24 voxels, the numbers that are sorted, for 2^24
    triangles and more, and for extents beyond float32.
    """
    requested = parse(resolution)
    bounds, survey = build.bounds_and_survey(corners)
    if len(corners) >= MAX_ADDRESS:
        raise ViewerError("grid", f"{len(corners):,} triangles, and list addresses end at {MAX_ADDRESS:,}")
    if not isinstance(requested, str):
        chosen = by_minimal_dimension(survey, requested) if isinstance(requested, int) else requested
    else:
        chosen = cheapest(survey)[0]
        if earlier is not None:
            costs = survey.cost(np.array([earlier.resolution, chosen]))
            chosen = earlier.resolution if costs[0] <= MAX_COST_RATIO * costs[1] else chosen
    if not within_limits(chosen) or np.prod(chosen) >= MAX_ADDRESS:
        raise ViewerError(
            f"--grid {requested}", f"--rebuild device-grid sorts fewer than {MAX_ADDRESS:,} voxels", "take fewer"
        )
    low, voxel, margin = build.box_with_margin(bounds, survey.box, chosen)
    margin = margin + FLOAT32_ERROR * build.ROUNDING * max(chosen)
    if earlier is not None and earlier.resolution == chosen and earlier.triangles == len(corners):
        pointers, lists = earlier.pointers, earlier.lists
    else:
        empty = np.broadcast_to(np.float32(-1.0), chosen[::-1])
        list_size = min(int(LIST_HEADROOM * float(survey.references(np.array([chosen]))[0])) + 1, MAX_ADDRESS)
        pointers = Volume("grid_pointers", empty)
        lists = Table("grid_lists", ENTRY, np.broadcast_to(np.zeros((), ENTRY.dtype), (list_size,)), hot=True)
    counts: dict[str, Any] = {"triangles": len(corners), "voxels": int(np.prod(chosen))}
    return DeviceGrid(low, voxel, margin.astype(np.float32), chosen, len(corners), pointers, lists, counts)
