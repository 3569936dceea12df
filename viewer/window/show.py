"""The window in one line, on whatever is at hand."""

from __future__ import annotations

import os
from typing import Any

from viewer.formats.objects.take import taken


def show(scene: Any, **options: Any) -> None:
    """Open a window on a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D; returns
    when it is closed.

    scene   : as of `viewer.formats.objects.take.scene_of`.
    options : those of ``raystream view``, such as ``environment="sky"``, and ``size``, of the window; ``up`` ("y" or
    "z") of objects in memory. A camera is in the object's own coordinates.

    Raises ViewerError for a bad scene, and for a wrong option; where there is no display, too:
    `viewer.render` needs none.
    """
    found = os.fspath(scene) if isinstance(scene, (str, os.PathLike)) else taken(scene, options)
    from viewer.window.app import App

    App(found, **options).run()
