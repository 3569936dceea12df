"""The light tree in GLSL, called on arrays, and its twin in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from glsl_call import Function
from numpy.typing import NDArray

from raystream.kernels.records import HIT, LIGHT_SAMPLE
from raystream.lighting.environment import environment
from raystream.lighting.light_tree import MIN_FACING_COSINE, TRAIL_BITS, tree_modules
from raystream.lighting.lights import QUANTA, LightList
from raystream.scene.environment import DARKNESS, Environment

# A light chosen from a position, by a number and a receiver's normal and sides: its number and probability.
CHOOSE = """
vec2 choose(vec3 position, float number, vec4 receiver) {
    light_choose(light_context(position, receiver), number, true);
    return vec2(float(light_chosen), light_chance);
}
"""
DENSITY = """
float density(Hit hit, vec3 position, vec4 receiver) {
    return emitter_density(light_context(position, receiver), hit);
}
"""
SAMPLE = """
bool sample_tree(vec3 position, float number, vec2 u, vec4 receiver, out LightSample found) {
    light_choose(light_context(position, receiver), number, true);
    return light_sample(position, number, u, false, found);
}
"""


def function(
    device: Any, listed: LightList, source: str, around: Environment = DARKNESS, levels: int = 1
) -> Callable[..., Any]:
    """One of the above, on arrays."""
    signature = next(line for line in source.splitlines() if line)[:-2]
    modules = [environment(around), *tree_modules(listed, levels)]
    return Function(device, signature, modules=modules, records=[LIGHT_SAMPLE, HIT], text=source)


def probabilities(nodes: NDArray, root: int, count: int, position: NDArray, receiver: NDArray) -> NDArray[np.float64]:
    """(count,): with which a tree chooses each light for a position (3,) and a receiver (4,), in float64."""
    found = np.zeros(count)
    ahead = [(root, 1.0)]
    while ahead:
        link, chance = ahead.pop()
        if link < 0:
            found[-1 - link] += chance
            continue
        node = nodes[link]
        parts = np.array([importance(node, side, position, receiver) for side in ("left", "right")])
        if not parts.sum() > 0:
            parts = np.abs([node["left_power"], node["right_power"]]).astype(np.float64)
        parts = parts / parts.sum()
        ahead += [(int(node["left_link"]), chance * parts[0]), (int(node["right_link"]), chance * parts[1])]
    return found


def importance(node: Any, side: str, position: NDArray, receiver: NDArray) -> float:
    """Of a child, from angles, as the paper words it; cosines are means of the bounds' and the middle's."""
    power, radius = abs(float(node[f"{side}_power"])), float(node[f"{side}_radius"])
    if radius < 0:
        return power
    way = node[side].astype(np.float64) - position
    distance = float(np.linalg.norm(way))
    if distance <= radius:
        return power / max(radius**2, 1e-30)
    way /= distance
    axis = node[f"{side}_axis"].astype(np.float64)
    stretch = np.linalg.norm(axis)
    extent, spread = np.arcsin(radius / distance), np.arccos(np.clip(stretch - 2.0, -1, 1))
    cosine = -axis @ way / stretch
    cosine = abs(cosine) if node[f"{side}_power"] < 0 else cosine
    angle = np.arccos(np.clip(cosine, -1, 1))
    away = max(angle - spread - extent, 0.0)
    if np.cos(away) <= node[f"{side}_emission"]:
        return 0.0
    here = way @ receiver[:3]
    here = abs(here) if receiver[3] > 0 else here
    facing = np.cos(max(np.arccos(np.clip(here, -1, 1)) - extent, 0.0))
    leaving = (max(np.cos(away), 0.0) + max(cosine, 0.0)) / 2
    facing = max((max(facing, 0.0) + max(here, 0.0)) / 2, MIN_FACING_COSINE)
    return float(power * leaving * facing / distance**2)


def ways(tree: Any, root: int, way: NDArray) -> NDArray[np.int64]:
    """(N,): the lights at which the ways (N, 2) end."""
    link, turn = np.full(len(way), root), 0
    while (link >= 0).any():
        bit = way[:, turn // TRAIL_BITS] >> turn % TRAIL_BITS & 1
        node = tree[np.maximum(link, 0)]
        link = np.where(link >= 0, np.where(bit == 1, node["right_link"], node["left_link"]), link)
        turn += 1
    return -1 - link


def random_receivers(count: int, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """Positions (N, 3), receivers (N, 4) and numbers (N,) of 24 bits."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    receiver = np.column_stack([normal, rng.integers(0, 2, count)]).astype(np.float32)
    return (rng.normal(size=(count, 3)) * 3).astype(np.float32), receiver, rng.integers(0, QUANTA, count) / QUANTA
