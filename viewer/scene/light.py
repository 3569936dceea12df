"""Lights as plain data: points, spots and directions; and which of a scene's instances shine.

Radiometric units throughout: radiant intensity W/sr for points and spots, irradiance W/m^2 (across the direction) for
directional lights, radiance W/(m^2 sr) for surfaces; a metre is a scene unit. Each is RGB, linear sRGB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError

if TYPE_CHECKING:
    from viewer.scene.scene import Scene

Vector = tuple[float, float, float]
Kind = Literal["point", "spot", "directional"]
KINDS = ("point", "spot", "directional")

# Brighter or farther lights would leave float32's range when they are summed up or squared.
BRIGHTEST = 1e30
FARTHEST = 1e18

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of linear sRGB, ITU-R BT.709; also shaders/lib/luminance.glsl


def luminance(rgb: NDArray | Sequence[float]) -> NDArray[np.float64]:
    """(...) of linear sRGB (..., 3); the weights are those of ITU-R BT.709."""
    return np.asarray(rgb, np.float64) @ LUMINANCE


@dataclass(frozen=True)
class Light:
    """A light without extent: its shadows are hard.

    position  : scene units, world space; of no meaning to a directional light.
    direction : in which it shines, world space, made a unit vector here; of no meaning to a point light.
    intensity : RGB, W/sr; of a directional light W/m^2.
    inner, outer : of a spot, angles from the direction in radians, 0 <= inner < outer <= pi/2: full intensity within
    the inner one, nothing beyond the outer one, and in between as `falloff` says.

    Raises ViewerError for numbers that are not finite, negative intensities, no direction, and angles out of range.
    """

    kind: Kind
    name: str = "light"
    position: Vector = (0.0, 0.0, 0.0)
    direction: Vector = (0.0, -1.0, 0.0)
    intensity: Vector = (1.0, 1.0, 1.0)
    inner: float = 0.0
    outer: float = math.pi / 4

    def __post_init__(self) -> None:
        where = f"light '{self.name}'"
        if self.kind not in KINDS:
            raise ViewerError(where, f"unknown kind {self.kind!r}", f"known: {', '.join(KINDS)}")
        for label, most in (("position", FARTHEST), ("direction", math.inf), ("intensity", BRIGHTEST)):
            given = getattr(self, label)
            try:
                vector = tuple(float(component) for component in given)
            except (TypeError, ValueError):
                raise ViewerError(where, f"{label} {given!r} is not three numbers") from None
            if len(vector) != 3 or not all(math.isfinite(c) and abs(c) <= most for c in vector):
                limit = f" up to {most:g}" if math.isfinite(most) else ""
                raise ViewerError(where, f"{label} {given!r} is not three finite numbers{limit}")
            object.__setattr__(self, label, vector)
        if min(self.intensity) < 0:
            raise ViewerError(where, f"intensity {self.intensity} is negative", "light cannot be taken away")
        largest = max(map(abs, self.direction))
        if largest == 0:
            raise ViewerError(where, "direction is zero", "give one such as 0,-1,0")
        scaled = [component / largest for component in self.direction]
        length = math.hypot(*scaled)
        object.__setattr__(self, "direction", tuple(component / length for component in scaled))
        if self.kind == "spot" and not 0 <= self.inner < self.outer <= math.pi / 2:
            raise ViewerError(
                where, f"cone angles {self.inner:g}, {self.outer:g} are out of range", "0 <= inner < outer <= pi/2"
            )

    @property
    def falloff(self) -> tuple[float, float]:
        """(scale, offset) of a spot: at an angle a from its direction it has ``clamp(cos a * scale + offset, 0, 1)^2``
        of its intensity (KHR_lights_punctual, "Inner and Outer Cone Angles")."""
        scale = 1.0 / max(0.001, math.cos(self.inner) - math.cos(self.outer))
        return scale, -math.cos(self.outer) * scale

    @property
    def solid_angle(self) -> float:
        """Radiant flux over intensity, sr: 4 pi of a point, less of a spot; 0 of a directional light."""
        if self.kind == "point":
            return 4 * math.pi
        if self.kind == "directional":
            return 0.0
        scale, offset = self.falloff
        full = min(1.0, (1 - offset) / scale)  # the cosine from which on it is at its full intensity
        return 2 * math.pi * ((1 - full) + (min(1.0, scale * full + offset) ** 3) / (3 * scale))


class Movable(NamedTuple):
    """A light as a user meets it. kind: that of a `Light`, or ``area``. number: of the light, or of the instance.

    position : of an area light the middle of its shining triangles' box; of a directional light, which is nowhere, the
    direction to it.
    """

    name: str
    kind: str
    number: int
    position: Vector


def movable_lights(scene: Scene) -> list[Movable]:
    """All lights of a scene: its `Light` records, then the instances with a material that shines."""
    found = []
    for number, light in enumerate(scene.lights):
        away = light.kind == "directional"
        at = (-light.direction[0], -light.direction[1], -light.direction[2]) if away else light.position
        found.append(Movable(light.name, light.kind, number, at))
    emitting = np.array([max(material.emission) > 0 for material in scene.materials], bool)
    if not emitting.any():
        return found
    for number, instance in enumerate(scene.instances):
        mesh = scene.meshes[instance.mesh]
        own = mesh.materials if instance.material is None else np.full(len(mesh.triangles), instance.material)
        lit = mesh.triangles[emitting[own]] if len(mesh.triangles) else mesh.triangles
        if not len(lit):
            continue
        with np.errstate(all="ignore"):  # corners that are not finite belong to triangles that are left out
            corners = mesh.positions[lit.ravel()].astype(np.float64) @ instance.transform[:3, :3].T
            corners += instance.transform[:3, 3]
        corners = corners[np.isfinite(corners).all(axis=1)]
        if len(corners):
            x, y, z = map(float, (corners.min(axis=0) + corners.max(axis=0)) / 2)
            found.append(Movable(instance.name or mesh.name, "area", number, (x, y, z)))
    return found


def with_light_at(scene: Scene, name: str, position: Sequence[float]) -> Scene:
    """The scene with one light elsewhere; everything that is not moved is shared with the given one.

    position : scene units, world space; of a directional light the direction towards it. An area light is moved with
    its whole instance, so that the middle of its shining triangles comes to the position.
    Raises ViewerError for an unknown name, and lists the known ones; the first light of a name is meant.
    """
    known = movable_lights(scene)
    light = next((each for each in known if each.name == name), None)
    if light is None:
        names = ", ".join(dict.fromkeys(each.name for each in known)) or "none"
        raise ViewerError(scene.name, f"no light '{name}'", f"lights: {names}")
    x, y, z = (float(component) for component in position)
    if light.kind == "area":
        instances = list(scene.instances)
        moved = instances[light.number].transform.copy()
        moved[:3, 3] += np.subtract((x, y, z), light.position)
        instances[light.number] = replace(instances[light.number], transform=moved)
        return replace(scene, instances=instances)
    lights = list(scene.lights)
    if light.kind == "directional":
        lights[light.number] = replace(lights[light.number], direction=(-x, -y, -z))
    else:
        lights[light.number] = replace(lights[light.number], position=(x, y, z))
    return replace(scene, lights=lights)
