"""The page in the browser: what it shows, the options that it offers, and messages that it may send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

import pytest
from fuzzing.messages import MESSAGES, Pages

from raystream.options.table import OPTIONS
from raystream.programs import PICTURES
from raystream.remote.canvas import FINGERS, OFFERED, is_allowed, listed_values, page_files
from raystream.renderer.inputs.settings import registered
from raystream.viewport.keymap import ACTIONS, MOUSE, Keymap

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
    ("name", "values"),
    [
        ("program", tuple(PICTURES)),
        ("shadows", ("on", "off")),
        ("environment", ("", "none", "sky", "studio")),
        ("denoise", ("auto", "none", "shader", "oidn")),
        ("tonemap", ("none", "reinhard", "aces", "agx")),
        ("spp", ()),
        ("depth", ()),
        ("exposure", ()),
    ],
)
def test_values_of_options(name: str, values: tuple[str, ...]) -> None:
    assert listed_values(name) == values


def test_options_that_are_offered() -> None:
    """Those of the picture, in the order of the table; none that names a file, a device or a size."""
    wanted = ("spp", "program", "depth", "shadows", "reflections", "refractions", "environment", "background")
    assert (*wanted, "denoise", "tonemap", "exposure") == OFFERED
    for name in ("device", "layers", "size", "resume", "camera", "nothing", ""):
        assert not is_allowed(name, "") and not is_allowed(name, "1")


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


def test_fields_of_options() -> None:
    """In the order of the table, each with its help; an empty entry is the scene's own."""
    found = re.search(r"<form>(.*?)</form>", text := page(), re.DOTALL)
    assert found is not None and "<!--" not in text
    labels = re.findall(r'<label title="(.*?)">(.*?)(<(?:select|input).*?)</label>', found[1], re.DOTALL)
    assert tuple(name for _, name, _ in labels) == OFFERED
    for about, name, field in labels:
        assert unescape(about) == registered()[name].about
        if listed := listed_values(name):
            items = [(each, each or "of the scene") for each in listed]
            assert re.findall(r'<option value="(.*?)">(.*?)</option>', field) == items
        else:
            assert field == f'<input name="{name}" size="6" autocomplete="off" spellcheck="false">'


def test_gestures() -> None:
    """Of the mouse and of fingers, of which the page shows those of its device; no file is dropped on it."""
    sections = re.findall(r'<section class="(\w+)"><h2>(\w+)</h2>((?:<p>.*?</p>)+)</section>', panel(page()))
    assert [(kind, title) for kind, title, _ in sections] == [("mouse", "mouse"), ("touch", "touch")]
    assert rows(sections[0][2]) == [each for each in MOUSE if each[0] != "drop a file"]
    assert rows(sections[1][2]) == list(FINGERS) and len(rows(sections[0][2])) == len(MOUSE) - 1 == 7


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


def test_files_of_the_page() -> None:
    """What the page loads is there, as what it is."""
    found = page_files(Keymap(), (), "a scene")
    kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
    assert set(found) == {
        "index.html",
        "page.css",
        "renderview.css",
        "page.js",
        "hands.js",
        "motion.js",
        "renderview.js",
        "renderview-client.js",
    }
    for name, file in found.items():
        assert (file.kind, file.status) == (f"{kinds[name.rsplit('.', 1)[1]]}; charset=utf-8", 200), name
    loaded = re.findall(r'(?:href|src)="([^"]*)"', found["index.html"].body.decode())
    assert set(loaded) - {"data:,"} == set(found) - {"index.html"}
    assert len({file.body for file in found.values()}) == 8
    assert b"class BaseRenderView" in found["renderview.js"].body
    assert b"#options" in found["page.css"].body and b".renderview" in found["renderview.css"].body
    assert b"pinch" in found["hands.js"].body and b"options.json" in found["page.js"].body


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
