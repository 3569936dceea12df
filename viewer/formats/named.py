"""Scenes by name: a file's, or a built-in one."""

from __future__ import annotations

import os

from raystream import formats
from raystream.base.errors import ViewerError
from raystream.options.declare import suggestion
from raystream.scene import builtin
from raystream.scene.edits.framed import framed, from_the_front
from raystream.scene.scene import Scene


def load(
    scene: str | os.PathLike[str],
    variant: str | int | None = None,
    lenient: bool = False,
    max_texture: int | None = None,
) -> Scene:
    """The scene of a file (.gltf, .glb, .ply, .obj, .stl, .bsp), or a built-in one by name; files take precedence.

    variant : the file's material variant, as in `Scene.with_variant`. lenient : checkerboards replace unreadable
    images, with a note in the scene's ``warnings``. max_texture : longest side, in texels, at which images are read
    that would not fit in memory whole; all others are read as they are. Where the file's first camera shows the scene
    badly, the default view takes its place, with a note.

    Raises ViewerError with the file, the part and the fault.
    """
    name = _name(scene)
    if is_builtin(name):
        return builtin.build(name).with_variant(variant)
    loaded = from_the_front(framed(formats.load(name, lenient, max_texture)))
    return loaded.with_parts(fills=True).with_variant(variant)


def is_builtin(scene: str | os.PathLike[str]) -> bool:
    """Whether `load` reads the name as a built-in scene, not as a file.

    Raises ViewerError for a name that is neither.
    """
    name, names = _name(scene), builtin.names()
    if not os.path.exists(name) and name in names:
        return True
    if not os.path.lexists(name) and os.sep not in name and "." not in name:
        hint = suggestion(name, names) or f"built-in scenes: {', '.join(names)}"
        raise ViewerError(name or "''", "neither a file nor a built-in scene", hint)
    return False


def _name(scene: object) -> str:
    name = os.fspath(scene) if isinstance(scene, (str, os.PathLike)) else scene
    if not isinstance(name, str):
        names = ", ".join(builtin.names())
        raise ViewerError("scene", f"expected the name of a file or of a built-in scene, not {kind_of(scene)}", names)
    return name


def kind_of(value: object) -> str:
    """The type of a value, for messages: its name, or None."""
    return "None" if value is None else type(value).__name__
