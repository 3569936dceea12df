"""The clock of animations: it loops or ends, steps by whole frames, and goes at any speed."""

from __future__ import annotations

import pytest

from raystream.viewport.editing import FRAME, AnimationPlayer


def player(seconds: float = 0.0, loop: bool = True, speed: float = 1.0) -> AnimationPlayer:
    made = AnimationPlayer()
    made.playing, made.seconds, made.loop, made.speed = True, seconds, loop, speed
    return made


@pytest.mark.parametrize(("speed", "expected"), [(1.0, 0.25), (0.5, 1.875), (2.0, 1.0)])
def test_a_loop_goes_on_at_the_first_moment(speed: float, expected: float) -> None:
    made = player(1.5, speed=speed)
    made.advance(0.75, 2.0)
    assert made.seconds == expected and made.playing and made.due


def test_without_a_loop_the_last_pose_stays() -> None:
    made = player(1.5, loop=False)
    made.advance(0.25, 2.0)
    assert made.seconds == 1.75 and made.playing
    made.advance(0.5, 2.0)
    assert made.seconds == 2.0 and not made.playing and made.due
    made.toggle(2.0)
    assert made.playing and made.seconds == 0.0, "from the beginning"


def test_pausing_keeps_the_moment() -> None:
    made = player(1.25)
    made.toggle(2.0)
    assert not made.playing and made.seconds == 1.25
    made.toggle(2.0)
    assert made.playing and made.seconds == 1.25
    made.restart()
    assert (made.playing, made.seconds, made.due) == (False, 0.0, False)


@pytest.mark.parametrize(
    ("loop", "start", "frames", "expected"),
    [(True, 0, 1, 1), (True, 0, -1, 30), (True, 30, 1, 0), (False, 0, -1, 0), (False, 30, 1, 30), (False, 3, 4, 7)],
)
def test_steps_are_whole_frames(loop: bool, start: int, frames: int, expected: int) -> None:
    """Of an animation of one second, whose frames are 0 to 30."""
    made = player((start + 0.3) * FRAME, loop)
    made.step(frames, 1.0)
    assert made.seconds == expected * FRAME and not made.playing


def test_a_moment_is_due_once() -> None:
    made = player()
    made.seek(0.5)
    assert made.due and made.take() == 0.5 and not made.due
