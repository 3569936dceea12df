"""The G-buffer of moving pictures: rasterised where a scene has few triangles for the window's pixels, else by rays.

Both grow with the pixels, that of the rasteriser with the triangles, too.
"""

from __future__ import annotations

from raystream.film.device_film import Buffer
from raystream.kernels.records import FEATURES
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.preview.gbuffer_raster import GBufferRaster, raster_scene
from raystream.renderer.preview.scheduler import rasterises
from raystream.renderer.sampling.parts import RendererParts
from raystream.scene.camera import Camera
from raystream.stream.gl.compiler import Batch

# The picture that the driver compiles its part for. Mesa's llvmpipe (22.3) has programs of their own for textures whose
# edges are powers of two, which those of windows are not.
TINY = 15, 9

MOST_BOXES = 1 << 15  # quadrics of a scene that is rasterised


class GBuffer:
    """Rasterises features. pictures : so far."""

    def __init__(self, renderer: RendererParts) -> None:
        self.renderer = renderer
        self.pictures = 0
        self._pixels = 0  # of the window
        self._made: GBufferRaster | None = None
        self._batch = Batch()  # of programs still to compile
        self._seen: PreparedScene | None = None  # the scene of the last picture
        self._reloads = 0  # of the shaders' files, when its programs were made

    def fit(self, pixels: int) -> None:
        """The window has this number of pixels."""
        self._pixels = pixels

    @property
    def suits(self) -> bool:
        """Whether features are rasterised in this scene and window."""
        prepared = self.renderer.prepared
        triangles = int(prepared.starts[-1])
        deforming = prepared.structure.deforming
        if self.renderer.camera.kind:
            return False  # rays find what a pinhole alone can draw
        if prepared.scene.quadric_count > MOST_BOXES:
            return False  # each is drawn as a box
        if deforming is not None and not deforming.poses.finite:
            return False  # triangles with corners nowhere would reach through the picture
        return self.renderer.device.limits is None and rasterises(triangles, self._pixels)

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        return (self._made is not None and not self._batch) or not self.suits

    def prepare(self) -> Batch:
        """Make the rasteriser; its programs, still to compile. The context must be current."""
        if self._made is None:
            with self.renderer.device.deferred() as self._batch:
                self._make()
        return self._batch

    def warm(self) -> None:
        """Compile the rasteriser; the context must be current."""
        self._batch.finish()
        made = self._made or self._make()
        buffer = Buffer(self.renderer.device, FEATURES, TINY)
        made.draw(self.renderer.camera.with_lens(0.0), buffer.blocks[0].stream)
        buffer.release()

    def chosen(self) -> bool:
        """Whether the next picture's features are rasterised; the context must be current.

        Not in the first picture of other meshes: those that change all the time are not worth their buffers.
        """
        prepared, last_prepared, raster = self.renderer.prepared, self._seen, self._made
        self._seen = prepared
        if not self.suits:
            return False
        if raster is not None and raster.prepared is prepared:
            return True
        scene = self.renderer.gpu_scene
        if raster is not None and raster.serves(prepared) and self._reloads == scene.reloads:
            raster.follow(prepared, scene.resources, scene.deformer)
            return True
        moved = raster is not None and raster.draws(raster_scene(prepared).meshes)
        if not (moved or prepared is last_prepared):
            return False
        self._make()
        return True

    def draw(self, buffer: Buffer, camera: Camera) -> None:
        """Fill a buffer of one block, one sample through the pixels' centres, where that has been `chosen`; the context
        must be current. Pixels that see blended surfaces have no sample yet, nor has the buffer: they are for rays."""
        self.queue_triangles(buffer, camera)
        self.queue_surfaces(buffer, camera)
        self.renderer.device.wait()

    def queue_triangles(self, buffer: Buffer, camera: Camera) -> None:
        """The first half of `draw`, which is not waited for."""
        assert self._made is not None
        self._made.draw_triangles(camera, buffer.size)

    def queue_surfaces(self, buffer: Buffer, camera: Camera) -> None:
        """The second half, likewise."""
        assert self._made is not None
        self._made.draw_surfaces(camera, buffer.blocks[0].stream)
        if not self.renderer.prepared.look.blend:
            buffer.brought_to(1)
        self.pictures += 1

    def _make(self) -> GBufferRaster:
        renderer = self.renderer
        scene = renderer.gpu_scene
        self._made = GBufferRaster(renderer.device, renderer.prepared, scene.resources, self._made, scene.deformer)
        self._reloads = scene.reloads
        return self._made

    def release(self) -> None:
        """Free buffers and textures."""
        if self._made is not None:
            with self.renderer.device.current():
                self._made.release()
        self._made = self._seen = None
