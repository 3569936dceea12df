"""Scenes and settings on their way: what the worker is given, what is shown of what it made, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.settings import VIEW, Settings
from raystream.scene.camera import Camera
from tests.viewport.loader_desk import BOX, START, Desk, made_of, show


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


# -- what the worker is given -----------------------------------------------------------------------------------------


def test_a_scene_is_read_by_the_settings_without_the_camera(desk: Desk) -> None:
    """Which is the first scene's alone."""
    desk.loader.requested = Settings(accel="grid", camera=START, fov=33.0)
    assert desk.loader.loading is None
    desk.loader.open("box")
    ((path, scene, settings, before),) = desk.worker.started
    assert (path, scene, before) == ("box", None, None)
    assert settings == Settings(accel="grid") and all(settings[name] == Settings()[name] for name in VIEW)
    assert desk.loader.requested.fov == 33.0, "it is for the camera to come"
    for step, share in (("loading", None), ("building", 0.25)):
        desk.worker.step, desk.worker.share = step, share
        assert desk.loader.loading == (f"{step} box", share)


def test_options_that_take_the_worker_a_while(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are changed at once; what comes meanwhile comes with both."""
    loader = desk.loader
    loader.change(depth=3, accel="grid")
    assert loader.requested == Settings(depth=3, accel="grid") and desk.worker.started == [] and desk.taken() == []
    made = show(desk, monkeypatch)
    desk.taken()
    loader.change(depth=5)
    assert desk.taken() == [("update", {"depth": 5})] and desk.worker.started == []
    loader.change(accel="bvh", depth=6)
    assert desk.taken() == [("update", {"depth": 6})] and loader.requested == Settings(depth=6, accel="bvh")
    ((path, scene, settings, before),) = desk.worker.started
    assert (path, scene, before) == ("box", made.scene, made) and settings == loader.requested
    loader.change(grid=7)
    assert desk.worker.started[-1] == ("box", made.scene, Settings(depth=6, accel="bvh", grid=7), made)
    loader.change(accel="bvh")
    assert len(desk.worker.started) == 2 and desk.taken() == [], "as it was asked for"
    loader.open("other")
    loader.change(accel="grid")
    assert desk.worker.started[-1][:2] == ("other", None), "the scene that is read is read by the new ones"


# -- what is shown ----------------------------------------------------------------------------------------------------


def test_the_first_scene(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "box.ply"
    file.touch()
    desk.loader.camera_index = 2
    desk.loader.requested = Settings(fov=33.0)
    made = show(desk, monkeypatch, str(file))
    assert desk.taken() == [("drop", None), "use", "apply_camera", ("show", False)]
    view, loader = desk.view, desk.loader
    assert view.renderer.settings.fov == 33.0 and loader.requested.fov is None, "of the first scene alone"
    assert loader.shown_path == str(file) and loader.camera_index == -1 and view.tone.exposure == 2.0
    assert view.preferences.recent == [str(file.resolve())]
    assert view.controller.camera == START and view.controller.mode == "orbit"
    assert view.controller.speed == view.controller.natural_speed and desk.said == [("", False)]
    assert view.renderer.prepared is made and loader.loading is None and not loader.uploading


def test_another_scene(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exposure set by hand was the other's; the camera is its own, or frames it."""
    show(desk, monkeypatch)
    desk.view.tone.exposure = 2.0
    other = made_of(desk, cameras=())
    desk.view.preferences.speed, desk.view.preferences.mode = 3.0, "fly"
    desk.view.area.size = (4, 8)
    renderer = desk.view.renderer
    desk.taken()
    show(desk, monkeypatch, "other", other)
    framing = Camera.framing(BOX, aspect=0.5)
    assert desk.taken() == [("drop", renderer), ("update", other, {"camera": framing}), "apply_camera", ("show", False)]
    assert desk.view.renderer is renderer and desk.loader.shown_path == "other" and desk.view.tone.exposure == 0.5
    assert desk.view.preferences.recent == [], "built in"
    assert desk.view.controller.mode == "fly" and desk.view.controller.speed == 3 * desk.view.controller.natural_speed
    desk.view.tone.exposure = 1.0
    third = made_of(desk)
    show(desk, monkeypatch, "third", third)
    assert ("update", third, {"camera": None}) in desk.taken() and desk.view.tone.exposure == 0.5


def test_uploads_take_a_share_of_each_turn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight milliseconds of it: after four pieces of 2.5 the loop goes on."""
    show(desk, monkeypatch, shares=[k / 10 for k in range(1, 11)])
    assert desk.loader.uploading and desk.loader.loading == ("uploading box", 0.4) and desk.taken() == []
    desk.loader.take()
    assert desk.loader.loading == ("uploading box", 0.8)
    desk.loader.take()
    assert desk.loader.loading is None and not desk.loader.uploading and ("show", False) in desk.taken()


def test_what_cannot_be_made_leaves_what_was_asked_for_before(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    show(desk, monkeypatch)
    for error, said in (
        (ViewerError("a.ply", "is broken"), "a.ply: is broken"),
        (ValueError("odd"), "a.ply: ValueError: odd"),
    ):
        desk.loader.set(accel="grid", depth=4)
        assert desk.loader.requested.accel == "grid"
        desk.worker.made = "a.ply", error
        desk.loader.take()
        assert desk.said[-1] == (said, True) and desk.loader.shown_path == "box"
        assert desk.loader.requested == Settings(depth=4), "but for what the worker does not do"
    desk.loader.set(accel="grid")
    assert desk.loader.cancel() and desk.loader.requested == Settings(depth=4)


@pytest.mark.parametrize("fails", [False, True])
def test_pictures_are_rehearsed_while_the_first_scene_is_prepared(desk: Desk, fails: bool) -> None:
    """A step in each turn, once the scene is seen; the loop does not wait meanwhile. No longer than that takes."""
    steps, began = list[int](), list[Any]()

    def rehearsal(device: Any) -> Any:
        began.append(device)
        for number in range(3):
            steps.append(number)
            yield number / 3
            if fails:
                raise ViewerError("a.glsl", "is wrong")

    loader: Any = desk.loader
    loader.view.session.rehearse = rehearsal
    loader.open("a.obj")
    loader.take()
    assert began == [] and not loader.rehearsing
    loader.first_picture.shown = True
    for turn in range(1, 6):
        loader.take()
        assert len(steps) == (1 if fails else min(turn, 3)) and loader.rehearsing == (turn <= (1 if fails else 3))
    assert began == [None] and desk.said == []
    loader._rehearsal, loader.view.renderer = iter((0.1, 0.2)), "renderer"
    loader.take()
    assert not loader.rehearsing
    loader._rehearsal, loader.view.renderer = None, None
    loader.requested = loader.requested.replace(denoise="none")
    loader.take()
    assert not loader.rehearsing and began == [None]
