"""The widget, and what ``viewer.show`` gives in a notebook: without a browser, its messages by hand."""

from __future__ import annotations

import asyncio
import gc
import io
import sys
import weakref
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
        assert widget.view.closed and widget.view.session.convergence.film.buffer is None
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


def test_out_of_the_page_it_keeps_nothing_on_the_device(
    run: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that is run again takes its output from the page; the camera and the options stay, and with another output
    the picture comes back, as it was."""
    from viewer.notebook import widget as module

    monkeypatch.setattr(module, "GONE", 0.05)

    async def body(widget: Any) -> None:
        page = Page(widget)
        page.send("views", count=1)
        await page.rest(1)
        widget.update(camera="0.5,1,4 0,1,0", fov=50)
        await page.rest(2)
        before, camera = widget.snapshot().linear, widget.camera
        held = weakref.ref(widget.view.view.renderer)
        widget._has_visible_views = False
        page.send("views", count=0)
        while not widget.view.parked:
            await asyncio.sleep(0.01)
        gc.collect()
        assert held() is None, "nothing holds what it was shown by"
        assert widget.view.idle and widget.camera == camera and widget.view.parked
        assert np.array_equal(widget.snapshot().linear, before), "whoever asks has the picture"
        while not widget.view.parked:
            await asyncio.sleep(0.01)
        frames = len(page.frames)
        page.send("views", count=1)
        widget._has_visible_views = True
        await page.rest(frames + 1)
        assert not widget.view.parked and np.array_equal(widget.snapshot().linear, before)

    run(body)


def test_the_page_throws_it_away(run: Callable[..., None]) -> None:
    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        widget.comm.handle_close({"content": {"data": {}}})
        assert widget.view.closed

    run(body)


def test_scrolled_away_it_stays(run: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """An output that nobody sees for a while is still there."""
    from viewer.notebook import widget as module

    monkeypatch.setattr(module, "GONE", 0.02)

    async def body(widget: Any) -> None:
        page = Page(widget)
        page.send("views", count=1)
        await page.rest(1)
        widget._has_visible_views = False
        await asyncio.sleep(0.2)
        assert not widget.view.parked and widget._parking is not None

    run(body)


def test_a_page_that_is_read_again(run: Callable[..., None]) -> None:
    """Frames that were on their way to a page that is gone do not hold up those of the next one."""

    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        widget.send = lambda content, buffers=None: None  # the page is gone, and takes no frame
        for exposure in (1.0, 2.0, 3.0):
            widget.update(exposure=exposure)
            while not widget.drive.pending and not widget.view.idle:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        count = len(page.frames)
        widget._has_visible_views = False
        widget.send = page._take
        widget._has_visible_views = True
        await page.rest(count + 1)

    run(body)


def test_a_key_that_repeats(run: Callable[..., None]) -> None:
    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        for repeat in (False, True, True):
            page.send("key_down", key="+", modifiers=[], repeat=repeat)
        while widget.view.view.exposure != 0.75:
            await asyncio.sleep(0.01)
        page.send("pinch", x=12, y=8, ratio=2.0)  # which rendercanvas has no event for
        await page.rest()

    run(body)


def test_its_script_holds_what_it_is_made_of() -> None:
    """One module with everything in it: pages other than Jupyter's have no server to ask for more."""
    from viewer.notebook.widget import Widget

    assert "BaseRenderView" in Widget._esm and "pinch" in Widget._esm and "removeView" in Widget._esm
    for word in ("import(", "import ", "fetch(", "WebSocket", "XMLHttpRequest", "localhost"):
        assert not [line for line in Widget._esm.splitlines() if line.startswith(word) or f" {word}(" in line], word
    assert "url(" not in Widget._css


def test_keys_are_let_go_with_the_focus(run: Callable[..., None]) -> None:
    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        page.send("key_down", key="w", modifiers=[])
        while not widget.view.view.controller._thrust.held:
            await asyncio.sleep(0.01)
        page.send("focus_out")
        assert not widget.view.view.controller._thrust.held

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


def test_spyder_shows_no_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "spyder_kernels", SimpleNamespace())  # type: ignore[arg-type]
    assert not show.in_notebook()


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
        assert (made._css_width, made._css_height) == tuple(f"{float(side)}px" for side in SIZE)  # of the cell's output
        made.close()
        with pytest.raises(viewer.ViewerError, match="nowhere"):
            viewer.show("nowhere.ply")

    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    run(body, count=0)
