"""Pixels of environments that are no radiance: what stands in their place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.scene.light import BRIGHTEST


class PixelRepair:
    """Mends a picture band by band: negative components and those that are no number become 0, infinite ones and those
    beyond the brightest that is allowed the largest finite one. That is known after all bands: see `again`."""

    def __init__(self) -> None:
        self._largest = 0.0
        self._limit: float | None = None
        self._negative = self._infinite = self._nan = 0

    def mended(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The band (H, W, 3) with its faults mended."""
        with np.errstate(invalid="ignore"):
            low, high = pixels.min(), pixels.max()
            if low >= 0 and high <= BRIGHTEST:  # neither, where one is not a number
                self._largest = max(self._largest, float(high))
                return pixels
            negative, infinite, nan = pixels < 0, pixels > BRIGHTEST, np.isnan(pixels)
        if self._limit is None:
            counts = [int(np.count_nonzero(each.any(axis=-1))) for each in (negative, infinite, nan)]
            self._negative += counts[0]
            self._infinite += counts[1]
            self._nan += counts[2]
        found = np.where(negative | nan | infinite, np.float32(0), pixels)
        self._largest = max(self._largest, float(found.max()))
        return found if self._limit is None else np.where(infinite, np.float32(self._limit), found)

    def again(self, where: str) -> bool:
        """Whether all bands must be mended once more. Raises ViewerError for a picture without a finite light."""
        if not self._infinite or self._limit is not None:
            return False
        if not self._largest:
            raise ViewerError(where, "has no finite light, but infinite pixels", "make the picture anew")
        self._limit = self._largest
        return True

    def notes(self) -> list[str]:
        """What was mended, a line each."""
        mended = (
            (self._negative, "negative", "0"),
            (self._infinite, "infinite", f"the largest finite value, {self._largest:g},"),
            (self._nan, "not a number", "0"),
        )
        return [
            f"{count:,} {'pixel is' if count == 1 else 'pixels are'} {what}; {instead} is in place of that"
            for count, what, instead in mended
            if count
        ]
