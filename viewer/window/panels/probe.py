"""The pixel probe's panel: the history of one ray as a table."""

from __future__ import annotations

from dataclasses import dataclass, field

from raystream.viewport.debug_views.false_color import Color, state_colors
from raystream.viewport.debug_views.probe import COLUMNS, Probe
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import theme
from raystream.window.panels.overlay import below
from raystream.window.panels.theme import units
from raystream.window.panels.widgets import grouped

SIZE = (620.0, 230.0)


@dataclass
class _View:
    """State of the probe on show: its table, as of a number of rows, and the colours of the states."""

    probe: Probe | None = None
    colors: dict[str, Color] = field(default_factory=dict)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    longest: tuple[int, ...] = (0,) * len(COLUMNS)  # characters in each column
    rectangle: tuple[float, float, float, float] | None = None  # left, top, right, bottom


_view = _View()


def covered(context: ViewportContext) -> tuple[float, float, float, float] | None:
    """The panel's rectangle as last drawn: left, top, right and bottom in the window; None where it is not shown."""
    return _view.rectangle if context.debug_views.probe is not None and context.view.overlays.panels.on else None


def draw_probe(context: ViewportContext) -> None:
    """The panel, where a ray has been probed."""
    probe = context.debug_views.probe
    if probe is None:
        _view.probe = _view.rectangle = None
        return
    if _view.probe is not probe:
        _view.probe, _view.rows, _view.longest = probe, [], (0,) * len(COLUMNS)
        _view.colors = state_colors(probe.states)
    more = probe.table(len(_view.rows))  # the history grows
    _view.rows += more
    _view.longest = tuple(max(n, *(len(row[k]) for row in more), 0) for k, n in enumerate(_view.longest))
    size, room = imgui.get_io().display_size, units(theme.ROOM)
    left, right = theme.free(True, context.debug_views.inspector is not None)
    bottom = size.y - room - units(theme.STATUS) - below(context)
    width, height = min(units(SIZE[0]), right - left - 2 * room), max(1.0, min(units(SIZE[1]), bottom - room))
    when = imgui.Cond_.always if theme.narrow(size.x) else imgui.Cond_.appearing
    imgui.set_next_window_pos(ImVec2(left + room, bottom), when, ImVec2(0, 1))
    imgui.set_next_window_size(ImVec2(width, height), when)
    expanded, stays_open = imgui.begin("Pixel probe", True)
    corner, extent = imgui.get_window_pos(), imgui.get_window_size()
    _view.rectangle = (corner.x, corner.y, corner.x + extent.x, corner.y + extent.y)
    if expanded:
        _summary(probe)
        _table()
    imgui.end()
    if not stays_open:
        context.view.actions.perform("probe.show")


def _summary(probe: Probe) -> None:
    x, y = probe.pixel
    imgui.text_unformatted(f"pixel ({x}, {y}) of {probe.size[0]} x {probe.size[1]}")
    imgui.same_line()
    imgui.text_disabled(
        f"{grouped(len(probe.rows))} passes, {grouped(probe.steps)} steps, {grouped(probe.tests)} tests"
    )
    imgui.same_line()
    imgui.text_unformatted(surface_text(probe))


def surface_text(probe: Probe) -> str:
    """The pixel's contents, in words."""
    if probe.surface is not None:
        return probe.surface.text()
    return "nothing" if probe.complete else "under way ..."


def _table() -> None:
    flags = (
        imgui.TableFlags_.scroll_y
        | imgui.TableFlags_.scroll_x
        | imgui.TableFlags_.row_bg
        | imgui.TableFlags_.borders_inner_v
        | imgui.TableFlags_.resizable
        | imgui.TableFlags_.sizing_fixed_fit
    )
    # ImGui fits columns to the rows that are drawn first, and then leaves them: a table of its own for other widths.
    if not imgui.begin_table(f"history {_view.longest}", len(COLUMNS), flags):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    with theme.font("numbers"):
        wide = [imgui.calc_text_size("0" * count).x for count in _view.longest]
    for name, width in zip(COLUMNS, wide, strict=True):
        fixed = imgui.TableColumnFlags_.width_fixed
        imgui.table_setup_column(name, fixed, max(width, imgui.calc_text_size(name).x))
    imgui.table_headers_row()
    with theme.font("numbers"):
        clipper = imgui.ListClipper()
        clipper.begin(len(_view.rows))
        while clipper.step():
            for row in range(clipper.display_start, clipper.display_end):
                _row(_view.rows[row])
        clipper.end()
    imgui.end_table()


def _row(texts: tuple[str, ...]) -> None:
    imgui.table_next_row()
    for column, text in enumerate(texts):
        imgui.table_next_column()
        if COLUMNS[column] in ("state", "next") and text in _view.colors:
            imgui.text_colored(theme.legible(_view.colors[text]), text)
        else:
            imgui.text_unformatted(text)
