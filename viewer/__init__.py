"""The inner package of Raystream. Its public names are those of ``import raystream``, which see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.base.errors import ViewerError, ViewerWarning
from viewer.base.version import __version__

if TYPE_CHECKING:
    from viewer import farm, pyrender
    from viewer.formats.named import is_builtin
    from viewer.formats.objects.take import load
    from viewer.notebook.show import show
    from viewer.renderer.inputs.settings import Settings
    from viewer.renderer.renderer import Renderer
    from viewer.renderer.sampling.picture import Picture
    from viewer.renderer.sampling.ray_queries import Hits
    from viewer.renderer.sequence import Frame, render, render_frames, save_frames
    from viewer.renderer.session.session import Session
    from viewer.scene.camera import Camera
    from viewer.scene.classic import ClassicMaterial, ClassicTexture
    from viewer.scene.light import Light
    from viewer.scene.material import Material
    from viewer.scene.mesh import Instance, Mesh
    from viewer.scene.quadric import Quadric
    from viewer.scene.scene import Scene

__all__ = [
    "Camera",
    "ClassicMaterial",
    "ClassicTexture",
    "Frame",
    "Hits",
    "Instance",
    "Light",
    "Material",
    "Mesh",
    "Picture",
    "Quadric",
    "Renderer",
    "Scene",
    "Session",
    "Settings",
    "ViewerError",
    "ViewerWarning",
    "__version__",
    "farm",
    "is_builtin",
    "load",
    "pyrender",
    "render",
    "render_frames",
    "save_frames",
    "show",
]

__distribution__ = "raystream"  # other distributions have packages of this name, too

# Looked up when asked for, so that `import raystream` is quick and needs no OpenGL.
_HOMES = {
    "Camera": "viewer.scene.camera",
    "ClassicMaterial": "viewer.scene.classic",
    "ClassicTexture": "viewer.scene.classic",
    "Frame": "viewer.renderer.sequence",
    "Hits": "viewer.renderer.sampling.ray_queries",
    "Instance": "viewer.scene.mesh",
    "Light": "viewer.scene.light",
    "Material": "viewer.scene.material",
    "Mesh": "viewer.scene.mesh",
    "Picture": "viewer.renderer.sampling.picture",
    "Quadric": "viewer.scene.quadric",
    "Renderer": "viewer.renderer.renderer",
    "Scene": "viewer.scene.scene",
    "Session": "viewer.renderer.session.session",
    "Settings": "viewer.renderer.inputs.settings",
    "is_builtin": "viewer.formats.named",
    "load": "viewer.formats.objects.take",
    "render": "viewer.renderer.sequence",
    "render_frames": "viewer.renderer.sequence",
    "save_frames": "viewer.renderer.sequence",
    "show": "viewer.notebook.show",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("farm", "pyrender"):
        return import_module(f"viewer.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'viewer' has no attribute '{name}' (the package of raystream, {__path__[0]})")
    return getattr(import_module(_HOMES[name]), name)
