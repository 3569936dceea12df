"""File cameras that show the model badly give way to the default view; and whether a scene is a single object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.camera import Camera
from viewer.scene.geometry.quadrics import Quadrics
from viewer.scene.geometry.surface import surface_points
from viewer.scene.mesh import Mesh
from viewer.scene.projections.models import Orthographic
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Scene

FRAMED = "the scene is framed"
ASPECT = 4 / 3  # of the picture that a camera is judged by, which the file does not always say
LEAST = 0.1  # of the model's surface that a camera sees, hidden parts included
CUT = 0.6  # less of a single object is cut off by the picture's edges
SMALL = 0.4  # of the picture's width or height: a single object that fills less is small


def framed(scene: Scene) -> Scene:
    """The scene seen by the default view, with a warning, where its first camera shows it badly; itself elsewhere, and
    where cameras may move.

    It does that where it sees nothing; where it is not within a place, as of a room, and sees less than `LEAST` of it;
    and where it cuts off, or shows small, a single object.
    """
    if not scene.cameras or scene.animations:
        return scene
    fault = _fault(scene, scene.cameras[0])
    if not fault:
        return scene
    name = scene.cameras[0].name
    note = f"{scene.name}: camera '{name}' {fault}: {FRAMED} (--camera '{name}' takes it)"
    return scene.with_parts(framed=True, warnings=[*scene.warnings, note])


def _fault(scene: Scene, camera: Camera) -> str:
    """The fault of a camera's view; empty where there is none."""
    bounds = scene.bounds()
    if not camera.sees(bounds):
        return "sees nothing"
    points = surface_points(scene.meshes, scene.instances).points
    if not len(points) or not isinstance(camera.projection, Orthographic | None):
        return ""
    alone = is_single_object(scene)
    within = bool(((bounds[0] < camera.origin) & (camera.origin < bounds[1])).all())
    share = float(_in_picture(camera, points).mean())
    if share < LEAST and (alone or not within):
        return f"sees {100 * share:.0f} % of the model"
    if not alone:
        return ""
    if share < CUT:
        return f"cuts off {100 * (1 - share):.0f} % of the model"
    filled = _filled(camera, scene.silhouette())
    return f"shows the model at {100 * filled:.0f} % of the picture's size" if filled < SMALL else ""


def _in_picture(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,): whether points (N, 3) are within the picture."""
    x, y, ahead = _projected(camera, points)
    return np.asarray((ahead > 0) & (np.abs(x) <= ahead) & (np.abs(y) <= ahead))


def _filled(camera: Camera, points: NDArray[np.float64]) -> float:
    """The larger share of the picture's width or height that points (K, 3) take; 1 where some are behind."""
    x, y, ahead = _projected(camera, points)
    if not len(points) or not (ahead > 0).all():
        return 1.0
    return float(max(np.ptp(x / ahead), np.ptp(y / ahead))) / 2


def _projected(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, N): across and upward, and the depth by which they are divided, of parallel rays 1 or -1: -1 and 1 at the
    picture's edges."""
    right, up, forward = camera.basis()
    away = points - camera.origin
    if isinstance(camera.projection, Orthographic):
        half, before = camera.projection.height / 2, np.where(away @ forward > 0, 1.0, -1.0)
        return np.stack([away @ right / (half * ASPECT), away @ up / half, before])
    slope = float(np.tan(np.radians(camera.fov) / 2))
    away = away @ np.stack([right / (slope * ASPECT), up / slope, forward], axis=1)
    return np.asarray(away.T)


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
            if not isinstance(scene.meshes[each.mesh], (Quadric, Quadrics))
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
