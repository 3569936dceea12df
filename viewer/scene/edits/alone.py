"""Whether a scene is a single object, shown in a studio, or a place with a floor, shown under a sky."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.mesh import Mesh
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Scene

MOST_PARTS = 1000  # largest number of instances of one object
FLOOR_HEIGHT = 0.1  # of the scene's height: a floor lies in this lowest part
FLOOR_SHARE = 0.5  # of the scene's floor plan, covered by a floor
DEEP = 0.6  # of the scene's height, that a floor is deep and wide: less is the base that something stands on


def is_single_object(scene: Scene) -> bool:
    """Whether the scene is a single object: of few parts, and without a floor over half of its floor plan.

    An animated scene is judged at its beginning, so that all frames agree.
    """
    if not 0 < len(scene.instances) <= MOST_PARTS or scene.ground is not None:
        return False
    if scene.duration > 0:
        scene = scene.posed(0.0)
    low, high = scene.bounds()
    edges = high - low
    plan, top = edges[0] * edges[2], low[1] + FLOOR_HEIGHT * edges[1]
    if not (max(edges[0], edges[2]) > 0 and edges[1] > 0):
        return False  # flat: a floor, or nothing
    if not min(edges[0], edges[2]) >= DEEP * edges[1]:
        return True  # a panel that stands, with or without a base
    with np.errstate(all="ignore"):
        covered = sum(
            _covered(scene.meshes[each.mesh], each.transform, top)
            for each in scene.instances
            if not isinstance(scene.meshes[each.mesh], Quadric)
        )
    return not covered >= FLOOR_SHARE * plan


def _covered(mesh: Mesh, transform: NDArray[np.float64], top: float) -> float:
    """The area, from above, of upward-facing triangles below a height; a box's own bottom faces down."""
    x, y, z = transform[:3, :3].astype(np.float32)
    low = mesh.positions @ y <= top - transform[1, 3]
    chosen = mesh.triangles[np.take(low, mesh.triangles[:, 0])]
    chosen = chosen[low[chosen[:, 1:]].all(axis=1)]
    if not len(chosen):
        return 0.0
    corners = mesh.positions[chosen].astype(np.float64)
    along, across = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    up = (along @ z) * (across @ x) - (along @ x) * (across @ z)
    return float(np.nansum(np.maximum(up if np.linalg.det(transform[:3, :3]) > 0 else -up, 0.0)) / 2)
