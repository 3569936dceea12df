"""The error of a film on the device: sums over blocks of pixels, and the kept halves of its samples."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.film.error.neighbour_variance import EDGE
from raystream.kernels.records import FILM, HALF
from raystream.stream.compile.source import Source
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.stream import Stream

SUMS = Record("Sums", Field("sums", "vec4"), Field("neighbours", "vec4"))  # sums over blocks of `EDGE` x `EDGE` pixels
MOST_SIZES = 8  # of films: the reduction keeps its targets for them


class FilmError:
    """The reduction of `FilmBuffer.error` on the device. Every call needs a current context."""

    def __init__(self, device: Device) -> None:
        self.device, self.drawing = device, square(device, Shader(device, error_source()))
        self._keeping: Drawing | None = None
        self._sums: dict[tuple[int, int], Stream] = {}  # by size: blocks have few sizes

    def keep(self, stream: Stream, half: Stream) -> None:
        """Fill a stream of `HALF` from one of `FILM`, of its size."""
        if self._keeping is None:
            self._keeping = square(self.device, Shader(self.device, half_source()))
        half.framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            self._keeping.shader.bind(f"in_{k}", texture)
        self._keeping.render()

    def sums(self, stream: Stream, half: Stream | None = None) -> NDArray[np.float32]:
        """(rows, columns, 8) sums over the blocks of a stream of `FILM`, see ``shaders/film/error.glsl``."""
        drawn = self.draw(stream, half)
        return drawn.read_texels().reshape(*drawn.size[::-1], 8)

    def draw(self, stream: Stream, half: Stream | None = None) -> Stream:
        """These sums as a stream, until the next call."""
        size = -(-stream.size[0] // EDGE), -(-stream.size[1] // EDGE)
        if size not in self._sums:
            if len(self._sums) >= MOST_SIZES:
                self.release()
            self._sums[size] = Stream(self.device, SUMS, size)
        sums = self._sums[size]
        sums.framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            self.drawing.shader.bind(f"in_{k}", texture)
        self.drawing.shader.set("halves", int(half is not None))
        self.drawing.shader.bind("in_half", (half or stream).textures[0])
        self.drawing.render()
        return sums

    def release(self) -> None:
        """Free the textures."""
        for sums in self._sums.values():
            sums.release()
        self._sums.clear()


def error_source() -> Source:
    """The fragment program of `FilmBuffer.error`."""
    source = Source.begin(EDGE=EDGE)
    source.add_record(FILM)
    source.add_record(HALF)
    source.include("film/error.glsl")
    return source


def half_source() -> Source:
    """The fragment program of `FilmBuffer.keep`."""
    source = Source.begin()
    source.add_record(FILM)
    source.add_record(HALF, unpack=False, pack=True)
    source.include("film/half.glsl")
    return source
