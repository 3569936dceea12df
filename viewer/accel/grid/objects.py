"""Many grids, one for each numbered object, as a module: the inner level of a two-level grid."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from viewer.accel.grid.blocks import BLOCK_BITS, HEADER, TILE, allocate
from viewer.accel.grid.build import Grid
from viewer.accel.grid.grid import ENTRY
from viewer.kernels.records import RAY
from viewer.stream.declare.kernel import Module, Table, Volume
from viewer.stream.declare.record import Field, Record

TRAVERSAL = Record(
    "Traversal",
    Field("voxel", "ivec3", "voxels", about="the next voxel; -1 throughout beyond the grid"),
    Field("inverse", "vec3", about="1 / direction, in voxels, zeros of the direction replaced"),
    Field("origin", "vec3", "voxels", about="the ray's origin, from the grid's lowest corner"),
    Field("list", "int", about="address of the next candidate, -1: none"),
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the current voxel"),
    Field("object", "int", about="number of the object"),
)


def module(grids: Sequence[Grid], bases: ArrayLike | None = None) -> Module:
    """The module that traverses the grid of a numbered object; ``accel_start`` transforms the ray to its space.

    The ray's direction may have any length: distances are in units of it. bases : (G,) address of each grid's triangle
    0 in the table of all triangles; by default one after the other. Raises ViewerError as
    `viewer.accel.grid.blocks.allocate` does.
    """
    blocks = allocate(grids, bases)
    return Module(
        "grid_objects",
        provides=("accel_start", "accel_step", "accel_candidate", "accel_more", "accel_ends"),
        source="accel/grid_objects.glsl",
        memories=(
            Table("grid_headers", HEADER, blocks.headers),
            Table("grid_tiles", TILE, blocks.tiles),
            Volume("grid_pointers", blocks.volume),
            Table("grid_lists", ENTRY, blocks.lists, hot=True),
        ),
        constants={"GRID_BLOCK_BITS": BLOCK_BITS},
        module_state=TRAVERSAL,
        uses=(RAY,),
    )
