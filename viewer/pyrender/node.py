"""Nodes of a scene: an object and its pose beside its parent."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.pyrender.camera import Camera
from raystream.pyrender.checked import Checked, label
from raystream.pyrender.light import Light
from raystream.pyrender.mesh import Mesh

T = TypeVar("T")


def _one_of(what: str, kind: type[T]) -> Checked[T | None]:
    """An object of that kind, or None; raises TypeError for another."""

    def read(value: Any) -> T | None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{what} is {type(value).__name__}, expected a {kind.__name__}")
        return value

    return Checked(read)


def _array(what: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.array(value, np.float64)
    if array.shape != shape:
        raise ValueError(f"{what} has shape {array.shape}, expected {shape}")
    return array


class Node:
    """A mesh, camera or light at a pose: a ``matrix``, or ``translation`` after ``rotation`` (a unit quaternion x, y,
    z, w) after ``scale``. skin and weights are kept and without effect.

    Raises ValueError for shapes, a matrix that is not affine, and a quaternion that is not of unit length; TypeError
    for another object.
    """

    name = Checked(label)
    camera, mesh, light = _one_of("camera", Camera), _one_of("mesh", Mesh), _one_of("light", Light)  # type: ignore[type-abstract]

    def __init__(
        self,
        name: str | None = None,
        camera: Camera | None = None,
        children: list[Node] | None = None,
        skin: Any = None,
        matrix: ArrayLike | None = None,
        mesh: Mesh | None = None,
        rotation: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        weights: Any = None,
        light: Light | None = None,
    ) -> None:
        self.name, self.camera, self.mesh, self.light = name, camera, mesh, light
        self.children: list[Node] = [] if children is None else children
        self.skin, self.weights = skin, weights
        self._matrix = np.eye(4)
        if matrix is not None:
            self.matrix = matrix
            return
        for part, value in (("scale", scale), ("rotation", rotation), ("translation", translation)):
            if value is not None:
                setattr(self, part, value)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """(4, 4): to the parent's space; writes into it place the node elsewhere."""
        return self._matrix

    @matrix.setter
    def matrix(self, value: ArrayLike) -> None:
        array = _array("matrix", value, (4, 4))
        if not np.allclose(array[3], (0.0, 0.0, 0.0, 1.0)):
            raise ValueError(f"the last row of the matrix is {array[3].tolist()}, expected 0 0 0 1")
        self._matrix = array

    @property
    def translation(self) -> NDArray[np.float64]:
        """(3,), a copy."""
        return self._matrix[:3, 3].copy()

    @translation.setter
    def translation(self, value: ArrayLike) -> None:
        self._set(np.s_[:3, 3], _array("translation", value, (3,)))

    @property
    def scale(self) -> NDArray[np.float64]:
        """(3,): the lengths of the matrix's axes."""
        return np.linalg.norm(self._matrix[:3, :3], axis=0)

    @scale.setter
    def scale(self, value: ArrayLike) -> None:
        self._set(np.s_[:3, :3], self._turn() * _array("scale", value, (3,)))

    @property
    def rotation(self) -> NDArray[np.float64]:
        """(4,): the quaternion x, y, z, w of the matrix's axes, w not negative (Shepperd, Quaternion from Rotation
        Matrix, 1978)."""
        axes = self._turn()
        # Four times each component's product with each other one; the row of the largest is the most exact.
        outer = np.diag(4 * [1.0 - np.trace(axes)])
        outer[:3, :3] += axes + axes.T
        outer[3, :3] = outer[:3, 3] = axes[2, 1] - axes[1, 2], axes[0, 2] - axes[2, 0], axes[1, 0] - axes[0, 1]
        outer[3, 3] = 1.0 + np.trace(axes)
        quaternion = outer[np.diag(outer).argmax()]
        return quaternion / np.copysign(np.linalg.norm(quaternion), quaternion[3])

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        x, y, z, w = quaternion = _array("rotation", value, (4,))
        if abs(np.linalg.norm(quaternion) - 1.0) > 1e-3:
            raise ValueError(f"the quaternion's length is {np.linalg.norm(quaternion):g}, expected 1")
        x, y, z, w = quaternion / np.linalg.norm(quaternion)
        axes = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        self._set(np.s_[:3, :3], np.array(axes) * self.scale)

    def _set(self, part: Any, value: NDArray[np.float64]) -> None:
        """Another part of the matrix; an earlier `matrix` stays as it was."""
        self._matrix = self._matrix.copy()
        self._matrix[part] = value

    def _turn(self) -> NDArray[np.float64]:
        """(3, 3): the matrix's axes, of unit length."""
        lengths = self.scale
        return self._matrix[:3, :3] / np.where(lengths > 0, lengths, 1.0)
