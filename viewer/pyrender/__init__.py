"""pyrender's names over the renderer: ``import raystream.pyrender as pyrender``.

pyrender: M. Matl, https://github.com/mmatl/pyrender, version 0.1.45; its documentation holds, and README.md here says
where pictures differ.
"""

from __future__ import annotations

from raystream.base.version import __version__
from raystream.pyrender.camera import Camera, IntrinsicsCamera, OrthographicCamera, PerspectiveCamera
from raystream.pyrender.constants import GLTF, RenderFlags, TextAlign
from raystream.pyrender.light import DirectionalLight, Light, PointLight, SpotLight
from raystream.pyrender.material import (
    Material,
    MetallicRoughnessMaterial,
    Sampler,
    SpecularGlossinessMaterial,
    Texture,
)
from raystream.pyrender.mesh import Mesh, Primitive
from raystream.pyrender.offscreen import OffscreenRenderer
from raystream.pyrender.scene import Node, Scene
from raystream.pyrender.viewer import Viewer

__all__ = [
    "GLTF",
    "Camera",
    "DirectionalLight",
    "IntrinsicsCamera",
    "Light",
    "Material",
    "Mesh",
    "MetallicRoughnessMaterial",
    "Node",
    "OffscreenRenderer",
    "OrthographicCamera",
    "PerspectiveCamera",
    "PointLight",
    "Primitive",
    "RenderFlags",
    "Sampler",
    "Scene",
    "SpecularGlossinessMaterial",
    "SpotLight",
    "TextAlign",
    "Texture",
    "Viewer",
    "__version__",
]
