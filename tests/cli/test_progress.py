"""The time that is left, from the pace of the work; the clock is handed in."""

from __future__ import annotations

import pytest

from raystream.base.errors import duration
from raystream.cli.progress import WINDOW, TimeLeft


def test_time_left_by_the_pace() -> None:
    left = TimeLeft()
    assert left.seconds() is None
    left.add(100.0, 0.0)
    left.add(100.5, 0.05)
    assert left.seconds() is None  # too early to tell
    left.add(102.0, 0.2)
    assert left.seconds() == pytest.approx(8.0)
    left.add(110.0, 1.0)
    assert left.seconds() == 0.0


def test_a_resumed_render_began_in_the_middle() -> None:
    left = TimeLeft()
    for now in range(5):
        left.add(now, 0.5 + 0.05 * now)
    assert left.seconds() == pytest.approx(6.0)  # 0.3 at 0.05 a second


def test_other_work_begins_anew() -> None:
    left = TimeLeft()
    for now, share in ((0, 0.0), (10, 0.9), (11, None), (12, 0.0), (13, 0.01)):
        left.add(now, share)
    assert left.seconds() == pytest.approx(99.0)
    left.add(13.5, 0.005)
    assert left.seconds() is None
    left.add(20.0, 0.005)
    assert left.seconds() is None  # nothing moves


def test_the_pace_is_that_of_the_last_seconds() -> None:
    left = TimeLeft()
    for now in range(101):
        left.add(now, 0.001 * now if now < 60 else 0.06 + 0.01 * (now - 60))
    assert left.seconds() == pytest.approx((1 - 0.46) / 0.01) and len(left._history) <= WINDOW + 1


def test_durations() -> None:
    found = [duration(seconds) for seconds in (0.2, 8.4, 99.4, 99.6, 720, 5990, 12_000)]
    assert found == ["0 s", "8 s", "99 s", "2 min", "12 min", "1 h 40 min", "3 h 20 min"]
