"""The widget, and what ``viewer.show`` gives in a notebook: without a browser, its messages by hand."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

import viewer
from viewer.notebook import show

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")

PATIENCE = 120.0  # seconds, against hanging alone: a busy machine compiles shaders slowly
SIZE = (24, 16)
CHOSEN = {"size": SIZE, "program": "cast", "machine": "singlepass", "exposure": 0.0}


class Page:
    """The browser's side of a widget: it takes frames, confirms them, and sends events."""

    def __init__(self, widget: Any, seen: bool = True) -> None:
        self.widget, self.frames = widget, []
        widget.send = self._take
        self.send("resize", width=SIZE[0], height=SIZE[1], pwidth=SIZE[0], pheight=SIZE[1], ratio=1.0)
        widget._has_visible_views = seen

    def _take(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.frames.append(np.asarray(Image.open(io.BytesIO(buffers[0])).convert("RGB")))
        self.widget._frame_feedback = {"index": content["index"], "timestamp": 0.0, "localtime": 0.0}

    def send(self, kind: str, **more: Any) -> None:
        self.widget._handle_custom_msg({"type": kind, "timestamp": 0.0, **more}, [])

    def point(self, kind: str, x: float, y: float) -> None:
        self.send(kind, x=x, y=y, button=1, buttons=[1], modifiers=[], ntouches=0, touches={})

    async def rest(self, frames: int = 0) -> None:
        """Until there are that many frames, and nothing is left to do."""
        while len(self.frames) < frames or not self.widget.view.idle or self.widget.drive.pending:
            await asyncio.sleep(0.01)


@pytest.fixture
def run(device: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Runs what a test does in an event loop, as a notebook's kernel does."""
    from rendercanvas.anywidget import loop

    from viewer.notebook.widget import Widget

    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "settings.toml"))

    def run_(body: Callable[..., Awaitable[None]], count: int = 1, **chosen: Any) -> None:
        async def whole() -> None:
            widgets = [Widget("cornell", **{**CHOSEN, **chosen}) for _ in range(count)]
            try:
                await asyncio.wait_for(body(*widgets), PATIENCE)
            finally:
                for widget in widgets:
                    widget.close()
                loop.stop(force=True)

        asyncio.run(whole())

    return run_


def test_opened_dragged_read_back_closed(run: Callable[..., None]) -> None:
    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        first, camera = page.frames[-1], widget.camera
        assert first.shape == (16, 24, 3) and first.std() > 20 and "cornell" in widget._title
        page.point("pointer_down", 4, 8)
        page.point("pointer_move", 20, 8)
        page.point("pointer_up", 20, 8)
        while widget.camera == camera:
            await asyncio.sleep(0.01)
        await page.rest(len(page.frames) + 1)
        assert (page.frames[-1] != first).any()
        picture = widget.snapshot()
        assert np.array_equal(widget.view.read()[..., :3], picture.srgb8(0.0, widget.view.view.tonemap))
        widget.close()
        assert widget.view.closed and widget.view.session.developing.buffer is None
        widget.close()

    run(body)


def test_nobody_looks(run: Callable[..., None]) -> None:
    """Out of sight, as where the cell is gone, nothing is traced; back in sight the picture is sent again."""

    async def body(widget: Any) -> None:
        page = Page(widget, seen=False)
        while not widget.drive.pending:
            await asyncio.sleep(0.01)
        steps = widget.view.session.steps
        widget.update(program="path", spp=1 << 16, error=None)
        for _ in range(10):
            await asyncio.sleep(0.01)
        assert not page.frames and widget.view.session.steps == steps
        widget._has_visible_views = True
        while not page.frames or widget.view.session.steps == steps:
            await asyncio.sleep(0.01)

    run(body)


def test_two_at_once(run: Callable[..., None]) -> None:
    async def body(one: Any, other: Any) -> None:
        pages = Page(one), Page(other)
        other.update(camera="0.5,2,8 0,1,0", fov=60)
        for page in pages:
            await page.rest(1)
        for widget in (one, other):
            wanted = viewer.render(
                "cornell", size=SIZE, program="cast", machine="singlepass", camera=widget.camera, fov=widget.fov
            )
            assert np.array_equal(widget.snapshot().linear, wanted.linear)

    run(body, count=2)


def test_keys_are_let_go_with_the_focus(run: Callable[..., None]) -> None:
    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        page.send("key_down", key="w", modifiers=[])
        while not widget.view.view.flight._thrust.held:
            await asyncio.sleep(0.01)
        page.send("focus_out")
        assert not widget.view.view.flight._thrust.held

    run(body)


# -- viewer.show -------------------------------------------------------------------------------------------------------


def kernel(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    """Pretend that IPython runs this."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shell", "found"), [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=object()), True)]
)
def test_where_it_runs(monkeypatch: pytest.MonkeyPatch, shell: Any, found: bool) -> None:
    """A plain Python with IPython loaded, its terminal, and a kernel."""
    kernel(monkeypatch, shell)
    assert show.in_notebook() is found


def test_ipython_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not show.in_notebook() and "IPython" not in sys.modules


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setattr(show, "find_spec", lambda name: None)
    with pytest.raises(viewer.ViewerError) as fault:
        viewer.show("cornell")
    line = "notebook: the widget needs rendercanvas and anywidget (%pip install 'raystream[notebook]')"
    assert str(fault.value) == line
    assert fault.value._render_traceback_() == [f"ViewerError: {line}"]


def test_show_gives_the_widget(run: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    from viewer.notebook.widget import Widget

    async def body() -> None:
        made = viewer.show((np.eye(3), [[0, 1, 2]]), **CHOSEN)
        assert isinstance(made, Widget)
        made.close()
        with pytest.raises(viewer.ViewerError, match="nowhere"):
            viewer.show("nowhere.ply")

    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    run(body, count=0)
