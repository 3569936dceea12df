"""The camera, a pinhole or a thin lens: position, target, rays; the one module that calls pyrr.

World space is right-handed, +Y up by custom. A picture's row 0 is its top row; pixel (x, y) is sampled at its centre.
"""

from __future__ import annotations

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
PARALLEL = 1e-6
# Margin around a framed box, as a factor on its size.
MARGIN = 1.1
LEAST_ASPECT = 1e-3  # narrower pictures are framed as these
# What a camera sees is at least this share of the picture's height, in pictures of at most this width over height.
LEAST_SEEN, MAX_ROW_TEXELS = 0.02, 2.0
# Limits of lenses and focus distances for products and quotients within float32.
LARGEST_LENS, NEAREST_FOCUS = 1e18, 1e-18


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
            vector = _vector(where, label, getattr(self, label))
            object.__setattr__(self, label, vector)
        fov = _number(self.fov)
        if not 0.0 < fov < 180.0:
            raise ViewerError(
                where, f"field of view {self.fov} is not between 0 and 180 degrees", "vertical, in degrees"
            )
        object.__setattr__(self, "fov", fov)
        if self.origin == self.target:
            raise ViewerError(where, f"origin and target are the same point {_join(self.origin)}", "move one of them")
        if not any(self.up):
            raise ViewerError(where, "up is zero", "give a direction such as 0,1,0")
        aperture = _number(self.aperture)
        if not 0.0 <= aperture <= LARGEST_LENS:
            raise ViewerError(
                where, f"aperture {self.aperture} is out of range", f"a radius from 0 to {LARGEST_LENS:g}"
            )
        object.__setattr__(self, "aperture", aperture)
        if self.focus is not None:
            focus = _number(self.focus)
            if not NEAREST_FOCUS <= focus <= LARGEST_LENS:
                range_ = f"{NEAREST_FOCUS:g} to {LARGEST_LENS:g}"
                raise ViewerError(where, f"focus distance {self.focus} is out of range", f"a distance from {range_}")
            object.__setattr__(self, "focus", focus)
        eyes = 0.0 if self.eyes is None else _number(self.eyes)
        if not 0.0 <= eyes <= LARGEST_LENS:
            raise ViewerError(where, f"distance of the eyes {self.eyes} is out of range", f"from 0 to {LARGEST_LENS:g}")
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
        return " ".join(_join(vector) for vector in (in_file.origin, in_file.target, in_file.up))

    def about(self, base: Sequence[float]) -> Camera:
        """The same camera with its places relative to another point of the file's coordinates."""
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
        middle = box.mean(axis=0)
        half = box[1] - middle
        smallest = 1e-9 * np.abs(middle).max()  # float64 must still separate origin and target
        if half.max() <= smallest:
            half = np.full(3, max(0.5, smallest))
        away = _vector(f"camera '{name}'", "direction", direction)
        # A camera at the origin gives the axes; the corner that needs most room gives the distance.
        right, up, forward = cls((0.0, 0.0, 0.0), (-away[0], -away[1], -away[2]), fov=fov, name=name).basis()
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = signs * half
        slope = math.tan(math.radians(fov) / 2) / MARGIN
        sideways = np.maximum(np.abs(corners @ right) / min(max(aspect, LEAST_ASPECT), 1.0), np.abs(corners @ up))
        closest = 0.1 * float(np.linalg.norm(half))  # keeps a line along the view in front of the camera
        distance = float((np.maximum(sideways / slope, closest) - corners @ forward).max())
        return cls(tuple(middle - distance * forward), tuple(middle), fov=fov, name=name)

    def sees(self, bounds: ArrayLike) -> bool:
        """Whether a box, (2, 3) lowest and highest corner, may be seen: it is not behind or beside the picture, and not
        too small in it (`LEAST_SEEN`). An empty or infinite box is."""
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
        half = slope * ahead if self.projection is None else np.full(8, self.projection.height / 2)
        beside = (sideways - MAX_ROW_TEXELS * half, -sideways - MAX_ROW_TEXELS * half)
        above = (upwards - half, -upwards - half)
        if any((distances >= 0).all() for distances in (-ahead, *beside, *above)):
            return False
        if self.projection is not None:
            return radius >= LEAST_SEEN * self.projection.height / 2
        away = float(np.linalg.norm(box.mean(axis=0) - self.origin))
        return away <= radius or radius / away >= LEAST_SEEN * slope

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
        """The same camera; a measured one that leaves its pictures' size open, of pictures of this one, (width,
        height)."""
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
        """Origins and unit directions, (N, 3), of rays through places (N, 2) in a picture of ``size`` (width, height),
        in pixels from its upper left corner, and the middle of the lens; directions are NaN where nothing is seen."""
        points = np.asarray(film, np.float64).reshape(-1, 2)
        at, half = 2 * points / size - 1, np.zeros(len(points))
        if self.eyes:
            half = np.where(points[:, 0] < size[0] / 2, -1.0, 1.0)
            at[:, 0] = 2 * at[:, 0] - half
            size = size[0] / 2, size[1]  # type: ignore[assignment]
        starts, ways = self.model.rays(at, size)
        if self.eyes:
            starts = starts + (half * self.eyes / 2)[:, None] * self._across(ways)
        axes = np.array(self.basis())
        return np.asarray(self.origin) + starts @ axes, ways @ axes

    def project(self, points: ArrayLike, size: tuple[int, int], eye: int = -1) -> Array:
        """The inverse: places (N, 2), in pixels, of points (N, 3) in world space; NaN where they are not seen. eye :
        -1, or 1: which half of a stereo pair."""
        axes = np.array(self.basis())
        relative = (np.asarray(points, np.float64).reshape(-1, 3) - np.asarray(self.origin)) @ axes.T
        if not self.eyes:
            return (self.model.places(relative, size) + 1) / 2 * size
        half = size[0] / 2, size[1]
        relative = relative - eye * self.eyes / 2 * self._across(relative, eye)
        at = self.model.places(relative, half)  # type: ignore[arg-type]
        at = np.where(np.abs(at[:, :1]) <= 1, at, np.nan)
        at[:, 0] = (at[:, 0] + eye) / 2
        return (at + 1) / 2 * size

    def _across(self, ways: Array, eye: int = 0) -> Array:
        """(N, 3), camera space: to the right of the middle between the eyes, of ways; or, with an eye, of points that
        it sees."""
        if self.kind != "equirectangular":
            return np.tile([1.0, 0.0, 0.0], (len(ways), 1))
        angle, half = np.arctan2(ways[:, 0], ways[:, 2]), (self.eyes or 0.0) / 2
        if eye:  # a ray of the eye touches the circle of both
            angle = angle - eye * np.arcsin(half / np.maximum(np.hypot(ways[:, 0], ways[:, 2]), half))
        return np.stack([np.cos(angle), np.zeros_like(angle), -np.sin(angle)], axis=1)

    def at(self, count: int) -> list[Camera]:
        """The camera at ``count`` even times of its motion, itself still; places and ways are linear between keys."""
        if not self.motion:
            return [self] * count
        cameras = []
        for time in np.linspace(0.0, len(self.motion) - 1.0, count).tolist():
            k = min(int(time), len(self.motion) - 2)
            fraction, (before, after) = time - k, self.motion[k : k + 2]
            origin, target, up = (
                _join_vectors(getattr(before, name), getattr(after, name), fraction)
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
        return min(max(distance, NEAREST_FOCUS), LARGEST_LENS)

    def basis(self) -> tuple[Array, Array, Array]:
        """(right, up, forward): orthonormal, float64 (3,) each, world space; right = forward x up."""
        view = self._rotation()
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

        return self._rotation() @ matrix44.create_from_translation(-np.asarray(self.origin), dtype=np.float64).T

    def projection_matrix(self, aspect: float, near: float, far: float) -> Array:
        """Eye to OpenGL clip space, (4, 4) float64 for column vectors; aspect = width / height, near and far > 0."""
        from pyrr import matrix44

        return matrix44.create_perspective_projection_matrix(self.fov, aspect, near, far, dtype=np.float64).T

    def _rotation(self) -> Array:
        """The rotation of the view matrix, (4, 4) for column vectors; rows right, up, -forward."""
        return _turned(self.origin, self.target, self.up)


@lru_cache(maxsize=64)  # used by every pass over a picture
def _turned(origin: Vector, target: Vector, up: Vector) -> Array:
    """See `Camera._rotation`; read only."""
    forward = _unit(_difference(target, origin))
    for upright in (_unit(up), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])):
        if np.linalg.norm(np.cross(forward, upright)) > PARALLEL:
            break
    # As pyrr's create_look_at, which is slow to import.
    forward = forward / np.sqrt((forward**2).sum())
    right = np.cross(forward, upright)
    right = right / np.sqrt((right**2).sum())
    upward = np.cross(right, forward)
    turned = np.eye(4)
    turned[:3, :3] = right, upward / np.sqrt((upward**2).sum()), -forward
    turned.flags.writeable = False
    return turned


def _number(value: object) -> float:
    """The value as a float, NaN if impossible."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _vector(where: str, label: str, value: Sequence[float]) -> Vector:
    try:
        vector = tuple(float(component) for component in value)
    except (TypeError, ValueError):
        raise ViewerError(where, f"{label} {value!r} is not three numbers") from None
    if len(vector) != 3:
        raise ViewerError(where, f"{label} has {len(vector)} numbers, expected 3")
    if not all(math.isfinite(component) for component in vector):
        raise ViewerError(where, f"{label} {_join(vector)} is not finite")
    return vector


def _join(vector: Vector) -> str:
    return ",".join(repr(component) for component in vector)


def _join_vectors(before: Vector, after: Vector, fraction: float) -> Vector:
    x, y, z = ((1.0 - fraction) * a + fraction * b for a, b in zip(before, after, strict=True))
    return x, y, z


def _difference(a: Vector, b: Vector) -> Array:
    """A vector along a - b; halved if the difference of two huge points overflows."""
    with np.errstate(over="ignore"):
        plain = np.subtract(a, b)
    return plain if np.isfinite(plain).all() else np.asarray(a) * 0.5 - np.asarray(b) * 0.5


def _unit(vector: ArrayLike) -> Array:
    """The unit vector; scaled first, since squares of huge and tiny components leave float64's range."""
    v = np.asarray(vector, np.float64)
    v = v / np.abs(v).max()
    return v / np.linalg.norm(v)
