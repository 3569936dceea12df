"""Pictures of one colour."""

import numpy as np


def pixels(value: float | tuple[float, ...], width: int = 5, height: int = 3) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, np.float32), (height, width, 3)).copy()
