"""Raystream: ray tracing as stream programs in OpenGL fragment shaders.

>>> import viewer
>>> viewer.render("bunny.ply", size=(512, 512), spp=64).save("bunny.png")
>>> viewer.show("bunny.ply")

Both take a file, a built-in scene, arrays, and what trimesh, PyVista and Open3D hold; ``help(viewer.Renderer)``
explains every option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError
from viewer.base.version import __version__

if TYPE_CHECKING:
    from viewer.formats.named import is_builtin, load
    from viewer.notebook.show import show
    from viewer.renderer.inputs.settings import Settings
    from viewer.renderer.one_line import render
    from viewer.renderer.renderer import Renderer
    from viewer.renderer.sampling.picture import Picture
    from viewer.renderer.sampling.rays import Hits
    from viewer.renderer.sequence import Frame, render_frames, save_frames
    from viewer.renderer.session.session import Session
    from viewer.scene.camera import Camera
    from viewer.scene.classic import ClassicMaterial, ClassicTexture
    from viewer.scene.material import Material
    from viewer.scene.scene import Scene

__all__ = [
    "Camera",
    "ClassicMaterial",
    "ClassicTexture",
    "Frame",
    "Hits",
    "Material",
    "Picture",
    "Renderer",
    "Scene",
    "Session",
    "Settings",
    "ViewerError",
    "__version__",
    "is_builtin",
    "load",
    "render",
    "render_frames",
    "save_frames",
    "show",
]

__distribution__ = "raystream"  # other distributions have packages of this name, too

# Looked up when asked for, so that `import viewer` is quick and needs no OpenGL.
_HOMES = {
    "Camera": "viewer.scene.camera",
    "ClassicMaterial": "viewer.scene.classic",
    "ClassicTexture": "viewer.scene.classic",
    "Hits": "viewer.renderer.sampling.rays",
    "Material": "viewer.scene.material",
    "Frame": "viewer.renderer.sequence",
    "Picture": "viewer.renderer.sampling.picture",
    "Renderer": "viewer.renderer.renderer",
    "Scene": "viewer.scene.scene",
    "Session": "viewer.renderer.session.session",
    "Settings": "viewer.renderer.inputs.settings",
    "is_builtin": "viewer.formats.named",
    "load": "viewer.formats.named",
    "render": "viewer.renderer.one_line",
    "render_frames": "viewer.renderer.sequence",
    "save_frames": "viewer.renderer.sequence",
    "show": "viewer.notebook.show",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'viewer' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
