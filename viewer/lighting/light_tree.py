"""The light tree: a hierarchy over a scene's lights, down which one is chosen for the point that it is to light up.

A. Conty Estevez and C. Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting" (2018): of each cluster
bounds are known on where it is, how much it shines and into which directions, and so how much may come from there. As
in pbrt-v4 (M. Pharr, W. Jakob and G. Humphreys, *Physically Based Rendering*, 4th edition, 2023, section 12.6.3) a
cluster is never split for one sample, its extent is that of a sphere, and each light keeps the turns to it as a bit
trail, by which the probability of having chosen it is found for whoever meets its surface by chance.

Powers are peak intensities: of a triangle its area times radiance, of a sphere its disc's, of points and spots their
intensity along the axis; luminances. Infinitely distant lights have a tree of their own, by power alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.lighting import light_tree_loops as loops
from raystream.lighting.light_tree_loops import DEEPEST, TRAIL_BITS
from raystream.stream.declare.record import Field, Record

__all__ = ["DEEPEST", "NODE", "TRAIL_BITS", "Bounds", "LightTree", "build"]

SMALL = 48  # lights up to which the loops are not worth compiling
GRAIN = 1 << 14  # lights of a cluster that one thread goes through alone; larger ones are parted one at a time
MOST_WORKERS = 8

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
    """Bounds of N lights or clusters.

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

    def of(self, indices: NDArray) -> Bounds:
        """Those of some."""
        middle, radius, axis, spread, emission, power, both = (part[indices] for part in self)
        return Bounds(middle, radius, axis, spread, emission, power, both)


class LightTree(NamedTuple):
    """nodes (N - 1,) of `NODE`, the root first, left children behind their parents, or none; root: its link, as in a
    node. bit_trails (N, 2) int64: of each light the turns to it, 1 to the right, the first in the lowest bit,
    `TRAIL_BITS` of them in a number. depth: levels."""

    nodes: NDArray
    root: int
    bit_trails: NDArray[np.int64]
    depth: int


def build(lights: Bounds, far: bool = False) -> LightTree:
    """The tree of lights (N,), in depth-first order. O(N log N), by threads; the same bits however many these are.

    A cluster is parted between `light_tree_loops.BINS` along one of the axes of its middles, where the sum of both
    parts' power times squared extent times solid angle of emission is least: the cost of Conty Estevez and Kulla, with
    second moments in place of the areas of boxes and resultants of the normals in place of their cones, which both are
    sums. The bounds of the result are exact. far : they are infinitely far, and parted by power alone.
    """
    count = len(lights.power)
    bit_trails, nodes = np.zeros((count, 2), np.int64), np.zeros(max(count - 1, 0), NODE.dtype)
    if count < 2:
        return LightTree(nodes, -1, bit_trails, 0)
    rows = _rows(lights)
    bounds, links = np.empty((2 * (count - 1), loops.KNOWN)), np.empty((2 * (count - 1), 1), np.int64)
    small = count <= SMALL
    deepest = 0

    def job(part: tuple[int, ...]) -> tuple[int, list[tuple[int, ...]]]:
        """Levels, and the parts of a cluster that still are to be gone through."""
        first, last, node, depth, *bits = part
        complete = last - first <= GRAIN
        arguments = (first, last, node, depth, *bits, far, complete)
        levels, place = run(loops.grow, rows, *arguments, bounds, links, bit_trails, *loops.scratch(), small=small)
        if complete:
            return levels, []
        bits[1 if depth >= TRAIL_BITS else 0] += 1 << depth % TRAIL_BITS
        left = first, place, node + 1, depth + 1, part[4], part[5]
        right = place, last, node + place - first, depth + 1, *bits
        return levels, [half for half in (left, right) if half[1] - half[0] > 1]

    for levels in _all(job, (0, count, 0, 0, 0, 0)):
        deepest = max(deepest, levels)
    _fill(nodes, bounds, links[:, 0], far)
    return LightTree(nodes, 0, bit_trails, deepest)


def _all(job: Any, root: tuple[int, ...]) -> Iterator[int]:
    """The levels that each job has gone down to, of the root's and of all that come out of it."""
    levels, parts = job(root)
    yield levels
    if not parts:
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(min(cores, MOST_WORKERS)) as pool:
        waiting: set[Future] = {pool.submit(job, part) for part in parts}
        while waiting:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                levels, parts = future.result()
                yield levels
                waiting |= {pool.submit(job, part) for part in parts}


def _rows(lights: Bounds) -> Float:
    """(N, `loops.COLUMNS`): a row of each, as the loops have it."""
    rows = np.empty((len(lights.power), loops.COLUMNS))
    rows[:, 0:3], rows[:, 3], rows[:, 4:7] = lights.middle, lights.radius, lights.axis
    rows[:, 7], rows[:, 8], rows[:, 9] = np.cos(lights.spread), np.sin(lights.spread), np.cos(lights.emission)
    rows[:, 10], rows[:, 11], rows[:, 12] = lights.power / lights.power.sum(), lights.both, np.arange(len(rows))
    return rows


def _fill(nodes: NDArray, bounds: Float, links: NDArray[np.int64], far: bool) -> None:
    """The nodes by bounds (2 N, `loops.KNOWN`) of their children."""
    middle = bounds[:, 0:3]
    rounding = np.abs(middle).max(axis=1) * 2e-7  # of the middle, in float32
    radius = bounds[:, 3] * (1 + 1e-5) + rounding
    # Beside them what a cosine near 1 does not tell.
    spread, emission = (np.minimum(np.arccos(bounds[:, side_index]) + 1e-4, math.pi) for side_index in (7, 8))
    axis = bounds[:, 4:7] * (2.0 + np.cos(spread))[:, None]
    power, cosine = np.where(bounds[:, 10] > 0, -1.0, 1.0) * bounds[:, 9], np.cos(emission)
    for side_index, side in enumerate(("left", "right")):
        nodes[side] = middle[side_index::2]
        nodes[f"{side}_radius"] = -1.0 if far else radius[side_index::2]
        nodes[f"{side}_axis"] = axis[side_index::2]
        nodes[f"{side}_power"] = power[side_index::2]
        nodes[f"{side}_emission"] = cosine[side_index::2]
        nodes[f"{side}_link"] = links[side_index::2]
