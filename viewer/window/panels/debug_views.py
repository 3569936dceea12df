"""Panels of the debug views: the stream inspector, the history of a probed ray, and their pictures in space."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.renderer.device.tuning import tuning
from raystream.renderer.preview.scheduler import DRAWN_HEAT
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.viewport.debug_views.debug_views import Heat
from raystream.viewport.debug_views.false_color import Color, Label, Legend, Ramp, state_colors
from raystream.viewport.debug_views.inspector import Inspector, stream_words
from raystream.viewport.debug_views.probe import COLUMNS, Probe
from raystream.viewport.debug_views.wires import box_edges, project, structure_lines
from raystream.viewport.host import ViewerHost
from raystream.window.bundle import ImVec2, ImVec4, imgui, implot
from raystream.window.panels import theme
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.overlay import QUIET, below
from raystream.window.panels.theme import units
from raystream.window.panels.widgets import fact, grouped, label, rate, row

# -- the stream inspector: a stream as a picture with its legend, steps, the passes as a plot, and totals --------------

HEIGHT = 880.0  # of the inspector, at first
PLOT_HEIGHT = 150.0
MAX_HEIGHT = 0.75  # of a picture's width
RAMP_HEIGHT = 10.0
MIN_LEGEND = 220.0  # width, in a window that fits itself to it
_NO_PASSES = {"passes": 0, "calls": 0, "seconds": 0.0}


@dataclass
class _View:
    """State of the inspector on show: its channel, and that one's picture on the device."""

    inspector: Inspector | None = None
    channel: str = "state"
    picture: NDArray[np.uint8] | None = None
    texture: moderngl.Texture | None = None
    drawn: int = -1  # passes in the plot


_view = _View()


def draw_inspector(context: ViewerHost, draw: ImguiDraw) -> None:
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
        _draw_streams(context, draw, inspector, view)
    imgui.end()
    if not stays_open:
        context.view.actions.perform("inspector.show")


def _draw_streams(context: ViewerHost, draw: ImguiDraw, inspector: Inspector, view: _View) -> None:
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


def machine_text(context: ViewerHost) -> str:
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
        values, valid = inspector.values(view.channel)
        if not valid[y, x]:
            text = "not written"
        elif view.channel in ("state", "return"):
            text = ("done", *inspector.colors)[int(values[y, x])]
        else:
            text = ", ".join(f"{component:.6g}" for component in np.atleast_1d(values[y, x]))
        imgui.set_tooltip(f"{'ray' if inspector.by_ray(view.channel) else 'element'} ({x}, {y}): {text}")


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
    grown, view.drawn = view.drawn != len(passes), len(passes)
    states, percent = np.array([p.state for p in passes], str), np.array([100 * p.active / rays for p in passes])
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
    for state, rgb in inspector.colors.items():
        (served,) = np.nonzero(states == state)
        if len(served):
            spec = implot.Spec()
            red, green, blue = (channel / 255 for channel in rgb)
            spec.fill_color = spec.line_color = theme.color((red, green, blue))
            implot.plot_bars(state, served + 1.0, percent[served], 1.0, spec)
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
        totals = per_state.get(state, _NO_PASSES)
        counts = (inspector.waiting[state], totals["passes"], totals["calls"])
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.text_colored(theme.legible(inspector.colors[state]), state)
        with theme.font("numbers"):
            words = "{}>{}".format(*stream_words(inspector.machine.linked, state))
            for text in (*map(grouped, counts), f"{1000 * totals['seconds']:.1f}", words):
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


# -- the pixel probe: the history of one ray as a table ----------------------------------------------------------------

PROBE_SIZE = (620.0, 230.0)


@dataclass
class _ProbeView:
    """State of the probe on show: its table, as of a number of rows, and the colours of the states."""

    probe: Probe | None = None
    colors: dict[str, Color] = field(default_factory=dict)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    longest: tuple[int, ...] = (0,) * len(COLUMNS)  # characters in each column
    rectangle: tuple[float, float, float, float] | None = None  # left, top, right, bottom


_probed = _ProbeView()


def covered(context: ViewerHost) -> tuple[float, float, float, float] | None:
    """The panel's rectangle as last drawn: left, top, right and bottom in the window; None where it is not shown."""
    return _probed.rectangle if context.debug_views.probe is not None and context.view.overlays.panels.on else None


def draw_probe(context: ViewerHost) -> None:
    """The panel, where a ray has been probed."""
    probe = context.debug_views.probe
    if probe is None:
        _probed.probe = _probed.rectangle = None
        return
    if _probed.probe is not probe:
        _probed.probe, _probed.rows, _probed.longest = probe, [], (0,) * len(COLUMNS)
        _probed.colors = state_colors(probe.states)
    more = probe.table(len(_probed.rows))  # the history grows
    _probed.rows += more
    _probed.longest = tuple(max(n, *(len(row[k]) for row in more), 0) for k, n in enumerate(_probed.longest))
    size, room = imgui.get_io().display_size, units(theme.ROOM)
    left, right = theme.free(True, context.debug_views.inspector is not None)
    bottom = size.y - room - units(theme.STATUS) - below(context)
    width, height = (
        min(units(PROBE_SIZE[0]), right - left - 2 * room),
        max(1.0, min(units(PROBE_SIZE[1]), bottom - room)),
    )
    when = imgui.Cond_.always if theme.narrow(size.x) else imgui.Cond_.appearing
    imgui.set_next_window_pos(ImVec2(left + room, bottom), when, ImVec2(0, 1))
    imgui.set_next_window_size(ImVec2(width, height), when)
    expanded, stays_open = imgui.begin("Pixel probe", True)
    corner, extent = imgui.get_window_pos(), imgui.get_window_size()
    _probed.rectangle = (corner.x, corner.y, corner.x + extent.x, corner.y + extent.y)
    if expanded:
        counts = f"{grouped(len(probe.rows))} passes, {grouped(probe.steps)} steps, {grouped(probe.tests)} tests"
        imgui.text_unformatted("pixel ({}, {}) of {} x {}".format(*probe.pixel, *probe.size))
        imgui.same_line()
        imgui.text_disabled(counts)
        imgui.same_line()
        imgui.text_unformatted(surface_text(probe))
        _history()
    imgui.end()
    if not stays_open:
        context.view.actions.perform("probe.show")


def surface_text(probe: Probe) -> str:
    """The pixel's contents, in words."""
    if probe.surface is not None:
        return probe.surface.text()
    return "nothing" if probe.complete else "under way ..."


def _history() -> None:
    flags = (
        imgui.TableFlags_.scroll_y
        | imgui.TableFlags_.scroll_x
        | imgui.TableFlags_.row_bg
        | imgui.TableFlags_.borders_inner_v
        | imgui.TableFlags_.resizable
        | imgui.TableFlags_.sizing_fixed_fit
    )
    # ImGui fits columns to the rows that are drawn first, and then leaves them: a table of its own for other widths.
    if not imgui.begin_table(f"history {_probed.longest}", len(COLUMNS), flags):
        return
    imgui.table_setup_scroll_freeze(0, 1)
    with theme.font("numbers"):
        wide = [imgui.calc_text_size("0" * count).x for count in _probed.longest]
    for name, width in zip(COLUMNS, wide, strict=True):
        fixed = imgui.TableColumnFlags_.width_fixed
        imgui.table_setup_column(name, fixed, max(width, imgui.calc_text_size(name).x))
    imgui.table_headers_row()
    with theme.font("numbers"):
        clipper = imgui.ListClipper()
        clipper.begin(len(_probed.rows))
        while clipper.step():
            for texts in _probed.rows[clipper.display_start : clipper.display_end]:
                imgui.table_next_row()
                for name, text in zip(COLUMNS, texts, strict=True):
                    imgui.table_next_column()
                    if name in ("state", "next") and text in _probed.colors:
                        imgui.text_colored(theme.legible(_probed.colors[text]), text)
                    else:
                        imgui.text_unformatted(text)
        clipper.end()
    imgui.end_table()


# -- overlays in space: the structure's boxes, a probed ray's way, and the heat map ------------------------------------

WIRES, VISITED, RAY, TESTED, HIT = 0x30FFFFFF, 0xA0F0C040, 0xFF40D0FF, 0x806060FF, 0xFF40FF60  # ABGR


class Space:
    """Draws behind the panels."""

    def __init__(self, draw: ImguiDraw) -> None:
        self._draw = draw
        self._uploaded: tuple[Any, float] | None = None  # heat map and its progress as last uploaded
        self._legend: Any = None
        self._legend_size = (0.0, 0.0)
        self._next = 0.0  # when the heat map is uploaded again
        self._texture: Any = None

    def draw(self, context: ViewerHost) -> None:
        """Over the picture, under the panels."""
        if context.debug_views.heat_map is not None and context.debug_views.heat is not None:
            self._heat(context, context.debug_views.heat_map)
        view = context.view
        if view.controller is None or view.renderer is None:
            return
        draw_markers(context)
        camera, draw_line = view.controller.camera, imgui.get_background_draw_list().add_line
        for lines, ink, width in overlay_lines(context, view.renderer, camera):
            projected = project(camera, view.area.size, lines)
            for x0, y0, x1, y1 in projected.reshape(-1, 4).tolist():  # plain floats: much faster
                draw_line(ImVec2(x0, y0), ImVec2(x1, y1), ink, width)

    def _heat(self, context: ViewerHost, heat: Heat) -> None:
        now = time.monotonic()
        new = self._uploaded is None or self._uploaded[0] is not heat
        if new or (self._uploaded != (heat, heat.progress) and (heat.complete or now >= self._next)):
            colored = heat.show()
            self._texture = self._draw.upload(self._texture, colored.picture)
            self._legend, self._uploaded, self._next = colored.legend, (heat, heat.progress), now + DRAWN_HEAT
        target = imgui.get_background_draw_list()
        target.add_image(self._draw.register(self._texture), ImVec2(0, 0), ImVec2(*context.view.area.size))
        self._place_legend(context)

    def _place_legend(self, context: ViewerHost) -> None:
        """At the bottom of the free part; above the probe's where that is in the way."""
        size, room = imgui.get_io().display_size, units(theme.ROOM)
        panels_on = context.view.overlays.panels.on
        if panels_on and theme.narrow(size.x):
            return  # panels cover the picture
        left, right = theme.free(panels_on, panels_on and context.debug_views.inspector is not None)
        middle, bottom = (left + right) / 2, size.y - units(theme.STATUS) - room
        width, height = self._legend_size
        over = covered(context)
        if over is not None and over[0] < middle + width / 2 and over[2] > middle - width / 2:
            if over[3] > bottom - height and over[1] < bottom:
                bottom = over[1] - room
            if bottom < height + room:  # no room above
                bottom = min(size.y, over[3] + room + height)
        with theme.window("##heat", ImVec2(middle, bottom), None, (0.5, 1.0), flags=QUIET) as drawn:
            if drawn:
                draw_legend(self._legend)
            window_size = imgui.get_window_size()
        self._legend_size = (window_size.x, window_size.y)


def overlay_lines(
    context: ViewerHost, renderer: Renderer, camera: Camera
) -> Iterator[tuple[NDArray[np.float64], int, float]]:
    """Lines (N, 2, 3), world space, with their colour and width: the structure's boxes; of a probed ray the boxes
    visited, the triangles tested, and the ray up to its hit, of two levels where the object stands."""
    if context.view.overlays.boxes.on:
        yield structure_lines(renderer.prepared.structure.built, camera), WIRES, 1.0
    probe = context.debug_views.probe
    for segment in () if probe is None else probe.segments:
        inside = [visit.box for visit in segment.visits if visit.t_enter <= visit.t_exit]
        if inside:
            boxes = np.stack(inside)
            yield segment.world(box_edges(boxes[:, 0], boxes[:, 1]).reshape(-1, 2, 3)), VISITED, 1.0
        for nearest, ink in ((False, TESTED), (True, HIT)):
            triangles = [test.corners for test in segment.tests if test.nearest == nearest]
            if triangles:
                corners = np.stack(triangles).astype(np.float64)
                edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2, 3)
                yield segment.world(edges), ink, 1.0
        span = segment.span or (0.0, 0.0)
        end = segment.t_hit if segment.t_hit is not None else span[1]
        yield segment.world(np.stack([segment.at(0.0), segment.at(end)]))[None], RAY, 2.0


def draw_markers(context: ViewerHost) -> None:
    """A ring at every light, in the picture."""
    lights = context.markers
    if not lights.visible:
        return
    add: Any = imgui.get_background_draw_list()
    dark = imgui.get_color_u32(ImVec4(0, 0, 0, 0.7))
    for light, (x, y) in lights.markers():
        chosen = lights.is_chosen(light)
        ink = imgui.get_color_u32(theme.color(theme.ACCENT) if chosen else ImVec4(1, 1, 1, 0.9))
        radius = units(8 if chosen else 6)
        middle = ImVec2(x, y)
        add.add_circle(middle, radius, dark, 0, units(3.5))
        add.add_circle(middle, radius, ink, 0, units(1.5))
        add.add_circle_filled(middle, units(2), ink)
        if chosen:
            add.add_text(ImVec2(x + 1.6 * radius + 1, y - 0.6 * radius + 1), dark, light.name)
            add.add_text(ImVec2(x + 1.6 * radius, y - 0.6 * radius), ink, light.name)
