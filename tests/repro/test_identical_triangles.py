"""A hundred thousand triangles in one place took half a minute, since every ray tested them all."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.accel.motion import SAMPLE_SIZE, without_duplicates

COUNT = 20_000


def piles() -> np.ndarray:
    """(COUNT, 3, 3) float32: two piles, one of triangles turned into themselves, whose corners begin elsewhere; and two
    triangles alone."""
    corners = np.tile(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), (COUNT, 1, 1))
    corners[1::2, :, 0] += 2
    corners[5::8] = np.roll(corners[5::8], 1, axis=1)
    corners[100] += 5
    corners[101] -= 5
    return corners


@pytest.mark.parametrize("accel", ["bvh", "grid", "two-level-bvh", "two-level-grid"])
def test_rays_test_a_pile_once(accel: str) -> None:
    corners = piles()
    scene = Scene.from_triangles(corners.reshape(-1, 3), np.arange(3 * COUNT).reshape(-1, 3))
    renderer = Renderer(scene, program="cast", machine="singlepass", accel=accel)
    goals = np.array([0, 1, 100, 101])
    places = corners[goals].mean(axis=1)
    hits = renderer.trace(places + [0, 0, 1], np.broadcast_to([0, 0, -1], (4, 3)))
    assert hits.triangle.tolist() == goals.tolist()  # of equal ones the lowest number
    assert (hits.distance == 1).all()
    layers = renderer.render((16, 16), layers=("tests", "steps")).layers
    assert 0 < layers["tests"].max() <= 8  # each pile in both orders of its corners, and the others, in a voxel or two
    assert layers["steps"].max() < 400


def test_the_first_of_equal_triangles_stays() -> None:
    corners = piles()
    given = corners.copy()
    kept = np.isfinite(without_duplicates(corners)).all(axis=(1, 2))
    assert np.flatnonzero(kept).tolist() == [0, 1, 5, 100, 101]
    assert np.array_equal(corners, given)
    assert np.array_equal(without_duplicates(corners)[kept], corners[kept])


def test_scenes_without_repeats_are_taken_as_they_are() -> None:
    corners = np.random.default_rng(0).normal(size=(2 * SAMPLE_SIZE, 3, 3)).astype(np.float32)
    assert without_duplicates(corners) is corners
    assert without_duplicates(corners[:0]).shape == (0, 3, 3)
    halves = np.concatenate([corners, corners])
    assert np.flatnonzero(np.isfinite(without_duplicates(halves)[:, 0, 0])).tolist() == list(range(2 * SAMPLE_SIZE))


def test_equal_hashes_of_other_triangles_lose_none(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = piles()[:300]
    monkeypatch.setattr("raystream.accel.motion._hashes", lambda found: np.zeros(len(found), np.uint64))
    kept = np.isfinite(without_duplicates(corners)).all(axis=(1, 2))
    assert kept[[0, 1, 100, 101]].all()
