"""Arrangements, lights and cameras of a dataset: pure functions of the seed and of a scene's or picture's number.

All is made of `numpy.random.Generator.random` of generators that are seeded by (seed, subject, number), so that any
picture can be made by itself, in any order, and that another subject's numbers do not change these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.dataset.fields import Span
from raystream.dataset.recipe import Cameras, DatasetRecipe, Lights
from raystream.scene.camera import Camera
from raystream.scene.light import Light

Array = NDArray[np.float64]
PlacementReport = Callable[[int, int], None]  # copies placed so far, and of all

POSES, LIGHTS, ENVIRONMENT, CAMERA, PICTURE = range(5)  # subjects
CANDIDATES = 32  # random positions of a copy, of which the roomiest is taken
MIN_COMPILED_COPIES = 64  # copies below which compiling a loop takes longer than to run it


class Shape(NamedTuple):
    """A model's form, scene units of its file.

    points : (V, 3) of its surface, from the middle of its box. side : the longest of its box. radius : of a ball around
    the middle.
    """

    points: Array
    side: float
    radius: float


@dataclass(frozen=True, eq=False)
class Placement:
    """A copy of a model, by its index: points from its box's middle are scaled, rotated (3, 3) and moved."""

    model: int
    scale: float
    rotation: Array
    position: Array

    @property
    def matrix(self) -> Array:
        """(4, 4): from the model, its middle at the origin, to the world."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation * self.scale, self.position
        return matrix


@dataclass(frozen=True, eq=False)
class SceneLayout:
    """A scene: its copies of models, its lights, its environment as an index of the recipe's choices, that one's
    rotation and its sun's elevation, degrees, and the middle (3,) of the box of all copies, world space."""

    placements: tuple[Placement, ...]
    lights: tuple[Light, ...]
    environment: int
    rotation: float
    sun: float
    middle: Array


def generator(seed: int, *keys: int) -> np.random.Generator:
    """The random generator of (seed, subject, further keys)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, *keys))))


def sample_layout(
    recipe: DatasetRecipe, shapes: Sequence[Shape], scene: int, report: PlacementReport | None = None
) -> SceneLayout:
    """The layout of the scene of that index. shapes : of the recipe's models, in their order. report : called with the
    count of copies placed so far, and with the largest count that there can be."""
    placements = _placements(recipe, shapes, generator(recipe.seed, POSES, scene), report)
    radii = [placed.scale * shapes[placed.model].radius for placed in placements]
    corners = [
        placed.position + sign * radius
        for placed, radius in zip(placements, radii, strict=True)
        for sign in (-1.0, 1.0)
    ]
    middle = (np.min(corners, axis=0) + np.max(corners, axis=0)) / 2 if corners else np.zeros(3)
    lights = _lights(recipe.lights, recipe.cameras, middle, generator(recipe.seed, LIGHTS, scene))
    draw = generator(recipe.seed, ENVIRONMENT, scene)
    chosen = _uniform_index(len(recipe.environment.choices), draw)
    rotation, sun = uniform(recipe.environment.rotation, draw), uniform(recipe.environment.sun, draw)
    return SceneLayout(placements, lights, chosen, rotation, sun, middle)


def _placements(
    recipe: DatasetRecipe, shapes: Sequence[Shape], draw: np.random.Generator, report: PlacementReport | None
) -> tuple[Placement, ...]:
    """The copies of all models, placed one after the other; with ``apart`` each where it has most room."""
    poses = recipe.poses
    low, high = (np.array(corner) for corner in poses.area)
    balls = _PlacedBalls(sum(model.count[1] for model in recipe.models))
    placements = list[Placement]()
    for index, (model, shape) in enumerate(zip(recipe.models, shapes, strict=True)):
        turned_about_y = poses.turn != "any"
        lowest = float(shape.points[:, 1].min()) if len(shape.points) else 0.0
        for _ in range(model.count[0] + _uniform_index(model.count[1] - model.count[0] + 1, draw)):
            scale = 1.0 if model.size is None else uniform(model.size, draw) / shape.side
            rotation = sample_rotation(poses.turn, draw)
            if not turned_about_y and len(shape.points):
                lowest = float((shape.points @ rotation[1]).min())
            lift = -lowest * scale if poses.rest else 0.0
            positions = low + draw.random((CANDIDATES if poses.apart else 1, 3)) * (high - low) + (0.0, lift, 0.0)
            position = positions[balls.roomiest(positions)]
            balls.add(position, scale * shape.radius)
            placements.append(Placement(index, scale, rotation, position))
            if report is not None:
                report(len(placements), balls.capacity)
    return tuple(placements)


class _PlacedBalls:
    """Balls around the copies placed so far, at most ``capacity`` of them."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._count, self._centers, self._radii = 0, np.zeros((capacity, 3)), np.zeros(capacity)

    def add(self, position: Array, radius: float) -> None:
        """Add a copy's ball. position : (3,) its center."""
        self._centers[self._count], self._radii[self._count] = position, radius
        self._count += 1

    def roomiest(self, positions: Array) -> int:
        """The index of the position (N, 3) that is farthest from the ball nearest to it, the first of equal ones."""
        small = self.capacity < MIN_COMPILED_COPIES
        chosen: int = run(roomiest_loop, positions, self._centers, self._radii, self._count, small=small)
        return chosen


def roomiest_loop(positions: Array, centers: Array, radii: Array, count: int) -> int:
    """See `_PlacedBalls.roomiest`: among the first ``count`` balls."""
    best, best_gap = 0, -math.inf
    for index in range(len(positions)):
        gap = math.inf
        for k in range(count):
            x = positions[index, 0] - centers[k, 0]
            y = positions[index, 1] - centers[k, 1]
            z = positions[index, 2] - centers[k, 2]
            gap = min(gap, math.sqrt(x * x + y * y + z * z) - radii[k])
            if gap <= best_gap:
                break
        if gap > best_gap:
            best, best_gap = index, gap
    return best


def _lights(lights: Lights, cameras: Cameras, middle: Array, draw: np.random.Generator) -> tuple[Light, ...]:
    """Point lights on the shell of the recipe around ``middle`` (3,), world space."""
    sampled = []
    for index in range(lights.count[0] + _uniform_index(lights.count[1] - lights.count[0] + 1, draw)):
        distance = uniform(lights.distance or cameras.distance, draw)
        position = middle + distance * sample_shell(lights.elevation, lights.azimuth, draw)
        power = uniform(lights.irradiance, draw) * distance**2
        color = np.array(lights.colors[_uniform_index(len(lights.colors), draw)]) * power
        x, y, z = position.tolist()
        red, green, blue = color.tolist()
        sampled.append(Light("point", f"light {index}", (x, y, z), intensity=(red, green, blue)))
    return tuple(sampled)


def sample_camera(recipe: DatasetRecipe, middle: Array, scene: int, view: int) -> Camera:
    """The camera of a view of a scene, both indices. middle : (3,) of the scene's copies, world space."""
    cameras, draw = recipe.cameras, generator(recipe.seed, CAMERA, scene, view)
    distance, roll = uniform(cameras.distance, draw), math.radians(uniform(cameras.roll, draw))
    azimuth = cameras.azimuth
    if cameras.path == "orbit":
        azimuth = (azimuth[0] + (azimuth[1] - azimuth[0]) * view / recipe.views,) * 2
    direction = sample_shell(cameras.elevation, azimuth, draw)
    aside = sample_shell((-90.0, 90.0), (0.0, 360.0), draw) * cameras.aside * draw.random() ** (1 / 3)
    target = middle + aside
    origin = target + distance * direction
    unrolled = Camera(tuple(origin.tolist()), tuple(target.tolist()), fov=cameras.fov)
    right, up, _ = unrolled.basis()
    upward = math.cos(roll) * up + math.sin(roll) * right
    projection = cameras.measured_projection(recipe.size)
    return Camera(unrolled.origin, unrolled.target, tuple(upward.tolist()), cameras.fov, projection=projection)


def picture_seed(recipe: DatasetRecipe, index: int) -> int:
    """The seed of a picture's samples."""
    return int(generator(recipe.seed, PICTURE, index).random() * 0x7FFFFFFF)


def uniform(span: Span, draw: np.random.Generator) -> float:
    """A uniform random number of a range."""
    return span[0] + (span[1] - span[0]) * float(draw.random())


def _uniform_index(count: int, draw: np.random.Generator) -> int:
    """A uniform random index below ``count``."""
    return int(draw.random() * count)


def sample_shell(elevation: Span, azimuth: Span, draw: np.random.Generator) -> Array:
    """A unit vector (3,), uniform on the sphere between two elevations and two azimuths, degrees: above the horizon,
    and about +Y from +Z towards +X."""
    low, high = (math.sin(math.radians(angle)) for angle in elevation)
    height, angle = uniform((low, high), draw), math.radians(uniform(azimuth, draw))
    radius = math.sqrt(max(0.0, 1 - height * height))
    return np.array([radius * math.sin(angle), height, radius * math.cos(angle)])


def sample_rotation(turn: str, draw: np.random.Generator) -> Array:
    """A random rotation (3, 3): about +Y for ``upright``, any (K. Shoemake, "Uniform Random Rotations", Graphics Gems
    III, 1992), or none. Three numbers are drawn in each case."""
    first, second, third = draw.random(3).tolist()
    if turn == "none":
        return np.eye(3)
    if turn == "upright":
        c, s = math.cos(2 * math.pi * first), math.sin(2 * math.pi * first)
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    a, b = math.sqrt(1 - first), math.sqrt(first)
    x, y = a * math.sin(2 * math.pi * second), a * math.cos(2 * math.pi * second)
    z, w = b * math.sin(2 * math.pi * third), b * math.cos(2 * math.pi * third)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
