"""Stand-ins for scenes and cameras that are not available: what is varied, and the search that fits it to D fig. 5.2.

A camera is sought whose eye rays pierce v voxels, test t triangles and are shaded s times each, as the published ones
do. Cameras *around* a scene are given by their distance, azimuth and elevation from what they aim at, cameras *within*
by their place over the floor and two angles. Degrees, scene units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.published.chapter5 import View as Published
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.walk import Space, walk

AROUND = ("distance", "azimuth", "elevation", "aim x", "aim y", "aim z", "field of view")
WITHIN = ("x", "height over the floor", "z", "azimuth", "elevation", "field of view")
EDGE = 48  # pixels along a side while a camera is sought
FIRST, ROUNDS, SEED = 300, 400, 2002  # cameras tried at random, and near the best one
SPREAD, LEAST_SPREAD, SHRINK = 0.15, 0.01, 0.99  # of the ranges, of steps from the best one; after each in vain
CLOSE = 0.02  # largest relative error of v, t and s, with which a search ends
AGREES = 0.10  # and with which a stand-in agrees

Vary = Callable[[NDArray[np.float64]], Camera]


def camera_around(values: ArrayLike) -> Camera:
    """By the seven numbers of `AROUND`."""
    distance, azimuth, elevation, x, y, z, fov = map(float, np.asarray(values))
    a, e = np.radians([azimuth, elevation])
    aim = np.array([x, y, z])
    origin = aim + distance * np.array([np.cos(e) * np.sin(a), np.sin(e), np.cos(e) * np.cos(a)])
    return Camera(tuple(origin.tolist()), (x, y, z), fov=fov, name="around")


def camera_within(values: ArrayLike, floor: Callable[[float, float], float]) -> Camera:
    """By the six numbers of `WITHIN`, and the height of the floor at x, z."""
    x, height, z, azimuth, elevation, fov = map(float, np.asarray(values))
    a, e = np.radians([azimuth, elevation])
    origin = np.array([x, floor(x, z) + height, z])
    target = origin + [np.cos(e) * np.sin(a), np.sin(e), -np.cos(e) * np.cos(a)]
    return Camera(tuple(origin.tolist()), tuple(target.tolist()), fov=fov, name="within")


def rays_work(space: Space, camera: Camera, edge: int = EDGE) -> NDArray[np.float64]:
    """(3,) v, t, s of a picture of edge x edge."""
    runs, state = walk(space, eye_rays(camera, (edge, edge)))
    return np.array([runs.steps.mean(), runs.tests.mean(), (state.triangle >= 0).mean()])


def error(work: Sequence[float] | NDArray, published: Published) -> float:
    """The largest of the relative errors of v, t and s."""
    theirs = np.array([published.v, published.t, published.s])
    return float(np.abs(np.asarray(work) / theirs - 1).max())


@dataclass(frozen=True)
class Found:
    """values : of the best camera; work : its v, t, s; tried : cameras."""

    values: NDArray[np.float64]
    work: NDArray[np.float64]
    error: float
    tried: int


def search(
    space: Space, published: Published, vary: Vary, ranges: Sequence[tuple[float, float]], seed: int = SEED
) -> Found:
    """The camera whose v, t, s are nearest to the published ones: random ones over the ranges, then random steps from
    the best one, shorter and shorter. The same seed gives the same camera."""
    rng = np.random.default_rng(seed)
    low, high = np.array(ranges, float).T
    best = Found(low, np.zeros(3), np.inf, 0)
    spread, tried = SPREAD, 0
    while tried < FIRST + ROUNDS and best.error > CLOSE:
        values = low + (high - low) * rng.random(len(low))
        if tried >= FIRST:
            moved = rng.random(len(low)) < 0.5
            values = np.clip(best.values + moved * spread * (high - low) * rng.normal(size=len(low)), low, high)
        tried += 1
        work = rays_work(space, vary(values))
        if error(work, published) < best.error:
            best = Found(values, work, error(work, published), tried)
        elif tried > FIRST:
            spread = max(LEAST_SPREAD, SHRINK * spread)
    return replace(best, tried=tried)


# -- density ---------------------------------------------------------------------------------------------------------


def gathered(forest: Scene, share: float, proportion: float) -> Scene:
    """The forest drawn together: trees of a share of their size, at this share of their distance from the middle, on
    ground of the same extent; heights are then scaled until the box is ``proportion`` times as wide as high.

    The ground is the forest's first instance, its mesh a square of vertices, z fastest.
    """
    ground, *trees = forest.instances
    moved = []
    for tree in trees:
        transform = tree.transform.copy()
        foot = transform[1, 3] - ground_height(forest, transform[0, 3], transform[2, 3])
        transform[:3, :3] *= share
        x, z = share * transform[0, 3], share * transform[2, 3]
        transform[:3, 3] = x, ground_height(forest, x, z) + share * foot, z
        moved.append(replace(tree, transform=transform))
    scene = forest.with_parts(instances=[ground, *moved])
    low, high = scene.bounds()
    higher = np.diag([1.0, (high - low)[0] / (high - low)[1] / proportion, 1.0, 1.0])
    return scene.with_parts(instances=[replace(each, transform=higher @ each.transform) for each in (ground, *moved)])


def ground_height(forest: Scene, x: float, z: float) -> float:
    """Of the ground at a place, between its four nearest vertices."""
    ground = forest.instances[0]
    positions = np.asarray(forest.meshes[ground.mesh].positions, np.float64)
    side = round(len(positions) ** 0.5)
    grid = positions.reshape(side, side, 3)
    (first_x, _, first_z), (last_x, _, last_z) = grid[0, 0], grid[-1, -1]
    u = np.clip((x - first_x) / (last_x - first_x), 0, 1) * (side - 1)
    w = np.clip((z - first_z) / (last_z - first_z), 0, 1) * (side - 1)
    i, k = min(int(u), side - 2), min(int(w), side - 2)
    near = grid[i : i + 2, k : k + 2, 1]
    along = near[0] + (u - i) * (near[1] - near[0])
    return float(ground.transform[1, 1] * (along[0] + (w - k) * (along[1] - along[0])) + ground.transform[1, 3])
