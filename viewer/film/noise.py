"""How noisy a picture of samples is, found tile by tile while it is made: `Film.error` without a look at it all."""

from __future__ import annotations

import math

import numpy as np

from viewer.film.film import LUMINANCE, Film


class Noise:
    """Gathers the estimated relative error of a film over its tiles."""

    def __init__(self) -> None:
        self._spread = self._light = 0.0
        self._pixels = 0

    def add(self, film: Film, rows: slice, columns: slice) -> None:
        """A rectangle of the film; each pixel once."""
        count = film.count[rows, columns].astype(np.float64)
        enough = count > 1
        variance = np.where(enough, film.square[rows, columns] / np.where(enough, count * (count - 1), 1), np.inf)
        self._spread += float(variance.sum())
        self._light += float((film.sum[rows, columns] @ LUMINANCE / np.maximum(count, 1)).sum())
        self._pixels += count.size

    @property
    def error(self) -> float:
        """Root mean square of the pixels' standard errors over their mean luminance, as `Film.error` tells; inf while
        a pixel has fewer than two samples."""
        if self._spread == 0 or not self._pixels:
            return 0.0 if self._pixels else math.inf
        mean = abs(self._light / self._pixels)
        return math.sqrt(self._spread / self._pixels) / mean if mean > 0 else math.inf
