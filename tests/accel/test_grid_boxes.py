"""The grid over boxes: lists against brute force, a walk against all boxes."""

from __future__ import annotations

import numpy as np
import pytest
from counting import python_calls
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_grid_build import assert_sound, entered

from raystream.accel.grid import build as grid_boxes
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import cost as grid_cost
from raystream.accel.grid.build import Grid, build_boxes, rounding_margin
from raystream.base.errors import ViewerError


def random_boxes(rng: np.random.Generator, count: int, size: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corners (count, 3) of boxes about the unit cube; some are flat, some points."""
    centre, half = rng.uniform(-1, 1, (count, 3)), size * rng.uniform(0, 1, (count, 3)) ** 3
    half[::5, 1] = half[::7] = 0
    return centre - half, centre + half


def overlapped(grid: Grid, low: np.ndarray, high: np.ndarray, widen: np.ndarray) -> set[tuple[int, int]]:
    """Pairs (voxel number, box) whose intervals meet on all axes, the voxels widened by (3,) world units."""
    nx, ny, nz = grid.resolution
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    index = np.stack([x, y, z], -1).reshape(-1, 3)
    voxel = grid.voxel.astype(np.float64)
    begin = grid.low + index * voxel - widen
    end = grid.low + (index + 1) * voxel + widen
    meet = ((low[None] <= end[:, None]) & (high[None] >= begin[:, None])).all(axis=2)
    return {(int(v), int(b)) for v, b in np.argwhere(meet)}


def assert_right(grid: Grid, low: np.ndarray, high: np.ndarray) -> None:
    assert_sound(grid)
    bounds = np.stack([low.min(axis=0), high.max(axis=0)])
    margin = np.maximum(rounding_margin(bounds), grid_build.MIN_MARGIN * grid.voxel)
    pairs = set(entered(grid))
    # The rounding of float64, with room: in voxels, and of places, where voxels are as fine as float32 can tell.
    off = 1e-9 * grid.voxel + 1e-15 * np.abs(bounds).max(axis=0)
    assert overlapped(grid, low, high, margin - off) <= pairs
    assert pairs <= overlapped(grid, low, high, margin + off)


@pytest.mark.parametrize("resolution", [(1, 1, 1), (8, 8, 8), (7, 3, 11), 6, "auto"])
def test_lists_equal_brute_force(resolution: object) -> None:
    low, high = random_boxes(np.random.default_rng(1), 60)
    assert_right(build_boxes(low, high, resolution), low, high)  # type: ignore[arg-type]


coordinate = st.one_of(st.integers(-8, 8).map(lambda n: n / 8), st.floats(-2, 2, width=32))
corner = st.tuples(coordinate, coordinate, coordinate)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(corner, corner), min_size=1, max_size=8), st.tuples(*[st.integers(1, 9)] * 3), st.integers(-9, 9)
)
@example([((1.0, -1.0, 0.0), (1.0, -1.0, 0.0))], (1, 8, 1), 0)  # margins that end at sides of voxels
def test_lists_equal_brute_force_on_any_boxes(boxes, resolution, exponent) -> None:
    corners = np.ldexp(np.array(boxes), exponent)
    low, high = corners.min(axis=1), corners.max(axis=1)
    assert_right(build_boxes(low, high, resolution), low, high)


def test_a_walk_meets_every_box_that_a_ray_does() -> None:
    rng = np.random.default_rng(3)
    low, high = random_boxes(rng, 300, 0.8)
    grid = build_boxes(low, high)
    listed: dict[int, set[int]] = {}
    for voxel, box in entered(grid):
        listed.setdefault(voxel, set()).add(box)
    nx, ny, _ = grid.resolution
    met = 0
    for _ in range(300):
        origin, direction = rng.uniform(-2, 2, 3), rng.normal(size=3)
        t = np.sort([(low - origin) / direction, (high - origin) / direction], axis=0)
        begin, end = t[0].max(axis=1), t[1].min(axis=1)
        hit = np.flatnonzero((begin <= end) & (end >= 0))
        for box in hit:
            for place in np.linspace(max(begin[box], 0), end[box], 5):
                x, y, z = np.floor((origin + place * direction - grid.low) / grid.voxel).astype(int)
                assert box in listed[(z * ny + y) * nx + x]
                met += 1
    assert met > 1000


def test_boxes_that_are_none_leave_numbers_as_they_are() -> None:
    low, high = random_boxes(np.random.default_rng(0), 24)
    low[0], high[5], low[9, 1], high[11] = np.nan, np.inf, -np.inf, low[11] - 1
    grid = build_boxes(low, high)
    assert_sound(grid)
    assert grid.statistics["left_out"] == 4
    assert set(np.unique(grid.lists)) == {-1, *range(24)} - {0, 5, 9, 11}
    for count in (0, 3):
        nothing = build_boxes(np.full((count, 3), np.inf), np.full((count, 3), -np.inf))
        assert_sound(nothing)
        assert nothing.statistics["left_out"] == count and nothing.statistics.keys() == grid.statistics.keys()
    assert all(type(value) in (int, float) for value in grid.statistics.values())


def test_automatic_resolution_is_about_the_cheapest() -> None:
    rng = np.random.default_rng(6)
    low = rng.uniform(-1, 1, (1000, 3))
    high = low + rng.uniform(0.2, 0.4, (1000, 3))  # full boxes: their volumes count

    def cost(grid: Grid) -> float:
        tests = grid_boxes.BOX_COST * grid.statistics["expected_tests"]
        return grid_cost.STEP_COST * grid.statistics["expected_steps"] + tests

    costs = {size: cost(build_boxes(low, high, size)) for size in (1, 2, 3, 4, 5, 6, 8, 11, 16, 22, 32)}
    automatic = cost(build_boxes(low, high))
    # beside NEAR_ENOUGH, candidates lie 3 % apart, and references are estimated within some per cent
    assert automatic < 1.05 * min(costs.values()) and max(costs.values()) > 1.2 * automatic


def test_building_works_in_arrays() -> None:
    """A frame may rebuild the grid over a thousand boxes: no loop of Python over them."""
    few, many = random_boxes(np.random.default_rng(2), 100), random_boxes(np.random.default_rng(2), 1000)
    # not equal: how many candidate sizes are tried follows from the boxes
    assert python_calls(lambda: build_boxes(*many)) <= 2 * python_calls(lambda: build_boxes(*few))


def test_what_is_wrong_is_refused() -> None:
    low, high = random_boxes(np.random.default_rng(0), 8)
    with pytest.raises(ViewerError, match="shapes"):
        build_boxes(low, high[:-1])
    with pytest.raises(ViewerError, match="grid: resolution"):
        build_boxes(low, high, "fine")
    with pytest.raises(ViewerError, match="the largest that fits is"):
        build_boxes(low, high, (4096, 1, 1))
    with pytest.raises(ViewerError, match=r"the boxes extend over .* beyond float32"):
        build_boxes(low * 3e38, high * 3e38)
