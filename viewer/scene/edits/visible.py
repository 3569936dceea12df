"""The visible part of a model: its triangles that face it, or that have two sides."""

from __future__ import annotations

import numpy as np

from raystream.scene.camera import Camera
from raystream.scene.edits.materials import culls
from raystream.scene.geometry.framing import view_direction
from raystream.scene.geometry.triangles import SurfacePoints, surface_points
from raystream.scene.material import Material
from raystream.scene.scene import Scene

LEAST = 0.01  # of a model's surface that faces its default view
FROM_THE_FRONT = "its triangles have one side, and face away from the default view: it is seen from the other side"
INVISIBLE = "every material in use is invisible: its opacity is 0"


def from_the_front(scene: Scene) -> Scene:
    """The scene whose default view sees its triangles, with a warning, where these have one side and face away from it;
    itself elsewhere, and where a camera of its own sees the picture."""
    if scene.own_camera is not None or not any(map(culls, scene.materials)):
        return scene
    points = surface_points(scene.meshes, scene.instances)
    if not len(points.points) or facing(scene, scene.camera(), points) >= LEAST:
        return scene
    x, y, z = view_direction(scene.silhouette())
    turned = [scene.with_parts(front=front) for front in ((-x, y, -z), (x, -y, z), (-x, -y, -z))]
    shares = [facing(candidate, candidate.camera(), points) for candidate in turned]
    best = int(np.argmax(shares))
    if shares[best] < LEAST:
        return scene
    return turned[best].with_parts(warnings=[*scene.warnings, f"{scene.name}: {FROM_THE_FRONT}"])


def facing(scene: Scene, camera: Camera, points: SurfacePoints) -> float:
    """The share of points of the surface whose side towards the camera is seen by it."""
    one_sided = np.array([*map(culls, scene.materials), False])
    numbers = np.where(points.materials < len(scene.materials), points.materials, -1)
    towards = ((np.asarray(camera.origin) - points.points) * points.normals).sum(axis=1) > 0
    return float((towards | ~one_sided[numbers]).mean()) if len(towards) else 0.0


def invisible(scene: Scene) -> bool:
    """Whether there are triangles, and all of materials whose opacity is 0."""
    used = {
        int(number)
        for instance in scene.instances
        for number in (
            [instance.material] if instance.material is not None else np.unique(scene.meshes[instance.mesh].materials)
        )
    }
    materials = [scene.materials[number] for number in used if 0 <= number < len(scene.materials)]
    return bool(materials) and all(_is_clear(material) for material in materials)


def _is_clear(material: Material) -> bool:
    if material.alpha_mode == "mask" and material.alpha_cutoff <= 0.0:
        return False  # opaque from the cutoff on
    return material.alpha_mode != "opaque" and material.base_color[3] == 0.0
