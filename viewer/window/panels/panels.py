"""The panels at the left: program and options, the camera, the picture, the scene. They read the viewport and act
through its commands and options."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from raystream.film.error import stop_of
from raystream.film.tonemap import TONEMAPS
from raystream.options import table as options
from raystream.options.declare import Option, join_words
from raystream.options.picture import DEFAULT_QUALITY, QUALITIES
from raystream.options.table import MAX_SAMPLES
from raystream.options.values import PhotonFilter, PolicyChoice, Unroll
from raystream.programs import PICTURES, programs_with
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.sampling.denoising import DEFAULT_TOLERANCE, TOLERANCE, denoiser_of
from raystream.scene.edits.movable import Movable
from raystream.scene.environment import SUN, ImageEnvironment
from raystream.scene.projections import Fisheye
from raystream.viewport.camera_controller import MAX_ANGLE, MIN_ANGLE, PROJECTIONS, CameraController
from raystream.viewport.editing import SPEEDS
from raystream.viewport.host import ViewerHost
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import overlay, theme, widgets
from raystream.window.panels.debug_views import draw_inspector, draw_legend, draw_probe
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.theme import units

HANDLE = 90.0  # width of the button that opens the panels, and its room
AUTO_WIDTH = 48.0  # of the exposure's button
MAX_NOTES = 12
MAX_LISTED = 50  # lights, in the list
DEGREES, WHOLE_DEGREES = "%.1f\u00b0", "%.0f\u00b0"
MAX_TO_SLIDE = 1 << 24  # values from which on there is no slider
CLAMPED = imgui.SliderFlags_.always_clamp
UNROLLS = ("auto", "1", "2", "4", "8", "16", "32", "64", "256")
BY_SCENE = "by the scene"

_shown = SimpleNamespace(mapped=False)  # whether the program last on show has a photon map


def draw_panels(context: ViewerHost, draw: ImguiDraw) -> None:
    """All panels and overlays; between `imgui.new_frame` and `imgui.render`."""
    io = imgui.get_io()
    theme.apply(theme.scale_of(context.view.area.scale, io.display_framebuffer_scale.x))
    size = io.display_size
    with theme.font("text"):
        if not context.view.overlays.panels.on:
            _draw_handle(context, size)
        elif theme.panels_fit():
            # A narrow window has room for one of them.
            narrow = theme.narrow(size.x)
            if not narrow or (context.debug_views.inspector is None and context.debug_views.probe is None):
                _draw_side(context, size)
            if not narrow or context.debug_views.probe is None:
                draw_inspector(context, draw)
            draw_probe(context)
        overlay.draw_timeline(context)
        overlay.draw_overlays(context)


def _draw_handle(context: ViewerHost, size: ImVec2) -> None:
    """The button at the upper left that opens the panels."""
    beside = size.x >= units(overlay.MAX_LINE + 2 * HANDLE)
    if not theme.panels_fit() or context.view.overlays.help.on or (overlay.talking(context) and not beside):
        return
    room = units(theme.ROOM)
    flags = theme.FIXED | imgui.WindowFlags_.always_auto_resize
    bare = theme.styled(window_padding=ImVec2(0, 0), window_border_size=0.0, alpha=0.7)
    with bare, theme.window("##handle", ImVec2(room, room), alpha=0.0, flags=flags) as drawn:
        if drawn:
            widgets.press(context, "Panels", "panels")


def _draw_side(context: ViewerHost, size: ImVec2) -> None:
    room = units(theme.ROOM)
    width = min(units(theme.SIDE_WIDTH), size.x - 2 * room)
    height = max(1.0, size.y - 2 * room - units(theme.STATUS) - overlay.below(context))
    imgui.set_next_window_pos(ImVec2(room, room))
    imgui.set_next_window_size_constraints(ImVec2(width, 0), ImVec2(width, height))
    if imgui.begin("Raystream", None, theme.FIXED | imgui.WindowFlags_.always_auto_resize)[0]:
        mapped = context.view.renderer is not None and context.view.renderer.settings.picture_program.maps_photons
        for title, draw, open_at_first in SECTIONS:
            flags = imgui.TreeNodeFlags_.default_open if open_at_first else imgui.TreeNodeFlags_.none
            if title == "Photons" and mapped and not _shown.mapped:
                imgui.set_next_item_open(True)
            with theme.styled(frame_padding=ImVec2(units(3), units(3))):
                opened = imgui.collapsing_header(title, flags)
            if opened:
                imgui.push_id(title)
                draw(context)
                imgui.pop_id()
                imgui.dummy(ImVec2(0, units(2)))
        _shown.mapped = mapped
    imgui.end()


# -- options, by their declarations ---


def draw_part(context: ViewerHost, part: str, settings: Settings) -> None:
    """The widgets of a part's options that serve the program; greyed where others leave them nothing to decide."""
    for name in options.names_of_part(part):
        if settings.picture_program.uses(name):
            imgui.begin_disabled(not options.option(name).useful(settings))
            draw_option(context, name, settings.resolved_values.get(name, settings[name]))
            imgui.end_disabled()


def draw_option(context: ViewerHost, name: str, current: Any) -> None:
    """The widget for an option by its declaration and its present value; a choice is requested."""
    option = options.option(name)
    if isinstance(current, PolicyChoice):
        _policy(context, current)
    elif isinstance(current, Unroll):
        _unroll(context, current)
    elif isinstance(current, bool):
        checkbox(context, name, current)
    elif option.value.choices:
        choice(context, name, current.name if isinstance(current, PhotonFilter) else current)
    elif option.help.slider is not None or isinstance(option.value.default, (int, float)):
        _number(context, option, current)
    else:
        _typed(context, name, current)


def choice(context: ViewerHost, name: str, current: str) -> None:
    """One of an option's words: side by side, or in a list where there is no room for that."""
    option = options.option(name)
    widgets.label(name.replace("_", " "))
    widgets.tip(option.about, widgets.about(context, f"{name}.next")[1])
    imgui.same_line(units(widgets.LABELS))
    needed = sum(imgui.calc_text_size(word).x + units(14) for word in option.value.choices)
    if needed < imgui.get_content_region_avail().x:
        chosen = widgets.segments(name, option.value.choices, current)
    else:
        imgui.set_next_item_width(-1)
        chosen = widgets.folded(name, list(option.value.choices), current)
    if chosen:
        context.scene_loader.set(**{name: chosen})


def checkbox(context: ViewerHost, name: str, current: bool) -> None:
    """An option that is on or off."""
    changed, on = imgui.checkbox(name, current)
    widgets.tip(options.option(name).about, widgets.about(context, f"{name}.toggle")[1])
    if changed:
        context.scene_loader.set(**{name: on})


def _number(context: ViewerHost, option: Option, current: float | None) -> None:
    """A number on a slider; of lengths one that is dragged, and of too many to slide over one that is typed."""
    low, high = option.help.slider or (option.value.low, option.value.high)
    text, now, name = option.name.replace("_", " "), current or 0, option.name
    form = option.help.zero if option.help.zero and not now else ""
    value: float | None
    if isinstance(option.value.default, float) and option.help.slider is not None:
        value = widgets.slide(text, float(now), (low, high), form or "%.4g", option.about, name, CLAMPED)
    elif isinstance(option.value.default, float):
        assert context.view.controller is not None
        step = 1e-3 * context.view.controller.natural_speed
        value = widgets.drag(text, float(now), step, (low, high), form or "%.4g", option.about, name, CLAMPED)
    elif high - low > MAX_TO_SLIDE:
        widgets.label(text)
        changed, typed = imgui.input_int(f"##{name}", int(now))
        widgets.tip(option.about)
        value = typed if changed and low <= typed <= high else None
    else:
        value = widgets.whole(text, int(now), (int(low), int(high)), option.about, name, form)
    if value is not None:  # an option that begins above 0 has none there
        context.scene_loader.set(**{name: None if value == 0 and option.value.low > 0 else value})


def slider(name: str) -> tuple[float, float]:
    """The ends of an option's slider."""
    ends = options.option(name).help.slider
    assert ends is not None
    return ends


def _typed(context: ViewerHost, name: str, current: Any) -> None:
    """An option that is typed; Enter takes it."""
    option = options.option(name)
    widgets.label(name.replace("_", " "))
    flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
    entered, text = imgui.input_text(f"##{name}", str(current), flags)
    widgets.tip(f"{option.about}: {option.expected()}", widgets.about(context, f"{name}.next")[1])
    if entered:
        context.scene_loader.set(**{name: text.strip()})


def _policy(context: ViewerHost, current: PolicyChoice) -> None:
    option, key = options.option("policy"), widgets.about(context, "policy.next")[1]
    chosen = widgets.combo("policy", list(option.value.choices), current.name, option.about, key)
    if chosen:
        context.scene_loader.set(policy=replace(current, name=chosen))
    if current.name != "threshold":
        return
    percent = widgets.slide("share", 100 * current.share, (1, 100), "%.0f %%")
    if percent is not None:
        context.scene_loader.set(policy=replace(current, share=min(1.0, max(0.01, round(percent) / 100))))
    widgets.label("of the rays")
    chosen = widgets.segments("of", ("active", "all"), current.of, ("in the loop", "all"))
    if chosen:
        context.scene_loader.set(policy=replace(current, of=chosen))


def _unroll(context: ViewerHost, current: Unroll) -> None:
    about, key = options.option("unroll").help.text, widgets.about(context, "unroll.next")[1]
    chosen = widgets.combo("unroll", list(UNROLLS), str(current), about, key)
    if chosen:
        context.scene_loader.set(unroll=chosen)


def draw_photons(context: ViewerHost) -> None:
    """The panel of photon mapping: its options and the map's contents; greyed under programs without a map."""
    renderer = context.view.renderer
    if renderer is None:
        return
    settings = renderer.settings
    mapped = settings.picture_program.maps_photons
    if not mapped:
        keys = (context.view.keymap.text(f"program.{name}") for name in programs_with(lambda each: each.maps_photons))
        imgui.text_disabled(f"for programs with a photon map, key {join_words(keys)}")
    imgui.begin_disabled(not mapped)
    for name in options.names_of_part("photons"):
        imgui.begin_disabled(not options.option(name).useful(settings))
        draw_option(context, name, settings[name])
        imgui.end_disabled()
    photon_view = context.debug_views.photons
    widgets.row(
        context, ("Points", "photons.points", photon_view.points), ("Cells", "photons.cells", photon_view.cells)
    )
    imgui.end_disabled()
    photon_map = renderer.photon_map
    if mapped and photon_map.trace_count:
        grid = photon_map.grid
        buckets = f"{widgets.grouped(grid.buckets)} buckets, edge {grid.cell[0]:.3g}"
        widgets.fact("stored", f"{widgets.grouped(photon_map.stored)}, {widgets.grouped(photon_map.emitted)} traced")
        widgets.fact("cells", buckets if grid.buckets else " x ".join(map(str, grid.resolution)))
    if mapped and photon_view.cells and photon_view.legend is not None:
        draw_legend(photon_view.legend)


# -- sampling, lens, lights and environment ----------------------------------------------------------------------------


def draw_sampling(context: ViewerHost) -> None:
    """The options of progressive programs; they serve at once, and nothing is compiled but another sampler."""
    renderer = context.view.renderer
    if renderer is None or not renderer.progressive:
        imgui.text_disabled("one sample through each pixel's centre")
        return
    session = context.view.session
    tolerance = TOLERANCE.get(denoiser_of(renderer.settings, DEFAULT_QUALITY), DEFAULT_TOLERANCE)
    limits = {name: stop_of(None, None, None, name, tolerance) for name in QUALITIES}
    stop = session.stop
    samples, error = stop.spp, stop.error
    quality = [name for name, limit in limits.items() if (limit.spp, limit.error) == (samples, error)]
    about = "limits of samples and noise for a picture to be looked at"
    chosen = widgets.combo("quality", list(limits), "".join(quality), about)
    if chosen is not None:
        samples, error = limits[chosen].spp, limits[chosen].error
    typed_samples = widgets.whole("samples", stop.spp, (1, MAX_SAMPLES), "of each pixel, to stop at")
    samples = samples if typed_samples is None else typed_samples
    noise = 100 * (stop.error or 0.0)
    percent = widgets.slide("noise", noise, (0.0, 10.0), "%.2f %%", "estimated relative error to stop at; 0: never")
    if percent is not None:
        error = max(0.0, percent / 100)
    if (chosen, typed_samples, percent) != (None, None, None):
        session.stop_at(samples, error)
        context.view.wake()
    draw_part(context, "sampling", renderer.settings)


def draw_lens(context: ViewerHost) -> None:
    """Aperture, focus and filter of the camera."""
    controller, renderer = context.view.controller, context.view.renderer
    if controller is None or renderer is None:
        return
    camera, reach = controller.camera, controller.natural_speed
    aperture, form = options.option("aperture"), "%.4g" if camera.aperture else options.option("aperture").help.zero
    radius = widgets.drag("aperture", camera.aperture, reach * 1e-3, (0.0, reach), form, aperture.about)
    if radius is not None:
        controller.set_lens(max(0.0, radius), camera.focus)
    if camera.aperture > 0:
        about, ends = (
            f"{options.option('focus').about}; F focuses the point under the cursor",
            (reach * 1e-4, reach * 1e3),
        )
        distance = widgets.drag("focus", camera.focus_distance, reach * 5e-3, ends, "%.4g", about)
        if distance is not None and distance > 0:
            controller.set_lens(camera.aperture, distance)
    choice(context, "pixel_filter", renderer.settings.pixel_filter)


def draw_lights(context: ViewerHost) -> None:
    """All lights: selected by a click, moved by their numbers or by the mouse."""
    lights = context.markers
    listed = lights.listed()
    for light in listed[:MAX_LISTED]:
        chosen = lights.is_chosen(light)
        if imgui.selectable(f"{light.name}##{light.kind}{light.item_index}", chosen)[0]:
            lights.chosen, lights.visible = (light.kind == "area", light.item_index), True
        imgui.same_line()
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.set_cursor_pos_x(right - imgui.calc_text_size(light.kind).x)
        imgui.text_disabled(light.kind)
        if chosen:
            _position(context, light)
    if len(listed) > MAX_LISTED:
        imgui.text_disabled(f"and {len(listed) - MAX_LISTED} more")
    if not listed:
        imgui.text_disabled("none but the environment")
    widgets.row(context, ("Markers", "lights.show", lights.visible))


def draw_environment(context: ViewerHost) -> None:
    """The environment, its sun's direction, and its rotation."""
    scene_loader, now = context.scene_loader, context.view.environment
    option, key = options.option("environment"), widgets.about(context, "environment.toggle")[1]
    words = [BY_SCENE, *option.value.words]
    chosen = widgets.combo("around", words, now.name, option.about, key, "environment")
    if chosen:
        scene_loader.light_by(None if chosen == BY_SCENE else chosen)
    if now.name == "sky":
        about_sun = options.option("sun").about
        for index, (name, ends) in enumerate((("sun height", (0.0, 90.0)), ("sun towards", (-180.0, 180.0)))):
            sun = list(scene_loader.requested.sun or SUN)
            degrees = widgets.slide(name, sun[index], ends, WHOLE_DEGREES, about_sun, "", CLAMPED)
            if degrees is not None:
                sun[index] = degrees
                scene_loader.set(sun=tuple(sun))
    if isinstance(now, ImageEnvironment):
        rotation, ends = scene_loader.requested.environment_rotation, slider("environment_rotation")
        degrees = widgets.slide(
            "rotation", rotation, ends, WHOLE_DEGREES, "about the vertical; Shift+right drag in the picture"
        )
        if degrees is not None:
            context.editing.turn_environment(degrees - rotation)
    widgets.row(
        context,
        ("On and off", "environment.toggle", now.flux > 0),
        ("Ground", "ground.toggle", scene_loader.requested.ground is not None),
    )


def _position(context: ViewerHost, light: Movable) -> None:
    assert context.view.controller is not None
    widgets.label("towards" if light.kind == "directional" else "at", widgets.LABELS / 2)
    step = 0.01 if light.kind == "directional" else 0.01 * context.view.controller.natural_speed
    changed, position = imgui.drag_float3("##at", list(light.position), step, 0.0, 0.0, "%.4g")
    if changed and any(position):
        context.editing.move_light(light, (position[0], position[1], position[2]))
    if imgui.button("Move with the mouse", ImVec2(-1, 0)):
        context.view.attempt(lambda: context.editing.grab_light(light))


def draw_motion(context: ViewerHost) -> None:
    """Which animation plays and how, its time, and the turntable."""
    editing = context.editing
    widgets.row(context, overlay.play_button(context), ("Turntable", "turntable", editing.turning))
    if not overlay.is_animated(context):
        return
    player, animations = editing.animation.player, editing.animation.names
    if len(animations) > 1:
        names = [*animations, "all"]
        index = names.index(editing.animation.name) if editing.animation.name in names else -1
        chosen = widgets.choose("animation", names, index, editing.animation.name)
        if chosen is not None:
            editing.animation.choose(chosen if chosen < len(animations) else "all")
    speeds = [f"{speed:g} x" for speed in SPEEDS]
    text = widgets.combo("speed", speeds, f"{player.speed:g} x")
    if text:
        player.speed = SPEEDS[speeds.index(text)]
    widgets.row(
        context,
        ("Back", "animation.back"),
        ("Forward", "animation.forward"),
        ("Loop", "animation.loop", player.loop),
    )
    widgets.label("time")
    overlay.scrub(context, "##time")


# -- render --------------------------------------------------------------------------------------------------------


def _render(context: ViewerHost) -> None:
    """The machine that runs the program."""
    if context.view.renderer is not None:
        draw_part(context, "machine", context.view.renderer.settings)


def _programs(context: ViewerHost) -> None:
    with theme.styled(frame_padding=ImVec2(0, units(5))):
        current = context.view.renderer.settings.program if context.view.renderer is not None else ""
        titles = [name.capitalize() for name in PICTURES]
        chosen = widgets.segments(
            "program", list(PICTURES), current, titles, describe=lambda name: widgets.about(context, f"program.{name}")
        )
    if chosen:
        context.view.actions.perform(f"program.{chosen}")


def _progress(context: ViewerHost) -> None:
    session = context.view.session
    fraction = 1.0 if session.complete else session.progress
    if session.complete and not session.converged:
        fraction = session.samples / max(1, session.stop.spp)
    with theme.styled(plot_histogram=theme.color(theme.ACCENT, 0.35 if session.converged else 0.9)):
        imgui.progress_bar(fraction, ImVec2(-1, units(4)), "")
    if not session.complete:
        widgets.tip(f"{100 * fraction:.0f} % of the picture")
    else:
        widgets.tip(
            "complete"
            if session.converged
            else f"{widgets.grouped(session.samples)} of {widgets.grouped(session.stop.spp)} samples"
        )


# -- structures ----------------------------------------------------------------------------------------------------


def _structure(context: ViewerHost) -> None:
    """Every option that structures are built from; the worker rebuilds them."""
    for name in options.names_of_part("structure"):
        draw_option(context, name, context.scene_loader.requested[name])
    if context.view.renderer is not None:
        structure = context.view.renderer.prepared.structure
        counts = {k: widgets.grouped(v) for k, v in structure.statistics.items() if isinstance(v, int)}
        for name, text in {**structure.facts, **counts}.items():
            widgets.fact(name.replace("_", " "), text)


# -- camera --------------------------------------------------------------------------------------------------------


def _camera(context: ViewerHost) -> None:
    controller = context.view.controller
    if controller is None:
        imgui.text_disabled("no scene")
        return
    mode = widgets.segments(
        "mode", ("orbit", "fly"), controller.mode, ("Orbit", "Fly"), describe=lambda _: widgets.about(context, MODE)
    )
    if mode and mode != controller.mode:
        context.view.actions.perform(MODE)
    cameras = context.view.scene.cameras if context.view.scene is not None else []
    if cameras:
        names, camera_now = [camera.name for camera in cameras], controller.camera
        now, listed = cameras.index(camera_now) if camera_now in cameras else -1, ", ".join(names)
        key = context.view.keymap.text("camera.next")
        chosen = widgets.choose("view", names, now, listed, f"the scene's cameras: {listed}", key)
        if chosen is not None:
            context.scene_loader.show_camera(chosen)
    _projection(context, controller)
    speed = widgets.drag("speed", controller.speed, controller.speed * 0.01, (0.0, 0.0), "%.3g units/s")
    if speed is not None and speed > 0:
        controller.speed = speed
    draw_lens(context)
    widgets.row(context, ("Copy", "camera.copy"), ("Paste", "camera.paste"), ("Frame", FRAME_ALL))


def _projection(context: ViewerHost, controller: CameraController) -> None:
    """The projection, and the angle that it shows; how much an orthographic one shows is the wheel's."""
    about, key = options.option("projection").about, context.view.keymap.text("camera.orthographic")
    chosen = widgets.combo("projection", list(PROJECTIONS), controller.projection, about, key)
    if chosen:
        controller.choose_projection(chosen)
    projection, degrees = controller.camera.projection, None
    if isinstance(projection, Fisheye):
        degrees = widgets.slide("angle across", projection.angle, (MIN_ANGLE, MAX_ANGLE), DEGREES, name="angle")
    elif projection is None:
        degrees = widgets.slide("field of view", controller.camera.fov, slider("fov"), DEGREES, name="fov")
    if degrees is not None:
        controller.set_fov(degrees)
    if chosen or degrees is not None:
        context.view.wake()


MODE, FRAME_ALL = "camera.mode", "camera.frame"


# -- picture -------------------------------------------------------------------------------------------------------


def _picture(context: ViewerHost) -> None:
    _programs(context)
    if context.view.renderer is not None:
        imgui.spacing()
        _progress(context)
    widgets.label("exposure")
    automatic = context.view.tone.automatic
    form = "%+.2f" if automatic else "%+.2f stops"
    imgui.set_next_item_width(-units(AUTO_WIDTH) - imgui.get_style().item_spacing.x)
    changed, exposure = imgui.slider_float("##exposure", context.view.tone.stops, *slider("exposure"), form)
    widgets.tip("Ctrl+click to type a number; it holds for this scene")
    if changed:
        context.view.tone.choose(exposure=float(exposure))
        context.view.wake()
    imgui.same_line()
    widgets.press(context, "Auto", "exposure.auto", units(AUTO_WIDTH), on=automatic)
    if len(TONEMAPS) > 1:
        chosen = widgets.combo("tonemap", list(TONEMAPS), context.view.tone.tonemap)
        if chosen:
            context.view.tone.choose(tonemap=chosen)
            context.view.wake()
    draw_option(context, "denoise", context.scene_loader.requested.denoise)
    widgets.row(context, ("PNG", "screenshot.picture"), ("EXR", "save.exr"))


# -- looking inside ------------------------------------------------------------------------------------------------


def _inside(context: ViewerHost) -> None:
    debug_views = context.debug_views
    probed, heat = debug_views.probe is not None, debug_views.heat
    widgets.row(
        context,
        ("Streams", "inspector.show", debug_views.inspector is not None),
        ("Pixel probe", "probe.show", probed, probed),
    )
    widgets.row(
        context,
        (f"Heat: {heat}" if heat else "Heat map", "heat.next", bool(heat)),
        ("Boxes", "wires.toggle", context.view.overlays.boxes.on),
    )


# -- statistics ----------------------------------------------------------------------------------------------------


def _statistics(context: ViewerHost) -> None:
    for name, value in overlay.figures(context):
        widgets.fact(name, value)
    if context.view.renderer is not None:
        for name, size in context.view.renderer.gpu_scene.resources.bytes().items():
            widgets.fact(f"   {name}", widgets.memory(size))


# -- scene ---------------------------------------------------------------------------------------------------------


def _scene(context: ViewerHost) -> None:
    scene = context.view.scene
    if scene is not None:
        imgui.text_unformatted(scene.name)
        if context.scene_loader.shown_path:
            widgets.tip(context.scene_loader.shown_path)
        for name, count in (
            ("triangles", scene.triangle_count - scene.quadric_count),
            *([("quadrics", scene.quadric_count)] if scene.quadric_count else []),
            ("meshes", len(scene.meshes)),
            ("instances", len(scene.instances)),
            ("materials", len(scene.materials)),
            ("cameras", len(scene.cameras)),
        ):
            widgets.fact(name, widgets.grouped(count))
        if scene.variants:
            variants = [None, *scene.variants]  # the file's own look first
            chosen = widgets.choose("variant", [name or "none" for name in variants], variants.index(scene.variant), "")
            if chosen is not None:
                context.view.attempt(partial(context.editing.show_variant, variants[chosen]))
        _notes(scene.warnings)
    wide = widgets.shares(3)
    widgets.press(context, "Open...", "scene.open", wide)
    imgui.same_line()
    widgets.press(context, "Reload", "scene.reload", wide)
    imgui.same_line()
    _recent(context, wide)


def _notes(warnings: list[str]) -> None:
    imgui.push_text_wrap_pos(0)
    for text in warnings[:MAX_NOTES]:
        imgui.text_colored(theme.color(theme.WARNING), text)
    if len(warnings) > MAX_NOTES:
        imgui.text_disabled(f"and {len(warnings) - MAX_NOTES} more")
    imgui.pop_text_wrap_pos()


def _recent(context: ViewerHost, width: float) -> None:
    recent = list(context.view.preferences.recent)
    imgui.begin_disabled(not recent)
    if imgui.button("Recent", ImVec2(width, 0)):
        imgui.open_popup("recent")
    imgui.end_disabled()
    if imgui.begin_popup("recent"):
        for path in recent:
            if imgui.selectable(f"{Path(path).name}##{path}", False)[0]:
                context.scene_loader.open(path)
            widgets.tip(path)
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
