"""Overlays of the picture: the status line, messages, progress of loading, statistics, and the help."""

from __future__ import annotations

import math
from types import SimpleNamespace

from raystream.base import errors
from raystream.viewport.host import ViewerHost
from raystream.viewport.keymap import HelpLine
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import theme
from raystream.window.panels.theme import color, units
from raystream.window.panels.widgets import duration, fact, grouped, memory, noise, press, rate

_BARE = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
)
QUIET = _BARE | imgui.WindowFlags_.no_inputs | imgui.WindowFlags_.always_auto_resize
TIMELINE = _BARE | imgui.WindowFlags_.no_bring_to_front_on_focus
TIMELINE_WIDTH = 560.0
STATISTICS_WIDTH = 210.0
HELP_COLUMN = 300.0  # width of a column of the help
MAX_LINE = 560.0  # of a message, before it breaks
MIN_STATUS = 320.0  # a narrower window has no status line


def draw_overlays(context: ViewerHost) -> None:
    """All of them, each where it has something to say."""
    size = imgui.get_io().display_size
    if min(size.x, size.y) < units(40):
        return
    if context.view.overlays.panels.on and size.x >= units(MIN_STATUS):
        _status(context, size)
    statistics = context.view.overlays.statistics.on
    if theme.narrow(size.x) and (context.view.overlays.panels.on or talking(context)):
        statistics = False  # there is no room for both
    _messages(context, _statistics(context, size) if statistics else 0.0)
    if context.view.overlays.help.on:
        _help(context, size)


def talking(context: ViewerHost) -> bool:
    """Whether there is something to say at the top."""
    return bool(context.scene_loader.loading is not None or context.view.compiling or context.view.message.text)


def below(context: ViewerHost) -> float:
    """The height that panels leave free at the bottom of a narrow window for messages, as last drawn."""
    return said_height(context) if theme.narrow(imgui.get_io().display_size.x) else 0.0


def said_height(context: ViewerHost) -> float:
    """The height of the message, as last drawn."""
    return _said.height if talking(context) else 0.0


def said_below(context: ViewerHost) -> bool:
    """Whether it stands at the bottom: at the top are panels."""
    return context.view.overlays.panels.on and theme.narrow(imgui.get_io().display_size.x)


_said = SimpleNamespace(height=0.0)  # the last message, as drawn


# -- status ----------------------------------------------------------------------------------------------------------


def status(context: ViewerHost) -> list[str]:
    """The parts of the status line: how far the picture is, its samples and their noise, and the time that is left."""
    session = context.view.session
    if context.view.renderer is None:
        return ["no scene"]
    film = session.convergence.film.buffer is not None
    if context.view.paused:
        parts = ["paused"]
    elif session.complete:
        parts = ["complete" if session.converged else "refining"]
    else:
        parts = ["sharpening"]
    if session.complete and film:
        goal = "" if session.converged else f" of {grouped(session.stop.spp)}"
        parts.append(f"{grouped(session.samples)}{goal} sample" + ("" if session.samples == 1 and not goal else "s"))
        if math.isfinite(session.error):
            parts.append(f"noise {noise(session.error)}")
        left = session.convergence.seconds_left
        if not (session.converged or context.view.paused) and math.isfinite(left):
            parts.append(f"about {errors.duration(left)} left")
    if context.debug_views.counting is not None:
        parts.append(f"heat map {100 * context.debug_views.counting:.0f} %")
    return parts


def _status(context: ViewerHost, size: ImVec2) -> None:
    flags = QUIET & ~imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_bring_to_front_on_focus
    bar = theme.styled(
        window_padding=ImVec2(units(12), units(3)),
        window_rounding=0.0,
        window_border_size=0.0,
        window_min_size=ImVec2(1, 1),
    )
    extent = ImVec2(size.x, units(theme.STATUS))
    with bar, theme.window("##status", ImVec2(0, size.y), extent, (0, 1), 0.78, flags) as drawn:
        if not drawn:
            return
        hint = next((f"{key}  help" for key in context.view.keymap.keys("help")[:1]), "")
        end = size.x - units(12) - (imgui.calc_text_size(hint).x + units(12) if hint else 0.0)
        for index, text in enumerate(status(context)):
            if index and imgui.get_item_rect_max().x + units(30) + imgui.calc_text_size(text).x > end:
                break
            if index:
                imgui.same_line(0, units(10))
                imgui.text_disabled("\u00b7")
                imgui.same_line(0, units(10))
            if index == 0:
                imgui.text_colored(color(theme.ACCENT), text)
            else:
                imgui.text_disabled(text)
        if hint:
            imgui.same_line(size.x - imgui.calc_text_size(hint).x - units(12))
            imgui.text_disabled(hint)


def _statistics(context: ViewerHost, size: ImVec2) -> float:
    """Their height."""
    room = units(theme.ROOM)
    imgui.set_next_window_size_constraints(ImVec2(units(STATISTICS_WIDTH), 0), ImVec2(units(STATISTICS_WIDTH), size.y))
    _, right = theme.free(False, context.view.overlays.panels.on and context.debug_views.inspector is not None)
    with theme.window("##statistics", ImVec2(right - room, room), None, (1, 0), 0.82, QUIET) as drawn:
        for name, value in figures(context) if drawn else ():
            fact(name, value)
        return imgui.get_window_size().y


def figures(context: ViewerHost) -> list[tuple[str, str]]:
    """Rows of the statistics: name and value."""
    session = context.view.session
    width, height = session.size
    rows = [
        ("samples/s", rate(session.scheduler.rate)),
        ("picture", f"{1000 * session.seconds:.1f} ms"),
        ("resolution", f"{round(width * session.scale)} x {round(height * session.scale)}"),
        ("scale", f"{100 * session.scale:.0f} %"),
        ("samples", grouped(session.samples)),
    ]
    if session.convergence.film.buffer is not None:
        rows += [("time", duration(session.convergence.seconds)), ("noise", noise(session.error))]
    if context.view.renderer is not None and context.view.renderer.device.concurrent:
        rows.append(("waits", grouped(session.waits)))  # a software driver is waited for: it is the host
    if context.view.renderer is not None:
        parts = context.view.renderer.gpu_scene.resources.bytes()
        rows += [
            ("triangles", grouped(int(context.view.renderer.prepared.starts[-1]))),
            ("textures", memory(sum(parts.values()))),
        ]
    return rows


# -- messages --------------------------------------------------------------------------------------------------------


def _messages(context: ViewerHost, statistics: float) -> None:
    """Loading, compiling and the message line, one below the other at the top, between the panels.

    statistics : height of the figures at the upper right.
    """
    room = units(theme.ROOM)
    left, right = theme.free(
        context.view.overlays.panels.on, context.view.overlays.panels.on and context.debug_views.inspector is not None
    )
    top = room
    if statistics:
        beside = right - units(STATISTICS_WIDTH) - room
        if beside - left >= units(theme.MIN_FREE):
            right = beside
        else:
            top += statistics + units(6)
    size, lowest = imgui.get_io().display_size, said_below(context)
    if lowest:
        top = size.y - units(theme.STATUS) - _said.height
    began = top
    middle = (left + right) / 2
    width = max(1.0, min(units(MAX_LINE), right - left - 2 * room))
    if context.scene_loader.loading is not None:
        text, fraction = context.scene_loader.loading
        cancels = f"{context.view.keymap.text('escape')} cancels"
        top = _progress("loading", text, fraction, cancels, middle, top, min(width, units(360)))
    if context.view.compiling:
        text = f"compiling {context.view.compiling}"
        top = _progress("compiling", text, None, "", middle, top, min(width, units(360)))
    if context.view.message.text:
        ink = theme.ERROR if context.view.message.is_error else theme.TEXT
        top = _line("message", context.view.message.text, ink, middle, top, width)
    _said.height = top - began
    if context.view.hint and not context.view.overlays.help.on and not lowest:
        bottom = (
            size.y - room - (units(theme.STATUS) if context.view.overlays.panels.on else 0.0) - timeline_room(context)
        )
        line = imgui.get_text_line_height() + 2 * imgui.get_style().window_padding.y
        _line("hint", context.view.hint, theme.TEXT, middle, bottom - line, width)


def _line(name: str, text: str, ink: tuple[float, float, float], middle: float, top: float, width: float) -> float:
    """One or more lines of text; the next one's top."""
    padding = imgui.get_style().window_padding
    inner = max(1.0, width - 2 * padding.x)
    wide = min(inner, imgui.calc_text_size(text).x + 1)
    border = {"border": color(theme.ERROR, 0.55)} if ink == theme.ERROR else {}
    position, extent = ImVec2(middle, top), ImVec2(wide + 2 * padding.x, 0)
    with theme.styled(**border), theme.window(f"##{name}", position, extent, (0.5, 0), 0.94, QUIET) as drawn:
        if drawn:
            imgui.push_text_wrap_pos(padding.x + wide + 1)
            with theme.styled(text=color(ink)):
                imgui.text_unformatted(text)
            imgui.pop_text_wrap_pos()
        return top + imgui.get_window_size().y + units(6)


def _progress(
    name: str, text: str, fraction: float | None, hint: str, middle: float, top: float, width: float
) -> float:
    """Something that goes on, with a bar that moves; the next one's top."""
    position = ImVec2(middle, top)
    with theme.window(f"##{name}", position, ImVec2(width, 0), (0.5, 0), 0.94, QUIET) as drawn:
        if drawn:
            _fitting(text)
            # Without a known end the bar wanders.
            imgui.progress_bar(-imgui.get_time() if fraction is None else fraction, ImVec2(-1, units(5)), "")
            if hint:
                imgui.text_disabled(hint)
        return top + imgui.get_window_size().y + units(6)


def _fitting(text: str) -> None:
    """Text that loses its middle where it is too long for the line: a path's ends say most."""
    room = imgui.get_content_region_avail().x
    fitted, keep = text, len(text)
    while keep > 8 and imgui.calc_text_size(fitted).x > room:
        keep -= max(1, keep // 16)
        fitted = f"{text[: keep // 3]} ... {text[-(keep - keep // 3) :]}"
    imgui.text_unformatted(fitted)


# -- help ------------------------------------------------------------------------------------------------------------


def _help(context: ViewerHost, size: ImVec2) -> None:
    room = units(2 * theme.ROOM)
    width, height = size.x - 2 * room, size.y - 2 * room
    groups = context.view.keymap.help_lines()
    columns = max(1, min(int(width / units(HELP_COLUMN)), 4, len(groups)))
    wide = max(1.0, min(width, columns * units(HELP_COLUMN) + units(24)))
    imgui.set_next_window_size_constraints(ImVec2(wide, 0), ImVec2(wide, max(1.0, height)))
    middle = ImVec2(size.x / 2, size.y / 2)
    with theme.window("##help", middle, ImVec2(wide, 0), (0.5, 0.5), 0.98) as drawn:
        if not drawn:
            return
        with theme.font("strong"):
            imgui.text_unformatted("Keys")
        imgui.same_line()
        closing = [key for name in ("help", "escape") for key in context.view.keymap.keys(name)[:1]]
        imgui.text_disabled(" or ".join(closing) + " closes")
        imgui.spacing()
        if imgui.begin_table("keys", columns, imgui.TableFlags_.sizing_stretch_same):
            _help_columns(context, groups, columns)
            imgui.end_table()


def _help_columns(context: ViewerHost, groups: list[tuple[str, list[HelpLine]]], columns: int) -> None:
    """Whole groups, in order, into columns of about the same height."""
    total = sum(len(lines) + 2 for _, lines in groups)
    imgui.table_next_row()
    imgui.table_next_column()
    filled, column = 0, 0
    for group, lines in groups:
        if column < columns - 1 and filled + len(lines) / 2 > total * (column + 1) / columns:
            column += 1
            imgui.table_next_column()
        filled += len(lines) + 2
        imgui.separator_text(group)
        if imgui.begin_table(group, 2, imgui.TableFlags_.sizing_fixed_fit):
            widest = max(imgui.calc_text_size(line.keys).x for line in lines)
            wide = min(max(widest, units(64)), imgui.get_content_region_avail().x * 0.42)
            imgui.table_setup_column("key", imgui.TableColumnFlags_.width_fixed, wide)
            imgui.table_setup_column("what", imgui.TableColumnFlags_.width_stretch)
            for line in lines:
                imgui.table_next_row()
                imgui.table_next_column()
                works = line.action is None or context.view.actions.available(line.action)
                with theme.styled(text=color(theme.ACCENT if works else theme.DIM)):
                    imgui.text_wrapped(line.keys)
                imgui.table_next_column()
                with theme.styled(text=color(theme.TEXT if works else theme.DIM)):
                    imgui.text_wrapped(line.help)
            imgui.end_table()
        imgui.spacing()


# -- the timeline -----------------------------------------------------------------------------------------------------


def draw_timeline(context: ViewerHost) -> None:
    """Play, and a bar to scrub, below the picture of an animated scene."""
    if not timeline_room(context):
        return
    size = imgui.get_io().display_size
    start, end = theme.free(True, context.debug_views.inspector is not None)
    width = min(units(TIMELINE_WIDTH), end - start - 2 * units(theme.ROOM))
    bottom = size.y - units(theme.STATUS) - units(theme.ROOM)
    position, extent = ImVec2((start + end) / 2, bottom), ImVec2(width, _height())
    with theme.window("##timeline", position, extent, (0.5, 1), 0.82, TIMELINE) as drawn:
        if drawn:
            text, action, *state = play_button(context)
            press(context, text, action, units(64), *state)
            imgui.same_line()
            imgui.set_next_item_width(-1)
            scrub(context, "##timeline.time")


def timeline_room(context: ViewerHost) -> float:
    """The height that the timeline takes above the status line; 0 where it is not shown."""
    wide = imgui.get_io().display_size.x
    visible = context.view.overlays.panels.on and is_animated(context) and not context.view.overlays.help.on
    return _height() + units(theme.ROOM) if visible and not theme.narrow(wide) else 0.0


def _height() -> float:
    return imgui.get_frame_height() + 2 * imgui.get_style().window_padding.y


def is_animated(context: ViewerHost) -> bool:
    """Whether the scene on show has an animation."""
    scene = context.view.scene
    return scene is not None and scene.duration > 0


def play_button(context: ViewerHost) -> tuple[str, str, bool, bool]:
    """The button that plays and pauses, see `row`."""
    playing = context.editing.animation.player.playing
    return "Pause" if playing else "Play", "animation.play", playing, is_animated(context)


def scrub(context: ViewerHost, name: str) -> None:
    """A slider over the animation's time."""
    editing = context.editing
    duration = context.view.scene.duration if context.view.scene is not None else 0.0
    text = f"%.2f of {duration:.2f} s"
    changed, seconds = imgui.slider_float(name, editing.animation.player.seconds, 0.0, duration, text)
    if changed:
        editing.animation.seek(seconds)
