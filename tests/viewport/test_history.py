"""A ray's history as text, and what is derived from it, by a history that is written down here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.viewport.debug_views.probe import (
    COLUMNS,
    Change,
    PixelSurface,
    Probe,
    Row,
    Segment,
    Test,
    TraversalStep,
)

RECORD = np.array((2.5, -1, (1.0, np.inf, 0.25)), [("t", "f4"), ("triangle", "i4"), ("rgb", "f4", 3)])[()]
BOX = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
CORNERS = np.arange(9, dtype=np.float32).reshape(3, 3)


def ray(**more: Any) -> Segment:
    return Segment(np.float32([1, 2, 3]), np.float32([0, 0, -1]), 10.0, False, **more)


def history() -> Probe:
    probe = Probe((3, 4), (64, 48), "cast", ("eye", "traverse", "intersect"))
    written = Change("ray", "origin", None, np.float32([1, 2, 3e37]))
    probe.rows = [
        Row(1, "eye", "eye_ray", ("done",), "traverse", (written, Change("ray", "t_max", None, np.float32(0.1)))),
        Row(2, "intersect", "test", ("hit", "miss"), "done", (Change("hit", "t", np.float32(9), np.float32(2.5)),), 17),
        Row(3, "traverse", "step", (), "done", ()),
    ]
    first = ray(
        visits=[TraversalStep((1, 2, 3), BOX, 0.5, 1.5, 2), TraversalStep((1, 2, 4), BOX + 1, 1.5, np.inf, 0)],
        tests=[Test(17, CORNERS, True)],
    )
    first.t_hit, first.triangle, first.barycentric = 2.5, 17, (0.25, 0.5)
    second = ray(visits=[TraversalStep((7,), BOX + 2, 3.0, 2.0, 0)])
    second.t_max, second.any_hit = np.inf, True
    probe.segments = [first, second]
    probe.calls, probe.results = {"eye": 1, "traverse": 3, "intersect": 1}, {"hit": RECORD}
    probe.surface, probe.complete = PixelSurface(17, 2, "front wall", 3.25), True
    return probe


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (None, np.int32([3, 4, 6]), "a.b = (3, 4, 6)"),
        (np.int32([3, 4, 5]), np.int32([3, 4, 6]), "a.b (3, 4, 5) -> (3, 4, 6)"),
        (np.float32(0), np.float32(0.1), "a.b 0 -> 0.1"),
        (None, np.float32(123456789.0), "a.b = 1.23457e+08"),
        (None, np.float32(0.99e37), "a.b = 9.9e+36"),
        (None, np.float32(1.01e37), "a.b = far"),
        (None, np.float32(-np.inf), "a.b = far"),
        (None, np.int32(-7), "a.b = -7"),
        (None, np.float32([0.5, np.inf]), "a.b = (0.5, far)"),
        (np.int32(0), np.int32(1), "a.b 0 -> 1"),
    ],
)
def test_changes_as_text(before: Any, after: Any, text: str) -> None:
    assert Change("a", "b", before, after).text() == text


def test_the_table() -> None:
    assert COLUMNS == ("pass", "state", "kernel", "exit", "next", "changes")
    rows = [
        ("1", "eye", "eye_ray", "done", "traverse", "ray.origin = (1, 2, far); ray.t_max = 0.1"),
        ("2", "intersect", "test", "hit or miss", "done", "tests triangle 17; hit.t 9 -> 2.5"),
        ("3", "traverse", "step", "", "done", ""),
    ]
    for first in range(5):
        assert history().table(first) == rows[first:]
    assert history().table() == rows


def test_a_segment_in_space() -> None:
    segment = ray()
    assert segment.hit_point is None and segment.span is None
    segment.t_hit = 0.5
    np.testing.assert_array_equal(segment.hit_point, (1, 2, 2.5))
    np.testing.assert_array_equal(segment.at(2.0), (1, 2, 1))
    np.testing.assert_array_equal(segment.world(np.float32([4, 5, 6])), (4, 5, 6))
    segment.to_world = np.array([[0, -2.0, 0, 1], [2, 0, 0, 10], [0, 0, 2, 100], [0, 0, 0, 1]])
    np.testing.assert_array_equal(segment.world(np.float32([[4, 5, 6], [0, 0, 0]])), [(-9, 18, 112), (1, 10, 100)])
    assert segment.world(np.float32([1, 2, 3])).dtype == np.float64
