"""When the window is drawn, and how long is traced in between: pure arithmetic, without OpenGL and a clock."""

from __future__ import annotations

from raystream.renderer.preview.scheduler import (
    DRAWING,
    DRAWN_FILLING,
    DRAWN_REFINING,
    FIRST_DRAW,
    LEAST_TRACING,
    SMOOTHED_DRAWS,
    TURN,
)


class DrawSchedule:
    """Draws take a part of the time, and tracing the rest. cost : seconds of a draw, of the last ones."""

    def __init__(self) -> None:
        self.cost = FIRST_DRAW
        self._steady = FIRST_DRAW  # the same without the few that take longer than a turn
        self._drawn = 0.0  # when the last one began

    @property
    def tracing(self) -> float:
        """Seconds of tracing in a turn."""
        return max(LEAST_TRACING, TURN - self._steady)

    def due(self, now: float, changed: bool, busy: bool, appearing: bool, traced: bool) -> bool:
        """Whether the window is drawn in this turn, though there is no new picture. now : seconds since any moment.

        changed : something beside the picture looks otherwise. busy : a picture or a scene is in progress;
        ``appearing``: one that is shown as it comes, tile by tile. traced : a preview in motion is, and a draw
        would take the time that it needs.
        """
        least = max(DRAWN_FILLING if appearing else DRAWN_REFINING, self.cost / DRAWING)
        return (changed and not traced) or ((changed or busy) and now - self._drawn >= least)

    def note(self, began: float, seconds: float) -> None:
        """A draw that began then took so long."""
        self._drawn = began
        self._steady += SMOOTHED_DRAWS * (min(seconds, TURN) - self._steady)
        self.cost += SMOOTHED_DRAWS * (seconds - self.cost)
