"""The list of files behind Ctrl+O where the desktop has no dialog."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from raystream.viewport.folder import Folder
from raystream.window.panels import file_list
from raystream.window.panels.file_list import FileList
from tests.window.conftest import PATIENCE, Hands, xdotool
from tests.window.test_files import SMALL_TRIANGLE


@pytest.fixture
def scenes(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files to choose from; the desktop has no dialog."""
    tools = place / "tools"
    tools.mkdir()
    (tools / "xdotool").symlink_to(str(shutil.which("xdotool")))
    monkeypatch.setenv("PATH", str(tools))
    made = place / "scenes"
    (made / "more").mkdir(parents=True)
    for name in ("alpha.ply", "beta.ply", "more/gamma.ply"):
        (made / name).write_bytes(SMALL_TRIANGLE)
    (made / "broken.ply").write_bytes(SMALL_TRIANGLE[:-8])
    return made


def opened(hands: Hands, folder: Path) -> FileList:
    """The list, opened by its key in a folder."""
    found = hands.app.gui.file_list
    hands.app.view.say("")
    hands.app.preferences.recent = [str(folder / "any.ply")]
    hands.key("ctrl+o")
    hands.until(lambda: rows(found), "rows")
    hands.turn(3)  # the field has the keyboard
    return found


def rows(found: FileList) -> list[str]:
    """The names of the rows, the chosen one between stars; none while the folder is read."""
    if found._shown.path != found._path:
        return []
    return [f"*{entry.name}*" if k == found._row else entry.name for k, entry in enumerate(found._rows)]


def typed(hands: Hands, text: str, expected: list[str]) -> None:
    """Type a text; the list comes to have these rows."""
    xdotool("type", text)
    hands.until(lambda: rows(hands.app.gui.file_list) == expected, f"{text}: {expected}")


def test_keys_open_a_file(hands: Hands, scenes: Path) -> None:
    """Arrows, Enter into a folder and on a file, Backspace; none of the viewer's keys fires."""
    app, found = hands.app, opened(hands, scenes)
    assert rows(found) == ["*more*", "alpha.ply", "beta.ply", "broken.ply"]
    hands.key("Return")
    hands.until(lambda: rows(found) == ["*gamma.ply*"], "the folder's file")
    hands.key("BackSpace")
    hands.until(lambda: rows(found) == ["*more*", "alpha.ply", "beta.ply", "broken.ply"], "the folder above")
    hands.key("Down", "Down", "Down", "Down", "Down", "Up")
    hands.until(lambda: rows(found) == ["more", "alpha.ply", "*beta.ply*", "broken.ply"], "the third row")
    camera, program = app.view.controller.camera, app.scene_loader.requested.program
    typed(hands, "v", [])
    hands.key("BackSpace")
    typed(hands, "h4al", [])
    for _ in range(4):
        hands.key("BackSpace")
    typed(hands, "BETA", ["*beta.ply*"])
    assert app.view.controller.camera == camera and app.scene_loader.requested.program == program
    assert not (app.view.overlays.help.on or app.view.overlays.boxes.on)
    hands.key("Return")
    hands.until(lambda: app.scene_loader.shown_path == str(scenes / "beta.ply"), "the file")
    hands.until(lambda: not found.visible, "the list's end")
    hands.key("v")
    assert app.view.overlays.boxes.on
    found.show()  # beside the scene on show
    hands.until(lambda: rows(found) == ["more", "alpha.ply", "*beta.ply*", "broken.ply"], "the scene's row")


def test_escape_closes(hands: Hands, scenes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At first what is being loaded is given up."""
    app, found, scene = hands.app, opened(hands, scenes), hands.app.view.scene
    go_on = threading.Event()
    monkeypatch.setattr(app.scene_loader.loader, "_load", lambda path: go_on.wait(PATIENCE))
    typed(hands, "alpha", ["*alpha.ply*"])
    hands.key("Return")
    hands.until(lambda: app.scene_loader.loading is not None, "loading")
    hands.key("Escape")
    hands.until(lambda: app.scene_loader.loading is None, "the end of loading")
    go_on.set()
    hands.turn(3)
    assert app.view.scene is scene and found.visible and "cancelled" in app.view.message.text
    hands.key("Escape")
    hands.until(lambda: not found.visible, "the list's end")


def test_a_bad_file_leaves_the_list(hands: Hands, scenes: Path) -> None:
    app, found, scene = hands.app, opened(hands, scenes), hands.app.view.scene
    typed(hands, "broken", ["*broken.ply*"])
    hands.key("Return")
    hands.until(lambda: app.view.message.is_error, "the line")
    hands.turn(5)
    assert "broken.ply" in app.view.message.text and found.visible and app.view.scene is scene
    for _ in "broken":
        hands.key("BackSpace")
    typed(hands, "nothing", [])
    hands.key("Return")
    hands.until(lambda: "nothing: no such file" in app.view.message.text, "the other line")
    assert found.visible


def test_paths_are_typed_and_pasted(hands: Hands, scenes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are written out are entered; a whole path is a file's row."""
    app, found = hands.app, opened(hands, scenes)
    monkeypatch.setenv("HOME", str(scenes / "more"))
    typed(hands, "more/", ["*gamma.ply*"])
    typed(hands, "../al", ["*alpha.ply*"])
    assert found._path == scenes and found._text == "al"
    hands.key("BackSpace", "BackSpace")
    typed(hands, "~/", ["*gamma.ply*"])
    (scenes / "\u00e4ther.ply").write_bytes(SMALL_TRIANGLE)
    app.window.copy(str(scenes / "\u00c4TH"))
    hands.key("ctrl+v")
    hands.until(lambda: rows(found) == ["*\u00e4ther.ply*"], "the pasted file")
    hands.key("Return")
    hands.until(lambda: app.scene_loader.shown_path == str(scenes / "\u00e4ther.ply") and not found.visible, "the file")


def test_a_folder_that_is_gone_says_so(hands: Hands, scenes: Path) -> None:
    """In the list; the folder above is a key away."""
    found = opened(hands, scenes)
    before = hands.pixels()
    shutil.rmtree(scenes / "more")
    hands.key("Return")
    hands.until(lambda: found._shown.path == scenes / "more", "the folder")
    assert found._shown.fault == f"{scenes / 'more'}: No such file or directory"
    assert (hands.pixels() != before).any()
    hands.key("BackSpace")
    hands.until(lambda: rows(found) == ["*alpha.ply*", "beta.ply", "broken.ply"], "the folder above")


def test_long_folders_do_not_stall(hands: Hands, scenes: Path) -> None:
    """Rows out of sight cost nothing; the chosen one is brought into view."""
    for number in range(10_000):
        (scenes / "more" / f"{number:05}.ply").touch()
    found = opened(hands, scenes)

    def cost() -> float:
        began = time.process_time()
        hands.turn(10)
        return time.process_time() - began

    few = min(cost() for _ in range(3))
    hands.key("Return")
    hands.until(lambda: len(rows(found)) == 10_001, "ten thousand rows")
    hands.turn(3)
    assert min(cost() for _ in range(3)) < 2 * few + 0.1  # all rows drawn would take ten times as long
    above = hands.pixels()
    for _ in range(3):
        hands.key("Next")
    hands.turn(3)
    assert rows(found)[36] == "*00036.ply*" and (hands.pixels() != above).any()
    typed(hands, "9999", ["*09999.ply*"])


def test_a_folder_that_answers_late_stays_away(hands: Hands, scenes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of the folder that was entered last."""
    asked, go_on, answered, read = threading.Event(), threading.Event(), threading.Event(), file_list.read_folder

    def slowly(path: Path) -> Folder:
        found = read(path)
        if path.name == "more":
            asked.set()
            go_on.wait(PATIENCE)
            answered.set()
        return found

    found = opened(hands, scenes)
    monkeypatch.setattr(file_list, "read_folder", slowly)
    hands.key("Return")
    assert asked.wait(PATIENCE)
    hands.key("BackSpace")
    hands.until(lambda: "*more*" in rows(found), "the folder above")
    before = rows(found)
    go_on.set()
    assert answered.wait(PATIENCE)
    time.sleep(0.05)  # it has answered, and would be taken
    hands.turn(3)
    assert rows(found) == before and found._shown.path == scenes


def test_a_key_of_flight_is_let_go_under_the_list(hands: Hands, scenes: Path) -> None:
    import glfw

    hands.rest()
    view, events = hands.app.view, hands.app.events
    events.on_key(glfw.KEY_W, 25, glfw.PRESS, 0)
    assert view.controller.moving
    opened(hands, scenes)
    events.on_key(glfw.KEY_W, 25, glfw.RELEASE, 0)
    hands.until(lambda: not view.controller.moving, "rest")
