"""The panels of light transport: sampling, lens, lights and environment."""

from __future__ import annotations

from typing import Any

from raystream.film.error import stop_of
from raystream.options import table as options
from raystream.options.picture import DEFAULT_QUALITY, QUALITIES
from raystream.options.table import MOST_SAMPLES
from raystream.renderer.sampling.denoising import LEAST_TOLERANCE, TOLERANCE, denoiser_of
from raystream.scene.edits.movable import Movable
from raystream.scene.environment import SUN, ImageEnvironment
from raystream.viewport.context import ViewportContext
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels.options import choice, combo, draw_part, slider, whole
from raystream.window.panels.theme import ACCENT, color, units
from raystream.window.panels.widgets import LABELS, about, label, press, shares, tip

MOST_LISTED = 50  # lights, in the list
BY_SCENE = "by the scene"
CLAMPED = imgui.SliderFlags_.always_clamp


def draw_sampling(context: ViewportContext) -> None:
    """The options of progressive programs; they serve at once, and nothing is compiled but another sampler."""
    renderer = context.view.renderer
    if renderer is None or not renderer.progressive:
        imgui.text_disabled("one sample through each pixel's centre")
        return
    session = context.view.session
    tolerance = TOLERANCE.get(denoiser_of(renderer.settings, DEFAULT_QUALITY), LEAST_TOLERANCE)
    limits = {name: stop_of(None, None, None, name, tolerance) for name in QUALITIES}
    now = [name for name, limit in limits.items() if (limit.spp, limit.error) == (session.stop.spp, session.stop.error)]
    label("quality")
    chosen = combo("quality", list(limits), "".join(now))
    tip("limits of samples and noise for a picture to be looked at")
    if chosen is not None:
        session.stop_at(limits[chosen].spp, limits[chosen].error)
        context.view.wake()
    label("samples")
    changed, samples = whole("##samples", session.stop.spp, 1, MOST_SAMPLES)
    tip("of each pixel, to stop at")
    if changed:
        session.stop_at(samples, session.stop.error or 0.0)
        context.view.wake()
    label("noise")
    changed, percent = imgui.slider_float("##noise", 100 * (session.stop.error or 0.0), 0.0, 10.0, "%.2f %%")
    tip("estimated relative error to stop at; 0: never")
    if changed:
        session.stop_at(session.stop.spp, max(0.0, percent / 100))
        context.view.wake()
    draw_part(context, "sampling", renderer.settings)


def draw_lens(context: ViewportContext) -> None:
    """Aperture, focus and filter of the camera."""
    controller, renderer = context.view.controller, context.view.renderer
    if controller is None or renderer is None:
        return
    camera, reach = controller.camera, controller.natural_speed
    label("aperture")
    changed, radius = imgui.drag_float(
        "##aperture",
        camera.aperture,
        reach * 1e-3,
        0.0,
        reach,
        "%.4g" if camera.aperture else options.option("aperture").help.zero,
    )
    tip(options.option("aperture").about)
    if changed:
        controller.set_lens(max(0.0, radius), camera.focus)
    if camera.aperture > 0:
        label("focus")
        changed, distance = imgui.drag_float(
            "##focus", camera.focus_distance, reach * 5e-3, reach * 1e-4, reach * 1e3, "%.4g"
        )
        tip(f"{options.option('focus').about}; F focuses the point under the cursor")
        if changed and distance > 0:
            controller.set_lens(camera.aperture, distance)
    choice(context, "pixel_filter", renderer.settings.pixel_filter)


def draw_lights(context: ViewportContext) -> None:
    """All lights: selected by a click, moved by their numbers or by the mouse."""
    lights = context.markers
    listed = lights.listed()
    for light in listed[:MOST_LISTED]:
        chosen = lights.is_chosen(light)
        if imgui.selectable(f"{light.name}##{light.kind}{light.item_index}", chosen)[0]:
            lights.chosen, lights.visible = (light.kind == "area", light.item_index), True
        imgui.same_line()
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.set_cursor_pos_x(right - imgui.calc_text_size(light.kind).x)
        imgui.text_disabled(light.kind)
        if chosen:
            _place(context, light)
    if len(listed) > MOST_LISTED:
        imgui.text_disabled(f"and {len(listed) - MOST_LISTED} more")
    if not listed:
        imgui.text_disabled("none but the environment")
    wide = shares(1)
    press(context, "Markers", "lights.show", wide, on=lights.visible)


def draw_environment(context: ViewportContext) -> None:
    """The environment, its sun's direction, and its rotation."""
    scene_loader, now = context.scene_loader, context.view.environment
    label("around")
    option = options.option("environment")
    chosen = combo("environment", [BY_SCENE, *option.value.words], now.name)
    tip(option.about, about(context, "environment.toggle")[1])
    if chosen:
        scene_loader.light_by(None if chosen == BY_SCENE else chosen)
    if now.name == "sky":
        for name, place, low, high in (("sun height", 0, 0.0, 90.0), ("sun towards", 1, -180.0, 180.0)):
            label(name)
            sun = list(scene_loader.requested.sun or SUN)
            changed, sun[place] = imgui.slider_float(f"##{name}", sun[place], low, high, "%.0f\u00b0", CLAMPED)
            tip(options.option("sun").about)
            if changed:
                scene_loader.set(sun=tuple(sun))
    if isinstance(now, ImageEnvironment):
        label("rotation")
        turned = scene_loader.requested.environment_rotation
        changed, degrees = imgui.slider_float("##rotation", turned, *slider("environment_rotation"), "%.0f\u00b0")
        tip("about the vertical; Shift+right drag in the picture")
        if changed:
            context.editing.turn_environment(degrees - turned)
    wide = shares(2)
    press(context, "On and off", "environment.toggle", wide, on=now.flux > 0)
    imgui.same_line()
    press(context, "Ground", "ground.toggle", wide, on=scene_loader.requested.ground is not None)


def _place(context: ViewportContext, light: Movable) -> None:
    assert context.view.controller is not None
    label("towards" if light.kind == "directional" else "at", LABELS / 2)
    step = 0.01 if light.kind == "directional" else 0.01 * context.view.controller.natural_speed
    changed, at = imgui.drag_float3("##at", list(light.position), step, 0.0, 0.0, "%.4g")
    if changed and any(at):
        context.editing.place_light(light, (at[0], at[1], at[2]))
    if imgui.button("Move with the mouse", ImVec2(-1, 0)):
        context.view.attempt(lambda: context.editing.grab_light(light))


def draw_markers(context: ViewportContext) -> None:
    """A ring at every light, in the picture."""
    lights = context.markers
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
