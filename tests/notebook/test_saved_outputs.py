"""What pages show of a cell's output that have neither kernel nor widgets, or are strict: a saved notebook in VS Code,
on a page of nbconvert."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from widget_page import SIZE, Page

import raystream
from raystream.scene import card as module
from raystream.scene.card import html_card

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")

VIEW = "application/vnd.jupyter.widget-view+json"
# What sanitisers leave as it is: no script, no handler, nothing from elsewhere, and no colours but the page's.
SAFE = {"div": {"style"}, "code": {"style"}, "img": {"src", "width", "height", "alt"}}


class Parsed(HTMLParser):
    """HTML's tags with their attributes, its texts, and its images (mimetype, pixels, width, height)."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open += [tag] * (tag != "img")

    def handle_endtag(self, tag: str) -> None:
        if tag != "img":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def images(self) -> list[tuple[str, np.ndarray, tuple[int, int]]]:
        found = []
        for tag, values in self.tags:
            if tag == "img":
                kind, data = re.fullmatch(r"data:(image/\w+);base64,([\w+/=]+)", values["src"] or "").groups()  # type: ignore[union-attr]
                image = Image.open(io.BytesIO(base64.b64decode(data)))
                assert Image.MIME[image.format or ""] == kind
                size = int(values["width"] or 0), int(values["height"] or 0)
                found.append((kind, np.asarray(image.convert("RGB")), size))
        return found


def safe(page: str) -> Parsed:
    """HTML that strict pages show whole."""
    parsed = Parsed(page)
    assert not parsed.open
    for tag, values in parsed.tags:
        assert tag in SAFE and set(values) <= SAFE[tag]
        style = values.get("style") or ""
        assert not re.search(r"url|color|background|position|script", style)
    return parsed


def test_a_widget_s_output(run: Callable[..., None]) -> None:
    """The widget, for who knows it; a text before there is a picture; then the picture, of the size that it has."""

    async def body(widget: Any) -> None:
        first, metadata = widget._repr_mimebundle_()
        assert first.keys() == {VIEW, "text/html", "text/plain"} and isinstance(metadata, dict)
        assert first["text/plain"] == repr(widget) == "<Widget 'cornell', 24 x 16>"
        parsed = safe(first["text/html"])
        assert parsed.text.startswith(repr(widget)) and parsed.images == []
        await Page(widget).rest(1)
        later, _ = widget._repr_mimebundle_()
        assert later[VIEW] == first[VIEW] and later[VIEW]["model_id"] == widget.model_id
        parsed = safe(later["text/html"])
        ((_, pixels, size),) = parsed.images
        shown = widget.view.read()[..., :3].astype(int)
        assert size == SIZE and np.abs(pixels - shown).mean() < 12 and shown.std() > 20  # a JPEG
        assert parsed.text.startswith(repr(widget))
        widget.close()
        assert repr(widget) == "<Widget 'cornell', 24 x 16>"

    run(body)


def test_a_widget_of_many_pixels(run: Callable[..., None]) -> None:
    """On a dense screen the picture has the page's size, not its own."""

    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        width, height = SIZE
        page.send("resize", width=width, height=height, pwidth=2 * width, pheight=2 * height, ratio=2.0)
        while page.frames[-1].shape != (2 * height, 2 * width, 3):
            await page.rest(len(page.frames) + 1)
        await page.rest()
        ((_, pixels, size),) = safe(widget._repr_mimebundle_()[0]["text/html"]).images
        assert size == SIZE and pixels.shape == (2 * height, 2 * width, 3)

    run(body)


def test_a_picture_with_few_of_its_pixels(run: Callable[..., None]) -> None:
    """Is none yet."""

    async def body(widget: Any) -> None:
        await Page(widget).rest(1)
        whole = widget.view
        begun = SimpleNamespace(complete=False)
        widget.view = SimpleNamespace(name=whole.name, view=whole.view, session=begun, closed=False)
        try:
            assert safe(widget._repr_mimebundle_()[0]["text/html"]).images == []
        finally:
            widget.view = whole

    run(body)


def test_one_that_is_not_made() -> None:
    from raystream.notebook.widget import Widget

    assert repr(Widget.__new__(Widget)) == "<Widget>"


def test_its_script_runs_anywhere() -> None:
    """It knows no host, and loads nothing: VS Code runs it as a file of its own making, with no network."""
    from raystream.notebook.widget import Widget

    code = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", Widget._esm, flags=re.DOTALL)
    foreign = (
        "https?:|currentScript|jupyter|requirejs|IPython|vscode|import\\b|eval|new Function|localStorage|cookie"
        "|fetch\\(|WebSocket|XMLHttpRequest|localhost"
    )
    assert re.findall(rf"\b(?:{foreign})", code, re.IGNORECASE) == []
    assert (
        len(re.findall(r"^export default", code, re.MULTILINE)) == len(re.findall(r"^export", code, re.MULTILINE)) == 1
    )
    assert not re.search(r"url\(|@import|https?:(?!//github)", Widget._css)


def test_it_lies_on_the_page_s_colour() -> None:
    """In VS Code, which lays widgets on white in a dark theme, too: but for those among other widgets."""
    from raystream.notebook.widget import Widget

    rule = (
        r"\.cell-output-ipywidget-background:has\(\.renderview-wrapper\):not\(:has\(\.widget-container\)\) \{([^}]*)\}"
    )
    (found,) = re.findall(rule, Widget._css)
    assert found.strip() == "background: none !important;"
    assert "'renderview-wrapper'" in Widget._esm


def test_cards(monkeypatch: pytest.MonkeyPatch, device: Any) -> None:
    """Of scenes and meshes, whatever their names."""
    monkeypatch.setattr(module, "PICTURE_SIDE", 8)
    monkeypatch.setattr(module, "PICTURE_SAMPLES", 1)
    name = '"><script src="http://example.com"></script>'
    scene = raystream.Scene.from_triangles([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]], name=name)
    for shown in (scene, scene.meshes[0]):
        parsed = safe(shown._repr_html_())
        ((kind, pixels, size),) = parsed.images
        assert kind == "image/png" and pixels.shape == (8, 8, 3) and size == (8, 8) and np.ptp(pixels) > 30
        assert parsed.text == repr(shown)
    assert repr(scene.meshes[0]) == f"<Mesh {name!r}: 1 triangles, 3 vertices>"


def test_a_text_without_a_picture() -> None:
    assert html_card("<a>", b"", (1, 1)) == "<code>&lt;a&gt;</code>"
