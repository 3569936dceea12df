"""Lights of programs of one sample: each in turn, an environment as a few suns, and ambient light from all the rest.

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

MOST_SUNS = 4
SUN_RADIUS = math.radians(10.0)  # of the largest sun; what is wider casts shadows too soft for a directional light
RING_RADIUS = math.radians(14.0)  # from a sun's edge to here its surroundings tell what it exceeds
RING_LEVEL = 97  # percentile of the ring's radiance: the end of a strip of light fills more of it, and is no sun
LEAST_PEAK = 8.0  # of a sun's radiance over the mean
LEAST_SHARE = 1 / 50  # of the environment's flux: less lights a surface by a twelfth of the ambient light at most
MOST_PEAKS = 16  # looked at
ROWS = 128  # of the map that both are found on, twice as many columns; a sun's place is a mean, much finer


@dataclass(frozen=True, eq=False)
class Ambient:
    """Suns and ambient light of an environment, in its own space or, `turned`, in world space.

    towards    : (S, 3) float64, unit directions to the suns, the brightest first; S <= `MOST_SUNS`.
    irradiance : (S, 3) float64, linear sRGB, W/m^2, of a surface that faces each.
    quadratic  : (3, 4, 4) float64, symmetric, for red, green and blue: the ambient irradiance of a surface with unit
    normal n is (n, 1) Q (n, 1), where that is positive.
    """

    towards: NDArray[np.float64]
    irradiance: NDArray[np.float64]
    quadratic: NDArray[np.float64]

    def turned(self, rotation: tuple[float, float]) -> Ambient:
        """The same rotated about +Y by an angle of that (cosine, sine), as `ImageEnvironment.turn` has it."""
        c, s = rotation
        world = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])  # from the environment's space
        return replace(
            self,
            towards=self.towards @ world[:3, :3].T,
            quadratic=np.einsum("ai,kij,bj->kab", world, self.quadratic, world),
        )


class Cells(NamedTuple):
    """Cells of the sphere, N of them, in the environment's own space: unit directions (N, 3) of their centres, solid
    angles (N,) in sr, mean radiances (N, 3)."""

    directions: NDArray[np.float64]
    angles: NDArray[np.float64]
    radiance: NDArray[np.float64]


def ambient(environment: Environment) -> Ambient:
    """Suns and ambient light, in the environment's own space: at a rotation of 0."""
    if isinstance(environment, ConstantEnvironment):
        quadratic = np.zeros((3, 4, 4))
        quadratic[:, 3, 3] = math.pi * np.asarray(environment.radiance, np.float64)
        return Ambient(np.zeros((0, 3)), np.zeros((0, 3)), quadratic)
    return _of_image(environment)


@cached_by_pixels
def _of_image(image: ImageEnvironment) -> Ambient:
    cells = cells_of(image)
    towards, irradiance, rest = _suns(cells)
    return Ambient(towards, irradiance, _quadratic(cells._replace(radiance=rest)))


def in_world(light: Ambient, environment: Environment) -> Ambient:
    """The result of `ambient` at the environment's rotation."""
    return light.turned(environment.turn) if isinstance(environment, ImageEnvironment) else light


def cells_of(image: ImageEnvironment) -> Cells:
    """A map of about `ROWS` rows: the means of a finer image's texels, or a coarser one's bilinear interpolation."""
    height, width = image.pixels.shape[:2]
    rows, columns = _edges(height, ROWS), _edges(width, 2 * ROWS)
    values = _resampled(image.pixels, rows, 0, image.solid_angles())
    values = _resampled(values, columns, 1, np.ones(width))
    heights = np.cos(rows * (math.pi / height))
    around = columns * (2 * math.pi / width) - math.pi
    angles = np.outer(heights[:-1] - heights[1:], np.diff(around))
    polar = (rows[:-1] + rows[1:]) * (math.pi / 2 / height)
    middle = (around[:-1] + around[1:]) / 2
    directions = np.empty((len(polar), len(middle), 3))
    directions[..., 0] = np.outer(np.sin(polar), np.cos(middle))
    directions[..., 1] = np.cos(polar)[:, None]
    directions[..., 2] = np.outer(np.sin(polar), np.sin(middle))
    return Cells(directions.reshape(-1, 3), angles.ravel(), values.reshape(-1, 3))


def _edges(texels: int, most: int) -> NDArray[np.float64]:
    """The edges of cells, in texels: of at most ``most`` that are whole texels, or of more than half as many parts."""
    if texels > most:
        return np.round(np.linspace(0, texels, most + 1))
    parts = 1 if 2 * texels > most else most // texels
    return np.arange(texels * parts + 1) / parts


def _resampled(values: NDArray, edges: NDArray[np.float64], axis: int, weights: NDArray[np.float64]) -> NDArray:
    """Values (H, W, 3) in cells along one axis: weighted means of texels, or linear between them where cells are
    smaller, repeating across and clamped at the poles."""
    count = len(weights)
    shape = [1, 1, 1]
    shape[axis] = -1
    if len(edges) - 1 < count:
        first = edges.astype(np.intp)
        sums = np.add.reduceat(weights, first[:-1])
        if axis == 1:  # where all weights are 1
            return np.add.reduceat(values, first[:-1], axis=1) / sums.reshape(shape)
        # No copy of a large picture in float64: products in its own type, and sums of few rows each.
        flat, light = values.reshape(count, -1), weights.astype(values.dtype)
        means = np.stack([light[low:high] @ flat[low:high] for low, high in pairwise(first)])
        return (means / sums[:, None]).reshape(-1, *values.shape[1:])
    if len(edges) - 1 == count:
        return values.astype(np.float64)
    place = (edges[:-1] + edges[1:]) / 2 - 0.5
    low = np.floor(place).astype(np.intp)
    fraction = (place - low).reshape(shape)
    pair = [low % count, (low + 1) % count] if axis == 1 else [low.clip(0), (low + 1).clip(max=count - 1)]
    one, other = (np.take(values, at, axis=axis).astype(np.float64) for at in pair)
    return one * (1 - fraction) + other * fraction


def _suns(cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Directions (S, 3) and irradiances (S, 3) of the suns, and the radiance (N, 3) of the cells without them."""
    directions, angles, remaining = cells.directions, cells.angles, cells.radiance.copy()
    light = luminance(remaining)
    total = float(light @ angles)
    unseen = np.ones(len(light), bool)
    towards: list[NDArray[np.float64]] = []
    irradiance: list[NDArray[np.float64]] = []
    for _ in range(MOST_PEAKS):
        peak = int(np.argmax(np.where(unseen, light, 0.0)))
        if len(towards) == MOST_SUNS or not light[peak] * 4 * math.pi > LEAST_PEAK * total:
            break
        middle, excess, cap = _excess(cells, light, directions[peak])
        unseen &= ~cap
        unseen[peak] = False
        if excess @ angles < LEAST_SHARE * total:
            continue
        sun_radiance = remaining * (excess / np.maximum(light, 1e-300))[:, None]
        towards.append(middle)
        # Of each direction its share of a facing surface's irradiance: right for all that has the whole sun in view.
        irradiance.append((angles * (directions @ middle)) @ sun_radiance)
        remaining = np.maximum(remaining - sun_radiance, 0.0)
        light = luminance(remaining)
    order = np.argsort([-float(luminance(color)) for color in irradiance], kind="stable")
    at, color = (np.array([part[k] for k in order]).reshape(-1, 3) for part in (towards, irradiance))
    return at, color, remaining


def _excess(
    cells: Cells, light: NDArray[np.float64], towards: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The excess over the surroundings near a direction: its mean direction (3,), its luminance (N,), and the cells
    (N,) examined."""
    excess, cap = np.zeros_like(light), np.zeros(len(light), bool)
    for _ in range(3):  # from the brightest texel to the middle
        cosine = cells.directions @ towards
        cap = cosine > math.cos(SUN_RADIUS)
        ring = ~cap & (cosine > math.cos(RING_RADIUS))
        level = quantile(np.sort(light[ring]), RING_LEVEL / 100)
        excess = np.where(cap, np.maximum(light - level, 0.0), 0.0)
        mean = (excess * cells.angles) @ cells.directions
        length = float(np.linalg.norm(mean))
        if not length > 0:
            break
        towards = mean / length
    return towards, excess, cap


def _quadratic(cells: Cells) -> NDArray[np.float64]:
    """(3, 4, 4): the irradiance of the cells as a quadratic form.

    Up to order 2 the clamped cosine c of an angle is 1/4 + c/2 + 5/32 (3 c^2 - 1), in Legendre's polynomials.
    """
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
    """``each_light_sample`` over a scene's lights and an environment's suns, with the table ``each_lights``, and
    ``ambient_irradiance``.

    environment : in world space; None: dark. Unlike ``light_sample``, which chooses one of all by power, it is asked
    for each in turn: every light without extent, suns among them, and one point of all triangles that shine. It asks
    for the module of `raystream.lighting.lights`, whose records it shares.
    """
    around = environment or ambient(DARKNESS)
    lit = [light for light in scene.lights if any(light.intensity)]
    for towards, irradiance in zip(around.towards, around.irradiance, strict=True):
        x, y, z = towards.tolist()
        lit.append(Light("directional", "sun", direction=(-x, -y, -z), intensity=tuple(irradiance.tolist())))
    near = light_list(emitters(scene), materials=len(scene.materials))
    nothing = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
    punctual = light_list(nothing, lit).records[: len(lit)].copy()
    if lit:
        punctual["power"] = [light.intensity for light in lit]  # not over a probability: each is always asked
    record = RECORDS[near.textured, len(near.keys) > 0 or any(light.motion for light in lit)]
    records = np.zeros(len(punctual) + len(near.records), record.dtype)
    for name in {"texture", "keys"}.intersection(record.dtype.names or ()):
        records[name] = -1
    for rows, source_records in ((records[: len(lit)], punctual), (records[len(lit) :], near.records)):
        for name in source_records.dtype.names or ():
            rows[name] = source_records[name]
    if "keys" in (punctual.dtype.names or ()):  # behind those of the triangles in the list of all lights
        moves = np.flatnonzero(punctual["keys"] >= 0)
        records["keys"][moves] += near.keys.size
    counts = {"each_punctual": len(lit), "each_levels": near.levels}
    return Module(
        "each light",
        provides=("each_light_sample", "ambient_irradiance"),
        source="shading/light_each.glsl",
        memories=(Table("each_lights", record, records),),
        uniforms={**{name: ("int", value) for name, value in counts.items()}, **_forms(around)},
        needs=("light_sample",),
        uses=(LIGHT_SAMPLE,),
    )


def turned(module: Module, environment: Ambient) -> Module:
    """The module of `each_light` at another rotation of the environment: only its suns and uniforms are other ones."""
    (table,) = module.memories
    assert isinstance(table, Table)
    records: Any = table.data.copy()
    last = int(module.uniforms["each_punctual"][1])
    records["edge1"][last - len(environment.towards) : last] = environment.towards
    return replace(
        module,
        memories=(Table(table.name, table.record, records),),
        uniforms={**module.uniforms, **_forms(environment)},
    )


def _forms(environment: Ambient) -> dict[str, tuple[str, Any]]:
    """The uniforms of the ambient light."""
    forms = zip(CHANNELS, environment.quadratic, strict=True)
    # Symmetric: rows are columns.
    return {f"each_ambient_{channel}": ("mat4", tuple(map(float, form.ravel()))) for channel, form in forms}
