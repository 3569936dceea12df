"""The panels at the left: what is rendered and how, the camera, the picture, the scene. They read the application's
state and act through `App.do` and `App.set`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgui_bundle import ImVec2, imgui

from viewer.film.tonemap import TONE_MAPS
from viewer.options import table as options
from viewer.options.values import PolicyChoice, Unroll
from viewer.window.panels import theme
from viewer.window.panels.inspector import draw_inspector
from viewer.window.panels.light import draw_lens, draw_lights, draw_motion, draw_sampling
from viewer.window.panels.overlay import draw_overlays, figures
from viewer.window.panels.probe import draw_probe
from viewer.window.panels.theme import units
from viewer.window.panels.widgets import LABELS, about, fact, grouped, label, memory, press, segments, shares, tip

if TYPE_CHECKING:
    from viewer.window.app import App

LEAST_WINDOW = (220.0, 140.0)  # below this the panels would hide the whole picture
UNROLLS = ("auto", "1", "2", "4", "8", "16", "32", "64", "256")
EXPOSURES = (-8.0, 8.0)  # stops
FIELDS_OF_VIEW = (5.0, 140.0)  # degrees, on the slider
MOST_NOTES = 12
FIXED = imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_resize | imgui.WindowFlags_.no_title_bar


def draw_panels(app: App) -> None:
    """All panels and overlays; between `imgui.new_frame` and `imgui.render`."""
    io = imgui.get_io()
    theme.apply(max(0.5, app.window.scale / max(1.0, io.display_framebuffer_scale.x)))
    size = io.display_size
    with theme.font("text"):
        if app.panels_visible and size.x >= units(LEAST_WINDOW[0]) and size.y >= units(LEAST_WINDOW[1]):
            _draw_side(app, size)
            draw_inspector(app)
            draw_probe(app)
        draw_overlays(app)


def _draw_side(app: App, size: ImVec2) -> None:
    room = units(theme.ROOM)
    width = min(units(theme.SIDE_WIDTH), size.x - 2 * room)
    height = size.y - 2 * room - units(theme.STATUS)
    imgui.set_next_window_pos(ImVec2(room, room))
    imgui.set_next_window_size_constraints(ImVec2(width, 0), ImVec2(width, height))
    if imgui.begin("Raystream", None, FIXED | imgui.WindowFlags_.always_auto_resize)[0]:
        for title, draw, shown in SECTIONS:
            flags = imgui.TreeNodeFlags_.default_open if shown else imgui.TreeNodeFlags_.none
            imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(units(3), units(3)))
            opened = imgui.collapsing_header(title, flags)
            imgui.pop_style_var()
            if opened:
                imgui.push_id(title)
                draw(app)
                imgui.pop_id()
                imgui.dummy(ImVec2(0, units(2)))
    imgui.end()


# -- render --------------------------------------------------------------------------------------------------------


def _render(app: App) -> None:
    _programs(app)
    if app.renderer is None:
        return
    choices = app.renderer.settings
    _choice(app, "machine", choices.machine)
    imgui.begin_disabled(choices.machine != "multipass")
    _choice(app, "fuse", choices.fuse)
    _choice(app, "mask", choices.mask)
    _policy(app, choices.policy)
    _unroll(app, choices.unroll)
    imgui.end_disabled()
    imgui.spacing()
    _progress(app)


def _programs(app: App) -> None:
    known = dict(app.programs())

    def describe(name: str) -> tuple[str, str]:
        text, key = about(app, f"program.{name}")
        return (text or name) + ("" if known[name] else " (not there yet)"), key

    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(0, units(5)))
    current = app.renderer.settings.program if app.renderer is not None else ""
    titles = [name.capitalize() for name in known]
    chosen = segments("program", list(known), current, titles, enabled=known.__getitem__, describe=describe)
    imgui.pop_style_var()
    if chosen:
        app.do(f"program.{chosen}")


def _choice(app: App, name: str, current: str) -> None:
    """One of an option's words: side by side where there is room, else in a list."""
    option = options.option(name)
    label(name.replace("_", " "))
    tip(option.help, about(app, f"{name}.next")[1])
    imgui.same_line(units(LABELS))
    room = imgui.get_content_region_avail().x / len(option.choices) - units(8)
    if all(imgui.calc_text_size(word).x < room for word in option.choices):
        chosen = segments(name, option.choices, current)
    else:
        imgui.set_next_item_width(-1)
        chosen = _combo(name, list(option.choices), current)
    if chosen:
        app.set(**{name: chosen})


def _number(app: App, name: str, current: Any) -> None:
    """An option that is typed; Enter takes it."""
    option = options.option(name)
    label(name.replace("_", " "))
    flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
    entered, text = imgui.input_text(f"##{name}", str(current), flags)
    tip(f"{option.help}: {option.expected()}", about(app, f"{name}.next")[1])
    if entered:
        app.set(**{name: text.strip()})


def _combo(name: str, values: list[str], current: str) -> str | None:
    """A list that folds out; the value that was chosen."""
    chosen = None
    if imgui.begin_combo(f"##{name}", current):
        for value in values:
            if imgui.selectable(value, value == current)[0]:
                chosen = value
        imgui.end_combo()
    return chosen


def _policy(app: App, current: PolicyChoice) -> None:
    option = options.option("policy")
    label("policy")
    chosen = _combo("policy", list(option.choices), current.name)
    tip(option.help, about(app, "policy.next")[1])
    if chosen:
        app.set(policy=replace(current, name=chosen))
    if current.name != "threshold":
        return
    label("share")
    changed, percent = imgui.slider_float("##share", 100 * current.share, 1, 100, "%.0f %%")
    if changed:
        app.set(policy=replace(current, share=min(1.0, max(0.01, round(percent) / 100))))
    label("of the rays")
    chosen = segments("of", ("active", "all"), current.of, ("in the loop", "all"))
    if chosen:
        app.set(policy=replace(current, of=chosen))


def _unroll(app: App, current: Unroll) -> None:
    label("unroll")
    chosen = _combo("unroll", list(UNROLLS), str(current))
    tip(options.option("unroll").help, about(app, "unroll.next")[1])
    if chosen:
        app.set(unroll=chosen)


def _progress(app: App) -> None:
    frame = app.frame
    share = 1.0 if frame.complete else frame.progress
    if frame.complete and not frame.converged:
        share = frame.samples / max(1, frame.most)
    imgui.push_style_color(imgui.Col_.plot_histogram, theme.color(theme.ACCENT, 0.35 if frame.converged else 0.9))
    imgui.progress_bar(share, ImVec2(-1, units(4)), "")
    imgui.pop_style_color()
    if not frame.complete:
        tip(f"{100 * share:.0f} % of the picture")
    else:
        tip("complete" if frame.converged else f"{grouped(frame.samples)} of {grouped(frame.most)} samples")


# -- structures ----------------------------------------------------------------------------------------------------


def _structure(app: App) -> None:
    """Every option that structures are built from; the worker builds them anew."""
    for name, current in app.structure.items():
        (_choice if options.option(name).choices else _number)(app, name, current)
    if app.renderer is not None:
        structure = app.renderer.structure
        numbers = {k: grouped(v) for k, v in structure.statistics.items() if isinstance(v, int)}
        for name, text in {**structure.facts, **numbers}.items():
            fact(name.replace("_", " "), text)


# -- camera --------------------------------------------------------------------------------------------------------


def _camera(app: App) -> None:
    flight = app.flight
    if flight is None:
        imgui.text_disabled("no scene")
        return
    mode = segments("mode", ("orbit", "fly"), flight.mode, ("Orbit", "Fly"), describe=lambda _: about(app, MODE))
    if mode and mode != flight.mode:
        app.do(MODE)
    cameras = app.scene.cameras if app.scene is not None else []
    if cameras:
        label("view")
        names = [f"{camera.name}##{k}" for k, camera in enumerate(cameras)]
        chosen = _combo("view", names, f"{len(cameras)} of the scene")
        if chosen:
            flight.set_camera(cameras[names.index(chosen)])
            app.take_camera()
    label("field of view")
    changed, fov = imgui.slider_float("##fov", flight.camera.fov, *FIELDS_OF_VIEW, "%.1f\u00b0")
    if changed:
        flight.set_fov(fov)
        app.wake()
    label("speed")
    changed, speed = imgui.drag_float(
        "##speed", flight.speed, flight.speed * 0.01, 0.0, 0.0, "%.3g units/s", imgui.SliderFlags_.logarithmic
    )
    if changed and speed > 0:
        flight.speed = speed
    draw_lens(app)
    wide = shares(3)
    for place, (text, action) in enumerate((("Copy", "camera.copy"), ("Paste", "camera.paste"), ("Frame", FRAME_ALL))):
        if place:
            imgui.same_line()
        press(app, text, action, wide)


MODE, FRAME_ALL = "camera.mode", "camera.frame"


# -- picture -------------------------------------------------------------------------------------------------------


def _picture(app: App) -> None:
    label("exposure")
    changed, exposure = imgui.slider_float("##exposure", app.exposure, *EXPOSURES, "%+.2f stops")
    tip("Ctrl+click to type a number; double-click for 0")
    if imgui.is_item_hovered() and imgui.is_mouse_double_clicked(0):
        changed, exposure = True, 0.0
    if changed:
        app.exposure = exposure
        app.wake()
    if len(TONE_MAPS) > 1:
        label("tone map")
        chosen = _combo("tone map", list(TONE_MAPS), app.tone_map)
        if chosen:
            app.tone_map = chosen
            app.wake()
    wide = shares(2)
    press(app, "PNG", "screenshot.picture", wide)
    imgui.same_line()
    press(app, "EXR", "save.exr", wide)


# -- looking inside ------------------------------------------------------------------------------------------------


def _inside(app: App) -> None:
    wide = shares(2)
    press(app, "Streams", "inspector.show", wide, on=app.inspector is not None)
    imgui.same_line()
    press(app, "Pixel probe", "probe.show", wide, on=app.probe is not None, enabled=app.probe is not None)
    press(app, f"Heat: {app.heat}" if app.heat else "Heat map", "heat.next", wide, on=bool(app.heat))
    imgui.same_line()
    press(app, "Boxes", "wires.toggle", wide, on=app.wires)


# -- statistics ----------------------------------------------------------------------------------------------------


def _statistics(app: App) -> None:
    for name, value in figures(app):
        fact(name, value)
    if app.renderer is not None:
        for name, size in app.renderer.resources.bytes().items():
            fact(f"   {name}", memory(size))


# -- scene ---------------------------------------------------------------------------------------------------------


def _scene(app: App) -> None:
    scene = app.scene
    if scene is not None:
        imgui.text_unformatted(scene.name)
        if app.path:
            tip(app.path)
        for name, count in (
            ("triangles", scene.triangle_count),
            ("meshes", len(scene.meshes)),
            ("instances", len(scene.instances)),
            ("materials", len(scene.materials)),
            ("cameras", len(scene.cameras)),
        ):
            fact(name, grouped(count))
        _notes(scene.warnings)
    wide = shares(3)
    press(app, "Open...", "scene.open", wide)
    imgui.same_line()
    press(app, "Reload", "scene.reload", wide)
    imgui.same_line()
    _recent(app, wide)


def _notes(warnings: list[str]) -> None:
    imgui.push_text_wrap_pos(0)
    for text in warnings[:MOST_NOTES]:
        imgui.text_colored(theme.color(theme.WARNING), text)
    if len(warnings) > MOST_NOTES:
        imgui.text_disabled(f"and {len(warnings) - MOST_NOTES} more")
    imgui.pop_text_wrap_pos()


def _recent(app: App, width: float) -> None:
    recent = list(app.preferences.recent)
    imgui.begin_disabled(not recent)
    if imgui.button("Recent", ImVec2(width, 0)):
        imgui.open_popup("recent")
    imgui.end_disabled()
    if imgui.begin_popup("recent"):
        for path in recent:
            if imgui.selectable(f"{Path(path).name}##{path}", False)[0]:
                app.open(path)
            tip(path)
        imgui.end_popup()


SECTIONS: tuple[tuple[str, Any, bool], ...] = (
    ("Render", _render, True),
    ("Samples", draw_sampling, True),
    ("Lights", draw_lights, True),
    ("Camera", _camera, True),
    ("Motion", draw_motion, True),
    ("Picture", _picture, True),
    ("Look inside", _inside, True),
    ("Structure", _structure, False),
    ("Scene", _scene, False),
    ("Statistics", _statistics, False),
)
