"""A procedural forest: two thousand trees of six species on hilly ground, one million triangles.

Each species is one mesh of 500 triangles, placed many times, so that the scene stores 35,768 triangles and shows a
million. Everything follows from one seed. Branches turn by the golden angle, as leaves do on a stem (H. Vogel, *A
better way to construct the sunflower head*, Mathematical Biosciences 44, 1979). Units are metres; +Y is up.

It stands in for the forest of T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), section 5.2.1, whose geometry
was not published: the same triangle count, and a box of its proportions, 4.54 : 1 : 4.54, so that a grid with 128
voxels along the shortest side is 581 x 128 x 581 here as there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.builtin.parts.shapes import Array, Builder, Part, tube, unit
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

SEED = 1975
TREES, MOST_TREES = 2000, 1_000_000
FEWEST = 100  # below, path and clearing take all of the ground
TRIANGLES = 500  # of a tree
HALF = 130.0  # of the ground's side
CELLS, MOST_CELLS = 128, 512  # of the ground, along a side
TRUNK_SIDES, BRANCH_SIDES = 6, 3
GOLDEN_ANGLE = np.pi * (3 - 5**0.5)
# Amplitudes of the ground's hills and swells, chosen for the height of the box.
HILLS, SWELLS = 17.18, 2.0
SIZES = 0.78, 1.56  # least and greatest of a species' trees, of its height
PLANTED = 0.95  # of the ground's half side: crowns do not reach beyond it
FOOT = 0.35  # metres of a trunk in the ground

GROUND, BARK, LEAVES = range(3)


@dataclass(frozen=True)
class Species:
    """Parameters of a tree species; lengths in metres, colours linear RGB."""

    name: str
    share: float
    height: float
    crown: float  # radius
    bare: float  # part of the trunk without branches
    rise: float  # slope of the branches; conifers droop
    branches: int
    leaf: float  # length
    green: tuple[float, float, float]
    bark: tuple[float, float, float]
    conifer: bool = False


SPECIES = (
    Species("oak", 0.22, 9.0, 3.6, 0.28, 0.35, 10, 0.95, (0.10, 0.24, 0.035), (0.14, 0.095, 0.06)),
    Species("beech", 0.18, 12.0, 3.3, 0.35, 0.75, 10, 0.90, (0.16, 0.33, 0.05), (0.25, 0.24, 0.21)),
    Species("birch", 0.14, 11.0, 2.2, 0.30, 0.90, 9, 0.75, (0.28, 0.38, 0.07), (0.68, 0.66, 0.60)),
    Species("maple", 0.06, 8.0, 3.0, 0.25, 0.60, 9, 0.90, (0.52, 0.16, 0.03), (0.16, 0.11, 0.08)),
    Species("spruce", 0.24, 15.0, 2.9, 0.08, -0.28, 0, 0.0, (0.030, 0.12, 0.055), (0.12, 0.08, 0.05), True),
    Species("pine", 0.16, 12.0, 2.6, 0.30, 0.10, 0, 0.0, (0.065, 0.17, 0.075), (0.22, 0.11, 0.055), True),
)


def build(trees: int = TREES) -> Scene:
    """The forest: 1,032,768 triangles seen, 35,768 stored. More trees take more ground, at equal density.

    Raises ViewerError for an invalid number of trees.
    """
    if not isinstance(trees, (int, np.integer)) or isinstance(trees, bool) or not 0 <= trees <= MOST_TREES:
        raise ViewerError("forest", f"{trees!r} trees", f"a whole number from 0 to {MOST_TREES:,}")
    rng = np.random.default_rng(SEED)
    spread = math.sqrt(max(trees, FEWEST) / TREES)
    half = HALF * spread
    meshes = [_ground(rng, half, min(round(CELLS * spread), MOST_CELLS))]
    meshes += [
        (_conifer if kind.conifer else _broadleaf)(kind, np.random.default_rng([SEED, n]))
        for n, kind in enumerate(SPECIES)
    ]
    instances = [Instance(0, name="ground")]
    kinds, transforms = _plant(rng, trees, half)
    instances += [
        Instance(1 + int(kind), transform, name=f"{SPECIES[kind].name} {index}")
        for index, (kind, transform) in enumerate(zip(kinds, transforms, strict=True))
    ]
    path = np.array([_path(-80.0), -80.0])
    ahead = np.array([_path(-54.0), -54.0])
    return Scene(
        meshes,
        instances,
        [
            Material("ground"),
            Material("bark", roughness=0.9),
            Material("leaves", roughness=0.7, double_sided=True),
        ],
        [
            Camera((118.0, 112.0, 165.0), (-2.0, -8.0, 6.0), fov=52, name="overview"),
            Camera(
                (path[0], float(_height(*path)) + 2.2, path[1]),
                (ahead[0], float(_height(*ahead)) + 4.2, ahead[1]),
                fov=65,
                name="inside",
            ),
            Camera((0.0, 340.0, 0.0), (0.0, 0.0, 0.0), fov=41, name="top"),
            Camera(
                (8.0, float(_height(8.0, 4.0)) + 2.4, 4.0),
                (8.0, float(_height(8.0, -40.0)) + 5.0, -40.0),
                fov=60,
                name="clearing",
            ),
        ],
        name="forest",
    )


def _height(x: Array | float, z: Array | float) -> Array:
    """The ground's height at a point."""
    return (
        HILLS * np.sin(0.027 * x + 0.9) * np.cos(0.024 * z - 0.4)
        + SWELLS * np.sin(0.071 * x - 0.058 * z + 2.0)
        + 0.35 * np.sin(0.29 * x + 0.4) * np.sin(0.27 * z + 1.1)
    )


def _path(z: Array | float) -> Array:
    """The course of the path through the forest: x at z."""
    return 13.0 * np.sin(0.034 * z) + 6.0 * np.sin(0.083 * z + 1.0)


def _open_ground(x: Array, z: Array) -> Array:
    """0 under trees, up to 1 on the path and in the clearing."""
    return np.maximum(_trodden(x, z), np.clip(1.6 - np.hypot(x - 8.0, (z + 4.0) * 1.2) / 12.0, 0.0, 1.0))


def _trodden(x: Array, z: Array) -> Array:
    """1 in the middle of the path, 0 beside it."""
    return np.clip(1.5 - np.abs(x - _path(z)) / 1.9, 0.0, 1.0)


def _ground(rng: np.random.Generator, half: float, cells: int) -> Mesh:
    line = np.linspace(-half, half, cells + 1)
    x, z = np.meshgrid(line, line, indexing="ij")
    step = 1e-3
    slope_x = (_height(x + step, z) - _height(x - step, z)) / (2 * step)
    slope_z = (_height(x, z + step) - _height(x, z - step)) / (2 * step)
    positions = np.stack([x, _height(x, z), z], axis=-1).reshape(-1, 3)
    normals = unit(np.stack([-slope_x, np.ones_like(x), -slope_z], axis=-1)).reshape(-1, 3)
    corner = ((cells + 1) * np.arange(cells)[:, None] + np.arange(cells)).ravel()
    a, b, c, d = corner, corner + 1, corner + cells + 2, corner + cells + 1
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    wood, grass, sand = np.array([[0.105, 0.085, 0.035], [0.13, 0.23, 0.045], [0.30, 0.22, 0.12]])
    moss = np.clip(0.5 + 0.5 * np.sin(0.11 * x + 1.7 * np.sin(0.07 * z)), 0, 1)[..., None]
    color = wood + (np.array([0.07, 0.125, 0.03]) - wood) * 0.6 * moss
    color = color + (grass - color) * _open_ground(x, z)[..., None]
    color = color + (sand - color) * _trodden(x, z)[..., None]
    color = color * rng.uniform(0.8, 1.2, (*x.shape, 1))
    builder = Builder()
    builder.add(Part(positions, normals, triangles), color.reshape(-1, 3), GROUND)
    return builder.mesh("ground")


def _broadleaf(kind: Species, rng: np.random.Generator) -> Mesh:
    """Trunk, branches that bend upwards, and leaves around their outer halves and the crown's shell."""
    builder = Builder()
    lean = rng.normal(0, 0.04 * kind.height, 2)

    def trunk(t: Array) -> Array:
        return np.stack([lean[0] * t * t, kind.height * 0.92 * t, lean[1] * t * t], axis=-1)

    levels = np.array([0.0, 0.04, 0.45, 0.8, 1.0])
    radii = kind.height * np.array([0.046, 0.031, 0.021, 0.011, 0.003])
    builder.add(tube(trunk(levels), radii, TRUNK_SIDES), kind.bark, BARK)
    count = TRUNK_SIDES * 2 * 4
    start = kind.bare + (0.95 - kind.bare) * np.arange(kind.branches) / (kind.branches - 1)
    tips = [trunk(np.array([1.0]))]
    for index, t in enumerate(start):
        angle = index * GOLDEN_ANGLE + rng.uniform(-0.3, 0.3)
        direction = unit([np.cos(angle), kind.rise + 0.35 * t, np.sin(angle)])
        reach = kind.crown * (1.05 - 0.75 * abs((t - kind.bare) / (1 - kind.bare) - 0.35)) * rng.uniform(0.85, 1.15)
        root = trunk(t)
        middle, tip = root + 0.5 * reach * direction, root + reach * direction + [0, 0.16 * reach, 0]
        builder.add(
            tube([root, middle, tip], kind.height * np.array([0.011, 0.007, 0.002]), BRANCH_SIDES), kind.bark, BARK
        )
        count += BRANCH_SIDES * 2 * 2
        tips += [tip[None], (0.45 * middle + 0.55 * tip)[None]]
    anchors = np.concatenate(tips)
    leaves = (TRIANGLES - count) // 2
    centre = np.array([lean[0] * 0.4, kind.height * (0.42 + 0.3 * kind.bare), lean[1] * 0.4])
    anchor = anchors[np.arange(leaves) % len(anchors)]
    positions = anchor + rng.normal(0, 0.24 * kind.crown, (leaves, 3))
    foliage, shade = _leaves(positions, centre, kind.leaf, rng)
    builder.add(foliage, np.asarray(kind.green) * shade[:, None], LEAVES)
    return builder.mesh(kind.name)


def _leaves(positions: Array, centre: Array, length: float, rng: np.random.Generator) -> tuple[Part, Array]:
    """Sprays of leaves as bent rhombs of two triangles, (the part, brightness per vertex); they face outwards."""
    count = len(positions)
    outward = positions - centre
    normal = unit(unit(outward) + [0, 0.35, 0] + rng.normal(0, 0.45, (count, 3)))
    axis = unit(np.cross(normal, rng.normal(size=(count, 3))))
    side = np.cross(normal, axis)
    size = length * rng.uniform(0.8, 1.35, (count, 1))
    tip, stem = positions + 0.62 * size * axis, positions - 0.62 * size * axis
    sink = 0.12 * size * normal
    left, right = positions + 0.42 * size * side - sink, positions - 0.42 * size * side - sink
    # Each half keeps its own normal: a spray is two flat triangles.
    corners = np.stack([np.stack([stem, tip, left], 1), np.stack([tip, stem, right], 1)], axis=1).reshape(-1, 3, 3)
    flat = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    part = Part(corners.reshape(-1, 3), np.repeat(flat, 3, axis=0), np.arange(6 * count).reshape(-1, 3))
    # Darker towards the inside, where less of the sky reaches.
    depth = np.linalg.norm(outward, axis=1)
    shade = (0.55 + 0.55 * depth / depth.max()) * rng.uniform(0.75, 1.25, count)
    return part, np.repeat(shade, 6)


def _conifer(kind: Species, rng: np.random.Generator) -> Mesh:
    """A straight trunk and boughs of four triangles, wound around it by the golden angle."""
    builder = Builder()
    levels = np.array([0.0, 0.05, 0.5, 1.0])
    axis = np.stack([np.zeros(4), kind.height * levels, np.zeros(4)], axis=-1)
    builder.add(tube(axis, kind.height * np.array([0.032, 0.021, 0.013, 0.0015]), 6), kind.bark, BARK)
    count = (TRIANGLES - 6 * 2 * 3) // 4
    indices = np.arange(count)
    t = kind.bare + (0.985 - kind.bare) * (indices + rng.uniform(0, 1, count)) / count
    angle = indices * GOLDEN_ANGLE
    taper = (1.0 - t) / (1.0 - kind.bare)
    reach = kind.crown * (0.06 + taper ** (0.85 if kind.rise < 0 else 0.55)) * rng.uniform(0.8, 1.15, count)
    # Old boughs below hang, young ones above rise.
    direction = unit(np.stack([np.cos(angle), kind.rise * taper + 0.55 * (1 - taper), np.sin(angle)], axis=-1))
    side = unit(np.cross(direction, [0.0, 1.0, 0.0]))
    root = np.stack([np.zeros(count), kind.height * t, np.zeros(count)], axis=-1)
    r = reach[:, None]
    width = (0.20 * r + 0.12) * side
    middle, tip = root + 0.6 * r * direction, root + r * direction - [0, 0.02, 0] * r
    ridge, droop = middle + [0, 0.05, 0] * r, middle - [0, 0.10, 0] * r
    left, right = droop - width, droop + width
    faces = [(root, right, ridge), (root, ridge, left), (right, tip, ridge), (ridge, tip, left)]
    corners = np.stack([np.stack(face, axis=1) for face in faces], axis=1).reshape(-1, 3, 3)
    flat = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    part = Part(corners.reshape(-1, 3), np.repeat(flat, 3, axis=0), np.arange(12 * count).reshape(-1, 3))
    inner = np.array([0.55, 1.0, 0.8, 0.55, 0.8, 1.0, 1.0, 1.35, 0.8, 0.8, 1.35, 1.0])
    shade = (rng.uniform(0.75, 1.25, count)[:, None] * inner).ravel()
    builder.add(part, np.asarray(kind.green) * shade[:, None], LEAVES)
    return builder.mesh(kind.name)


def _plant(rng: np.random.Generator, trees: int, half: float) -> tuple[NDArray[np.int64], Array]:
    """Species (trees,) and transforms (trees, 4, 4): a jittered grid without path and clearing.

    Species form groups: they are drawn with weights that vary slowly over the ground.
    """
    side, free = int(np.ceil(np.sqrt(trees * 1.25))), np.zeros(0, np.int64)
    while True:
        cell = 2 * PLANTED * half / max(side, 1)
        i, k = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
        jitter = rng.uniform(0.1, 0.9, (2, side, side))
        x = (-PLANTED * half + (i + jitter[0]) * cell).ravel()
        z = (-PLANTED * half + (k + jitter[1]) * cell).ravel()
        free = np.flatnonzero(_open_ground(x, z) <= 0.0)
        if len(free) >= trees:
            break
        side += 1  # path and clearing take a larger share of small ground
    chosen = np.sort(rng.permutation(free)[:trees])
    x, z = x[chosen], z[chosen]
    phase = rng.uniform(0, 2 * np.pi, (len(SPECIES), 2))
    wave = np.sin(0.045 * x + phase[:, :1]) + np.sin(0.05 * z + phase[:, 1:])
    weight = np.array([[kind.share] for kind in SPECIES]) * np.exp(1.1 * wave)
    bound = np.cumsum(weight / weight.sum(axis=0), axis=0)
    kinds = (rng.uniform(size=trees) > bound[:-1]).sum(axis=0)
    angle, scale = rng.uniform(0, 2 * np.pi, trees), rng.uniform(*SIZES, trees)
    slender = scale * rng.uniform(0.92, 1.12, trees)
    transforms = np.zeros((trees, 4, 4))
    transforms[:, 0, 0] = transforms[:, 2, 2] = slender * np.cos(angle)
    transforms[:, 0, 2], transforms[:, 2, 0] = slender * np.sin(angle), -slender * np.sin(angle)
    transforms[:, 1, 1], transforms[:, 3, 3] = scale, 1.0
    # The foot is sunk into the ground, which slopes.
    transforms[:, :3, 3] = np.stack([x, _height(x, z) - FOOT, z], axis=-1)
    return kinds, transforms
