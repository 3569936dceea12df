"""Cameras with OpenGL's projections: they look along their own -Z, x to the right and y upwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender.checked import Checked, label, number, optional
from raystream.pyrender.constants import DEFAULT_Z_FAR, DEFAULT_Z_NEAR


class FarPlane(Checked[float | None]):
    """Distance of a camera's far clipping plane, beyond its ``znear``; None, of a perspective: there is none."""

    def __init__(self, default: float | None) -> None:
        super().__init__(float, default)

    def __set__(self, instance: Any, value: Any) -> None:
        far = None if value is None and isinstance(instance, PerspectiveCamera) else float(value)
        if far is not None and not far > instance.znear:
            raise ValueError(f"zfar is {far:g}, expected a number above znear, {instance.znear:g}")
        setattr(instance, f"_{self.name}", far)


class Camera(ABC):
    """The fields of all cameras. znear, zfar : distances of the clipping planes along the view, scene units."""

    name = Checked(label, None)
    znear = Checked(number("znear", 0.0), DEFAULT_Z_NEAR)
    zfar = FarPlane(DEFAULT_Z_FAR)

    def __init__(
        self, znear: float = DEFAULT_Z_NEAR, zfar: float | None = DEFAULT_Z_FAR, name: str | None = None
    ) -> None:
        self.name, self.znear, self.zfar = name, znear, zfar

    @abstractmethod
    def get_projection_matrix(self, width: float | None = None, height: float | None = None) -> NDArray[np.float64]:
        """Eye to OpenGL's clip space, (4, 4), for column vectors and a picture of ``width`` x ``height`` pixels."""

    def _perspective(self, x: float, y: float) -> NDArray[np.float64]:
        """A perspective with these scales of the axes."""
        matrix, near, far = np.zeros((4, 4)), self.znear, self.zfar
        matrix[0, 0], matrix[1, 1], matrix[3, 2] = x, y, -1.0
        matrix[2, 2:] = (-1.0, -2.0 * near) if far is None else np.array([far + near, 2 * far * near]) / (near - far)
        return matrix


@dataclass(eq=False, repr=False)
class PerspectiveCamera(Camera):
    """A pinhole. yfov : vertical field of view, radians. aspectRatio : width over height; None: the picture's."""

    yfov: Checked[float] = Checked(number("yfov", 0.0, open_low=True))
    znear: Checked[float] = Checked(number("znear", 0.0), DEFAULT_Z_NEAR)
    zfar: FarPlane = FarPlane(None)
    aspectRatio: Checked[float | None] = Checked(optional(number("aspectRatio", 0.0, open_low=True)), None)
    name: Checked[str | None] = Checked(label, None)

    def get_projection_matrix(self, width: float | None = None, height: float | None = None) -> NDArray[np.float64]:
        """See `Camera.get_projection_matrix`. Raises ValueError without ``aspectRatio`` and size."""
        aspect = self.aspectRatio
        if aspect is None:
            if width is None or height is None:
                raise ValueError("a camera without aspectRatio needs the picture's width and height")
            aspect = width / height
        slope = np.tan(self.yfov / 2.0)
        return self._perspective(1.0 / (aspect * slope), 1.0 / slope)


@dataclass(eq=False, repr=False)
class OrthographicCamera(Camera):
    """A parallel projection. ymag : half the height that is seen, scene units; xmag : half the width, where no picture
    says its aspect."""

    xmag: Checked[float] = Checked(number("xmag", 0.0, open_low=True))
    ymag: Checked[float] = Checked(number("ymag", 0.0, open_low=True))
    znear: Checked[float] = Checked(number("znear", 0.0, open_low=True), DEFAULT_Z_NEAR)
    zfar: FarPlane = FarPlane(DEFAULT_Z_FAR)
    name: Checked[str | None] = Checked(label, None)

    def get_projection_matrix(self, width: float | None = None, height: float | None = None) -> NDArray[np.float64]:
        """See `Camera.get_projection_matrix`; the picture's aspect replaces ``xmag``."""
        xmag = self.xmag if width is None or height is None else width / height * self.ymag
        near, far = self.znear, self.zfar
        assert far is not None
        matrix = np.diag([1.0 / xmag, 1.0 / self.ymag, 2.0 / (near - far), 1.0])
        matrix[2, 3] = (far + near) / (near - far)
        return matrix


@dataclass(eq=False, repr=False)
class IntrinsicsCamera(Camera):
    """A pinhole by its matrix K. fx, fy : focal lengths; cx, cy : the principal point from the picture's upper left
    corner; pixels."""

    fx: Checked[float] = Checked(number("fx", 0.0, open_low=True))
    fy: Checked[float] = Checked(number("fy", 0.0, open_low=True))
    cx: Checked[float] = Checked(float)
    cy: Checked[float] = Checked(float)
    znear: Checked[float] = Checked(number("znear", 0.0), DEFAULT_Z_NEAR)
    zfar: FarPlane = FarPlane(DEFAULT_Z_FAR)
    name: Checked[str | None] = Checked(label, None)

    def get_projection_matrix(self, width: float | None = None, height: float | None = None) -> NDArray[np.float64]:
        """See `Camera.get_projection_matrix`. Raises ValueError without a size."""
        if width is None or height is None:
            raise ValueError("intrinsics in pixels need the picture's width and height")
        matrix = self._perspective(2.0 * self.fx / width, 2.0 * self.fy / height)
        matrix[:2, 2] = 1.0 - 2.0 * self.cx / width, 2.0 * self.cy / height - 1.0
        return matrix
