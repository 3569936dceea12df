"""Environment lighting as plain data: constant radiance, or a picture of all directions; and the default ones.

Radiance is linear sRGB, W/(m^2 sr), from infinitely far. World space is right-handed, +Y up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.light import BRIGHTEST, Vector, luminance

Result = TypeVar("Result")

# Limit of an environment's texels: their addresses are floats.
MOST_TEXELS = 1 << 24


@declared
@dataclass(frozen=True)
class ConstantEnvironment:
    """Constant radiance. Raises ViewerError for numbers that are negative, huge or not finite."""

    radiance: Vector = (0.0, 0.0, 0.0)
    name: str = "constant"

    def __post_init__(self) -> None:
        if not all(math.isfinite(c) and 0 <= c <= BRIGHTEST for c in self.radiance):
            text = ",".join(f"{c:g}" for c in self.radiance)
            raise ViewerError("environment", f"radiance {text}", f"numbers from 0 to {BRIGHTEST:g}, such as 1,1,1")

    @property
    def flux(self) -> float:
        """Luminance integrated over all directions, W/m^2."""
        return 4 * math.pi * float(luminance(self.radiance))


@declared
@dataclass(frozen=True, eq=False)
class ImageEnvironment:
    """An equirectangular picture (longitude across, latitude down).

    pixels   : (H, W, 3) float32. Row 0 is around +Y. The middle column faces +X, columns to its right turn towards +Z,
    and the left edge is -X: ``u = 1/2 + atan2(z, x) / 2 pi``, ``v = acos(y) / pi``.
    rotation : degrees about +Y, counter-clockwise from above: a feature at +X for 0 is at -Z for 90.

    Raises ViewerError for no or too many texels, and, with its place, for one that is negative, huge or not finite.
    """

    pixels: NDArray[np.float32]
    name: str = "image"
    rotation: float = 0.0
    original: ImageEnvironment | None = field(default=None, init=False, repr=False)  # the source of a rotated copy

    def __post_init__(self) -> None:
        where, shape = f"environment {self.name}", np.shape(self.pixels)
        if len(shape) != 3 or shape[2] != 3 or 0 in shape:
            raise ViewerError(where, f"pixels have shape {shape}, expected (H, W, 3)")
        if shape[0] * shape[1] > MOST_TEXELS:
            raise ViewerError(where, f"{shape[1]} x {shape[0]} pixels; {MOST_TEXELS:,} can be addressed", "reduce it")
        check_pixels(self.pixels, where)
        if not math.isfinite(self.rotation):
            raise ViewerError(where, f"rotation of {self.rotation} degrees", "give a finite number")

    def rotated(self, degrees: float) -> ImageEnvironment:
        """The same picture, at another rotation, in degrees."""
        other = replace(self, rotation=degrees)
        object.__setattr__(other, "original", self.original or self)
        return other

    @property
    def turn(self) -> tuple[float, float]:
        """(cosine, sine) of the rotation; exact at multiples of 90 degrees."""
        quarters, remainder = divmod(self.rotation % 360.0, 90.0)
        c, s = math.cos(math.radians(remainder)), math.sin(math.radians(remainder))
        return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarters) % 4]

    @cached_property
    def flux(self) -> float:
        """Luminance integrated over all directions, W/m^2; approximate, accurate for thin rows."""
        if self.original is not None:
            return self.original.flux
        return float(self.cell_flux().sum())

    def solid_angles(self) -> NDArray[np.float64]:
        """(H,): solid angle of a texel of each row, sr; 4 pi over all texels."""
        height, width = self.pixels.shape[:2]
        edges = np.cos(np.linspace(0.0, math.pi, height + 1))
        return (edges[:-1] - edges[1:]) * (2 * math.pi / width)

    def cell_flux(self) -> NDArray[np.float64]:
        """(H, W): each texel's solid angle times its mean luminance.

        The mean is of the bilinear interpolation over the texel, weights 1/8, 6/8, 1/8 of three neighbours along each
        axis: positive wherever any part of the texel is.
        """
        light = luminance(self.pixels)
        light = (np.roll(light, 1, axis=1) + 6 * light + np.roll(light, -1, axis=1)) / 8
        padded = np.pad(light, ((1, 1), (0, 0)), mode="edge")
        return (padded[:-2] + 6 * light + padded[2:]) / 8 * self.solid_angles()[:, None]

    def radiance(self, directions: NDArray) -> NDArray[np.float64]:
        """(N, 3) from unit directions (N, 3): bilinear, repeating in longitude and clamped at the poles."""
        height, width = self.pixels.shape[:2]
        c, s = self.turn
        x, y, z = np.asarray(directions, np.float64).T
        x, z = c * x - s * z, s * x + c * z
        horizontal = np.hypot(x, z)
        u = (np.where(horizontal > 0, np.arctan2(z, x), 0.0) / (2 * math.pi) + 0.5) * width - 0.5
        v = np.arctan2(horizontal, y) / math.pi * height - 0.5
        column, row = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
        fx, fy = (u - column)[:, None], (v - row)[:, None]
        rows = np.clip([row, row + 1], 0, height - 1)
        columns = np.array([column, column + 1]) % width
        pixels = self.pixels.astype(np.float64) if self.pixels.size < 1 << 20 else self.pixels
        top = pixels[rows[0], columns[0]] * (1 - fx) + pixels[rows[0], columns[1]] * fx
        bottom = pixels[rows[1], columns[0]] * (1 - fx) + pixels[rows[1], columns[1]] * fx
        return top * (1 - fy) + bottom * fy


Environment = ConstantEnvironment | ImageEnvironment


def cached_by_pixels(make: Callable[[ImageEnvironment], Result]) -> Callable[[ImageEnvironment], Result]:
    """Cache the last result of ``make``, a function of an image's pixels alone, for the same image and its rotations.
    Only results for read-only pixels are cached, such as the default sky's, shared by successive renderers."""
    cached = lru_cache(maxsize=1)(make)

    def cached_or_computed(image: ImageEnvironment) -> Result:
        image = image.original or image
        return make(image) if image.pixels.flags.writeable else cached(image)

    return cached_or_computed


DARKNESS = ConstantEnvironment(name="none")


def check_pixels(pixels: NDArray, where: str, first_row: int = 0) -> None:
    """Raises ViewerError with the place of the first pixel that is negative, too bright or not finite; the first row of
    ``pixels`` (H, W, 3) is the picture's row ``first``."""
    with np.errstate(invalid="ignore"):
        if pixels.min() >= 0 and pixels.max() <= BRIGHTEST:  # neither, where one is not a number
            return
        is_valid = (pixels >= 0) & (pixels <= BRIGHTEST)
    row, column = np.argwhere(~is_valid.all(axis=-1))[0]
    value = pixels[row, column]
    row += first_row
    what = "is not a number" if np.isnan(value).any() else "is negative" if (value < 0).any() else "is too bright"
    text = ", ".join(f"{component:g}" for component in value)
    raise ViewerError(
        where,
        f"pixel ({column}, {row}) {what}: {text}",
        f"column and row from the upper left; radiance is 0 to {BRIGHTEST:g}; mend the picture",
    )


# -- default environments for scenes without lights: a clear sky over light ground, and a photo studio -----------------
# The sky is the model of L. Hosek and A. Wilkie, "An Analytic Model for Full Spectral Sky-Dome Radiance" (2012), in
# its linear sRGB form; ``assets/sky.npz`` has its coefficients. The sun's light is that of a black body of 5778 K
# through the atmosphere of A. J. Preetham et al., "A Practical Analytic Model for Daylight" (1999), appendix A.2,
# seen by the colour matching functions of C. Wyman et al., "Simple Analytic Approximations to the CIE XYZ Color
# Matching Functions" (2013).

Float = NDArray[np.float64]

# The sun, in degrees: elevation, and azimuth about +Y from +Z towards +X: from the right and a little behind of a
# camera that looks along -Z.
SUN = (40.0, 60.0)
MAP_WIDTH = 512  # texels of a map around the horizon
TURBIDITY = 2.5  # of a clear day
ALBEDO = 0.5  # of the ground, grey
# Photometrically weighted W/(m^2 sr) to radiance of the maps: white paper has a luminance of about 1 under the default
# sun.
SCALE = 1 / 33.0
# The sun is drawn soft and ten times its size: for soft shadows, and little noise through glass and mirrors.
_SUN_RADIUS = math.radians(5.0)
_HAZE_DEPTH = 0.06  # sine of the elevation below which the ground fades into the horizon
_COVE_TOP = 0.3  # sine of the elevation where a studio's cove ends
_WAVELENGTHS = np.arange(380.0, 781.0, 5.0)  # nm


@lru_cache(maxsize=2)
def sky(
    width: int = MAP_WIDTH, sun: tuple[float, float] = SUN, disc: bool = True, level: float = 1.0
) -> ImageEnvironment:
    """A clear sky with its sun, over level ground lit by both.

    sun : elevation, 0 to 90 degrees, and azimuth, degrees about +Y from +Z towards +X. disc : the sun is in it, and not
    among the lights of a scene. level : factor on all of its light. The pixels are read-only: callers share them until
    another sky is made.
    """
    elevation, azimuth = (math.radians(angle) for angle in sun)
    up, directions, angles = _texel_grid(width)
    horizontal = np.cos(elevation)
    to_sun = np.array([horizontal * math.sin(azimuth), math.sin(elevation), horizontal * math.cos(azimuth)])
    is_sky = up > 0
    pixels = np.zeros(directions.shape)
    rows = np.flatnonzero(is_sky)
    sun_angle = np.arccos(np.clip(directions[rows] @ to_sun, -1.0, 1.0))
    pixels[rows] = _sky_radiance(max(elevation, 0.0), up[rows], sun_angle)
    horizon = pixels[rows[-1]].copy()
    # As wide as texels can resolve, even in a coarse map.
    radius = max(_SUN_RADIUS, 4 * math.pi / width)
    sun_shape = np.zeros(directions.shape[:2])
    sun_shape[rows] = np.clip(1.0 - (sun_angle / radius) ** 2, 0.0, 1.0) ** 2
    sun_shape /= max((sun_shape * angles[:, None]).sum(), 1e-30)
    pixels += sun_shape[..., None] * sunlight(elevation)
    cosine = np.maximum(up, 0.0) * angles
    ground = ALBEDO / math.pi * float(luminance(np.einsum("hwc,h->c", pixels, cosine)))
    haze = np.clip(1.0 + up / _HAZE_DEPTH, 0.0, 1.0)[:, None, None]
    haze = haze * haze * (3 - 2 * haze)
    ground_radiance = ground * (1 - haze) + horizon * haze
    if not disc:
        pixels -= sun_shape[..., None] * sunlight(elevation)
    pixels = np.where(is_sky[:, None, None], pixels, ground_radiance)
    return _read_only_image(np.maximum(pixels, 0.0) * (SCALE * level), "sky")


@lru_cache(maxsize=2)
def studio(width: int = MAP_WIDTH // 2, cove: bool = False, level: float = 1.0) -> ImageEnvironment:
    """A photo studio, all neutral, as the default view (`raystream.scene.geometry.framing`) sees it: a dim room, a key
    light from the upper left, a fill light from the right, which give surfaces that face them light of 4 to 1, and two
    rim lights from behind. Its pixels are read-only.

    cove  : an infinity cove, for an object on a ground plane of `ALBEDO`: below the horizon the radiance is that of the
    plane, which so has no visible edge, and above it turns into the room's.
    level : factor on all of its light; at 1 level ground has `IRRADIANCE`.
    """
    up, directions, angles = _texel_grid(width)
    room = FLOOR + (CEILING - FLOOR) * np.clip(0.5 + up / 1.2, 0.0, 1.0)
    light = np.repeat(room[:, None], width, axis=1)
    for (elevation, azimuth), half_width, half_height, strength in _SOFTBOXES:
        light += strength * _softbox_mask(directions, elevation, azimuth, half_width, half_height)
    cosine = np.maximum(up, 0.0) * angles
    if cove:
        below_horizon = np.clip(1.0 - up / _COVE_TOP, 0.0, 1.0)[:, None]
        blend = below_horizon * below_horizon * (3 - 2 * below_horizon)
        light -= blend * room[:, None]
        # The plane's radiance is its albedo times its irradiance over pi, of which its own light is a part.
        room_light = (light * cosine[:, None]).sum()
        plane_light = (np.repeat(blend, width, axis=1) * cosine[:, None]).sum()
        light += blend * (ALBEDO * room_light / (math.pi - ALBEDO * plane_light))
    light *= level * IRRADIANCE / float((light * cosine[:, None]).sum())
    return _read_only_image(np.repeat(light[..., None], 3, axis=2), "studio")


FLOOR, CEILING = 0.04, 0.15  # radiance of the studio's room
IRRADIANCE = 1.7 * math.pi  # of level ground in it: white, which the key meets more squarely, is bright
KEY_ANGLES, FILL_ANGLES = (42.0, -48.0), (20.0, 92.0)  # where its lights are: elevation and azimuth as of a sun
# With half sides in degrees, and radiance: key, fill, and the rim lights on both sides.
_SOFTBOXES = (
    (KEY_ANGLES, 24.0, 20.0, 9.0),
    (FILL_ANGLES, 36.0, 16.0, 0.68),
    ((48.0, 165.0), 9.0, 24.0, 9.0),
    ((48.0, -115.0), 9.0, 24.0, 9.0),
)


def _softbox_mask(directions: Float, elevation: float, azimuth: float, half_width: float, half_height: float) -> Float:
    """(H, W), 0 to 1, for directions (H, W, 3): how much of them a light covers, a level rectangle that faces the
    centre, with soft edges. All angles in degrees; ``half_width`` and ``half_height`` are the rectangle's."""
    e, a = math.radians(elevation), math.radians(azimuth)
    to_centre = np.array([math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a)])
    right = np.array([math.cos(a), 0.0, -math.sin(a)])
    forward = directions @ to_centre
    mask = np.ones_like(forward)
    for axis, half_angle in ((right, half_width), (np.cross(to_centre, right), half_height)):
        distance = np.abs(np.degrees(np.arctan2(directions @ axis, forward))) / half_angle
        falloff = np.clip((1.15 - distance) / 0.3, 0.0, 1.0)
        mask *= falloff * falloff * (3 - 2 * falloff)
    return np.where(forward > 0, mask, 0.0)


def _texel_grid(width: int) -> tuple[Float, Float, Float]:
    """(sines of the elevation (H,), directions (H, W, 3), solid angles (H,)) of the texels of a map."""
    height = width // 2
    polar_angle = (np.arange(height) + 0.5) * math.pi / height
    azimuth = ((np.arange(width) + 0.5) / width - 0.5) * 2 * math.pi
    sin_elevation, horizontal = np.cos(polar_angle), np.sin(polar_angle)
    x, z = np.outer(horizontal, np.cos(azimuth)), np.outer(horizontal, np.sin(azimuth))
    directions = np.stack([x, np.repeat(sin_elevation[:, None], width, axis=1), z], axis=-1)
    edges = np.cos(np.linspace(0.0, math.pi, height + 1))
    return sin_elevation, directions, (edges[:-1] - edges[1:]) * (2 * math.pi / width)


def _read_only_image(pixels: Float, name: str) -> ImageEnvironment:
    read_only = pixels.astype(np.float32)
    read_only.flags.writeable = False
    return ImageEnvironment(read_only, name)


@cache
def _sky_coefficients() -> tuple[Float, Float]:
    """(distribution (3, 2, 10, 6, 9), radiance (3, 2, 10, 6)): the sky model's data for red, green and blue, ground
    albedos 0 and 1, turbidities 1 to 10, as the control points of quintic Bezier curves over the sun's elevation.

    Raises ViewerError for a damaged data file.
    """
    path = paths.assets() / "sky.npz"
    try:
        with np.load(path) as data:
            return data["distribution"].reshape(3, 2, 10, 6, 9), data["radiance"].reshape(3, 2, 10, 6)
    except (OSError, ValueError, KeyError) as error:
        what = f"cannot be read: {error}"
        raise ViewerError(str(path), what, "the installation is incomplete; install again") from None


def _sky_radiance(elevation: float, up: Float, gamma: Float) -> Float:
    """(R, W, 3): radiance of the sky without the sun, photometrically weighted W/(m^2 sr), for sines of the elevation
    (R,) and angles to the sun (R, W)."""
    t = (2 * elevation / math.pi) ** (1 / 3)
    bezier = np.array([math.comb(5, k) * (1 - t) ** (5 - k) * t**k for k in range(6)])
    first = int(TURBIDITY)
    turbidities, weights = slice(first - 1, first + 1), np.array([1 - TURBIDITY + first, TURBIDITY - first])
    albedo_weights = np.array([1 - ALBEDO, ALBEDO])
    distribution, radiance = _sky_coefficients()
    parameters = np.einsum("cgtkn,g,t,k->nc", distribution[:, :, turbidities], albedo_weights, weights, bezier)
    mean = np.einsum("cgtk,g,t,k->c", radiance[:, :, turbidities], albedo_weights, weights, bezier)
    a, b, c, d, e, f, g, i, h = parameters  # i before h, as the data has them
    cosine, height, angle = np.cos(gamma)[..., None], up[:, None, None], gamma[..., None]
    mie = (1 + cosine**2) / (1 + h * h - 2 * h * cosine) ** 1.5
    gradient = 1 + a * np.exp(b / (height + 0.01))
    return np.maximum(gradient * (c + d * np.exp(e * angle) + f * cosine**2 + g * mie + i * np.sqrt(height)) * mean, 0)


def sunlight(elevation: float) -> Float:
    """(3,): irradiance of a surface facing the sun at an elevation in radians, linear sRGB, photometrically weighted
    W/m^2."""
    micrometres = _WAVELENGTHS / 1000
    air_mass = 1 / (math.sin(elevation) + 0.15 * (math.degrees(elevation) + 3.885) ** -1.253)
    rayleigh = 0.008735 * micrometres**-4.08
    aerosol = (0.04608 * TURBIDITY - 0.04586) * micrometres**-1.3
    ozone = 0.35 * 0.13 * np.exp(-0.5 * ((_WAVELENGTHS - 600) / 45) ** 2)  # about the Chappuis bands' absorption
    metres = _WAVELENGTHS * 1e-9
    black_body = (
        2 * 6.62607e-34 * 2.99792e8**2 / metres**5 / np.expm1(6.62607e-34 * 2.99792e8 / (metres * 1.38065e-23 * 5778))
    )
    solid_angle = math.pi * 0.004652**2  # of the sun seen from the earth, sr
    spectrum = black_body * 1e-9 * solid_angle * np.exp(-air_mass * (rayleigh + aerosol + ozone))  # W/(m^2 nm)
    xyz = (_colour_matching() * spectrum).sum(axis=1) * 5.0
    return np.maximum(_FROM_XYZ @ xyz, 0.0)


_FROM_XYZ = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])
# Amplitude, centre, and width below and above the centre (nm) of the Gaussians of x, y and z.
_MATCHING_LOBES = (
    ((1.056, 599.8, 37.9, 31.0), (0.362, 442.0, 16.0, 26.7), (-0.065, 501.1, 20.4, 26.2)),
    ((0.821, 568.8, 46.9, 40.5), (0.286, 530.9, 16.3, 31.1)),
    ((1.217, 437.0, 11.8, 36.0), (0.681, 459.0, 26.0, 13.8)),
)


def _colour_matching() -> Float:
    """(3, N): the CIE's colour matching functions of 1931 at `_WAVELENGTHS`."""

    def lobe(height: float, centre: float, below: float, above: float) -> Float:
        offset = _WAVELENGTHS - centre
        return height * np.exp(-0.5 * (offset / np.where(offset < 0, below, above)) ** 2)

    return np.array([sum(lobe(*lobe_shape) for lobe_shape in lobes) for lobes in _MATCHING_LOBES])
