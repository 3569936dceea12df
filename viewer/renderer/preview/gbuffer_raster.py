"""Feature buffers of a moving pinhole's pictures by drawing the scene's triangles, where these are all that it shows.

A picture of many pixels takes a fraction of the time that their rays take; silhouettes are those of rays but for what
the rasteriser's places on the screen are rounded by.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

from viewer.cameras.lens import lens_uniforms
from viewer.kernels.records import FACE, FEATURES, HIT, RAY, VERTEX
from viewer.programs import feature_buffers
from viewer.renderer.inputs.prepared import Prepared
from viewer.scene.camera import Camera
from viewer.scene.edits.culling import culled
from viewer.stream.compile.link import LinkedProgram
from viewer.stream.compile.source import Source
from viewer.stream.declare.kernel import Kernel, Module, Table
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, square
from viewer.stream.gl.rasterize import draw_source
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.stream import Stream
from viewer.stream.gl.visible import View, VisibleTriangles

# What its program asks modules for.
_SURFACE = Kernel(
    "surface", (), ("done",), needs=("geometry_at", "surface_at", "emission_seen", "camera_ray", "environment_radiance")
)


def drawable(prepared: Prepared) -> bool:
    """Whether a scene's features can be drawn: it has one level, and triangles alone that let no ray pass."""
    scene = prepared.scene
    return prepared.structure.levels == 1 and not scene.quadric_count and not prepared.look.alpha


def drawn_features_source(prepared: Prepared, resources: Resources) -> Source:
    """The program that finds the features of triangles that were drawn."""
    return _source(_modules(prepared), resources)


def _modules(prepared: Prepared) -> list[Module]:
    linked = LinkedProgram(feature_buffers(), prepared.modules(lit=True))
    return linked.modules_for([_SURFACE])


def _source(modules: list[Module], resources: Resources) -> Source:
    return draw_source(modules, [RAY, HIT, FACE, VERTEX, FEATURES], "raster/visible_surface.glsl", resources)


class DrawnFeatures:
    """The pass over a scene that is `drawable`; the context must be current in every call.

    before : of another scene; what serves this one too is taken from it, and the rest released.
    """

    def __init__(
        self, device: Device, prepared: Prepared, resources: Resources, before: DrawnFeatures | None = None
    ) -> None:
        self.device, self.prepared = device, prepared
        modules = _modules(prepared)
        memories = [memory for module in modules for memory in module.memories]
        source = _source(modules, resources)
        self.drawing: Drawing
        if before is not None and before.drawing.shader.source.text == source.text:
            self.drawing = before.drawing
        else:
            self.drawing = square(device, Shader(device, source))
        tables: dict[str, Any] = {memory.name: memory.data for memory in memories}
        positions, faces = tables["vertices"]["position"], tables["faces"]
        sides = culled(faces["material"], prepared.scene.materials) if prepared.recipe.back_faces == "culled" else None
        self.triangles: VisibleTriangles
        if before is not None and before.triangles.drawn_from(positions, faces["corners"], sides):
            self.triangles = before.triangles
        else:
            if before is not None:
                before.triangles.release()
            self.triangles = VisibleTriangles(device, positions, faces["corners"], sides)
        own = {f"memory_{m.name}": resources.get(m).texture for m in memories if not isinstance(m, Table) or m.hot}
        self._textures = {**own, "memory_arena": resources.arena}
        self._uniforms = {name: value for module in modules for name, (_, value) in module.uniforms.items()}
        self._uniforms |= resources.bases(modules)

    def draw(self, camera: Camera, target: Stream) -> None:
        """The features of all pixels of a stream of `FEATURES`: one sample, through their centres."""
        self.draw_triangles(camera, target.size)
        self.draw_surfaces(camera, target)

    def draw_triangles(self, camera: Camera, size: tuple[int, int]) -> None:
        """Its first half: the nearest triangle of every pixel of a picture of ``size`` (width, height)."""
        lens = lens_uniforms(camera, size, "point")
        names = "camera_origin", "camera_right", "camera_up", "camera_forward"
        self.triangles.draw(View(*(np.asarray(lens[name], np.float64) for name in names)), size)

    def draw_surfaces(self, camera: Camera, target: Stream) -> None:
        """Its second half: what is there, by the same camera."""
        lens = lens_uniforms(camera, target.size, "point")
        shader = self.drawing.shader
        target.framebuffer.use()
        target.framebuffer.viewport = (0, 0, *target.size)
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for name, value in {**self._uniforms, **lens}.items():
            shader.set(name, value)
        for name, texture in self._textures.items():
            shader.bind(name, texture)
        shader.bind("in_visible", self.triangles.visible)
        shader.bind("in_order", self.triangles.order)
        self.drawing.render()

    def release(self) -> None:
        """Free buffers and textures; the scene's memories stay."""
        self.triangles.release()
