"""The frame: previews that follow the hand, and the full picture in pieces, without a window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import viewer
from viewer.base.errors import ViewerError
from viewer.renderer.renderer import Renderer
from viewer.window.picture.frame import SCALES, Frame
from viewer.window.picture.pace import LEAST_ROWS, LONGEST, STEP, Pace, stream_shape

SIZE = (300, 150)  # more than a tile wide, and no multiple of one


@pytest.fixture
def frame(device: Any) -> Frame:
    made = Frame(device, SIZE)
    made.use(Renderer(viewer.load("teapotahedron"), device=device, program="cast"))
    return made


def test_the_picture_is_the_renderers(frame: Frame) -> None:
    frame.finish()
    assert frame.complete and frame.scale == 1.0 and frame.progress == 1.0 and frame.samples == 1
    assert frame.renderer is not None
    np.testing.assert_array_equal(frame.linear(), frame.renderer.render(SIZE).linear)


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (513, 2), (257, 129)])
def test_sizes(frame: Frame, size: tuple[int, int]) -> None:
    frame.resize(size)
    frame.finish()
    assert frame.renderer is not None
    np.testing.assert_array_equal(frame.linear(), frame.renderer.render(size).linear)


def test_what_compiles_is_told_first(frame: Frame) -> None:
    frame.advance(1.0)
    assert frame.compiling == "cast" and frame.progress == 0.0 and frame.pictures == 0
    frame.finish()
    assert not frame.compiling
    frame.restart()
    frame.advance(0.0001)
    assert not frame.compiling  # it is ready now


@pytest.mark.parametrize("choices", [{"fuse": "none"}, {"mask": "none"}, {"mask": "kill"}, {"machine": "singlepass"}])
@pytest.mark.parametrize("barrier", ["auto", "off"])
def test_compiling_ahead_leaves_no_trace(device: Any, choices: dict[str, str], barrier: str) -> None:
    """Drivers compile when a pass is first drawn: it is drawn for no ray before the first picture."""
    from viewer.stream.gl.device import shared_device

    chosen = device if barrier == "auto" else shared_device(None, False, True)
    renderer = Renderer(viewer.load("cornell"), device=chosen, program="cast", **choices)
    expected = renderer.render((64, 32)).linear
    tile = (64, 32)
    shares = list(renderer.warm(tile, counting=True))
    assert shares == sorted(shares) and shares[-1] == 1.0 and renderer.ready(tile, counting=True)
    (part,) = [part for _, part in renderer.slices(tile, ("steps",), tile=tile) if part is not None]
    with renderer.device.current():
        np.testing.assert_array_equal(part.machine.read("radiance")["rgb"], expected)
    before = renderer.device.compiled
    assert part.machine.stats.calls["traverse"].any() and renderer.device.compiled == before


def test_only_previews_while_moving(frame: Frame) -> None:
    frame.finish()
    pictures = frame.pictures
    for _ in range(3):
        frame.restart()
        frame.advance(1.0, moving=True)
    assert frame.pictures - pictures == 3
    # Each fits a second's budget at full size: then it is complete already.
    assert frame.scale == 1.0 and frame.complete
    frame.restart()
    for _ in range(1000):
        frame.advance(0.001, moving=True)  # a millisecond is not enough for the whole
    assert frame.scale < 1.0 and not frame.complete and frame.waiting(moving=True) and not frame.waiting(moving=False)
    assert frame.linear().any()
    frame.finish()
    assert frame.complete and frame.scale == 1.0


def test_the_scale_follows_the_rate(frame: Frame) -> None:
    frame.finish()
    chosen = []
    for rate in (1e3, 1e5, 1e6, 1e9):
        frame._preview_rate = rate
        chosen.append(frame._choose_scale(0.02))
    assert chosen[0] == SCALES[-1] and chosen[-1] == 1.0 and chosen == sorted(chosen)
    pixels = SIZE[0] * SIZE[1]
    assert chosen[2] ** 2 * pixels <= 1e6 * 0.02 < (chosen[2] * 2**0.25) ** 2 * pixels
    frame._preview_rate = 0.97e6  # a little slower: no other scale, which would shimmer
    assert frame._choose_scale(0.02) == 1.0 or frame._choose_scale(0.02) in SCALES
    held = frame._choose_scale(0.02)
    frame._preview_rate *= 0.95
    assert frame._choose_scale(0.02) == held


def test_a_picture_is_never_empty(frame: Frame) -> None:
    """At rest the full picture begins from the last one, enlarged."""
    frame.finish()
    before = frame.linear().mean()
    frame.restart()
    for _ in range(200):
        frame.advance(1e-6)
        assert frame.linear().mean() > 0.5 * before > 0
        if frame.complete:
            break
    assert frame.complete


def test_what_cannot_be_made_leaves_the_last_picture(frame: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
    frame.finish()
    before = frame.linear()

    def broken(*_: Any, **__: Any) -> Any:
        raise ViewerError("shader", "broken")
        yield

    monkeypatch.setattr(frame.renderer, "slices", broken)
    frame.restart()
    with pytest.raises(ViewerError):
        frame.advance(1.0)
    frame.fail()
    assert frame.idle and not frame.complete
    np.testing.assert_array_equal(frame.linear(), before)
    monkeypatch.undo()
    frame.restart()
    frame.finish()
    np.testing.assert_array_equal(frame.linear(), before)


def test_pace() -> None:
    pace = Pace(128)
    rows = pace.next()
    pace.note(STEP / 8)
    assert pace.next() == 2 * rows  # twice at most
    pace.note(STEP / 8)
    pace.note(4 * STEP)  # the slowest step counts
    assert pace.next() == rows // 2
    for _ in range(20):
        pace.note(1.0)
        pace.next()
    assert pace.next() == LEAST_ROWS
    for _ in range(60):
        pace.note(1e-6)
        pace.next()
        pace.forget()
    assert pace.next() == 128
    assert Pace(1).next() == 1


def test_pace_leaves_room_for_dear_rows() -> None:
    """Below a cheap sky come dear trees: no piece is so large that it would take too long there, once they were seen.
    One stop of a busy machine is not taken for trees."""
    dear, cheap = LONGEST / 12, LONGEST / 1000  # seconds of a row
    pace = Pace(128)
    for picture in range(5):
        slowest = 0.0
        for _ in range(4):  # columns
            row = 0
            while row < 540:
                rows = min(pace.next(), 540 - row)
                seconds = rows * (cheap if row < 250 else dear)
                pace.note(seconds)
                slowest, row = max(slowest, seconds), row + rows
        pace.forget()
        if picture:
            assert slowest <= 1.3 * LONGEST  # a picture's dearness fades until the next one's trees
    pace = Pace(128)
    for _ in range(4):
        pace.note(STEP * pace.next() / 128)
    rows = pace.next()
    pace.note(1.0)
    pace.next()
    pace.note(STEP / 16)
    assert pace.next() * 4 >= rows / 4


def test_gpus_get_larger_streams() -> None:
    from types import SimpleNamespace

    small, large = (stream_shape(SimpleNamespace(software=flag)) for flag in (True, False))  # type: ignore[arg-type]
    assert small[0] * small[1] < large[0] * large[1]


def test_pieces_of_any_height_give_the_same_picture(frame: Frame) -> None:
    renderer = frame.renderer
    assert renderer is not None
    expected = renderer.render(SIZE).linear
    heights = iter([1, 7, 64, 200, 3, *[31] * 100])
    made, shares = np.zeros_like(expected), []
    for share, part in renderer.slices(SIZE, tile=(256, 128), rows=lambda: next(heights)):
        shares.append(share)
        if part is not None:
            radiance = part.machine.read("radiance")["rgb"].reshape(-1, 3)
            block = made[part.rows, part.columns]
            block[...] = radiance[: block.shape[0] * block.shape[1]].reshape(block.shape)
    np.testing.assert_array_equal(made, expected)
    assert shares == sorted(shares) and shares[-1] == 1.0
