"""The stream inspector's panel: a stream as a picture with its legend, steps, the passes as a plot, and totals."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.renderer.device.tuning import tuning
from raystream.viewport.debug_views.false_color import Color, Label, Legend, Ramp
from raystream.viewport.debug_views.inspector import Inspector, stream_words
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, imgui, implot
from raystream.window.panels import theme
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.overlay import below
from raystream.window.panels.theme import units
from raystream.window.panels.widgets import fact, grouped, label, rate, row

HEIGHT = 880.0  # at first
PLOT_HEIGHT = 150.0
MAX_HEIGHT = 0.75  # of a picture's width
RAMP_HEIGHT = 10.0
MIN_LEGEND = 220.0  # width, in a window that fits itself to it
_NO_PASSES = {"passes": 0, "calls": 0, "seconds": 0.0}


@dataclass
class _View:
    """State of the inspector on show: its channel, that one's picture on the device, the plot's columns."""

    inspector: Inspector | None = None
    channel: str = "state"
    picture: NDArray[np.uint8] | None = None
    texture: moderngl.Texture | None = None
    bars: dict[str, tuple[NDArray, NDArray]] = field(default_factory=dict)
    drawn: tuple[int, int] = (0, -1)


_view = _View()


def draw_inspector(context: ViewportContext, draw: ImguiDraw) -> None:
    """The panel, where an inspector is at work."""
    inspector = context.debug_views.inspector
    if inspector is None:
        return
    global _view
    if _view.inspector is not inspector:
        previous, _view = _view, _View(inspector, _view.channel)
        if previous.texture is not None and previous.texture.ctx is draw.context:
            previous.texture.release()
    view = _view
    size, room = imgui.get_io().display_size, units(theme.ROOM)
    width = min(units(theme.INSPECTOR_WIDTH), size.x - 2 * room)
    height = max(1.0, size.y - 2 * room - units(theme.STATUS) - below(context))
    when = imgui.Cond_.always if theme.narrow(size.x) else imgui.Cond_.appearing
    imgui.set_next_window_pos(ImVec2(size.x - room, room), when, ImVec2(1, 0))
    imgui.set_next_window_size(ImVec2(width, min(height, units(HEIGHT))), when)
    least = ImVec2(min(width, units(240)), min(height, units(160)))
    imgui.set_next_window_size_constraints(least, ImVec2(max(width, size.x * 0.6), height))
    expanded, stays_open = imgui.begin("Stream inspector", True)
    if expanded:
        _draw(context, draw, inspector, view)
    imgui.end()
    if not stays_open:
        context.view.actions.perform("inspector.show")


def _draw(context: ViewportContext, draw: ImguiDraw, inspector: Inspector, view: _View) -> None:
    state = False, not inspector.complete
    steps = ("Step", "inspector.step", *state), ("Run", "inspector.run", *state)
    row(context, *steps, ("Restart", "inspector.restart"))
    served = inspector.passes[-1] if inspector.passes else None
    text = f"pass {served.number}: {served.kernel}, {grouped(served.active)} rays" if served else "no pass yet"
    fact(text, "complete" if inspector.complete else f"{grouped(inspector.active)} left")
    imgui.text_wrapped(f"the window's picture: {machine_text(context)}")
    _channels(inspector, view)
    _picture(draw, inspector, view)
    draw_legend(inspector.show(view.channel).legend)
    imgui.spacing()
    _plot(inspector, view)
    _totals(inspector)


def machine_text(context: ViewportContext) -> str:
    """How the picture on show is drawn: program, machine, resolution, speed."""
    renderer, session = context.view.require_scene()[0], context.view.session
    settings, (width, height) = renderer.settings, session.size
    text = f"{settings.program} by {settings.machine}"
    if settings.machine == "multipass":
        tuned = tuning(renderer.device.driver, renderer.device.software_form)["fuse"]
        fuse = tuned if settings.fuse == "auto" else settings.fuse
        text += f" ({settings.policy}, fuse {fuse}, unroll {settings.unroll})"
    scale = f" at {100 * session.scale:.0f} %" if session.scale < 1 else ""
    return f"{text}, {width} x {height}{scale}, {rate(session.scheduler.rate)}"


def _channels(inspector: Inspector, view: _View) -> None:
    channels = inspector.channels
    if view.channel not in channels:
        view.channel = next(iter(channels))
    label("stream", 56)
    if imgui.begin_combo("##stream", view.channel, imgui.ComboFlags_.height_large):
        group = ""
        for name, channel in channels.items():
            if channel.group != group:
                group = channel.group
                imgui.separator_text(group)
            if imgui.selectable(name, name == view.channel)[0]:
                view.channel = name
            about = ", ".join(text for text in (channel.about, channel.unit) if text)
            if about and imgui.is_item_hovered():
                imgui.set_tooltip(about)
        imgui.end_combo()


def _picture(draw: ImguiDraw, inspector: Inspector, view: _View) -> None:
    """Each element is a block of pixels: ImGui would smooth it, and is given a picture of all pixels."""
    picture = inspector.show(view.channel).picture
    height, width = picture.shape[:2]
    wide = imgui.get_content_region_avail().x * min(1.0, MAX_HEIGHT * width / height)
    corner, density = imgui.get_cursor_screen_pos(), imgui.get_io().display_framebuffer_scale.x
    size = max(1, round(wide * density)), max(1, round(wide * height / width * density))
    if view.picture is not picture or view.texture is None or view.texture.size != size:
        columns, rows = (
            np.arange(after) * before // after for after, before in zip(size, (width, height), strict=True)
        )
        view.picture, view.texture = picture, draw.upload(view.texture, picture[rows[:, None], columns])
    imgui.image(draw.register(view.texture), ImVec2(wide, wide * height / width))
    if imgui.is_item_hovered():
        mouse = imgui.get_mouse_pos()
        x = min(width - 1, max(0, int((mouse.x - corner.x) / wide * width)))
        y = min(height - 1, max(0, int((mouse.y - corner.y) / wide * width)))
        _hover(inspector, view.channel, x, y)


def _hover(inspector: Inspector, channel: str, x: int, y: int) -> None:
    values, valid = inspector.values(channel)
    value = values[y, x]
    if not valid[y, x]:
        text = "not written"
    elif channel in ("state", "return"):
        text = ("done", *inspector.colors)[int(value)]
    else:
        text = ", ".join(f"{component:.6g}" for component in np.atleast_1d(value))
    imgui.set_tooltip(f"{'ray' if inspector.by_ray(channel) else 'element'} ({x}, {y}): {text}")


# -- legend ----------------------------------------------------------------------------------------------------------


def draw_legend(legend: Legend) -> None:
    """The legend of a picture's colours: ramps as bars with their ends, labels as a flow of squares with text."""
    if legend.title and (legend.ramps or legend.labels):
        imgui.text_disabled(legend.title)
    for ramp in legend.ramps:
        _ramp(ramp)
    right = imgui.get_cursor_pos_x() + max(imgui.get_content_region_avail().x, units(MIN_LEGEND))
    for index, entry in enumerate(legend.labels):
        _square(entry, right, first=index == 0)


def _packed(rgb: Color) -> int:
    return imgui.color_convert_float4_to_u32(theme.color((rgb[0] / 255, rgb[1] / 255, rgb[2] / 255)))


def _ramp(ramp: Ramp) -> None:
    draw, corner = imgui.get_window_draw_list(), imgui.get_cursor_screen_pos()
    wide, tall = max(imgui.get_content_region_avail().x, units(MIN_LEGEND)), units(RAMP_HEIGHT)
    colors = [_packed((int(r), int(g), int(b))) for r, g, b in ramp.colors[:: max(1, len(ramp.colors) // 32)]]
    step = wide / max(1, len(colors) - 1)
    for k, (left, right) in enumerate(pairwise(colors)):
        low, high = ImVec2(corner.x + k * step, corner.y), ImVec2(corner.x + (k + 1) * step, corner.y + tall)
        draw.add_rect_filled_multi_color(low, high, left, right, right, left)
    imgui.dummy(ImVec2(wide, tall))
    more = ">=" if ramp.clipped else ""
    fact(f"{'<=' if ramp.clipped else ''}{ramp.low:.4g}", f"{more}{ramp.high:.4g} {ramp.unit} {ramp.text}".rstrip())


def _square(entry: Label, right: float, first: bool) -> None:
    edge = imgui.get_text_line_height() * 0.7
    gap, room = units(5), units(14)
    wide = edge + gap + imgui.calc_text_size(entry.text).x
    if not first:
        imgui.same_line(0, room)
        if imgui.get_cursor_pos_x() + wide > right:
            imgui.new_line()
    corner = imgui.get_cursor_screen_pos()
    lower = corner.y + (imgui.get_text_line_height() - edge) / 2
    draw = imgui.get_window_draw_list()
    low, high = ImVec2(corner.x, lower), ImVec2(corner.x + edge, lower + edge)
    draw.add_rect_filled(low, high, _packed(entry.color), units(2))
    draw.add_rect(low, high, imgui.color_convert_float4_to_u32(theme.color((1.0, 1.0, 1.0), 0.18)), units(2))
    imgui.dummy(ImVec2(edge, imgui.get_text_line_height()))
    imgui.same_line(0, gap)
    imgui.text_unformatted(entry.text)


# -- passes ----------------------------------------------------------------------------------------------------------


def _plot(inspector: Inspector, view: _View) -> None:
    passes, rays = inspector.passes, max(1, inspector.machine.rays)
    marker = (id(passes), len(passes))
    grown = view.drawn != marker
    if grown:
        view.drawn, view.bars = marker, {}
        for state in inspector.colors:
            served = [p for p in passes if p.state == state]
            if served:
                percent = np.array([100 * p.active / rays for p in served], np.float64)
                view.bars[state] = (np.array([p.number for p in served], np.float64), percent)
    flags = implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title
    if not implot.begin_plot("##passes", ImVec2(-1, units(PLOT_HEIGHT)), flags | implot.Flags_.no_legend):
        return
    quiet = implot.AxisFlags_.no_highlight | implot.AxisFlags_.no_menus
    implot.setup_axes("pass", "rays active, %", quiet, quiet)
    implot.setup_axis_limits(implot.ImAxis_.y1, 0, 100, implot.Cond_.once)
    implot.setup_axis_limits_constraints(implot.ImAxis_.y1, 0, 100)
    last = max(10, len(passes)) + 0.5
    implot.setup_axis_limits_constraints(implot.ImAxis_.x1, 0.5, last)
    implot.setup_axis_limits(implot.ImAxis_.x1, 0.5, last, implot.Cond_.always if grown else implot.Cond_.once)
    for state, (pass_numbers, percent) in view.bars.items():
        spec = implot.Spec()
        red, green, blue = (channel / 255 for channel in inspector.colors[state])
        spec.fill_color = spec.line_color = theme.color((red, green, blue))
        implot.plot_bars(state, pass_numbers, percent, 1.0, spec)
    number = round(implot.get_plot_mouse_pos().x) if implot.is_plot_hovered() else 0
    if 1 <= number <= len(passes):
        hovered = passes[number - 1]
        imgui.set_tooltip(
            f"pass {number}: {hovered.kernel}\n{grouped(hovered.active)} rays, {100 * hovered.active / rays:.1f} %\n"
            f"{grouped(hovered.calls)} calls, {1000 * hovered.seconds:.2f} ms"
        )
    implot.end_plot()


def _totals(inspector: Inspector) -> None:
    per_state = inspector.per_state()
    fact("passes", grouped(len(inspector.passes)))
    fact("rays active in a pass, average", f"{100 * inspector.active_share:.1f} %")
    published = {state: inspector.published_cost(state) for state in inspector.colors}
    headings = ["state", "rays", "passes", "calls", "ms", "words", *(["2004"] if any(published.values()) else [])]
    flags = imgui.TableFlags_.row_bg | imgui.TableFlags_.sizing_stretch_prop | imgui.TableFlags_.borders_inner_h
    if not imgui.begin_table("totals", len(headings), flags):
        return
    for heading in headings:
        imgui.table_setup_column(heading)
    imgui.table_headers_row()
    for state, cost in published.items():
        row = per_state.get(state, _NO_PASSES)
        counts = (inspector.waiting[state], row["passes"], row["calls"])
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text_colored(theme.legible(inspector.colors[state]), state)
        with theme.font("numbers"):
            words = "{}>{}".format(*stream_words(inspector.machine.linked, state))
            for text in (*map(grouped, counts), f"{1000 * row['seconds']:.1f}", words):
                imgui.table_next_column()
                imgui.text_unformatted(text)
            if cost is not None:
                imgui.table_next_column()
                imgui.text_unformatted(f"{cost.read}>{cost.written}")
        if cost is not None and imgui.is_item_hovered():
            imgui.set_tooltip(
                f"{cost.kernel} (Purcell 2004, table 5.1): {cost.instructions} instructions,\n"
                f"{cost.read} words read, {cost.written} written, {cost.fetched} fetched from memories"
            )
    imgui.end_table()
    imgui.text_disabled("rays: waiting now; words: of 32 bits, read > written by a call")
