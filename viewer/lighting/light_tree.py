"""The light tree: a hierarchy over a scene's lights, down which one is chosen for the point that it is to light up.

A. Conty Estevez and C. Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting" (2018): of each cluster
bounds are known on where it is, how much it shines and into which directions, and so how much may come from there. As
in pbrt-v4 (M. Pharr, W. Jakob and G. Humphreys, *Physically Based Rendering*, 4th edition, 2023, section 12.6.3) a
cluster is never split for one sample, its extent is that of a sphere, and each light keeps the turns to it as a bit
trail, by which the probability of having chosen it is found for paths that meet its surface by chance. Two modules: of
`raystream.lighting.lights`, with the tree's tables, and of that probability.

Powers are peak intensities: of a triangle its area times radiance, of a sphere its disc's, of points and spots their
intensity along the axis; luminances. Infinitely distant lights have a tree of their own, by power alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper, run
from raystream.kernels.records import HIT, LIGHT_CONTEXT
from raystream.lighting.lights import LightList, Sources
from raystream.scene.light import KINDS, DeltaLights, luminance
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import LARGEST_INTEGER, ROWS, Field, Record

MAX_INTERPRETED = 48  # lights up to which the loops run uncompiled
MIN_PARALLEL_LIGHTS = 1 << 14  # of a cluster that is split over threads; a smaller one's subtree is built by one
MAX_WORKERS = 8

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
    """Bounds of N lights or clusters. middle (N, 3), radius (N,): the sphere that holds each. axis (N, 3), spread (N,):
    unit axis and half angle of the cone of the normals, or of a spot's. emission (N,): the angle from a normal within
    which light leaves. power (N,): above zero. both (N,): whether it leaves to both sides of the normals."""

    middle: Float
    radius: Float
    axis: Float
    spread: Float
    emission: Float
    power: Float
    both: NDArray[np.bool_]

    def select(self, indices: NDArray) -> Bounds:
        """The bounds of the lights with these indices (M,)."""
        return Bounds(*(values[indices] for values in self))


class LightTree(NamedTuple):
    """A light tree. nodes (N - 1,) of `NODE`, the root first, each left child next to its parent; root: its link, as
    in a node. bit_trails (N, 2) int64: the path to each light, a bit for each level, 1 to the right, the first in the
    lowest bit, `TRAIL_BITS` in a number. depth: levels."""

    nodes: NDArray
    root: int
    bit_trails: NDArray[np.int64]
    depth: int


def build(lights: Bounds, far: bool = False) -> LightTree:
    """The tree of lights (N,), in depth-first order. O(N log N), by threads; the same bits however many these are.

    A cluster is parted between `BINS` along one of the axes of its middles, where the sum of both
    parts' power times squared extent times solid angle of emission is least: the cost of Conty Estevez and Kulla, with
    second moments in place of the areas of boxes and resultants of the normals in place of their cones, which both are
    sums. The bounds of the result are exact. far : they are infinitely far, and parted by power alone.
    """
    count = len(lights.power)
    bit_trails, nodes = np.zeros((count, 2), np.int64), np.zeros(max(count - 1, 0), NODE.dtype)
    if count < 2:
        return LightTree(nodes, -1, bit_trails, 0)
    rows = _light_rows(lights)
    bounds, links = np.empty((2 * (count - 1), BOUND_COLUMNS)), np.empty((2 * (count - 1), 1), np.int64)
    small = count <= MAX_INTERPRETED
    max_depth = 0

    def job(cluster: tuple[int, ...]) -> tuple[int, list[tuple[int, ...]]]:
        """Split a cluster; returns the levels below it so far, and its parts that are to be split further."""
        first, last, node, depth, *bits = cluster
        complete = last - first <= MIN_PARALLEL_LIGHTS
        arguments = (first, last, node, depth, *bits, far, complete)
        levels, middle = run(grow, rows, *arguments, bounds, links, bit_trails, *scratch(), small=small)
        if complete:
            return levels, []
        bits[1 if depth >= TRAIL_BITS else 0] += 1 << depth % TRAIL_BITS
        left = first, middle, node + 1, depth + 1, cluster[4], cluster[5]
        right = middle, last, node + middle - first, depth + 1, *bits
        return levels, [half for half in (left, right) if half[1] - half[0] > 1]

    for levels in _run_jobs(job, (0, count, 0, 0, 0, 0)):
        max_depth = max(max_depth, levels)
    _write_nodes(nodes, bounds, links[:, 0], far)
    return LightTree(nodes, 0, bit_trails, max_depth)


def _run_jobs(job: Any, root: tuple[int, ...]) -> Iterator[int]:
    """Run a job on the root cluster, and on all clusters that jobs return; yields the levels of each."""
    levels, clusters = job(root)
    yield levels
    if not clusters:
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(min(cores, MAX_WORKERS)) as pool:
        pending: set[Future] = {pool.submit(job, cluster) for cluster in clusters}
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                levels, clusters = future.result()
                yield levels
                pending |= {pool.submit(job, cluster) for cluster in clusters}


def _light_rows(lights: Bounds) -> Float:
    """(N, `COLUMNS`): the lights as rows for the compiled loops."""
    rows = np.empty((len(lights.power), COLUMNS))
    rows[:, 0:3], rows[:, 3], rows[:, 4:7] = lights.middle, lights.radius, lights.axis
    rows[:, 7], rows[:, 8], rows[:, 9] = np.cos(lights.spread), np.sin(lights.spread), np.cos(lights.emission)
    rows[:, 10], rows[:, 11], rows[:, 12] = lights.power / lights.power.sum(), lights.both, np.arange(len(rows))
    return rows


def _write_nodes(nodes: NDArray, bounds: Float, links: NDArray[np.int64], far: bool) -> None:
    """Write the nodes by the bounds (2 N, `BOUND_COLUMNS`) and links (2 N,) of their children."""
    middle = bounds[:, 0:3]
    rounding = np.abs(middle).max(axis=1) * 2e-7  # of the middle, in float32
    radius = bounds[:, 3] * (1 + 1e-5) + rounding
    # The margin covers what a cosine near 1 does not resolve.
    spread, emission = (np.minimum(np.arccos(bounds[:, column]) + 1e-4, math.pi) for column in (7, 8))
    axis = bounds[:, 4:7] * (2.0 + np.cos(spread))[:, None]  # the length of a node's axis tells the spread
    power = np.where(bounds[:, 10] > 0, -1.0, 1.0) * bounds[:, 9]  # negative where light leaves both sides
    cosine = np.cos(emission)
    for side_index, side in enumerate(("left", "right")):
        nodes[side] = middle[side_index::2]
        nodes[f"{side}_radius"] = -1.0 if far else radius[side_index::2]
        nodes[f"{side}_axis"] = axis[side_index::2]
        nodes[f"{side}_power"] = power[side_index::2]
        nodes[f"{side}_emission"] = cosine[side_index::2]
        nodes[f"{side}_link"] = links[side_index::2]


# -- compiled loops ----------------------------------------------------------------------------------------------------
# A row is (`COLUMNS`,) float64: the middle and radius of the sphere that holds a light; the axis of the cone of its
# normals, cosine and sine of that cone's half angle; the cosine of the angle from a normal within which light leaves;
# its power over that of all; 1 where both sides shine; its index. A parting permutes the rows of its cluster, so that
# each part reads memory in order. The tree of N lights has N - 1 nodes, wherever it is parted, so that both parts of a
# cluster know the places of theirs, and it does not matter who makes them.

COLUMNS = 13
BOUND_COLUMNS = 11  # of a cluster's bounds: middle and radius, axis, cosines of spread and emission, power, both
BINS, SMALL_BINS = 12, 8  # along an axis; in small clusters, where bins cost more than lights
MAX_SMALL_CLUSTER = 32  # lights
SUMS = 9  # of a bin: count, power, squared distances, middles, normals
TRAIL_BITS = 23  # of a bit trail, that one number holds: whole numbers are exact in floats up to 2^24
MAX_DEPTH = 2 * TRAIL_BITS  # levels
HALVING_DEPTH = 24  # levels from which on clusters are halved: a tree of 2^22 lights then stays within the deepest


def scratch():
    """Working memory of `grow`: bins, suffix sums of bins, the stack of clusters to split, and the box of centres."""
    return np.empty((3, BINS, SUMS)), np.empty((BINS, SUMS)), np.empty((MAX_DEPTH + 2, 6), np.int64), np.empty(6)


def grow(
    rows, first, last, node, depth, low, high, far, complete, bounds, links, trails, bins, suffix_sums, stack, box
):
    """Split the cluster of rows first .. last - 1, at least two, of this node and level; low, high : its bit trail.

    complete : split its parts, too, down to single lights. far : by power alone.
    Writes bounds (2 N, `BOUND_COLUMNS`) and links (2 N, 1) of both children of each node, and trails (L, 2) of single
    lights. The rest: `scratch`. Returns the levels below the root, and the first row of the right part of the
    last cluster that was split.
    """
    max_depth, place, top = depth + 1, first, 0
    while True:
        max_depth = max(max_depth, depth + 1)
        place = _split_cluster(rows, first, last, depth, far, bins, suffix_sums, box)
        for side in range(2):
            start, end = (first, place) if side == 0 else (place, last)
            child = 2 * node + side
            _write_bounds(rows, start, end, bounds[child])
            child_low, child_high = low, high
            if side == 1:
                if depth < TRAIL_BITS:
                    child_low += 1 << depth
                else:
                    child_high += 1 << (depth - TRAIL_BITS)
            if end - start == 1:
                index = np.int64(rows[start, 12])
                links[child, 0] = -1 - index
                trails[index, 0], trails[index, 1] = child_low, child_high
                continue
            links[child, 0] = node + 1 if side == 0 else node + place - first
            if complete:
                stack[top, 0], stack[top, 1], stack[top, 2] = start, end, links[child, 0]
                stack[top, 3], stack[top, 4], stack[top, 5] = depth + 1, child_low, child_high
                top += 1
        if top == 0:
            return max_depth, place
        top -= 1
        first, last, node = stack[top, 0], stack[top, 1], stack[top, 2]
        depth, low, high = stack[top, 3], stack[top, 4], stack[top, 5]


@helper
def _write_bounds(rows, first, last, out):
    """Write the bounds of the cluster of rows first .. last - 1, see `BOUND_COLUMNS`."""
    lx = ly = lz = np.inf
    hx = hy = hz = -np.inf
    ax = ay = az = power = both = 0.0
    emission = 1.0
    for i in range(first, last):
        x, y, z, r = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        lx, ly, lz = min(lx, x - r), min(ly, y - r), min(lz, z - r)
        hx, hy, hz = max(hx, x + r), max(hy, y + r), max(hz, z + r)
        ax += rows[i, 4]
        ay += rows[i, 5]
        az += rows[i, 6]
        emission = min(emission, rows[i, 9])
        power += rows[i, 10]
        both = max(both, rows[i, 11])
    mx, my, mz = (lx + hx) / 2, (ly + hy) / 2, (lz + hz) / 2
    length = np.sqrt(ax * ax + ay * ay + az * az)
    if length > 1e-9:
        ax, ay, az = ax / length, ay / length, az / length
    else:
        ax, ay, az = rows[first, 4], rows[first, 5], rows[first, 6]
    radius, spread = 0.0, 1.0
    for i in range(first, last):
        x, y, z = rows[i, 0] - mx, rows[i, 1] - my, rows[i, 2] - mz
        radius = max(radius, np.sqrt(x * x + y * y + z * z) + rows[i, 3])
        cosine = min(max(rows[i, 4] * ax + rows[i, 5] * ay + rows[i, 6] * az, -1.0), 1.0)
        if cosine <= -rows[i, 7]:
            spread = -1.0  # half a turn and more
        else:
            spread = min(spread, cosine * rows[i, 7] - np.sqrt(1.0 - cosine * cosine) * rows[i, 8])
    out[0], out[1], out[2], out[3] = mx, my, mz, radius
    out[4], out[5], out[6] = ax, ay, az
    out[7], out[8], out[9], out[10] = min(max(spread, -1.0), 1.0), emission, power, both


@helper
def _split_cluster(rows, first, last, depth, far, bins, suffix_sums, box):
    """Permute the rows of a cluster into its two parts; returns the first row of the right part, which is not empty."""
    half = first + (last - first + 1) // 2
    if depth >= HALVING_DEPTH or last - first == 2:
        return half
    if far:
        total = 0.0
        for i in range(first, last):
            total += rows[i, 10]
        before, place = 0.0, first
        while place < last and before + rows[place, 10] / 2 < total / 2:
            before += rows[place, 10]
            place += 1
        return place if first < place < last else half
    axis, base, scale, edge = _cheapest_split(rows, first, last, bins, suffix_sums, box)
    if axis < 0:
        return half
    i, j = first, last - 1
    while i <= j:
        if np.int64((rows[i, axis] - base) * scale) < edge:
            i += 1
        else:
            for c in range(COLUMNS):
                rows[i, c], rows[j, c] = rows[j, c], rows[i, c]
            j -= 1
    return i if first < i < last else half


@helper
def _cheapest_split(rows, first, last, bins, suffix_sums, box):
    """The split between bins that costs least, (axis, base, scale, edge): lights with floor((middle - base) scale)
    below the edge are left of it. Axis -1: there is none."""
    for a in range(3):
        box[a], box[3 + a] = np.inf, -np.inf
    for i in range(first, last):
        for a in range(3):
            box[a], box[3 + a] = min(box[a], rows[i, a]), max(box[3 + a], rows[i, a])
    longest = max(box[3] - box[0], box[4] - box[1], box[5] - box[2])
    if not longest > 0.0:
        return -1, 0.0, 0.0, 0
    unit = 1.0 / longest
    count = BINS if last - first > MAX_SMALL_CLUSTER else SMALL_BINS
    reach = count * (1.0 - 2.0**-40)  # the last middle is in the last bin
    sx = reach / (box[3] - box[0]) if box[3] > box[0] else 0.0
    sy = reach / (box[4] - box[1]) if box[4] > box[1] else 0.0
    sz = reach / (box[5] - box[2]) if box[5] > box[2] else 0.0
    for a in range(3):
        for k in range(count):
            for c in range(SUMS):
                bins[a, k, c] = 0.0
    for i in range(first, last):
        # Within a half of zero, in lengths of the longest axis.
        x = (rows[i, 0] - 0.5 * (box[0] + box[3])) * unit
        y = (rows[i, 1] - 0.5 * (box[1] + box[4])) * unit
        z = (rows[i, 2] - 0.5 * (box[2] + box[5])) * unit
        r = rows[i, 3] * unit
        # Of a cone's normals, evenly spread, the length of the resultant.
        length, power = 0.5 * (1.0 + rows[i, 7]), rows[i, 10]
        squared = x * x + y * y + z * z + r * r
        nx, ny, nz = rows[i, 4] * length, rows[i, 5] * length, rows[i, 6] * length
        p = np.int64((rows[i, 0] - box[0]) * sx)
        q = np.int64((rows[i, 1] - box[1]) * sy)
        s = np.int64((rows[i, 2] - box[2]) * sz)
        for row, cell in ((0, p), (1, q), (2, s)):
            bins[row, cell, 0] += 1.0
            bins[row, cell, 1] += power
            bins[row, cell, 2] += squared
            bins[row, cell, 3] += x
            bins[row, cell, 4] += y
            bins[row, cell, 5] += z
            bins[row, cell, 6] += nx
            bins[row, cell, 7] += ny
            bins[row, cell, 8] += nz
    least, axis, edge = np.inf, -1, 0
    for a in range(3):
        if not box[3 + a] > box[a]:
            continue
        for c in range(SUMS):
            suffix_sums[count - 1, c] = bins[a, count - 1, c]
        for k in range(count - 2, -1, -1):
            for c in range(SUMS):
                suffix_sums[k, c] = suffix_sums[k + 1, c] + bins[a, k, c]
        for k in range(1, count):
            for c in range(SUMS):  # prefix sums, up to the edge
                bins[a, k, c] += bins[a, k - 1, c]
            # Along a short axis parts are thin: the regularisation of the paper.
            cost = (_cost(bins[a, k - 1]) + _cost(suffix_sums[k])) / ((box[3 + a] - box[a]) * unit)
            if cost < least:
                least, axis, edge = cost, a, k
    scale = sx if axis == 0 else sy if axis == 1 else sz
    return axis, box[max(axis, 0)], scale, edge


@helper
def _cost(sums):
    """The cost of a cluster by its sums; infinite for an empty one. The solid angle that light leaves into, weighed by
    its cosine beyond the cone of the normals, is pi for one normal and 4 pi for all; in between it follows 4 - 3 r^3
    within a fifth, r the length of the mean of evenly spread normals."""
    if not sums[0] > 0.5:
        return np.inf
    over = 1.0 / sums[0]
    mean = (sums[3] * sums[3] + sums[4] * sums[4] + sums[5] * sums[5]) * over * over
    extent = max(sums[2] * over - mean, 1e-12)
    resultant = (sums[6] * sums[6] + sums[7] * sums[7] + sums[8] * sums[8]) * over * over
    return sums[1] * extent * (4.0 - 3.0 * resultant * np.sqrt(resultant))


# -- modules -----------------------------------------------------------------------------------------------------------

# Near ones: a lamp's two triangles alone are as well chosen by power, in less time (tools/benchmarks/noise/lights.py).
MIN_TREE_LIGHTS = 3
# Least of a receiver's cosine: its normal may be bent by a texture, which light sampling does not look up.
MIN_FACING_COSINE = 0.05

CHANCE = Record(
    "LightChance",
    Field("probability", "float", about="with which the list has it, by power"),
    Field("area_density", "float", "1 / area", about="one over its area; 0 of lights without extent"),
)
EMITTER = Record(
    "LightEmitter",
    Field("face", "int", about="of its instance, or of the scene where that is one object; ascending", within=ROWS),
    Field("bit_trail", "ivec2", about="down the tree, see raystream.lighting.light_tree"),
    Field("area_density", "float", "1 / area", about="one over its area; 0: it is no light"),
)
OBJECT = Record(
    "LightObject",
    Field("first", "int", about="of the emitters of an instance, or of the scene", within=ROWS),
    Field("last", "int", about="behind them", within=ROWS),
)

CONTEXT = Record(
    LIGHT_CONTEXT.name,
    Field("position", "vec3", "scene units", "world"),
    Field("receiver", "vec4", "", "world", "unit normal, and 1 where light comes through the surface"),
)


class LightTrees(NamedTuple):
    """The two trees of a list's lights, with common nodes, see `LightTree`. near, far: links of the roots; one without
    lights is never followed. bit_trails (N, 2): of the list's lights. depth: levels."""

    nodes: NDArray
    near: int
    far: int
    bit_trails: NDArray[np.int64]
    depth: int


def too_many(listed: LightList) -> bool:
    """Whether the list has more lights than nodes can be addressed for."""
    return listed.count * NODE.texels > LARGEST_INTEGER


def bounds_of(sources: Sources) -> Bounds:
    """The bounds of a list's lights, in its order."""
    bounds = [_surface_bounds(sources), *([_delta_light_bounds(sources.punctual)] if len(sources.punctual) else [])]
    return Bounds(*(np.concatenate(column) for column in zip(*bounds, strict=True)))


def _surface_bounds(sources: Sources) -> Bounds:
    emitting = sources.emitting
    corners = emitting.corners.astype(np.float64)
    count = len(corners)
    is_sphere = np.zeros(count, bool) if emitting.sphere is None else emitting.sphere
    low, high = corners.min(axis=1, initial=np.inf), corners.max(axis=1, initial=-np.inf)
    middle = (low + high) / 2
    radius = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1, initial=0.0)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice = np.linalg.norm(normal, axis=1)
    radiance = luminance(emitting.emission) * (1.0 if emitting.share is None else emitting.share)
    middle[is_sphere], radius[is_sphere] = corners[is_sphere, 0], corners[is_sphere, 1, 0]
    area = np.where(is_sphere, math.pi * radius**2, twice / 2)  # as it is seen from the front
    axis = np.where(is_sphere[:, None], [0.0, 1.0, 0.0], normal / np.where(twice > 0, twice, 1.0)[:, None])
    both = np.zeros(count, bool) if emitting.both is None else emitting.both.copy()
    # Normals of two-sided surfaces are oriented alike: they have no sign.
    dominant = np.take_along_axis(axis, np.abs(axis).argmax(axis=1)[:, None], axis=1)
    axis = np.where(both[:, None] & (dominant < 0), -axis, axis)
    spread = np.where(is_sphere, math.pi, 0.0)
    return Bounds(middle, radius, axis, spread, np.full(count, math.pi / 2), _positive(area * radiance), both)


def _delta_light_bounds(lights: DeltaLights) -> Bounds:
    spot, far = lights.kind == KINDS.index("spot"), lights.far
    return Bounds(
        np.where(far[:, None], 0.0, lights.position),
        np.zeros(len(lights)),
        lights.direction,
        np.where(spot, lights.inner, math.pi),
        np.where(spot, lights.outer - lights.inner, math.pi / 2),
        _positive(luminance(lights.intensity)),
        np.zeros(len(lights), bool),
    )


def _positive(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Power raised to a small fraction of the greatest: a light without any would never be chosen."""
    return np.maximum(power, 1e-9 * power.max(initial=1e-300))


def light_trees(sources: Sources) -> LightTrees:
    """The trees of a list's lights: one of those at finite distances, one of infinitely distant ones."""
    bounds = bounds_of(sources)
    far = np.zeros(len(bounds.power), bool)
    far[len(far) - len(sources.punctual) :] = sources.punctual.far
    bit_trails = np.zeros((len(far), 2), np.int64)
    nodes: list[NDArray] = []
    roots, depth = [], 0
    for group in (~far, far):
        indices = np.flatnonzero(group)
        tree = build(bounds.select(indices), far=group is far)
        start = sum(map(len, nodes))
        for side in ("left_link", "right_link"):
            links = tree.nodes[side].copy()
            tree.nodes[side] = np.where(links < 0, -1 - indices[np.maximum(-1 - links, 0)], links + start)
        roots.append(start if len(tree.nodes) else (-1 - int(indices[0]) if len(indices) else -1))
        bit_trails[indices] = tree.bit_trails
        nodes.append(tree.nodes)
        depth = max(depth, tree.depth)
    return LightTrees(np.concatenate(nodes), roots[0], roots[1], bit_trails, depth)


def tree_modules(listed: LightList, levels: int, base: Module | None = None) -> list[Module]:
    """The module ``lights`` with `light_trees`, and ``emitter_pdf`` over hits of a structure of ``levels``.

    base : the list's module by power. The tree adds 96 bytes for each light, and 16 for each emissive triangle; the
    source does not depend on their numbers.
    """
    assert listed.sources is not None
    trees = light_trees(listed.sources)
    area = _areas(listed.sources)
    chances = np.zeros(len(listed.records), CHANCE.dtype)
    chances["probability"][: listed.count] = listed.probability
    chances["area_density"][: len(area)] = 1.0 / area
    nodes = trees.nodes if len(trees.nodes) else np.zeros(1, NODE.dtype)
    base = base or listed.module()
    uniforms = {
        **base.uniforms,
        "light_roots": ("ivec2", (trees.near, trees.far)),
        "light_far_share": ("float", float(listed.sources.far_share)),
    }
    lights = replace(
        base,
        provides=tuple(name for name in base.provides if name != "emitter_pdf"),
        source="shading/light_by_tree.glsl",
        memories=(*base.memories, Table("light_nodes", NODE, nodes), Table("light_chances", CHANCE, chances)),
        uniforms=uniforms,
        constants={**base.constants, "LIGHT_TRAIL_BITS": TRAIL_BITS, "LIGHT_LEAST_FACING": MIN_FACING_COSINE},
        module_state=CONTEXT,
    )
    emitters, objects = _emitter_tables(listed.sources, trees, area, levels)
    emitter_module = Module(
        "light emitters",
        provides=("emitter_pdf",),
        source="shading/emitter_by_tree.glsl",
        memories=(Table("light_emitters", EMITTER, emitters), Table("light_objects", OBJECT, objects)),
        needs=("light_sample",),
        uses=(HIT,),
    )
    return [lights, emitter_module]


def _areas(sources: Sources) -> NDArray[np.float64]:
    """(N,): areas of the emissive surfaces, from the corners in float32 as on the device."""
    emitting = sources.emitting
    edges = emitting.corners[:, 1:] - emitting.corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]).astype(np.float64), axis=1) / 2
    is_sphere = np.zeros(len(area), bool) if emitting.sphere is None else emitting.sphere
    return np.where(is_sphere, 4.0 * math.pi * emitting.corners[:, 1, 0].astype(np.float64) ** 2, area)


def _emitter_tables(sources: Sources, trees: LightTrees, area: NDArray, levels: int) -> tuple[NDArray, NDArray]:
    """The tables of `EMITTER`, of all emissive faces, and of `OBJECT`, by the indices in hits of a structure of
    ``levels``."""
    count = len(sources.listed)
    rows = np.zeros(max(count, 1), EMITTER.dtype)
    listed = sources.listed >= 0
    rows["face"][:count] = sources.triangle
    rows["bit_trail"][:count][listed] = trees.bit_trails[sources.listed[listed]]
    rows["area_density"][:count][listed] = 1.0 / area[sources.listed[listed]]
    if levels == 1:
        objects = np.zeros(1, OBJECT.dtype)
        objects["last"] = count
        return rows, objects
    starts = sources.starts
    rows["face"][:count] -= starts[sources.instance].astype(np.int32)
    objects = np.zeros(len(starts), OBJECT.dtype)
    instances = np.arange(len(starts))
    objects["first"] = np.searchsorted(sources.instance, instances)
    objects["last"] = np.searchsorted(sources.instance, instances, side="right")
    return rows, objects
