"""Ground truth of a dataset's picture, for the writers of its formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.projections import Intrinsics

# -- whole silhouettes of objects, without their occluders: rays that go on until they meet the object -----------------

Array = NDArray[np.float64]
Box = tuple[int, int, int, int]

# A silhouette that leaves the picture is known in a canvas of so many pictures along each side, as BOP's tools have it.
CANVAS = 3
MAX_GROUP_PIXELS = 1 << 20  # pixels of objects whose rays are traced together
RESTART_OFFSET = 1e-5  # behind a surface, in radii of the object, from where a ray goes on


class Ball(NamedTuple):
    """An object's ball, and the corners (8, 3) of its box, world space."""

    middle: Array
    radius: float
    corners: Array


@dataclass(frozen=True, eq=False)
class Silhouette:
    """All of an object: ``mask`` (H, W) of the picture, and in the canvas around it the count of pixels and the box
    (left, top, width, height), which may begin before the picture; None without any."""

    mask: NDArray[np.bool_]
    count: int
    box: Box | None


def box_of(mask: NDArray[np.bool_], left: int = 0, top: int = 0) -> Box | None:
    """The box (left, top, width, height) around a mask's set pixels; None without any. left, top : of the mask itself,
    pixels."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    x, y = int(columns[0]), int(rows[0])
    return left + x, top + y, int(columns[-1]) - x + 1, int(rows[-1]) - y + 1


def silhouettes(
    renderer: Renderer, camera: Camera, owners: NDArray[np.int32], balls: list[Ball], visible: NDArray[np.int32]
) -> list[Silhouette]:
    """The silhouette of each object. owners : (I + 1,) the object of each of the scene's instances, -1 for none, as the
    last is. visible : (H, W) the object in each pixel of the picture, at its centre, -1 for none."""
    size = visible.shape[1], visible.shape[0]
    frames = [_frame(camera, ball, size) for ball in balls]
    finished, group, pixels = list[Silhouette](), list[int](), 0
    for index, frame in enumerate(frames):
        group.append(index)
        pixels += frame[2] * frame[3]
        if pixels >= MAX_GROUP_PIXELS or index + 1 == len(frames):
            finished += _trace_silhouettes(renderer, camera, owners, balls, frames, visible, group)
            group, pixels = [], 0
    return finished


def _trace_silhouettes(
    renderer: Renderer,
    camera: Camera,
    owners: NDArray[np.int32],
    balls: list[Ball],
    frames: list[Box],
    visible: NDArray[np.int32],
    indices: list[int],
) -> list[Silhouette]:
    """The silhouettes of the objects of ``indices``, traced together: each ray goes on behind the surfaces of others
    until it meets its own object or leaves its ball. frames : boxes of the canvas, of all objects."""
    size = visible.shape[1], visible.shape[0]
    canvases = {k: np.zeros(frames[k][:1:-1], bool) for k in indices}
    object_rays = [_rays(camera, balls[k], frames[k], size, visible == k) for k in indices]
    owner = np.repeat(indices, [len(rays.pixels) for rays in object_rays])
    pixels, directions, near, far = (np.concatenate(arrays) for arrays in zip(*object_rays, strict=True))
    step = RESTART_OFFSET * np.array([ball.radius for ball in balls])
    origin, active = np.asarray(camera.origin), np.arange(len(owner))
    while len(active):
        distance, rays = near[active], directions[active]
        hits = renderer.trace(
            origin + distance[:, None] * rays, rays, (far[active] - distance).astype(np.float32), view=True
        )
        owned = owners[hits.instance] == owner[active]
        for index in np.unique(owner[active[owned]]).tolist():
            canvases[index].reshape(-1)[pixels[active[owned & (owner[active] == index)]]] = True
        near[active] = distance + hits.distance + step[owner[active]]
        active = active[~owned & (hits.instance >= 0) & (near[active] < far[active])]
    return [_silhouette(canvas, frames[k], visible == k) for k, canvas in canvases.items()]


class _Rays(NamedTuple):
    """Rays from the camera through pixels of a frame: flat pixel indices (N,), unit directions (N, 3), and distances
    (N,) at which they enter and leave the object's ball."""

    pixels: NDArray[np.intp]
    directions: Array
    near: Array
    far: Array


def _frame(camera: Camera, ball: Ball, size: tuple[int, int]) -> Box:
    """The box of the canvas, pixels, that the object can be in: all of it where its box is not wholly before the
    camera, of no size where it is wholly behind."""
    width, height = size
    margin = (CANVAS - 1) // 2
    low, high = np.array([-margin * width, -margin * height]), np.array([(1 + margin) * width, (1 + margin) * height])
    _, _, forward = camera.basis()
    ahead = (ball.corners - np.asarray(camera.origin)) @ forward
    if (ahead <= 0).all():
        return 0, 0, 0, 0
    if (ahead > 0).all():
        projected = camera.project(ball.corners, size)
        low = np.clip(np.floor(projected.min(axis=0)) - 1, low, high)
        high = np.clip(np.ceil(projected.max(axis=0)) + 1, low, high)
    left, top, right, bottom = (int(value) for value in (*low, *high))
    return left, top, right - left, bottom - top


def _rays(camera: Camera, ball: Ball, frame: Box, size: tuple[int, int], visible: NDArray[np.bool_]) -> _Rays:
    """The rays through the frame's pixels that meet the ball, except pixels in which the object is ``visible`` (H,
    W)."""
    left, top, width, height = frame
    seen = np.zeros((height, width), bool)
    _overlap(seen, frame, visible)[...] = _overlap(visible, (0, 0, *size), seen, frame)
    pixels = np.flatnonzero(~seen)
    film = np.stack([pixels % max(width, 1) + left, pixels // max(width, 1) + top], axis=1) + 0.5
    _, directions = camera.unproject(film, size)
    to_middle = ball.middle - np.asarray(camera.origin)
    projection = directions @ to_middle  # the distance of the ball's middle along each ray
    with np.errstate(invalid="ignore"):  # a lens may not see all of the film
        squared_half_chord = ball.radius**2 - (to_middle @ to_middle - projection**2)
        half_chord = np.sqrt(np.maximum(squared_half_chord, 0.0))
        far = projection + half_chord
        crossing = (squared_half_chord > 0) & (far > 0)
    near = np.maximum(projection - half_chord, 0.0)
    return _Rays(pixels[crossing], directions[crossing], near[crossing], far[crossing])


def _overlap(array: NDArray, frame: Box, other: NDArray, other_frame: Box | None = None) -> NDArray:
    """A view of ``array``, which covers ``frame``: the pixels that ``other`` has, too, which covers ``other_frame``, by
    default the picture."""
    left, top, width, height = frame
    x, y, w, h = other_frame or (0, 0, other.shape[1], other.shape[0])
    first, last = max(left, x), min(left + width, x + w)
    upper, lower = max(top, y), min(top + height, y + h)
    return array[max(upper - top, 0) : max(lower - top, 0), max(first - left, 0) : max(last - left, 0)]


def _silhouette(canvas: NDArray[np.bool_], frame: Box, visible: NDArray[np.bool_]) -> Silhouette:
    """The union of the pixels traced in a canvas, which covers ``frame``, and the visible ones (H, W) of the
    picture."""
    mask = visible.copy()
    mask_overlap = _overlap(mask, (0, 0, mask.shape[1], mask.shape[0]), canvas, frame)
    canvas_overlap = _overlap(canvas, frame, mask)
    mask_overlap |= canvas_overlap
    canvas_overlap |= mask_overlap
    return Silhouette(mask, int(canvas.sum()), box_of(canvas, frame[0], frame[1]))


SPLIT = "train_pbr"  # BOP's name of the folder of path traced pictures for training


class Lens(NamedTuple):
    """A camera's matrix in OpenCV's pixels, (0, 0) the centre of the upper left one, and its distortion."""

    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ObjectInView:
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
    objects: tuple[ObjectInView, ...]

    @property
    def rotation(self) -> Array:
        """(3, 3): from the world to OpenCV's camera."""
        right, up, forward = self.camera.basis()
        return np.stack([right, -up, forward])

    def path(self, layer: str, ending: str = "png", object_index: int | None = None) -> str:
        """The path of a layer's file in the dataset's folder."""
        return path_of(self.scene, self.index, layer, ending, object_index)


def path_of(scene: int, index: int, layer: str, ending: str = "png", object_index: int | None = None) -> str:
    """The path of a layer's file: of a view of a scene, and of a copy."""
    return f"{SPLIT}/{scene:06d}/{layer}/{index:06d}{'' if object_index is None else f'_{object_index:06d}'}.{ending}"


def lens_of(camera: Camera, size: tuple[int, int]) -> Lens:
    """The lens of a pinhole, or of a measured camera of pictures of ``size`` (width, height)."""
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
