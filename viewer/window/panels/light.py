"""The panels of what light does and of what moves: sampling, lens, lights, environment and animation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from imgui_bundle import ImVec2, imgui

from viewer.options import table as options
from viewer.scene.environment import ImageEnvironment
from viewer.scene.movable import Movable
from viewer.window.panels.theme import ACCENT, color, units
from viewer.window.panels.widgets import LABELS, about, fact, label, press, segments, shares, tip
from viewer.window.preferences import MOST_SAMPLES

if TYPE_CHECKING:
    from viewer.window.app import App

EFFECTS = ("shadows", "reflections", "refractions")
WHITTED = {"shadow": EFFECTS[:1], "whitted": EFFECTS}  # program -> what it can leave out
MOST_DEPTH, MOST_ROULETTE = 32, 16  # on sliders
MOST_LISTED = 50  # lights, in the list
PATHS = ("strategy", "sampler")


def draw_sampling(app: App) -> None:
    """What a program of samples follows; everything at once, nothing is compiled but another sampler."""
    renderer = app.renderer
    if renderer is None or not renderer.progressive:
        imgui.text_disabled("one sample through each pixel's centre")
        return
    program, settings = renderer.settings.program, renderer.settings
    samples = _slider(app, "samples", app.frame.most, 1, MOST_SAMPLES, "of each pixel, to stop at")
    if samples is not None:
        app.frame.aim(samples, app.frame.least_error)
    label("noise")
    changed, share = imgui.slider_float("##noise", 100 * app.frame.least_error, 0.0, 10.0, "%.2f %%")
    tip("estimated relative error to stop at; 0: never")
    if changed:
        app.frame.aim(app.frame.most, max(0.0, share / 100))
        app.wake()
    if program != "shadow":
        depth = _slider(app, "depth", settings.max_depth, 0, MOST_DEPTH, options.option("depth").help)
        if depth is not None:
            app.follow(depth=depth)
    if program == "path":
        _path(app)
    for name in WHITTED.get(program, ()):
        changed, on = imgui.checkbox(name, getattr(settings, name))
        tip(options.option(name).help, about(app, f"{name}.toggle")[1])
        if changed:
            app.follow(**{name: on})
        if name != WHITTED[program][-1]:
            imgui.same_line()
    label("clamp")
    changed, most = imgui.slider_float("##clamp", settings.clamp, 0.0, 100.0, "%.1f" if settings.clamp else "off")
    tip(options.option("clamp").help)
    if changed:
        app.follow(clamp=max(0.0, most))
    label("seed")
    changed, seed = imgui.input_int("##seed", settings.seed)
    if changed and seed >= 0:
        app.follow(seed=seed)


def _path(app: App) -> None:
    assert app.renderer is not None
    settings = app.renderer.settings
    option = options.option("strategy")
    label("strategy")
    chosen = segments("strategy", option.choices, settings.strategy)
    tip(option.help)
    if chosen:
        app.follow(strategy=chosen)
    option = options.option("sampler")
    label("sampler")
    chosen = segments("sampler", option.choices, settings.sampler)
    tip(option.help)
    if chosen:
        app.set(sampler=chosen)
    label("roulette")
    now = settings.roulette or 0
    changed, after = imgui.slider_int("##roulette", min(now, MOST_ROULETTE), 0, MOST_ROULETTE, "%d" if now else "never")
    tip(options.option("roulette").help)
    if changed:
        app.follow(roulette=after or None)


def _slider(app: App, name: str, current: int, low: int, high: int, text: str) -> int | None:
    """A whole number on a slider; logarithmic where there are many."""
    label(name)
    flags = imgui.SliderFlags_.always_clamp | (imgui.SliderFlags_.logarithmic if high > 1000 else 0)
    changed, value = imgui.slider_int(f"##{name}", min(current, high), low, high, "%d", flags)
    tip(text)
    if changed:
        app.wake()
    return value if changed else None


def draw_lens(app: App) -> None:
    """Aperture, focus and filter of the camera."""
    flight, renderer = app.flight, app.renderer
    if flight is None or renderer is None:
        return
    camera, reach = flight.camera, flight.natural_speed
    label("aperture")
    changed, radius = imgui.drag_float(
        "##aperture", camera.aperture, reach * 1e-3, 0.0, reach, "%.4g" if camera.aperture else "pinhole"
    )
    tip(options.option("aperture").help)
    if changed:
        flight.set_lens(max(0.0, radius), camera.focus)
    if camera.aperture > 0:
        label("focus")
        changed, distance = imgui.drag_float(
            "##focus", camera.focus_distance, reach * 5e-3, reach * 1e-4, reach * 1e3, "%.4g"
        )
        tip(f"{options.option('focus').help}; F focuses the point under the cursor")
        if changed and distance > 0:
            flight.set_lens(camera.aperture, distance)
    label("filter")
    chosen = segments("filter", options.option("pixel_filter").choices, renderer.settings.pixel_filter)
    tip(options.option("pixel_filter").help)
    if chosen:
        app.follow(pixel_filter=chosen)


def draw_lights(app: App) -> None:
    """All lights: selected by a click, moved by their numbers or by the mouse; and what is around the scene."""
    lights = app.motion.lights
    listed = lights.listed()
    for light in listed[:MOST_LISTED]:
        chosen = lights.is_chosen(light)
        if imgui.selectable(f"{light.name}##{light.kind}{light.number}", chosen)[0]:
            lights.chosen, lights.visible = (light.kind == "area", light.number), True
        imgui.same_line()
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.set_cursor_pos_x(right - imgui.calc_text_size(light.kind).x)
        imgui.text_disabled(light.kind)
        if chosen:
            _place(app, light)
    if len(listed) > MOST_LISTED:
        imgui.text_disabled(f"and {len(listed) - MOST_LISTED} more")
    if not listed:
        imgui.text_disabled("none but the environment")
    wide = shares(2)
    press(app, "Markers", "lights.show", wide, on=lights.visible)
    imgui.same_line()
    press(app, "Environment", "environment.toggle", wide, on=app.scene_lighting.flux > 0)
    fact("environment", app.scene_lighting.name)
    if isinstance(app.scene_lighting, ImageEnvironment):
        label("turned")
        changed, degrees = imgui.slider_float("##turned", app.rotation, 0.0, 360.0, "%.0f\u00b0")
        tip("about the vertical; Shift+right drag in the picture")
        if changed:
            app.turn_environment(degrees - app.rotation)


def _place(app: App, light: Movable) -> None:
    assert app.flight is not None
    label("towards" if light.kind == "directional" else "at", LABELS / 2)
    step = 0.01 if light.kind == "directional" else 0.01 * app.flight.natural_speed
    changed, at = imgui.drag_float3("##at", list(light.position), step, 0.0, 0.0, "%.4g")
    if changed and any(at):
        app.motion.place_light(light, (at[0], at[1], at[2]))
    if imgui.button("Move with the mouse", ImVec2(-1, 0)):
        app.attempt(lambda: app.motion.grab_light(light))


def draw_motion(app: App) -> None:
    """The animation's time, the turntable, and what follows the mouse."""
    scene, motion = app.scene, app.motion
    wide = shares(2)
    moves = scene is not None and scene.duration > 0
    press(app, "Pause" if motion.playing else "Play", "animation.play", wide, on=motion.playing, enabled=moves)
    imgui.same_line()
    press(app, "Turntable", "turntable", wide, on=motion.turning)
    if scene is None or not moves:
        return
    if len(scene.animations) > 1:
        label("animation")
        imgui.set_next_item_width(-1)
        if imgui.begin_combo("##animation", scene.animations[scene.animation].name):
            for number, each in enumerate(scene.animations):
                if imgui.selectable(f"{each.name}##{number}", number == scene.animation)[0]:
                    scene.play(number)
                    motion.seek(0.0)
            imgui.end_combo()
    label("time")
    changed, seconds = imgui.slider_float("##time", motion.seconds, 0.0, scene.duration, "%.2f s")
    if changed:
        motion.seek(seconds)


def draw_markers(app: App) -> None:
    """A ring at every light, in the picture."""
    lights = app.motion.lights
    if not lights.visible:
        return
    add: Any = imgui.get_background_draw_list()
    dark = imgui.get_color_u32(imgui.ImVec4(0, 0, 0, 0.7))
    for light, (x, y) in lights.markers():
        chosen = lights.is_chosen(light)
        ink = imgui.get_color_u32(color(ACCENT) if chosen else imgui.ImVec4(1, 1, 1, 0.9))
        radius = units(8 if chosen else 6)
        middle = ImVec2(x, y)
        add.add_circle(middle, radius, dark, 0, units(3.5))
        add.add_circle(middle, radius, ink, 0, units(1.5))
        add.add_circle_filled(middle, units(2), ink)
        if chosen:
            add.add_text(ImVec2(x + 1.6 * radius + 1, y - 0.6 * radius + 1), dark, light.name)
            add.add_text(ImVec2(x + 1.6 * radius, y - 0.6 * radius), ink, light.name)
