"""Raystream: ray tracing as stream programs in OpenGL fragment shaders.

>>> import viewer
>>> scene = viewer.load("bunny.ply")  # or the name of a built-in scene
>>> viewer.Renderer(scene).render(size=(512, 512), spp=64).save("bunny.png")
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.base.version import __version__

if TYPE_CHECKING:
    from viewer.renderer.picture import Picture
    from viewer.renderer.rays import Hits
    from viewer.renderer.renderer import Renderer
    from viewer.renderer.sequence import Frame, render_frames, save_frames
    from viewer.renderer.session import Session
    from viewer.renderer.settings import Settings
    from viewer.scene.camera import Camera
    from viewer.scene.scene import Scene

__all__ = [
    "Camera",
    "Frame",
    "Hits",
    "Picture",
    "Renderer",
    "Scene",
    "Session",
    "Settings",
    "ViewerError",
    "__version__",
    "load",
    "render_frames",
    "save_frames",
]

# Looked up when asked for, so that `import viewer` is quick and needs no OpenGL.
_HOMES = {
    "Camera": "viewer.scene.camera",
    "Hits": "viewer.renderer.rays",
    "Frame": "viewer.renderer.sequence",
    "Picture": "viewer.renderer.picture",
    "Renderer": "viewer.renderer.renderer",
    "Scene": "viewer.scene.scene",
    "Session": "viewer.renderer.session",
    "Settings": "viewer.renderer.settings",
    "render_frames": "viewer.renderer.sequence",
    "save_frames": "viewer.renderer.sequence",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'viewer' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def load(scene: str | os.PathLike[str]) -> Scene:
    """The scene of a file (.gltf, .glb, .ply, .obj, .stl), or a built-in one by name; a file of that name goes first.

    Raises ViewerError that names the file, the part and what is wrong.
    """
    from viewer.scene import builtin

    if is_builtin(scene):
        return builtin.build(str(scene))
    from viewer import formats

    return formats.load(os.fspath(scene))


def is_builtin(scene: str | os.PathLike[str]) -> bool:
    """Whether `load` takes it for the name of a built-in scene, and not for a file.

    Raises ViewerError for a word that is neither.
    """
    from viewer.scene import builtin

    if not os.path.exists(scene) and str(scene) in builtin.names():
        return True
    if not os.path.lexists(scene) and os.sep not in str(scene) and "." not in str(scene):
        raise ViewerError(
            str(scene), "neither a file nor a built-in scene", f"built-in scenes: {', '.join(builtin.names())}"
        )
    return False
