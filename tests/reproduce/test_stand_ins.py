"""Stand-ins: cameras by their numbers, the search, the forest drawn together, and that the stated views do what is
published."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from reproduction import measured, stand_ins, views
from reproduction.context import Context
from reproduction.published.chapter5 import VIEWS, View
from reproduction.simulators.walk import Space

from raystream.accel.grid.build import build
from raystream.scene.builtin.cornell import build as cornell
from raystream.scene.builtin.forest import build as forest


@pytest.fixture(scope="module")
def room() -> Space:
    corners = cornell().flatten().corners()
    return Space.of(build(corners, 8), corners)


def test_cameras_stand_where_their_numbers_say() -> None:
    around = stand_ins.camera_around([10, 90, 30, 1, 2, 3, 50])
    assert np.allclose(around.origin, (1 + 10 * math.cos(math.pi / 6), 2 + 5, 3))
    assert around.target == (1, 2, 3) and around.fov == 50
    within = stand_ins.camera_within([4, 1.5, 6, 90, 0, 60], lambda x, z: 10 * x + z)
    assert np.allclose(within.origin, (4, 46 + 1.5, 6)) and np.allclose(within.target, (5, 47.5, 6))
    above = stand_ins.camera_within([0, 1, 0, 0, 90, 60], lambda x, z: 0.0)
    assert np.allclose(above.target, (0, 2, 0))


def test_the_search_finds_a_camera_of_the_same_work(room: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a known camera's rays do is sought from wide ranges, by v, t and s alone."""
    monkeypatch.setattr(stand_ins, "EDGE", 12)
    known = stand_ins.camera_around([900, 180, 10, 278, 273, 280, 45])
    target = View(38, (8, 8, 8), *stand_ins.rays_work(room, known, 12).tolist(), 0)
    ranges = [(500, 1500), (150, 210), (-10, 30), (200, 350), (200, 350), (200, 350), (30, 60)]
    found, again = (stand_ins.search(room, target, stand_ins.camera_around, ranges, seed=3) for _ in range(2))
    assert found.error == stand_ins.error(found.work, target) <= stand_ins.CLOSE
    assert np.array_equal(found.values, again.values) and found.tried == again.tried < 700
    assert all(low <= value <= high for value, (low, high) in zip(found.values, ranges, strict=True))
    other = stand_ins.search(room, target, stand_ins.camera_around, ranges, seed=4)
    assert not np.array_equal(found.values, other.values)
    impossible = View(38, (8, 8, 8), 1e6, 1.0, 1.0, 0)
    monkeypatch.setattr(stand_ins, "FIRST", 5)
    monkeypatch.setattr(stand_ins, "ROUNDS", 7)
    assert stand_ins.search(room, impossible, stand_ins.camera_around, ranges).tried == 12


def test_the_largest_of_three_errors_decides() -> None:
    target = View(1, (1, 1, 1), 10.0, 20.0, 0.5, 0)
    assert stand_ins.error([10.0, 20.0, 0.6], target) == pytest.approx(0.2)
    assert stand_ins.error([7.0, 20.0, 0.5], target) == pytest.approx(0.3)


def test_a_forest_is_drawn_together() -> None:
    """Its box has the wanted proportion, its trees stand on the ground at the share of their distance."""
    whole = forest(100)
    scene = stand_ins.gathered(whole, 0.5, 4.0)
    low, high = scene.bounds()
    assert (high - low)[0] / (high - low)[1] == pytest.approx(4.0, rel=1e-3)
    higher = scene.instances[0].transform[1, 1]
    for before, after in zip(whole.instances[1:20], scene.instances[1:20], strict=True):
        assert np.allclose(after.transform[[0, 2], 3], 0.5 * before.transform[[0, 2], 3])
        assert np.allclose(after.transform[0, :3], 0.5 * before.transform[0, :3])
        x, _, z = after.transform[:3, 3]
        foot = before.transform[1, 3] - stand_ins.ground_height(whole, *before.transform[[0, 2], 3])
        assert after.transform[1, 3] == pytest.approx(higher * (stand_ins.ground_height(whole, x, z) + 0.5 * foot))
    vertex = np.asarray(whole.meshes[0].positions)[777]
    assert stand_ins.ground_height(whole, vertex[0], vertex[2]) == pytest.approx(vertex[1], abs=1e-5)


@pytest.mark.parametrize("scene", ["building", "forest"])
def test_stated_views_do_what_is_published(scene: str, tmp_path: Path) -> None:
    context = Context(tmp_path, quick=True)
    for view in views.VIEWS:
        if view.scene == scene:
            space, camera = measured.space(context, view.name), measured.camera(context, view.name)
            assert tuple(space.resolution.tolist()) == view.resolution
            work = stand_ins.rays_work(space, camera, 96)
            assert stand_ins.error(work, VIEWS[view.name]) <= stand_ins.AGREES
        assert len(view.values) == len(view.numbers) == len(view.ranges)
        assert all(low <= value <= high for value, (low, high) in zip(view.values, view.ranges, strict=True))


def test_a_view_that_does_something_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = VIEWS[measured.BUNNY]
    for change, passed in ((1.05, True), (1.2, False), (0.8, False)):
        work = {"v": published.v, "t": published.t * change, "s": published.s}
        monkeypatch.setattr(measured, "workload", lambda context, name, work=work: work)
        check = measured.agreement(Context(tmp_path), measured.BUNNY)
        assert check.passed is passed and f"{abs(change - 1):.1%}" in check.bound
