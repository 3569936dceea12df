"""A picture's streams on the device: its film and its feature buffers, which machines fill, rectangle by rectangle.

They are read back to be saved or judged, not once per run: how noisy a film is, a reduction on the device tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.film.adaptive import decide, keep, next_run
from viewer.film.error.convergence import ConvergenceHistory, Halves, kept, last_of, variance_of_mean
from viewer.film.error.neighbour_variance import EDGE, doubt, variances_beside
from viewer.film.error.sample_budget import SampleBudget
from viewer.film.film import Film
from viewer.kernels.records import FILM, HALF, PIXEL
from viewer.stream.compile.generate import VERSION
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Field, Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Drawing, Shader, square
from viewer.stream.gl.stream import Stream
from viewer.stream.machines.choice import CHOICE

LARGEST_BLOCK = 1 << 24  # pixels of a picture in one stream
SUMS = Record("Sums", Field("sums", "vec4"), Field("beside", "vec4"))  # of blocks of `EDGE` x `EDGE` pixels
MOST_SIZES = 8  # of films, for which the reduction keeps its targets


class Block(NamedTuple):
    """A part of the picture, from its upper left pixel (x, y) on, and the stream that holds it, of its size."""

    x: int
    y: int
    stream: Stream


class Buffer:
    """Records of a picture's pixels on the device, row 0 at the top; zeros at first. The context must be current in
    every call."""

    def __init__(self, device: Device, record: Record, size: tuple[int, int], corner: tuple[int, int] = (0, 0)) -> None:
        """size : (width, height), pixels, in as many streams as the driver's textures make necessary. corner : the
        pixel (x, y) of the picture that is its upper left one, where it is of a part of the picture."""
        self.device, self.record, self.size, self.corner = device, record, size, corner
        width, height = size
        wide = min(width, device.max_texture)
        tall = min(height, device.max_texture, max(1, LARGEST_BLOCK // wide))
        self.blocks = [
            Block(x, y, Stream(device, record, (min(wide, width - x), min(tall, height - y))))
            for y in range(0, height, tall)
            for x in range(0, width, wide)
        ]
        self.samples = 0  # that every pixel has, at least
        self.clear()

    def brought_to(self, samples: int) -> None:
        """Every pixel has so many samples, at least."""
        self.samples = samples

    def clear(self) -> None:
        """Zeros everywhere."""
        self.brought_to(0)
        for block in self.blocks:
            block.stream.clear()

    def lend(self, rectangle: tuple[slice, slice], size: tuple[int, int]) -> Stream | None:
        """The stream itself, where it holds just this rectangle (rows, columns) as a machine of ``size`` would."""
        stream = self.blocks[0].stream
        rows, columns = self._own(rectangle)
        whole = (rows.start, columns.start) == (0, 0) and (columns.stop, rows.stop) == self.size
        return stream if whole and len(self.blocks) == 1 and stream.size == size else None

    def parts(self, rectangle: tuple[slice, slice]) -> Iterator[tuple[Block, tuple[int, int], tuple[int, int]]]:
        """The blocks that a rectangle touches, with its corner in each, and its size."""
        rows, columns = self._own(rectangle)
        size = (columns.stop - columns.start, rows.stop - rows.start)
        for block in self.blocks:
            wide, tall = block.stream.size
            beside = columns.stop <= block.x or block.x + wide <= columns.start
            if not beside and rows.stop > block.y and block.y + tall > rows.start:
                yield block, (columns.start - block.x, rows.start - block.y), size

    def _own(self, rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
        """A rectangle of the picture as one of the buffer."""
        (rows, columns), (x, y) = rectangle, self.corner
        return slice(rows.start - y, rows.stop - y), slice(columns.start - x, columns.stop - x)

    def fields(self) -> dict[str, NDArray[np.float32]]:
        """Fields by name, (H, W) or (H, W, width) float32, see `Stream.fields`."""
        if len(self.blocks) == 1:
            return self.blocks[0].stream.fields()
        out: dict[str, NDArray[np.float32]] = {}
        for block in self.blocks:
            wide, tall = block.stream.size
            for name, values in block.stream.fields().items():
                whole = out.setdefault(name, np.empty((*self.size[::-1], *values.shape[2:]), np.float32))
                whole[block.y : block.y + tall, block.x : block.x + wide] = values
        return out

    def read(self) -> NDArray:
        """(H, W) structured of the record's dtype."""
        out = np.zeros(self.size[::-1], self.record.dtype)
        for block in self.blocks:
            wide, tall = block.stream.size
            out[block.y : block.y + tall, block.x : block.x + wide] = block.stream.read()
        return out

    def write(self, records: NDArray) -> None:
        """records : (H, W) structured of the record's dtype."""
        for block in self.blocks:
            wide, tall = block.stream.size
            block.stream.write(records[block.y : block.y + tall, block.x : block.x + wide])

    @property
    def bytes(self) -> int:
        """Of its textures."""
        return sum(block.stream.bytes for block in self.blocks)

    def release(self) -> None:
        """Free the textures."""
        for block in self.blocks:
            block.stream.release()


class FilmBuffer(Buffer):
    """A film on the device: what `viewer.film.film.Film` is on the host."""

    def __init__(
        self, device: Device, size: tuple[int, int], film: Film | None = None, corner: tuple[int, int] = (0, 0)
    ) -> None:
        """film : to go on from. corner : as of `Buffer`."""
        super().__init__(device, FILM, size, corner)
        self.brought_to(0 if film is None else int(film.count.min()))
        self.reduction: FilmError | None = None  # for `error`: one that has served it
        self.halves: Buffer | None = (
            None  # of the first half of twice as many samples; see `viewer.film.error.convergence`
        )
        self.efficiency = 1.0  # `Film.efficiency` when `error` was asked last
        self.doubt = 0.0  # `Film.doubt`, then
        self.half = 0  # samples of that; and what the halves before have told, see `Halves`
        self.told: ConvergenceHistory = {}, {}, {}
        self._level = 0  # samples from which on all pixels have as many: those of a stopped cluster's tiles have not
        self.account: SampleBudget | None = (
            None  # of adaptive sampling, with the halves of pixels of any number of samples
        )
        self.chosen: Buffer | None = None  # of `CHOICE`: the pixels that the run under way is of; None: all
        self._held: Halves | None = None
        self._count = np.zeros((0, 0), np.float32)  # samples of each pixel, as far as the host knows
        self._waiting: tuple[NDArray[np.bool_], int] | None = None  # pixels that are brought to so many samples
        if film is not None and film.count.any():
            self.write(film.records())
            if film.account is not None:
                self.account, self._held, self._count = film.account, film.halves, film.count
                self.brought_to(int(film.count.max()))
                self.efficiency, self.doubt = film.account.efficiency, film.account.doubt
            elif film.halves is not None:
                self._hold(film.halves)
            elif film.count.max() > self.samples:
                self._level = int(film.count.max())

    def film(self) -> Film:
        """On the host, bit by bit."""
        film = Film(*self.size, self.fields())
        if self.account is not None:
            film.account, film.halves = self.account, self._held
            return film
        if self.halves is not None and self.half:
            held = self.halves.fields()
            film.halves = Halves(held["sum"], held["count"], *(dict(each) for each in self.told))
        return film

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        self.half = self._level = 0
        self.told = {}, {}, {}
        self.account = self._held = None

    def keep(self, reduction: FilmError | None = None) -> None:
        """Keep the sum of so many samples as a first half, where every pixel has a power of two of them, and what it
        says of the halves before. reduction : as of `error`."""
        if not kept(self.samples) or self.samples <= self.half or self.samples < self._level:
            return
        reduction = self._reduction(reduction)
        if self.samples == 2 * self.half:
            self.told = self._told(self._sums(reduction))
        halves = self._halves()
        for block, half in zip(self.blocks, halves.blocks, strict=True):
            reduction.keep(block.stream, half.stream)
        self.half = self.samples

    def error(self, reduction: FilmError | None = None) -> float:
        """`Film.error`, but for the rounding of sums over `EDGE` x `EDGE` pixels, without reading the film back.

        reduction : one that is compiled already, for many films; else one is made.
        """
        if self.account is not None:
            return self.account.error
        sums, pixels = self._sums(self._reduction(reduction)), self.size[0] * self.size[1]
        variance, luminance, thin = (float(value) for value in sums[:, :3].sum(axis=0))
        if thin:
            return float("inf")
        *told, doubts = self._told(sums)
        self.doubt = last_of(doubts)
        real = variance_of_mean(variance / pixels, self.samples, *told)
        mean = abs(luminance / pixels)
        self.efficiency = real / (variance / pixels) if variance > 0 else 1.0
        spread = math.sqrt(real)
        if spread == 0:
            return 0.0
        return spread / mean if mean > 0 else float("inf")

    def adapt(self, goal: float, samples: int) -> int:
        """Choose the pixels whose samples come next: the number to which they are to be brought, ``samples`` at most;
        0 where none needs more for now. The runs before are complete, or this film has just been made.

        goal : relative error, see `viewer.film.adaptive`; every pixel has `viewer.film.adaptive.LEAST`
        samples or more.
        """
        if self._waiting is not None:
            chosen, end = self._waiting
            self._count, self._waiting = np.where(chosen, np.float32(end), self._count), None
        film: Film | None = None
        account = self.account
        if account is None or not (self._count < account.granted).any():
            film = self.film()
            decide(film, goal)
            account = self.account = film.account
            assert account is not None
            self._held, self._count, self.efficiency = film.halves, film.count, account.efficiency
            self.doubt = account.doubt
        chosen, end = next_run(self._count, account.granted, samples)
        if not end:
            return 0
        film = film or self.film()
        keep(film, chosen)
        self.account, self._held = film.account, film.halves
        self.chosen = self.chosen or Buffer(self.device, CHOICE, self.size)
        records = np.zeros(self.size[::-1], CHOICE.dtype)
        records["chosen"] = chosen
        self.chosen.write(records)
        self._waiting = chosen, end
        return end

    def waits(self, rectangle: tuple[slice, slice]) -> bool:
        """Whether a pixel of a rectangle (rows, columns) is chosen."""
        return self._waiting is None or bool(self._waiting[0][self._own(rectangle)].any())

    @property
    def fewest(self) -> int:
        """Samples of the chosen pixel that has fewest."""
        return self.samples if self._waiting is None else int(self._count[self._waiting[0]].min())

    def even(self) -> None:
        """All pixels are to have as many samples again: what has been kept of a part of them is of no use."""
        if self.account is not None:
            self.brought_to(int(self.film().count.min()))
            self.account = self._held = self._waiting = self.chosen = None

    def release(self) -> None:
        """Free the textures."""
        super().release()
        if self.chosen is not None:
            self.chosen.release()
        if self.halves is not None:
            self.halves.release()
        if self.reduction is not None:
            self.reduction.release()

    def _reduction(self, given: FilmError | None) -> FilmError:
        self.reduction = given or self.reduction or FilmError(self.device)
        return self.reduction

    def _halves(self) -> Buffer:
        self.halves = self.halves or Buffer(self.device, HALF, self.size)
        return self.halves

    def _hold(self, halves: Halves) -> None:
        records = np.zeros(self.size[::-1], HALF.dtype)
        records["sum"], records["count"] = halves.sum, halves.count
        self._halves().write(records)
        self.half = int(halves.count.min())
        self.told = halves.told()

    def _sums(self, reduction: FilmError) -> NDArray[np.float64]:
        """(blocks, 8) what the reduction sums; of halves, only where the first one is half of the samples."""
        halves, found = self.halves if self.half and self.samples == 2 * self.half else None, []
        for number, block in enumerate(self.blocks):
            half = None if halves is None else halves.blocks[number].stream
            found.append(reduction.sums(block.stream, half).reshape(-1, 8))
        return np.concatenate(found).astype(np.float64)

    def _told(self, sums: NDArray[np.float64]) -> ConvergenceHistory:
        """The differences, variances and doubts of `Halves`, with those of the samples so far, by their `_sums`."""
        differences, variances, doubts = (dict(each) for each in self.told)
        if self.half and self.samples == 2 * self.half:
            level, pixels = self.samples.bit_length() - 1, self.size[0] * self.size[1]
            differences[level] = float(sums[:, 3].sum()) / pixels
            parts = variances_beside(sums[:, 3:], sums[:, 0], level, pixels, differences)
            variances[level], doubts[level] = float(np.sum(parts)) / pixels, doubt(parts)
        return differences, variances, doubts


class FilmError:
    """The reduction of `FilmBuffer.error` on the device, and what it compares; the context must be current in every
    call."""

    def __init__(self, device: Device) -> None:
        self.device, self.drawing = device, square(device, Shader(device, error_source()))
        self._keeping: Drawing | None = None
        self._sums: dict[tuple[int, int], Stream] = {}  # by size: blocks have few

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
        return sums.read_texels().reshape(*size[::-1], 8)

    def release(self) -> None:
        """Free the textures."""
        for sums in self._sums.values():
            sums.release()
        self._sums.clear()


class Pixels:
    """Fills a machine's stream of pixels on the device."""

    def __init__(self, device: Device) -> None:
        self.device, self.drawing = device, square(device, Shader(device, pixels_source()))

    def fill(self, stream: Stream, rectangle: tuple[slice, slice]) -> None:
        """The pixels of a rectangle (rows, columns) of the picture, in row order."""
        rows, columns = rectangle
        stream.framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        shader = self.drawing.shader
        shader.set("width", stream.size[0])
        shader.set("wide", columns.stop - columns.start)
        shader.set("corner", (columns.start, rows.start))
        self.drawing.render()


def error_source() -> Source:
    """The fragment program of `FilmBuffer.error`."""
    source = Source()
    source.add(VERSION, "version")
    source.add(f"const int EDGE = {EDGE};", "constants")
    for part in (FILM.glsl_struct(), FILM.glsl_unpack()):
        source.add(part, "record Film")
    for part in (HALF.glsl_struct(), HALF.glsl_unpack()):
        source.add(part, "record Half")
    source.include("film/error.glsl")
    return source


def half_source() -> Source:
    """The fragment program of `FilmBuffer.keep`."""
    source = Source()
    source.add(VERSION, "version")
    for part in (FILM.glsl_struct(), FILM.glsl_unpack()):
        source.add(part, "record Film")
    for part in (HALF.glsl_struct(), HALF.glsl_pack()):
        source.add(part, "record Half")
    source.include("film/half.glsl")
    return source


def pixels_source() -> Source:
    """The fragment program of `Pixels`."""
    source = Source()
    source.add(VERSION, "version")
    for part in (PIXEL.glsl_struct(), PIXEL.glsl_pack()):
        source.add(part, "record Pixel")
    source.include("film/pixels.glsl")
    return source
