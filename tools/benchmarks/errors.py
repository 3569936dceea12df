"""Distance of a picture from a reference with standard errors, and the cost of coming within a limit.

All in luminance, linear sRGB. The relative error of a picture at blocks of E x E pixels (1: of its pixels) is a root
mean square over all blocks of the difference of block means. It is divided by the reference's block mean, or by a tenth
of the whole reference's mean if that is larger, so that black blocks count by their visibility. The reference is noisy
as well: its variance, from its standard errors, is subtracted from the mean square.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LUMINANCE = np.array((0.2126, 0.7152, 0.0722))  # of linear sRGB, ITU-R BT.709
DARKEST = 0.1  # of the reference's mean: the smallest divisor of an error
LEAST = 1e-6  # relative error shown where the reference's variance explains everything


def block_means(values: NDArray, edge: int) -> NDArray[np.float64]:
    """(H / edge, W / edge): means over square blocks of (H, W), whose sides are multiples of the edge."""
    height, width = values.shape
    return values.astype(np.float64).reshape(height // edge, edge, width // edge, edge).mean(axis=(1, 3))


@dataclass(frozen=True)
class Reference:
    """The luminance of a reference and its standard error: (H, W) float64 each."""

    mean: NDArray[np.float64]
    stderr: NDArray[np.float64]

    @classmethod
    def load(cls, path: Path) -> Reference:
        """From a file of ``mean`` and ``stderr``, (H, W, 3) each, linear sRGB.

        Channels of one path are fully correlated, so that their errors add up.
        """
        with np.load(path) as data:
            mean, stderr = (data[name].astype(np.float64) @ LUMINANCE for name in ("mean", "stderr"))
        return cls(mean, stderr)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        return self.mean.shape[1], self.mean.shape[0]

    @cached_property
    def _least(self) -> float:
        return DARKEST * float(self.mean.mean())

    def floor(self, edge: int) -> float:
        """The relative error of blocks caused by the reference's own noise."""
        variance = block_means(self.stderr**2, edge) / edge**2
        return math.sqrt(float(np.mean(variance / self._divisor(edge) ** 2)))

    def error(self, picture: NDArray, edge: int) -> float:
        """The relative error of blocks of a picture (H, W, 3), linear sRGB; the floor is subtracted from its square."""
        apart = block_means(picture.astype(np.float64) @ LUMINANCE - self.mean, edge) / self._divisor(edge)
        return math.sqrt(max(float(np.mean(apart**2)) - self.floor(edge) ** 2, LEAST**2))

    def mean_error(self, picture: NDArray) -> float:
        """The signed relative error of the mean of a picture (H, W, 3)."""
        return float((picture.astype(np.float64) @ LUMINANCE).mean() / self.mean.mean() - 1.0)

    def _divisor(self, edge: int) -> NDArray[np.float64]:
        return np.maximum(block_means(self.mean, edge), self._least)


def crossing(costs: Sequence[float], errors: Sequence[float], limit: float) -> float | None:
    """The cost beyond which the error stays within a limit; None if it is above it at the end.

    costs : of pictures with increasing sample counts, seconds or samples per pixel, all above 0. errors : theirs.
    Between two pictures the error is interpolated as a power of the cost. A first picture within the limit gives its
    own cost, an upper bound.
    """
    beyond = [number for number, error in enumerate(errors) if error > limit]
    if not errors or (beyond and beyond[-1] == len(errors) - 1):
        return None
    if not beyond:
        return float(costs[0])
    last = beyond[-1]
    share = math.log(errors[last] / limit) / math.log(errors[last] / errors[last + 1])
    return float(costs[last] * (costs[last + 1] / costs[last]) ** share)


def middle(values: Sequence[float | None]) -> float | None:
    """The median; None, for unreached limits, counts as largest."""
    ordered = sorted(math.inf if value is None else value for value in values)
    half = len(ordered) // 2
    found = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return found if math.isfinite(found) else None
