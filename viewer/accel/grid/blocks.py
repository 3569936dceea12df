"""The inner level of a two-level grid: a module of many grids, whose voxels lie in one volume, allocated in blocks of
16 x 16 x 16 texels.

A grid is cut into tiles of at most a block, and a table gives each tile's place in the volume: no grid needs a free
region of its own shape, and nothing is ever moved. A tile spans 16 voxels along an axis, or the next power of two if
the grid has at most 8 there; a block holds tiles of one shape.

Waste: an axis of n voxels is rounded up, to a power of two below 16 and to a multiple of 16 above, to less than 2 n
(worst at n = 17: 32). So a grid takes less than 8 times its voxels, with 64 voxels and more along each axis less than
1.9 times. Partly filled blocks, at most one for each of the 125 shapes, add 2 MiB, and the shape of the volume at most
a few per cent.

Source: A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): many grids in one 3-D texture,
allocated in blocks of 16^3; the tiles and their table are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.accel.grid.build import Grid
from raystream.accel.grid.cost import MAX_ADDRESS
from raystream.accel.grid.grid import ENTRY, lists_with_marked_ends
from raystream.base.errors import ViewerError
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table, Volume
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS  # texels along each edge of a block
# Blocks along each edge of the volume that OpenGL 3.3 guarantees: 3-D textures of at least 256 texels.
MAX_BLOCKS_PER_EDGE = 256 // BLOCK

# The fields of a traversal step come first, so that they share a texel.
HEADER = Record(
    "GridHeader",
    Field("resolution", "ivec3", "voxels", within=SMALL),
    Field("low", "vec3", "scene units", "object", "lowest corner"),
    Field("scale", "vec3", about="1 / voxel"),
    Field("table", "int", about="address of the grid's first tile, x fastest, in the table of tiles", within=ROWS),
)
TILE = Record("GridTile", Field("corner", "ivec3", "texels", about="where in the volume the tile begins", within=SMALL))
TRAVERSAL = Record(
    "Traversal",
    Field("voxel", "ivec3", "voxels", about="the next voxel; -1 throughout beyond the grid", within=SMALL),
    Field("inverse", "vec3", about="1 / direction, in voxels, zeros of the direction replaced"),
    Field("origin", "vec3", "voxels", about="the ray's origin, from the grid's lowest corner"),
    Field("list", "int", about="address of the next candidate, -1: none", within=ROWS),
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the current voxel"),
    Field("object", "int", about="number of the object", within=ROWS),
)


@dataclass(frozen=True)
class Blocks:
    """Many grids in one memory.

    volume  : (D, H, W) float32, address in `lists` of each voxel's list, -1 for empty voxels and unused texels.
    headers : (G,) `HEADER`, one per grid.
    tiles   : (K,) `TILE`.
    lists   : (L,) `ENTRY`, the lists of all grids.
    statistics : voxels of the grids, texels and blocks in use, and bytes, by name.
    """

    volume: NDArray[np.float32]
    headers: NDArray
    tiles: NDArray
    lists: NDArray
    statistics: dict[str, float | int]


def allocate(grids: Sequence[Grid], bases: ArrayLike | None = None) -> Blocks:
    """Put grids into one memory, in their order.

    bases : (G,) address of each grid's triangle 0 in the table of all triangles; by default one after the other.

    Raises ViewerError without any grid, and beyond 2^24 list entries or tiles (addresses are floats).
    """
    if not grids:
        raise ViewerError("grids", "there is none", "a scene without instances needs no structure")
    headers, tiles = _headers(grids)
    triangles = [int(grid.statistics["triangles"]) for grid in grids]
    starts = np.cumsum([0, *triangles[:-1]]) if bases is None else np.asarray(bases, np.int64)
    if starts.shape != (len(grids),):
        raise ViewerError("grids", f"bases have shape {starts.shape}, expected ({len(grids)},)")
    if (last := int((starts + triangles).max())) > MAX_ADDRESS:
        raise ViewerError("grids", f"{last:,} triangles, and their addresses end at {MAX_ADDRESS:,}")
    corners, shape = _allocate_tiles(headers["resolution"], tiles)
    tile_table = np.zeros(len(corners), TILE.dtype)
    tile_table["corner"] = corners
    volume = np.full(shape, -1.0, np.float32)
    lists, length = [], 0
    for index, grid in enumerate(grids):
        pointers, entries = lists_with_marked_ends(grid.pointers, grid.lists)
        base = np.float32(starts[index])
        lists.append(np.where(entries < 0, entries - base, entries + base))
        pointers = np.where(pointers >= 0, pointers + np.float32(length), pointers)
        length += len(entries)
        if length > MAX_ADDRESS:
            raise ViewerError(
                "grids",
                f"{index + 1:,} of {len(grids):,} grids have {length:,} list entries; addresses end at {MAX_ADDRESS:,}",
                "use a coarser --grid",
            )
        first = headers["table"][index]
        _copy_tiles(volume, pointers, corners[first : first + math.prod(tiles[index][1])], *tiles[index])
    entries_table = np.zeros(length, ENTRY.dtype)
    entries_table["entry"] = np.concatenate(lists)
    voxels = sum(grid.pointers.size for grid in grids)
    texture_bytes = volume.nbytes + 4 * length + 16 * len(tile_table) + 16 * HEADER.texels * len(headers)
    statistics: dict[str, float | int] = {
        "grids": len(grids),
        "voxels": voxels,
        "texels": volume.size,
        "blocks": volume.size // BLOCK**3,
        "texels_per_voxel": volume.size / voxels,
        "tiles": len(tile_table),
        "list_entries": length,
        "texture_bytes": texture_bytes,
    }
    return Blocks(volume, headers, tile_table, entries_table, statistics)


Span = tuple[int, int, int]


def _headers(grids: Sequence[Grid]) -> tuple[NDArray, list[tuple[Span, Span]]]:
    """Headers (G,), and for each grid ((voxels per tile), (tiles)), each along x, y, z."""
    headers = np.zeros(len(grids), HEADER.dtype)
    tiles: list[tuple[Span, Span]] = []
    table = 0
    for index, grid in enumerate(grids):
        edges = [tile_edge(count) for count in grid.resolution]
        counts = [-(-count // edge) for count, edge in zip(grid.resolution, edges, strict=True)]
        tiles.append(((edges[0], edges[1], edges[2]), (counts[0], counts[1], counts[2])))
        headers[index] = (grid.resolution, grid.low, 1.0 / grid.voxel.astype(np.float64), table)
        table += math.prod(counts)
    if table > MAX_ADDRESS:
        raise ViewerError(
            "grids", f"{table:,} tiles of {BLOCK}^3 voxels; addresses end at {MAX_ADDRESS:,}", "use coarser grids"
        )
    return headers, tiles


def tile_edge(count: int) -> int:
    """Voxels spanned by a tile along an axis of ``count`` voxels."""
    return min(BLOCK, 1 << (count - 1).bit_length())


def _allocate_tiles(resolutions: NDArray[np.int32], tiles: list[tuple[Span, Span]]) -> tuple[NDArray[np.int32], Span]:
    """Corner (K, 3) of every tile in the volume, x, y, z, and the volume's shape (D, H, W)."""
    by_shape: dict[Span, list[NDArray[np.int64]]] = {}  # tile numbers by shape
    total = 0
    for edges, counts in tiles:
        tile_count = math.prod(counts)
        by_shape.setdefault(edges, []).append(np.arange(total, total + tile_count))
        total += tile_count
    block, offset_in_block = np.zeros(total, np.int64), np.zeros((total, 3), np.int32)
    blocks = 0
    for edges in sorted(by_shape):
        indices = np.concatenate(by_shape[edges])
        per_axis = [BLOCK // edge for edge in edges]
        block_indices, offset = np.divmod(np.arange(len(indices)), math.prod(per_axis))
        block[indices] = blocks + block_indices
        remainder, x = np.divmod(offset, per_axis[0])
        z, y = np.divmod(remainder, per_axis[1])
        offset_in_block[indices] = np.stack([x, y, z], 1) * edges
        blocks += int(block_indices[-1]) + 1
    width, height, depth = volume_shape(blocks)
    remainder, x = np.divmod(block, width)
    z, y = np.divmod(remainder, height)
    corners = (np.stack([x, y, z], 1) * BLOCK + offset_in_block).astype(np.int32)
    return corners, (depth * BLOCK, height * BLOCK, width * BLOCK)


def volume_shape(blocks: int) -> Span:
    """Blocks along x, y, z of a volume of ``blocks``: the smallest box within every driver's limits, or about a
    cube."""
    longest = max(MAX_BLOCKS_PER_EDGE, math.ceil(blocks ** (1 / 3)) + 2)
    edges = np.arange(1, longest + 1)
    widths, heights = (part.ravel() for part in np.meshgrid(edges, edges))
    depths = -(-blocks // (widths * heights))
    size = np.where(depths <= longest, widths * heights * depths, np.iinfo(np.int64).max)
    best = np.lexsort((np.maximum(np.maximum(widths, heights), depths), size))[0]  # of equal ones the most cubical
    return int(widths[best]), int(heights[best]), int(depths[best])


def _copy_tiles(
    volume: NDArray[np.float32], pointers: NDArray[np.float32], corners: NDArray[np.int32], edges: Span, counts: Span
) -> None:
    """Write a grid's pointers (nz, ny, nx) into the volume, tile by tile."""
    (ex, ey, ez), (cx, cy, cz) = edges, counts
    index = 0
    for k in range(cz):
        for j in range(cy):
            for i in range(cx):
                part = pointers[k * ez : (k + 1) * ez, j * ey : (j + 1) * ey, i * ex : (i + 1) * ex]
                x, y, z = corners[index]
                volume[z : z + part.shape[0], y : y + part.shape[1], x : x + part.shape[2]] = part
                index += 1


def module(grids: Sequence[Grid], bases: ArrayLike | None = None) -> Module:
    """The module that traverses the grid of a numbered object; ``accel_start`` transforms the ray to its space.

    The ray's direction may have any length: distances are in units of it. bases : (G,) address of each grid's triangle
    0 in the table of all triangles; by default one after the other. Raises ViewerError as
    `allocate` does.
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
