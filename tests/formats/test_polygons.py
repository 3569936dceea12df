"""Polygons into triangles: area, winding, no overlap, order, and time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.formats.polygons import triangulate


def cut(points: np.ndarray) -> np.ndarray:
    """(n - 2, 3) corners of one polygon."""
    triangles, polygon, tangled = triangulate(points, np.arange(len(points)), np.array([len(points)]))
    assert tangled == 0
    assert len(triangles) == len(points) - 2
    assert (polygon == 0).all()
    return triangles


def area(points: np.ndarray) -> float:
    x, y = points[:, 0].astype(float), points[:, 1].astype(float)
    return 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    p = points[triangles].astype(float)
    a, b = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    return 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def check(points: np.ndarray) -> None:
    """All triangles turn as the polygon does, and their areas add up to its own: so they do not overlap."""
    found = areas(points, cut(points)) * np.sign(area(points))
    # Corners on a line may give triangles without area; float32 coordinates, float64 sums.
    assert (found >= -1e-9 * abs(area(points))).all()
    assert found.sum() == pytest.approx(abs(area(points)), rel=1e-9)


def star(n: int, seed: int, wild: float = 0.9) -> np.ndarray:
    """A polygon around the origin whose radius jumps from corner to corner."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
    radius = 1 - wild * rng.random(n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(n)], -1).astype(np.float32)


def spiral(n: int) -> np.ndarray:
    """A long corridor wound up: most ears are blocked."""
    angle = np.linspace(0, 12 * np.pi, n)
    out = np.stack([(1 + angle) * np.cos(angle), (1 + angle) * np.sin(angle)], -1)
    back = np.stack([(2.5 + angle) * np.cos(angle), (2.5 + angle) * np.sin(angle)], -1)[::-1]
    return np.concatenate([np.concatenate([out, back]), np.zeros((2 * n, 1))], axis=1).astype(np.float32)


def test_convex_polygons_are_fans(loops):
    angle = 2 * np.pi * np.arange(7) / 7
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1).astype(np.float32)
    assert cut(points).tolist() == [[0, k, k + 1] for k in range(1, 6)]


@given(st.integers(5, 60), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_random_stars(n, seed):
    check(star(n, seed))
    check(star(n, seed)[::-1])


def test_corners_on_a_line_and_doubled(loops):
    check(np.float32([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 2, 0], [1, 1, 0], [0, 2, 0], [0, 1, 0]]))
    check(np.float32([[0, 0, 0], [2, 0, 0], [2, 0, 0], [2, 2, 0], [1, 0.5, 0], [0, 2, 0]]))
    # A hole, joined to the border by a slit walked both ways.
    border, hole = [[0, 0, 0], [9, 0, 0], [9, 9, 0], [0, 9, 0]], [[3, 3, 0], [3, 6, 0], [6, 6, 0], [6, 3, 0]]
    check(np.float32([*border, border[0], *hole, hole[0]]))


def test_many_polygons_keep_their_order(loops):
    points = np.concatenate([star(n, n) for n in (3, 4, 5, 9)])
    lengths = np.array([3, 2, 4, 0, 5, 9])
    corners = np.concatenate([[0, 1, 2], [0, 1], np.arange(3, 21)])
    triangles, polygon, _ = triangulate(points, corners, lengths)
    assert polygon.tolist() == [0] + [2] * 2 + [4] * 3 + [5] * 7
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    assert (triangles >= bounds[polygon][:, None]).all()
    assert (triangles < bounds[polygon + 1][:, None]).all()


@pytest.mark.parametrize("make", [lambda: star(100_000, 1), lambda: star(100_000, 2, 0.999), lambda: spiral(5_000)])
def test_large_polygons(make):
    """Quadratic work would take minutes."""
    check(make())


def test_tangles_end(loops, monkeypatch):
    """Polygons that cross themselves give their number of triangles in bounded time, whatever these are."""
    rng = np.random.default_rng(5)
    points = rng.random((400, 3)).astype(np.float32)
    triangles, _, _ = triangulate(points, np.arange(400), np.array([400]))
    assert len(triangles) == 398
    points[7] = np.nan
    assert len(cut(points)) == 398
    assert len(cut(np.zeros((9, 3), np.float32))) == 7


def cut_flat(points: list[list[float]]) -> list[list[int]]:
    flat = np.float32([[*point, 0] for point in points])
    triangles, _, tangled = triangulate(flat, np.arange(len(flat)), np.array([len(flat)]))
    assert tangled == 0
    return triangles.tolist()


DART = [[0, 0], [4, 0], [1, 1], [0, 4]]


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("mirror", [False, True])
def test_a_dart_is_cut_at_its_reflex_corner(turn: int, mirror: bool, loops: None) -> None:
    points = DART[turn:] + DART[:turn]
    if mirror:
        points = points[::-1]
    reflex = points.index([1, 1])
    for triangle in cut_flat(points):
        assert reflex in triangle
    assert sorted(corner for triangle in cut_flat(points) for corner in triangle) == sorted(
        [0, 1, 2, 3, reflex, (reflex + 2) % 4]
    )


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_projections_keep_the_winding(axis: int, sign: int, loops: None) -> None:
    """Along each axis, seen from both sides: the corners of the dart are the same ones."""
    dart = np.float32([[*point, 0.25] for point in DART]) * np.float32([sign, 1, 1])
    turned = np.roll(dart, axis, axis=1)
    triangles, _, _ = triangulate(turned, np.arange(4), np.array([4]))
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
