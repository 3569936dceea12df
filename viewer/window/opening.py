"""The start of the window: it opens while the modules of the application are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.base.start.modules import load_beside, loaded
from viewer.viewport.preferences import Preferences
from viewer.window.window import TITLE, Window

if TYPE_CHECKING:
    from viewer.window.app import App

_APP = "viewer.window.app"


def opened(scene: str, **chosen: Any) -> App:
    """The application on a scene, see `App`. To open a window is to wait for the display and the driver's libraries,
    which leaves Python free to load the modules of the application in another thread. Raises the errors of `App`."""
    loading = load_beside(_APP)
    try:
        preferences = Preferences.load()
    except ViewerError:
        preferences = None  # the application tells why
    window = Window(TITLE, (preferences or Preferences()).size)
    loading.join()
    from viewer.window.app import App

    loaded()
    return App(scene, preferences=preferences, window=window, **chosen)
