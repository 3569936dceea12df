"""The panels at the left: what is rendered and how, the camera, the picture, the scene. They read the
desk and act through its commands and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from imgui_bundle import ImVec2, imgui

from viewer.film.exposure import AUTO
from viewer.film.tonemap import TONEMAPS
from viewer.options.processor import MACHINE
from viewer.renderer.inputs.settings import RECIPE
from viewer.scene.scene import Scene
from viewer.viewport.context import Desk
from viewer.window.panels import theme
from viewer.window.panels.imgui_draw import ImguiDraw
from viewer.window.panels.inspector import draw_inspector
from viewer.window.panels.light import draw_environment, draw_lens, draw_lights, draw_motion, draw_sampling
from viewer.window.panels.options import choose, combo, draw_option
from viewer.window.panels.overlay import LONGEST_LINE, below, draw_overlays, figures, talking
from viewer.window.panels.photons import draw_photons
from viewer.window.panels.probe import draw_probe
from viewer.window.panels.theme import units
from viewer.window.panels.widgets import about, fact, grouped, label, memory, press, segments, shares, tip

LEAST_WINDOW = (220.0, 140.0)  # below this the panels would hide the whole picture
HANDLE = 90.0  # width of the button that opens the panels, and its room
EXPOSURES = (-8.0, 8.0)  # stops
FIELDS_OF_VIEW = (5.0, 140.0)  # degrees, on the slider
MOST_NOTES = 12
FIXED = imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_resize | imgui.WindowFlags_.no_title_bar


@dataclass
class _Shown:
    """What was last on show."""

    program: str = ""


_shown = _Shown()


def draw_panels(desk: Desk, draw: ImguiDraw) -> None:
    """All panels and overlays; between `imgui.new_frame` and `imgui.render`."""
    io = imgui.get_io()
    theme.apply(max(0.5, desk.view.scale / max(1.0, io.display_framebuffer_scale.x)))
    size = io.display_size
    with theme.font("text"):
        if not desk.view.panels_visible:
            _draw_handle(desk, size)
        elif panels_fit((size.x, size.y)):
            # A narrow window has room for one of them.
            alone = theme.narrow(size.x)
            if not alone or (desk.studies.inspector is None and desk.studies.probe is None):
                _draw_side(desk, size)
            if not alone or desk.studies.probe is None:
                draw_inspector(desk, draw)
            draw_probe(desk)
        draw_overlays(desk)


def panels_fit(size: tuple[float, float]) -> bool:
    """Whether a window of that size, in its own coordinates, has room for panels."""
    return size[0] >= units(LEAST_WINDOW[0]) and size[1] >= units(LEAST_WINDOW[1])


def _draw_handle(desk: Desk, size: ImVec2) -> None:
    """The button at the upper left that opens the panels."""
    beside = size.x >= units(LONGEST_LINE + 2 * HANDLE)
    if not panels_fit((size.x, size.y)) or desk.view.help_visible or (talking(desk) and not beside):
        return
    room = units(theme.ROOM)
    imgui.set_next_window_pos(ImVec2(room, room))
    imgui.set_next_window_bg_alpha(0.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding, ImVec2(0, 0))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, 0.0)
    imgui.push_style_var(imgui.StyleVar_.alpha, 0.7)
    if imgui.begin("##handle", None, FIXED | imgui.WindowFlags_.always_auto_resize)[0]:
        press(desk, "Panels", "panels")
    imgui.end()
    imgui.pop_style_var(3)


def _draw_side(desk: Desk, size: ImVec2) -> None:
    room = units(theme.ROOM)
    width = min(units(theme.SIDE_WIDTH), size.x - 2 * room)
    height = max(1.0, size.y - 2 * room - units(theme.STATUS) - below(desk))
    imgui.set_next_window_pos(ImVec2(room, room))
    imgui.set_next_window_size_constraints(ImVec2(width, 0), ImVec2(width, height))
    if imgui.begin("Raystream", None, FIXED | imgui.WindowFlags_.always_auto_resize)[0]:
        program = desk.view.renderer.settings.program if desk.view.renderer is not None else ""
        for title, draw, shown in SECTIONS:
            flags = imgui.TreeNodeFlags_.default_open if shown else imgui.TreeNodeFlags_.none
            if title == "Photons" and program == "photon" != _shown.program:
                imgui.set_next_item_open(True)
            imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(units(3), units(3)))
            opened = imgui.collapsing_header(title, flags)
            imgui.pop_style_var()
            if opened:
                imgui.push_id(title)
                draw(desk)
                imgui.pop_id()
                imgui.dummy(ImVec2(0, units(2)))
        _shown.program = program
    imgui.end()


# -- render --------------------------------------------------------------------------------------------------------


def _render(desk: Desk) -> None:
    """The machine that runs the program."""
    if desk.view.renderer is None:
        return
    settings = desk.view.renderer.settings
    first, *others = (option.name for option in MACHINE)
    draw_option(desk, first, settings[first])
    imgui.begin_disabled(settings.machine != "multipass")
    for name in others:
        draw_option(desk, name, settings[name])
    imgui.end_disabled()


def _programs(desk: Desk) -> None:
    known = dict(desk.view.programs())

    def describe(name: str) -> tuple[str, str]:
        text, key = about(desk, f"program.{name}")
        return (text or name) + ("" if known[name] else " (not there yet)"), key

    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(0, units(5)))
    current = desk.view.renderer.settings.program if desk.view.renderer is not None else ""
    titles = [name.capitalize() for name in known]
    chosen = segments("program", list(known), current, titles, enabled=known.__getitem__, describe=describe)
    imgui.pop_style_var()
    if chosen:
        desk.view.do(f"program.{chosen}")


def _progress(desk: Desk) -> None:
    session = desk.view.session
    share = 1.0 if session.complete else session.progress
    if session.complete and not session.converged:
        share = session.samples / max(1, session.stop.spp)
    imgui.push_style_color(imgui.Col_.plot_histogram, theme.color(theme.ACCENT, 0.35 if session.converged else 0.9))
    imgui.progress_bar(share, ImVec2(-1, units(4)), "")
    imgui.pop_style_color()
    if not session.complete:
        tip(f"{100 * share:.0f} % of the picture")
    else:
        tip("complete" if session.converged else f"{grouped(session.samples)} of {grouped(session.stop.spp)} samples")


# -- structures ----------------------------------------------------------------------------------------------------


def _structure(desk: Desk) -> None:
    """Every option that structures are built from; the worker builds them anew."""
    for name in RECIPE:
        draw_option(desk, name, desk.stage.requested[name])
    if desk.view.renderer is not None:
        structure = desk.view.renderer.structure
        numbers = {k: grouped(v) for k, v in structure.statistics.items() if isinstance(v, int)}
        for name, text in {**structure.facts, **numbers}.items():
            fact(name.replace("_", " "), text)


# -- camera --------------------------------------------------------------------------------------------------------


def _camera(desk: Desk) -> None:
    flight = desk.view.flight
    if flight is None:
        imgui.text_disabled("no scene")
        return
    mode = segments("mode", ("orbit", "fly"), flight.mode, ("Orbit", "Fly"), describe=lambda _: about(desk, MODE))
    if mode and mode != flight.mode:
        desk.view.do(MODE)
    cameras = desk.view.scene.cameras if desk.view.scene is not None else []
    if cameras:
        label("view")
        shown = flight.camera
        now = next((k for k, camera in enumerate(cameras) if camera == shown), -1)
        names = [camera.name for camera in cameras]
        chosen = choose("view", names, now, ", ".join(names))
        tip(f"the scene's cameras: {', '.join(names)}", desk.view.keymap.text("camera.next"))
        if chosen is not None:
            desk.stage.show_camera(chosen)
    label("field of view")
    changed, fov = imgui.slider_float("##fov", flight.camera.fov, *FIELDS_OF_VIEW, "%.1f\u00b0")
    if changed:
        flight.set_fov(fov)
        desk.view.wake()
    label("speed")
    changed, speed = imgui.drag_float("##speed", flight.speed, flight.speed * 0.01, 0.0, 0.0, "%.3g units/s")
    if changed and speed > 0:
        flight.speed = speed
    draw_lens(desk)
    wide = shares(3)
    for place, (text, action) in enumerate((("Copy", "camera.copy"), ("Paste", "camera.paste"), ("Frame", FRAME_ALL))):
        if place:
            imgui.same_line()
        press(desk, text, action, wide)


MODE, FRAME_ALL = "camera.mode", "camera.frame"


# -- picture -------------------------------------------------------------------------------------------------------


def _picture(desk: Desk) -> None:
    _programs(desk)
    if desk.view.renderer is not None:
        imgui.spacing()
        _progress(desk)
    label("exposure")
    automatic = isinstance(desk.view.exposure, str)
    form = "auto (%+.2f)" if automatic else "%+.2f stops"
    changed, exposure = imgui.slider_float("##exposure", desk.view.stops, *EXPOSURES, form)
    tip("Ctrl+click to type a number; double-click: by the picture's own luminance")
    if imgui.is_item_active() and imgui.get_io().mouse_clicked_last_count[0] >= 2:  # until the button is released
        desk.view.exposure = AUTO
        desk.view.wake()
    elif changed:
        desk.view.exposure = float(exposure)
        desk.view.wake()
    if len(TONEMAPS) > 1:
        label("tonemap")
        chosen = combo("tonemap", list(TONEMAPS), desk.view.tonemap)
        if chosen:
            desk.view.tonemap = chosen
            desk.view.wake()
    draw_option(desk, "denoise", desk.stage.requested.denoise)
    wide = shares(2)
    press(desk, "PNG", "screenshot.picture", wide)
    imgui.same_line()
    press(desk, "EXR", "save.exr", wide)


# -- looking inside ------------------------------------------------------------------------------------------------


def _inside(desk: Desk) -> None:
    wide = shares(2)
    studies = desk.studies
    probed, heat = studies.probe is not None, studies.heat
    press(desk, "Streams", "inspector.show", wide, on=studies.inspector is not None)
    imgui.same_line()
    press(desk, "Pixel probe", "probe.show", wide, on=probed, enabled=probed)
    press(desk, f"Heat: {heat}" if heat else "Heat map", "heat.next", wide, on=bool(heat))
    imgui.same_line()
    press(desk, "Boxes", "wires.toggle", wide, on=desk.view.wires)


# -- statistics ----------------------------------------------------------------------------------------------------


def _statistics(desk: Desk) -> None:
    for name, value in figures(desk):
        fact(name, value)
    if desk.view.renderer is not None:
        for name, size in desk.view.renderer.resources.bytes().items():
            fact(f"   {name}", memory(size))


# -- scene ---------------------------------------------------------------------------------------------------------


def _scene(desk: Desk) -> None:
    scene = desk.view.scene
    if scene is not None:
        imgui.text_unformatted(scene.name)
        if desk.view.path:
            tip(desk.view.path)
        for name, count in (
            ("triangles", scene.triangle_count - scene.quadric_count),
            *([("quadrics", scene.quadric_count)] if scene.quadric_count else []),
            ("meshes", len(scene.meshes)),
            ("instances", len(scene.instances)),
            ("materials", len(scene.materials)),
            ("cameras", len(scene.cameras)),
        ):
            fact(name, grouped(count))
        if scene.variants:
            _variants(desk, scene)
        _notes(scene.warnings)
    wide = shares(3)
    press(desk, "Open...", "scene.open", wide)
    imgui.same_line()
    press(desk, "Reload", "scene.reload", wide)
    imgui.same_line()
    _recent(desk, wide)


def _variants(desk: Desk, scene: Scene) -> None:
    """The file's own look, and its variants."""
    names = [None, *scene.variants]
    label("variant")
    chosen = choose("variant", [name or "none" for name in names], names.index(scene.variant), "")
    if chosen is not None:
        desk.view.attempt(partial(desk.motion.show_variant, names[chosen]))


def _notes(warnings: list[str]) -> None:
    imgui.push_text_wrap_pos(0)
    for text in warnings[:MOST_NOTES]:
        imgui.text_colored(theme.color(theme.WARNING), text)
    if len(warnings) > MOST_NOTES:
        imgui.text_disabled(f"and {len(warnings) - MOST_NOTES} more")
    imgui.pop_text_wrap_pos()


def _recent(desk: Desk, width: float) -> None:
    recent = list(desk.view.preferences.recent)
    imgui.begin_disabled(not recent)
    if imgui.button("Recent", ImVec2(width, 0)):
        imgui.open_popup("recent")
    imgui.end_disabled()
    if imgui.begin_popup("recent"):
        for path in recent:
            if imgui.selectable(f"{Path(path).name}##{path}", False)[0]:
                desk.stage.open(path)
            tip(path)
        imgui.end_popup()


SECTIONS: tuple[tuple[str, Any, bool], ...] = (
    ("Picture", _picture, True),
    ("Camera", _camera, True),
    ("Environment", draw_environment, True),
    ("Lights", draw_lights, False),
    ("Motion", draw_motion, False),
    ("Scene", _scene, False),
    ("Samples", draw_sampling, False),
    ("Photons", draw_photons, False),
    ("Stream processor", _render, False),
    ("Structure", _structure, False),
    ("Look inside", _inside, False),
    ("Statistics", _statistics, False),
)
