"""Textures of the chapel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .faces import Array

NAMES = ("stone", "floor", "vault", "wood", "lamp", "trim")
STONE, FLOOR, VAULT, WOOD, LAMP, TRIM = range(len(NAMES))


def pictures() -> dict[str, NDArray[np.uint8]]:
    """64 x 64 each, that repeat."""
    rng = np.random.default_rng(3)
    row, column = np.indices((64, 64))
    smooth = rng.uniform(-1, 1, (16, 16)).repeat(4, 0).repeat(4, 1)
    noise = 0.5 * smooth + 0.5 * rng.uniform(-1, 1, (64, 64))

    def tinted(color: tuple[int, int, int], shade: Array) -> NDArray[np.uint8]:
        values = np.clip(np.array(color) * shade[..., None], 0, 255)
        return (np.rint(values / 4) * 4).clip(0, 255).astype(np.uint8)

    course = row // 16
    joint = (row % 16 < 1) | ((column + 16 * (course % 2)) % 32 < 1)
    block = rng.uniform(0.85, 1.1, (4, 3))[course, ((column + 16 * (course % 2)) % 64) // 32]
    stone = np.where(joint, 0.62, block) + 0.06 * noise
    tile = ((row // 32 + column // 32) % 2) * 0.28 + 0.72
    tiles = np.where((row % 32 < 1) | (column % 32 < 1), 0.5, tile) + 0.04 * noise
    coffer = np.minimum.reduce([row % 32, 31 - row % 32, column % 32, 31 - column % 32])
    vault = np.select([coffer < 3, coffer < 6], [1.05, 0.72], 0.86) + 0.03 * noise
    plank = np.where(column % 16 < 1, 0.45, 0.8 + 0.12 * np.sin(row * 0.3 + 5 * np.sin(column * 0.5))) + 0.05 * noise
    plank = np.where((row < 3) | (row > 60), 0.55, plank)
    lamp = np.where((row % 32 < 4) | (column % 32 < 4), 0.35, 1.0)
    trim = 0.94 + 0.05 * noise - 0.12 * (row % 32 < 2)
    return {
        "stone": tinted((206, 188, 158), stone),
        "floor": tinted((196, 150, 118), tiles),
        "vault": tinted((186, 196, 204), vault),
        "wood": tinted((168, 112, 66), plank),
        "lamp": tinted((255, 226, 160), lamp),
        "trim": tinted((222, 208, 182), trim),
    }
