"""What an adaptive picture's film holds beside its sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SampleBudget:
    """How many samples pixels are to have; see `viewer.film.adaptive`.

    granted : (H, W) float32, the samples that each pixel is to have.
    apart   : (H, W) float32, the difference of the means of the halves of the first half, luminance.
    error   : the estimated relative error at the last decision.
    efficiency, doubt : see `viewer.film.film.Film.efficiency` and `doubt`, at the last decision.
    """

    granted: NDArray[np.float32]
    apart: NDArray[np.float32]
    error: float = math.inf
    efficiency: float = 1.0
    doubt: float = 0.0
