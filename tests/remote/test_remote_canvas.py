"""The canvas of the page, without a server: sizes, texts, options and events that come from a browser, and what goes
back to it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raystream

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")

from rendercanvas import http

from raystream.film.files.image import read_exr
from raystream.remote import canvas as module
from raystream.remote.canvas import MAX_PIXELS, MAX_SIDE, RemoteCanvas, _clamp_size
from raystream.remote.guard import File
from raystream.remote.serve import page_address


@pytest.fixture(scope="module")
def canvas(device: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteCanvas]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAYSTREAM_SETTINGS", str(tmp_path_factory.mktemp("settings") / "settings.toml"))
        made = RemoteCanvas("cornell", (24, 16), program="cast", machine="singlepass")
        yield made
        made.close()


def event(width: float, height: float, ratio: float) -> dict[str, Any]:
    return {"type": "resize", "pwidth": width, "pheight": height, "ratio": ratio}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ((640, 400, 1.5), (640, 400, 1.5)),
        ((3840, 2160, 2.0), (3840, 2160, 2.0)),
        ((7680, 4320, 2.0), (3840, 2160, 1.0)),  # twice a screen: the cursor's places are halves
        ((4320, 7680, 3.0), (2160, 3840, 1.5)),
        ((30720, 10, 4.0), (7680, 2, 1.0)),  # by its longest side; 2.5 rounds to even
        ((10, 15360, 1.0), (5, 7680, 0.5)),
        ((100_000, 1, 1.0), (7680, 1, 0.0768)),  # one pixel stays
        ((0, 5, 1.0), (0, 5, 1.0)),  # a page that is hidden
    ],
)
def test_sizes_are_brought_to_a_screen_s(given: Any, taken: Any) -> None:
    """With the ratio of pixels to the page's units, so that the cursor stays where it is in the picture."""
    told = event(*given)
    assert _clamp_size(told)
    assert (told["pwidth"], told["pheight"]) == taken[:2] and told["ratio"] == pytest.approx(taken[2], rel=1e-12)
    assert told["pwidth"] * told["pheight"] <= MAX_PIXELS and max(told["pwidth"], told["pheight"]) <= MAX_SIDE


def test_an_option_goes_back_to_its_default(canvas: RemoteCanvas) -> None:
    """By the empty entry of its list, or an empty field; a wrong value is told, and changes nothing."""
    canvas.change("environment", "sky")
    assert canvas.view.value("environment") == "sky"
    canvas.change("environment", "")
    assert canvas.view.value("environment") is None and not canvas.view.view.message.is_error
    canvas.change("spp", "7")
    canvas.change("spp", "seven")
    assert canvas.view.value("spp") == 7
    assert canvas.view.view.message.is_error and "'seven'" in canvas.view.view.message.text


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("::1", "[::1]"),
        ("fe80::1", "[fe80::1]"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("", "127.0.0.1"),
    ],
)
def test_addresses_that_are_printed(host: str, shown: str) -> None:
    """An IPv6 one in brackets; of all of a machine's the one that this machine reaches itself by."""
    assert page_address(host, 8765, "token") == f"http://{shown}:8765/token/"


# -- events ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is sent to pages: (page, message), 0 for all of them."""
    found: list[Any] = []
    monkeypatch.setattr(http.asgi, "send_all", lambda message: found.append((0, message)))
    monkeypatch.setattr(http.asgi, "send_to", lambda message, buffers, id: found.append((id, message)))
    return found


@pytest.fixture
def came(canvas: RemoteCanvas, sent: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Where events go: (whose, what). Pages 4 and 7 are open, of which the first steers."""
    canvas._on_event({"type": "_clients_change", "ids": (4, 7)}, 0)
    found: list[Any] = []
    monkeypatch.setattr(canvas, "change", lambda *what: found.append(("change", *what)))
    monkeypatch.setattr(canvas, "submit_event", lambda event: found.append(("rendercanvas", event)))
    monkeypatch.setattr(canvas, "request_draw", lambda *_: found.append(("draw",)))
    monkeypatch.setattr(canvas.drive, "handle", lambda event: found.append(("drive", event)))
    monkeypatch.setattr(canvas.drive, "call", lambda change: found.append(("called", change())))
    monkeypatch.setattr(canvas.drive, "wake", lambda: found.append(("wake",)))
    sent.clear()
    return found


def test_events_of_the_page_that_steers(canvas: RemoteCanvas, came: list[Any]) -> None:
    """The view's own go to it, in their turn; the others to rendercanvas."""
    canvas._on_event({"type": "option", "name": "spp", "value": "3"}, 4)
    assert came == [("change", "spp", "3"), ("called", None)]
    for kind in ("focus_out", "pinch", "seek", "action"):
        came.clear()
        canvas._on_event(event := {"type": kind, "x": 1, "timestamp": 0.5}, 4)
        assert came == [("drive", {**event, "event_type": kind})]
    came.clear()
    canvas._on_event({"type": "key_down", "key": "a", "modifiers": ["Shift"], "timestamp": 0.5}, 4)
    keys = {"event_type": "key_down", "key": "a", "modifiers": ("Shift",), "time_stamp": 0.5}
    assert came == [("rendercanvas", keys)]


def test_events_that_nobody_takes(canvas: RemoteCanvas, came: list[Any]) -> None:
    """Those of other pages; and the end of a page, which may come back."""
    before = canvas.get_physical_size()
    for event in (
        {"type": "option", "name": "spp", "value": "3"},
        {"type": "action", "name": "pause"},
        {"type": "focus_out"},
        {"type": "key_down", "key": "a", "timestamp": 0.5},
        {"type": "resize", "pwidth": 9, "pheight": 8, "ratio": 1.0},
        {"type": "_clients_change", "ids": (7,)},
        {"type": "close"},
    ):
        for page in (7, 9):
            canvas._on_event(dict(event), page)
    for page in (0, 4):
        canvas._on_event({"type": "close", "timestamp": 0.5}, page)
    assert not came and canvas.get_physical_size() == before and canvas._active_client == 4
    assert not canvas.view.closed and not canvas.get_closed()


def test_sizes_of_the_page(canvas: RemoteCanvas, came: list[Any]) -> None:
    """Brought to a screen's; one that is none changes nothing."""
    canvas._on_event(event(40, 30, 2.0), 4)
    assert canvas.get_physical_size() == (40, 30) and canvas.get_pixel_ratio() == 2.0
    for width, height, ratio in ((-1, 30, 1.0), (20, 20, 0.0)):
        canvas._on_event(event(width, height, ratio), 4)
        assert canvas.get_physical_size() == (40, 30) and canvas.get_pixel_ratio() == 2.0
    canvas._on_event(event(7680, 4320, 2.0), 4)
    assert canvas.get_physical_size() == (3840, 2160) and canvas.get_pixel_ratio() == 1.0
    canvas._on_event(event(24, 16, 1.0), 4)


def test_pages_that_come_and_go(canvas: RemoteCanvas, came: list[Any], sent: list[Any]) -> None:
    """The oldest steers. What the one before had pressed is let go; each is told how things are; with the last one the
    view has nobody to see it."""
    released = ("drive", {"event_type": "focus_out"})
    for ids, steering, others in (((4, 7, 8), 4, []), ((7, 8), 7, [released]), ((7,), 7, []), ((), 0, [released])):
        came.clear()
        sent.clear()
        canvas._on_event({"type": "_clients_change", "ids": ids}, 0)
        assert canvas._active_client == steering and came == [*others, ("draw",), ("wake",)]
        assert [each for each in sent if each[0]] == [(id, {"type": "active", "value": id == steering}) for id in ids]
        titles = [message["value"] for id, message in sent if id == 0 and message["type"] == "title"]
        assert len(titles) == 1 and titles[0].startswith("cornell")
        assert canvas.view.visible is bool(ids)


@pytest.mark.parametrize(
    ("index", "good"),
    [(2, False), (3, True), (4, True), (5, True), (6, False), (None, False), ("4", False), (4.0, False), ([4], False)],
)
def test_frames_that_are_confirmed(canvas: RemoteCanvas, came: list[Any], index: Any, good: bool) -> None:
    """Those that are on their way, to that page; also by a page that does not steer."""
    for page, other in ((4, 7), (7, 4)):
        info = canvas._frame_info_per_client
        info[4], info[7] = ({"sent": 5, "confirmed": 3, "ref": 0} for _ in range(2))
        canvas._on_event({"type": "_framefeedback", "index": index, "timestamp": 0.0}, page)
        assert info[page]["confirmed"] == (index if good else 3) and info[other]["confirmed"] == 3
        canvas._on_event({"type": "_framefeedback", "timestamp": 0.0}, page)
        canvas._on_event({"type": "_framefeedback", "index": 4, "timestamp": 0.0}, 9)
        assert info.keys() == {4, 7}
    assert not came


def test_actions_that_are_none(canvas: RemoteCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the table that a page's view does not have, and any other text."""
    done: list[str] = []
    monkeypatch.setattr(canvas.view.view.actions, "perform", done.append)
    for name in ("pause", "quit", "nothing", "", "shadows.toggle"):
        canvas.view.handle({"event_type": "action", "name": name})
    assert done == ["pause", "shadows.toggle"]


def test_options_that_are_not_a_page_s(canvas: RemoteCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(canvas.view, "update", lambda **options: given.append(options))
    for name, value in (("device", "1"), ("shadows", "maybe"), ("environment", "/etc/passwd"), ("spp", "9" * 33)):
        canvas.change(name, value)
    assert not given
    canvas.change("shadows", "off")
    canvas.change("depth", "")
    assert given == [{"shadows": "off"}, {"depth": None}]


# -- what goes to the page ---------------------------------------------------------------------------------------------


def test_a_picture_is_offered(canvas: RemoteCanvas, sent: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """To the page that steers, under the scene's name."""
    canvas.view.wait()
    monkeypatch.setattr(canvas, "_active_client", 7)
    monkeypatch.setattr(canvas.view.view.scene, "name", "a box/ä")
    for ending in (".png", ".exr"):
        sent.clear()
        canvas._deliver(ending)
        download = {"type": "download", "href": f"picture{ending}", "name": f"a_box_ä{ending}"}
        assert [each for each in sent if each[1]["type"] == "download"] == [(7, download)]
        assert canvas.view.view.message.text == f"a_box_ä{ending} is downloaded"
        assert not canvas.view.view.message.is_error


def test_downloads(canvas: RemoteCanvas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture on show at its full size: as it is seen, or its radiance."""
    woken: list[int] = []
    monkeypatch.setattr(canvas.drive, "wake", lambda: woken.append(1))
    canvas.view.wait()
    canvas.change("exposure", "auto")
    canvas.change("tonemap", "none")
    monkeypatch.setattr(canvas.view.view.tone, "metered", 1.0)
    png = asyncio.run(canvas.files()["picture.png"]())  # type: ignore[operator,arg-type]
    exr = asyncio.run(canvas.files()["picture.exr"]())  # type: ignore[operator,arg-type]
    assert (png.kind, png.status, exr.kind, exr.status) == ("image/png", 200, "image/x-exr", 200)
    assert len(woken) == 2 and not canvas._downloading
    picture = canvas.view.snapshot()
    seen = np.asarray(Image.open(io.BytesIO(png.body)).convert("RGB"))
    np.testing.assert_array_equal(seen, picture.srgb8(1.0, "none"))
    assert seen.shape == (16, 24, 3) and seen.any() and (picture.srgb8(0.0, "none") != seen).any()
    (tmp_path / "found.exr").write_bytes(exr.body)
    picture.save(tmp_path / "wanted.exr")
    channels = read_exr(tmp_path / "found.exr")[1], read_exr(tmp_path / "wanted.exr")[1]
    assert channels[0].keys() == channels[1].keys() >= {"R", "G", "B"}
    for name, values in channels[0].items():
        np.testing.assert_array_equal(values, channels[1][name], err_msg=name)
    canvas.view.update(exposure="auto", tonemap="agx")


def test_downloads_that_have_to_wait(canvas: RemoteCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other; a picture is given once it has settled, and others have their turn meanwhile."""
    canvas.view.wait()
    settled, turns = [False, False, True], []
    monkeypatch.setattr(canvas.view, "make_even", lambda: settled.pop(0))

    async def body() -> list[File]:
        async def other() -> File:
            turns.append(list(settled))
            return await canvas._download(".exr")

        return list(await asyncio.gather(canvas._download(".png"), other()))

    first, second = asyncio.run(body())
    assert (first.kind, first.status) == ("image/png", 200) and not settled
    assert second == File.text("text/plain", "another download is under way", 429)
    assert turns == [[False, True]]


def test_downloads_that_come_to_nothing(canvas: RemoteCanvas, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is free to come."""
    canvas.view.wait()
    looks: list[int] = []
    monkeypatch.setattr(canvas.view, "make_even", lambda: looks.append(1))
    monkeypatch.setattr(module, "SETTLING", 0.02)
    late = File.text("text/plain", "the picture is not complete yet", 503)
    assert asyncio.run(canvas._download(".png")) == late and len(looks) > 1 and not canvas._downloading

    def fail() -> bool:
        raise raystream.ViewerError("scene", "none is loaded yet")

    monkeypatch.setattr(canvas.view, "make_even", fail)
    failed = File.text("text/plain", "scene: none is loaded yet", 503)
    assert asyncio.run(canvas._download(".png")) == failed and not canvas._downloading
