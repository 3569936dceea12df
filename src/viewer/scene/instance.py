"""An instance of a mesh."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Instance:
    """A mesh placed in the world: ``world = transform @ (x, y, z, 1)``, 4 x 4 float64, row-major."""

    mesh: int
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    material: int | None = None  # overrides the mesh's own materials
    name: str = ""
