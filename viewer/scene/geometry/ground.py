"""Ground planes: a horizontal rectangle of two triangles under a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.mesh import Mesh

# Every ground is an instance of this mesh, its identification: a square of side 1 around the origin, facing up.
SQUARE = Mesh(
    np.array([[-0.5, 0, -0.5], [-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, -0.5]]),
    np.array([[0, 1, 2], [0, 2, 3]]),
    normals=np.tile((0.0, 1.0, 0.0), (4, 1)),
    uvs=np.array([[0, 0], [0, 1], [1, 1], [1, 0]]),
    name="ground",
)
ALBEDO = 0.5
NONE = "none"  # in place of a size: no ground, and no floor either
SHADOW = "shadow"  # in place of a size: no plane, but a floor of the backdrop's (`viewer.cameras.backdrop`)
# The default size: in heights of the model, or in its larger width if that is more.
HEIGHTS, WIDTHS = 20.0, 5.0


def ground_transform(bounds: NDArray[np.float64], size: tuple[float, float] | str) -> NDArray[np.float64] | None:
    """(4, 4) of `SQUARE` under a box; None under a box without extent.

    bounds : (2, 3), scene units. size : along x and z, in heights of the box (or its largest edge if it is flat), or
    ``auto``.
    """
    edges = bounds[1] - bounds[0]
    height = edges[1] if edges[1] > 0 else edges.max()
    if not height > 0:
        return None
    if isinstance(size, str):
        wide = deep = max(HEIGHTS * height, WIDTHS * max(edges[0], edges[2]))
    else:
        wide, deep = size[0] * height, size[1] * height
    middle = (bounds[0] + bounds[1]) / 2
    transform = np.diag([wide, 1.0, deep, 1.0])
    transform[:3, 3] = middle[0], bounds[0, 1], middle[2]
    return transform
