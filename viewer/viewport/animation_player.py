"""The clock of a scene's animation: plays, pauses, loops, steps by frames, at any speed."""

from __future__ import annotations

from raystream.options.table import OPTIONS

FRAME = 1.0 / OPTIONS["fps"].value.default  # seconds of a step
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)  # multiples of the file's, that are offered


class AnimationPlayer:
    """The time of the animation on show.

    playing : whether time goes by. loop : begin again behind the end; else the last pose stays.
    speed   : multiple of the file's. seconds : the animation's time. due : whether it has changed since `take`.
    """

    def __init__(self) -> None:
        self.playing, self.loop, self.speed = False, True, 1.0
        self.seconds, self.due = 0.0, False

    def restart(self) -> None:
        """Another scene: its first moment, at rest; loop and speed stay."""
        self.playing, self.seconds, self.due = False, 0.0, False

    def toggle(self, duration: float) -> None:
        """Play or pause; from the first moment on where it had come to its end."""
        self.playing = not self.playing
        if self.playing and not self.loop and self.seconds >= duration:
            self.seek(0.0)

    def seek(self, seconds: float) -> None:
        """Go to a moment."""
        self.seconds, self.due = seconds, True

    def step(self, frames: int, duration: float) -> None:
        """Pause, and go ``frames`` frames on from (back, if negative) the nearest one; beyond an end: stop there,
        or in a loop go on from the other end."""
        self.playing = False
        last = int(duration / FRAME + 1e-6)
        frame = round(self.seconds / FRAME) + frames
        frame = frame % (last + 1) if self.loop else min(max(frame, 0), last)
        self.seek(frame * FRAME)

    def advance(self, elapsed: float, duration: float) -> None:
        """Time goes by: ``elapsed`` seconds."""
        seconds = self.seconds + elapsed * self.speed
        if seconds >= duration and not self.loop:
            self.playing, seconds = False, duration
        self.seek(seconds % duration if self.loop and duration > 0 else seconds)

    def take(self) -> float:
        """The moment to show, which is due no more."""
        self.due = False
        return self.seconds
