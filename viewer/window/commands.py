"""The commands: what each action of the table does."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from viewer.base.errors import ViewerError
from viewer.film.files import image
from viewer.viewport.commands import ENDINGS, numbered_file, picture_handlers
from viewer.viewport.context import Desk
from viewer.window.window import Window


def handlers(desk: Desk, window: Window) -> dict[str, Callable[[], None]]:
    """Action name -> what it does. An action without a handler is greyed."""
    view, studies, picture = desk.view, desk.studies, picture_handlers(desk, window)
    return picture | {
        "lights.show": lambda: _show_lights(desk),
        "lights.next": lambda: _next_light(desk),
        "inspector.show": studies.toggle_inspector,
        "inspector.step": studies.step_inspector,
        "inspector.run": lambda: studies.step_inspector(whole=True),
        "inspector.restart": studies.restart_inspector,
        "probe.show": studies.toggle_probe,
        "heat.next": studies.next_heat,
        "photons.points": studies.photons.toggle_points,
        "photons.cells": studies.photons.toggle_cells,
        "wires.toggle": lambda: _toggle(desk, "wires"),
        "screenshot.window": lambda: view.after_draw(lambda: _shoot(desk, window)),
        "scene.open": lambda: _ask(desk),
        "help": lambda: _toggle(desk, "help_visible"),
        "statistics": lambda: _toggle(desk, "stats_visible"),
        "panels": lambda: _toggle(desk, "panels_visible"),
        "full_screen": window.toggle_full_screen,
        "escape": lambda: _escape(desk, window, picture["escape"]),
        "quit": window.close,
    }


def _toggle(desk: Desk, name: str) -> None:
    setattr(desk.view, name, not getattr(desk.view, name))


def _shoot(desk: Desk, window: Window) -> None:
    """The whole window, panels and all."""
    width, height = window.pixels
    screen = np.frombuffer(window.read(), np.uint8).reshape(height, width, 3)[::-1]
    path = numbered_file("window", ".png")
    image.save_srgb8(path, screen)
    desk.view.say(f"saved {path}")


def _show_lights(desk: Desk) -> None:
    desk.view.shown()
    markers = desk.markers
    markers.visible = not markers.visible
    if markers.visible and not markers.listed():
        desk.view.say("no lights but the environment")


def _next_light(desk: Desk) -> None:
    desk.view.shown()
    light = desk.markers.next()
    desk.view.say(f"light: {light.name}" if light is not None else "no lights but the environment")


def _ask(desk: Desk) -> None:
    """A file dialog of the desktop, which answers later: the window goes on meanwhile."""
    from imgui_bundle import portable_file_dialogs as dialogs

    if sys.platform.startswith("linux") and not any(shutil.which(tool) for tool in ("zenity", "kdialog", "qarma")):
        raise ViewerError("open", "no file dialog on this desktop", "drop a file on the window, or install zenity")
    here = desk.view.path
    folder = str(Path(here).parent) if Path(here).exists() else os.getcwd()
    desk.stage.dialog = dialogs.open_file("Open a scene", folder, ["scenes", " ".join(f"*{e}" for e in ENDINGS)])


def _escape(desk: Desk, window: Window, rest: Callable[[], None]) -> None:
    if desk.stage.loading is None and desk.view.help_visible:
        desk.view.help_visible = False
        return
    if desk.stage.loading is None:
        window.grab(False)
    rest()
