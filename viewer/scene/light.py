"""Lights as plain data: points, spots and directions.

Radiometric units throughout: radiant intensity W/sr for points and spots, irradiance W/m^2 (across the direction) for
directional lights, radiance W/(m^2 sr) for surfaces; a metre is a scene unit. Each is RGB, linear sRGB.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

Vector = tuple[float, float, float]
Float = NDArray[np.float64]
Kind = Literal["point", "spot", "directional"]
KINDS = ("point", "spot", "directional")

# Brighter or farther lights would overflow float32 in sums and squares.
BRIGHTEST = 1e30
FARTHEST = 1e18
_LARGEST = sys.float_info.max

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of linear sRGB, ITU-R BT.709; also shaders/lib/luminance.glsl


def luminance(rgb: NDArray | Sequence[float]) -> NDArray[np.float64]:
    """(...) of linear sRGB (..., 3), by the weights of ITU-R BT.709."""
    return np.asarray(rgb, np.float64) @ LUMINANCE


def _is_float_vector(vector: object, most: float) -> bool:
    """Whether this is a tuple of three finite Python floats within +-``most``, as nearly always."""
    if type(vector) is not tuple or len(vector) != 3:
        return False
    x, y, z = vector
    are_floats = type(x) is float and type(y) is float and type(z) is float
    return are_floats and -most <= x <= most and -most <= y <= most and -most <= z <= most


@declared
@dataclass(frozen=True)
class Light:
    """A delta light: no extent, hard shadows.

    position  : scene units, world space; unused by directional lights.
    direction : of emission, world space, normalised here; unused by point lights.
    intensity : RGB, W/sr; for a directional light W/m^2.
    inner, outer : of a spot, angles from the direction in radians, 0 <= inner < outer <= pi/2: full intensity within
    the inner one, none beyond the outer one, in between see `falloff`.
    motion : the lights of an exposure at even times, the first with its place and direction; these are linear in
    between. Empty: it stands still.

    Raises ViewerError for non-finite numbers, negative intensities, a zero direction, and angles out of range.
    """

    kind: Kind
    name: str = "light"
    position: Vector = (0.0, 0.0, 0.0)
    direction: Vector = (0.0, -1.0, 0.0)
    intensity: Vector = (1.0, 1.0, 1.0)
    inner: float = 0.0
    outer: float = math.pi / 4
    motion: tuple[Light, ...] = field(default=(), metadata={"added": True})

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise self._error(f"unknown kind {self.kind!r}", f"known: {', '.join(KINDS)}")
        # Files have lights by the hundred thousand, of plain floats.
        if not (
            _is_float_vector(self.position, FARTHEST)
            and _is_float_vector(self.direction, _LARGEST)
            and _is_float_vector(self.intensity, BRIGHTEST)
        ):
            self._convert()
        red, green, blue = self.intensity
        if red < 0 or green < 0 or blue < 0:
            raise self._error(f"intensity {self.intensity} is negative", "light cannot be taken away")
        x, y, z = self.direction
        largest = max(abs(x), abs(y), abs(z))
        if largest == 0:
            raise self._error("direction is zero", "give one such as 0,-1,0")
        x, y, z = x / largest, y / largest, z / largest
        length = math.hypot(x, y, z)
        object.__setattr__(self, "direction", (x / length, y / length, z / length))
        if self.kind == "spot" and not 0 <= self.inner < self.outer <= math.pi / 2:
            raise self._error(
                f"cone angles {self.inner:g}, {self.outer:g} are out of range", "0 <= inner < outer <= pi/2"
            )

    @classmethod
    def unchecked(
        cls, kind: Kind, name: str, position: Vector, direction: Vector, intensity: Vector, inner: float, outer: float
    ) -> Light:
        """One of these fields, its direction a unit vector, that the caller has checked: of a hundred thousand, checks
        of each, and a loop over the fields, would take longer than all else."""
        light, assign = object.__new__(cls), object.__setattr__
        assign(light, "kind", kind)
        assign(light, "name", name)
        assign(light, "position", position)
        assign(light, "direction", direction)
        assign(light, "intensity", intensity)
        assign(light, "inner", inner)
        assign(light, "outer", outer)
        return light

    def _convert(self) -> None:
        """Make position, direction and intensity tuples of floats; raises ViewerError where they are no numbers."""
        for label, max_magnitude in (("position", FARTHEST), ("direction", math.inf), ("intensity", BRIGHTEST)):
            value = getattr(self, label)
            try:
                vector = tuple(float(component) for component in value)
            except (TypeError, ValueError):
                raise self._error(f"{label} {value!r} is not three numbers") from None
            if len(vector) != 3 or not all(math.isfinite(c) and abs(c) <= max_magnitude for c in vector):
                limit = f" up to {max_magnitude:g}" if math.isfinite(max_magnitude) else ""
                raise self._error(f"{label} {value!r} is not three finite numbers{limit}")
            object.__setattr__(self, label, vector)

    def _error(self, what: str, hint: str = "") -> ViewerError:
        return ViewerError(f"light '{self.name}'", what, hint)

    @property
    def falloff(self) -> tuple[float, float]:
        """(scale, offset) of a spot: at an angle a from its direction the intensity is scaled by ``clamp(cos a * scale
        + offset, 0, 1)^2`` (KHR_lights_punctual, "Inner and Outer Cone Angles")."""
        scale = 1.0 / max(0.001, math.cos(self.inner) - math.cos(self.outer))
        return scale, -math.cos(self.outer) * scale

    @property
    def solid_angle(self) -> float:
        """Radiant flux over intensity, sr: 4 pi for a point, less for a spot; 0 for a directional light."""
        if self.kind == "point":
            return 4 * math.pi
        if self.kind == "directional":
            return 0.0
        scale, offset = self.falloff
        cos_full = min(1.0, (1 - offset) / scale)  # the cosine above which it has full intensity
        return 2 * math.pi * ((1 - cos_full) + (min(1.0, scale * cos_full + offset) ** 3) / (3 * scale))


def unit_directions(vectors: Float) -> Float:
    """(N, 3): the directions that `Light` makes of vectors (N, 3), to the bit; not finite where it takes none."""
    with np.errstate(all="ignore"):
        scaled = vectors / np.abs(vectors).max(axis=1, initial=0.0)[:, None]
        return np.asarray(scaled / np.array(list(map(math.hypot, *scaled.T.tolist())), np.float64)[:, None])


class DeltaLights(NamedTuple):
    """Lights without extent as columns: lists of a hundred thousand are made without a step of Python for each.

    Of N lights, see `Light`: kind (N,), a number of `KINDS`; position, direction, intensity (N, 3); inner, outer (N,).

    lights : the same as objects. falloff (N, 2) and solid_angle (N,) are theirs; falloff is 0 of all but spots.
    """

    lights: Sequence[Light]
    kind: NDArray[np.int8]
    position: Float
    direction: Float
    intensity: Float
    inner: Float
    outer: Float
    falloff: Float
    solid_angle: Float

    @classmethod
    def of(cls, lights: Sequence[Light]) -> DeltaLights:
        """The columns of these lights."""
        count = len(lights)

        def column(name: str) -> Float:
            return np.fromiter(map(attrgetter(name), lights), np.float64, count)

        def vectors(name: str) -> Float:
            parts = chain.from_iterable(map(attrgetter(name), lights))
            return np.fromiter(parts, np.float64, 3 * count).reshape(-1, 3)

        kind = np.fromiter(map(KINDS.index, map(attrgetter("kind"), lights)), np.int8, count)
        position, direction, intensity = map(vectors, ("position", "direction", "intensity"))
        inner, outer = map(column, ("inner", "outer"))
        falloff = np.zeros((count, 2))
        solid_angle = np.where(kind == KINDS.index("point"), 4.0 * math.pi, 0.0)
        for index in np.flatnonzero(kind == KINDS.index("spot")).tolist():
            falloff[index], solid_angle[index] = lights[index].falloff, lights[index].solid_angle
        return cls(lights, kind, position, direction, intensity, inner, outer, falloff, solid_angle)

    def __len__(self) -> int:
        return len(self.lights)

    @property
    def far(self) -> NDArray[np.bool_]:
        """(N,): whether each is infinitely far."""
        return self.kind == KINDS.index("directional")

    @property
    def flux(self) -> Float:
        """(N,): luminances of the intensities, as `raystream.scene.light.luminance` has that of each, to the bit."""
        return np.asarray((self.intensity[:, None, :] @ LUMINANCE[:, None])[:, 0, 0])

    def place(self, rows: NDArray) -> None:
        """Where they are, into rows (N,) of `raystream.lighting.lights.LIGHT` or `LIGHT_KEY`."""
        far = self.far[:, None]
        rows["position"] = np.where(far, 0.0, self.position)
        rows["edge1"] = np.where(far, -self.direction, self.direction)
        rows["edge2"][:, :2] = self.falloff
