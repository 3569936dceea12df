"""Instances of meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Instance:
    """A mesh placed in the world: ``world = transform @ (x, y, z, 1)``, 4 x 4 float64, row-major.

    motion : (K, 4, 4) float64, the transforms of an exposure at even times, the first its ``transform``; linear in
    between. None: it stands still.
    """

    mesh: int
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    material: int | None = None  # overrides the mesh's own materials
    name: str = ""
    motion: NDArray[np.float64] | None = field(default=None, metadata={"added": True})


def transforms_of(instances: Sequence[Instance]) -> NDArray[np.float64]:
    """(I, 4, 4) float64."""
    if not instances:
        return np.zeros((0, 4, 4))
    return np.concatenate([each.transform for each in instances], dtype=np.float64).reshape(-1, 4, 4)


def meshes_of(instances: Sequence[Instance]) -> NDArray[np.intp]:
    """(I,) the mesh number of each."""
    return np.fromiter((each.mesh for each in instances), np.intp, len(instances))
