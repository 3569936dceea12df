"""The film: where samples of a picture are summed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Film:
    """A float32 sum of linear sRGB samples, (height, width, 3), and a count per pixel; row 0 is the top row."""

    def __init__(self, width: int, height: int) -> None:
        self.sum = np.zeros((height, width, 3), np.float32)
        self.count = np.zeros((height, width), np.int32)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), pixels."""
        return self.sum.shape[1], self.sum.shape[0]

    def add(self, samples: ArrayLike, x: int = 0, y: int = 0) -> None:
        """Add one sample to each pixel of a rectangle: (h, w, 3) linear radiance, its upper left pixel at (x, y).

        Raises ValueError when the rectangle leaves the film.
        """
        piece = np.asarray(samples, np.float32)
        height, width = piece.shape[:2]
        if piece.shape[2:] != (3,) or x < 0 or y < 0 or x + width > self.size[0] or y + height > self.size[1]:
            raise ValueError(f"samples of shape {piece.shape} at ({x}, {y}) do not fit a film of {self.size}")
        self.sum[y : y + height, x : x + width] += piece
        self.count[y : y + height, x : x + width] += 1

    def clear(self) -> None:
        """Forget all samples."""
        self.sum.fill(0)
        self.count.fill(0)

    @property
    def linear(self) -> NDArray[np.float32]:
        """(height, width, 3) float32 mean of the samples, linear sRGB; black where there is none."""
        return self.sum / np.maximum(self.count, 1).astype(np.float32)[..., None]
