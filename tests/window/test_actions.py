"""The table of actions, key texts, and what the user's own keys make of them."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.viewport.keymap import BY_NAME, MODIFIERS, NAMED, Keymap, key_text, parse_key

needs_glfw = pytest.mark.skipif(importlib.util.find_spec("glfw") is None, reason="glfw is not installed")

# Key texts


@pytest.mark.parametrize(
    "typed, text",
    [
        ("f", "F"),
        ("shift+ctrl+s", "Ctrl+Shift+S"),
        (" Control + Alt + f12 ", "Ctrl+Alt+F12"),
        ("page up", "PageUp"),
        ("+", "+"),
        ("plus", "+"),
        ("Shift+=", "+"),
        ("shift+/", "?"),
        ("ctrl+shift+/", "Ctrl+?"),
        ("num+", "Num+"),
        ("num 5", "Num5"),
        ("cmd+q", "Super+Q"),
        ("é", "É"),
    ],
)
def test_key_texts_have_one_spelling(typed: str, text: str) -> None:
    assert parse_key(typed) == text
    assert parse_key(text) == text


@pytest.mark.parametrize(
    "typed, words",
    [
        ("", "names no key"),
        ("Ctrl+", "'Ctrl+' is no key"),
        ("Ctrl+Ctlr+S", "is no key"),
        ("Homer", "did you mean 'Home'?"),
        ("ß", "is no key"),
        ("Ctrl+Spce", "'Spce' is no key (did you mean 'Space'?)"),
        ("\n", "names no key"),
        ("\x07", "is no key"),
    ],
)
def test_what_is_no_key_is_told(typed: str, words: str) -> None:
    with pytest.raises(ViewerError) as error:
        parse_key(typed)
    assert words in str(error.value) and "\n" not in str(error.value)


characters = st.characters(min_codepoint=33, max_codepoint=126).filter(lambda c: not c.islower())


@given(st.sets(st.sampled_from(list(MODIFIERS))), st.one_of(characters, st.sampled_from(list(NAMED))))
def test_key_texts_come_back(modifiers, key: str) -> None:
    text = parse_key("+".join([*modifiers, key]))
    assert parse_key(text) == text
    assert parse_key(text.lower()) == text


@given(st.text(max_size=12))
def test_any_text_is_a_key_or_an_error(text: str) -> None:
    try:
        assert parse_key(parse_key(text)) == parse_key(text)
    except ViewerError as error:
        assert "key" in str(error)


@needs_glfw
def test_key_texts_of_glfw_s_keys() -> None:
    import glfw

    control, shift, alt, caps = glfw.MOD_CONTROL, glfw.MOD_SHIFT, glfw.MOD_ALT, glfw.MOD_CAPS_LOCK
    for key, mods, text in (
        (glfw.KEY_F, 0, "F"),
        (glfw.KEY_F, caps | glfw.MOD_NUM_LOCK, "F"),
        (glfw.KEY_S, control | shift, "Ctrl+Shift+S"),
        (glfw.KEY_SLASH, shift, "?"),
        (glfw.KEY_EQUAL, shift, "+"),
        (glfw.KEY_KP_ADD, 0, "Num+"),
        (glfw.KEY_ENTER, alt, "Alt+Enter"),
        (glfw.KEY_LEFT_SHIFT, shift, "Shift"),
        (glfw.KEY_RIGHT_ALT, control, "Alt"),
        (glfw.KEY_ESCAPE, 0, "Esc"),
        (glfw.KEY_SPACE, glfw.MOD_SUPER, "Super+Space"),
        (glfw.KEY_UNKNOWN, 0, ""),
    ):
        assert key_text(key, mods) == text


@needs_glfw
def test_letters_are_those_printed_on_the_keyboard(monkeypatch) -> None:
    import glfw

    printed = {glfw.KEY_Y: "z", glfw.KEY_A: "ф", glfw.KEY_1: "&", glfw.KEY_RIGHT_BRACKET: "+", glfw.KEY_W: None}
    monkeypatch.setattr(glfw, "get_key_name", lambda key, scancode: printed[key])
    assert key_text(glfw.KEY_Y, 0, 29) == "Z"
    assert key_text(glfw.KEY_A, glfw.MOD_CONTROL, 38) == "Ctrl+A"  # a keyboard without Latin letters keeps the places
    assert key_text(glfw.KEY_1, 0, 10) == "1"
    assert key_text(glfw.KEY_RIGHT_BRACKET, 0, 35) == "+"
    assert key_text(glfw.KEY_W, 0, 25) == "W"
    assert key_text(glfw.KEY_F1, 0, 67) == "F1"  # not asked for


# The user's keys


def test_the_user_s_keys_take_the_place_of_the_table_s() -> None:
    keymap = Keymap({"camera.focus": "ctrl+f", "help": ["F1", "f10"], "quit": "", "panels": []})
    assert keymap.lookup("F") is None and keymap.lookup("Ctrl+F") is BY_NAME["camera.focus"]
    assert keymap.keys("help") == ("F1", "F10") and keymap.text("help") == "F1 or F10" and keymap.lookup("H") is None
    assert keymap.text("quit") == "" and keymap.lookup("Ctrl+Q") is None and keymap.keys("panels") == ()
    assert "quit" not in keymap.markdown_table()
    assert Keymap().text("help") == "H, F1 or ?"  # the table itself is as it was


def test_two_actions_may_change_places() -> None:
    keymap = Keymap({"fly.left": "D", "fly.right": "A"})
    assert keymap.lookup("A") is BY_NAME["fly.right"] and keymap.lookup("D") is BY_NAME["fly.left"]


@pytest.mark.parametrize(
    "keys, words",
    [
        ({"camera.focus": "h"}, ["key 'H'", "camera.focus", "help"]),
        ({"camera.focus": "F7", "pause": ["F8", "f7"]}, ["key 'F7'", "camera.focus", "pause"]),
        ({"camera.focsu": "F7"}, ["'camera.focsu'", "did you mean 'camera.focus'?"]),
        ({"xyz": "F7"}, ["'xyz'", "README"]),
        ({"camera.focus": "Ctrl+Spce"}, ["camera.focus", "'Spce' is no key", "did you mean 'Space'?"]),
        ({"camera.focus": 5}, ["camera.focus", "5 is no key"]),
        ({"camera.focus": ["F", 5]}, ["camera.focus", "no key"]),
        ({"camera.focus": {"a": "F"}}, ["camera.focus", "no key"]),
    ],
)
def test_wrong_keys_are_one_line(keys, words) -> None:
    with pytest.raises(ViewerError) as error:
        Keymap(keys, "settings.toml, [keys]")
    line = str(error.value)
    assert line.startswith("settings.toml, [keys]: ") and "\n" not in line
    for word in words:
        assert word in line


def test_shift_and_alt_do_not_stop_flight() -> None:
    keymap = Keymap()
    forward = BY_NAME["fly.forward"]
    for text in ("W", "Shift+W", "Alt+W", "Alt+Shift+W"):
        assert keymap.lookup(text) is forward
    assert keymap.lookup("Ctrl+W") is None and keymap.lookup("Super+W") is None
    assert keymap.lookup("Ctrl+S") is BY_NAME["save.exr"]  # S flies back
    assert keymap.lookup("Shift+F") is None  # not held: another key
    assert keymap.lookup("") is None and keymap.lookup("Shift+") is None
    other = Keymap({"fly.fast": "F6", "fly.down": "Ctrl"})
    assert other.lookup("Shift+W") is None and other.lookup("Ctrl+W") is forward
    assert other.lookup("Ctrl+S") is BY_NAME["save.exr"]


def test_a_held_key_ends_whatever_modifiers_there_are_by_then() -> None:
    keymap = Keymap({"fly.up": ["E", "Ctrl+U"]})
    for text in ("W", "Shift+W", "Ctrl+W", "Ctrl+Alt+Shift+Super+W"):
        assert keymap.released(text) is BY_NAME["fly.forward"]
    assert keymap.released("Ctrl+S") is BY_NAME["fly.back"]
    assert keymap.released("Shift") is BY_NAME["fly.fast"]
    assert keymap.released("U") is BY_NAME["fly.up"]
    assert keymap.released("F") is None and keymap.released("") is None
