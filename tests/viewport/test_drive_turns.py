"""A drive by a loop, a view and a canvas that note what is asked of them: when it works, draws, tells and waits."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.renderer.preview.scheduler import PIECE
from raystream.viewport import canvas as module
from raystream.viewport.canvas import MAX_PENDING, TELLING, CanvasLoop
from raystream.viewport.viewport import Message


class Desk:
    """``calls``: what the loop was asked to call, and when."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, idle: bool = True) -> None:
        self.now = 50.0
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.calls: list[tuple[float, Callable[..., Any], tuple]] = []
        self.done: list[Any] = []
        self.told: list[str] = []
        self.bitmap: Any = None
        self.handlers: tuple[str, ...] = ()
        inner = SimpleNamespace(compiling="", message=Message(), scene=None)
        self.view: Any = SimpleNamespace(idle=idle, wait_timeout=0.25, status="first", view=inner)
        self.view.handle = lambda event: self.done.append(event["event_type"])
        self.view.advance = lambda budget: self.done.append(("work", budget)) or self.bitmap
        canvas: Any = SimpleNamespace(get_bitmap_context=lambda: SimpleNamespace(set_bitmap=self.done.append))
        canvas.set_title = self.told.append
        self.view.motion = {}
        canvas.add_event_handler = lambda handler, *events: setattr(self, "handlers", events)
        canvas.request_draw = lambda *draw: self.done.append("draw asked for" if not draw else "drawn by")
        loop: Any = SimpleNamespace(call_later=lambda delay, what, *more: self.calls.append((delay, what, more)))
        self.drive = CanvasLoop(self.view, canvas, loop, lambda message: None)

    def taken(self) -> list[Any]:
        done, self.done[:] = list(self.done), []
        return done

    def delays(self) -> list[float]:
        """What has been scheduled, and is called then no more."""
        calls, self.calls[:] = list(self.calls), []
        return [delay for delay, _, _ in calls]

    def turn(self) -> None:
        """The loop calls what it was asked to."""
        calls, self.calls[:] = list(self.calls), []
        for _, what, more in calls:
            what(*more)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


def test_events_of_a_turn_have_a_piece_of_time(desk: Desk) -> None:
    """Those beyond wait for the next one; in their order."""

    def takes(name: str, seconds: float) -> Callable[[], None]:
        def change() -> None:
            desk.now += seconds
            desk.done.append(name)

        return change

    desk.taken()
    for name, seconds in (("a", 0.6 * PIECE), ("b", 0.3 * PIECE), ("c", 0.2 * PIECE), ("d", 0.6 * PIECE)):
        desk.drive.call(takes(name, seconds))
    desk.drive.handle({"event_type": "wheel"})
    assert desk.taken() == ["a", "b", "c"] and desk.delays() == [0.0]
    desk.drive._turn()
    assert desk.taken() == ["d", "wheel"] and desk.delays() == [0.0]
    desk.drive._turn()
    assert desk.taken() == [] and desk.delays() == [], "nothing waits"
    desk.drive.call(takes("e", 0.0))
    assert desk.taken() == ["e"] and desk.delays() == [0.0]


def test_a_change_that_fails_is_over_all_the_same(desk: Desk) -> None:
    def fails() -> None:
        desk.now += 2 * PIECE
        raise ValueError("odd")

    desk.taken()
    with pytest.raises(ValueError, match="odd"):
        desk.drive.call(fails)
    desk.drive.handle({"event_type": "wheel"})
    assert desk.taken() == [], "its time is spent"
    desk.turn()
    assert desk.taken() == ["wheel"]


def test_closing_does_not_wait(desk: Desk) -> None:
    desk.drive._spent = 2 * PIECE
    desk.drive.handle({"event_type": "wheel"})
    desk.taken()
    desk.drive.handle({"event_type": "close"})
    assert desk.taken() == ["close"]
    desk.turn()
    assert desk.taken() == [], "and what waited is forgotten"


def test_more_changes_than_may_wait_are_forgotten(desk: Desk) -> None:
    """Keys and buttons are let go, since their events may be among them."""
    desk.drive._spent = 2 * PIECE
    for _ in range(MAX_PENDING):
        desk.drive.handle({"event_type": "wheel"})
    desk.taken()
    assert len(desk.drive._calls) == MAX_PENDING
    desk.drive.handle({"event_type": "key_down"})
    desk.turn()
    assert desk.taken() == ["focus_out", "key_down"]


def test_progress_is_told_now_and_then(desk: Desk) -> None:
    """At once at rest, and of what is compiled or said; the same line never twice."""
    desk.view.idle = False

    def work(status: str, seconds: float = 0.0) -> list[str]:
        desk.now += seconds
        desk.view.status = status
        desk.drive.wake()
        desk.turn()
        told, desk.told[:] = list(desk.told), []
        return told

    assert work("1 %") == ["1 %"] and work("2 %", 0.9 * TELLING) == [] and work("3 %", 0.2 * TELLING) == ["3 %"]
    assert work("3 %", 9.0) == []
    assert work("4 %") == ["4 %"] and work("5 %") == []
    for name, something, nothing in (("compiling", "path", ""), ("message", Message("saved"), Message())):
        setattr(desk.view.view, name, something)
        assert work(name) == [name] and work(name) == []
        setattr(desk.view.view, name, nothing)
    assert work("6 %") == []
    desk.view.idle = True
    desk.drive._schedule(0.0)
    desk.turn()
    assert desk.told == ["6 %"]
