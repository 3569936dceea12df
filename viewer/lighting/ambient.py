"""Lights of Whitted's tracer: each light in turn, an environment's suns as further ones, and its rest as ambient light.

Whitted's time had point and directional lights with shadows, and ambient light without. A compact bright region, a sun,
becomes a light of the first kind; the rest, an irradiance by normal: the environment's projection on spherical
harmonics up to order 2 (R. Ramamoorthi and P. Hanrahan, "An Efficient Representation for Irradiance Environment Maps",
2001), as their quadratic form of the normal. Nothing is random, and nothing but the suns is shadowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.ordered import quantile
from raystream.kernels.records import LIGHT_SAMPLE
from raystream.lighting.emitters import Emitters, emitters
from raystream.lighting.lights import RECORDS, light_list
from raystream.scene.environment import DARKNESS, ConstantEnvironment, Environment, ImageEnvironment, cached_by_pixels
from raystream.scene.light import Light, luminance
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module, Table

MAX_SUNS = 4
SUN_RADIUS = math.radians(10.0)  # of the largest sun: wider lights have too soft shadows for a directional light
RING_RADIUS = math.radians(14.0)  # outer radius of the ring around a sun, over whose radiance its excess is measured
RING_PERCENTILE = 97  # of the ring's radiance: a strip of light, which is no sun, has more of the ring
MIN_PEAK_RATIO = 8.0  # of a sun's radiance to the mean
MIN_FLUX_SHARE = (
    1 / 50
)  # of a sun in the environment's flux: less is at most a twelfth of the ambient light on a surface
MAX_PEAKS = 16  # that are examined
MAP_ROWS = 128  # of the map that both are computed from, with twice as many columns; suns are placed more precisely


@dataclass(frozen=True, eq=False)
class Ambient:
    """Suns and ambient light of an environment, in the environment's space or, `turned`, in world space.

    towards    : (S, 3) float64, unit directions to the suns, the brightest first; S <= `MAX_SUNS`.
    irradiance : (S, 3) float64, linear sRGB, W/m^2, of a surface that faces each.
    quadratic  : (3, 4, 4) float64, symmetric, for red, green and blue: the ambient irradiance of a surface with unit
    normal n is (n, 1) Q (n, 1), where that is positive.
    """

    towards: NDArray[np.float64]
    irradiance: NDArray[np.float64]
    quadratic: NDArray[np.float64]

    def turned(self, rotation: tuple[float, float]) -> Ambient:
        """Suns and ambient light rotated about +Y by an angle of that (cosine, sine), as of `ImageEnvironment.turn`."""
        c, s = rotation
        to_world = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])
        return replace(
            self,
            towards=self.towards @ to_world[:3, :3].T,
            quadratic=np.einsum("ai,kij,bj->kab", to_world, self.quadratic, to_world),
        )


class Cells(NamedTuple):
    """N cells of the sphere, in the environment's space: unit directions (N, 3) of their centres, solid
    angles (N,) in sr, mean radiances (N, 3)."""

    directions: NDArray[np.float64]
    angles: NDArray[np.float64]
    radiance: NDArray[np.float64]


def ambient(environment: Environment) -> Ambient:
    """Suns and ambient light of an environment, in its space, that is at a rotation of 0."""
    if isinstance(environment, ConstantEnvironment):
        quadratic = np.zeros((3, 4, 4))
        quadratic[:, 3, 3] = math.pi * np.asarray(environment.radiance, np.float64)
        return Ambient(np.zeros((0, 3)), np.zeros((0, 3)), quadratic)
    return _image_ambient(environment)


@cached_by_pixels
def _image_ambient(image: ImageEnvironment) -> Ambient:
    cells = cells_of(image)
    towards, irradiance, rest = _suns(cells)
    return Ambient(towards, irradiance, _quadratic(cells._replace(radiance=rest)))


def in_world(light: Ambient, environment: Environment) -> Ambient:
    """The result of `ambient` in world space, by the environment's rotation."""
    return light.turned(environment.turn) if isinstance(environment, ImageEnvironment) else light


def cells_of(image: ImageEnvironment) -> Cells:
    """The cells of a map of about `MAP_ROWS` rows: means of a finer image's texels, or a coarser image interpolated."""
    height, width = image.pixels.shape[:2]
    rows, columns = _cell_edges(height, MAP_ROWS), _cell_edges(width, 2 * MAP_ROWS)
    values = _resampled_axis(image.pixels, rows, 0, image.solid_angles())
    values = _resampled_axis(values, columns, 1, np.ones(width))
    cos_edges = np.cos(rows * (math.pi / height))
    azimuth_edges = columns * (2 * math.pi / width) - math.pi
    angles = np.outer(cos_edges[:-1] - cos_edges[1:], np.diff(azimuth_edges))
    polar = (rows[:-1] + rows[1:]) * (math.pi / 2 / height)
    azimuth = (azimuth_edges[:-1] + azimuth_edges[1:]) / 2
    directions = np.empty((len(polar), len(azimuth), 3))
    directions[..., 0] = np.outer(np.sin(polar), np.cos(azimuth))
    directions[..., 1] = np.cos(polar)[:, None]
    directions[..., 2] = np.outer(np.sin(polar), np.sin(azimuth))
    return Cells(directions.reshape(-1, 3), angles.ravel(), values.reshape(-1, 3))


def _cell_edges(texels: int, max_cells: int) -> NDArray[np.float64]:
    """The edges of cells along an axis, in texels: of ``max_cells`` groups of texels, or of equal parts of each texel,
    more than half of ``max_cells``."""
    if texels > max_cells:
        return np.round(np.linspace(0, texels, max_cells + 1))
    cells_per_texel = 1 if 2 * texels > max_cells else max_cells // texels
    return np.arange(texels * cells_per_texel + 1) / cells_per_texel


def _resampled_axis(values: NDArray, edges: NDArray[np.float64], axis: int, weights: NDArray[np.float64]) -> NDArray:
    """Values (H, W, 3) resampled to cells with these ``edges`` along one axis: weighted means of texels, or
    interpolated where cells are smaller, repeating in longitude and clamped at the poles."""
    count = len(weights)
    shape = [1, 1, 1]
    shape[axis] = -1
    if len(edges) - 1 < count:
        starts = edges.astype(np.intp)
        sums = np.add.reduceat(weights, starts[:-1])
        if axis == 1:  # where all weights are 1
            return np.add.reduceat(values, starts[:-1], axis=1) / sums.reshape(shape)
        # No copy of a large picture in float64: products in its own type, and sums of few rows each.
        flat, light = values.reshape(count, -1), weights.astype(values.dtype)
        means = np.stack([light[low:high] @ flat[low:high] for low, high in pairwise(starts)])
        return (means / sums[:, None]).reshape(-1, *values.shape[1:])
    if len(edges) - 1 == count:
        return values.astype(np.float64)
    position = (edges[:-1] + edges[1:]) / 2 - 0.5
    low = np.floor(position).astype(np.intp)
    fraction = (position - low).reshape(shape)
    indices = [low % count, (low + 1) % count] if axis == 1 else [low.clip(0), (low + 1).clip(max=count - 1)]
    first, second = (np.take(values, index, axis=axis).astype(np.float64) for index in indices)
    return first * (1 - fraction) + second * fraction


def _suns(cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The suns' directions (S, 3) and irradiances (S, 3), and the cells' radiance (N, 3) without them."""
    directions, angles, remaining = cells.directions, cells.angles, cells.radiance.copy()
    light = luminance(remaining)
    total = float(light @ angles)
    unexamined = np.ones(len(light), bool)
    towards: list[NDArray[np.float64]] = []
    irradiance: list[NDArray[np.float64]] = []
    for _ in range(MAX_PEAKS):
        peak = int(np.argmax(np.where(unexamined, light, 0.0)))
        if len(towards) == MAX_SUNS or not light[peak] * 4 * math.pi > MIN_PEAK_RATIO * total:
            break
        middle, excess, in_sun = _excess_near(cells, light, directions[peak])
        unexamined &= ~in_sun
        unexamined[peak] = False
        if excess @ angles < MIN_FLUX_SHARE * total:
            continue
        sun_radiance = remaining * (excess / np.maximum(light, 1e-300))[:, None]
        towards.append(middle)
        # On a surface that faces the sun; exact for all from which the whole sun is visible.
        irradiance.append((angles * (directions @ middle)) @ sun_radiance)
        remaining = np.maximum(remaining - sun_radiance, 0.0)
        light = luminance(remaining)
    order = np.argsort([-float(luminance(color)) for color in irradiance], kind="stable")
    directions, colors = (np.array([values[k] for k in order]).reshape(-1, 3) for values in (towards, irradiance))
    return directions, colors, remaining


def _excess_near(
    cells: Cells, light: NDArray[np.float64], towards: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The light near a direction that exceeds its surroundings: its mean direction (3,), its luminance (N,) by cell,
    and which cells (N,) were examined."""
    excess, in_sun = np.zeros_like(light), np.zeros(len(light), bool)
    for _ in range(3):  # from the brightest texel to the middle
        cosine = cells.directions @ towards
        in_sun = cosine > math.cos(SUN_RADIUS)
        ring = ~in_sun & (cosine > math.cos(RING_RADIUS))
        level = quantile(np.sort(light[ring]), RING_PERCENTILE / 100)
        excess = np.where(in_sun, np.maximum(light - level, 0.0), 0.0)
        mean = (excess * cells.angles) @ cells.directions
        length = float(np.linalg.norm(mean))
        if not length > 0:
            break
        towards = mean / length
    return towards, excess, in_sun


def _quadratic(cells: Cells) -> NDArray[np.float64]:
    """(3, 4, 4): the irradiance of the cells as a quadratic form. Up to order 2 the clamped cosine c of an angle is 1/4
    + c/2 + 5/32 (3 c^2 - 1), in Legendre's polynomials."""
    d, flux = cells.directions, cells.radiance * cells.angles[:, None]
    total, first = flux.sum(axis=0), flux.T @ d
    form = np.empty((3, 4, 4))
    for k in range(3):
        form[k, :3, :3] = 15 / 32 * (d.T @ (d * flux[:, k, None]))
        form[k, 3, :3] = form[k, :3, 3] = first[k] / 4
        form[k, 3, 3] = 3 / 32 * total[k]
    return form


# -- all lights in turn, as a module -----------------------------------------------------------------------------------

CHANNELS = ("red", "green", "blue")


def each_light(scene: Scene, environment: Ambient | None = None) -> Module:
    """The module of ``each_light_sample`` over a scene's lights and an environment's suns, in the table
    ``each_lights``, and of ``ambient_irradiance``.

    environment : in world space; None: dark. Each delta light, suns among them, is sampled in turn, and one point of
    all emissive triangles. Needs the module of `raystream.lighting.lights`, whose records it shares.
    """
    sky = environment or ambient(DARKNESS)
    delta_lights = [light for light in scene.lights if any(light.intensity)]
    for towards, irradiance in zip(sky.towards, sky.irradiance, strict=True):
        x, y, z = towards.tolist()
        delta_lights.append(Light("directional", "sun", direction=(-x, -y, -z), intensity=tuple(irradiance.tolist())))
    area_lights = light_list(emitters(scene), materials=len(scene.materials))
    nothing = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
    punctual = light_list(nothing, delta_lights).records[: len(delta_lights)].copy()
    if delta_lights:
        punctual["power"] = [light.intensity for light in delta_lights]  # not over a probability: all are sampled
    record = RECORDS[area_lights.textured, len(area_lights.keys) > 0 or any(light.motion for light in delta_lights)]
    records = np.zeros(len(punctual) + len(area_lights.records), record.dtype)
    for name in {"texture", "keys"}.intersection(record.dtype.names or ()):
        records[name] = -1
    for rows, source_records in (
        (records[: len(delta_lights)], punctual),
        (records[len(delta_lights) :], area_lights.records),
    ):
        for name in source_records.dtype.names or ():
            rows[name] = source_records[name]
    if "keys" in (punctual.dtype.names or ()):  # behind those of the triangles in the list of all lights
        moves = np.flatnonzero(punctual["keys"] >= 0)
        records["keys"][moves] += area_lights.keys.size
    counts = {"each_punctual": len(delta_lights), "each_levels": area_lights.levels}
    return Module(
        "each light",
        provides=("each_light_sample", "ambient_irradiance"),
        source="shading/light_each.glsl",
        memories=(Table("each_lights", record, records),),
        uniforms={**{name: ("int", value) for name, value in counts.items()}, **_ambient_uniforms(sky)},
        needs=("light_sample",),
        uses=(LIGHT_SAMPLE,),
    )


def turned(module: Module, environment: Ambient) -> Module:
    """The module of `each_light` for another rotation of the environment: with other suns and uniforms."""
    (table,) = module.memories
    assert isinstance(table, Table)
    records: Any = table.data.copy()
    last = int(module.uniforms["each_punctual"][1])
    records["edge1"][last - len(environment.towards) : last] = environment.towards
    return replace(
        module,
        memories=(Table(table.name, table.record, records),),
        uniforms={**module.uniforms, **_ambient_uniforms(environment)},
    )


def _ambient_uniforms(environment: Ambient) -> dict[str, tuple[str, Any]]:
    """The uniforms of the ambient light."""
    forms = zip(CHANNELS, environment.quadratic, strict=True)
    # Symmetric: rows are columns.
    return {f"each_ambient_{channel}": ("mat4", tuple(map(float, form.ravel()))) for channel, form in forms}
