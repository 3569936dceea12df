"""How a camera maps directions to places in its picture, where it is no pinhole by a field of view: plain data, with
the float64 form of the shaders in ``shaders/cameras/``.

Camera space: x to the right, y up, z along the view, scene units. Places on the film: -1 .. 1 from the left to the
right and from the top to the bottom of the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

# -- distortion --------------------------------------------------------------------------------------------------------
# Distortion of lenses, by OpenCV's models and in its order of coefficients; float64 forms of ``shaders/cameras/``.
# Brown-Conrady: D. C. Brown, "Decentering Distortion of Lenses", Photogrammetric Engineering 32 (3), 1966, with
# OpenCV's rational radial term (calib3d). Fisheye: J. Kannala and S. S. Brandt, "A Generic Camera Model and
# Calibration Method for Conventional, Wide-Angle, and Fish-Eye Lenses", PAMI 28 (8), 2006, as OpenCV's cv::fisheye
# has it.

Array = NDArray[np.float64]
Numbers = tuple[float, ...]

MAX_COEFFICIENT = 1e9
MAX_NEWTON_STEPS = 60  # quadratic but at the limit of what can be inverted, where a step halves the error
CONVERGED_ERROR = 1e-9  # of the distance that is left, relative
NO_LIMIT = 1e30


@declared
@dataclass(frozen=True)
class Distortion:
    """A distortion that can be inverted.

    radial : of the powers 2, 4, 6 (and 8, fisheye) of the radius or angle. below : of the denominator's 2, 4, 6.
    tangential : p1, p2. limit : the square of the radius at depth 1 (of the angle, fisheye) up to which places grow,
    and beyond which nothing is seen.
    """

    radial: Numbers
    below: Numbers = (0.0, 0.0, 0.0)
    tangential: Numbers = (0.0, 0.0)
    limit: float = NO_LIMIT

    def distorted(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Where the lens shows points (N,) at depth 1, y down, at depth 1; NaN beyond the limit."""
        u, v, *_ = self._distort(x, y)
        visible = x * x + y * y <= self.limit
        return np.where(visible, u, np.nan), np.where(visible, v, np.nan)

    def undistorted(self, u: Array, v: Array) -> tuple[Array, Array]:
        """The inverse of `distorted` (N,), by Newton's method from (u, v) itself; NaN where there is none."""
        x, y = np.array(u, np.float64), np.array(v, np.float64)
        active = np.arange(len(x))  # those that a step still moves
        with np.errstate(all="ignore"):
            for _ in range(MAX_NEWTON_STEPS):
                x0, y0 = x[active], y[active]
                u0, v0, xx, xy, yy = self._distort(x0, y0)
                error_x, error_y, determinant = u0 - u[active], v0 - v[active], xx * yy - xy * xy
                x[active] = x0 - (yy * error_x - xy * error_y) / determinant
                y[active] = y0 - (xx * error_y - xy * error_x) / determinant
                active = active[(x[active] != x0) | (y[active] != y0)]
            u0, v0, xx, xy, yy = self._distort(x, y)
            converged = np.hypot(u0 - u, v0 - v) <= CONVERGED_ERROR * (1 + np.hypot(u, v))
            visible = converged & (xx * yy - xy * xy > 0) & (x * x + y * y <= self.limit)
        return np.where(visible, x, np.nan), np.where(visible, y, np.nan)

    def _distort(self, x: Array, y: Array) -> tuple[Array, ...]:
        """(u, v, du/dx, du/dy, dv/dy): the distorted points, and their derivatives; dv/dx is du/dy."""
        (k1, k2, k3), (k4, k5, k6), (p1, p2) = self.radial[:3], self.below, self.tangential
        r2 = x * x + y * y
        numerator, denominator = 1 + r2 * (k1 + r2 * (k2 + r2 * k3)), 1 + r2 * (k4 + r2 * (k5 + r2 * k6))
        ratio = numerator / denominator
        slope = ((k1 + r2 * (2 * k2 + 3 * r2 * k3)) - ratio * (k4 + r2 * (2 * k5 + 3 * r2 * k6))) / denominator
        u = x * ratio + 2 * p1 * x * y + p2 * (r2 + 2 * x * x)
        v = y * ratio + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
        by_x = ratio + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
        mixed = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
        by_y = ratio + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
        return u, v, by_x, mixed, by_y

    def radius(self, angle: Array) -> Array:
        """Fisheye: the distance from the principal point, in focal lengths, of angles to the view, radians."""
        a2 = angle * angle
        k1, k2, k3, k4 = self.radial
        return np.where(a2 <= self.limit, angle * (1 + a2 * (k1 + a2 * (k2 + a2 * (k3 + a2 * k4)))), np.nan)

    def angle(self, radius: Array) -> Array:
        """The inverse of `radius` (N,), by Newton's method; NaN where there is none."""
        k1, k2, k3, k4 = self.radial
        angle = np.array(radius, np.float64)
        active = np.arange(len(angle))
        with np.errstate(all="ignore"):
            for _ in range(MAX_NEWTON_STEPS):
                angle0 = angle[active]
                a2 = angle0 * angle0
                error = angle0 * (1 + a2 * (k1 + a2 * (k2 + a2 * (k3 + a2 * k4)))) - radius[active]
                angle[active] = angle0 - error / (1 + a2 * (3 * k1 + a2 * (5 * k2 + a2 * (7 * k3 + a2 * 9 * k4))))
                active = active[angle[active] != angle0]
            a2 = angle * angle
            error = np.abs(angle * (1 + a2 * (k1 + a2 * (k2 + a2 * (k3 + a2 * k4)))) - radius)
            converged = error <= CONVERGED_ERROR * (1 + radius)
        return np.where(converged & (angle >= 0) & (a2 <= self.limit), angle, np.nan)


def brown_conrady(coefficients: Sequence[float]) -> Distortion:
    """The lens of (k1, k2, p1, p2[, k3[, k4, k5, k6]]), or of none. Raises ViewerError for other numbers."""
    values = _checked(coefficients, (0, 4, 5, 8), "k1, k2, p1, p2[, k3[, k4, k5, k6]]")
    k1, k2, p1, p2, k3, k4, k5, k6 = (*values, *[0.0] * (8 - len(values)))
    numerator, denominator = np.polynomial.Polynomial([1, k1, k2, k3]), np.polynomial.Polynomial([1, k4, k5, k6])
    twice = np.polynomial.Polynomial([0, 2])
    growth = (numerator + twice * numerator.deriv()) * denominator - twice * numerator * denominator.deriv()
    limit = min(_smallest_positive_root(growth), _smallest_positive_root(denominator))
    return Distortion((k1, k2, k3), (k4, k5, k6), (p1, p2), limit)


def opencv_fisheye(coefficients: Sequence[float]) -> Distortion:
    """The lens of (k1, k2, k3, k4), or of none. Raises ViewerError for other numbers."""
    values = _checked(coefficients, (0, 4), "k1, k2, k3, k4") or (0.0,) * 4
    growth = np.polynomial.Polynomial([1, *((2 * n + 3) * k for n, k in enumerate(values))])
    return Distortion(tuple(values), limit=min(_smallest_positive_root(growth), math.pi**2))


def _checked(coefficients: Sequence[float], counts: tuple[int, ...], form: str) -> Numbers:
    numbers = tuple(float(number) for number in coefficients)
    if len(numbers) not in counts:
        raise ViewerError("distortion", f"{len(numbers)} coefficients", f"give {form}")
    if not all(abs(number) <= MAX_COEFFICIENT for number in numbers):
        listed = ", ".join(f"{number:g}" for number in numbers)
        raise ViewerError("distortion", f"not all of {listed} are numbers within +-{MAX_COEFFICIENT:g}", form)
    return numbers


def _smallest_positive_root(polynomial: np.polynomial.Polynomial) -> float:
    """The smallest positive real root; `NO_LIMIT` where there is none."""
    roots = polynomial.trim().roots()
    real = roots.real[(np.abs(roots.imag) <= 1e-7 * np.abs(roots.real)) & (roots.real > 0)]
    return float(real.min(initial=NO_LIMIT))


# -- models ------------------------------------------------------------------------------------------------------------

Size = tuple[int, int]

MAX_HEIGHT = 1e18  # scene units, for products within float32
MAX_FOCAL = 1e9  # pixels


class Projection(Protocol):
    """A kind of projection."""

    @property
    def kind(self) -> str:
        """Its shader's name."""

    @property
    def wide(self) -> bool:
        """Whether directions are all around, so that a lens has no plane in focus."""

    @property
    def text(self) -> str:
        """All of it in words, for the facts of a picture."""

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """(factor of x, factor of y, offset of x, offset of y) from places on the film of a picture of ``size``
        (width, height) to the coordinates of the model."""

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """(origins (N, 3), unit directions (N, 3)), camera space, of the rays of places on the film (N, 2); directions
        are NaN where the film sees nothing."""

    def places(self, points: ArrayLike, size: Size) -> Array:
        """Places on the film (N, 2) of points (N, 3), beside it beyond -1 .. 1; NaN where they are not seen."""


@declared
@dataclass(frozen=True)
class Perspective:
    """The pinhole by its field of view, as a projection: of the halves of a stereo pair.

    fov : vertical, degrees.
    """

    fov: float
    kind: ClassVar[str] = "perspective"
    wide: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """See `Projection`."""
        return "perspective"

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """The film, in tangents of angles."""
        tangent = math.tan(math.radians(self.fov) / 2)
        return tangent * size[0] / size[1], tangent, 0.0, 0.0

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """See `Projection`."""
        x, y = _film_to_model(at, self.film(size))
        return np.zeros((len(x), 3)), _unit_vectors(np.stack([x, -y, np.ones_like(x)], axis=1))

    def places(self, points: ArrayLike, size: Size) -> Array:
        """See `Projection`."""
        x, y, z = _visible_coordinates(points)
        return _model_to_film(x / z, -y / z, self.film(size))


@declared
@dataclass(frozen=True)
class Orthographic:
    """Parallel rays along the view, from the plane across it through the camera's origin.

    height : of the view, scene units.

    Raises ViewerError for a height that is not above 0.
    """

    height: float
    kind: ClassVar[str] = "orthographic"
    wide: ClassVar[bool] = False

    def __post_init__(self) -> None:
        height = _number(self.height)
        if not 0.0 < height <= MAX_HEIGHT:
            what = f"height {self.height} is not above 0, and at most {MAX_HEIGHT:g}"
            raise ViewerError("orthographic camera", what, "in scene units")
        object.__setattr__(self, "height", height)

    @property
    def text(self) -> str:
        """See `Projection`."""
        return f"orthographic {self.height!r}"

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """The film, in scene units."""
        return self.height / 2 * size[0] / size[1], self.height / 2, 0.0, 0.0

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """See `Projection`."""
        x, y = _film_to_model(at, self.film(size))
        return np.stack([x, -y, np.zeros_like(x)], axis=1), np.tile([0.0, 0.0, 1.0], (len(x), 1))

    def places(self, points: ArrayLike, size: Size) -> Array:
        """See `Projection`."""
        x, y, _ = _visible_coordinates(points)
        return _model_to_film(x, -y, self.film(size))


@declared
@dataclass(frozen=True)
class Equirectangular:
    """All around: columns are longitudes over 360 degrees, the middle one along the view, rows latitudes over 180."""

    kind: ClassVar[str] = "equirectangular"
    wide: ClassVar[bool] = True

    @property
    def text(self) -> str:
        """See `Projection`."""
        return "equirectangular"

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """The film, in radians."""
        return math.pi, math.pi / 2, 0.0, 0.0

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """See `Projection`."""
        x, y = _film_to_model(at, self.film(size))
        directions = np.stack([np.cos(y) * np.sin(x), -np.sin(y), np.cos(y) * np.cos(x)], axis=1)
        return np.zeros_like(directions), directions

    def places(self, points: ArrayLike, size: Size) -> Array:
        """See `Projection`."""
        x, y, z = _unit_vectors(points).T
        return _model_to_film(np.arctan2(x, z), -np.arcsin(np.clip(y, -1.0, 1.0)), self.film(size))


@declared
@dataclass(frozen=True)
class Fisheye:
    """A circle that fits in the picture; beside it nothing is seen. Distances from its middle grow with the angle to
    the view (equidistant), or with the sine of its half, so that equal solid angles have equal areas (equisolid).

    angle : across the circle, degrees, in (0, 360]. equisolid : which.

    Raises ViewerError for an angle out of range.
    """

    angle: float = 180.0
    equisolid: bool = False
    kind: ClassVar[str] = "fisheye"
    wide: ClassVar[bool] = True

    def __post_init__(self) -> None:
        angle = _number(self.angle)
        if not 0.0 < angle <= 360.0:
            what = f"an angle of {self.angle} degrees across is not above 0, and at most 360"
            raise ViewerError("fisheye camera", what, "180 is half a sphere")
        object.__setattr__(self, "angle", angle)

    @property
    def text(self) -> str:
        """See `Projection`."""
        return f"{'equisolid' if self.equisolid else 'equidistant'} fisheye {self.angle!r}"

    @property
    def reach(self) -> float:
        """How fast the angle grows in the middle, radians for each radius of the circle."""
        half_angle = math.radians(self.angle) / 2
        return 2 * math.sin(half_angle / 2) if self.equisolid else half_angle

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """The film, in radii of its circle."""
        width, height = size
        short_side = min(width, height)
        return width / short_side, height / short_side, 0.0, 0.0

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """See `Projection`."""
        x, y = _film_to_model(at, self.film(size))
        radius = np.hypot(x, y)
        half_angle = math.radians(self.angle) / 2
        if self.equisolid:
            angle = 2 * np.arcsin(np.minimum(radius, 1.0) * math.sin(half_angle / 2))
        else:
            angle = radius * half_angle
        return _directions_at(x, -y, radius, np.where(radius <= 1.0, angle, np.nan))

    def places(self, points: ArrayLike, size: Size) -> Array:
        """See `Projection`."""
        x, y, z = _unit_vectors(points).T
        sin_angle = np.hypot(x, y)
        angle, half_angle = np.arctan2(sin_angle, z), math.radians(self.angle) / 2
        radius = np.sin(angle / 2) / math.sin(half_angle / 2) if self.equisolid else angle / half_angle
        radius = np.where(angle <= half_angle * (1 + 1e-12), radius, np.nan) / np.where(sin_angle > 0, sin_angle, 1.0)
        return _model_to_film(x * radius, -y * radius, self.film(size))


@declared
@dataclass(frozen=True)
class Intrinsics:
    """A measured camera: a pinhole by its matrix K, with the distortion of its lens, by OpenCV's conventions: the
    centre of the upper left pixel is (0, 0), and points (x, y) at depth 1, y down, are seen at (fx x + skew y + cx,
    fy y + cy).

    fx, fy     : focal lengths, pixels, above 0. cx, cy : the principal point, pixels. skew : of the axes, pixels.
    size       : (width, height) of the pictures that it was measured in; others show the same height. None: of
                 whichever picture is made.
    distortion : none, or (k1, k2, p1, p2[, k3[, k4, k5, k6]]), or with ``fisheye`` (k1, k2, k3, k4).

    Raises ViewerError for numbers that are no such camera.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    size: tuple[int, int] | None = None
    distortion: tuple[float, ...] = ()
    fisheye: bool = False
    skew: float = 0.0

    def __post_init__(self) -> None:
        where = "camera matrix"
        for name in ("fx", "fy", "cx", "cy", "skew"):
            number = _number(getattr(self, name))
            if not abs(number) <= MAX_FOCAL:
                raise ViewerError(where, f"{name} {getattr(self, name)} is not a number of pixels")
            object.__setattr__(self, name, number)
        for name in ("fx", "fy"):
            if not getattr(self, name) > 0.0:
                raise ViewerError(where, f"focal length {name} {getattr(self, name):g} is not above 0", "in pixels")
        if self.size is not None:
            sides = tuple(int(side) for side in self.size)
            if len(sides) != 2 or min(sides) < 1:
                raise ViewerError(where, f"size {self.size} is not a width and a height", "in pixels, such as 640, 480")
            object.__setattr__(self, "size", sides)
        object.__setattr__(self, "distortion", tuple(float(coefficient) for coefficient in self.distortion))
        assert self.model  # raises where the coefficients are none

    @classmethod
    def of_matrix(
        cls,
        matrix: ArrayLike,
        size: tuple[int, int] | None = None,
        distortion: Sequence[float] = (),
        fisheye: bool = False,
    ) -> Intrinsics:
        """The camera of K, (3, 3): ((fx, skew, cx), (0, fy, cy), (0, 0, 1)). Raises ViewerError for another matrix."""
        try:
            k = np.asarray(matrix, np.float64)
        except (TypeError, ValueError):
            k = np.zeros(0)
        form = "((fx, skew, cx), (0, fy, cy), (0, 0, 1))"
        if k.shape != (3, 3):
            raise ViewerError("camera matrix", f"shape {k.shape} is not (3, 3)", form)
        if not np.isfinite(k).all():
            raise ViewerError("camera matrix", "not all of its numbers are finite", form)
        if k[1, 0] != 0 or (k[2] != (0, 0, 1)).any():
            raise ViewerError("camera matrix", f"{k.tolist()} is no K", form)
        (fx, skew, cx), (_, fy, cy), _ = k.tolist()
        return cls(fx, fy, cx, cy, size, tuple(distortion), fisheye, skew)

    @property
    def model(self) -> Distortion:
        """The distortion."""
        return (opencv_fisheye if self.fisheye else brown_conrady)(self.distortion)

    @property
    def kind(self) -> str:
        """See `Projection`."""
        return "kannala_brandt" if self.fisheye else "brown_conrady"

    @property
    def wide(self) -> bool:
        """See `Projection`."""
        return self.fisheye

    @property
    def text(self) -> str:
        """See `Projection`."""
        numbers = ",".join(repr(number) for number in (self.fx, self.fy, self.cx, self.cy, self.skew))
        size = "" if self.size is None else f" of {self.size[0]}x{self.size[1]}"
        distortion = f", {'fisheye ' if self.fisheye else ''}distortion {','.join(map(repr, self.distortion))}"
        return f"matrix {numbers}{size}{distortion if self.distortion or self.fisheye else ''}"

    def film(self, size: Size) -> tuple[float, float, float, float]:
        """The film coordinates of points at depth 1 before the distortion is taken out, and the skew."""
        width, height = self.size or size
        half_height = height / 2
        return (
            half_height * size[0] / size[1] / self.fx,
            half_height / self.fy,
            (width / 2 - 0.5 - self.cx) / self.fx,
            (height / 2 - 0.5 - self.cy) / self.fy,
        )

    def rays(self, at: ArrayLike, size: Size) -> tuple[Array, Array]:
        """See `Projection`."""
        x, y = _film_to_model(at, self.film(size))
        x = x - self.skew / self.fx * y
        if self.fisheye:
            radius = np.hypot(x, y)
            return _directions_at(x, -y, radius, self.model.angle(radius))
        x, y = self.model.undistorted(x, y)
        return np.zeros((len(x), 3)), _unit_vectors(np.stack([x, -y, np.ones_like(x)], axis=1))

    def places(self, points: ArrayLike, size: Size) -> Array:
        """See `Projection`."""
        if self.fisheye:
            x, y, z = _unit_vectors(points).T
            sin_angle = np.hypot(x, y)
            radius = self.model.radius(np.arctan2(sin_angle, z)) / np.where(sin_angle > 0, sin_angle, 1.0)
            x, y = x * radius, -y * radius
        else:
            x, y, z = _visible_coordinates(points)
            x, y = self.model.distorted(x / z, -y / z)
        return _model_to_film(x + self.skew / self.fx * y, y, self.film(size))


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _film_to_model(at: ArrayLike, film: tuple[float, float, float, float]) -> tuple[Array, Array]:
    """x and y (N,) of the model, of places on the film (N, 2); ``film`` as from `Projection.film`."""
    points = np.asarray(at, np.float64).reshape(-1, 2)
    return points[:, 0] * film[0] + film[2], points[:, 1] * film[1] + film[3]


def _model_to_film(x: Array, y: Array, film: tuple[float, float, float, float]) -> Array:
    """The inverse of `_film_to_model`."""
    return np.stack([(x - film[2]) / film[0], (y - film[3]) / film[1]], axis=1)


def _unit_vectors(vectors: ArrayLike) -> Array:
    v = np.asarray(vectors, np.float64).reshape(-1, 3)
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return v / np.where(length > 0, length, np.nan)


def _visible_coordinates(points: ArrayLike) -> tuple[Array, Array, Array]:
    """x, y and z (N,) of points (N, 3), camera space; all NaN of those behind the camera."""
    x, y, z = np.asarray(points, np.float64).reshape(-1, 3).T
    depth = np.where(z > 0, z, np.nan)
    return x + 0 * depth, y + 0 * depth, depth


def _directions_at(x: Array, y: Array, radius: Array, angle: Array) -> tuple[Array, Array]:
    """(origins (N, 3) of zeros, unit directions (N, 3)) at an ``angle`` (N,) to the view, radians, towards (x, y),
    whose length is ``radius``; NaN where the angle is."""
    scale = np.sin(angle) / np.where(radius > 0, radius, 1.0)
    directions = np.stack([x * scale, y * scale, np.cos(angle)], axis=1)
    return np.zeros_like(directions), np.where(np.isnan(angle)[:, None], np.nan, directions)
