"""A camera at its pose, for pictures of one size: rays through pixel centres, and the camera of a path tracer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.pyrender.scene import Scene
from viewer.scene.camera import Camera

CENTRED = 1e-6  # of the picture's sides, to which a principal point is in the middle and pixels are square


@dataclass(frozen=True)
class Eye:
    """pose : (4, 4), eye space to the world; the eye looks along its own -Z. projection : (4, 4), OpenGL's. near, far :
    depths of the clipping planes, scene units. size : width and height."""

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
        far = math.inf if camera.zfar is None else camera.zfar
        return cls(scene.get_pose(node), camera.get_projection_matrix(*size), camera.znear, far, size)

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
        plane = np.zeros((height, width, 3))
        plane[..., 0], plane[..., 1] = x, y[:, None]
        plane, ahead = plane.reshape(-1, 3), np.array([0.0, 0.0, -1.0])
        turn, place = self.pose[:3, :3], self.pose[:3, 3]
        if self.parallel:
            origins = (plane + self.near * ahead) @ turn.T + place
            return origins, np.broadcast_to(turn @ ahead, origins.shape)
        directions = (plane + ahead) @ turn.T
        return place + self.near * directions, directions

    def camera(self) -> Camera:
        """The pinhole with this view. Raises ViewerError for what is none: a parallel projection, a principal point
        beside the middle, pixels that are not square."""
        wide, tall = self.pixel
        if self.parallel:
            raise ViewerError("camera", "a parallel projection has depth and segments, but no light yet")
        beside = np.abs(self.projection[:2, 2]).max() > CENTRED or abs(wide / tall - 1) > CENTRED
        if beside:
            raise ViewerError(
                "camera", "no light yet where pixels are not square or the principal point is not in the middle"
            )
        origin, back, up = self.pose[:3, 3], self.pose[:3, 2], self.pose[:3, 1]
        fov = math.degrees(2 * math.atan(1 / self.projection[1, 1]))
        return Camera(tuple(origin), tuple(origin - back), tuple(up), fov=fov, name="main camera")
