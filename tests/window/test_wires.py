"""Lines in space: projected as the camera's rays go, cut where they pass behind it; the grid's box and voxels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raystream import Camera
from raystream.accel.grid.build import Grid
from raystream.scene.projections import Equirectangular, Fisheye
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.debug_views.wires import (
    MAX_LINES,
    box_edges,
    grid_lines,
    project,
    project_points,
)

CAMERA = Camera((3.0, 4.0, 5.0), (0.0, 1.0, 0.0), fov=50)
SIZE = (640, 360)


def test_points_lie_on_the_rays_of_their_pixels() -> None:
    generator = np.random.default_rng(3)
    pixels = generator.uniform((0, 0), SIZE, (50, 2, 2))
    controller = CameraController(CAMERA, [[-1, -1, -1], [1, 1, 1]])
    directions = np.array([[controller.direction(x, y, *SIZE) for x, y in line] for line in pixels])
    lines = np.asarray(CAMERA.origin) + directions * generator.uniform(0.5, 20, (50, 2, 1))
    np.testing.assert_allclose(project(CAMERA, SIZE, lines), pixels, atol=1e-8)  # float64 throughout


def test_lines_are_curves_in_other_projections() -> None:
    """Each end is where the camera projects it; what leads around the back of a panorama is left out."""
    around = replace(CAMERA, projection=Equirectangular())
    lines = np.array([[[0, 1, 0], [0, 4, 0]]], float)
    shown = project(around, SIZE, lines)
    assert shown.shape == (12, 2, 2)
    np.testing.assert_allclose(shown[[0, -1], [0, 1]], around.project(lines[0], SIZE), atol=1e-9)
    right, _, forward = CAMERA.basis()
    behind = np.asarray(CAMERA.origin) - 4 * forward
    shown = project(around, SIZE, [[behind - right, behind + right]])
    assert len(shown) in (11, 12) and np.ptp(shown[..., 0], axis=1).max() < SIZE[0] / 4
    points, seen = project_points(replace(CAMERA, projection=Fisheye(90.0)), SIZE, [behind, CAMERA.target])
    assert seen.tolist() == [False, True]
    np.testing.assert_allclose(points[1], np.array(SIZE) / 2)


# -- values ------------------------------------------------------------------------------------------------------------

LEVEL = Camera((0.0, 0.0, 5.0), (0.0, 0.0, 0.0), fov=90.0)  # 200 x 100 pixels: at the origin a unit is 10 wide


def test_edges_of_two_boxes() -> None:
    edges = box_edges([[0, 0, 0], [1, 1, 1]], [[1, 2, 3], [1, 1, 1]])
    assert edges.shape == (2, 12, 2, 3) and edges.dtype == np.float64
    found = {frozenset(tuple(end) for end in edge.tolist()) for edge in edges[0]}
    corners = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)]
    apart = [(a, b) for a in corners for b in corners if sum(p != q for p, q in zip(a, b, strict=True)) == 1]
    assert found == {frozenset(pair) for pair in apart} and len(found) == 12
    assert (edges[1] == 1).all()


def test_lines_end_where_they_pass_the_camera() -> None:
    """At 0.0005 before it, 100,000 pixels a unit."""
    lines = [[(1e-4, 0, 0), (1e-4, 0, 10)], [(1e-4, 2e-4, 10), (1e-4, 2e-4, 0)], [(0, 0, 6), (0, 1, 7)]]
    first, second = project(LEVEL, (200, 100), lines)
    assert first.tolist() == [pytest.approx((100.001, 50)), pytest.approx((110, 50))]
    assert second.tolist() == [pytest.approx((110, 30)), pytest.approx((100.001, 49.998))]
    slanted = project(LEVEL, (200, 100), [[(0, 0, 4), (2, 0, 6)]])[0]
    assert slanted.tolist() == [pytest.approx((100, 50)), pytest.approx((100 + 0.9995 * 1e5, 50))]
    assert len(project(LEVEL, (200, 100), np.zeros((0, 2, 3)))) == 0


def grid_of(resolution: tuple[int, int, int]) -> Grid:
    low, voxel = np.float32([1, 2, 3]), np.float32([0.5, 1.0, 2.0])
    return Grid(low, voxel, resolution, np.zeros(1, np.float32), np.zeros(1, np.float32), {})


def test_voxels_on_the_faces_that_look_away() -> None:
    """A grid of 2 x 3 x 1 voxels from (1, 2, 3) to (2, 5, 5)."""
    for origin, away in (((9, 9, 9), (1, 2, 3)), ((-9, -9, -9), (2, 5, 5)), ((1.4, 9, 3.9), (2, 2, 5))):
        lines = grid_lines(grid_of((2, 3, 1)), Camera(origin, (0, 0, 0)))
        box = {frozenset(map(tuple, edge.tolist())) for edge in lines[:12]}
        assert box == {frozenset(map(tuple, e.tolist())) for e in box_edges((1, 2, 3), (2, 5, 5))[0]}
        found = {frozenset(map(tuple, line.tolist())) for line in lines[12:]}
        x, y, z = map(float, away)
        wanted = {frozenset({(x, each, 3.0), (x, each, 5.0)}) for each in (3.0, 4.0)}  # on the face across x
        wanted |= {frozenset({(1.5, y, 3.0), (1.5, y, 5.0)})}
        wanted |= {frozenset({(1.5, 2.0, z), (1.5, 5.0, z)})}
        wanted |= {frozenset({(1.0, each, z), (2.0, each, z)}) for each in (3.0, 4.0)}
        assert found == wanted and len(lines) == 12 + 6


@pytest.mark.parametrize(("count", "lines"), [(199, 198), (200, 199), (201, 100), (400, 199), (401, 133)])
def test_fine_grids_have_fewer_lines(count: int, lines: int) -> None:
    """At most 200 along an axis, each so many voxels from the last; on the two faces that the axis lies in."""
    found = grid_lines(grid_of((count, 1, 1)), LEVEL)[12:]
    assert len(found) == 2 * lines
    step = -(-count // MAX_LINES)
    np.testing.assert_allclose(sorted(set(found[:, 0, 0].tolist())), 1 + 0.5 * step * np.arange(1, lines + 1))
