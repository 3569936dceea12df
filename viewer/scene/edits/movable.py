"""A scene's movable lights by name: those of its list, and its emissive instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from raystream.base.errors import ViewerError
from raystream.scene.light import Light, Vector
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene


class Movable(NamedTuple):
    """A light of the user interface. kind : that of a `Light`, or ``area``. item_index : of the `Light` or, of an area
    light, of its instance.

    position : for an area light the centre of its emissive triangles' box; for a directional light the direction to it.
    """

    name: str
    kind: str
    item_index: int
    position: Vector


def movable_lights(scene: Scene) -> list[Movable]:
    """All lights of a scene: its `Light` records, then the instances with an emissive material."""
    movables = []
    for index, light in enumerate(scene.lights):
        x, y, z = light.direction
        position = (0.0 - x, 0.0 - y, 0.0 - z) if light.kind == "directional" else light.position  # 0, not -0
        movables.append(Movable(light.name, light.kind, index, position))
    emitting = np.array([max(material.emission) > 0 for material in scene.materials], bool)
    if not emitting.any():
        return movables
    for index, instance in enumerate(scene.instances):
        mesh = scene.meshes[instance.mesh]
        material_indices = (
            mesh.materials if instance.material is None else np.full(len(mesh.triangles), instance.material)
        )
        triangles = mesh.triangles[emitting[material_indices]] if len(mesh.triangles) else mesh.triangles
        if not len(triangles):
            continue
        with np.errstate(all="ignore"):  # non-finite corners belong to triangles that are ignored
            vertices = mesh.positions if isinstance(mesh, Quadric) else mesh.positions[triangles.ravel()]
            corners = vertices.astype(np.float64) @ instance.transform[:3, :3].T
            corners += instance.transform[:3, 3]
        corners = corners[np.isfinite(corners).all(axis=1)]
        if len(corners):
            x, y, z = map(float, (corners.min(axis=0) + corners.max(axis=0)) / 2)
            movables.append(Movable(instance.name or mesh.name, "area", index, (x, y, z)))
    return movables


def with_light_at(scene: Scene, name: str, position: Sequence[float]) -> Scene:
    """The scene with one light moved; everything else is shared with the given one.

    position : scene units, world space; for a directional light the direction towards it. An area light moves with its
    whole instance, the centre of its emissive triangles to the position. Raises ViewerError with the known names for an
    unknown one; of equal names the first is moved.
    """
    movables = movable_lights(scene)
    light = next((movable for movable in movables if movable.name == name), None)
    if light is None:
        names = ", ".join(dict.fromkeys(movable.name for movable in movables)) or "none"
        raise ViewerError(scene.name, f"no light '{name}'", f"lights: {names}")
    x, y, z = (float(component) for component in position)
    if light.kind == "area":
        instances = list(scene.instances)
        transform = instances[light.item_index].transform.copy()
        transform[:3, 3] += np.subtract((x, y, z), light.position)
        instances[light.item_index] = replace(instances[light.item_index], transform=transform, motion=None)
        return replace(scene, instances=instances)
    lights = list(scene.lights)
    lights[light.item_index] = placed_light(lights[light.item_index], (x, y, z))
    return replace(scene, lights=lights)


def placed_light(light: Light, position: Vector) -> Light:
    """The light at another position, without motion; for a directional one this is the direction towards it."""
    x, y, z = position
    if light.kind == "directional":
        return replace(light, direction=(-x, -y, -z), motion=())
    return replace(light, position=(x, y, z), motion=())
