"""The widget in a notebook: its messages by hand, what goes on out of sight, and when it gives back the device."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from widget_page import CHOSEN, SIZE, Page

import raystream
from raystream.notebook import show

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")


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
        assert np.array_equal(widget.view.read()[..., :3], picture.srgb8(0.0, widget.view.view.tone.tonemap))
        widget.close()
        assert widget.view.closed and widget.view.session.convergence.film.buffer is None
        widget.close()

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


def test_the_bar_below_the_picture(run: Callable[..., None]) -> None:
    """It plays, pauses and scrubs; a new output is told how the animation plays."""

    async def body(widget: Any) -> None:
        page = Page(widget)
        page.send("views", count=1)
        assert page.motion[-1]["duration"] == 0.0
        other = type(widget)("balls", **CHOSEN)
        page = Page(other)
        await page.rest(1)
        length = page.motion[-1]["duration"]
        assert length > 0.5 and page.motion[-1]["animations"] == other.view.motion["animations"]
        page.send("seek", seconds=0.5)
        page.send("action", name="animation.loop")
        page.send("action", name="no.action")
        await page.rest(len(page.frames) + 1)
        told = page.motion[-1]
        assert (told["seconds"], told["playing"], told["loop"]) == (0.5, False, False)
        page.send("action", name="animation.play")
        while page.motion[-1]["seconds"] == 0.5:
            await asyncio.sleep(0.01)
        assert page.motion[-1]["playing"]
        page.motion.clear()
        page.send("views", count=1)
        assert page.motion[0]["duration"] == length
        other.close()

    run(body)


def test_a_status_tells_how_the_animation_plays(run: Callable[..., None]) -> None:
    """Where that has changed since it was told, though no frame is drawn; once."""

    async def body(widget: Any) -> None:
        page = Page(widget)
        await page.rest(1)
        page.motion.clear()
        widget.drive._motion = {**widget.drive._motion, "seconds": 99.0}  # as a page has it from before
        widget.drive.tell("loads")
        assert page.motion == [widget.view.motion] and widget._title.endswith("loads")
        widget.drive.tell("traces")
        assert len(page.motion) == 1

    run(body)


def test_one_that_could_not_be_made(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from raystream.notebook.widget import Widget

    made = Widget.__new__(Widget)
    made.close()
    with pytest.raises(raystream.ViewerError, match="speed"):
        Widget("cornell", speed=3)


# -- what goes to the page ---------------------------------------------------------------------------------------------


def test_frames_as_good_as_the_picture(run: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """JPEG of the quality that the view asks for; a lossless one follows only where nothing better comes."""
    from rendercanvas.anywidget import AnywidgetRenderCanvas as Above

    async def body(widget: Any) -> None:
        await Page(widget).rest(1)
        drawn: list[Any] = []
        monkeypatch.setattr(Above, "_rc_present_bitmap", lambda self, **bitmap: drawn.append((self._quality, bitmap)))
        monkeypatch.setattr(Above, "_rfb_schedule_lossless_draw", lambda self, *given: drawn.append(given))
        view, shown = widget.view, SimpleNamespace(quality=80, at_rest=False, motion=widget.view.motion)
        widget.view = shown
        try:
            widget._rc_present_bitmap(data=1, format="rgba-u8")
            shown.quality = 92
            widget._rc_present_bitmap(data=2, format="rgba-u8")
            assert drawn == [(80, {"data": 1, "format": "rgba-u8"}), (92, {"data": 2, "format": "rgba-u8"})]
            drawn.clear()
            widget._rfb_schedule_lossless_draw("one")
            shown.at_rest = True
            widget._rfb_schedule_lossless_draw("two")
            widget._rfb_schedule_lossless_draw("three", 0.1)
            assert drawn == [("two", 0.3), ("three", 0.1)]
        finally:
            widget.view = view
            monkeypatch.undo()

    run(body)


def test_the_camera_that_is_shown(run: Callable[..., None]) -> None:
    """As the options take it."""

    async def body(widget: Any) -> None:
        widget.update(camera="0.5,2,8 0,1,0", fov=60)
        await Page(widget).rest(1)
        assert widget.fov == pytest.approx(60) and widget.camera == widget.view.camera.text()
        assert widget.camera.startswith("0.5,2.0,8.0 ")
        with pytest.raises(raystream.ViewerError, match="fov"):
            widget.update(fov=-1, exposure=3.0)
        assert widget.fov == pytest.approx(60) and widget.view.view.tone.exposure == 0.0

    run(body)


# -- raystream.show ---------------------------------------------------------------------------------------------------


def test_show_gives_the_widget(run: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    from raystream.notebook.widget import Widget

    async def body() -> None:
        made = raystream.show((np.eye(3), [[0, 1, 2]]), **CHOSEN)
        assert isinstance(made, Widget)
        assert (made._css_width, made._css_height) == tuple(f"{float(side)}px" for side in SIZE)  # of the cell's output
        made.close()
        with pytest.raises(raystream.ViewerError, match="nowhere"):
            raystream.show("nowhere.ply")

    monkeypatch.setattr(show, "in_notebook", lambda: True)
    run(body, count=0)


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
