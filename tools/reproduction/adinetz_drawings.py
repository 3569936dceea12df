"""Drawings for A: objects' grids in the blocks of one texture, and the loops of its pass."""

from __future__ import annotations

import numpy as np

from raystream.accel.grid import build
from raystream.accel.grid.blocks import BLOCK, Blocks, allocate
from raystream.accel.two_level.structure import objects_of
from raystream.scene.builtin import build as builtin

from .memory_layout import INK, SHADES, SOFT, document, label

SCENE, OBJECTS, MOST = "chair", 6, 16  # the scene whose grids are drawn, how many, and of each its tiles
NAME, CELL, ROW = 230, 46, 34
LOOPS = (
    ("rays of a pixel", "eye ray, shadow rays, reflected rays: one casting procedure for all"),
    ("scene's grid", "a turn steps to the next voxel, or tests the next instance of its list"),
    ("object's grid", "voxels along the ray, in the object's space"),
    ("a voxel's triangles", "one row of the texture: the next entry is x + 1"),
)


def placed() -> tuple[list[tuple[int, int, int]], Blocks]:
    """The resolutions of the scene's first grids, and all of them in blocks."""
    grids = [build.build(corners) for corners in objects_of(builtin(SCENE)).corners]
    return [tuple(map(int, grid.resolution)) for grid in grids], allocate(grids)  # type: ignore[misc]


def tiles(resolution: tuple[int, int, int]) -> int:
    """Of a grid: blocks or less, that its voxels are cut into."""
    return int(np.prod([-(-each // BLOCK) for each in resolution]))


def draw_texture() -> str:
    """Each object's grid and where its tiles lie in the texture, in blocks."""
    resolutions, blocks = placed()
    parts = [label(NAME, 16, "blocks of the texture, by their place x y z", 11, SOFT)]
    y = 26.0
    for number, resolution in enumerate(resolutions[:OBJECTS]):
        count, first = tiles(resolution), int(blocks.headers["table"][number])
        parts.append(label(12, y + 15, f"object {number}: {' x '.join(map(str, resolution))} voxels", 11.5))
        parts.append(label(12, y + 28, f"{count} tile{'s' if count > 1 else ''}", 9.5, SOFT))
        for k in range(min(count, MOST)):
            corner = blocks.tiles["corner"][first + k] // BLOCK
            x, shade = NAME + CELL * k, SHADES[number % len(SHADES)]
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="24" fill="{shade}" stroke="{SOFT}"/>')
            parts.append(label(x + CELL / 2, y + 16, " ".join(map(str, corner.tolist())), 10, middle=True))
        if count > MOST:
            parts.append(label(NAME + CELL * MOST + 6, y + 16, f"and {count - MOST}", 10, SOFT))
        y += ROW
    return document(parts, NAME + CELL * MOST + 70, y + 8, "grids in one texture")


def draw_loops() -> str:
    """The four loops, one in the other."""
    parts, wide, tall = [], 640, 60 * len(LOOPS) + 30
    for k, (name, about) in enumerate(LOOPS):
        x, y = 12 + 22 * k, 10 + 46 * k
        box = f'x="{x}" y="{y}" width="{wide - 44 * k}" height="{tall - 60 * k}"'
        parts.append(f'<rect {box} rx="6" fill="{SHADES[k]}" stroke="{INK}"/>')
        parts.append(label(x + 10, y + 19, name, 12))
        parts.append(label(x + 10, y + 35, about, 10, SOFT))
    return document(parts, wide + 24, tall + 20, "loops of the pass")
