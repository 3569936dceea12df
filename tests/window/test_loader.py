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


def test_a_scene_that_has_no_early_look_is_prepared_all_the_same() -> None:
    def fails(scene: object) -> object:
        raise ViewerError("scene", "nothing to see")

    loader = LoadThread(str.upper, lambda scene, tell: scene, glance=fails)  # type: ignore[arg-type]
    loader.start("box")
    assert wait(loader) == ("box", "BOX") and loader.poll_early() is None


def settled(loader: LoadThread) -> None:
    """The worker has ended."""
    assert loader._thread is not None
    loader._thread.join(PATIENCE)
    assert not loader._thread.is_alive()


def test_what_a_worker_is_at() -> None:
    gate, woken = threading.Event(), []

    def build(scene: Any, tell: Any) -> Any:
        tell(0.5, "building")
        gate.wait(PATIENCE)
        return scene

    loader = LoadThread(lambda path: gate.wait(PATIENCE) and path, build, lambda: woken.append(1))  # type: ignore[arg-type, return-value, func-returns-value]
    assert (loader.path, loader.step, loader.share, loader.busy) == ("", "", None, False)
    loader.start("a")
    assert (loader.path, loader.step, loader.share, loader.busy) == ("a", "loading", None, True)
    gate.set()
    assert wait(loader) == ("a", "a")
    assert (loader.path, loader.step, loader.share, loader.busy) == ("", "building", 0.5, False)
    settled(loader)
    assert woken == [1]
    gate.clear()
    loader.start("b", "scene")  # type: ignore[arg-type]
    assert loader.step == "building" and loader.share in (None, 0.5)
    gate.set()
    assert wait(loader) == ("b", "scene")


def test_another_start_drops_what_was_not_polled() -> None:
    loader = LoadThread(str.upper, lambda scene, tell: scene)  # type: ignore[arg-type]
    loader.start("a")
    settled(loader)
    loader.start("b")
    assert wait(loader) == ("b", "B")
    loader.start("c")
    settled(loader)
    loader.cancel()
    assert loader.poll() is None and not loader.busy


def test_an_early_look_of_a_scene_that_is_not_wanted_is_none() -> None:
    looked, gate = threading.Event(), threading.Event()

    def glance(scene: Any) -> Any:
        looked.set()
        gate.wait(PATIENCE)
        return scene

    woken: list[int] = []
    loader = LoadThread(str.upper, lambda scene, tell: scene, lambda: woken.append(1), glance)  # type: ignore[arg-type]
    loader.start("a")
    assert looked.wait(PATIENCE)
    loader.cancel()
    gate.set()
    settled(loader)
    assert loader.poll_early() is None and loader.poll() is None
    loader.start("b", "scene")  # type: ignore[arg-type]
    assert wait(loader) == ("b", "scene") and loader.poll_early() is None, "one that is there is not looked at first"
    settled(loader)
    loader.start("c")
    while (early := loader.poll_early()) is None:
        time.sleep(0.001)
    assert early == ("c", "C") and loader.poll_early() is None
    loader.proceed()
    assert wait(loader) == ("c", "C")
