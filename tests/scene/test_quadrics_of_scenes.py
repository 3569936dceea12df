"""Boxes, ends and limits of quadrics, by tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.quadric import Quadric, QuadricShape, check_map


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (QuadricShape((1, 1, 1), constant=-4), (-2, -2, -2), (2, 2, 2)),
        (QuadricShape((1, 4, 9), constant=-36), (-6, -3, -2), (6, 3, 2)),
        (QuadricShape((1, 1, 1), constant=-4, high=(math.inf, 1, math.inf)), (-2, -2, -2), (2, 1, 2)),
        (QuadricShape((1, 1, 1), constant=-25, low=(-math.inf, 3, -math.inf)), (-4, 3, -4), (4, 5, 4)),
        (QuadricShape((1, 0, 1), -1, high=(math.inf, 4, math.inf)), (-2, 0, -2), (2, 4, 2)),
        (
            QuadricShape((1, -1, 1), low=(-math.inf, -2, -math.inf), high=(math.inf, 1, math.inf)),
            (-2, -2, -2),
            (2, 1, 2),
        ),
        (QuadricShape((0, 0, 0), 2, -6, ring=(1, 5)), (-5, 3, -5), (5, 3, 5)),
        (
            QuadricShape((1, 0, 1), constant=-9, low=(-math.inf, -1, -math.inf), high=(math.inf, 2, 1)),
            (-3, -1, -3),
            (3, 2, 1),
        ),
    ],
)
def test_boxes_of_quadrics(shape: QuadricShape, low: tuple, high: tuple) -> None:
    np.testing.assert_allclose(shape.bounds(), [low, high], rtol=1e-12)


@pytest.mark.parametrize(
    ("diagonal", "right"),
    [((1, 1, 1), True), ((1, 1e5, 1), True), ((1, 1.01e5, 1), False), ((0, 0, 0), False), ((math.inf, 1, 1), False)],
)
def test_maps_that_flatten(diagonal: tuple, right: bool) -> None:
    matrix = np.diag([*diagonal, 1.0])
    if right:
        check_map("a", matrix)
    else:
        with pytest.raises(ViewerError, match="a: a quadric flattened"):
            check_map("a", matrix)


@pytest.mark.parametrize(
    ("start", "end"), [((0, 0, 0), (0, 0, 2)), ((1, 2, 3), (4, 2, 3)), ((0, 1, 0), (0, -1, 0)), ((0, 0, 0), (1, 2, 2))]
)
def test_ends_of_cylinders_and_cones(start: tuple, end: tuple) -> None:
    """Rings around both ends, across the axis, of the radii that were given."""
    first, last = np.array(start, float), np.array(end, float)
    axis = (last - first) / np.linalg.norm(last - first)
    for made, radii in (
        (Quadric.cylinder(start, end, 0.5), (0.5, 0.5)),
        (Quadric.cone(start, end, 0.5, 0.25), (0.5, 0.25)),
        (Quadric.cone(start, end, 0.5), (0.5, 0)),
    ):
        mesh = made.tessellated(8, 2)
        along = (mesh.positions - first) @ axis
        for place, radius in ((0, radii[0]), (np.linalg.norm(last - first), radii[1])):
            ring = mesh.positions[np.abs(along - place) < 1e-5]
            assert len(ring) == 8
            centre = first + axis * place
            np.testing.assert_allclose(np.linalg.norm(ring - centre, axis=1), radius, atol=1e-5)
        outward = mesh.positions - first - np.outer(along, axis)
        assert ((outward * mesh.normals).sum(axis=1) >= -1e-6).all()
        assert mesh.name == made.name and (mesh.materials == 0).all()
