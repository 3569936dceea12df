"""The canvas of the page, without a server: sizes, texts and options that come from a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")

from viewer.remote.canvas import LONGEST_SIDE, MOST_PIXELS, RemoteCanvas, _clamp, _text
from viewer.remote.serve import address


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
    assert _clamp(told)
    assert (told["pwidth"], told["pheight"]) == taken[:2] and told["ratio"] == pytest.approx(taken[2], rel=1e-12)
    assert told["pwidth"] * told["pheight"] <= MOST_PIXELS and max(told["pwidth"], told["pheight"]) <= LONGEST_SIDE


@pytest.mark.parametrize("given", [(-1, 5, 1.0), (5, -1, 1.0), (5, 5, 0.0), (5, 5, -1.0)])
def test_sizes_that_are_none(given: Any) -> None:
    assert not _clamp(event(*given))


def test_values_as_the_page_has_them() -> None:
    given = {None: "", True: "on", False: "off", "sky": "sky", 32: "32", 0.5: "0.5"}
    assert {value: _text(value) for value in given} == given


def test_an_option_goes_back_to_its_default(canvas: RemoteCanvas) -> None:
    """By the empty entry of its list, or an empty field; a wrong value is told, and changes nothing."""
    canvas.change("environment", "sky")
    assert canvas.view.value("environment") == "sky"
    canvas.change("environment", "")
    assert canvas.view.value("environment") is None and not canvas.view.view.message_is_error
    canvas.change("spp", "7")
    canvas.change("spp", "seven")
    assert canvas.view.value("spp") == 7
    assert canvas.view.view.message_is_error and "'seven'" in canvas.view.view.message


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
    assert address(host, 8765, "token") == f"http://{shown}:8765/token/"
