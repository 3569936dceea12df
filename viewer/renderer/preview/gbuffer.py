"""The G-buffer of moving pictures, by the rasteriser or by camera rays, whichever is faster in this scene."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from viewer.film.device_film import Buffer
from viewer.kernels.records import FEATURES
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.preview.gbuffer_raster import GBufferRaster, raster_meshes
from viewer.renderer.preview.gbuffer_tracer import GBufferTracer
from viewer.renderer.preview.motion import of_motion
from viewer.renderer.preview.scheduler import SCALES, SMOOTHING
from viewer.renderer.sampling.parts import RendererParts
from viewer.scene.camera import Camera

TINY, TIMED = (16, 9), (256, 144)  # pictures that tell what a scene costs, and what its pixels do
TIMES = 3  # that each is made; the shortest counts
LONGEST = 0.05  # seconds of a drawn picture; a larger one has up to half of the width and height
MOST_TRIANGLES = 4_000_000  # of all meshes: beyond, their buffers take long to make
MOST_DRAWN = 20_000_000  # of all instances: beyond, to time a picture alone takes long
AGAIN = 16  # pictures by rays after which drawing is tried again: the view is another
FIRST_RATE = 1e8  # rays a second: all in one pass


@dataclass
class Cost:
    """Seconds of a picture, of a software driver those of all cores: of the scene, and of each pixel."""

    scene: float = 0.0
    pixel: float = 0.0

    def of(self, pixels: int) -> float:
        """Of a picture of so many pixels."""
        return self.scene + self.pixel * pixels

    def note(self, pixels: int, seconds: float) -> None:
        """A picture took so long."""
        self.pixel += SMOOTHING * (max(seconds - self.scene, 0.0) / pixels - self.pixel)


class GBuffer:
    """Rasterises features where that is possible and faster. drawing, rays : what either costs, as far as is known."""

    def __init__(self, renderer: RendererParts, by_rays: GBufferTracer) -> None:
        self.renderer, self.by_rays = renderer, by_rays
        self.drawing, self.rays = Cost(), Cost(pixel=1.0)
        self.pictures = 0  # that were drawn
        self.longest = LONGEST
        self._made: GBufferRaster | None = None
        self._seen: Prepared | None = None  # the scene of the last picture
        self._skipped = 0

    def scale(self, pixels: int) -> float:
        """Of the width and height of a picture of so many pixels, as many as can be drawn in ``longest`` seconds."""
        return next((s for s in SCALES if self.drawing.of(int(pixels * s * s)) <= self.longest), SCALES[4])

    def now(self) -> float:
        """Seconds: of a software driver those of all cores, which other processes lengthen least."""
        return time.process_time() if self.renderer.device.software else time.perf_counter()

    @property
    def possible(self) -> bool:
        """Whether the scene's features can be drawn."""
        renderer = self.renderer
        if renderer.device.limits is not None or renderer.prepared.starts[-1] > MOST_DRAWN:
            return False
        scene = renderer.prepared.scene
        return sum(len(scene.meshes[n].triangles) for n in {i.mesh for i in scene.instances}) <= MOST_TRIANGLES

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile or to time."""
        return self._made is not None or not self.possible

    def warm(self) -> Iterator[None]:
        """Compile what draws, and time both."""
        renderer = self.renderer
        if not self.possible:
            return
        with renderer.device.current():
            self._make()
        yield
        for size in (TINY, TIMED):
            with renderer.device.current():
                buffer = Buffer(renderer.device, FEATURES, size)
            pixels, camera = size[0] * size[1], renderer.camera.with_lens(0.0)
            settings = of_motion(renderer.settings)
            drawn = cast = math.inf
            for _ in range(TIMES):  # the first may compile
                with renderer.device.current():
                    began = self.now()
                    self._draw(buffer, camera)
                    renderer.device.wait()
                    drawn = min(drawn, self.now() - began)
                    buffer.clear()
                    renderer.device.wait()
                began = self.now()
                for _ in self.by_rays.fill(buffer, 1, camera, FIRST_RATE, settings):
                    pass
                with renderer.device.current():
                    renderer.device.wait()
                cast = min(cast, self.now() - began)
            with renderer.device.current():
                buffer.release()
            if size == TINY:
                self.drawing, self.rays = Cost(drawn), Cost(cast)
            else:
                self.drawing.pixel = max(drawn - self.drawing.scene, 0.0) / pixels
                self.rays.pixel = max(cast - self.rays.scene, 0.0) / pixels
            yield

    def chosen(self, pixels: int) -> bool:
        """Whether the features of a picture of so many pixels are best drawn; the context must be current."""
        if not self._current():
            return False
        if self.drawing.of(pixels) > self.rays.of(pixels):
            self._skipped += 1
            if self._skipped <= AGAIN:
                return False
        self._skipped = 0
        return True

    def draw(self, buffer: Buffer, camera: Camera) -> None:
        """Fill a buffer of one block by drawing, one sample through the pixels' centres, where that has been `chosen`.

        The context must be current.
        """
        began = self.now()
        self._draw(buffer, camera)
        self.renderer.device.wait()
        self.drawing.note(buffer.size[0] * buffer.size[1], self.now() - began)
        buffer.samples = 1
        self.pictures += 1

    def queue_triangles(self, buffer: Buffer, camera: Camera) -> None:
        """The first half of `draw`, which is neither waited for nor timed."""
        assert self._made is not None
        self._made.draw_triangles(camera, buffer.size)

    def queue_surfaces(self, buffer: Buffer, camera: Camera) -> None:
        """The second half, likewise."""
        assert self._made is not None
        self._made.draw_surfaces(camera, buffer.blocks[0].stream)
        buffer.samples = 1
        self.pictures += 1

    def cast(self, pixels: int, seconds: float) -> None:
        """Rays have filled a buffer of so many pixels in so many seconds, as of `now`."""
        self.rays.note(pixels, seconds)

    def _current(self) -> bool:
        """Whether this scene can be drawn by now: one whose meshes change all the time is not worth its buffers."""
        prepared, seen, made = self.renderer.prepared, self._seen, self._made
        self._seen = prepared
        if made is not None and made.prepared is prepared:
            return True
        moved = made is not None and made.draws(raster_meshes(prepared)[0])
        if not (moved or prepared is seen) or not self.possible:
            return False
        self._make()
        return True

    def _make(self) -> None:
        renderer = self.renderer
        self._made = GBufferRaster(renderer.device, renderer.prepared, renderer.gpu_scene.resources, self._made)

    def _draw(self, buffer: Buffer, camera: Camera) -> None:
        assert self._made is not None
        self._made.draw(camera, buffer.blocks[0].stream)

    def release(self) -> None:
        """Free buffers and textures."""
        if self._made is not None:
            with self.renderer.device.current():
                self._made.release()
        self._made = self._seen = None
