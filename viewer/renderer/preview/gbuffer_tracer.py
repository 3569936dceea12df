"""Feature buffers of pictures that must come quickly: one pass over a buffer in place, whatever its size.

Pieces that are copied into a machine's streams and back cost more than the camera rays of a simple scene.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from raystream.cameras.lens import lens_uniforms
from raystream.film.device_film import Buffer
from raystream.kernels.records import FEATURES, PIXEL
from raystream.programs import LEVELS, feature_buffers
from raystream.renderer.device.machine_pool import Key, warm
from raystream.renderer.inputs.camera import eye
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import STEP
from raystream.renderer.sampling.parts import RendererParts
from raystream.scene.camera import Camera
from raystream.stream.gl.passes import Declared, PassSet
from raystream.stream.gl.stream import NamedStreams, Stream
from raystream.stream.machines.choice import CHOICE
from raystream.stream.machines.singlepass import Singlepass

NOMINAL = 15, 15  # of the machine, until it has a buffer; no powers of two, as in `gbuffer.TINY`
Blended = Literal["random", "layers", "unfilled"]  # see `GBufferTracer.fill`
PASSES: Declared = {"unfilled": ({"features": FEATURES}, CHOICE)}
MOST_PIXELS = 4  # streams of pixels that are kept, one for each size


class GBufferTracer:
    """Fills buffers of `FEATURES` of one block each; the context need not be current."""

    def __init__(self, renderer: RendererParts) -> None:
        self.renderer = renderer
        self._passes, self._streams = PassSet(renderer.device, "raster", PASSES), NamedStreams(renderer.device)
        self._pixels: dict[tuple[int, int], Stream] = {}  # by size, the one used last at the end

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        machine = self.renderer.gpu_scene.machines.get(self._key()[0])
        return machine is not None and machine.warmed

    def warm(self) -> Iterator[float]:
        """Compile the programs of `fill`; yields the share done."""
        machine = self.prepare()
        yield from warm(self.renderer.device, machine)

    def prepare(self) -> Singlepass:
        """Its machine, whose programs may still be to compile."""
        with self.renderer.device.current():
            if self.renderer.prepared.look.blend:
                self._passes.prepare("unfilled")
            return self._machine(deferred=True)

    def fill(
        self,
        buffer: Buffer,
        samples: int,
        camera: Camera,
        rate: float,
        settings: Settings,
        first: int = 0,
        blended: Blended = "random",
    ) -> Iterator[None]:
        """Fill a buffer with the hits of the camera rays of each pixel's first ``samples`` samples, in strips that take
        about a step of a session each.

        rate : rays a second, as far as is known. settings : by which lens, pixel filter and random numbers are chosen.
        first : number of the first sample. blended : of blended surfaces a ray takes one at random, or all, each by
        its coverage (layers), or these in pixels without a sample alone (unfilled).
        """
        renderer, size = self.renderer, buffer.size
        rays = size[0] * size[1] * max(0, samples - buffer.samples)
        if not rays:
            return
        lens, pixel_filter = eye(settings, camera)
        with renderer.device.current():
            machine = self._machine()
            shared, program = (
                renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).shared,
                machine.linked.program,
            )
            uniforms = renderer.prepared.sample_uniforms(program, settings, shared, samples, first=first)
            machine.fit({"pixel": self._pixel(size), "features": buffer.blocks[0].stream})
            if renderer.prepared.look.blend:
                uniforms["opacity_layered"] = int(blended != "random")
            machine.set({**lens_uniforms(lens, size, pixel_filter), **uniforms})
            machine.choose(self._unfilled(buffer.blocks[0].stream) if blended == "unfilled" else None)
            machine.bands = min(size[1], max(1, math.ceil(rays / (rate * STEP))))
            run = machine.run()
        while True:
            with renderer.device.current():
                if next(run, None) is None:
                    break
            yield None
        buffer.brought_to(max(buffer.samples, samples))

    def _key(self) -> tuple[Key, Settings]:
        settings = self.renderer.settings.replace(machine="singlepass")
        projection = self.renderer.prepared.projection(settings)
        common = NOMINAL, False, settings.passes, settings.sampler
        return Key(("features in place",), *common, projection=projection), settings

    def _machine(self, deferred: bool = False) -> Singlepass:
        key, settings = self._key()
        prepared = self.renderer.prepared
        program = feature_buffers(LEVELS[prepared.structure.levels], prepared.backdrop, prepared.look.blend)
        machine = self.renderer.gpu_scene.machines.take(program, key, settings, deferred=deferred)
        assert isinstance(machine, Singlepass)
        return machine

    def _pixel(self, size: tuple[int, int]) -> Stream:
        """The pixels of a picture, each in its place."""
        stream = self._pixels.pop(size, None)
        if stream is None:
            while len(self._pixels) >= MOST_PIXELS:
                self._pixels.pop(next(iter(self._pixels))).release()
            stream = Stream(self.renderer.device, PIXEL, size)
            self.renderer.gpu_scene.pixels.fill(stream, (slice(0, size[1]), slice(0, size[0])))
        self._pixels[size] = stream
        return stream

    def _unfilled(self, features: Stream) -> Stream:
        """The pixels without a sample, a stream of `CHOICE`: those that have theirs would cost two thirds of a ray."""
        chosen = self._streams.get("unfilled", CHOICE, features.size)
        self._passes.draw("unfilled", {"features": features}, chosen)
        return chosen

    def release(self) -> None:
        """Free the streams; the machine stays with the renderer."""
        with self.renderer.device.current():
            for stream in self._pixels.values():
                stream.release()
            self._streams.release()
        self._pixels.clear()
