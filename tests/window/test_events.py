"""What the window's events do, whoever reports them: to ImGui, and to the picture's pointer and keys."""

from __future__ import annotations

from collections.abc import Iterator
from types import MethodType, SimpleNamespace
from typing import Any

import pytest

imgui = pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed").imgui
glfw = pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.viewport.host import ViewerHost  # noqa: E402
from raystream.viewport.viewport import InputState, PictureArea  # noqa: E402
from raystream.window import gui  # noqa: E402
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


def test_an_interrupt_amid_an_event_is_raised_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_module, "glfw", asked := Noted())
    window, stop = Window.__new__(Window), KeyboardInterrupt("now")
    window._state, window._stopped = {}, None

    def interrupted(*_: Any) -> None:
        raise stop

    window._heed(interrupted)(1, 2)
    with pytest.raises(KeyboardInterrupt) as raised:
        window.events(0.0)
    assert raised.value is stop and asked.take() == [("poll_events",)]
    window.events(0.25)
    assert asked.take() == [("wait_events_timeout", 0.25)]
