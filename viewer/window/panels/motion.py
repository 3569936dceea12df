"""Motion: the panel of animation and turntable, and the timeline below the picture."""

from __future__ import annotations

from raystream.viewport.editing import SPEEDS
from raystream.viewport.host import ViewportContext
from raystream.window.bundle import ImVec2, imgui
from raystream.window.panels import theme
from raystream.window.panels.theme import units
from raystream.window.panels.widgets import choose, combo, label, press, row

TIMELINE_WIDTH = 560.0
FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_bring_to_front_on_focus
)


def draw_motion(context: ViewportContext) -> None:
    """Which animation plays and how, its time, and the turntable."""
    editing = context.editing
    row(context, _play(context), ("Turntable", "turntable", editing.turning))
    if not _animated(context):
        return
    player, animations = editing.animation.player, editing.animation.names
    if len(animations) > 1:
        label("animation")
        names = [*animations, "all"]
        index = names.index(editing.animation.name) if editing.animation.name in names else -1
        chosen = choose("animation", names, index, editing.animation.name)
        if chosen is not None:
            editing.animation.choose(chosen if chosen < len(animations) else "all")
    label("speed")
    speeds = [f"{speed:g} x" for speed in SPEEDS]
    text = combo("speed", speeds, f"{player.speed:g} x")
    if text:
        player.speed = SPEEDS[speeds.index(text)]
    row(
        context,
        ("Back", "animation.back"),
        ("Forward", "animation.forward"),
        ("Loop", "animation.loop", player.loop),
    )
    label("time")
    _scrub(context, "##time")


def draw_timeline(context: ViewportContext) -> None:
    """Play, and a bar to scrub, below the picture of an animated scene."""
    if not timeline_room(context):
        return
    size = imgui.get_io().display_size
    start, end = theme.free(True, context.debug_views.inspector is not None)
    width = min(units(TIMELINE_WIDTH), end - start - 2 * units(theme.ROOM))
    bottom = size.y - units(theme.STATUS) - units(theme.ROOM)
    position, extent = ImVec2((start + end) / 2, bottom), ImVec2(width, _height())
    with theme.window("##timeline", position, extent, (0.5, 1), 0.82, FLAGS) as drawn:
        if drawn:
            text, action, *state = _play(context)
            press(context, text, action, units(64), *state)
            imgui.same_line()
            imgui.set_next_item_width(-1)
            _scrub(context, "##timeline.time")


def timeline_room(context: ViewportContext) -> float:
    """The height that the timeline takes above the status line; 0 where it is not shown."""
    wide = imgui.get_io().display_size.x
    visible = context.view.overlays.panels.on and _animated(context) and not context.view.overlays.help.on
    return _height() + units(theme.ROOM) if visible and not theme.narrow(wide) else 0.0


def _height() -> float:
    return imgui.get_frame_height() + 2 * imgui.get_style().window_padding.y


def _animated(context: ViewportContext) -> bool:
    scene = context.view.scene
    return scene is not None and scene.duration > 0


def _play(context: ViewportContext) -> tuple[str, str, bool, bool]:
    """The button that plays and pauses, see `row`."""
    playing = context.editing.animation.player.playing
    return "Pause" if playing else "Play", "animation.play", playing, _animated(context)


def _scrub(context: ViewportContext, name: str) -> None:
    """A slider over the animation's time."""
    editing = context.editing
    duration = context.view.scene.duration if context.view.scene is not None else 0.0
    text = f"%.2f of {duration:.2f} s"
    changed, seconds = imgui.slider_float(name, editing.animation.player.seconds, 0.0, duration, text)
    if changed:
        editing.animation.seek(seconds)
