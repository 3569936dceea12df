"""Options as widgets, made from their declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raystream.film.error import stop_of
from raystream.options import table as options
from raystream.options.declare import Option, join_words
from raystream.options.picture import DEFAULT_QUALITY, QUALITIES
from raystream.options.table import MAX_SAMPLES
from raystream.options.values import PhotonFilter, PolicyChoice, Unroll
from raystream.programs import programs_with
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import PhotonMap
from raystream.renderer.sampling.denoising import DEFAULT_TOLERANCE, TOLERANCE, denoiser_of
from raystream.scene.edits.movable import Movable
from raystream.scene.environment import SUN, ImageEnvironment
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import widgets
from raystream.window.panels.inspector import draw_legend
from raystream.window.panels.theme import units

MIN_LOGARITHMIC, MAX_TO_SLIDE = (
    100,
    1 << 24,
)  # values from which on a slider is logarithmic, and from which there is none
CLAMPED = imgui.SliderFlags_.always_clamp
UNROLLS = ("auto", "1", "2", "4", "8", "16", "32", "64", "256")


def draw_part(context: ViewportContext, part: str, settings: Settings) -> None:
    """The widgets of a part's options that serve the program; greyed where others leave them nothing to decide."""
    for name in options.names_of_part(part):
        if settings.picture_program.uses(name):
            imgui.begin_disabled(not options.option(name).useful(settings))
            draw_option(context, name, settings.resolved_values.get(name, settings[name]))
            imgui.end_disabled()


def draw_option(context: ViewportContext, name: str, current: Any) -> None:
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


def choice(context: ViewportContext, name: str, current: str) -> None:
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
        chosen = widgets.combo(name, list(option.value.choices), current)
    if chosen:
        context.scene_loader.set(**{name: chosen})


def checkbox(context: ViewportContext, name: str, current: bool) -> None:
    """An option that is on or off."""
    changed, on = imgui.checkbox(name, current)
    widgets.tip(options.option(name).about, widgets.about(context, f"{name}.toggle")[1])
    if changed:
        context.scene_loader.set(**{name: on})


def _number(context: ViewportContext, option: Option, current: float | None) -> None:
    """A number on a slider; of lengths one that is dragged, and of too many to slide over one that is typed."""
    low, high = option.help.slider or (option.value.low, option.value.high)
    widgets.label(option.name.replace("_", " "))
    item, value_now = f"##{option.name}", current or 0
    form = option.help.zero if option.help.zero and not value_now else ""
    if isinstance(option.value.default, float) and option.help.slider is not None:
        changed, value = imgui.slider_float(item, float(value_now), low, high, form or "%.4g", CLAMPED)
    elif isinstance(option.value.default, float):
        assert context.view.controller is not None
        step = 1e-3 * context.view.controller.natural_speed
        changed, value = imgui.drag_float(item, float(value_now), step, low, high, form or "%.4g", CLAMPED)
    elif high - low > MAX_TO_SLIDE:
        changed, value = imgui.input_int(item, int(value_now))
        changed = changed and low <= value <= high
    else:
        changed, value = whole(item, int(value_now), int(low), int(high), form)
    widgets.tip(option.about)
    if changed:  # an option that begins above 0 has none there
        nothing = value == 0 and option.value.low > 0
        context.scene_loader.set(**{option.name: None if nothing else value})


def slider(name: str) -> tuple[float, float]:
    """The ends of an option's slider."""
    ends = options.option(name).help.slider
    assert ends is not None
    return ends


def whole(name: str, current: int, low: int, high: int, shown: str = "") -> tuple[bool, int]:
    """A whole number on a slider, logarithmic where there are many."""
    flags = CLAMPED | (imgui.SliderFlags_.logarithmic if high - low > MIN_LOGARITHMIC else 0)
    return imgui.slider_int(name, min(current, high), low, high, shown or "%d", flags)


def _typed(context: ViewportContext, name: str, current: Any) -> None:
    """An option that is typed; Enter takes it."""
    option = options.option(name)
    widgets.label(name.replace("_", " "))
    flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
    entered, text = imgui.input_text(f"##{name}", str(current), flags)
    widgets.tip(f"{option.about}: {option.expected()}", widgets.about(context, f"{name}.next")[1])
    if entered:
        context.scene_loader.set(**{name: text.strip()})


def _policy(context: ViewportContext, current: PolicyChoice) -> None:
    option = options.option("policy")
    widgets.label("policy")
    chosen = widgets.combo("policy", list(option.value.choices), current.name)
    widgets.tip(option.about, widgets.about(context, "policy.next")[1])
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


def _unroll(context: ViewportContext, current: Unroll) -> None:
    widgets.label("unroll")
    chosen = widgets.combo("unroll", list(UNROLLS), str(current))
    widgets.tip(options.option("unroll").help.text, widgets.about(context, "unroll.next")[1])
    if chosen:
        context.scene_loader.set(unroll=chosen)


def draw_photons(context: ViewportContext) -> None:
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
    if mapped and renderer.photon_map.trace_count:
        for name, text in figures(renderer.photon_map):
            widgets.fact(name, text)
    if mapped and photon_view.cells and photon_view.legend is not None:
        draw_legend(photon_view.legend)


def figures(photon_map: PhotonMap) -> list[tuple[str, str]]:
    """A photon map's contents, by name."""
    grid = photon_map.grid
    if grid.buckets:
        cells = f"{widgets.grouped(grid.buckets)} buckets, edge {grid.cell[0]:.3g}"
    else:
        cells = " x ".join(map(str, grid.resolution))
    return [
        ("stored", f"{widgets.grouped(photon_map.stored)}, {widgets.grouped(photon_map.emitted)} traced"),
        ("cells", cells),
    ]


# -- sampling, lens, lights and environment ----------------------------------------------------------------------------

MAX_LISTED = 50  # lights, in the list
BY_SCENE = "by the scene"
DEGREES = "%.0f\u00b0"


def draw_sampling(context: ViewportContext) -> None:
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
    widgets.label("quality")
    chosen = widgets.combo("quality", list(limits), "".join(quality))
    widgets.tip("limits of samples and noise for a picture to be looked at")
    if chosen is not None:
        samples, error = limits[chosen].spp, limits[chosen].error
    widgets.label("samples")
    changed, typed_samples = whole("##samples", stop.spp, 1, MAX_SAMPLES)
    widgets.tip("of each pixel, to stop at")
    if changed:
        samples = typed_samples
    noise = 100 * (stop.error or 0.0)
    percent = widgets.slide("noise", noise, (0.0, 10.0), "%.2f %%", "estimated relative error to stop at; 0: never")
    if percent is not None:
        error = max(0.0, percent / 100)
    if chosen is not None or changed or percent is not None:
        session.stop_at(samples, error)
        context.view.wake()
    draw_part(context, "sampling", renderer.settings)


def draw_lens(context: ViewportContext) -> None:
    """Aperture, focus and filter of the camera."""
    controller, renderer = context.view.controller, context.view.renderer
    if controller is None or renderer is None:
        return
    camera, reach = controller.camera, controller.natural_speed
    widgets.label("aperture")
    changed, radius = imgui.drag_float(
        "##aperture",
        camera.aperture,
        reach * 1e-3,
        0.0,
        reach,
        "%.4g" if camera.aperture else options.option("aperture").help.zero,
    )
    widgets.tip(options.option("aperture").about)
    if changed:
        controller.set_lens(max(0.0, radius), camera.focus)
    if camera.aperture > 0:
        widgets.label("focus")
        changed, distance = imgui.drag_float(
            "##focus", camera.focus_distance, reach * 5e-3, reach * 1e-4, reach * 1e3, "%.4g"
        )
        widgets.tip(f"{options.option('focus').about}; F focuses the point under the cursor")
        if changed and distance > 0:
            controller.set_lens(camera.aperture, distance)
    choice(context, "pixel_filter", renderer.settings.pixel_filter)


def draw_lights(context: ViewportContext) -> None:
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


def draw_environment(context: ViewportContext) -> None:
    """The environment, its sun's direction, and its rotation."""
    scene_loader, now = context.scene_loader, context.view.environment
    widgets.label("around")
    option = options.option("environment")
    chosen = widgets.combo("environment", [BY_SCENE, *option.value.words], now.name)
    widgets.tip(option.about, widgets.about(context, "environment.toggle")[1])
    if chosen:
        scene_loader.light_by(None if chosen == BY_SCENE else chosen)
    if now.name == "sky":
        about_sun = options.option("sun").about
        for index, (name, ends) in enumerate((("sun height", (0.0, 90.0)), ("sun towards", (-180.0, 180.0)))):
            sun = list(scene_loader.requested.sun or SUN)
            degrees = widgets.slide(name, sun[index], ends, DEGREES, about_sun, "", CLAMPED)
            if degrees is not None:
                sun[index] = degrees
                scene_loader.set(sun=tuple(sun))
    if isinstance(now, ImageEnvironment):
        rotation, ends = scene_loader.requested.environment_rotation, slider("environment_rotation")
        degrees = widgets.slide(
            "rotation", rotation, ends, DEGREES, "about the vertical; Shift+right drag in the picture"
        )
        if degrees is not None:
            context.editing.turn_environment(degrees - rotation)
    widgets.row(
        context,
        ("On and off", "environment.toggle", now.flux > 0),
        ("Ground", "ground.toggle", scene_loader.requested.ground is not None),
    )


def _position(context: ViewportContext, light: Movable) -> None:
    assert context.view.controller is not None
    widgets.label("towards" if light.kind == "directional" else "at", widgets.LABELS / 2)
    step = 0.01 if light.kind == "directional" else 0.01 * context.view.controller.natural_speed
    changed, position = imgui.drag_float3("##at", list(light.position), step, 0.0, 0.0, "%.4g")
    if changed and any(position):
        context.editing.move_light(light, (position[0], position[1], position[2]))
    if imgui.button("Move with the mouse", ImVec2(-1, 0)):
        context.view.attempt(lambda: context.editing.grab_light(light))
