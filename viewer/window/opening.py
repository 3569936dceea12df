"""The start of the window: it opens while the modules of what it shows are loaded."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.base.interrupts import UNWAITED
from viewer.base.start.modules import loaded
from viewer.viewport.preferences import Preferences
from viewer.window.window import TITLE, Window

if TYPE_CHECKING:
    from viewer.window.app import App

_APP = "viewer.window.app"


def opened(scene: str, **chosen: Any) -> App:
    """The application on a scene, see `App`. To open a window is to wait for the display and the driver's libraries,
    which leaves Python free to load the modules of the application in another thread. Raises what `App` raises."""
    loading = threading.Thread(target=_load, name=UNWAITED, daemon=True)
    loading.start()
    try:
        preferences = Preferences.load()
    except ViewerError:
        preferences = None  # the application tells why
    window = Window(TITLE, (preferences or Preferences()).size)
    loading.join()
    from viewer.window.app import App

    loaded()
    return App(scene, preferences=preferences, window=window, **chosen)


def _load() -> None:
    try:
        import_module(_APP)
    except Exception:  # raised once more where it is imported
        return
