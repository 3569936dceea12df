"""The backdrop: the picture's background, where camera rays leave the scene, and a floor before it seen by its shadows
and mirror images alone. Neither lights anything: they act on camera rays, and on those that the floor mirrors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.lighting.lights import LightList
from raystream.options.values import blur_degrees
from raystream.scene.environment import ConstantEnvironment, Environment, ImageEnvironment, cached_by_pixels
from raystream.scene.light import luminance
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

# -- a picture of all directions out of focus --------------------------------------------------------------------------

MIN_ROWS, MAX_ROWS = 16, 512
ROWS_PER_DEVIATION = 2.0  # across the standard deviation, of a picture as large as it has to be
EULER_STEPS = 16


def blurred(image: ImageEnvironment, degrees: float) -> NDArray[np.float32]:
    """(H, 2 H, 3): an image's pixels at rotation 0, blurred by a Gaussian of this standard deviation in degrees along
    every great circle; its mean over the sphere stays."""
    image = image.original or image
    return _blur(image, degrees) if image.pixels.flags.writeable else _cached_blur(image, degrees)


def _blur(image: ImageEnvironment, degrees: float) -> NDArray[np.float32]:
    rows = math.ceil(180.0 * ROWS_PER_DEVIATION / degrees)
    rows = min(max(rows, MIN_ROWS), MAX_ROWS, max(image.pixels.shape[0], MIN_ROWS))
    return diffused(_reduced(image.pixels, rows), math.radians(degrees)).astype(np.float32)


_cached_blur = lru_cache(maxsize=1)(_blur)


def _reduced(pixels: NDArray[np.float32], rows: int) -> NDArray[np.float64]:
    """(rows, 2 rows, 3): means of the pixels over its cells, by solid angle."""
    height = pixels.shape[0]
    edges = np.cos(np.linspace(0.0, math.pi, height + 1))
    weights = (edges[:-1] - edges[1:])[:, None]
    wide = _weighted_means(pixels.astype(np.float64).swapaxes(0, 1), np.ones((pixels.shape[1], 1)), 2 * rows).swapaxes(
        0, 1
    )
    return _weighted_means(wide, weights, rows)


def _weighted_means(values: NDArray[np.float64], weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """(count, W, 3): weighted means of values (N, W, 3) over equal parts of the first axis, interpolated at their
    edges."""
    size = len(values)
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values * weights[..., None], axis=0)])
    weight_sums = np.concatenate([[0.0], np.cumsum(weights[:, 0])])
    position = np.linspace(0.0, size, count + 1)
    low = np.minimum(position.astype(int), size - 1)
    fraction = (position - low)[:, None, None]
    interpolated = sums[low] * (1 - fraction) + sums[low + 1] * fraction
    mass = weight_sums[low] * (1 - fraction[:, 0, 0]) + weight_sums[low + 1] * fraction[:, 0, 0]
    return np.diff(interpolated, axis=0) / np.diff(mass)[:, None, None]


def diffused(pixels: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """An equirectangular picture (H, W, 3), blurred by the heat equation on the sphere until its kernel has this
    standard deviation along a great circle, in radians. Finite volumes in latitude, Fourier modes in longitude, and
    implicit Euler steps, so that nothing becomes negative and no heat is lost; the poles are not special."""
    height, width = pixels.shape[:2]
    modes = np.fft.rfft(pixels, axis=1)  # (H, M, 3)
    step = math.pi / height
    edges = np.linspace(0.0, math.pi, height + 1)
    area = np.cos(edges[:-1]) - np.cos(edges[1:])  # of a row per radian of longitude
    edge_conductance = np.sin(edges) / step  # of the edges between rows; nothing flows through the poles
    edge_conductance[0] = edge_conductance[-1] = 0.0
    wave_numbers = 2 * np.sin(math.pi * np.arange(modes.shape[1]) / width) / (2 * math.pi / width)
    row_conductance = step / np.sin((edges[:-1] + edges[1:]) / 2)
    time = deviation**2 / 2 / EULER_STEPS
    lower, upper = -time * edge_conductance[:-1], -time * edge_conductance[1:]
    diagonal = (area - lower - upper)[:, None] + time * row_conductance[:, None] * wave_numbers**2
    for _ in range(EULER_STEPS):
        modes = _solve_tridiagonal(lower, diagonal, upper, modes * area[:, None, None])
    return np.maximum(np.fft.irfft(modes, width, axis=1), 0.0)


def _solve_tridiagonal(
    lower: NDArray[np.float64], diagonal: NDArray[np.float64], upper: NDArray[np.float64], right: NDArray
) -> NDArray:
    """Solutions (H, M, 3) of tridiagonal systems along the first axis (L. H. Thomas, 1949); diagonal : (H, M)."""
    count, solution = len(diagonal), np.empty_like(right)
    factors = np.empty_like(diagonal)
    pivot = diagonal[0]
    solution[0] = right[0] / pivot[:, None]
    for row in range(1, count):
        factors[row] = upper[row - 1] / pivot
        pivot = diagonal[row] - lower[row] * factors[row]
        solution[row] = (right[row] - lower[row] * solution[row - 1]) / pivot[:, None]
    for row in range(count - 2, -1, -1):
        solution[row] -= factors[row + 1][:, None] * solution[row + 1]
    return solution


# -- the environment's light on a level floor, as a module: directions in proportion to radiance times cosine ----------
# All points of a floor without an end see the same environment at the same angles, so that one table serves them
# all, and the share of these directions in which nothing is in the way is the floor's ratio of shadowed to
# unshadowed light.

SHARE = Record("FloorShare", Field("up_to", "float", about="share of the light in the entries up to this one"))


class FloorShares(NamedTuple):
    """The light on a floor. table : cumulative shares of the rows of an image's upper half, then of the texels of each
    row. size : (columns, rows) of that half. irradiance : luminance of the floor's irradiance, W/m^2."""

    table: Table
    size: tuple[int, int]
    irradiance: float


def floor_light(environment: Environment) -> Module:
    """The module that provides ``floor_light``; its uniform ``floor_irradiance`` is 0 where no light comes from
    above."""
    provides = ("floor_light",)
    if isinstance(environment, ConstantEnvironment):
        arriving = math.pi * float(luminance(environment.radiance))
        uniforms = {"floor_irradiance": ("float", arriving)}
        return Module("floor in even light", provides, "shading/floor_light_constant.glsl", uniforms=uniforms)
    floor = floor_shares(environment)
    return Module(
        "floor in an image's light",
        provides,
        "shading/floor_light_image.glsl",
        (floor.table,),
        {
            "floor_irradiance": ("float", floor.irradiance),
            "floor_texels": ("ivec2", floor.size),
            "floor_rows": ("int", environment.pixels.shape[0]),
            "floor_turn": ("vec2", tuple(map(float, environment.turn))),
        },
    )


@cached_by_pixels
def floor_shares(image: ImageEnvironment) -> FloorShares:
    """A floor's light from each texel of an image's upper half: radiance times cosine, integrated over the texel."""
    height, width = image.pixels.shape[:2]
    rows = (height + 1) // 2
    edges = np.maximum(np.cos(np.arange(rows + 1) * (math.pi / height)), 0.0)
    projected = (edges[:-1] ** 2 - edges[1:] ** 2) / 2 * (2 * math.pi / width)  # solid angle times cosine
    light = (image.cell_flux() / image.solid_angles()[:, None])[:rows] * projected[:, None]
    row_light = light.sum(axis=1)
    shares = [_cumulative(row_light[None]), _cumulative(light)]
    entries = np.zeros(rows + rows * width, SHARE.dtype)
    entries["up_to"] = np.concatenate([values.ravel() for values in shares])
    return FloorShares(Table("floor_shares", SHARE, entries), (width, rows), float(row_light.sum()))


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Cumulative shares along the last axis, exactly 1 from the last weight above 0 on; even ones if all weights are
    0."""
    total = weights.sum(axis=-1, keepdims=True)
    sums = np.cumsum(np.where(total > 0, weights, 1.0), axis=-1)
    return (sums / sums[..., -1:]).astype(np.float32)


# -- the backdrop ------------------------------------------------------------------------------------------------------

Tone = tuple[float, float, float]

BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
# The gradient, linear sRGB: light below, so that shadows on the floor are visible, and darker upwards.
GRADIENT_LOW, GRADIENT_HIGH = (0.75, 0.76, 0.78), (0.12, 0.13, 0.15)
# Light samples of a floor's point, beside the environment; and where only textures of surfaces emit, whose light is
# little: one leaves a bias of 1e-4 of white, as 32 do, and each takes a traversal of the light tree.
FLOOR_SAMPLES, FLOOR_SAMPLES_TEXTURED = 16, 1
MIRROR_REACH = 0.6  # of the model's height: mirror images fade out up to it
FLOOR_GAP = 1e-4  # of the model's largest edge, between its lowest point and the floor

ROTATION_UNIFORMS = "background_turn", "floor_turn"  # uniforms of an image's rotation

TEXEL = Record("BackgroundTexel", Field("radiance", "vec3", "W / (m^2 sr), linear sRGB"))


@dataclass(frozen=True)
class Floor:
    """A floor at the ``height`` y that mirrors objects less than ``reach`` above it, scene units."""

    height: float
    reach: float


@dataclass(frozen=True)
class Backdrop:
    """The background for camera rays that leave the scene.

    name  : as the option has it. tones : radiance seen straight down and straight up; None: the environment, blurred
    by ``degrees``. transparent : pictures have an alpha channel. floor : before it, if there is one.
    """

    name: str
    tones: tuple[Tone, Tone] | None = None
    degrees: float = 0.0
    transparent: bool = False
    floor: Floor | None = None

    @property
    def color(self) -> Tone | None:
        """The background's colour where it has a single one, else None."""
        return self.tones[0] if self.tones is not None and self.tones[0] == self.tones[1] else None

    @property
    def kind(self) -> str:
        """Its kind, one of `raystream.programs.first_hits.BACKDROPS`."""
        return "plain" if self.floor is None else "floor"

    @property
    def text(self) -> str:
        """A text that is different for backdrops of different pictures."""
        return self.name if self.floor is None else f"{self.name}, floor at {self.floor.height:g}"


def floor_under(bounds: NDArray[np.float64]) -> Floor | None:
    """The floor under a model of these bounds, (2, 3), scene units; None under one without extent."""
    edges = bounds[1] - bounds[0]
    max_edge = float(edges.max())
    if not max_edge > 0:
        return None
    height = float(edges[1]) if edges[1] > 0 else max_edge
    return Floor(float(bounds[0, 1]) - FLOOR_GAP * max_edge, MIRROR_REACH * height)


def backdrop_of(background: Any, floor: Floor | None, tone: float = 1.0) -> Backdrop | None:
    """The backdrop by a checked value of the option ``background``; None where the environment itself is seen, and
    nothing before it. tone : factor on the gradient."""
    if background == "transparent":
        return Backdrop("transparent", (BLACK, BLACK), transparent=True, floor=floor)
    if background == "gradient":
        name = "gradient" if tone == 1 else f"gradient times {tone:g}"
        return Backdrop(name, (_scaled(GRADIENT_LOW, tone), _scaled(GRADIENT_HIGH, tone)), floor=floor)
    if isinstance(background, tuple):
        return Backdrop(",".join(f"{value:g}" for value in background), (background, background), floor=floor)
    if degrees := blur_degrees(background):
        return Backdrop(background, degrees=degrees, floor=floor)
    return None if floor is None else Backdrop("environment", floor=floor)


def _scaled(tone: Tone, factor: float) -> Tone:
    red, green, blue = tone
    return factor * red, factor * green, factor * blue


def backdrop_modules(backdrop: Backdrop, environment: Environment, lights: LightList) -> list[Module]:
    """The modules of ``background_radiance``, and for a floor of ``floor_meets`` and ``floor_light``."""
    modules = [_background(backdrop, environment)]
    if backdrop.floor is not None:
        modules += [
            floor_light(environment),
            Module(
                "shadow floor",
                provides=("floor_meets", "floor_mirrors"),
                source="shading/shadow_floor.glsl",
                uniforms={
                    "floor_height": ("float", backdrop.floor.height),
                    "floor_reach": ("float", backdrop.floor.reach),
                    "floor_solid": ("int", 1),
                },
                features=frozenset({"FLOOR"}),
            ),
            _floor_points(lights),
        ]
    return modules


def _floor_points(lights: LightList) -> Module:
    provides = ("choose_floor_point",)
    if not lights.count:
        return Module("no floor points", provides, "shading/floor_points_none.glsl")
    return Module(
        "floor points",
        provides,
        "shading/floor_points.glsl",
        constants={"FLOOR_POINTS": FLOOR_SAMPLES if lights.lit else FLOOR_SAMPLES_TEXTURED},
        needs=("light_sample", "sample_2d", "surface_dimension"),
    )


def rotated_modules(modules: Sequence[Module], environment: ImageEnvironment) -> list[Module]:
    """The modules of `backdrop_modules` for another rotation of the image, with the same tables."""
    rotation = "vec2", tuple(map(float, environment.turn))
    uniforms = (
        {name: rotation if name in ROTATION_UNIFORMS else value for name, value in module.uniforms.items()}
        for module in modules
    )
    return [replace(module, uniforms=values) for module, values in zip(modules, uniforms, strict=True)]


def _background(backdrop: Backdrop, environment: Environment) -> Module:
    provides, features, tones = ("background_radiance",), frozenset({"BACKDROP"}), backdrop.tones
    if tones is None and backdrop.degrees and isinstance(environment, ConstantEnvironment):
        tones = environment.radiance, environment.radiance
    if tones is not None:
        uniforms = tones_uniforms(tones)
        return Module("plain background", provides, "shading/plain_background.glsl", (), uniforms, features=features)
    if not backdrop.degrees or isinstance(environment, ConstantEnvironment):
        source, needs = "shading/environment_background.glsl", ("environment_radiance",)
        return Module("environment background", provides, source, needs=needs, features=features)
    pixels = blurred(environment, backdrop.degrees)
    texels = np.zeros(pixels.shape[0] * pixels.shape[1], TEXEL.dtype)
    texels["radiance"] = pixels.reshape(-1, 3)
    height, width = pixels.shape[:2]
    uniforms = {
        "background_size": ("ivec2", (width, height)),
        "background_turn": ("vec2", tuple(map(float, environment.turn))),
    }
    table = Table("background_texels", TEXEL, texels)
    source = "shading/blurred_background.glsl"
    return Module("blurred background", provides, source, (table,), uniforms, features=features)


def tones_uniforms(tones: tuple[Tone, Tone]) -> dict[str, tuple[str, Any]]:
    """The uniforms of a background of two tones."""
    low, high = (tuple(map(float, tone)) for tone in tones)
    return {"background_low": ("vec3", low), "background_high": ("vec3", high)}
