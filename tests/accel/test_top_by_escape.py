"""The top level in depth-first order, by escape indices: the same hits, whatever is nearer first."""

from __future__ import annotations

import instances
import numpy as np
import pytest
from test_moving import LAYERS, assert_same

from raystream.accel.structures import StructureOptions
from raystream.accel.two_level.structure import two_level_structure

ESCAPE = ("two-level-bvh", "auto")


@pytest.mark.parametrize("build", ["sah", "midpoint"])
def test_the_same_hits_as_front_to_back(device: object, build: str) -> None:
    scene = instances.nested(60)
    ways = [
        instances.renderer(scene, ESCAPE, build=build, traversal=traversal, fuse="none")
        for traversal in ("octants", "escape")
    ]
    assert_same(*(each.render((64, 64), layers=LAYERS) for each in ways))
    moved = instances.random_transforms(np.random.default_rng(4), len(scene.instances))
    for each in ways:
        each.move(moved)
    assert_same(*(each.render((64, 64), layers=LAYERS) for each in ways))


@pytest.mark.parametrize("moves", [False, True])
def test_no_direction_has_an_order_of_its_own(moves: bool) -> None:
    scene = instances.nested(60)
    recipe = StructureOptions("two-level-bvh", build="midpoint", traversal="escape")
    two = two_level_structure(scene, recipe).built
    if moves:
        two.move(np.arange(60), instances.random_transforms(np.random.default_rng(4), 60))
    nodes = two.top.nodes.data
    used = 2 * int((two.objects.object_of >= 0).sum()) - 1
    links = np.concatenate([nodes["missed_up"], nodes["missed_down"]], axis=1)[:used]
    leaf = nodes["count"][:used] > 0
    assert (links == links[:, :1]).all() and not nodes["count"][:used][~leaf].any()
    # Depth first: a leaf leads to its neighbour, an inner node beyond its second child's subtree.
    after = np.append(np.arange(1, used), two.top.capacity)
    assert (links[leaf, 0] == after[leaf]).all()
    second = nodes["first"][:used][~leaf]
    assert (links[~leaf, 0] == links[second, 0]).all()
    by_area = two_level_structure(scene, StructureOptions("two-level-bvh", traversal="escape")).built.top.nodes.data
    assert moves or (by_area["low"][:used] != nodes["low"][:used]).any()  # split by the middle, as the objects are
    by_octants = two_level_structure(scene, StructureOptions("two-level-bvh")).built.top.nodes.data
    assert (by_octants["missed_up"][:used] != by_octants["missed_up"][:used, :1]).any()
