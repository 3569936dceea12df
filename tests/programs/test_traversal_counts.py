"""How much a ray does: it asks no triangle, and walks no further, than its question needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.accel import bvh_build, primitives
from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.programs import trace
from raystream.programs.traversal import FLAT
from raystream.renderer.sampling.ray_queries import pack_rays, run_rays
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

SQUARE = np.float32([[-1, -1, 0], [3, -1, 0], [-1, 3, 0]])


def calls(device: Any, voxels: tuple[int, int, int], any_hit: bool, up: bool, machine: type) -> tuple[int, int, int]:
    """Steps and tests of one ray along z over four triangles at z = 0, 1, 2, 3, and the number that it hits."""
    corners = np.stack([SQUARE + np.float32([0, 0, z]) for z in range(4)])
    modules = [grid.module(grid_build.build(corners, voxels)), primitives.triangle_module("watertight", corners, 4.0)]
    made = machine(device, LinkedProgram(trace(FLAT), modules), (1, 1), counting=True)
    records, _ = pack_rays([[0, 0, -1 if up else 4]], [[0, 0, 1 if up else -1]], np.inf, any_hit)
    hit = int(run_rays(made, records)["triangle"][0])
    found = made.calls()
    made.release()
    return int(found["traverse"].sum()), int(found["intersect"].sum()), hit


@pytest.mark.parametrize("machine", [Singlepass, Multipass])
@pytest.mark.parametrize(("any_hit", "up", "tests"), [(True, True, 1), (True, False, 1), (False, True, 4)])
def test_any_hit_ends_with_the_first_that_is_met(
    device: Any, machine: type, any_hit: bool, up: bool, tests: int
) -> None:
    """In one voxel, whose list is in the order of numbers: the first triangle of the scene counts as any other."""
    assert calls(device, (1, 1, 1), any_hit, up, machine) == (1, tests, 0)


@pytest.mark.parametrize("machine", [Singlepass, Multipass])
@pytest.mark.parametrize(("up", "hit"), [(True, 0), (False, 3)])
def test_no_ray_walks_on_behind_its_hit(device: Any, machine: type, up: bool, hit: int) -> None:
    """A layer of voxels for each triangle: one step, one test."""
    assert calls(device, (1, 1, 4), False, up, machine) == (1, 1, hit)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_nearer_half_of_a_tree_comes_first(device: Any, axis: int) -> None:
    """Eight layers, one in a leaf: a ray meets one triangle, whichever way it comes, by the walk of octants."""
    corners = np.roll(np.stack([SQUARE + np.float32([0, 0, z]) for z in range(8)]), axis - 2, axis=2)
    built = bvh_build.build(corners, "midpoint", leaf=1)
    modules = [bvh.module([built], "octants"), primitives.triangle_module("watertight", corners, 8.0, built.order)]
    machine = Singlepass(device, LinkedProgram(trace(FLAT), modules), (2, 1), counting=True)
    towards = np.eye(3)[axis]
    away, back = np.full(3, 0.25), np.full(3, 0.25)
    away[axis], back[axis] = -1, 8
    records, _ = pack_rays([away, back], [towards, -towards], np.inf, False)
    assert run_rays(machine, records)["triangle"].tolist() == [0, 7]
    found = machine.calls()
    assert found["intersect"].tolist() == [[1, 1]]
    # The root, two nodes below it and the leaf; and on the way out the box beside each of the three, which is missed.
    assert found["traverse"].tolist() == [[7, 7]]
    machine.release()
