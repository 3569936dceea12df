"""A view on a canvas of rendercanvas: worked on by the event loop as long as its bitmaps are drawn, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from raystream.viewport.canvas import CanvasLoop
from tests.viewport.test_canvas_view import opened

offscreen = pytest.importorskip("rendercanvas.offscreen", reason="rendercanvas is not installed")


class Loop:
    """An event loop whose turns the test takes."""

    def __init__(self) -> None:
        self.due: list[tuple[float, Callable[..., Any], tuple]] = []

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> None:
        self.due.append((delay, callback, args))

    def turn(self) -> None:
        due, self.due = self.due, []
        for delay, callback, args in due:
            time.sleep(min(delay, 0.01))
            callback(*args)


class Driven:
    """A view on an offscreen canvas."""

    def __init__(self) -> None:
        self.loop, self.told = Loop(), []
        self.canvas = offscreen.OffscreenRenderCanvas(size=(24, 16))
        self.view = opened()
        self.canvas.set_title = self.told.append
        self.drive = CanvasLoop(self.view, self.canvas, self.loop, lambda message: None)

    def run(self, draws: bool = True) -> None:
        """Turns until nothing is scheduled."""
        while self.loop.due:
            self.loop.turn()
            if draws and self.drive.pending:
                self.canvas.draw()


@pytest.fixture
def driven(device: Any) -> Iterator[Driven]:
    made = Driven()
    yield made
    made.canvas.close()


def test_until_it_has_converged(driven: Driven) -> None:
    driven.run()
    drawn = driven.canvas.draw()
    assert drawn.shape == (16, 24, 4) and np.array_equal(drawn, driven.view.read())
    assert driven.view.idle and driven.told[-1] == "cornell · 1 sample a pixel"
    assert not driven.loop.due, "nothing is scheduled at rest"


def test_events_move_it(driven: Driven) -> None:
    driven.run()
    before = driven.canvas.draw().copy()
    for kind, x in (("pointer_down", 4), ("pointer_move", 20), ("pointer_up", 20)):
        event = {"event_type": kind, "x": x, "y": 8, "button": 1, "buttons": (1,), "modifiers": ()}
        driven.canvas.submit_event({**event, "ntouches": 0, "touches": {}})
    driven.canvas.draw()
    driven.canvas._process_events()
    driven.run()
    assert (driven.canvas.draw() != before).any() and driven.view.idle


def test_nobody_draws(driven: Driven) -> None:
    """The page shows something else: after one bitmap that waits nothing is traced."""
    driven.run(draws=False)
    assert driven.drive.pending and not driven.loop.due
    steps = driven.view.session.steps
    driven.drive.wake()
    assert not driven.loop.due and driven.view.session.steps == steps


def test_closed_amid_work(driven: Driven) -> None:
    while driven.view.view.renderer is None:
        driven.loop.turn()
        if driven.drive.pending:  # the first picture, which comes before
            driven.canvas.draw()
    driven.canvas.close()
    assert driven.view.closed
    driven.run()
    assert not driven.loop.due and driven.drive.view.advance() is None
