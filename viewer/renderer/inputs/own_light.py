"""The light that arrives on a scene from its own lights, and what it lacks for a picture: an environment beside them.

It is measured at points of the surface that the default view faces, without shadows and without light reflected by
other surfaces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.film.exposure import MIDDLE, automatic_exposure
from viewer.lighting.emitters import Emitters, emitters
from viewer.renderer.sampling.darkness import DIM
from viewer.scene.edits.alone import is_single_object
from viewer.scene.geometry.surface import SurfacePoints, surface_points
from viewer.scene.light import Light, luminance
from viewer.scene.scene import Scene
from viewer.scene.sky import SCALE, sunlight

Float = NDArray[np.float64]

ALBEDO = 0.5  # of the surfaces, whose colours do not count
DARK = MIDDLE / 16  # luminance at the picture's exposure that looks black
MOST_DARK = 0.25  # share of the surface that may be as dark, as in the shade of a lamp
FILL = 0.25  # of the light of the scene's own lights, the key: that of the studio beside them
KEY = 0.75  # quantile of the light on lit surfaces that stands for the key
EMITTERS = 128  # of emissive surfaces, by power, that stand for all of them
HIGH = 0.75  # of the scene's height: surfaces above that face down are a roof
ROOF = 0.5  # share of the floor plan under a roof
SECTORS, WALLS = 12, 9  # around a camera, and in how many of them walls rise around one that is within
RISE = math.sin(math.radians(10.0))


class Beside(NamedTuple):
    """An environment beside a scene's own lights: the ``studio``, or the ``sky`` of a sun at elevation and azimuth,
    degrees, which is one of these lights; with a factor on its light."""

    name: str
    level: float
    sun: tuple[float, float] | None = None


def environment_beside(scene: Scene) -> Beside | None:
    """What a scene with lights of its own needs beside them: the sky of its sun in a room that nothing else lights; the
    studio in the open, where they leave much of the surface black, or where they are faint; nothing elsewhere."""
    surface = surface_points(scene.meshes, scene.instances)
    if not len(surface.points):
        return None
    emitting = emitters(scene)
    eye = np.array(scene.camera().origin)
    if not is_single_object(scene):
        lights = [light for light in scene.lights if max(light.intensity) > 0]
        far = bool(lights) and not len(emitting.corners) and all(light.kind == "directional" for light in lights)
        if _walled(surface, eye):
            return _sky_of(lights) if far else None
        if _roofed(surface, scene.bounds()):
            return None
    facing = ((eye - surface.points) * surface.normals).sum(axis=1) > 0
    if not facing.any():
        return None
    light = irradiance(surface.points[facing], surface.normals[facing], scene.lights, emitting)
    return _studio_beside(light)


def _studio_beside(light: Float) -> Beside | None:
    """For irradiances (N,): the studio's level, or nothing where they are enough."""
    radiance = light * (ALBEDO / math.pi)
    lit = light[light > 0]
    stops = automatic_exposure(radiance)
    faint = not len(lit) or stops > DIM
    if not faint and float((radiance * 2.0**stops < DARK).mean()) <= MOST_DARK:
        return None
    level = 1.0 if faint else FILL * float(np.quantile(lit, KEY)) / math.pi
    return Beside("studio", 2.0 ** (round(4 * math.log2(level)) / 4))


def _sky_of(lights: Sequence[Light]) -> Beside:
    """The sky around a sun, the brightest of directional lights, as bright as that is beside the sky's own."""
    sun = max(lights, key=lambda light: float(luminance(light.intensity)))
    x, y, z = (-component for component in sun.direction)
    if y <= 0:  # from below the horizon: no sun
        return Beside("sky", 1.0)
    own = float(luminance(sunlight(math.asin(min(y, 1.0))))) * SCALE
    place = math.degrees(math.asin(min(y, 1.0))), math.degrees(math.atan2(x, z))
    return Beside("sky", float(luminance(sun.intensity)) / own, place)


def irradiance(points: Float, normals: Float, lights: Sequence[Light], emitting: Emitters) -> Float:
    """(N,): luminance of the irradiance at points (N, 3) with unit normals (N, 3), unshadowed, W/m^2."""
    total = np.zeros(len(points))
    for light in lights:
        power = float(luminance(light.intensity))
        if light.kind == "directional":
            total += power * np.maximum(normals @ -np.array(light.direction), 0.0)
            continue
        away = np.array(light.position) - points
        square = np.maximum((away * away).sum(axis=1), 1e-30)
        towards = away / np.sqrt(square)[:, None]
        if light.kind == "spot":
            scale, offset = light.falloff
            power = power * np.clip((towards @ -np.array(light.direction)) * scale + offset, 0.0, 1.0) ** 2
        total += power * np.maximum((towards * normals).sum(axis=1), 0.0) / square
    return total + _from_emitters(points, normals, emitting)


def _from_emitters(points: Float, normals: Float, emitting: Emitters) -> Float:
    """As `irradiance`, of emissive triangles, each as if all of it were at its centre, and spheres."""
    corners = emitting.corners.astype(np.float64)
    if not len(corners):
        return np.zeros(len(points))
    round_ = np.zeros(len(corners), bool) if emitting.sphere is None else emitting.sphere
    with np.errstate(all="ignore"):
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.where(round_, math.pi * corners[:, 1, 0] ** 2, np.linalg.norm(across, axis=1) / 2)
        power = area * luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    power = np.where(np.isfinite(power), np.maximum(power, 0.0), 0.0)
    ends = np.cumsum(power)
    if not ends[-1] > 0:
        return np.zeros(len(points))
    chosen = np.searchsorted(ends, (np.arange(EMITTERS) + 0.5) / EMITTERS * ends[-1], side="right")
    total, each = np.zeros(len(points)), ends[-1] / EMITTERS
    for k in np.minimum(chosen, len(ends) - 1).tolist():
        center = corners[k, 0] if round_[k] else corners[k].mean(axis=0)
        away = center - points
        square = np.maximum((away * away).sum(axis=1), area[k] / math.pi)  # no more than from all around
        towards = away / np.sqrt(square)[:, None]
        leaving = np.ones(len(points))
        if not round_[k]:
            leaving = -(towards @ across[k]) / (2 * area[k])
            leaving = np.abs(leaving) if emitting.both is not None and emitting.both[k] else np.maximum(leaving, 0.0)
        total += each * leaving * np.maximum((towards * normals).sum(axis=1), 0.0) / square
    return total


def _roofed(surface: SurfacePoints, bounds: Float) -> bool:
    """Whether surfaces high up that face down cover much of the floor plan."""
    low, high = bounds
    plan = float((high - low)[0] * (high - low)[2])
    above = surface.points[:, 1] > low[1] + HIGH * (high[1] - low[1])
    down = np.maximum(-surface.normals[above, 1], 0.0).sum() * surface.area / len(surface.points)
    return plan > 0 and float(down) >= ROOF * plan


def _walled(surface: SurfacePoints, eye: Float) -> bool:
    """Whether surfaces rise above a place in most directions around it."""
    away = surface.points - eye
    high = away[:, 1] > RISE * np.linalg.norm(away, axis=1)
    sectors = np.floor((np.arctan2(away[high, 0], away[high, 2]) / (2 * math.pi) + 0.5) * SECTORS)
    return len(set(sectors.astype(int).tolist())) >= WALLS
