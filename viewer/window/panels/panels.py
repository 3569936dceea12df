"""The panels at the left: program and options, the camera, the picture, the scene. They read the viewport and act
through its commands and options."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from raystream.film.tonemap import TONEMAPS
from raystream.options import table as options
from raystream.programs import PICTURES
from raystream.scene.projections import Fisheye
from raystream.scene.scene import Scene
from raystream.viewport.camera_controller import MAX_ANGLE, MIN_ANGLE, PROJECTIONS, CameraController
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import theme, widgets
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.inspector import draw_inspector
from raystream.window.panels.motion import draw_motion, draw_timeline
from raystream.window.panels.options import (
    draw_environment,
    draw_lens,
    draw_lights,
    draw_option,
    draw_part,
    draw_photons,
    draw_sampling,
    slider,
)
from raystream.window.panels.overlay import MAX_LINE, below, draw_overlays, figures, talking
from raystream.window.panels.probe import draw_probe
from raystream.window.panels.theme import units

HANDLE = 90.0  # width of the button that opens the panels, and its room
AUTO_WIDTH = 48.0  # of the exposure's button
MAX_NOTES = 12
DEGREES = "%.1f\u00b0"


_shown = SimpleNamespace(mapped=False)  # whether the program last on show has a photon map


def draw_panels(context: ViewportContext, draw: ImguiDraw) -> None:
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
        draw_timeline(context)
        draw_overlays(context)


def _draw_handle(context: ViewportContext, size: ImVec2) -> None:
    """The button at the upper left that opens the panels."""
    beside = size.x >= units(MAX_LINE + 2 * HANDLE)
    if not theme.panels_fit() or context.view.overlays.help.on or (talking(context) and not beside):
        return
    room = units(theme.ROOM)
    flags = theme.FIXED | imgui.WindowFlags_.always_auto_resize
    bare = theme.styled(window_padding=ImVec2(0, 0), window_border_size=0.0, alpha=0.7)
    with bare, theme.window("##handle", ImVec2(room, room), alpha=0.0, flags=flags) as drawn:
        if drawn:
            widgets.press(context, "Panels", "panels")


def _draw_side(context: ViewportContext, size: ImVec2) -> None:
    room = units(theme.ROOM)
    width = min(units(theme.SIDE_WIDTH), size.x - 2 * room)
    height = max(1.0, size.y - 2 * room - units(theme.STATUS) - below(context))
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


# -- render --------------------------------------------------------------------------------------------------------


def _render(context: ViewportContext) -> None:
    """The machine that runs the program."""
    if context.view.renderer is not None:
        draw_part(context, "machine", context.view.renderer.settings)


def _programs(context: ViewportContext) -> None:
    with theme.styled(frame_padding=ImVec2(0, units(5))):
        current = context.view.renderer.settings.program if context.view.renderer is not None else ""
        titles = [name.capitalize() for name in PICTURES]
        chosen = widgets.segments(
            "program", list(PICTURES), current, titles, describe=lambda name: widgets.about(context, f"program.{name}")
        )
    if chosen:
        context.view.actions.perform(f"program.{chosen}")


def _progress(context: ViewportContext) -> None:
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


def _structure(context: ViewportContext) -> None:
    """Every option that structures are built from; the worker rebuilds them."""
    for name in options.names_of_part("structure"):
        draw_option(context, name, context.scene_loader.requested[name])
    if context.view.renderer is not None:
        structure = context.view.renderer.prepared.structure
        counts = {k: widgets.grouped(v) for k, v in structure.statistics.items() if isinstance(v, int)}
        for name, text in {**structure.facts, **counts}.items():
            widgets.fact(name.replace("_", " "), text)


# -- camera --------------------------------------------------------------------------------------------------------


def _camera(context: ViewportContext) -> None:
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
        widgets.label("view")
        camera_now = controller.camera
        now = next((k for k, camera in enumerate(cameras) if camera == camera_now), -1)
        names = [camera.name for camera in cameras]
        chosen = widgets.choose("view", names, now, ", ".join(names))
        widgets.tip(f"the scene's cameras: {', '.join(names)}", context.view.keymap.text("camera.next"))
        if chosen is not None:
            context.scene_loader.show_camera(chosen)
    _projection(context, controller)
    widgets.label("speed")
    changed, speed = imgui.drag_float("##speed", controller.speed, controller.speed * 0.01, 0.0, 0.0, "%.3g units/s")
    if changed and speed > 0:
        controller.speed = speed
    draw_lens(context)
    widgets.row(context, ("Copy", "camera.copy"), ("Paste", "camera.paste"), ("Frame", FRAME_ALL))


def _projection(context: ViewportContext, controller: CameraController) -> None:
    """The projection, and the angle that it shows; how much an orthographic one shows is the wheel's."""
    widgets.label("projection")
    chosen = widgets.combo("projection", list(PROJECTIONS), controller.projection)
    widgets.tip(options.option("projection").about, context.view.keymap.text("camera.orthographic"))
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


def _picture(context: ViewportContext) -> None:
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
        widgets.label("tonemap")
        chosen = widgets.combo("tonemap", list(TONEMAPS), context.view.tone.tonemap)
        if chosen:
            context.view.tone.choose(tonemap=chosen)
            context.view.wake()
    draw_option(context, "denoise", context.scene_loader.requested.denoise)
    widgets.row(context, ("PNG", "screenshot.picture"), ("EXR", "save.exr"))


# -- looking inside ------------------------------------------------------------------------------------------------


def _inside(context: ViewportContext) -> None:
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


def _statistics(context: ViewportContext) -> None:
    for name, value in figures(context):
        widgets.fact(name, value)
    if context.view.renderer is not None:
        for name, size in context.view.renderer.gpu_scene.resources.bytes().items():
            widgets.fact(f"   {name}", widgets.memory(size))


# -- scene ---------------------------------------------------------------------------------------------------------


def _scene(context: ViewportContext) -> None:
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
            _variants(context, scene)
        _notes(scene.warnings)
    wide = widgets.shares(3)
    widgets.press(context, "Open...", "scene.open", wide)
    imgui.same_line()
    widgets.press(context, "Reload", "scene.reload", wide)
    imgui.same_line()
    _recent(context, wide)


def _variants(context: ViewportContext, scene: Scene) -> None:
    """The file's own look, and its variants."""
    names = [None, *scene.variants]
    widgets.label("variant")
    chosen = widgets.choose("variant", [name or "none" for name in names], names.index(scene.variant), "")
    if chosen is not None:
        context.view.attempt(partial(context.editing.show_variant, names[chosen]))


def _notes(warnings: list[str]) -> None:
    imgui.push_text_wrap_pos(0)
    for text in warnings[:MAX_NOTES]:
        imgui.text_colored(theme.color(theme.WARNING), text)
    if len(warnings) > MAX_NOTES:
        imgui.text_disabled(f"and {len(warnings) - MAX_NOTES} more")
    imgui.pop_text_wrap_pos()


def _recent(context: ViewportContext, width: float) -> None:
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
