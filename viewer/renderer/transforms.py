"""Where instances go: what `Renderer.move` is given, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError


def placed(transforms: Any, count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ascending numbers (N,) of instances among ``count``, and where they go (N, 4, 4)."""
    hint = "give (I, 4, 4), or a dictionary of (4, 4) by the instance's number"
    try:
        if isinstance(transforms, Mapping):
            numbers = np.array(sorted(transforms), np.intp)
            matrices = np.array([transforms[number] for number in numbers.tolist()], np.float64).reshape(-1, 4, 4)
        else:
            matrices = np.array(transforms, np.float64)
            numbers = np.arange(count)
    except (TypeError, ValueError) as error:
        raise ViewerError("move", f"these are no transformations ({error})", hint) from None
    if matrices.shape != (len(numbers), 4, 4):
        raise ViewerError("move", f"transformations have shape {matrices.shape} for {len(numbers)} instances", hint)
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < count:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ViewerError("move", f"there is no instance {wrong}", f"they are numbered from 0 to {count - 1}")
    if (matrices[:, 3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ViewerError("move", "a matrix's last row is not 0 0 0 1", "transformations are affine")
    return numbers, matrices
