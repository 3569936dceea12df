"""A view on a canvas of rendercanvas, in the time that the canvas's event loop has to spare."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from numpy.typing import NDArray

from raystream.renderer.preview.scheduler import PIECE
from raystream.viewport.canvas.canvas_view import CanvasView

EVENTS = ("pointer_down", "pointer_move", "pointer_up", "wheel", "key_down", "key_up", "resize", "close")
TELLING = 0.5  # seconds between two lines of progress
MOST_WAITING = 256  # changes; with more of them all are forgotten, and keys and buttons let go


class EventLoop(Protocol):
    """An event loop, as rendercanvas has it."""

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> None:
        """Have something called after some seconds; with 0 once the others have had their turn."""


class CanvasLoop:
    """Brings a view's bitmaps to a canvas, and the canvas's events to the view.

    The view works in pieces of `PIECE` seconds, between which the loop serves everybody else. While a bitmap waits to
    be drawn nothing is traced: a canvas that nobody sees, or whose line is slow, draws none. With the view idle or
    closed nothing is scheduled. Events that together take longer than a piece wait for the loop's next turn, too.

    canvas : of rendercanvas. loop : its event loop. tell : called with a line when the status has changed.
    """

    def __init__(
        self, view: CanvasView, canvas: Any, loop: EventLoop, tell: Callable[[str], None] = lambda text: None
    ) -> None:
        self.view, self.canvas = view, canvas
        self._loop, self._tell = loop, tell
        self._bitmap: NDArray | None = None  # that waits to be drawn
        self._piece_number = 0  # of the piece of work that is scheduled; earlier ones are not wanted any more
        self._status, self._status_time = "", 0.0
        self._calls: deque[Callable[[], None]] = deque()  # changes that wait
        self._spent = 0.0  # seconds of changes in this turn of the loop
        self._turn_scheduled = False  # its end is awaited
        self._context = canvas.get_bitmap_context()
        canvas.add_event_handler(self.handle, *EVENTS)
        canvas.request_draw(self._draw)
        self.wake()

    @property
    def pending(self) -> bool:
        """Whether a bitmap waits to be drawn."""
        return self._bitmap is not None

    def handle(self, event: dict[str, Any]) -> None:
        """Take an event, see `CanvasView.handle`."""
        if event.get("event_type") == "close":
            self._calls.clear()
            self.view.handle(event)
        else:
            self.call(partial(self.view.handle, event))

    def call(self, change: Callable[[], None]) -> None:
        """Change something in the view: at once, or once the loop has served everybody else, where changes of this turn
        have taken their time already."""
        if len(self._calls) == MOST_WAITING:
            self._calls.clear()
            self._calls.append(partial(self.view.handle, {"event_type": "focus_out"}))
        self._calls.append(change)
        self._serve()

    def _serve(self) -> None:
        if not self._turn_scheduled:
            self._turn_scheduled = True
            self._loop.call_later(0.0, self._turn)
        while self._calls and self._spent < PIECE:
            began = time.monotonic()
            try:
                self._calls.popleft()()
            finally:
                self._spent += time.monotonic() - began
        self.wake()

    def _turn(self) -> None:
        """The loop has served everybody else."""
        self._turn_scheduled, self._spent = False, 0.0
        if self._calls:
            self._serve()

    def wake(self) -> None:
        """There may be something to do."""
        if self._bitmap is None and not self.view.idle:
            self._schedule(0.0)

    def _schedule(self, delay: float) -> None:
        self._piece_number += 1
        self._loop.call_later(delay, self._work, self._piece_number)

    def _work(self, number: int) -> None:
        """A piece of work, and the next one is scheduled."""
        if number != self._piece_number:
            return
        self._bitmap = self.view.advance(PIECE)
        self._say()
        if self._bitmap is not None:
            self.canvas.request_draw()
        elif (timeout := self.view.wait_timeout) < float("inf"):
            self._schedule(timeout)

    def _say(self) -> None:
        """Tell how things are, progress not too often."""
        text, now, view = self.view.status, time.monotonic(), self.view
        urgent = view.idle or view.view.compiling or view.view.message.text
        if text != self._status and (urgent or now - self._status_time >= TELLING):
            self._status, self._status_time = text, now
            self._tell(text)

    def _draw(self) -> None:
        """The canvas draws: the bitmap that waits, or the last one once more."""
        if self._bitmap is not None:
            self._context.set_bitmap(self._bitmap)
            self._bitmap = None
            self.wake()
