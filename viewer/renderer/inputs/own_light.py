"""The light that arrives on a scene from its own lights, and the environment that a picture needs beside them.

It is measured at points of the surface that the default view faces, without shadows and without light reflected by
other surfaces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.ordered import quantile
from raystream.film.tonemap import MIDDLE, automatic_exposure
from raystream.lighting.emitters import Emitters, emitters
from raystream.scene.edits.framed import is_single_object
from raystream.scene.environment import IRRADIANCE, SCALE, sunlight
from raystream.scene.geometry.triangles import SurfacePoints, surface_points
from raystream.scene.light import Light, luminance
from raystream.scene.scene import Scene

Float = NDArray[np.float64]

ALBEDO = 0.5  # of the surfaces, whose colours do not count
DARK = MIDDLE / 16  # luminance at the picture's exposure that looks black
FAINT = 4.0  # stops by which a picture of lights that are too faint has to be brightened
MOST_DARK = 0.25  # share of the surface that may be as dark, as in the shade of a lamp
FILL = 0.25  # of the light of the scene's own lights, the key: that of the studio beside them
KEY, SHADE = 0.75, 0.1  # quantiles of the light on surfaces that stand for the key's and for the shade's
LEAST_FILL = 1 / 8  # of the key's light, in the shade of a single object that lacks no fill
MOST_LEVEL = 2.0**40  # of an environment, whose radiance has a limit
LIGHTS = 1 << 10  # of very many lights without extent, by power, that stand for all of them
EMITTERS = 128  # of emissive surfaces, by power, that stand for all of them
HIGH = 0.75  # of the scene's height: surfaces above that face down are a roof
ROOF = 0.5  # share of the floor plan under a roof
SECTORS, WALLS = 12, 9  # around a camera, and in how many of them walls rise around one that is within
BLUE = 2  # channel of glTF's metalness
LOOKED_AT = 64  # texels of a texture along each side
RISE = math.sin(math.radians(10.0))
OPENINGS = 1 / 6  # of the light of the open that reaches the surfaces of a room; the built-in hall's has 0.18
REFLECTED = 2.0  # times the light of a room's own lights, with what its surfaces reflect


class DefaultEnvironment(NamedTuple):
    """An environment beside a scene's own lights: the ``studio``, or the ``sky`` of a sun at elevation and azimuth,
    degrees, which is one of these lights; with a factor on its light; or ``none``, of a scene in the open that lacks no
    light, but a backdrop. tone : factor on the gradient, which is as bright beside surfaces lit by all of these as it
    is in the studio alone."""

    name: str
    level: float
    sun: tuple[float, float] | None = None
    tone: float = 1.0


def default_environment(scene: Scene) -> DefaultEnvironment | None:
    """The environment that a scene with lights of its own needs; where these are enough, ``none`` with the tone of a
    gradient in the open, and None in a room or under a roof.

    A single object, and a place in the open, needs the studio where much of the surface stays black, and a single
    object where its lights are faint or a key without a fill; those that are a part of the object, as of a lamp, do not
    count. A room that only a sun lights needs the sky, and so does a place in the open. Nothing else is seen through
    the openings of a room but darkness.
    """
    surface = surface_points(scene.meshes, scene.instances)
    if not len(surface.points):
        return None
    emitting, bounds = emitters(scene), scene.bounds()
    eye, lights = np.array(scene.camera().origin), _lights(scene)
    single_object = is_single_object(scene)
    sunlit = not len(emitting.corners) and only_suns(lights)
    if not single_object and _walled(surface, eye):
        return sky_of(lights) if sunlit else None
    if not single_object and _roofed(surface, bounds):
        return None
    facing = _facing(surface, eye)
    if not facing.any():
        return None
    points, normals = surface.points[facing], surface.normals[facing]
    total = around = irradiance(points, normals, lights, emitting)
    if single_object:
        positions = np.array([light.position for light in lights]).reshape(-1, 3)
        within = ((bounds[0] <= positions) & (positions <= bounds[1])).all(axis=1).tolist()
        outer = [light for light, inner in zip(lights, within, strict=True) if light.kind == "directional" or not inner]
        if len(outer) < len(lights) or len(emitting.corners):
            around = irradiance(points, normals, outer, None)
    if not (
        _shown(around * _diffuse(scene)[surface.materials[facing]]) and (not single_object or _key_and_fill(around))
    ):
        return _default_studio(total)
    if sunlit and not single_object:
        return sky_of(lights)
    return DefaultEnvironment("none", 0.0, tone=min(_key(total) / IRRADIANCE, MOST_LEVEL))


def white_radiance(scene: Scene, open_air: float | None = None) -> float:
    """About the radiance of a white surface that the default view faces, at a glance: 1 under the default sky and in
    the studio. open_air : that under an environment, in the open; None: the scene's own lights light it, with the
    environment that it needs beside them."""
    default = default_environment(scene) if open_air is None and scene.fills else None
    if default is not None:
        return default.level if default.name == "sky" else default.tone
    if open_air is not None and is_single_object(scene):
        return open_air
    surface, eye = surface_points(scene.meshes, scene.instances), np.array(scene.camera().origin)
    if open_air is not None:
        return open_air * (OPENINGS if _walled(surface, eye) else 1.0)
    facing = _facing(surface, eye)
    light = irradiance(surface.points[facing], surface.normals[facing], _lights(scene), emitters(scene))
    return min(REFLECTED * _key(light) / IRRADIANCE, MOST_LEVEL) if light.any() else 1.0


def _lights(scene: Scene) -> list[Light]:
    """Those that shine."""
    return [light for light in scene.lights if any(light.intensity)]


def _facing(surface: SurfacePoints, eye: Float) -> NDArray[np.bool_]:
    """(N,): the points whose front an eye sees, but for what hides them."""
    return np.asarray(((eye - surface.points) * surface.normals).sum(axis=1) > 0)


def _key(light: Float) -> float:
    """The key light's of irradiances (N,)."""
    return quantile(np.sort(light), KEY)  # `np.quantile` loads libraries, for which a first picture would wait


def _shown(light: Float) -> bool:
    """Whether irradiances (N,) show most of the surface at the exposure of a picture of it."""
    radiance = light * (ALBEDO / math.pi)
    return float((radiance * 2.0 ** automatic_exposure(radiance) < DARK).mean()) <= MOST_DARK


def _key_and_fill(light: Float) -> bool:
    """Whether the lights behind irradiances (N,) are a key and its fill, as in a studio, and not faint."""
    shade, key = quantile(np.sort(light), SHADE), _key(light)
    return bool(shade >= LEAST_FILL * key) and not _faint(light)


def _faint(light: Float) -> bool:
    """Whether a picture of irradiances (N,) has to be brightened a lot, or is black."""
    return not light.any() or automatic_exposure(light * (ALBEDO / math.pi)) > FAINT


def _default_studio(light: Float) -> DefaultEnvironment:
    """The studio as the fill to the key of irradiances (N,), of which those of unlit points are 0; of faint ones as it
    is without them."""
    if _faint(light):
        return DefaultEnvironment("studio", 1.0)
    level = FILL * _key(light[light > 0]) / math.pi
    level = min(2.0 ** (round(4 * math.log2(level)) / 4), MOST_LEVEL)
    return DefaultEnvironment("studio", level, tone=level * (1 + math.pi / (FILL * IRRADIANCE)))


def _diffuse(scene: Scene) -> Float:
    """(M,): of each material the part that is no metal; metals show their surroundings, and delta lights hardly at
    all."""
    diffuse = np.ones(len(scene.materials))
    for index, material in enumerate(scene.materials):
        if material.kind == "principled":
            diffuse[index] = 1.0 - material.metallic * _mean(scene, material.metallic_roughness_texture, BLUE)
    return diffuse


def _mean(scene: Scene, texture: int | None, channel: int) -> float:
    """Of a texture's channel, in its units of 0 to 1; 1 without one."""
    if texture is None:
        return 1.0
    texels = scene.textures[texture].image.texels
    skips = [max(1, side // LOOKED_AT) for side in texels.shape[:2]]
    some = texels[:: skips[0], :: skips[1], channel].astype(np.float64)
    return float(some.mean()) / {"uint8": 255.0, "uint16": 65535.0}.get(texels.dtype.name, 1.0)


def only_suns(lights: Sequence[Light]) -> bool:
    """Whether there are lights, and all of them are directional."""
    return bool(lights) and all(light.kind == "directional" for light in lights)


def sky_of(lights: Sequence[Light]) -> DefaultEnvironment:
    """The sky around a sun, the brightest of directional lights, as bright as that is beside the sky's own."""
    sun = max(lights, key=lambda light: float(luminance(light.intensity)))
    x, y, z = (-component for component in sun.direction)
    if y <= 0:  # from below the horizon: no sun
        return DefaultEnvironment("sky", 1.0)
    sky_luminance = float(luminance(sunlight(math.asin(min(y, 1.0))))) * SCALE
    place = math.degrees(math.asin(min(y, 1.0))), math.degrees(math.atan2(x, z))
    return DefaultEnvironment("sky", min(float(luminance(sun.intensity)) / sky_luminance, MOST_LEVEL), place)


def irradiance(points: Float, normals: Float, lights: Sequence[Light], emitting: Emitters | None) -> Float:
    """(N,): luminance of the irradiance at points (N, 3) with unit normals (N, 3), unshadowed, W/m^2."""
    total = np.zeros(len(points))
    for light, weight in _standing(lights):
        power = float(luminance(light.intensity)) * weight
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
    return total if emitting is None else total + _from_emitters(points, normals, emitting)


def _standing(lights: Sequence[Light]) -> list[tuple[Light, float]]:
    """The lights and the number of times that each counts: of very many some by luminance, all with one power."""
    if len(lights) <= LIGHTS:
        return [(light, 1.0) for light in lights]
    power = luminance(np.array([light.intensity for light in lights]))
    ends = np.cumsum(power)
    chosen = np.searchsorted(ends, (np.arange(LIGHTS) + 0.5) / LIGHTS * ends[-1], side="right")
    return [(lights[k], float(ends[-1] / LIGHTS / power[k])) for k in np.minimum(chosen, len(lights) - 1).tolist()]


def _from_emitters(points: Float, normals: Float, emitting: Emitters) -> Float:
    """As `irradiance`, of emissive triangles, each as if all of it were at its centre, and spheres."""
    corners = emitting.corners.astype(np.float64)
    if not len(corners):
        return np.zeros(len(points))
    round_ = np.zeros(len(corners), bool) if emitting.sphere is None else emitting.sphere
    with np.errstate(all="ignore"):
        area_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.where(round_, math.pi * corners[:, 1, 0] ** 2, np.linalg.norm(area_normals, axis=1) / 2)
        power = area * luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    power = np.where(np.isfinite(power), np.maximum(power, 0.0), 0.0)
    ends = np.cumsum(power)
    if not ends[-1] > 0:
        return np.zeros(len(points))
    chosen = np.searchsorted(ends, (np.arange(EMITTERS) + 0.5) / EMITTERS * ends[-1], side="right")
    total, sample_power = np.zeros(len(points)), ends[-1] / EMITTERS
    for k in np.minimum(chosen, len(ends) - 1).tolist():
        center = corners[k, 0] if round_[k] else corners[k].mean(axis=0)
        away = center - points
        square = np.maximum((away * away).sum(axis=1), area[k] / math.pi)  # no more than from all around
        towards = away / np.sqrt(square)[:, None]
        leaving = np.ones(len(points))
        if not round_[k]:
            leaving = -(towards @ area_normals[k]) / (2 * area[k])
            leaving = np.abs(leaving) if emitting.both is not None and emitting.both[k] else np.maximum(leaving, 0.0)
        total += sample_power * leaving * np.maximum((towards * normals).sum(axis=1), 0.0) / square
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
