"""The light tree: against its twin in float64, as a distribution, and as bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from glsl_call import Function
from light_twin import BOUNDS, PUNCTUAL, some_emitters
from numpy.typing import NDArray

from raystream.kernels.records import HIT, LIGHT_SAMPLE
from raystream.lighting import light_tree
from raystream.lighting.environment import environment
from raystream.lighting.light_tree import (
    MAX_DEPTH,
    MIN_FACING_COSINE,
    TRAIL_BITS,
    Bounds,
    build,
    light_trees,
    tree_modules,
)
from raystream.lighting.lights import QUANTA, LightList, light_list
from raystream.scene.environment import DARKNESS, ConstantEnvironment, Environment

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


def listed_lights(count: int = 40):
    """Triangles, some of them of both sides, a ball, points, spots and a directional light."""
    emitting = some_emitters(count)
    ball = np.zeros(count, bool)
    ball[5] = True
    corners = emitting.corners.copy()
    corners[5, 1] = (0.4, 1.0, 0.0)
    both = np.arange(count) % 3 == 1  # of one material
    return light_list(emitting._replace(corners=corners, sphere=ball, both=both), PUNCTUAL, bounds=BOUNDS, materials=3)


def test_choices_and_densities_are_the_twins(device) -> None:
    """And in sum 1, less the share of what is infinitely far."""
    listed = listed_lights()
    tree = light_trees(listed.sources)
    places, receivers, number = random_receivers(256, 1)
    expected = np.array(
        [probabilities(tree.nodes, tree.near, listed.count, *each) for each in zip(places, receivers, strict=True)]
    )
    np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)
    near = 1.0 - listed.sources.far_share
    (found,) = function(device, listed, CHOOSE)(places, number, receivers)
    light, chance = found[:, 0].astype(int), found[:, 1]
    far = light == listed.count - 1
    assert far.any() and not far.all()
    np.testing.assert_allclose(chance[far], listed.sources.far_share, rtol=1e-6)
    # Angles by float32 cosines are off by 1e-3 where they are small; what is left of a light at its edge, by more.
    np.testing.assert_allclose(chance[~far], near * expected[~far, light[~far]], rtol=3e-2, atol=1e-6)
    # Whoever meets a surface by chance finds the probability with which it is chosen.
    hits = np.zeros(256, HIT.dtype)
    hits["triangle"] = np.where(light < 40, light, 0)
    (density,) = function(device, listed, DENSITY)(hits, places, receivers)
    own = light < 40
    edges = listed.sources.emitting.corners[:, 1:].astype(np.float64) - listed.sources.emitting.corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    area[5] = 4 * math.pi * 0.4**2
    np.testing.assert_allclose(density[own] * area[light[own]], chance[own], rtol=1e-5)


def test_densities_down_a_tree_deeper_than_one_number_of_turns(device) -> None:
    """Lights ever nearer to the receiver, of which each takes up the same angle."""
    count, emitting = 48, some_emitters(48)
    corners = np.array([[2, 0, 0.5], [2, 0.5, 0], [2, 0, 0]]) * 2.0 ** (35 - 1.5 * np.arange(count))[:, None, None]
    alike = {"emission": np.ones((count, 3), np.float32), "material": np.arange(count, dtype=np.int32)}
    listed = light_list(emitting._replace(corners=corners.astype(np.float32), **alike), [], materials=count)
    tree, receiver = light_trees(listed.sources), np.float32([1, 0, 0, 0])
    assert TRAIL_BITS + 5 < tree.depth <= MAX_DEPTH and tree.bit_trails[:, 1].any()
    expected = probabilities(tree.nodes, tree.near, listed.count, np.zeros(3), receiver)
    hits = np.zeros(count, HIT.dtype)
    hits["triangle"] = np.arange(count)
    (density,) = function(device, listed, DENSITY)(hits, np.zeros((count, 3)), np.tile(receiver, (count, 1)))
    edges = corners[:, 1:] - corners[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    likely = expected > 1e-4
    assert (likely & (tree.bit_trails[:count, 1] > 0)).any()
    np.testing.assert_allclose((density * area)[likely], expected[likely], rtol=5e-2)  # a cosine at each of the turns


def test_lights_are_chosen_as_often_as_is_told(device) -> None:
    """Numbers that are evenly spaced: each light has its share of them, within the roundings of its turns, beside an
    environment that takes the first."""
    around = ConstantEnvironment((0.2, 0.2, 0.2))
    listed = light_list(some_emitters(40), PUNCTUAL, around, BOUNDS, 3)
    tree, calls = light_trees(listed.sources), 1 << 15
    place, receiver, _ = random_receivers(1, 7)
    number = (np.arange(calls) + 0.5) / calls
    share = listed.environment_levels / QUANTA
    assert 0.1 < share < 0.9
    near = 1 - listed.sources.far_share
    expected = near * probabilities(tree.nodes, tree.near, listed.count, place[0], receiver[0])
    expected[-1] = listed.sources.far_share
    places, receivers = np.tile(place, (calls, 1)), np.tile(receiver, (calls, 1))
    (found,) = function(device, listed, CHOOSE, around)(places, number, receivers)
    counts = np.bincount(found[number >= share, 0].astype(int), minlength=listed.count)
    np.testing.assert_allclose(counts, expected * (1 - share) * calls, atol=4, rtol=0.02)  # cosines in float32
    # Of the environment is what it is by power.
    ok, light = function(device, listed, SAMPLE, around)(places, number, np.full((calls, 2), 0.4), receivers)
    assert ok[number < share].all()
    np.testing.assert_allclose(light["pdf"][number < share], share / (4 * math.pi), rtol=1e-5)


def some_bounds(count: int, seed: int = 5) -> Bounds:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    spread = np.where(rng.random(count) < 0.2, math.pi, 0.0)
    radius, power, both = rng.random(count) * 0.1, rng.random(count) ** 4 + 1e-6, rng.random(count) < 0.3
    return Bounds(rng.normal(size=(count, 3)), radius, axis, spread, np.full(count, math.pi / 2), power, both)


@pytest.mark.parametrize("count", [1, 2, 3, 700])
def test_every_light_is_at_the_end_of_its_way(count: int) -> None:
    tree = build(some_bounds(count))
    assert len(tree.nodes) == count - 1 and tree.depth <= MAX_DEPTH
    np.testing.assert_array_equal(ways(tree.nodes, tree.root, tree.bit_trails), np.arange(count))


@pytest.mark.parametrize("far", [False, True])
def test_threads_and_compilers_build_the_same_tree(monkeypatch: pytest.MonkeyPatch, far: bool) -> None:
    """To the bit: all in one go, in parts by several threads, and by Python itself."""
    lights = some_bounds(300)
    trees = [build(lights, far)]
    for name, value in (("MIN_PARALLEL_LIGHTS", 20), ("MAX_INTERPRETED", 300)):
        monkeypatch.setattr(light_tree, name, value)
        trees.append(build(lights, far))
    for tree in trees[1:]:
        assert tree.nodes.tobytes() == trees[0].nodes.tobytes() and tree.depth == trees[0].depth
        np.testing.assert_array_equal(tree.bit_trails, trees[0].bit_trails)


@pytest.mark.parametrize("both", [False, True])
def test_far_lights_are_parted_where_half_of_the_power_is(both: bool) -> None:
    """In their order, of every cluster: before the light within which half of it is, or behind that, as is nearer."""
    power = np.random.default_rng(3).random(60) ** 6 + 1e-3
    power[[2, 30]] = 9.0
    lights = some_bounds(60)._replace(power=power, both=np.full(60, both))
    way = build(lights, far=True).bit_trails

    def parted(first: int, last: int, depth: int, bits: int) -> None:
        if last - first == 1:
            assert way[first, 0] == bits and way[first, 1] == 0
            return
        place = first + (last - first + 1) // 2
        if last - first > 2:
            middles = np.cumsum(power[first:last]) - power[first:last] / 2
            cut = first + int((middles < power[first:last].sum() / 2).sum())
            place = cut if first < cut < last else place
        parted(first, place, depth + 1, bits)
        parted(place, last, depth + 1, bits + (1 << depth))

    parted(0, 60, 0, 0)


@pytest.mark.parametrize("wide", [False, True])
def test_bounds_hold_what_is_below_them(wide: bool) -> None:
    """Spheres hold the lights' spheres, cones their normals and spots; powers are sums."""
    lights = some_bounds(300)
    if wide:  # cones of normals, in place of one normal or all
        lights = lights._replace(spread=np.random.default_rng(6).random(300))
    tree = build(lights)

    def below(link: int) -> list[int]:
        if link < 0:
            return [-1 - link]
        return below(int(tree.nodes[link]["left_link"])) + below(int(tree.nodes[link]["right_link"]))

    total = lights.power.sum()
    for node in tree.nodes:
        for side in ("left", "right"):
            inside = np.array(below(int(node[f"{side}_link"])))
            reach = np.linalg.norm(lights.middle[inside] - node[side], axis=1) + lights.radius[inside]
            assert (reach <= node[f"{side}_radius"] * (1 + 1e-6)).all()
            stretch = np.linalg.norm(node[f"{side}_axis"].astype(np.float64))
            turned = np.arccos(np.clip(lights.axis[inside] @ node[f"{side}_axis"] / stretch, -1, 1))
            spread = np.arccos(np.clip(stretch - 2, -1, 1))
            # A cosine near 1 in float32 tells angles apart from 5e-4 on.
            assert (np.minimum(turned + lights.spread[inside], math.pi) <= spread + 1e-3).all()
            assert abs(node[f"{side}_power"]) * total == pytest.approx(lights.power[inside].sum(), rel=1e-5)
            assert (node[f"{side}_power"] < 0) == lights.both[inside].any()


@pytest.mark.parametrize("kind", ["one place", "huge", "ever closer"])
def test_no_tree_is_deeper_than_a_way_is_long(kind: str) -> None:
    lights = some_bounds(1000)
    if kind == "one place":
        lights = lights._replace(middle=np.zeros((1000, 3)))
    elif kind == "huge":
        lights = lights._replace(middle=lights.middle * 1e17, power=lights.power * 1e29)
    else:
        line = np.zeros((1000, 3))
        line[:, 0] = 2.0 ** -np.linspace(0, 900, 1000)
        lights = lights._replace(middle=line, radius=np.zeros(1000))
    tree = build(lights)
    assert tree.depth <= MAX_DEPTH and np.isfinite(tree.nodes["left_power"]).all()
    np.testing.assert_array_equal(ways(tree.nodes, tree.root, tree.bit_trails), np.arange(1000))
