"""The irradiance cache in NumPy, its cells in a dictionary: the twin of ``shaders/film/denoise/cache_*.glsl``."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from alike_twin import falling, through, unlike
from numpy.typing import NDArray

from viewer.denoise.irradiance_cache import LEVELS, TAPS, WIDE
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE

Cell = tuple[int, ...]  # its level, its place, and the side that its surfaces face
FEW, RARE = 4.0, 4.0
_WORD = 0xFFFFFFFF


def chances(*words: int) -> list[float]:
    """Four of pcg4d (Jarzynski and Olano 2020), 0 .. 1."""
    x, y, z, w = ((word * 1664525 + 1013904223) & _WORD for word in words)
    for last in (False, True):
        x = (x + y * w) & _WORD
        y = (y + z * x) & _WORD
        z = (z + x * y) & _WORD
        w = (w + y * z) & _WORD
        if not last:
            x, y, z, w = (word ^ word >> 16 for word in (x, y, z, w))
    return [(word >> 8) / 2**24 for word in (x, y, z, w)]


def side(normal: NDArray, chance: float) -> int:
    share = normal * normal
    axis = int((chance * share.sum() >= share.cumsum()[:2]).sum())
    return 2 * axis + int(normal[axis] >= 0)


class CacheTwin:
    """Of records (H, W) of `LIT`."""

    def __init__(self, error: float) -> None:
        self.error, self.turn = error, 0
        self.cells: dict[Cell, NDArray] = defaultdict(lambda: np.zeros(5))

    def add(self, lit: NDArray, camera: Camera, samples: int) -> None:
        """Of a picture of which every pixel is kept."""
        height, width = lit.shape
        view = through(camera, (width, height))
        pixel = float(np.linalg.norm(view[2]))
        for step in range(LEVELS):
            edge = 2**step
            for top in range(0, height, edge):
                for left in range(0, width, edge):
                    block = np.s_[top : top + edge, left : left + edge]
                    self._add(lit[block], view, (left, top), camera, samples, step, pixel)
        self.turn += 1

    def _add(
        self,
        lit: NDArray,
        view: tuple[NDArray, ...],
        corner: tuple[int, int],
        camera: Camera,
        samples: int,
        step: int,
        pixel: float,
    ) -> None:
        chance = chances(*corner, self.turn, step)
        tall, wide = lit.shape
        column, row = int(chance[0] * wide), int(chance[1] * tall)
        own = lit[row, column]
        towards = view[0][corner[1] + row, corner[0] + column]
        y, x = np.indices(lit.shape)
        normal, nearness = own["normal"].astype(float), float(own["nearness"])
        if not nearness > 0 or not (normal @ normal) > 0.25:
            return
        near = lit["normal"].astype(float), lit["nearness"].astype(float)
        same = unlike((normal, np.array(nearness)), near, (towards, *view[1:]), 2.0**step, (x - column, y - row))
        some = (falling(same) > 0.5) & np.isfinite(lit["rgb"]).all(-1)
        light = samples * lit["rgb"][some].astype(float)
        cell = self.cells[self._cell(towards / nearness, camera, nearness, step, pixel, side(normal, chance[3]))]
        cell += [*light.sum(0), samples * some.sum(), ((light @ LUMINANCE) ** 2).sum()]

    def _cell(
        self, offset: NDArray, camera: Camera, nearness: float, step: int, pixel: float, facing: int, aside: float = 0
    ) -> Cell:
        level = math.floor(math.log2(WIDE * pixel / nearness)) + step
        return level, *np.floor((camera.origin + offset) / 2.0**level + aside).astype(int), facing

    def find(self, lit: NDArray, camera: Camera) -> NDArray:
        """(H, W, 5): light, samples, and the variance of one."""
        found = np.zeros((*lit.shape, 5))
        view = through(camera, lit.shape[::-1])
        pixel = float(np.linalg.norm(view[2]))
        for row, column in np.ndindex(lit.shape):
            normal, nearness = lit["normal"][row, column].astype(float), float(lit["nearness"][row, column])
            if not nearness > 0 or not (normal @ normal) > 0.25:
                continue
            total = np.zeros(5)
            for step in range(LEVELS):
                held = np.zeros(5)
                for tap in range(TAPS):
                    chance = chances(column, row, self.turn, TAPS * step + tap)
                    place = view[0][row, column] / nearness, camera, nearness, step, pixel
                    held += self.cells[self._cell(*place, side(normal, chance[3]), np.array(chance[:3]) - 0.5)] / TAPS
                if held[3] > 0:
                    total += held * np.clip((self._wanted(held) - total[3]) / held[3], 0, 1) if step else held
                if total[3] > 0 and total[3] >= self._wanted(total):
                    break
            if total[3] > 0:
                rgb = total[:3] / total[3]
                found[row, column] = *rgb, total[3], max(total[4] / total[3] - (rgb @ LUMINANCE) ** 2, 0)
        return found

    def _wanted(self, held: NDArray) -> float:
        luminance = held[:3] @ LUMINANCE / held[3]
        relative = max(held[4] / held[3] / (luminance**2 + 1e-30) - 1, 0)
        return float((held[3] * relative + FEW * RARE) / ((held[3] + FEW) * self.error**2))
