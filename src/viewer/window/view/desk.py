"""The desk: everything that panels and commands see and act on."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.window.view.markers import Markers
from viewer.window.view.motion import Motion
from viewer.window.view.stage import Stage
from viewer.window.view.studies import Studies
from viewer.window.view.view import View


@dataclass(frozen=True)
class Desk:
    """The view, what comes into it, what moves in it, the markers of its lights, and what looks inside."""

    view: View
    stage: Stage
    motion: Motion
    markers: Markers
    studies: Studies
