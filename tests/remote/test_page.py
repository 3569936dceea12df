"""The page in the browser: what it shows, the options that it offers, and messages that it may send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

import pytest
from fuzzing.messages import MESSAGES, Pages

from raystream.options.table import OPTIONS
from raystream.remote.canvas import OFFERED, is_allowed, listed_values, page_files
from raystream.viewport.keymap import ACTIONS, Keymap

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")


def page(performed: tuple[str, ...] = (), keymap: Keymap | None = None, name: str = "a scene") -> str:
    return page_files(keymap or Keymap(), performed, name)["index.html"].body.decode()


def panel(text: str) -> str:
    """The keys beside the picture."""
    found = re.search(r"<summary>Keys</summary><div>(.*?)</div></details>", text, re.DOTALL)
    assert found is not None
    return found[1]


def rows(text: str) -> list[tuple[str, str]]:
    return [(unescape(keys), unescape(what)) for keys, what in re.findall(r"<kbd>(.*?)</kbd><span>(.*?)</span>", text)]


def test_lists_have_their_defaults() -> None:
    """An option whose default is none has an empty entry, by which one comes back to the scene's own."""
    listed = {name: listed_values(name) for name in OFFERED if listed_values(name)}
    assert {"environment", "program", "tonemap"} <= listed.keys()
    for name, values in listed.items():
        default = OPTIONS[name].value.default
        assert ("" in values) == (default is None) and (default is None or str(default) in values or default is True)
        assert all(is_allowed(name, value) for value in values) and not is_allowed(name, "/etc/passwd")
    assert listed["environment"][0] == "" and {"sky", "studio"} <= set(listed["environment"])
    text = page()
    for name, values in listed.items():
        field = re.search(rf'<select name="{name}">(.*?)</select>', text)
        assert field is not None and tuple(re.findall(r'value="(.*?)"', field[1])) == values


@pytest.mark.parametrize(
    ("name", "value", "good"),
    [
        ("spp", "", True),
        ("spp", "9" * 32, True),
        ("spp", "9" * 33, False),
        ("exposure", "-1.5", True),
        ("exposure", "x" * 32, True),
        ("depth", "x" * 33, False),
        ("shadows", "on", True),
        ("shadows", "", False),
        ("shadows", "On", False),
        ("shadows", "o", False),
        ("environment", "", True),
        ("environment", "sky", True),
        ("environment", "sky.hdr", False),
        ("program", "path", True),
        ("program", "photons", False),
    ],
)
def test_values_that_a_page_may_give(name: str, value: str, good: bool) -> None:
    """Of a list its entries, else a text of at most 32 characters; whether that is a number shows later."""
    assert is_allowed(name, value) is good


def test_keys() -> None:
    """Of actions that the view has: a button each, under the headings of their groups; those that last as long as their
    key is held are no buttons. One without a key is left out."""
    keymap = Keymap({"pause": ["Ctrl+P", "F2"], "quit": "", "fly.up": "", "exposure.up": "Shift+<"})
    text = panel(page(("pause", "quit", "shadows.toggle", "exposure.up", "camera.mode"), keymap))
    buttons = {name: rows(row)[0] for name, row in re.findall(r'<button name="(.*?)">(.*?)</button>', text)}
    assert buttons == {
        "shadows.toggle": ("L", "shadows on and off"),
        "camera.mode": ("Tab", "orbit or fly"),
        "pause": ("Ctrl+P or F2", "pause rendering"),
        "exposure.up": ("Shift+<", "brighter"),
    }
    assert list(buttons) == [action.name for action in ACTIONS if action.name in buttons]
    assert "<kbd>Shift+&lt;</kbd>" in text
    after = text[text.index("</section>\n<h2>") :]
    assert re.findall(r"<h2>(.*?)</h2>", after) == ["Program", "Camera", "Flight", "Picture"]
    flight = after[after.index("<h2>Flight") : after.index("<h2>Picture")]
    held = re.findall(r"<p>(.*?)</p>", flight)
    assert rows("".join(held)) == [
        (action.keys[0], action.help) for action in ACTIONS if action.hold and action.name != "fly.up"
    ]
    assert "<button" not in flight and len(held) == 7
    every = panel(page(tuple(action.name for action in ACTIONS)))
    assert len(re.findall("<button", every)) + 8 == len(ACTIONS) and every.count("<h2>") == 2 + 8


def test_the_name_of_a_scene_is_no_markup() -> None:
    assert "<title>&lt;b&gt;&amp; &quot;x&quot;</title>" in page(name='<b>& "x"')


pytest.importorskip("rendercanvas.http", reason="rendercanvas is not installed")


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    made = Pages()
    yield made
    made.close()


@pytest.mark.parametrize("change", [{"index": None}, {"index": [1]}, {"timestamp": 10**400}])
def test_confirmations_of_no_frame(pages: Pages, change: dict) -> None:
    pages.send(json.dumps({"type": "_framefeedback", **MESSAGES["_framefeedback"], **change}).encode())


def test_a_confirmation_without_an_index(pages: Pages) -> None:
    pages.send(b'{"type": "_framefeedback", "timestamp": 0.5}')


@pytest.mark.parametrize("button", [[1], {}, "1"])
def test_pointers_with_no_button(pages: Pages, button: object) -> None:
    pages.send(json.dumps({"type": "pointer_move", **MESSAGES["pointer_move"], "button": button}).encode())


def test_bytes(pages: Pages) -> None:
    pages.send(b"\xff\x00")
