"""The visibility buffer: which triangle of which instance a pinhole sees through the middle of every pixel.

C. A. Burns and W. A. Hunt, "The Visibility Buffer: A Cache-Friendly Approach to Deferred Shading" (JCGT 2013).
"""

from __future__ import annotations

import moderngl

from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader
from raystream.stream.gl.objects import RawObject
from raystream.stream.gl.stream import float_texture
from raystream.stream.raster.instanced import ONE_SIDED, TESTED, InstancedMeshes, PinholeView
from raystream.stream.raster.rasterize import attach_depth

NEAR = 1e-6  # of the extent: what is nearer to the eye is cut


def raster_source(file: str) -> Source:
    """A program of ``shaders/raster`` that needs no modules."""
    return Source.of_file(f"raster/{file}.glsl")


class VisibilityBuffer:
    """The pass over `InstancedMeshes`; the context must be current in every call.

    visible : a texture of two floats, row 0 at the top: the place of the triangle in the index buffer, and the slot of
    its instance; -1: nothing is seen.
    """

    def __init__(self, device: Device, meshes: InstancedMeshes) -> None:
        self.device, self.meshes = device, meshes
        self.shader = Shader(device, raster_source("visible_fragment"), raster_source("visible_vertex"), listed=True)
        self.visible = float_texture(device, (1, 1), 2)
        self._target = DepthTarget(device)

    def draw(self, view: PinholeView, size: tuple[int, int], tested: Shader | None = None) -> None:
        """Find the nearest triangle of every pixel of a picture of ``size`` (width, height). tested : the program of
        those that are `TESTED`, with its textures bound; without it they are left out."""
        self.meshes.select(view)
        if self.visible.size != size:
            self.visible.release()
            self.visible = float_texture(self.device, size, 2)
        self._target.begin(self.visible, (-1.0, -1.0, 0.0, 0.0))
        for shader, kinds in ((self.shader, (0, ONE_SIDED)), (tested, (TESTED, TESTED | ONE_SIDED))):
            if shader is not None:
                shader.set("least_depth", NEAR * self.meshes.extent)
                self.meshes.render(shader, kinds)
        self._target.end()

    def release(self) -> None:
        """Free the picture; the meshes stay."""
        self._target.release()
        self.visible.release()


class DepthTarget:
    """A depth buffer for pictures, in which greater is nearer; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._of: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._depth: RawObject | None = None

    def begin(self, texture: moderngl.Texture, blank: tuple[float, float, float, float]) -> None:
        """Empty a picture, which is drawn to until `end`, row 0 at the top."""
        context = self.device.context
        if self._target is None or self._of is not texture:
            self.release()
            self._of, self._target = texture, context.framebuffer([texture])
            self._depth = attach_depth(self.device, self._target, texture.size)
        self._target.depth_mask = True
        self._target.use()
        self._target.clear(*blank, depth=0.0)
        self._target.viewport = (0, 0, *texture.size)
        context.enable(moderngl.DEPTH_TEST)
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        context.depth_func = ">"

    def keep_depths(self) -> None:
        """What is drawn from here on until `end` hides nothing behind it."""
        assert self._target is not None
        self._target.depth_mask = False

    def end(self) -> None:
        """The state that other passes expect."""
        self.device.context.disable(moderngl.DEPTH_TEST)
        self.device.context.depth_func = "<"

    def release(self) -> None:
        """Free the depths; the picture stays."""
        if self._target is not None and self._depth is not None:
            self._depth.release()
            self._target = self._of = self._depth = None
