"""The start of the window: of the command, while the modules of the application are loaded, or in one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError
from raystream.base.start import finish_loading, load_beside
from raystream.viewport.preferences import Preferences
from raystream.window.window import TITLE, Window

if TYPE_CHECKING:
    from raystream.scene.scene import Scene
    from raystream.window.app import App

_APP = "raystream.window.app"


def opened(scene: str, **chosen: Any) -> App:
    """The application on a scene, see `App`. To open a window is to wait for the display and the driver's libraries,
    which leaves Python free to load the modules of the application in another thread. Raises the errors of `App`."""
    loading = load_beside(_APP)
    try:
        preferences = Preferences.load()
    except ViewerError:
        preferences = None  # the application tells why
    window = Window(TITLE, chosen.get("size") or (preferences or Preferences()).size)
    loading.join()
    from raystream.window.app import App

    finish_loading()
    return App(scene, preferences=preferences, window=window, **chosen)


def show_live(
    scene: Scene,
    began: Callable[[App], object],
    keys: Mapping[str, Callable[[], object]],
    full_screen: bool = False,
    **options: Any,
) -> None:
    """Open a window for a program that goes on; returns when it is closed. began : called with the application before
    its first turn. keys : of `Events.custom_keys`. Errors and other options are those of `show`."""
    from raystream.window.app import App

    app = App(scene, **options)
    app.events.custom_keys = keys
    if full_screen and not app.window.full_screen:
        app.window.toggle_full_screen()
    began(app)
    app.run()


def show(scene: Any, **options: Any) -> None:
    """Open a window on a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D; returns
    when it is closed.

    scene   : as of `raystream.formats.objects.scene_of`.
    options : those of ``raystream view``, such as ``environment="sky"``, and ``size``, of the window; ``up`` ("y" or
    "z") of objects in memory. A camera is in the object's own coordinates.

    Raises ViewerError for a bad scene, and for a wrong option; where there is no display, too:
    `raystream.render` needs none.
    """
    from raystream.formats.objects import scene_from

    source = os.fspath(scene) if isinstance(scene, (str, os.PathLike)) else scene_from(scene, options)
    from raystream.window.app import App

    App(source, **options).run()
