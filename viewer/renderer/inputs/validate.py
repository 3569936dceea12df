"""What a renderer is given: a scene in any of its forms, and settings; or one clear line of what else it was."""

from __future__ import annotations

import os

from viewer.base.errors import ViewerError
from viewer.formats.named import kind_of, load
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.inputs.settings import Settings
from viewer.scene.scene import Scene

Given = Scene | Prepared | str | os.PathLike[str]


def scene_given(scene: object) -> Scene | Prepared:
    """The scene itself, or where it is a name the one that `viewer.load` finds.

    Raises ViewerError for what is no scene, and for a file that cannot be read.
    """
    if isinstance(scene, (Scene, Prepared)):
        return scene
    if isinstance(scene, (str, os.PathLike)):
        return load(scene)
    what = f"expected a Scene, the name of a file or of a built-in scene, not {kind_of(scene)}"
    raise ViewerError("scene", what, "viewer.Scene.from_triangles(vertices, faces) makes one of arrays")


def settings_given(settings: object) -> Settings | None:
    """The settings, or None. Raises ViewerError for anything else, such as an option without its keyword."""
    if settings is None or isinstance(settings, Settings):
        return settings
    raise ViewerError("settings", f"expected a Settings, not {kind_of(settings)}", "options have names: depth=8")
