"""Equal distances that are met late: at a voxel's border, in a voxel's list, in instances in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import instances
import numpy as np
import pytest
from walker import rays, walker

from raystream import Scene
from raystream.accel import primitives
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])


@pytest.mark.parametrize("traversal", grid.TRAVERSALS)
def test_a_hit_at_a_border_waits_for_the_next_voxel(device: Any, traversal: str) -> None:
    """Two equal triangles in the plane between two voxels, the higher number listed in the first, the lower in the
    second: what a builder may make of shapes that end there. The lower number is hit."""
    plane = SQUARE[[[0, 1, 2], [0, 2, 3]]][:1]
    corners = np.concatenate([plane, plane])
    built = grid_build.build(corners, (1, 1, 2))
    for lists in ([1, -1, 0, -1], [0, -1, 1, -1]):
        made = replace(
            built,
            low=np.float32([-2, -2, -2]),
            voxel=np.float32([4, 4, 2]),
            pointers=np.float32([[[0]], [[2]]]),
            lists=np.float32(lists),
        )
        walk = walker(device, grid.module(made, traversal), primitives.triangle_module("watertight", corners, 4.0))
        found = walk(rays(np.float32([[0.5, -0.25, -1.5], [0.5, -0.25, 1.5]]), [[0, 0, 1], [0, 0, -1]]))
        assert found["triangle"].tolist() == [0, 0] and found["t"].tolist() == [1.5, 1.5]


def stacked(heights: list[float], **more: Any) -> Scene:
    """Squares across z, an instance each."""
    mesh = Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    placed = []
    for height in heights:
        matrix = np.eye(4)
        matrix[2, 3] = height
        placed.append(Instance(0, matrix, **more))
    return Scene([mesh], placed, [Material(base_color=(0.25, 0.5, 0.75, 1.0)), Material()])


@pytest.mark.parametrize("kind", instances.KINDS)
def test_of_instances_in_one_place_the_first_is_hit(kind: tuple[str, str]) -> None:
    """From both sides, so that no order of the walk is the numbers' own."""
    renderer = instances.renderer(stacked([0.0] * 6 + [-3.0, 3.0, 0.0]), kind, machine="singlepass")
    hits = renderer.trace([[0.5, 0.25, -1], [0.5, 0.25, 1], [0.25, 0.5, 1]], [[0, 0, 1], [0, 0, -1], [0, 0, -1]])
    assert hits.instance.tolist() == [0, 0, 0] and hits.distance.tolist() == [1, 1, 1]
    assert hits.triangle.tolist() == [0, 0, 1]
    renderer.release()


@pytest.mark.parametrize("kind", instances.KINDS)
def test_of_instances_in_one_voxel_the_nearest_is_hit(kind: tuple[str, str]) -> None:
    """The list of a voxel goes on behind a hit in it."""
    heights = [0.04, 0.03, 0.0, 0.02, 0.01]  # so near that they lie in the same voxels
    renderer = instances.renderer(stacked(heights), kind, machine="singlepass")
    hits = renderer.trace([[0.5, 0.25, -1], [0.5, 0.25, 1]], [[0, 0, 1], [0, 0, -1]])
    assert hits.instance.tolist() == [2, 0]
    renderer.release()


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_an_instance_may_have_the_first_material(accel: str) -> None:
    """Number 0, in place of the mesh's own number 1."""
    scene = stacked([0.0], material=0)
    scene.meshes[0].materials = np.ones(2, np.int32)
    for instance, albedo in ((0, (0.25, 0.5, 0.75)), (None, Material().base_color[:3])):
        scene.instances[0].material = instance
        renderer = instances.renderer(scene, (accel, "auto"), machine="singlepass", camera="0.5,0.25,3 0.5,0.25,0")
        picture = renderer.render((1, 1), layers=("albedo",))
        np.testing.assert_array_equal(picture.layers["albedo"][0, 0], np.float32(albedo))
        renderer.release()
