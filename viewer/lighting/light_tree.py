"""The light tree: a hierarchy over a scene's lights, down which one is chosen for the point that it is to light up.

A. Conty Estevez and C. Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting" (2018): of each cluster
bounds are known on where it is, how much it shines and into which directions, and so how much may come from there. As
in pbrt-v4 (M. Pharr, W. Jakob and G. Humphreys, *Physically Based Rendering*, 4th edition, 2023, section 12.6.3) a
cluster is never split for one sample, its extent is that of a sphere, and each light keeps the way down to it as bits,
by which the probability of having chosen it is found for whoever meets its surface by chance.

Powers are peak intensities: of a triangle its area times radiance, of a sphere its disc's, of points and spots their
intensity along the axis; luminances. What is infinitely far stands in a tree of its own, by power alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.stream.declare.record import Field, Record

BINS, FEW_BINS = 12, 8  # in which splits are looked for, along each axis, and along one
THOROUGH = 7  # levels in which all three axes are looked at
WAY = 23  # bits of a way that one number holds: whole numbers are exact in floats up to 2^24
DEEPEST = 2 * WAY  # levels
HALVED = 24  # levels from which on clusters are halved: a tree of 2^22 lights then stays within the deepest

Float = NDArray[np.float64]

_CHILD = (
    Field("{}", "vec3", "scene units", "world", "middle of the sphere around the lights"),
    Field("{}_radius", "float", "scene units", about="below zero: infinitely far, by power alone"),
    Field("{}_axis", "vec3", "", "world", "of the cone of their normals; as long as 2 and its cosine"),
    Field("{}_power", "float", about="over that of all; below zero: both sides shine"),
)
_LINK = (
    Field("{}_emission", "float", about="cosine of the angle from a normal within which light leaves"),
    Field("{}_link", "int", about="the child's node; below zero: -1 - the number of the light"),
)
NODE = Record(
    "LightNode",
    *(
        Field(each.name.format(side), each.type, each.unit, each.space, each.about)
        for part in (_CHILD, _LINK)
        for side in ("left", "right")
        for each in part
    ),
)


class Bounds(NamedTuple):
    """What is known of lights, N of them, or of clusters.

    middle (N, 3), radius (N,): the sphere that holds each. axis (N, 3), spread (N,): unit axis and half angle of the
    cone of the normals, or of a spot's. emission (N,): the angle from a normal within which light leaves. power (N,):
    above zero. both (N,): whether it leaves to both sides of the normals.
    """

    middle: Float
    radius: Float
    axis: Float
    spread: Float
    emission: Float
    power: Float
    both: NDArray[np.bool_]

    def of(self, numbers: NDArray) -> Bounds:
        """Those of some."""
        middle, radius, axis, spread, emission, power, both = (part[numbers] for part in self)
        return Bounds(middle, radius, axis, spread, emission, power, both)


class LightTree(NamedTuple):
    """nodes (N - 1,) of `NODE`, the root first, or none; root: its link, as in a node. way (N, 2) int64: of each light
    the turns to it, 1 to the right, the first in the lowest bit, `WAY` of them in a number. depth: levels."""

    nodes: NDArray
    root: int
    way: NDArray[np.int64]
    depth: int


def build(lights: Bounds, far: bool = False) -> LightTree:
    """The tree of lights (N,), level by level from the root, all clusters of a level at once. O(N log N).

    A cluster is parted between `BINS` along one of the axes of its middles, of small ones the longest, where the sum of
    both parts' power times squared extent times solid angle of emission is least: the cost of Conty Estevez and Kulla,
    with second moments in place of the areas of boxes and resultants of the normals in place of their cones, which both
    are sums. The bounds of what comes out are exact. far : they are infinitely far, and parted by power alone.
    """
    count = len(lights.power)
    way, nodes = np.zeros((count, 2), np.int64), np.zeros(max(count - 1, 0), NODE.dtype)
    if count < 2:
        return LightTree(nodes, -1, way, 0)
    scaled = lights._replace(power=lights.power / lights.power.sum())
    table = np.column_stack([part.astype(np.float64) for part in scaled]).T.copy()  # columns lie together
    order, rows, first = np.arange(count), table, np.array([0])
    size = np.array([count])
    made, level = 1, 0
    while True:
        parents = np.arange(made - len(first), made)
        which = np.repeat(np.arange(len(size)), size)
        right = _parted(Rows(rows), first, size, which, level, far)
        way[order, level // WAY] |= right.astype(np.int64) << level % WAY
        # Left before right, within each cluster, and in the order before.
        before: NDArray = np.cumsum(right) - right
        ahead: NDArray = before - before[first][which]
        rights = np.add.reduceat(right.astype(np.int64), first)
        inside = np.arange(len(order)) - first[which]
        place = first[which] + np.where(right, (size - rights)[which] + ahead, inside - ahead)
        moved = np.empty_like(order)
        moved[place] = order
        order, rows = moved, table[:, moved]
        first = np.stack([first, first + size - rights], axis=1).ravel()
        size = np.stack([size - rights, rights], axis=1).ravel()
        several = size > 1
        links = -1 - order[first]
        links[several] = made + np.arange(np.count_nonzero(several))
        _describe(nodes, parents, Rows(rows), first, size, links, far)
        level += 1
        if not several.any():
            return LightTree(nodes, 0, way, level)
        if not several.all():
            kept = np.repeat(several, size)
            order, rows, size = order[kept], rows[:, kept], size[several]
            first = np.cumsum(size) - size
        made += len(size)


class Rows:
    """Columns of a table of `Bounds`, by name."""

    def __init__(self, table: Float) -> None:
        self.middle, self.radius, self.axis = table[0:3].T, table[3], table[4:7].T
        self.spread, self.emission, self.power, self.both = table[7:]


def _halves(first: NDArray, size: NDArray, which: NDArray) -> NDArray[np.bool_]:
    """(N,): whether each goes to the right, where clusters are halved in the order they have."""
    return np.arange(len(which)) - first[which] >= ((size + 1) // 2)[which]


def _parted(lights: Rows, first: NDArray, size: NDArray, which: NDArray, level: int, far: bool) -> NDArray[np.bool_]:
    """(N,): whether each goes to the right; some of every cluster do, and some do not."""
    if level >= HALVED:
        return _halves(first, size, which)
    if far:
        total = np.cumsum(lights.power)
        own = total - lights.power / 2 - (total[first] - lights.power[first])[which]
        right = own >= np.add.reduceat(lights.power, first)[which] / 2
    else:
        right = _cheapest(lights, first, which, level < THOROUGH)
    rights = np.add.reduceat(right.astype(np.int64), first)
    lost = (rights == 0) | (rights == size)
    return np.where(lost[which], _halves(first, size, which), right) if lost.any() else right


def _cheapest(lights: Rows, first: NDArray, which: NDArray, thorough: bool) -> NDArray[np.bool_]:
    """(N,): whether each is beyond the cheapest of the edges between bins. thorough : along all axes."""
    clusters = len(first)
    low, high = np.minimum.reduceat(lights.middle, first), np.maximum.reduceat(lights.middle, first)
    extent = high - low
    longest = extent.max(axis=1)
    unit = 1.0 / np.where(longest > 0, longest, 1.0)
    scale = unit[which]
    local = (lights.middle - ((low + high) / 2)[which]) * scale[:, None]  # within a half of zero
    squared = np.einsum("ij,ij->i", local, local) + (lights.radius * scale) ** 2
    # Of a cone's normals, evenly spread, the length of the resultant.
    normal = lights.axis * ((1.0 + np.cos(lights.spread)) / 2)[:, None]
    summed = [None, lights.power, squared, *local.T, *normal.T]
    bins = BINS if thorough else FEW_BINS
    least = np.full(clusters, np.inf)
    right = np.zeros(len(which), bool)
    for axis in range(3) if thorough else (np.argmax(extent, axis=1),):
        wide = extent[np.arange(clusters), axis] * unit
        start = (0.5 * bins) - 1e-9  # of an empty extent, the middle
        ratio = np.where(wide > 0, bins / np.where(wide > 0, wide, 1.0), 0.0)
        along = local[:, axis] if isinstance(axis, int) else local[np.arange(len(which)), axis[which]]
        place = (along * ratio[which] + start).astype(np.int64).clip(0, bins - 1)
        key = which * bins + place
        held = np.stack([np.bincount(key, part, clusters * bins).reshape(clusters, bins) for part in summed])
        left: Float = np.cumsum(held, axis=2, dtype=np.float64)
        cost = _cost(left[..., :-1]) + _cost(left[..., -1:] - left[..., :-1])
        # Along a short axis parts are thin: the regularisation of the paper.
        cost *= np.where(wide > 0, 1.0 / np.where(wide > 0, wide, 1.0), np.inf)[:, None]
        best = np.argmin(cost, axis=1)
        value = cost[np.arange(clusters), best]
        better = value < least
        least = np.where(better, value, least)
        right = np.where(better[which], place > best[which], right)
    return right


def _cost(sums: Float) -> Float:
    """Of clusters by sums (8, ...) of count, power, squares, middles and normals; infinite for empty ones.

    The solid angle that light leaves into, weighed by its cosine beyond the cone of the normals, is pi for one normal
    and 4 pi for all; in between it follows 4 - 3 r^3 within a fifth, r the length of the mean of evenly spread normals.
    """
    there = sums[0] > 0.5
    over = 1.0 / np.where(there, sums[0], 1.0)
    mean = (sums[3] ** 2 + sums[4] ** 2 + sums[5] ** 2) * over * over
    extent = np.maximum(sums[2] * over - mean, 1e-12)
    resultant = (sums[6] ** 2 + sums[7] ** 2 + sums[8] ** 2) * over * over
    return np.where(there, sums[1] * extent * (4.0 - 3.0 * resultant * np.sqrt(resultant)), np.inf)


def _describe(
    nodes: NDArray, parents: NDArray, lights: Rows, first: NDArray, size: NDArray, links: NDArray, far: bool
) -> None:
    """The bounds of clusters, each of some lights in a row, two to a parent."""
    which = np.repeat(np.arange(len(first)), size)
    reach = lights.radius[:, None]
    low = np.minimum.reduceat(lights.middle - reach, first)
    high = np.maximum.reduceat(lights.middle + reach, first)
    middle = (low + high) / 2
    apart = np.linalg.norm(lights.middle - middle[which], axis=1) + lights.radius
    rounding = np.abs(middle).max(axis=1) * 2e-7  # of the middle, in float32
    radius = np.maximum.reduceat(apart, first) * (1 + 1e-5) + rounding
    power = np.add.reduceat(lights.power, first)
    total = np.add.reduceat(lights.axis, first)
    length = np.linalg.norm(total, axis=1)
    even = length > 1e-9
    axis = np.where(even[:, None], total / np.where(even, length, 1.0)[:, None], lights.axis[first])
    turned = np.arccos(np.clip(np.einsum("ij,ij->i", lights.axis, axis[which]), -1.0, 1.0))
    spread = np.minimum(np.maximum.reduceat(turned + lights.spread, first) + 1e-4, math.pi)
    emission = np.minimum(np.maximum.reduceat(lights.emission, first) + 1e-4, math.pi)
    both = np.maximum.reduceat(lights.both, first) > 0
    for place, side in enumerate(("left", "right")):
        rows = slice(place, None, 2)
        nodes[side][parents] = middle[rows]
        nodes[f"{side}_radius"][parents] = -1.0 if far else radius[rows]
        nodes[f"{side}_axis"][parents] = axis[rows] * (2.0 + np.cos(spread[rows]))[:, None]
        nodes[f"{side}_power"][parents] = np.where(both[rows], -1.0, 1.0) * power[rows]
        nodes[f"{side}_emission"][parents] = np.cos(emission[rows])
        nodes[f"{side}_link"][parents] = links[rows]
