"""Ground truth of a dataset's picture, for the writers of its formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.dataset.silhouettes import Silhouette
from raystream.scene.camera import Camera
from raystream.scene.projections.models import Intrinsics

Array = NDArray[np.float64]

SPLIT = "train_pbr"  # BOP's name of the folder of path traced pictures for training


class Lens(NamedTuple):
    """A camera's matrix in OpenCV's pixels, (0, 0) the centre of the upper left one, and its distortion."""

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class CopyInView:
    """A copy in a picture: the number of its kind; its pose from the model to OpenCV's camera, x right, y down, z along
    the view, scene units, by a rotation (3, 3) and a translation (3,); its silhouette, where asked for."""

    kind: int
    rotation: Array
    translation: Array
    silhouette: Silhouette | None


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """A picture: its numbers, its camera, ``rgb`` (H, W, 3) 8-bit sRGB, ``depth`` (H, W) along the view, scene units, 0
    for none, and ``owners`` (H, W), the copy in each pixel, -1 for none; the last two at pixels' centres."""

    number: int
    scene: int
    index: int
    camera: Camera
    lens: Lens
    rgb: NDArray[np.uint8]
    depth: Array
    owners: NDArray[np.int32]
    things: tuple[CopyInView, ...]

    @property
    def rotation(self) -> Array:
        """(3, 3): from the world to OpenCV's camera."""
        right, up, forward = self.camera.basis()
        return np.stack([right, -up, forward])

    def path(self, layer: str, ending: str = "png", thing: int | None = None) -> str:
        """Of a layer's file, in the dataset's folder."""
        return path_of(self.scene, self.index, layer, ending, thing)


def path_of(scene: int, index: int, layer: str, ending: str = "png", thing: int | None = None) -> str:
    """Of the file of a layer of a view of a scene, and of a copy's."""
    return f"{SPLIT}/{scene:06d}/{layer}/{index:06d}{'' if thing is None else f'_{thing:06d}'}.{ending}"


def lens_of(camera: Camera, size: tuple[int, int]) -> Lens:
    """Of a pinhole, or of a measured camera of pictures of ``size`` (width, height)."""
    if isinstance(camera.projection, Intrinsics):
        intrinsics = camera.projection
        return Lens(
            intrinsics.fx,
            intrinsics.fy,
            intrinsics.cx,
            intrinsics.cy,
            intrinsics.distortion if any(intrinsics.distortion) else (),
        )
    focal = size[1] / 2 / float(np.tan(np.radians(camera.fov) / 2))
    return Lens(focal, focal, (size[0] - 1) / 2, (size[1] - 1) / 2, ())
