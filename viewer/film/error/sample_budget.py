"""The sample budget of an adaptive picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SampleBudget:
    """The sample counts granted to pixels; see `viewer.film.adaptive`.

    granted : (H, W) float32, samples per pixel in the end.
    apart   : (H, W) float32, luminance difference of the means of the halves of the first half.
    error   : the estimated relative error at the last decision.
    efficiency, relative_std_error : as of `viewer.film.film.Film`, at the last decision.
    """

    granted: NDArray[np.float32]
    apart: NDArray[np.float32]
    error: float = math.inf
    efficiency: float = 1.0
    relative_std_error: float = 0.0
