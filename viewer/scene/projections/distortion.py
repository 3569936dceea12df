"""Distortion of lenses, by OpenCV's models and in its order of coefficients; float64 forms of ``shaders/cameras/``.

Brown-Conrady: D. C. Brown, "Decentering Distortion of Lenses", Photogrammetric Engineering 32 (3), 1966, with OpenCV's
rational radial term (calib3d). Fisheye: J. Kannala and S. S. Brandt, "A Generic Camera Model and Calibration Method for
Conventional, Wide-Angle, and Fish-Eye Lenses", PAMI 28 (8), 2006, as OpenCV's cv::fisheye has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

Array = NDArray[np.float64]
Numbers = tuple[float, ...]

LARGEST = 1e9
STEPS = 60  # of Newton's method: quadratic but at the limit of what can be inverted, where it halves the error
SETTLED = 1e-9  # of the distance that is left, relative
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
        """Points at depth 1 (N,), y down, to where a lens shows them; NaN beyond the limit."""
        u, v, *_ = self._moved(x, y)
        visible = x * x + y * y <= self.limit
        return np.where(visible, u, np.nan), np.where(visible, v, np.nan)

    def undistorted(self, u: Array, v: Array) -> tuple[Array, Array]:
        """The inverse (N,), by Newton's method from the place itself; NaN where there is none."""
        x, y = np.array(u, np.float64), np.array(v, np.float64)
        going = np.arange(len(x))  # those that a step still moves
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                before, above = x[going], y[going]
                a, b, xx, xy, yy = self._moved(before, above)
                off, down, area = a - u[going], b - v[going], xx * yy - xy * xy
                x[going] = before - (yy * off - xy * down) / area
                y[going] = above - (xx * down - xy * off) / area
                going = going[(x[going] != before) | (y[going] != above)]
            a, b, xx, xy, yy = self._moved(x, y)
            converged = np.hypot(a - u, b - v) <= SETTLED * (1 + np.hypot(u, v))
            visible = converged & (xx * yy - xy * xy > 0) & (x * x + y * y <= self.limit)
        return np.where(visible, x, np.nan), np.where(visible, y, np.nan)

    def _moved(self, x: Array, y: Array) -> tuple[Array, ...]:
        """The places, and their derivatives: by x, mixed, by y."""
        (k1, k2, k3), (k4, k5, k6), (p1, p2) = self.radial[:3], self.below, self.tangential
        q = x * x + y * y
        above, under = 1 + q * (k1 + q * (k2 + q * k3)), 1 + q * (k4 + q * (k5 + q * k6))
        ratio = above / under
        slope = ((k1 + q * (2 * k2 + 3 * q * k3)) - ratio * (k4 + q * (2 * k5 + 3 * q * k6))) / under
        u = x * ratio + 2 * p1 * x * y + p2 * (q + 2 * x * x)
        v = y * ratio + p1 * (q + 2 * y * y) + 2 * p2 * x * y
        by_x = ratio + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
        mixed = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
        by_y = ratio + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
        return u, v, by_x, mixed, by_y

    def radius(self, angle: Array) -> Array:
        """Fisheye: the distance from the principal point, in focal lengths, of angles to the view, radians."""
        q = angle * angle
        k1, k2, k3, k4 = self.radial
        return np.where(q <= self.limit, angle * (1 + q * (k1 + q * (k2 + q * (k3 + q * k4)))), np.nan)

    def angle(self, radius: Array) -> Array:
        """Its inverse (N,), by Newton's method; NaN where there is none."""
        k1, k2, k3, k4 = self.radial
        angle = np.array(radius, np.float64)
        going = np.arange(len(angle))
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                before = angle[going]
                q = before * before
                off = before * (1 + q * (k1 + q * (k2 + q * (k3 + q * k4)))) - radius[going]
                angle[going] = before - off / (1 + q * (3 * k1 + q * (5 * k2 + q * (7 * k3 + q * 9 * k4))))
                going = going[angle[going] != before]
            q = angle * angle
            converged = np.abs(angle * (1 + q * (k1 + q * (k2 + q * (k3 + q * k4)))) - radius) <= SETTLED * (1 + radius)
        return np.where(converged & (angle >= 0) & (q <= self.limit), angle, np.nan)


def brown_conrady(coefficients: Sequence[float]) -> Distortion:
    """Of (k1, k2, p1, p2[, k3[, k4, k5, k6]]), or of none. Raises ViewerError for other numbers."""
    values = _checked(coefficients, (0, 4, 5, 8), "k1, k2, p1, p2[, k3[, k4, k5, k6]]")
    k1, k2, p1, p2, k3, k4, k5, k6 = (*values, *[0.0] * (8 - len(values)))
    above, under = np.polynomial.Polynomial([1, k1, k2, k3]), np.polynomial.Polynomial([1, k4, k5, k6])
    twice = np.polynomial.Polynomial([0, 2])
    growth = (above + twice * above.deriv()) * under - twice * above * under.deriv()
    return Distortion((k1, k2, k3), (k4, k5, k6), (p1, p2), min(_least_root(growth), _least_root(under)))


def opencv_fisheye(coefficients: Sequence[float]) -> Distortion:
    """Of (k1, k2, k3, k4), or of none. Raises ViewerError for other numbers."""
    values = _checked(coefficients, (0, 4), "k1, k2, k3, k4") or (0.0,) * 4
    growth = np.polynomial.Polynomial([1, *((2 * n + 3) * k for n, k in enumerate(values))])
    return Distortion(tuple(values), limit=min(_least_root(growth), math.pi**2))


def _checked(coefficients: Sequence[float], counts: tuple[int, ...], form: str) -> Numbers:
    numbers = tuple(float(number) for number in coefficients)
    if len(numbers) not in counts:
        raise ViewerError("distortion", f"{len(numbers)} coefficients", f"give {form}")
    if not all(abs(number) <= LARGEST for number in numbers):
        listed = ", ".join(f"{number:g}" for number in numbers)
        raise ViewerError("distortion", f"not all of {listed} are numbers within +-{LARGEST:g}", form)
    return numbers


def _least_root(polynomial: np.polynomial.Polynomial) -> float:
    """The least positive root; `NO_LIMIT` where there is none."""
    roots = polynomial.trim().roots()
    real = roots.real[(np.abs(roots.imag) <= 1e-7 * np.abs(roots.real)) & (roots.real > 0)]
    return float(real.min(initial=NO_LIMIT))
