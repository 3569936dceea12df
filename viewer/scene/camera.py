"""The camera, a pinhole or a thin lens: position, target, rays; the one module that calls pyrr.

World space is right-handed, +Y up by custom. A picture's row 0 is its top row; pixel (x, y) is sampled at its centre.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.projections import Fisheye, Intrinsics, Orthographic, Perspective, Projection

Vector = tuple[float, float, float]
Array = NDArray[np.float64]

# Sine of the angle between view and up below which up is unusable.
MIN_SINE_TO_UP = 1e-6
# Factor on the size of a framed box.
FRAMING_MARGIN = 1.1
MIN_ASPECT = 1e-3  # narrower pictures are framed as these
# A box that a camera `sees` is at least this fraction of the picture's height, in pictures of at most this aspect.
MIN_SEEN, MAX_ASPECT = 0.02, 2.0
# Limits of lenses and focus distances for products and quotients within float32.
MAX_LENS, MIN_FOCUS = 1e18, 1e-18


@declared
@dataclass(frozen=True)
class Camera:
    """A camera at ``origin`` looking at ``target``, the picture's top towards ``up``.

    origin, target : scene units, world space.
    up             : any non-zero vector; one parallel to the view is replaced by another axis.
    fov            : vertical field of view, degrees, in (0, 180).
    aperture       : radius of the lens, scene units; 0 is a pinhole, with everything in focus.
    focus          : distance of the plane in focus along the view, scene units; None: the target's.
    motion         : the cameras of an exposure at even times, the first with its view; positions and axes are linear
                     in between. Empty: it stands still.
    projection     : of `raystream.scene.projections`: parallel, all around, fisheye, measured; None: by ``fov``.
    base           : the point of a file's coordinates that origin and target are relative to (`about`).
    eyes           : distance between two eyes, scene units, of which the left one's picture is the left half of a
                     stereo pair, and the right one's the right half; None: one picture.

    Raises ViewerError when a number is not finite, origin and target coincide, up is zero, or fov, aperture, focus or
    eyes are out of range.
    """

    origin: Vector
    target: Vector
    up: Vector = (0.0, 1.0, 0.0)
    fov: float = 40.0
    name: str = "camera"
    aperture: float = 0.0
    focus: float | None = None
    motion: tuple[Camera, ...] = ()
    projection: Projection | None = None
    eyes: float | None = None
    base: Vector = field(default=(0.0, 0.0, 0.0), metadata={"added": True})

    def __post_init__(self) -> None:
        where = f"camera '{self.name}'"
        for label in ("origin", "target", "up"):
            vector = _checked_vector(where, label, getattr(self, label))
            object.__setattr__(self, label, vector)
        fov = _number(self.fov)
        if not 0.0 < fov < 180.0:
            raise ViewerError(
                where, f"field of view {self.fov} is not between 0 and 180 degrees", "vertical, in degrees"
            )
        object.__setattr__(self, "fov", fov)
        if self.origin == self.target:
            raise ViewerError(where, f"origin and target are the same point {_csv(self.origin)}", "move one of them")
        if not any(self.up):
            raise ViewerError(where, "up is zero", "give a direction such as 0,1,0")
        aperture = _number(self.aperture)
        if not 0.0 <= aperture <= MAX_LENS:
            raise ViewerError(where, f"aperture {self.aperture} is out of range", f"a radius from 0 to {MAX_LENS:g}")
        object.__setattr__(self, "aperture", aperture)
        if self.focus is not None:
            focus = _number(self.focus)
            if not MIN_FOCUS <= focus <= MAX_LENS:
                range_ = f"{MIN_FOCUS:g} to {MAX_LENS:g}"
                raise ViewerError(where, f"focus distance {self.focus} is out of range", f"a distance from {range_}")
            object.__setattr__(self, "focus", focus)
        eyes = 0.0 if self.eyes is None else _number(self.eyes)
        if not 0.0 <= eyes <= MAX_LENS:
            raise ViewerError(where, f"distance of the eyes {self.eyes} is out of range", f"from 0 to {MAX_LENS:g}")
        object.__setattr__(self, "eyes", eyes or None)

    @classmethod
    def parse(cls, text: str, fov: float = 40.0, name: str = "camera") -> Camera:
        """The camera of ``"ox,oy,oz tx,ty,tz [ux,uy,uz]"``; up defaults to +Y.

        Raises ViewerError with the wrong part.
        """
        where, form = f"camera '{text}'", "give 'ox,oy,oz tx,ty,tz' or 'ox,oy,oz tx,ty,tz ux,uy,uz'"
        parts = text.split()
        if len(parts) not in (2, 3):
            raise ViewerError(where, f"{len(parts)} points, expected origin, target and perhaps up", form)
        vectors: list[Vector] = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
        for index, (label, part) in enumerate(zip(("origin", "target", "up"), parts, strict=False)):
            numbers = part.split(",")
            if len(numbers) != 3:
                raise ViewerError(where, f"{label} '{part}' has {len(numbers)} numbers, expected 3", form)
            for number in numbers:
                try:
                    float(number)
                except ValueError:
                    raise ViewerError(where, f"{label} '{part}': '{number}' is not a number", form) from None
            vectors[index] = (float(numbers[0]), float(numbers[1]), float(numbers[2]))
        origin, target, up = vectors
        return cls(origin, target, up, fov=fov, name=name)

    def text(self) -> str:
        """Origin, target and up in the syntax of `parse`; exact, with all digits of each float, in the file's
        coordinates."""
        in_file = self.about((0.0, 0.0, 0.0))
        return " ".join(_csv(vector) for vector in (in_file.origin, in_file.target, in_file.up))

    def about(self, base: Sequence[float]) -> Camera:
        """The same camera with origin and target relative to ``base`` (3,), a point of the file's coordinates."""
        shift = np.subtract(self.base, base)
        if not shift.any():
            return self
        origin, target = (tuple(np.add(point, shift).tolist()) for point in (self.origin, self.target))
        motion = tuple(key.about(base) for key in self.motion)
        x, y, z = map(float, base)
        return replace(self, origin=origin, target=target, motion=motion, base=(x, y, z))

    @classmethod
    def framing(
        cls,
        bounds: ArrayLike,
        fov: float = 40.0,
        direction: Sequence[float] = (0.35, 0.25, 1.0),
        name: str = "camera",
        aspect: float = 1.0,
    ) -> Camera:
        """A camera that frames a whole box; ``direction`` points from the box's centre to the camera.

        bounds : (2, 3), lowest and highest corner, scene units. An empty or infinite box is framed as a unit cube.
        aspect : of the picture, width / height: the smaller of both fields of view counts, so that a wide picture shows
        the box as large as a square one.
        """
        box = np.asarray(bounds, np.float64).reshape(2, 3)
        if not np.isfinite(box).all() or (box[1] < box[0]).any():
            box = np.zeros((2, 3))
        centre = box.mean(axis=0)
        half_size = box[1] - centre
        min_size = 1e-9 * np.abs(centre).max()  # float64 must still separate origin and target
        if half_size.max() <= min_size:
            half_size = np.full(3, max(0.5, min_size))
        x, y, z = _checked_vector(f"camera '{name}'", "direction", direction)
        # A camera at the origin gives the axes; the corner that needs most room gives the distance.
        right, up, forward = cls((0.0, 0.0, 0.0), (-x, -y, -z), fov=fov, name=name).basis()
        corners = half_size * list(itertools.product((-1, 1), repeat=3))
        slope = math.tan(math.radians(fov) / 2) / FRAMING_MARGIN
        sideways = np.maximum(np.abs(corners @ right) / min(max(aspect, MIN_ASPECT), 1.0), np.abs(corners @ up))
        min_distance = 0.1 * float(np.linalg.norm(half_size))  # keeps a line along the view in front of the camera
        distance = float((np.maximum(sideways / slope, min_distance) - corners @ forward).max())
        return cls(tuple(centre - distance * forward), tuple(centre), fov=fov, name=name)

    def sees(self, bounds: ArrayLike) -> bool:
        """Whether a box, (2, 3) lowest and highest corner, may be seen: it is not behind or beside the picture, and not
        too small in it (`MIN_SEEN`). An empty or infinite box is."""
        box = np.asarray(bounds, np.float64).reshape(2, 3)
        radius = float(np.linalg.norm(box[1] - box[0])) / 2
        if not np.isfinite(box).all() or not radius > 0:
            return True
        if self.projection is not None and not isinstance(self.projection, Orthographic):
            return True
        right, up, forward = self.basis()
        slope = math.tan(math.radians(self.fov) / 2)
        corners = np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]]) - self.origin
        ahead, upwards, sideways = corners @ forward, corners @ up, corners @ right
        half_height = slope * ahead if self.projection is None else np.full(8, self.projection.height / 2)
        outside_sides = (sideways - MAX_ASPECT * half_height, -sideways - MAX_ASPECT * half_height)
        outside_top = (upwards - half_height, -upwards - half_height)
        if any((signed >= 0).all() for signed in (-ahead, *outside_sides, *outside_top)):
            return False
        if self.projection is not None:
            return radius >= MIN_SEEN * self.projection.height / 2
        distance = float(np.linalg.norm(box.mean(axis=0) - self.origin))
        return distance <= radius or radius / distance >= MIN_SEEN * slope

    def with_fov(self, fov: float) -> Camera:
        """The same camera with another vertical field of view, degrees."""
        return replace(self, fov=fov, motion=tuple(key.with_fov(fov) for key in self.motion))

    def with_lens(self, aperture: float | None = None, focus: float | None = None) -> Camera:
        """The same camera with another aperture or focus distance, if given."""
        return replace(
            self,
            aperture=self.aperture if aperture is None else aperture,
            focus=self.focus if focus is None else focus,
            motion=tuple(key.with_lens(aperture, focus) for key in self.motion),
        )

    def with_projection(self, projection: Projection | None, eyes: float | None = None) -> Camera:
        """The same camera with another projection, and another distance of its eyes, if given."""
        return replace(
            self,
            projection=projection,
            eyes=self.eyes if eyes is None else eyes,
            motion=tuple(key.with_projection(projection, eyes) for key in self.motion),
        )

    def with_picture_size(self, size: tuple[int, int]) -> Camera:
        """The same camera for pictures of ``size`` (width, height), which intrinsics without a size take."""
        projection = self.projection
        if not isinstance(projection, Intrinsics) or projection.size is not None:
            return self
        return self.with_projection(replace(projection, size=(size[0] // 2, size[1]) if self.eyes else size))

    @property
    def kind(self) -> str:
        """The name of its projection's shader; empty for the plain pinhole, and the thin lens."""
        if self.projection is None:
            return Perspective.kind if self.eyes else ""
        return self.projection.kind

    @property
    def model(self) -> Projection:
        """The projection, that by the field of view among them."""
        return Perspective(self.fov) if self.projection is None else self.projection

    @property
    def facts(self) -> dict[str, str]:
        """The projection and the eyes in words, where it is no plain pinhole."""
        facts = {} if self.projection is None else {"projection": self.projection.text}
        return {**facts, "stereo": repr(self.eyes)} if self.eyes else facts

    def pixel(self, height: int) -> float:
        """The side of a pixel in the middle of a picture of ``height`` rows: at distance 1, or of parallel rays."""
        if self.projection is None:
            return 2 * math.tan(math.radians(self.fov) / 2) / height
        step = self.projection.film((height, height))[1] * 2 / height
        return step * self.projection.reach if isinstance(self.projection, Fisheye) else step

    def unproject(self, film: ArrayLike, size: tuple[int, int]) -> tuple[Array, Array]:
        """(origins (N, 3), unit directions (N, 3)) in world space of the rays through points ``film`` (N, 2) of a
        picture of ``size`` (width, height), in pixels from its upper left corner, and the middle of the lens;
        directions are NaN where nothing is seen."""
        points = np.asarray(film, np.float64).reshape(-1, 2)
        film_points, eye_sign = 2 * points / size - 1, np.zeros(len(points))
        if self.eyes:
            eye_sign = np.where(points[:, 0] < size[0] / 2, -1.0, 1.0)
            film_points[:, 0] = 2 * film_points[:, 0] - eye_sign
            size = size[0] / 2, size[1]  # type: ignore[assignment]
        origins, directions = self.model.rays(film_points, size)
        if self.eyes:
            origins = origins + (eye_sign * self.eyes / 2)[:, None] * self._eye_axis(directions)
        axes = np.array(self.basis())
        return np.asarray(self.origin) + origins @ axes, directions @ axes

    def project(self, points: ArrayLike, size: tuple[int, int], eye: int = -1) -> Array:
        """The inverse of `unproject`: the pixel coordinates (N, 2) of points (N, 3) in world space; NaN where they are
        not seen. eye : -1 or 1, the left or right half of a stereo pair."""
        axes = np.array(self.basis())
        relative = (np.asarray(points, np.float64).reshape(-1, 3) - np.asarray(self.origin)) @ axes.T
        if not self.eyes:
            return (self.model.places(relative, size) + 1) / 2 * size
        half_size = size[0] / 2, size[1]
        relative = relative - eye * self.eyes / 2 * self._eye_axis(relative, eye)
        film_points = self.model.places(relative, half_size)  # type: ignore[arg-type]
        film_points = np.where(np.abs(film_points[:, :1]) <= 1, film_points, np.nan)
        film_points[:, 0] = (film_points[:, 0] + eye) / 2
        return (film_points + 1) / 2 * size

    def _eye_axis(self, vectors: Array, eye: int = 0) -> Array:
        """(N, 3), camera space: unit vectors from the left to the right eye, for rays of these directions (N, 3); or,
        with an ``eye`` of -1 or 1, for the points (N, 3) that it sees."""
        if self.kind != "equirectangular":
            return np.tile([1.0, 0.0, 0.0], (len(vectors), 1))
        angle, radius = np.arctan2(vectors[:, 0], vectors[:, 2]), (self.eyes or 0.0) / 2
        if eye:  # a ray of the eye touches the circle of both
            angle = angle - eye * np.arcsin(radius / np.maximum(np.hypot(vectors[:, 0], vectors[:, 2]), radius))
        return np.stack([np.cos(angle), np.zeros_like(angle), -np.sin(angle)], axis=1)

    def at(self, count: int) -> list[Camera]:
        """The camera at ``count`` even times of its motion, whose vectors are linear between keys; each is still."""
        if not self.motion:
            return [self] * count
        cameras = []
        for time in np.linspace(0.0, len(self.motion) - 1.0, count).tolist():
            index = min(int(time), len(self.motion) - 2)
            fraction, (before, after) = time - index, self.motion[index : index + 2]
            origin, target, up = (
                _mix_vectors(getattr(before, name), getattr(after, name), fraction)
                for name in ("origin", "target", "up")
            )
            cameras.append(replace(before, origin=origin, target=target, up=up, motion=()))
        return cameras

    @property
    def focus_distance(self) -> float:
        """Distance along the view of the plane in focus, scene units: ``focus``, or the target's."""
        if self.focus is not None:
            return self.focus
        distance = float(np.linalg.norm(_difference(self.target, self.origin)))
        return min(max(distance, MIN_FOCUS), MAX_LENS)

    def basis(self) -> tuple[Array, Array, Array]:
        """(right, up, forward): orthonormal, float64 (3,) each, world space; right = forward x up."""
        view = self._view_rotation()
        # + 0.0 turns negative zeros positive.
        return view[0, :3] + 0.0, view[1, :3] + 0.0, -view[2, :3] + 0.0

    def rays(self, width: int, height: int) -> tuple[Array, Array]:
        """Origins and unit directions (height, width, 3) float64 of the rays through the pixel centres, row 0 on top.

        The twin of the GLSL camera: normalize(forward + sx tan(fov/2) aspect right + sy tan(fov/2) up) with
        sx = 2 (x + 0.5) / width - 1 and sy = 1 - 2 (y + 0.5) / height. Of another projection as `unproject` has them.
        """
        if self.kind:
            film = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1) + 0.5
            origins, directions = self.unproject(film, (width, height))
            return origins.reshape(height, width, 3), directions.reshape(height, width, 3)
        right, up, forward = self.basis()
        slope = math.tan(math.radians(self.fov) / 2)
        sx = (2 * (np.arange(width) + 0.5) / width - 1) * slope * (width / height)
        sy = (1 - 2 * (np.arange(height) + 0.5) / height) * slope
        directions = forward + sx[None, :, None] * right + sy[:, None, None] * up
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        origins = np.empty_like(directions)
        origins[:] = self.origin
        return origins, directions

    def view_matrix(self) -> Array:
        """World to eye space, (4, 4) float64 for column vectors (``M @ p``); the eye looks along -Z.

        OpenGL stores columns: upload ``M.T``, or the bytes of ``M`` with transpose on.
        """
        from pyrr import matrix44

        return self._view_rotation() @ matrix44.create_from_translation(-np.asarray(self.origin), dtype=np.float64).T

    def projection_matrix(self, aspect: float, near: float, far: float) -> Array:
        """Eye to OpenGL clip space, (4, 4) float64 for column vectors; aspect = width / height, near and far > 0."""
        from pyrr import matrix44

        return matrix44.create_perspective_projection_matrix(self.fov, aspect, near, far, dtype=np.float64).T

    def _view_rotation(self) -> Array:
        """The rotation of the view matrix, (4, 4) for column vectors; rows right, up, -forward."""
        return _look_rotation(self.origin, self.target, self.up)


@lru_cache(maxsize=64)  # used by every pass over a picture
def _look_rotation(origin: Vector, target: Vector, up: Vector) -> Array:
    """(4, 4), read only: rotates the world to eye space for a camera that looks from origin to target."""
    forward = _unit(_difference(target, origin))
    for upright in (_unit(up), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])):
        if np.linalg.norm(np.cross(forward, upright)) > MIN_SINE_TO_UP:
            break
    # As pyrr's create_look_at, which is slow to import.
    forward = forward / np.sqrt((forward**2).sum())
    right = np.cross(forward, upright)
    right = right / np.sqrt((right**2).sum())
    upward = np.cross(right, forward)
    rotation = np.eye(4)
    rotation[:3, :3] = right, upward / np.sqrt((upward**2).sum()), -forward
    rotation.flags.writeable = False
    return rotation


def _number(value: object) -> float:
    """The value as a float, NaN if impossible."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _checked_vector(where: str, label: str, value: Sequence[float]) -> Vector:
    try:
        vector = tuple(float(component) for component in value)
    except (TypeError, ValueError):
        raise ViewerError(where, f"{label} {value!r} is not three numbers") from None
    if len(vector) != 3:
        raise ViewerError(where, f"{label} has {len(vector)} numbers, expected 3")
    if not all(math.isfinite(component) for component in vector):
        raise ViewerError(where, f"{label} {_csv(vector)} is not finite")
    return vector


def _csv(vector: Vector) -> str:
    return ",".join(repr(component) for component in vector)


def _mix_vectors(before: Vector, after: Vector, fraction: float) -> Vector:
    x, y, z = ((1.0 - fraction) * a + fraction * b for a, b in zip(before, after, strict=True))
    return x, y, z


def _difference(a: Vector, b: Vector) -> Array:
    """A vector along a - b; halved if the difference of two huge points overflows."""
    with np.errstate(over="ignore"):
        difference = np.subtract(a, b)
    return difference if np.isfinite(difference).all() else np.asarray(a) * 0.5 - np.asarray(b) * 0.5


def _unit(vector: ArrayLike) -> Array:
    """The unit vector; scaled first, since squares of huge and tiny components leave float64's range."""
    v = np.asarray(vector, np.float64)
    v = v / np.abs(v).max()
    return v / np.linalg.norm(v)
