"""pyrender's names over the renderer: ``import raystream.pyrender as pyrender``.

pyrender: M. Matl, https://github.com/mmatl/pyrender, version 0.1.45; its documentation holds, and README.md here says
where pictures differ.
"""

from __future__ import annotations

from viewer.base.version import __version__
from viewer.pyrender.camera import Camera, IntrinsicsCamera, OrthographicCamera, PerspectiveCamera
from viewer.pyrender.constants import GLTF, RenderFlags, TextAlign
from viewer.pyrender.light import DirectionalLight, Light, PointLight, SpotLight
from viewer.pyrender.material import Material, MetallicRoughnessMaterial, SpecularGlossinessMaterial
from viewer.pyrender.mesh import Mesh
from viewer.pyrender.node import Node
from viewer.pyrender.offscreen import OffscreenRenderer
from viewer.pyrender.primitive import Primitive
from viewer.pyrender.scene import Scene
from viewer.pyrender.texture import Sampler, Texture
from viewer.pyrender.viewer import Viewer

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
