"""Lines in space: projected as the camera's rays go, cut where they pass behind it; the grid's box and voxels."""

from __future__ import annotations

import numpy as np
import pytest

import viewer
from viewer import Camera
from viewer.renderer.inputs.prepared import prepare
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.studies.wires import MOST_BOXES, box_edges, grid_lines, project, structure_lines

CAMERA = Camera((3.0, 4.0, 5.0), (0.0, 1.0, 0.0), fov=50)
SIZE = (640, 360)


def test_points_lie_on_the_rays_of_their_pixels() -> None:
    generator = np.random.default_rng(3)
    pixels = generator.uniform((0, 0), SIZE, (50, 2, 2))
    controller = CameraController(CAMERA, [[-1, -1, -1], [1, 1, 1]])
    directions = np.array([[controller.direction(x, y, *SIZE) for x, y in line] for line in pixels])
    lines = np.asarray(CAMERA.origin) + directions * generator.uniform(0.5, 20, (50, 2, 1))
    np.testing.assert_allclose(project(CAMERA, SIZE, lines), pixels, atol=1e-8)  # float64 throughout


def test_what_is_behind_the_camera_is_cut_off() -> None:
    _, _, forward = CAMERA.basis()
    origin = np.asarray(CAMERA.origin)
    right = CAMERA.basis()[0]
    behind = np.stack([origin - forward, origin - 2 * forward])
    crossing = np.stack([origin - 5 * forward + right, origin + 5 * forward + right])
    shown = project(CAMERA, SIZE, np.stack([behind, crossing, crossing[::-1]]))
    assert len(shown) == 2 and np.isfinite(shown).all()
    np.testing.assert_allclose(shown[0], shown[1][::-1])
    near, far = shown[0]
    assert near[0] > far[0] > SIZE[0] / 2 and far[1] == pytest.approx(SIZE[1] / 2)
    assert len(project(CAMERA, SIZE, np.zeros((0, 2, 3)))) == 0


def test_edges_of_a_box() -> None:
    edges = box_edges([[0, 0, 0]], [[1, 2, 3]])[0]
    lengths = np.sort(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1))
    np.testing.assert_allclose(lengths, np.repeat([1, 2, 3], 4))
    assert len({tuple(corner) for corner in edges.reshape(-1, 3)}) == 8


def test_the_grid() -> None:
    grid = prepare(viewer.load("teapotahedron"), accel="grid", grid=6).structure.built
    lines = grid_lines(grid, CAMERA)
    low = grid.low.astype(np.float64)
    high = low + grid.voxel.astype(np.float64) * np.asarray(grid.resolution)
    slack = 1e-5 * (high - low).max()  # the grid's are float32
    assert (lines >= low - slack).all() and (lines <= high + slack).all()
    inner = 2 * (sum(grid.resolution) - 3)
    assert len(lines) == 12 + inner
    # Every line but the box's lies on one of the faces that look away from the camera.
    away = np.where(np.asarray(CAMERA.origin) < (low + high) / 2, high, low)
    on = np.isclose(lines[12:], away, atol=slack).all(axis=1).any(axis=1)
    assert on.all()


def test_the_tree() -> None:
    """Whole levels of it, the root's box around all."""
    tree = prepare(viewer.load("teapotahedron"), accel="bvh").structure.built
    lines = structure_lines(tree, CAMERA)
    boxes = lines.reshape(-1, 24, 3)
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    assert (low >= low[0]).all() and (high <= high[0]).all()
    np.testing.assert_array_equal([low[0], high[0]], [tree.low[0], tree.high[0]])
    assert MOST_BOXES / 2 < len(boxes) <= MOST_BOXES
    assert not len(structure_lines(None, CAMERA))


@pytest.mark.parametrize("accel", ["two-level-bvh", "two-level-grid"])
def test_two_levels_show_the_instances(accel: str) -> None:
    scene = viewer.load("balls")
    lines = structure_lines(prepare(scene, accel=accel).structure.built, CAMERA)
    assert len(lines) == 12 * min(len(scene.instances), MOST_BOXES)
    low, high = scene.bounds()
    slack = 1e-5 * (high - low).max()  # boxes are float32, rounded outward
    np.testing.assert_allclose(lines.min(axis=(0, 1)), low, atol=slack)
    np.testing.assert_allclose(lines.max(axis=(0, 1)), high, atol=slack)
