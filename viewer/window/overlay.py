"""What lies over the picture: the status line, messages, progress of loading, statistics, and the help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import ImVec2, imgui

from viewer.window import theme
from viewer.window.theme import color, units
from viewer.window.widgets import fact, grouped, memory, rate

if TYPE_CHECKING:
    from viewer.window.app import App

QUIET = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_inputs
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.always_auto_resize
)
STATISTICS_WIDTH = 210.0
HELP_COLUMN = 300.0  # width of a column of the help
LEAST_STATUS = 320.0  # a narrower window has no status line


def draw_overlays(app: App) -> None:
    """All of them, each where it has something to say."""
    size = imgui.get_io().display_size
    if min(size.x, size.y) < units(40):
        return
    if app.panels_visible and size.x >= units(LEAST_STATUS):
        _status(app, size)
    if app.stats_visible:
        _statistics(app, size)
    _messages(app, size)
    if app.help_visible:
        _help(app, size)
