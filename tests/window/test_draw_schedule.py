"""When the window is drawn, by a clock that is told: no window, no OpenGL."""

from __future__ import annotations

import pytest

from raystream.renderer.preview.scheduler import (
    DRAWING,
    DRAWN_FILLING,
    DRAWN_REFINING,
    FIRST_DRAW,
    MIN_TRACING,
    TURN,
)
from raystream.window.app import DrawSchedule


def after(seconds: float, draws: int = 60) -> DrawSchedule:
    """A schedule after many draws that took so long; the last began at 100 s."""
    made = DrawSchedule()
    for _ in range(draws):
        made.note(100.0, seconds)
    return made


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.1, 10.0])
def test_tracing_has_the_rest_of_a_turn(seconds: float) -> None:
    made = after(seconds)
    assert made.tracing == pytest.approx(max(MIN_TRACING, TURN - seconds), rel=1e-3)
    assert made.cost == pytest.approx(seconds, rel=1e-3)


def test_one_slow_draw_takes_little_of_the_next_turns() -> None:
    made = DrawSchedule()
    assert made.tracing == TURN - FIRST_DRAW
    made.note(0.0, 10.0)  # the first, of a driver that compiles
    assert TURN - made.tracing < 0.02


@pytest.mark.parametrize("appearing", [True, False])
@pytest.mark.parametrize("seconds", [0.001, 0.2])
def test_a_picture_in_progress_is_looked_at_now_and_then(seconds: float, appearing: bool) -> None:
    """No more often than draws leave two thirds of the time to it."""
    made, rest = after(seconds), DRAWN_FILLING if appearing else DRAWN_REFINING
    rest = max(rest, made.cost / DRAWING)
    due = [made.due(100.0 + passed, False, True, appearing, False) for passed in (0.9 * rest, 1.1 * rest)]
    assert due == [False, True]
    assert not made.due(200.0, False, False, appearing, False)  # nothing is in progress


@pytest.mark.parametrize("seconds", [0.001, 0.2])
def test_what_the_hand_does_is_drawn_at_once_unless_a_preview_is_traced(seconds: float) -> None:
    """A preview shows it soon, and a draw of the old picture would take the time that it needs."""
    made, rest = after(seconds), max(DRAWN_REFINING, seconds / DRAWING)
    assert made.due(100.001, True, True, False, False)
    assert not made.due(100.0 + 0.9 * rest, True, True, False, True)
    assert made.due(100.0 + 1.1 * rest, True, True, False, True)
    assert made.due(100.0 + 1.1 * rest, True, False, False, True)
