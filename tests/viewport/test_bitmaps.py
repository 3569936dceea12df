"""When another bitmap is due, by a clock that is told."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.renderer.preview.scheduler import SENT_AT_LAST, SENT_FILLING, SENT_GROWTH, SENT_REFINING
from raystream.viewport import canvas
from raystream.viewport.canvas import Bitmaps
from raystream.viewport.viewport import PictureArea, ToneMapping

NOTHING: Any = None


class Desk:
    """Bitmaps of a session whose facts a test sets: at first paused-free, complete and tracing samples."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(canvas, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(canvas, "Display", lambda device: None)
        self.grown: list[str] = []
        self.session: Any = SimpleNamespace(
            complete=True, idle=False, samples=1, pictures=1, warped=0, under_way=None, previewing=False
        )
        self.view: Any = SimpleNamespace(
            paused=False, renderer="there", tone=ToneMapping(0.0, "none"), area=PictureArea((24, 16))
        )
        self.canvas: Any = SimpleNamespace(changes=0, grow=self.grown.append)
        self.turn: Any = SimpleNamespace(view=self.view, session=self.session, anything=True, moving=False)
        self.made = Bitmaps(NOTHING, self.turn, self.canvas)

    def due(self, seconds: float = 0.0, **facts: Any) -> bool:
        self.now += seconds
        vars(self.session).update(facts)
        return self.made.due()


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_at_rest(desk: Desk) -> None:
    for idle, paused, moving, renderer, rests in (
        (True, False, False, "there", True),
        (False, True, False, "there", True),
        (False, False, False, "there", False),
        (True, False, True, "there", False),
        (True, False, False, None, False),
    ):
        desk.session.idle, desk.view.paused = idle, paused
        desk.turn.moving, desk.view.renderer = moving, renderer
        assert desk.made.at_rest is rests


def test_samples_that_are_added(desk: Desk) -> None:
    """Not too soon; by a growth that shows, or at last; the last one always."""
    assert desk.due(samples=100)
    desk.canvas.changes = 1
    assert not desk.due(0.9 * SENT_REFINING, samples=10_000)
    assert desk.due(0.2 * SENT_REFINING)
    desk.canvas.changes = 2
    few = math.ceil(10_000 * SENT_GROWTH)
    assert not desk.due(2 * SENT_REFINING, samples=few - 1) and desk.due(samples=few)
    desk.canvas.changes = 3
    assert not desk.due(0.9 * SENT_AT_LAST, samples=few + 1) and desk.due(0.2 * SENT_AT_LAST)
    desk.canvas.changes = 4
    assert not desk.due(0.1 * SENT_REFINING)
    assert desk.due(idle=True), "it has come to rest"
    assert not desk.due(100.0)
    assert not desk.due(idle=False) and desk.due(idle=True), "and once more"


def test_a_picture_that_fills(desk: Desk) -> None:
    assert desk.due(complete=False, samples=0)
    desk.canvas.changes = 1
    assert not desk.due(0.9 * SENT_FILLING) and desk.due(0.2 * SENT_FILLING)
    desk.canvas.changes = 2
    assert not desk.due()
    assert not desk.due(0.9 * SENT_REFINING, complete=True, samples=1) and desk.due(0.2 * SENT_REFINING)


@pytest.mark.parametrize(
    ("name", "value"), [("pictures", 2), ("warped", 1), ("exposure", 0.5), ("tonemap", "aces"), ("pixels", (12, 8))]
)
@pytest.mark.parametrize("complete", [True, False])
def test_another_picture_or_look_is_due_at_once(desk: Desk, name: str, value: Any, complete: bool) -> None:
    assert desk.due(complete=complete)
    places = {"exposure": desk.view.tone, "tonemap": desk.view.tone, "pixels": desk.view.area}
    setattr(places.get(name, desk.session), name, value)
    look = name in places
    assert desk.due() is (look or not complete)
    if not look and complete:  # further samples of it
        assert desk.due(2 * SENT_AT_LAST)


def test_what_is_under_way_grows_when_a_bitmap_may_be_due(desk: Desk) -> None:
    assert desk.due(complete=False)
    desk.session.under_way = "tile"
    assert not desk.due(0.9 * SENT_FILLING) and desk.grown == []
    desk.canvas.changes = 1
    assert desk.due(0.2 * SENT_FILLING) and desk.grown == ["tile"]
    desk.due(0.9 * SENT_REFINING, complete=True)
    assert desk.grown == ["tile"]
    desk.due(0.2 * SENT_REFINING)
    assert desk.grown == ["tile"] * 2
