"""The view: what it says and for how long, its size beside panels, what it draws and compiles when; no window."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.scene.scene import Scene
from raystream.viewport import viewport
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import SETTLING, Viewport, configured, default_view

BOX = [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]


class Session:
    """Without a scene; notes its sizes."""

    def __init__(self) -> None:
        self.renderer, self.compiling = None, ""
        self.sizes: list[tuple[int, int]] = []

    def resize(self, size: tuple[int, int]) -> None:
        self.sizes.append(size)


@pytest.fixture
def view() -> Viewport:
    session: Any = Session()
    return Viewport(session, Preferences(size=(200, 100), exposure=0.5, tonemap="aces"), Keymap())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that it is."""
    now = [100.0]
    monkeypatch.setattr(viewport, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def sleeping(view: Viewport) -> None:
    while view.awake:
        view.drawn()


# -- size --------------------------------------------------------------------------------------------------------------


def test_a_picture_of_as_many_pixels_does_not_restart(view: Viewport) -> None:
    view.lay_out((200, 100), (200, 100))
    assert view.session.sizes == []
    view.lay_out((400, 300), (800, 600))
    assert (view.area.size, view.area.pixels, view.area.aspect) == (
        (400, 300),
        (800, 600),
        pytest.approx(4 / 3),
    ) and view.awake
    view.input.cursor = (3.0, 4.0)
    sleeping(view)
    view.lay_out((400, 300), (800, 600))
    assert view.input.cursor == (3.0, 4.0) and not view.awake
    view.lay_out((200, 150), (800, 600))  # a screen of another scale
    assert view.session.sizes == [(800, 600)] and view.area.size == (200, 150)


def test_a_camera_that_frames_the_scene_does_so_in_a_narrow_view(view: Viewport) -> None:
    scene = Scene.from_triangles([[-1, -1, -1], [1, -1, 1], [1, 1, -1]], [[0, 1, 2]])
    controller = view.controller = CameraController(scene.camera(aspect=view.area.aspect), BOX)
    view.lay_out((200, 200), (200, 200))  # no scene has been opened
    controller.set_camera(scene.camera())
    controller.set_bounds(BOX, default_view(scene))
    view.lay_out((100, 200), (100, 200))
    assert controller.camera == scene.camera(aspect=0.5)
    controller.orbit(20, 0)
    moved = controller.camera
    view.lay_out((200, 100), (200, 100))
    assert controller.camera is moved


# -- commands ----------------------------------------------------------------------------------------------------------


def test_what_fails_is_said_in_one_line(view: Viewport, clock: list[float]) -> None:
    def fails(error: Exception) -> None:
        raise error

    for error, line in (
        (ViewerError("a.ply", "is no mesh", "mend it"), str(ViewerError("a.ply", "is no mesh", "mend it"))),
        (FileNotFoundError(2, "No such file", "a.ply"), "a.ply: No such file"),
        (OSError("broken"), ": broken"),
    ):
        view.say("before")
        view.attempt(lambda error=error: fails(error))
        assert (view.message.text, view.message.is_error) == (line, True)
    clock[0] += 1e6
    view.fade()
    assert view.message.text == ": broken", "an error stays"
    view.attempt(lambda: view.say("done"))
    assert (view.message.text, view.message.is_error) == ("done", False)
    with pytest.raises(ZeroDivisionError):
        view.attempt(lambda: 1 / 0)


def test_how_long_a_line_stays(view: Viewport, clock: list[float]) -> None:
    for say, text, seconds in (
        (lambda: view.say("saved"), "saved", 6.0),
        (lambda: view.say("saved", seconds=2.5), "saved", 2.5),
        (lambda: view.say_done("program"), "program", 1.0),
        (lambda: view.say_switched("boxes", True), "boxes on", 1.0),
        (lambda: view.say_switched("boxes", False), "boxes off", 1.0),
    ):
        sleeping(view)
        say()
        assert view.message.text == text and not view.message.is_error and view.awake
        clock[0] += seconds
        view.fade()
        assert view.message.text == text
        clock[0] += 0.001
        view.fade()
        assert view.message.text == ""


# -- drawing and compiling ---------------------------------------------------------------------------------------------


def test_a_few_draws_and_then_sleep(view: Viewport) -> None:
    assert SETTLING == 3
    for times in (3, 1, 2):
        sleeping(view)
        view.wake()
        for k in range(3):
            assert view.awake, k
            view.drawn()
        assert not view.awake
        for _ in range(times):
            view.drawn()
        assert not view.awake
    view.wake()
    view.drawn()
    view.wake()
    view.drawn()
    view.drawn()
    assert view.awake


def test_shots_are_taken_once_in_their_order(view: Viewport) -> None:
    taken: list[int] = []

    def fails() -> None:
        raise ViewerError("disc", "is full")

    sleeping(view)
    view.after_draw(lambda: taken.append(1))
    assert view.awake and taken == []
    view.after_draw(fails)
    view.after_draw(lambda: view.after_draw(lambda: taken.append(3)))
    view.after_draw(lambda: taken.append(2))
    view.take_shots()
    assert taken == [1, 2] and "is full" in view.message.text
    view.take_shots()
    view.take_shots()
    assert taken == [1, 2, 3]


def test_what_compiles_is_told_before(view: Viewport) -> None:
    done: list[str] = []
    assert view.compiling == "" and not view.compilation.name
    view.session.compiling = "path"
    assert view.compiling == "path" and not view.compilation.name
    sleeping(view)
    view.compilation.request("the kernels", lambda: done.append("first"))
    assert view.compiling == "the kernels" and view.compilation.name and view.awake
    view.compilation.run()
    assert done == [], "nobody has seen it yet"
    view.drawn()
    view.compilation.request("other kernels", lambda: done.append("second"))
    view.compilation.run()
    assert done == [] and view.compiling == "other kernels"
    sleeping(view)
    view.compilation.run()
    assert done == ["second"] and view.compiling == "path" and not view.compilation.name and view.awake
    view.compilation.run()
    assert done == ["second"]


# -- preferences and keys ----------------------------------------------------------------------------------------------


def test_settings_of_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are broken are told, and the defaults taken: of the whole file, or of its keys alone."""
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(path))
    path.write_text("panels = true\nfonts = 3\n[keys]\nhelp = 'F7'\n")
    preferences, keymap, faults = configured(None)
    assert preferences.panels and keymap.text("help") == "F7" and faults == [f"{path}: line 2: 'fonts' is unknown"]
    path.write_text("panels = true\nfonts = 3\n[keys]\nhelp = 'P'\n")
    preferences, keymap, faults = configured(None)
    assert preferences.panels and keymap.text("help") == "H, F1 or ?"
    assert [fault.split(":")[0] for fault in faults] == [f"{path}, [keys]", str(path)] and "'fonts'" in faults[1]
    path.write_text("panels = 3\n")
    preferences, keymap, faults = configured(None)
    assert not preferences.panels and preferences.keys == {} and keymap.text("help") == "H, F1 or ?"
    assert len(faults) == 1 and "panels = 3" in faults[0]
    given = Preferences(panels=True, keys={"help": "F7"})
    assert configured(given)[0] is given and configured(given)[1].text("help") == "F7" and configured(given)[2] == []


def test_actions_wait_for_the_first_scene(view: Viewport) -> None:
    """In order, while it is loading; not where there is none on its way, and no longer than it is."""
    done: list[str] = []
    there = False

    def needs(name: str) -> None:
        if not there:
            view.require_scene()
        done.append(name)

    names = ("animation.play", "camera.front")
    view.actions.add({name: partial(needs, name) for name in names})
    view.actions.perform(names[0])
    assert view.message.is_error and view.actions.waiting == []
    view.actions.expect_scene(True)
    for name in names:
        view.actions.perform(name)
    assert (
        view.actions.waiting == [*names]
        and not view.message.is_error
        and view.message.text.endswith("view from the front")
    )
    there = True
    view.actions.perform_waiting()
    assert done == [*names] and view.actions.waiting == []
    view.actions.waiting.append("quit")
    view.actions.expect_scene(False)
    assert view.actions.waiting == []
