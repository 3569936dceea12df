"""The desk: everything that panels and commands see and act on."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.viewport.light_markers import Markers
from viewer.viewport.object_editing import Motion
from viewer.viewport.scene_loader import Stage
from viewer.viewport.studies.debug_views import Studies
from viewer.viewport.viewport import View


@dataclass(frozen=True)
class Desk:
    """The view, what comes into it, what moves in it, the markers of its lights, and what looks inside."""

    view: View
    stage: Stage
    motion: Motion
    markers: Markers
    studies: Studies
