"""Box and resolution of a uniform grid whose pointers and lists are made on the device, from the triangles there.

Purcell et al. (2002), section 5.1, ask for a grid into which the moving geometry is scan-converted each frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid import build
from raystream.accel.grid.cost import LIMIT, Resolution, by_minimal_dimension, cheapest, parse, within_limits
from raystream.accel.grid.grid import ENTRY
from raystream.base.errors import ViewerError
from raystream.stream.declare.kernel import Table, Volume

# Of the overlap test in float32, in units of float32's rounding for each voxel along the longest axis: a corner is off
# by 2 (difference, product), a separating axis's interval by at most 14 (plane: normal times corner 3 and 3, their
# least or largest 1, the row's share 2 and 1, quotient 2, slack 2). Edges stay below that.
SINGLE = 16.0
ROOM = 1.25  # of the lists, as a share of the expected entries
# A resolution is kept from frame to frame, and with it all programs, up to this multiple of the least expected cost.
KEPT = 1.5


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


def plan(corners: NDArray[np.float32], resolution: object = "auto", before: DeviceGrid | None = None) -> DeviceGrid:
    """The grid over triangles (T, 3, 3) float32, world space, to be built on the device.

    resolution : as of `raystream.accel.grid.build.build`. before : of an earlier frame, whose memories serve on, and
    whose resolution where "auto" is about as good.

    Raises ViewerError for an invalid resolution and one beyond 2^24 voxels, the numbers that are sorted, for 2^24
    triangles and more, and for extents beyond float32.
    """
    requested = parse(resolution)
    bounds, survey = build.surveyed(corners)
    if len(corners) >= LIMIT:
        raise ViewerError("grid", f"{len(corners):,} triangles, and list addresses end at {LIMIT:,}")
    if not isinstance(requested, str):
        chosen = by_minimal_dimension(survey, requested) if isinstance(requested, int) else requested
    else:
        chosen = cheapest(survey)[0]
        if before is not None:
            costs = survey.cost(np.array([before.resolution, chosen]))
            chosen = before.resolution if costs[0] <= KEPT * costs[1] else chosen
    if not within_limits(chosen) or np.prod(chosen) >= LIMIT:
        raise ViewerError(
            f"--grid {requested}", f"--rebuild device-grid sorts fewer than {LIMIT:,} voxels", "take fewer"
        )
    low, voxel, margin = build.space(bounds, survey.box, chosen)
    margin = margin + SINGLE * build.ROUNDING * max(chosen)
    if before is not None and before.resolution == chosen and before.triangles == len(corners):
        pointers, lists = before.pointers, before.lists
    else:
        empty = np.broadcast_to(np.float32(-1.0), chosen[::-1])
        room = min(int(ROOM * float(survey.references(np.array([chosen]))[0])) + 1, LIMIT)
        pointers = Volume("grid_pointers", empty)
        lists = Table("grid_lists", ENTRY, np.broadcast_to(np.zeros((), ENTRY.dtype), (room,)), hot=True)
    counts: dict[str, Any] = {"triangles": len(corners), "voxels": int(np.prod(chosen))}
    return DeviceGrid(low, voxel, margin.astype(np.float32), chosen, len(corners), pointers, lists, counts)
