"""The context of a viewport: everything that panels and commands see and act on."""

from __future__ import annotations

from dataclasses import dataclass

from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.light_markers import LightMarkers
from raystream.viewport.object_editing import ObjectEditing
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import Viewport


@dataclass(frozen=True)
class ViewportContext:
    """The viewport, its scene loader, object editing, the markers of lights, and the debug views."""

    view: Viewport
    scene_loader: SceneLoader
    editing: ObjectEditing
    markers: LightMarkers
    debug_views: DebugViews
