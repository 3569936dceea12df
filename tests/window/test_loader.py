"""The worker that loads scenes: results once, the newest only, errors as results, and a call that wakes the window."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.viewport.scene_loader import LoadThread

PATIENCE = 600.0  # seconds, against hanging alone


def wait(loader: LoadThread) -> tuple[str, Any]:
    end = time.monotonic() + PATIENCE
    while (found := loader.poll()) is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    return found


def test_a_scene_that_is_there_is_only_prepared() -> None:
    def load(_: str) -> Any:
        raise AssertionError("loaded again")

    loader = LoadThread(load, lambda scene, tell, **options: (scene, options))
    loader.start("a.ply", "the scene", grid=8, accel="bvh")  # type: ignore[arg-type]
    assert loader.step == "building"
    assert wait(loader) == ("a.ply", ("the scene", {"grid": 8, "accel": "bvh"}))


@pytest.mark.parametrize(
    ("raised", "kind"),
    [(ViewerError("x", "y"), ViewerError), (ValueError("odd"), ValueError), (MemoryError(), ViewerError)],
)
def test_faults_are_results(raised: Exception, kind: type) -> None:
    def load(_: str) -> Any:
        raise raised

    loader = LoadThread(load, lambda scene, tell: scene)
    loader.start("a.ply")
    path, found = wait(loader)
    assert path == "a.ply" and isinstance(found, kind)
    if isinstance(raised, MemoryError):
        assert "memory" in str(found)


def test_the_newest_wins() -> None:
    gates = {"old": threading.Event(), "new": threading.Event()}

    def load(path: str) -> Any:
        gates[path].wait(PATIENCE)
        return path

    prepared: list[str] = []
    loader = LoadThread(load, lambda scene, tell: prepared.append(scene) or scene)  # type: ignore[arg-type, func-returns-value]
    loader.start("old")
    old = loader._thread
    loader.start("new")
    gates["new"].set()
    assert wait(loader) == ("new", "new")
    gates["old"].set()
    assert old is not None
    old.join(PATIENCE)
    assert loader.poll() is None and prepared == ["new"]  # nothing is built for nobody


def test_building_tells_how_far_it_is_and_ends_when_it_is_not_wanted() -> None:
    gate, ended, shares = threading.Event(), threading.Event(), []

    def build(scene: Any, tell: Any) -> Any:
        try:
            tell(0.25, "building")
            shares.append(loader.share)
            gate.wait(PATIENCE)
            tell(0.5, "building")
            shares.append(loader.share)  # never
        finally:
            ended.set()

    loader = LoadThread(str.upper, build)  # type: ignore[arg-type]
    loader.start("a")
    end = time.monotonic() + PATIENCE
    while not shares:
        assert time.monotonic() < end
        time.sleep(0.001)
    loader.cancel()
    gate.set()
    assert ended.wait(PATIENCE) and shares == [0.25]


def test_what_is_had_early_is_polled_before_anything_is_prepared() -> None:
    events: list[str] = []

    def prepare(scene: object, tell: object, **_: object) -> object:
        events.append("prepared")
        return scene

    loader = LoadThread(str.upper, prepare, glance=lambda scene, **options: (scene, options))  # type: ignore[arg-type]
    loader.start("box", settings=3)
    early = None
    while early is None:
        early = loader.poll_early()
    events.append("shown")
    loader.proceed()
    found = wait(loader)
    assert early == ("box", ("BOX", {"settings": 3})) and found == ("box", "BOX")
    assert events == ["shown", "prepared"] and loader.poll_early() is None
