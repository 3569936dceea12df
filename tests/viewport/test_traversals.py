"""Steps of a traversal as they are read from its records: in a grid and in a tree that are written down here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import grid
from raystream.stream.declare.kernel import Table
from raystream.viewport.debug_views.probe import BvhTraversals, GridTraversals, Segment, traversals


def table(name: str, data: np.ndarray) -> Any:
    """A module's memory of that name."""
    made = Table.__new__(Table)
    for field, value in (("name", name), ("data", data)):
        object.__setattr__(made, field, value)
    return made


NUMBERS = np.array([50, 40, 30, 20, 10])


@pytest.fixture
def voxels() -> Any:
    """From (1, 2, 3), of 2 x 1 x 0.5; lists of triangles 0, 1; 3; 4, 2, 0, the last of each as -n - 1."""
    entries = np.zeros(6, [("entry", "i4")])
    entries["entry"] = [0, -2, -4, 4, 2, -1]
    uniforms = {"grid_low": ("vec3", (1.0, 2.0, 3.0)), "grid_voxel": ("vec3", (2.0, 1.0, 0.5))}
    module: Any = SimpleNamespace(
        memories=[table("other", entries[:1]), table("grid_lists", entries)], uniforms=uniforms
    )
    module.module_state = grid.TRAVERSAL
    return module


def at(voxel: tuple[int, int, int], t_exit: float, listed: int = 0, inverse: Any = (1.0, 1.0, 1.0)) -> Any:
    fields = [("voxel", "i4", 3), ("t_exit", "f4"), ("list", "i4"), ("inverse", "f4", 3)]
    return np.array((voxel, t_exit, listed, inverse), fields)[()]


def ray(origin: Any = (0, 0, 0), direction: Any = (1, 0, 0), t_max: float = 100.0) -> Segment:
    return Segment(np.float32(origin), np.float32(direction), t_max, False)


def test_boxes_of_voxels(voxels: Any) -> None:
    reader = GridTraversals(voxels, NUMBERS)
    np.testing.assert_array_equal(reader.box(np.array([0, 0, 0])), [(1, 2, 3), (3, 3, 3.5)])
    np.testing.assert_array_equal(reader.box(np.array([3, 2, 1])), [(7, 4, 3.5), (9, 5, 4)])


@pytest.mark.parametrize(("address", "candidates"), [(-1, 0), (0, 2), (1, 1), (2, 1), (3, 3), (5, 1)])
def test_steps_through_a_grid(voxels: Any, address: int, candidates: int) -> None:
    """A step begins where the last one ended; the first at the box."""
    reader, segment = GridTraversals(voxels, NUMBERS), ray((-1, 2.5, 3.25))
    before = at((0, 0, 0), 0.0, inverse=(1.0, -1e30, 1e30))
    first = reader.visit(segment, before, at((1, 0, 0), 4.0, address), bool(candidates))
    assert (first.cell, first.t_enter, first.t_exit, first.candidates) == ((0, 0, 0), 2.0, 4.0, candidates)
    np.testing.assert_array_equal(first.box, [(1, 2, 3), (3, 3, 3.5)])
    segment.visits.append(first)
    second = reader.visit(segment, at((1, 0, 0), 4.0), at((2, 0, 0), 6.0, -1), False)
    assert (second.cell, second.t_enter, second.t_exit, second.candidates) == ((1, 0, 0), 4.0, 6.0, 0)
    inside = reader.visit(ray((2, 2.5, 3.25)), before, at((1, 0, 0), 1.0, -1), False)
    assert (inside.t_enter, inside.t_exit) == (0.0, 1.0), "an eye within the voxel"


def test_candidates_of_a_grid(voxels: Any) -> None:
    reader = GridTraversals(voxels, NUMBERS)
    found = [reader.candidate(at((0, 0, 0), 0.0, address)) for address in range(6)]
    assert found == [50, 40, 20, 10, 30, 50]


@pytest.fixture
def nodes() -> Any:
    """A root from (0, 0, 0) to (4, 4, 4), and a leaf from (1, 0, 0) to (2, 4, 4)."""
    data = np.zeros(2, [("low", "f4", 3), ("high", "f4", 3)])
    data["high"], data["low"][1] = [(4, 4, 4), (2, 4, 4)], (1, 0, 0)
    return SimpleNamespace(memories=[table("bvh_nodes", data)], module_state=bvh.NODE_TRAVERSAL)


def node(number: int, candidate: int = 0, stop: int = 0) -> Any:
    return np.array((number, candidate, stop), [("node", "i4"), ("candidate", "i4"), ("stop", "i4")])[()]


def test_steps_through_a_tree(nodes: Any) -> None:
    reader = BvhTraversals(nodes, NUMBERS)
    segment = ray((-1, 1, 1))
    root = reader.visit(segment, node(0), node(1), False)
    assert (root.cell, root.t_enter, root.t_exit, root.candidates) == ((0,), 1.0, 5.0, 0)
    leaf = reader.visit(segment, node(1), node(1, 2, 5), True)
    assert (leaf.cell, leaf.t_enter, leaf.t_exit, leaf.candidates) == ((1,), 2.0, 3.0, 3)
    np.testing.assert_array_equal(leaf.box, [(1, 0, 0), (2, 4, 4)])
    segment.t_hit = 2.5
    assert reader.visit(segment, node(1), node(1), False).t_exit == 2.5
    segment.t_hit, segment.t_max = None, 1.5
    missed = reader.visit(segment, node(1), node(1), False)
    assert (missed.t_enter, missed.t_exit) == (2.0, 1.5), "an exit before its entry"
    opened = reader.visit(segment, node(1), node(1, 0, 1), True)
    assert (opened.t_enter, opened.t_exit, opened.candidates) == (2.0, 2.0, 1)
    inside = reader.visit(ray((3, 1, 1)), node(0), node(1), False)
    assert (inside.t_enter, inside.t_exit) == (0.0, 1.0)
    beside = reader.visit(ray((-1, 9, 1)), node(0), node(1), False)
    assert beside.t_exit < beside.t_enter
    assert [reader.candidate(node(0, k)) for k in range(5)] == NUMBERS.tolist()


def test_which_structure_it_is(voxels: Any, nodes: Any) -> None:
    """By its records; quadrics have their own numbers, in the place of those below none."""
    triangles = np.zeros(4, [("number", "i4")])
    triangles["number"] = [5, -1, 6, -2]
    quadrics = np.zeros(2, [("number", "i4")])
    quadrics["number"] = [70, 80]
    scene: Any = SimpleNamespace(memories=[table("triangles", triangles)], module_state=None)
    both: Any = SimpleNamespace(memories=[table("quadrics", quadrics)], module_state=None)
    assert traversals([voxels]) is None and traversals([scene]) is None
    found: Any = traversals([scene, voxels])
    assert isinstance(found, GridTraversals) and found.triangles.tolist() == [5, -1, 6, -2]
    found = traversals([scene, nodes, both])
    assert isinstance(found, BvhTraversals) and found.triangles.tolist() == [5, 70, 6, 80]
