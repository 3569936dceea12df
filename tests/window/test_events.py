"""What the window's events do, whoever reports them: to ImGui, to the picture's pointer and keys, and to commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MethodType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

imgui = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed").imgui
glfw = pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.viewport.host import ViewerHost  # noqa: E402
from raystream.viewport.viewport import InputState, PictureArea  # noqa: E402
from raystream.window import app, gui  # noqa: E402
from raystream.window import window as window_module  # noqa: E402
from raystream.window.app import Events  # noqa: E402
from raystream.window.gui import ImguiInput  # noqa: E402
from raystream.window.window import Window  # noqa: E402


class Noted:
    """Whatever is called is written down; attributes may be set."""

    def __init__(self, **given: Any) -> None:
        self.called: list[tuple[Any, ...]] = []
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **more: self.called.append((name, *given, *more.items()))

    def take(self) -> list[tuple[Any, ...]]:
        found, self.called[:] = list(self.called), []
        return found


# -- to ImGui ------------------------------------------------------------------------------------------------------


@pytest.fixture
def imgui_context() -> Iterator[Any]:
    made = imgui.create_context()
    imgui.get_io().set_ini_filename("")
    yield imgui.get_io()
    imgui.destroy_context(made)


def test_events_reach_imgui(imgui_context: Any) -> None:
    """Keys with their modifiers, once while they are held."""
    input = ImguiInput(SimpleNamespace(paste=lambda: "pasted", copy=lambda text: None))
    input.io = io = Noted()
    ctrl, shift, alt = imgui.Key.mod_ctrl, imgui.Key.mod_shift, imgui.Key.mod_alt

    def mods(*held: Any) -> list[tuple[Any, ...]]:
        return [("add_key_event", each, each in held) for each in (ctrl, shift, alt)]

    press, release = glfw.PRESS, glfw.RELEASE
    for key, action, bits, expected in (
        (glfw.KEY_ENTER, press, 0, [*mods(), ("add_key_event", imgui.Key.enter, True)]),
        (glfw.KEY_ENTER, release, 0, [*mods(), ("add_key_event", imgui.Key.enter, False)]),
        (glfw.KEY_ENTER, glfw.REPEAT, 0, mods()),
        (glfw.KEY_KP_ENTER, press, 0, [*mods(), ("add_key_event", imgui.Key.keypad_enter, True)]),
        (glfw.KEY_A, press, glfw.MOD_CONTROL, [*mods(ctrl), ("add_key_event", imgui.Key.a, True)]),
        (glfw.KEY_LEFT, press, glfw.MOD_SHIFT, [*mods(shift), ("add_key_event", imgui.Key.left_arrow, True)]),
        (glfw.KEY_PAGE_UP, press, glfw.MOD_ALT, [*mods(alt), ("add_key_event", imgui.Key.page_up, True)]),
        (glfw.KEY_B, press, 0, mods()),  # no text field needs it
        (glfw.KEY_B, press, glfw.MOD_CONTROL | glfw.MOD_SHIFT | glfw.MOD_ALT, mods(ctrl, shift, alt)),
    ):
        input.key(key, action, bits)
        assert io.take() == expected, key
    for name in ("tab", "home", "end", "insert", "delete", "backspace", "space", "escape", *"acvxyz"):
        input.key(getattr(glfw, f"KEY_{name.upper()}"), press, 0)
        assert io.take()[-1] == ("add_key_event", getattr(imgui.Key, name), True)
    assert len(gui._keys()) == 22
    for wanted in (True, False):
        io.want_text_input, io.want_capture_mouse = wanted, not wanted
        assert (input.wants_keyboard, input.wants_mouse) == (wanted, not wanted)


def test_the_clipboard_is_the_window_s(imgui_context: Any) -> None:
    kept = ["old"]
    ImguiInput(SimpleNamespace(paste=lambda: kept[-1], copy=kept.append))
    assert imgui.get_clipboard_text() == "old"
    imgui.set_clipboard_text("new")
    assert kept == ["old", "new"]


# -- to the picture ------------------------------------------------------------------------------------------------


@pytest.fixture
def events() -> Any:
    """Events whose parts write down what they are told."""
    view = Noted(area=PictureArea((50, 50)), input=InputState((3.0, 4.0)))
    view.session = Noted()
    loader = Noted()
    host: Any = SimpleNamespace(view=view, scene_loader=loader, editing=Noted(grabbing=False))
    host.pointer = Noted(clicked=lambda button: button == 1)
    host.handle = MethodType(ViewerHost.handle, host)
    input = Noted(wants_keyboard=False, wants_mouse=False)
    input.io = input
    made = Events(host)
    made.gui = SimpleNamespace(input=input, file_list=SimpleNamespace(visible=False))
    return made


def test_before_there_are_panels_all_is_for_the_picture(events: Any) -> None:
    events.gui = None
    events.on_key(glfw.KEY_F1, 0, glfw.PRESS, 0)
    events.on_button(0, glfw.PRESS, 5)
    events.on_wheel(1.0, 2.0)
    events.on_move(150.0, 20.0)
    events.on_character(65)
    events.on_focus(True)
    expected = [("key", "F1", True, False), ("press", 0, 5), ("wheel", 3.0, 4.0, 2.0), ("move", 150.0, 20.0)]
    assert events.host.pointer.take() == expected


@pytest.mark.parametrize("action", [glfw.PRESS, glfw.REPEAT, glfw.RELEASE])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("field", [True, False])
@pytest.mark.parametrize("key", [glfw.KEY_F1, glfw.KEY_ESCAPE])
def test_hotkeys_yield_to_text(events: Any, action: int, listed: bool, field: bool, key: int) -> None:
    """But a key that goes up is always told, and Escape leaves a field."""
    events.gui.file_list.visible, events.gui.input.wants_keyboard = listed, field
    events.on_key(key, 0, action, 0)
    assert set(events.view.take()) == {("wake",)} and events.gui.input.take() == [("key", key, action, 0)]
    yields = action != glfw.RELEASE and (listed or (field and key != glfw.KEY_ESCAPE))
    text = "F1" if key == glfw.KEY_F1 else "Esc"
    told = [("key", text, action != glfw.RELEASE, action == glfw.REPEAT)]
    assert events.host.pointer.take() == ([] if yields else told)


def test_buttons_and_the_wheel_are_for_panels_or_the_picture(events: Any) -> None:
    for button, action, over, expected in (
        (0, glfw.PRESS, False, [("press", 0, 5)]),
        (0, glfw.PRESS, True, []),
        (0, glfw.RELEASE, True, [("release", 0)]),
        (0, glfw.RELEASE, False, [("release", 0)]),
        (1, glfw.PRESS, False, []),  # it was for what follows the mouse
    ):
        events.gui.input.wants_mouse = over
        events.on_button(button, action, 5)
        assert events.gui.input.take() == [("add_mouse_button_event", button, action == glfw.PRESS)]
        assert events.host.pointer.take() == expected
    for over in (True, False):
        events.gui.input.wants_mouse = over
        events.on_wheel(1.0, 2.0)
        assert events.gui.input.take() == [("add_mouse_wheel_event", 1.0, 2.0)]
        assert events.host.pointer.take() == ([] if over else [("wheel", 3.0, 4.0, 2.0)])
    events.on_button(3, glfw.PRESS, 0)
    assert events.gui.input.take() == []  # a button that ImGui does not know
    events.on_move(130.0, 7.0)
    assert events.gui.input.take() == [("add_mouse_pos_event", 130.0, 7.0)]
    assert events.host.pointer.take() == [("move", 130.0, 7.0)]
    events.on_character(65)
    assert events.gui.input.take() == [("add_input_character", 65)]
    assert set(events.view.take()) == {("wake",)}


def test_focus_and_files(events: Any) -> None:
    view = events.view
    for focused in (True, False):
        events.on_focus(focused)
        assert events.gui.input.take() == [("add_focus_event", focused)] and view.take() == [("wake",)]
        assert events.host.pointer.take() == ([] if focused else [("leave",)])
    for paths in ([], ["a.ply", "b.ply"]):
        events.on_drop(paths)
        assert events.host.scene_loader.take() == ([("open_file", "a.ply")] if paths else [])


# -- GLFW ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Noted]:
    """A window that was not opened, and GLFW that writes down what it is asked for."""
    asked = Noted(
        **{name: getattr(glfw, name) for name in dir(glfw) if name.isupper()},
        get_window_pos=lambda handle: (10, 20),
        get_window_size=lambda handle: (300, 200),
    )
    monkeypatch.setattr(window_module, "glfw", asked)
    made = Window.__new__(Window)
    made._state = {}
    made.handle, made._windowed, made._stopped, made._fault = 7, None, None, ""
    return made, asked


def test_an_interrupt_amid_an_event_is_raised_afterwards(bare: tuple[Any, Noted]) -> None:
    window, asked = bare
    stop = KeyboardInterrupt("now")

    def interrupted(*_: Any) -> None:
        raise stop

    window._heed(interrupted)(1, 2)
    with pytest.raises(KeyboardInterrupt) as raised:
        window.events(0.0)
    assert raised.value is stop and asked.take() == [("poll_events",)]
    window.events(0.25)
    assert asked.take() == [("wait_events_timeout", 0.25)]


def test_full_screen_is_the_screen_under_the_window(bare: tuple[Any, Noted]) -> None:
    """Of two, the one that it covers most; and back to where it was."""
    window, asked = bare
    mode = SimpleNamespace(size=SimpleNamespace(width=200, height=400), refresh_rate=75)
    asked.get_video_mode = lambda monitor: mode
    asked.get_monitors = lambda: ["first", "second"]
    for left, chosen in ((170, "first"), (150, "second")):  # where the second begins, of 200 columns each
        asked.get_monitor_pos = lambda monitor, left=left: (left - 200 * (monitor == "first"), 0)
        covered = {"first": (left - 10) * 200, "second": min(200, 310 - left) * 200}
        assert {name: window._covered(name) for name in covered} == covered
        window.toggle_full_screen()
        assert asked.take() == [("set_window_monitor", 7, chosen, 0, 0, 200, 400, 75)] and window.full_screen
        window.toggle_full_screen()
        assert asked.take() == [("set_window_monitor", 7, None, 10, 20, 300, 200, 0)] and not window.full_screen
    asked.get_monitors = list
    window.toggle_full_screen()
    assert asked.take() == [] and not window.full_screen


# -- commands ------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(panel_stage: Any) -> Any:
    """Handlers of the window's commands, over a desk without a window."""
    window = Noted(full_screen=False, pixels=(3, 2), read=lambda: bytes(range(18)))
    window.toggle_full_screen = lambda: setattr(window, "full_screen", not window.full_screen)
    listing = Noted()
    made = app.handlers(panel_stage.context, window, lambda: listing.show())
    return SimpleNamespace(stage=panel_stage, window=window, list=listing, do=lambda name: made[name](), made=made)


def test_lights_by_commands(desk: Any) -> None:
    import raystream

    stage, view, markers = desk.stage, desk.stage.view, desk.stage.markers
    desk.do("lights.next")
    assert view.message.text == "no lights but the environment"
    for visible, said in ((True, "no lights but the environment"), (False, "markers of lights off")):
        desk.do("lights.show")
        assert markers.visible == visible and view.message.text == said
    stage.session.use(type(stage.renderer)(raystream.load("ring"), device=stage.device, program="cast"))
    for visible, said in ((True, "markers of lights on"), (False, "markers of lights off")):
        desk.do("lights.show")
        assert markers.visible == visible and view.message.text == said
    desk.do("lights.next")
    assert view.message.text == "light: lamp" and markers.chosen == (False, 0) and markers.visible


def test_the_whole_window_is_saved(desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is next drawn; its rows come from below."""
    from PIL import Image

    monkeypatch.setenv("XDG_PICTURES_DIR", str(tmp_path))
    desk.do("screenshot.window")
    assert not list(tmp_path.iterdir())
    desk.stage.view.take_shots()
    (saved,) = tmp_path.iterdir()
    assert (
        desk.stage.view.message.text == f"saved {saved}" and saved.name.startswith("window") and saved.suffix == ".png"
    )
    expected = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)[::-1]
    np.testing.assert_array_equal(np.asarray(Image.open(saved)), expected)


@pytest.mark.parametrize("loading", [None, ("loading", None)])
@pytest.mark.parametrize("help_visible", [True, False])
def test_escape(desk: Any, loading: Any, help_visible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes the help; else what is loading is cancelled; else the mouse is freed, too."""
    rest: list[int] = []
    desk.stage.view.overlays.help.on, desk.stage.scene_loader.loading = help_visible, loading
    app._escape(desk.stage.context, desk.window, lambda: rest.append(1))
    closes = help_visible and loading is None
    assert desk.stage.view.overlays.help.on == (help_visible and not closes)
    assert rest == ([] if closes else [1])
    assert desk.window.take() == ([("grab", False)] if loading is None and not closes else [])


@pytest.mark.parametrize(
    ("platform", "tool", "dialog"),
    [("linux", None, False), ("linux", "zenity", True), ("linux", "kdialog", True), ("linux", "qarma", True),
     ("linux", "other", False), ("darwin", None, True), ("win32", None, True)],
)  # fmt: skip
def test_files_are_asked_for(desk: Any, platform: str, tool: Any, dialog: bool, monkeypatch: Any) -> None:
    """By the desktop's dialog where there is one."""
    from imgui_bundle import portable_file_dialogs as dialogs

    from raystream.viewport.folder import OPENED

    asked: list[Any] = []
    monkeypatch.setattr(app.sys, "platform", platform)
    monkeypatch.setattr(app.shutil, "which", lambda name: name if name == tool else None)
    monkeypatch.setattr(app, "start_folder", lambda path, recent: Path(f"/{recent[0]}/{path or 'none'}"))
    monkeypatch.setattr(dialogs, "open_file", lambda *given: asked.append(given) or "dialog")
    desk.stage.view.preferences.recent, desk.stage.scene_loader.shown_path = ["r"], "p"
    desk.do("scene.open")
    assert desk.list.take() == ([] if dialog else [("show",)])
    kinds = ["scenes", " ".join(f"*{ending}" for ending in OPENED)]
    assert asked == ([("Open a scene", str(Path("/r/p")), kinds)] if dialog else [])
    assert desk.stage.scene_loader.dialog == ("dialog" if dialog else None)
