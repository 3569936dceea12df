"""What a worker's process keeps between units: a few scenes, and one renderer of what it was given last."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import viewer
from viewer.farm import worker
from viewer.farm.units import Unit
from viewer.film.film import Film
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.sequence import FrameSequence

SIZE = (8, 6)
OPTIONS = {"machine": "singlepass", "depth": 1}


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has just begun."""
    monkeypatch.setattr(worker, "_PROCESS", worker._Process())


def held(digest: str, scene: viewer.Scene) -> worker.Recipe:
    worker.hold(digest, np.frombuffer(pickle.dumps((scene, None)), np.uint8))
    return worker.Recipe(digest, Settings(**OPTIONS))


def test_the_scenes_used_last_are_kept() -> None:
    """What came long ago is asked for again."""
    scene, unit = viewer.load("cornell"), Unit(0, 0, *SIZE, 1)
    recipes = [held(digest, scene) for digest in "abc"]
    with pytest.raises(worker.SceneMissing):
        worker.trace(recipes[0], SIZE, unit)
    for recipe in recipes[1:]:
        assert worker.trace(recipe, SIZE, unit).film.count.min() == 1
    held("b", scene)
    held("d", scene)
    with pytest.raises(worker.SceneMissing):
        worker.trace(recipes[2], SIZE, unit)
    assert worker.trace(recipes[1], SIZE, unit).film.count.min() == 1


def test_frames_of_another_scene() -> None:
    """A second animation on the same cluster is not the first."""
    seen = []
    for name in ("cornell", "sphere"):
        scene = viewer.load(name)
        motion = FrameSequence(scene, range(2), 30.0, True, None, OPTIONS, size=SIZE)
        asked = {"size": SIZE, "spp": 1}
        made = worker.frame(held(name, scene), motion, asked, 1, False)
        (*_, alone) = viewer.render_frames(scene, range(2), turntable=True, render=asked, **OPTIONS)
        np.testing.assert_array_equal(made.picture.linear, alone.picture.linear)
        seen.append(made.picture.linear)
    assert not np.array_equal(*seen)


def test_the_cost_of_what_is_there_is_not_counted() -> None:
    """By it a farm tells its progress, and how long a worker may take."""
    film = Film(*SIZE)
    film.add(np.ones((*SIZE[::-1], 3), np.float32))
    film.add(np.ones((3, *SIZE[:1], 3), np.float32), 0, 0)
    assert Unit(0, 0, *SIZE, 5).cost == 5 * 48
    assert Unit(0, 0, *SIZE, 5, film=film).cost == 5 * 48 - 48 - 24
