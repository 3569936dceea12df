"""The commands: the handlers of the table's actions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable

import numpy as np

from raystream.film.files import image
from raystream.viewport.commands import numbered_file, picture_handlers
from raystream.viewport.context import ViewportContext
from raystream.viewport.folder import OPENED, start_folder
from raystream.viewport.view_state import Overlay
from raystream.window.window import Window


def handlers(context: ViewportContext, window: Window, list_files: Callable[[], None]) -> dict[str, Callable[[], None]]:
    """Action name -> handler. An action without a handler is greyed. list_files : shows our own list of files."""
    view, debug_views, picture = context.view, context.debug_views, picture_handlers(context, window)
    overlays = view.overlays
    return picture | {
        "lights.show": lambda: _show_lights(context),
        "lights.next": lambda: _next_light(context),
        "inspector.show": debug_views.toggle_inspector,
        "inspector.step": debug_views.step_inspector,
        "inspector.run": lambda: debug_views.step_inspector(to_end=True),
        "inspector.restart": debug_views.restart_inspector,
        "probe.show": debug_views.toggle_probe,
        "heat.next": debug_views.next_heat,
        "photons.points": debug_views.photons.toggle_points,
        "photons.cells": debug_views.photons.toggle_cells,
        "wires.toggle": lambda: _toggle(context, overlays.boxes),
        "screenshot.window": lambda: view.after_draw(lambda: _shoot(context, window)),
        "scene.open": lambda: _ask(context, list_files),
        "help": lambda: _toggle(context, overlays.help),
        "statistics": lambda: _toggle(context, overlays.statistics),
        "panels": lambda: _toggle(context, overlays.panels),
        "full_screen": lambda: _full_screen(context, window),
        "escape": lambda: _escape(context, window, picture["escape"]),
        "quit": window.close,
    }


def _toggle(context: ViewportContext, overlay: Overlay) -> None:
    overlay.on = not overlay.on
    context.view.say_switched(overlay.name, overlay.on)


def _full_screen(context: ViewportContext, window: Window) -> None:
    window.toggle_full_screen()
    context.view.say_switched("full screen", window.full_screen)


def _shoot(context: ViewportContext, window: Window) -> None:
    """The whole window, panels and all."""
    width, height = window.pixels
    screen = np.frombuffer(window.read(), np.uint8).reshape(height, width, 3)[::-1]
    path = numbered_file("window", ".png")
    image.save_srgb8(path, screen)
    context.view.say(f"saved {path}")


def _show_lights(context: ViewportContext) -> None:
    context.view.require_scene()
    markers = context.markers
    markers.visible = not markers.visible
    if markers.visible and not markers.listed():
        context.view.say("no lights but the environment")
    else:
        context.view.say_switched("markers of lights", markers.visible)


def _next_light(context: ViewportContext) -> None:
    context.view.require_scene()
    light = context.markers.next()
    context.view.say(f"light: {light.name}" if light is not None else "no lights but the environment")


def _ask(context: ViewportContext, list_files: Callable[[], None]) -> None:
    """A file dialog of the desktop, which answers later: the window goes on meanwhile. Without one, our own list."""
    from imgui_bundle import portable_file_dialogs as dialogs

    import raystream.window.bundle  # noqa: F401  # which may just be loading: the package is a stub meanwhile

    if sys.platform.startswith("linux") and not any(shutil.which(tool) for tool in ("zenity", "kdialog", "qarma")):
        list_files()
        return
    folder = str(start_folder(context.scene_loader.shown_path, context.view.preferences.recent))
    context.scene_loader.dialog = dialogs.open_file(
        "Open a scene", folder, ["scenes", " ".join(f"*{suffix}" for suffix in OPENED)]
    )


def _escape(context: ViewportContext, window: Window, escape_picture: Callable[[], None]) -> None:
    if context.scene_loader.loading is None and context.view.overlays.help.on:
        context.view.overlays.help.on = False
        return
    if context.scene_loader.loading is None:
        window.grab(False)
    escape_picture()
