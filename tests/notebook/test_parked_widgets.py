"""Widgets out of sight: what goes on, and when they give back what they have on the device."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from widget_page import Page

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")


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


def test_out_of_the_page_it_keeps_nothing_on_the_device(
    run: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that is run again takes its output from the page; the camera and the options stay, and with another output
    the picture comes back, as it was."""
    from raystream.notebook import widget as module

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
    from raystream.notebook import widget as module

    monkeypatch.setattr(module, "GONE", 0.02)

    async def body(widget: Any) -> None:
        page = Page(widget)
        page.send("views", count=1)
        await page.rest(1)
        widget._has_visible_views = False
        await asyncio.sleep(0.2)
        assert not widget.view.parked and widget._parking is not None

    run(body)


def parking(widget: Any) -> float | None:
    """Seconds until the widget gives back what it has on the device; None where that is not planned."""
    timer = widget._parking
    return None if timer is None else timer.when() - asyncio.get_running_loop().time()


def test_when_it_is_given_back(run: Callable[..., None]) -> None:
    """Three seconds without an output, five minutes out of sight, never in sight; from the last use on."""
    from raystream.notebook import widget as module

    async def body(widget: Any) -> None:
        def planned() -> str:
            left = parking(widget)
            if left is None:
                return "never"
            return "soon" if left <= 3.0 else "late" if 270.0 < left <= 300.0 else str(left)

        assert planned() == "soon", "nobody has shown it yet"
        assert (module.GONE, module.UNSEEN) == (3.0, 300.0)
        page = Page(widget)
        assert planned() == "never"
        page.send("views", count=1)
        assert planned() == "never"
        widget._has_visible_views = False
        assert planned() == "late"
        page.send("views", count=2)
        assert planned() == "late"
        page.send("views", count=0)
        assert planned() == "soon"
        first = widget._parking
        await asyncio.sleep(0.05)
        for use in (lambda: widget.update(exposure=1.0), widget.snapshot):
            before = widget._parking
            use()
            assert planned() == "soon" and widget._parking is not before and before.cancelled()
        assert first.cancelled()
        widget._has_visible_views = True
        assert planned() == "never"
        widget.update(exposure=0.5)
        page.send("nothing", count=0)
        assert planned() == "never"
        widget._has_visible_views = False
        last = widget._parking
        widget.close()
        assert planned() == "never" and last.cancelled()
        page.send("views", count=0)
        widget.view.view.area.minimised = True
        widget._has_visible_views = True
        assert widget.view.view.area.minimised, "it is closed"
        widget._has_visible_views = False
        assert planned() == "never" and widget.view.closed

    run(body)
