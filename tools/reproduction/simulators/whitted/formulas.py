"""What T prints of its structure and of its rays, taken by its word: boxes halved (algorithm 6-1), the test of boxes
(algorithm 6-4), Fresnel's share (6.3), directions (6.8), (6.30), and the recursion (6.7) that weights stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.simulators.whitted.back_ends import Level
from reproduction.simulators.whitted.loops import TINY, WIDER
from reproduction.simulators.whitted.model import Model

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Halved:
    """levels : of the tree. nodes : of it, leaves included. one_sided : times that an axis left all primitives on one
    side. endless : primitives in nodes that all three axes leave on one side, where the recursion does not end."""

    levels: int
    nodes: int
    one_sided: int
    endless: int


def halved(corners: Floats) -> Halved:
    """Algorithm 6-1 over triangles (N, 3, 3): the middle of a node's box on x, y and z in turn, which the middles of
    the triangles' boxes lie before or behind, until one is left; two become a leaf each."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    middle, node, stuck = (low + high) / 2, np.zeros(len(low), np.int64), np.zeros(len(low), np.int64)
    level = nodes = one_sided = endless = 0
    while len(node):
        order = np.argsort(node, kind="stable")
        low, high, middle, node, stuck = (each[order] for each in (low, high, middle, node, stuck))
        first = np.flatnonzero(np.diff(node, prepend=-1))
        count = np.diff(first, append=len(node))
        axis, number = level % 3, np.repeat(np.arange(len(first)), count)
        pivot = (np.minimum.reduceat(low[:, axis], first) + np.maximum.reduceat(high[:, axis], first)) / 2
        behind = middle[:, axis] >= pivot[number]
        held = np.add.reduceat(behind.astype(np.int64), first)
        one = ((held == 0) | (held == count)) & (count > 2)
        new = stuck[first] == 0  # a node that no axis has divided yet is met again
        nodes += int(new.sum() + 2 * (count == 2).sum())
        one_sided += int(one.sum())
        stuck = np.where(one[number], stuck + 1, 0)
        endless += int((stuck == 3).sum())
        on = (count > 2)[number] & (stuck < 3)
        node = 2 * number + behind
        low, high, middle, node, stuck = (each[on] for each in (low, high, middle, node, stuck))
        level += 1
    return Halved(level, nodes, one_sided, endless)


def meets(
    boxes: Floats, origins: Floats, inverse: NDArray[np.floating[Any]], exchange: bool, behind: bool
) -> NDArray[np.bool_]:
    """Whether rays (N,) meet boxes (N, 6) by algorithm 6-4. exchange : near and far planes for negative directions;
    behind : boxes behind the origin are left out. Neither is printed."""
    near, far = (boxes[:, :3] - origins) * inverse, (boxes[:, 3:] - origins) * inverse
    if exchange:
        near, far = np.minimum(near, far), np.maximum(near, far)
    last = far.min(axis=1)
    met = near.max(axis=1) <= np.maximum(last, last * WIDER)
    return met & (last >= 0) if behind else met


def reached(
    model: Model, rays: Floats, exchange: bool, behind: bool
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Boxes that rays (N, 6) are tested against without regard to hits, and the pairs of rays and faces whose leaves
    they come to."""
    origins, directions = np.ascontiguousarray(rays[:, :3]), np.ascontiguousarray(rays[:, 3:])
    links = model.top_links
    everyone = np.arange(len(rays))
    with np.errstate(all="ignore"):
        tested, ray, leaf = _down(
            *(model.top_boxes, links[:, 0], links[:, 1] >= 0, origins, directions, everyone, 0, exchange, behind)
        )
        pairs = [(ray[:0], ray[:0])]
        for instance in range(len(model.roots)):
            entered = ray[links[leaf, 1] == instance]
            rows = model.instances[instance].reshape(3, 4)
            local = (origins - rows[:, 3]) @ rows[:, :3].T, directions @ rows[:, :3].T
            own = model.boxes, model.links[:, 0], model.links[:, 2] > 0
            count, below, at = _down(*own, *local, entered, int(model.roots[instance, 0]), exchange, behind)
            tested += count
            pairs.append((below, model.roots[instance, 1] + model.numbers[model.links[at, 1]].astype(np.int64)))
    who, faces = (np.concatenate(each) for each in zip(*pairs, strict=True))
    return tested, who, faces


def _down(
    boxes: Floats,
    escape: NDArray[np.int32],
    leaf: NDArray[np.bool_],
    origins: Floats,
    directions: Floats,
    ray: NDArray[np.int64],
    root: int,
    exchange: bool,
    behind: bool,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Through a tree with all rays at once, level by level: the tests, and the pairs of rays and leaves."""
    inverse = 1 / np.where(np.abs(directions) < TINY, TINY, directions)
    node, tested = np.full(len(ray), root, np.int64), 0
    rays, leaves = [ray[:0]], [node[:0]]
    while len(node):
        tested += len(node)
        met = meets(boxes[node], origins[ray], inverse[ray], exchange, behind)
        ray, node = ray[met], node[met]
        ends = leaf[node]
        rays.append(ray[ends])
        leaves.append(node[ends])
        ray, node = ray[~ends], node[~ends]
        ray, node = np.concatenate([ray, ray]), np.concatenate([node + 1, escape[node + 1].astype(np.int64)])
    return tested, np.concatenate(rays), np.concatenate(leaves)


def lost(found: NDArray[np.int32], who: NDArray[np.int64], faces: NDArray[np.int64]) -> float:
    """The share of rays with a hit, `found` (N,), that never come to the leaf of the face they hit."""
    come = np.zeros(len(found), bool)
    come[who[found[who] == faces]] = True
    return float((~come[found >= 0]).mean())


def nested(levels: Sequence[Level]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The light (N, 3) of eye rays by recursion (6.7), from the deepest rays up, and by weights (6.31), (6.32)."""
    below = None
    for level, deeper in reversed(list(zip(levels, [*levels[1:], None], strict=True))):
        light = level.light.copy()
        if deeper is not None:
            assert below is not None
            np.add.at(light, deeper.parent, deeper.share * below)
        below = light
    assert below is not None
    weighted = np.zeros_like(below)
    for level in levels:
        np.add.at(weighted, level.pixel, level.weight * level.light)
    return below, weighted


def unfinished(levels: Sequence[Level], same: float) -> list[float]:
    """The share of pixels that still change by more than that in a channel where rays end with each level."""
    pixels = len(levels[0].rays)
    layers = np.zeros((len(levels), pixels, 3))
    for layer, level in zip(layers, levels, strict=True):
        np.add.at(layer, level.pixel, level.weight * level.light)
    missing = layers[::-1].cumsum(axis=0)[::-1]  # a level and those below it
    return [float((each.max(axis=1) > same).mean()) for each in missing[1:]] + [0.0]


def reflectance(cosine: NDArray[np.float64], index: float) -> NDArray[np.float64]:
    """Fresnel's equations for a dielectric met from outside, light not polarised (A. Fresnel 1823)."""
    inner = np.sqrt(1 - (1 - cosine**2) / index**2)
    across, along = (
        (cosine - index * inner) / (cosine + index * inner),
        (index * cosine - inner) / (index * cosine + inner),
    )
    return (across**2 + along**2) / 2


def bent(angle: float, index: float, inside: bool = False) -> tuple[float, float] | None:
    """Snell's direction (6.30) of a ray that meets the plane y = 0 at that angle from its normal, going to +x; None
    where the root is negative, which T has no case for. inside : from below, out of the index."""
    sine = np.sin(angle) * (index if inside else 1 / index)
    if sine > 1:
        return None
    return float(sine), float(np.sqrt(1 - sine**2)) * (1 if inside else -1)


def counted(whole: Sequence[int]) -> list[int]:
    """Rays of each level by those of all levels down to it."""
    return [whole[0], *(after - before for before, after in pairwise(whole))]
