"""File cameras that show the model badly give way to the default view; and whether a scene is a single object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.scene.camera import Camera
from raystream.scene.edits.materials import culls
from raystream.scene.geometry.bounds import bounds_of_instances
from raystream.scene.geometry.framing import view_direction
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.triangles import SurfacePoints, spread, surface_points
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.projections import Orthographic
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

# -- the visible part of a model: its triangles that face it, or that have two sides -----------------------------------

MIN_FACING = 0.01  # fraction of a model's surface that its default view sees from a side that is drawn
FROM_THE_FRONT = "its triangles have one side, and face away from the default view: it is seen from the other side"
INVISIBLE = "every material in use is invisible: its opacity is 0"


def from_the_front(scene: Scene) -> Scene:
    """The scene whose default view sees its triangles, with a warning, where these have one side and face away from it;
    itself elsewhere, and where a camera of its own sees the picture."""
    if scene.own_camera is not None or not any(map(culls, scene.materials)):
        return scene
    points = surface_points(scene.meshes, scene.instances)
    if not len(points.points) or facing(scene, scene.camera(), points) >= MIN_FACING:
        return scene
    x, y, z = view_direction(scene.silhouette())
    candidates = [scene.with_parts(front=front) for front in ((-x, y, -z), (x, -y, z), (-x, -y, -z))]
    fractions = [facing(candidate, candidate.camera(), points) for candidate in candidates]
    best = int(np.argmax(fractions))
    if fractions[best] < MIN_FACING:
        return scene
    return candidates[best].with_parts(warnings=[*scene.warnings, f"{scene.name}: {FROM_THE_FRONT}"])


def facing(scene: Scene, camera: Camera, points: SurfacePoints) -> float:
    """The fraction of the points that the camera sees from a side that is drawn, were nothing in front of them."""
    one_sided = np.array([*map(culls, scene.materials), False])
    indices = np.where(points.materials < len(scene.materials), points.materials, -1)
    faces_camera = ((np.asarray(camera.origin) - points.points) * points.normals).sum(axis=1) > 0
    return float((faces_camera | ~one_sided[indices]).mean()) if len(faces_camera) else 0.0


def invisible(scene: Scene) -> bool:
    """Whether there are triangles, and all of materials whose opacity is 0."""
    used = {
        int(index)
        for instance in scene.instances
        for index in (
            [instance.material] if instance.material is not None else np.unique(scene.meshes[instance.mesh].materials)
        )
    }
    materials = [scene.materials[index] for index in used if 0 <= index < len(scene.materials)]
    return bool(materials) and all(_is_clear(material) for material in materials)


def _is_clear(material: Material) -> bool:
    if material.alpha_mode == "mask" and material.alpha_cutoff <= 0.0:
        return False  # opaque from the cutoff on
    return material.alpha_mode != "opaque" and material.base_color[3] == 0.0


# -- framed ------------------------------------------------------------------------------------------------------------

FRAMED = "the scene is framed"
ASPECT = 4 / 3  # of the picture that a camera is judged by, which the file does not always say
MIN_SEEN = 0.1  # of the model's surface that a camera sees, hidden parts included
MAX_CUT_OFF = 0.02  # of a single object's surface, its base aside, that the picture's edges cut off
MIN_FILL = 0.4  # of the picture's width or height: a single object that fills less is small


def framed(scene: Scene) -> Scene:
    """The scene seen by the default view, with a warning, where its first camera shows it badly; itself elsewhere, and
    where cameras may move.

    It does that where it sees nothing; where it is not within a place, as of a room, and sees less than `MIN_SEEN` of
    it; and where it cuts off, or shows small, a single object.
    """
    if not scene.cameras or scene.animations:
        return scene
    fault = _view_fault(scene, scene.cameras[0])
    if not fault:
        return scene
    name = scene.cameras[0].name
    note = f"{scene.name}: camera '{name}' {fault}: {FRAMED} (--camera '{name}' takes it)"
    return scene.with_parts(framed=True, warnings=[*scene.warnings, note])


def _view_fault(scene: Scene, camera: Camera) -> str:
    """The fault of a camera's view, in words that follow "camera 'name'"; empty where nothing is."""
    bounds = scene.bounds()
    if not camera.sees(bounds):
        return "sees nothing"
    points = surface_points(scene.meshes, scene.instances).points
    if not len(points) or not isinstance(camera.projection, Orthographic | None):
        return ""
    single_object = is_single_object(scene)
    within = bool(((bounds[0] < camera.origin) & (camera.origin < bounds[1])).all())
    fraction = float(_in_picture(camera, points).mean())
    if fraction < MIN_SEEN and (single_object or not within):
        return f"sees {100 * fraction:.0f} % of the model"
    if not single_object:
        return ""
    if fraction < 1 - MAX_CUT_OFF:
        fraction = float(_in_picture(camera, surface_points(scene.meshes, _without_base(scene)).points).mean())
    if fraction < 1 - MAX_CUT_OFF:
        return f"cuts off {100 * (1 - fraction):.0f} % of the model"
    filled = _filled_fraction(camera, scene.silhouette())
    return f"shows the model at {100 * filled:.0f} % of the picture's size" if filled < MIN_FILL else ""


def _in_picture(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,): whether points (N, 3) are within the picture."""
    x, y, ahead = _project(camera, points)
    return np.asarray((ahead > 0) & (np.abs(x) <= ahead) & (np.abs(y) <= ahead))


def _without_base(scene: Scene) -> list[Instance]:
    """The instances, without the one that all others stand on, as on a cloth, and that reaches as far as all do."""
    low, high = scene.bounds()
    boxes = [bounds_of_instances(scene.meshes, [instance], {instance.mesh}) for instance in scene.instances]
    for index, (box_low, box_high) in enumerate(boxes):
        other_tops = [box[0][1] for k, box in enumerate(boxes) if k != index]
        is_wide = ((box_high - box_low) >= MIN_BASE_EXTENT * (high - low))[[0, 2]].all()
        if other_tops and is_wide and box_high[1] <= min(other_tops) + FLOOR_HEIGHT * (high[1] - low[1]):
            return [instance for k, instance in enumerate(scene.instances) if k != index]
    return scene.instances


def _filled_fraction(camera: Camera, points: NDArray[np.float64]) -> float:
    """The larger share of the picture's width or height that points (K, 3) take; 1 where some are behind."""
    x, y, ahead = _project(camera, points)
    if not len(points) or not (ahead > 0).all():
        return 1.0
    return float(max(np.ptp(x / ahead), np.ptp(y / ahead))) / 2


def _project(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, N): across and upward, and the depth by which they are divided, of parallel rays 1 or -1: -1 and 1 at the
    picture's edges."""
    right, up, forward = camera.basis()
    relative = points - camera.origin
    if isinstance(camera.projection, Orthographic):
        half_height, depth = camera.projection.height / 2, np.where(relative @ forward > 0, 1.0, -1.0)
        return np.stack([relative @ right / (half_height * ASPECT), relative @ up / half_height, depth])
    slope = float(np.tan(np.radians(camera.fov) / 2))
    relative = relative @ np.stack([right / (slope * ASPECT), up / slope, forward], axis=1)
    return np.asarray(relative.T)


MAX_INSTANCES = 1000  # largest number of instances of one object
FLOOR_HEIGHT = 0.1  # of the scene's height: a floor lies in this lowest part
MIN_FLOOR_COVER = 0.85  # of the floor plan's cells, that a floor reaches; a disc, as of a dish, reaches 0.82
FLOOR_CELLS, FLOOR_POINTS = 64, 1 << 16  # cells along each side of the floor plan; points on the floor that find them
MIN_BASE_EXTENT = 0.9  # of the scene's width and depth: what all else stands on is at least as large
MIN_FLOOR_DEPTH = 0.6  # of the scene's height, that a floor is deep and wide: less is the base that something stands on


def is_single_object(scene: Scene) -> bool:
    """Whether the scene is a single object: of few parts, and without a floor over nearly all of its floor plan. A
    plane that lies is one; a dish, too, whatever lies in it.

    An animated scene is judged at its beginning, so that all frames agree.
    """
    if not 0 < len(scene.instances) <= MAX_INSTANCES or scene.ground is not None:
        return False
    if scene.duration > 0:
        scene = scene.posed(0.0)
    low, high = scene.bounds()
    edges = high - low
    floor_top = low[1] + FLOOR_HEIGHT * edges[1]
    if not edges[1] > 0:
        return bool(min(edges[0], edges[2]) > 0)  # a plane that lies
    if not min(edges[0], edges[2]) >= MIN_FLOOR_DEPTH * edges[1]:
        return True  # a panel that stands, with or without a base
    with np.errstate(all="ignore"):
        floors = [
            _floor_triangles(scene.meshes[instance.mesh], instance.transform, floor_top)
            for instance in scene.instances
            if not isinstance(scene.meshes[instance.mesh], (Quadric, Quadrics))
        ]
    corners = np.concatenate([np.zeros((0, 3, 3)), *floors])
    points = spread(corners, np.ones(len(corners)), np.zeros(len(corners), np.int64), FLOOR_POINTS).points
    x, _, z = ((points - low) / edges * FLOOR_CELLS).astype(np.int64).clip(0, FLOOR_CELLS - 1).T
    return not np.count_nonzero(np.bincount(x * FLOOR_CELLS + z)) >= MIN_FLOOR_COVER * FLOOR_CELLS**2


def _floor_triangles(mesh: Mesh, transform: NDArray[np.float64], floor_top: float) -> NDArray[np.float64]:
    """(T, 3, 3), world space: upward-facing triangles below a height; a box's own bottom faces down."""
    is_low = mesh.positions @ transform[1, :3].astype(np.float32) <= floor_top - transform[1, 3]
    triangles = mesh.triangles[np.take(is_low, mesh.triangles[:, 0])]
    triangles = triangles[is_low[triangles[:, 1:]].all(axis=1)]
    corners = mesh.positions[triangles].astype(np.float64) @ transform[:3, :3].T + transform[:3, 3]
    edge1, edge2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    upward = edge1[:, 2] * edge2[:, 0] - edge1[:, 0] * edge2[:, 2]
    return corners[(upward if np.linalg.det(transform[:3, :3]) > 0 else -upward) > 0]
