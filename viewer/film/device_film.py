"""A picture's streams on the device: its film and feature buffers, filled by machines rectangle by rectangle.

They are read back to be saved or compared; the film's error is a reduction on the device.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.film.adaptive import grant_samples, keep_halves, next_run
from raystream.film.error import (
    EDGE,
    ConvergenceHistory,
    Halves,
    SampleBudget,
    is_half,
    last_of,
    neighbour_variances,
    relative_std_error,
    variance_of_mean,
)
from raystream.film.film import Film
from raystream.kernels.records import FILM, HALF, PIXEL
from raystream.stream.compile.source import Source
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.objects import Readback
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import CHOICE

# -- the error of a film on the device: sums over blocks of pixels, and the kept halves of its samples -----------------

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
    """The fragment program that keeps the first half of a film, see `FilmBuffer.keep`."""
    source = Source.begin()
    source.add_record(FILM)
    source.add_record(HALF, unpack=False, pack=True)
    source.include("film/half.glsl")
    return source


# -- a picture's streams on the device ---------------------------------------------------------------------------------

LARGEST_BLOCK = 1 << 24  # pixels of a picture in one stream


class Block(NamedTuple):
    """A part of the picture, its upper left pixel (x, y), and a stream of its size."""

    x: int
    y: int
    stream: Stream


class Samples(NamedTuple):
    """The samples of a film at a moment, those of its first half, and the history of its halves."""

    samples: int
    half: int
    history: ConvergenceHistory

    @property
    def halved(self) -> bool:
        """Whether the first half is half of all."""
        return bool(self.half) and self.samples == 2 * self.half


class PendingError(NamedTuple):
    """The sums of a film's error on their way to the host: of each block, by texture."""

    sums: list[list[Readback]]
    moment: Samples

    @property
    def ready(self) -> bool:
        """Whether they are there."""
        return all(readback.ready for block in self.sums for readback in block)


class Buffer:
    """Records of a picture's pixels on the device, row 0 at the top; zeros at first. Every call needs a current
    context."""

    def __init__(self, device: Device, record: Record, size: tuple[int, int], corner: tuple[int, int] = (0, 0)) -> None:
        """size : (width, height), pixels, in as many streams as the largest texture requires. corner : pixel (x, y) of
        the picture at the buffer's upper left, for a part of the picture."""
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
        """Records that every pixel has at least ``samples`` samples."""
        self.samples = samples

    def clear(self) -> None:
        """Zeros everywhere."""
        self.brought_to(0)
        for block in self.blocks:
            block.stream.clear()

    def lend(self, rectangle: tuple[slice, slice], size: tuple[int, int]) -> Stream | None:
        """The stream itself, if it holds exactly this rectangle (rows, columns) in the layout of a machine of
        ``size``."""
        stream = self.blocks[0].stream
        rows, columns = self._own(rectangle)
        whole = (rows.start, columns.start) == (0, 0) and (columns.stop, rows.stop) == self.size
        return stream if whole and len(self.blocks) == 1 and stream.size == size else None

    def parts(self, rectangle: tuple[slice, slice]) -> Iterator[tuple[Block, tuple[int, int], tuple[int, int]]]:
        """The blocks under a rectangle, with its corner in each and its size."""
        rows, columns = self._own(rectangle)
        size = (columns.stop - columns.start, rows.stop - rows.start)
        for block in self.blocks:
            wide, tall = block.stream.size
            beside = columns.stop <= block.x or block.x + wide <= columns.start
            if not beside and rows.stop > block.y and block.y + tall > rows.start:
                yield block, (columns.start - block.x, rows.start - block.y), size

    def _own(self, rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
        """A rectangle of the picture in the buffer's own pixels."""
        (rows, columns), (x, y) = rectangle, self.corner
        return slice(rows.start - y, rows.stop - y), slice(columns.start - x, columns.stop - x)

    def fields(self, names: Collection[str] | None = None) -> dict[str, NDArray[np.float32]]:
        """Fields by name (by default all), (H, W) or (H, W, width) float32, see `Stream.fields`."""
        if len(self.blocks) == 1:
            return self.blocks[0].stream.fields(names)
        out: dict[str, NDArray[np.float32]] = {}
        for block in self.blocks:
            wide, tall = block.stream.size
            for name, values in block.stream.fields(names).items():
                whole = out.setdefault(name, np.empty((*self.size[::-1], *values.shape[2:]), np.float32))
                whole[block.y : block.y + tall, block.x : block.x + wide] = values
        return out

    def read_fields_stepwise(self, names: Collection[str]) -> Generator[None, None, dict[str, NDArray[np.float32]]]:
        """Fields as `fields` gives them, in steps: a device that works beside the host is not waited for, but of a
        picture of several streams."""
        if len(self.blocks) == 1 and self.device.concurrent:
            return (yield from self.blocks[0].stream.read_fields_stepwise(names))
        yield
        return self.fields(names)

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
        """Memory of its textures."""
        return sum(block.stream.bytes for block in self.blocks)

    def release(self) -> None:
        """Free the textures."""
        for block in self.blocks:
            block.stream.release()


class FilmBuffer(Buffer):
    """A film on the device; `raystream.film.film.Film` is its twin on the host."""

    def __init__(
        self, device: Device, size: tuple[int, int], film: Film | None = None, corner: tuple[int, int] = (0, 0)
    ) -> None:
        """film : samples to continue from. corner : as of `Buffer`."""
        self.light: Buffer | None = None  # of `LIGHT_SUMS` and the same size: the light of all samples in layers
        super().__init__(device, FILM, size, corner)
        self.brought_to(0 if film is None else int(film.count.min()))
        self.reduction: FilmError | None = None  # of `error`, compiled on first use
        self.halves: Buffer | None = None  # of the first half of twice as many samples; see `raystream.film.error`
        self.efficiency = 1.0  # `Film.efficiency` at the last call of `error`
        self.relative_std_error = 0.0  # `Film.relative_std_error`, likewise
        self.half = 0  # samples of the first half; its history is that of `Halves`
        self.convergence_history: ConvergenceHistory = {}, {}, {}
        self._level = (
            0  # samples beyond which all pixels have equal counts; tiles of a stopped cluster have unequal ones
        )
        self.sample_budget: SampleBudget | None = (
            None  # of adaptive sampling, with halves at any sample count of a pixel
        )
        self.chosen: Buffer | None = None  # of `CHOICE`: the pixels of the current run; None: all
        self._held: Halves | None = None
        self._count = np.zeros((0, 0), np.float32)  # samples of each pixel as known on the host
        self._waiting: tuple[NDArray[np.bool_], int] | None = (
            None  # pixels of the current run, and the sample count that it brings them to
        )
        if film is not None and film.count.any():
            self.write(film.records())
            if film.sample_budget is not None:
                self.sample_budget, self._held, self._count = film.sample_budget, film.halves, film.count
                self.brought_to(int(film.count.max()))
                self.efficiency = film.sample_budget.efficiency
                self.relative_std_error = film.sample_budget.relative_std_error
            elif film.halves is not None:
                self._hold(film.halves)
            elif film.count.max() > self.samples:
                self._level = int(film.count.max())

    def film(self) -> Film:
        """The host's copy, to the bit."""
        film = Film(*self.size, self.fields())
        if self.sample_budget is not None:
            film.sample_budget, film.halves = self.sample_budget, self._held
            return film
        if self.halves is not None and self.half:
            fields = self.halves.fields()
            film.halves = Halves(fields["sum"], fields["count"], *(dict(levels) for levels in self.convergence_history))
        return film

    def clear(self) -> None:
        """Forget all samples."""
        super().clear()
        if self.light is not None:
            self.light.clear()
        self.half = self._level = 0
        self.convergence_history = {}, {}, {}
        self.sample_budget = self._held = None

    def keep(self, reduction: FilmError | None = None) -> None:
        """Store the sums as first halves where every pixel has a power of two of samples, and extend the convergence
        history. reduction : as of `error`."""
        if not is_half(self.samples) or self.samples <= self.half or self.samples < self._level:
            return
        reduction = self._reduction(reduction)
        if self.samples == 2 * self.half:
            self.convergence_history = self._history(self._sums(reduction), self._moment())
        halves = self._halves()
        for block, half in zip(self.blocks, halves.blocks, strict=True):
            reduction.keep(block.stream, half.stream)
        self.half = self.samples

    def error(self, reduction: FilmError | None = None) -> float:
        """`Film.error` up to the rounding of sums over `EDGE` x `EDGE` pixels, without a read-back of the film.

        reduction : a compiled one, shared by many films; by default the film's own.
        """
        if self.sample_budget is not None:
            return self.sample_budget.error
        return self._error(self._sums(self._reduction(reduction)), self._moment())

    def begin_error(self, reduction: FilmError | None = None) -> PendingError | None:
        """The error of the present samples, for which the host does not wait; None under a sample budget, whose error
        is known."""
        if self.sample_budget is not None:
            return None
        moment, readbacks = self._moment(), []
        reduction = self._reduction(reduction)
        for stream, half in self._pairs(moment):
            sums = reduction.draw(stream, half)
            readbacks.append([Readback(self.device, texture) for texture in sums.textures])
        return PendingError(readbacks, moment)

    def resolve_error(self, pending: PendingError) -> float:
        """The error that was begun, of the samples of then."""
        parts = [np.concatenate([readback.read() for readback in block], axis=-1) for block in pending.sums]
        return self._error(np.concatenate([part.reshape(-1, 8) for part in parts]).astype(np.float64), pending.moment)

    def _error(self, sums: NDArray[np.float64], moment: Samples) -> float:
        pixels = self.size[0] * self.size[1]
        variance, luminance, thin = (float(value) for value in sums[:, :3].sum(axis=0))
        if thin:
            return float("inf")
        *history, relative_std_errors = self._history(sums, moment)
        self.relative_std_error = last_of(relative_std_errors)
        real = variance_of_mean(variance / pixels, moment.samples, *history)
        mean = abs(luminance / pixels)
        self.efficiency = real / (variance / pixels) if variance > 0 else 1.0
        spread = math.sqrt(real)
        if spread == 0:
            return 0.0
        return spread / mean if mean > 0 else float("inf")

    def adapt(self, goal: float, samples: int) -> int:
        """Choose the pixels of the next samples and return the sample count for them, ``samples`` at most; 0 where none
        needs more for now. Earlier runs must be complete, or the film new.

        goal : relative error, see `raystream.film.adaptive`; every pixel must have `raystream.film.adaptive.LEAST`
        samples.
        """
        if self._waiting is not None:
            chosen, end = self._waiting
            self._count, self._waiting = np.where(chosen, np.float32(end), self._count), None
        film: Film | None = None
        budget = self.sample_budget
        if budget is None or not (self._count < budget.granted).any():
            film = self.film()
            grant_samples(film, goal)
            budget = self.sample_budget = film.sample_budget
            assert budget is not None
            self._held, self._count, self.efficiency = film.halves, film.count, budget.efficiency
            self.relative_std_error = budget.relative_std_error
        chosen, end = next_run(self._count, budget.granted, samples)
        if not end:
            return 0
        film = film or self.film()
        keep_halves(film, chosen)
        self.sample_budget, self._held = film.sample_budget, film.halves
        self.chosen = self.chosen or Buffer(self.device, CHOICE, self.size)
        records = np.zeros(self.size[::-1], CHOICE.dtype)
        records["chosen"] = chosen
        self.chosen.write(records)
        self._waiting = chosen, end
        return end

    def waits(self, rectangle: tuple[slice, slice]) -> bool:
        """Whether a rectangle (rows, columns) contains a chosen pixel."""
        return self._waiting is None or bool(self._waiting[0][self._own(rectangle)].any())

    @property
    def fewest(self) -> int:
        """The fewest samples of a chosen pixel."""
        return self.samples if self._waiting is None else int(self._count[self._waiting[0]].min())

    def even(self) -> None:
        """Give up adaptive sampling: equal counts for all pixels from now on. Halves and sample budget are dropped."""
        if self.sample_budget is not None:
            self.brought_to(int(self.film().count.min()))
            self.sample_budget = self._held = self._waiting = self.chosen = None

    def release(self) -> None:
        """Free the textures."""
        super().release()
        for beside in (self.chosen, self.halves, self.light):
            if beside is not None:
                beside.release()
        if self.reduction is not None:
            self.reduction.release()

    def _reduction(self, reduction: FilmError | None) -> FilmError:
        self.reduction = reduction or self.reduction or FilmError(self.device)
        return self.reduction

    def _halves(self) -> Buffer:
        self.halves = self.halves or Buffer(self.device, HALF, self.size)
        return self.halves

    def _hold(self, halves: Halves) -> None:
        records = np.zeros(self.size[::-1], HALF.dtype)
        records["sum"], records["count"] = halves.sum, halves.count
        self._halves().write(records)
        self.half = int(halves.count.min())
        self.convergence_history = halves.history()

    def _sums(self, reduction: FilmError) -> NDArray[np.float64]:
        """(blocks, 8) sums of the reduction; of halves only if the first is exactly half of the samples."""
        sums = [reduction.sums(stream, half).reshape(-1, 8) for stream, half in self._pairs(self._moment())]
        return np.concatenate(sums).astype(np.float64)

    def _moment(self) -> Samples:
        """The present samples."""
        return Samples(self.samples, self.half, self.convergence_history)

    def _pairs(self, moment: Samples) -> Iterator[tuple[Stream, Stream | None]]:
        """The streams of the blocks, with those of the first halves where these are half of all."""
        halves = self.halves if moment.halved else None
        for index, block in enumerate(self.blocks):
            yield block.stream, None if halves is None else halves.blocks[index].stream

    def _history(self, sums: NDArray[np.float64], moment: Samples) -> ConvergenceHistory:
        """The history of `Halves` with the samples of a moment added, from their `_sums`."""
        differences, variances, relative_std_errors = (dict(levels) for levels in moment.history)
        if moment.halved:
            level, pixels = moment.samples.bit_length() - 1, self.size[0] * self.size[1]
            differences[level] = float(sums[:, 3].sum()) / pixels
            parts = neighbour_variances(sums[:, 3:], sums[:, 0], level, pixels, differences)
            variances[level], relative_std_errors[level] = float(np.sum(parts)) / pixels, relative_std_error(parts)
        return differences, variances, relative_std_errors


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


def pixels_source() -> Source:
    """The fragment program of `Pixels`."""
    source = Source.begin()
    source.add_record(PIXEL, unpack=False, pack=True)
    source.include("film/pixels.glsl")
    return source
