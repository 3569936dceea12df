"""Something that follows the mouse, as in Blender: in the plane of the view, along an axis, or in a plane across one.
Pure arithmetic in float64."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

AXES = "XYZ"
PARALLEL = 1e-4  # sine of the angle to an axis or plane below which a ray tells no place on it


@dataclass
class Grab:
    """start : (3,) the point that was grabbed, world space.

    Points under the cursor stay under it: a grab that began beside the point (a marker) keeps that offset.
    """

    start: ArrayLike
    axis: int | None = None  # number of the axis, None: the plane of the view
    plane: bool = False  # across the axis instead of along it
    shift: Array = field(default_factory=lambda: np.zeros(3))  # world space, scene units
    _offset: Array | None = None

    def constrain(self, axis: str, plane: bool = False) -> None:
        """Along the axis of that name, or with ``plane`` across it; the same again frees it."""
        number = AXES.index(axis)
        same = (self.axis, self.plane) == (number, plane)
        self.axis, self.plane = (None, False) if same else (number, plane)

    @property
    def text(self) -> str:
        """Where it may go."""
        if self.axis is None:
            return "in the plane of the view"
        return f"{'across' if self.plane else 'along'} {AXES[self.axis]}"

    def follow(self, origin: ArrayLike, direction: ArrayLike, forward: ArrayLike) -> bool:
        """The cursor's ray: origin and unit direction (3,), and the view's direction. Whether it has moved.

        A ray that tells no place, because it is parallel or leads away, moves nothing.
        """
        eye, ray = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
        start, view = np.asarray(self.start, np.float64), np.asarray(forward, np.float64)
        if self._offset is None:
            free = _on_plane(eye, ray, start, view)
            self._offset = np.zeros(3) if free is None else free - start
        grabbed = start + self._offset
        if self.axis is None:
            point = _on_plane(eye, ray, grabbed, view)
        else:
            axis = np.eye(3)[self.axis]
            point = (_on_plane if self.plane else _on_line)(eye, ray, grabbed, axis)
        if point is None or not np.isfinite(point).all():
            return False
        before, self.shift = self.shift, point - grabbed
        return bool((self.shift != before).any())


def _on_plane(eye: Array, ray: Array, point: Array, normal: Array) -> Array | None:
    """Where a ray meets the plane through a point; None for one that does not."""
    cosine = float(ray @ normal)
    if abs(cosine) < PARALLEL:
        return None
    distance = float((point - eye) @ normal) / cosine
    return eye + distance * ray if distance > 0 else None


def _on_line(eye: Array, ray: Array, point: Array, axis: Array) -> Array | None:
    """The point of a line through ``point`` that a ray comes nearest to."""
    cosine = float(ray @ axis)
    sine2 = 1.0 - cosine * cosine
    if sine2 < PARALLEL**2:
        return None
    away = point - eye
    ray_offset, axis_offset = float(away @ ray), float(away @ axis)
    distance = (ray_offset - cosine * axis_offset) / sine2  # along the ray
    if distance <= 0:
        return None
    return point + (cosine * ray_offset - axis_offset) / sine2 * axis
