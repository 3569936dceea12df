"""A camera at its pose, for pictures of one size: rays through pixel centres, and the camera of a path tracer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.pyrender.scene import Scene
from raystream.scene.camera import Camera
from raystream.scene.projections.models import Intrinsics, Orthographic, Projection

CENTRED = 1e-6  # of the picture's sides, to which a principal point is in the middle and pixels are square


@dataclass(frozen=True)
class Eye:
    """pose : (4, 4), eye space to the world; the eye looks along its own -Z. projection : (4, 4), OpenGL's. near, far :
    depths of the clipping planes, scene units; a parallel projection may begin behind the eye. size : width and
    height."""

    pose: NDArray[np.float64]
    projection: NDArray[np.float64]
    near: float
    far: float
    size: tuple[int, int]

    @classmethod
    def of(cls, scene: Scene, size: tuple[int, int]) -> Eye:
        """The scene's main camera. Raises ViewerError without one."""
        node = scene.main_camera_node
        if node is None:
            raise ViewerError("scene", "has no camera", "scene.add(PerspectiveCamera(yfov=1.0), pose=...)")
        camera = node.camera
        assert camera is not None
        projection = np.asarray(camera.get_projection_matrix(*size), np.float64)
        near, far = _planes(projection)
        if not near < far:  # as of a perspective that begins at the eye
            near, far = camera.znear, math.inf if camera.zfar is None else camera.zfar
        return cls(scene.get_pose(node), projection, near, far, size)

    @property
    def key(self) -> tuple[bytes, bytes, tuple[int, int]]:
        """Equal for equal views."""
        return self.pose.tobytes(), self.projection.tobytes(), self.size

    @property
    def parallel(self) -> bool:
        """Whether it is a parallel projection."""
        return bool(self.projection[3, 3])

    @property
    def pixel(self) -> tuple[float, float]:
        """Width and height of a pixel at depth 1, or at all depths of a parallel projection; scene units."""
        return 2.0 / (self.size[0] * self.projection[0, 0]), 2.0 / (self.size[1] * self.projection[1, 1])

    def rays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Origins on the near plane and directions (H * W, 3), world space, through the pixel centres, row 0 at the
        top. A direction goes to the depth of 1: a distance along it is a depth beyond the near plane."""
        (width, height), scale = self.size, self.projection
        x = (2 * (np.arange(width) + 0.5) / width - 1 + scale[0, 2] - scale[0, 3]) / scale[0, 0]
        y = (1 - 2 * (np.arange(height) + 0.5) / height + scale[1, 2] - scale[1, 3]) / scale[1, 1]
        right, up, back = self.pose[:3, 0], self.pose[:3, 1], self.pose[:3, 2]
        offsets = (x[None, :, None] * right + y[:, None, None] * up).reshape(-1, 3)
        if self.parallel:
            return self.pose[:3, 3] - self.near * back + offsets, np.broadcast_to(-back, offsets.shape)
        directions = offsets - back
        return self.pose[:3, 3] + self.near * directions, directions

    def camera(self) -> Camera:
        """The renderer's camera with this view: a pinhole by its field of view where pixels are square and the
        principal point is in the middle."""
        (width, height), (wide, tall), scale = self.size, self.pixel, self.projection
        origin, back, up = self.pose[:3, 3], self.pose[:3, 2], self.pose[:3, 1]
        projection: Projection | None = None
        if self.parallel:
            if abs(wide / tall - 1) > CENTRED:
                raise ViewerError("camera", "pixels of a parallel projection are not square", "give the other aspect")
            off = -scale[0, 3] / scale[0, 0], -scale[1, 3] / scale[1, 1], -min(self.near, 0.0)
            origin = origin + self.pose[:3, :3] @ off
            projection = Orthographic(2.0 / scale[1, 1] * float(np.linalg.norm(up)))
        elif np.abs(scale[:2, 2]).max() > CENTRED or abs(wide / tall - 1) > CENTRED:
            # The centre of the upper left pixel is 0 there, and half a pixel here.
            middle = (1 - scale[0, 2]) / 2 * width - 0.5, (1 + scale[1, 2]) / 2 * height - 0.5
            projection = Intrinsics(1 / wide, 1 / tall, *middle, size=self.size)
        fov = math.degrees(2 * math.atan(1 / scale[1, 1]))
        places = tuple(map(float, origin)), tuple(map(float, origin - back)), tuple(map(float, up))
        return Camera(*places, fov=fov, name="main camera", projection=projection)  # type: ignore[arg-type]


def _planes(projection: NDArray[np.float64]) -> tuple[float, float]:
    """Depths at which a projection (4, 4) leaves OpenGL's clip space, from -1 to 1; not a number where it has none."""
    (a, b), (c, d) = projection[2:, 2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((b + d) / (a + c)), float((b - d) / (a - c))
