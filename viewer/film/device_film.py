"""A picture's streams on the device, film and feature buffers, which machines write tile by tile.

They are read back to be saved or compared; the film's error is a reduction on the device.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.film.adaptive import grant_samples, next_round, store_halves
from raystream.film.error import (
    EDGE,
    ConvergenceHistory,
    Halves,
    SampleBudget,
    is_half,
    latest,
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

# -- the error of a film on the device: sums over blocks of pixels, and the stored halves of its samples ---------------

SUMS = Record("Sums", Field("sums", "vec4"), Field("neighbours", "vec4"))  # sums over blocks of `EDGE` x `EDGE` pixels
MAX_SIZES = 8  # of films whose targets of the reduction are kept


class FilmError:
    """The reduction of `FilmBuffer.error` on the device. Every call needs a current context."""

    def __init__(self, device: Device) -> None:
        self.device, self.drawing = device, square(device, Shader(device, error_source()))
        self._half_drawing: Drawing | None = None
        self._sums: dict[tuple[int, int], Stream] = {}  # by size: blocks have few sizes

    def store_half(self, stream: Stream, half: Stream) -> None:
        """Write the sums in ``stream``, of `FILM`, to ``half``, a stream of `HALF` of the same size."""
        if self._half_drawing is None:
            self._half_drawing = square(self.device, Shader(self.device, half_source()))
        half.framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            self._half_drawing.shader.bind(f"in_{k}", texture)
        self._half_drawing.render()

    def sums(self, stream: Stream, half: Stream | None = None) -> NDArray[np.float32]:
        """(rows, columns, 8) sums over the blocks of a stream of `FILM`, see ``shaders/film/error.glsl``."""
        sums = self.draw(stream, half)
        return sums.read_texels().reshape(*sums.size[::-1], 8)

    def draw(self, stream: Stream, half: Stream | None = None) -> Stream:
        """The stream of `SUMS` that `sums` reads back, valid until the next call."""
        size = -(-stream.size[0] // EDGE), -(-stream.size[1] // EDGE)
        if size not in self._sums:
            if len(self._sums) >= MAX_SIZES:
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
    """The fragment program that stores the first half of a film, see `FilmBuffer.store_half`."""
    source = Source.begin()
    source.add_record(FILM)
    source.add_record(HALF, unpack=False, pack=True)
    source.include("film/half.glsl")
    return source


# -- a picture's streams on the device ---------------------------------------------------------------------------------

MAX_BLOCK_PIXELS = 1 << 24  # pixels of a picture in one stream


class Block(NamedTuple):
    """A stream with a rectangle of the picture, whose upper left pixel is (x, y)."""

    x: int
    y: int
    stream: Stream


class SampleState(NamedTuple):
    """The number of a film's samples, that of its first half, and its convergence history, at some time."""

    samples: int
    half: int
    history: ConvergenceHistory

    @property
    def is_halved(self) -> bool:
        """Whether the first half is half of all."""
        return bool(self.half) and self.samples == 2 * self.half


class PendingError(NamedTuple):
    """A film's error whose sums are being read back. sums : for each block a `Readback` of each texture. state : of the
    samples that it is of."""

    sums: list[list[Readback]]
    state: SampleState

    @property
    def ready(self) -> bool:
        """Whether all sums have arrived."""
        return all(readback.ready for block in self.sums for readback in block)


class Buffer:
    """Records of a picture's pixels on the device, row 0 at the top; zeros at first. Every call needs a current
    context."""

    def __init__(self, device: Device, record: Record, size: tuple[int, int], corner: tuple[int, int] = (0, 0)) -> None:
        """size : (width, height), pixels, in as many streams as the largest texture requires. corner : pixel (x, y) of
        the picture at the buffer's upper left, for a part of the picture."""
        self.device, self.record, self.size, self.corner = device, record, size, corner
        width, height = size
        block_width = min(width, device.max_texture)
        block_height = min(height, device.max_texture, max(1, MAX_BLOCK_PIXELS // block_width))
        self.blocks = [
            Block(x, y, Stream(device, record, (min(block_width, width - x), min(block_height, height - y))))
            for y in range(0, height, block_height)
            for x in range(0, width, block_width)
        ]
        self.samples = 0  # the least of any pixel
        self.clear()

    def set_samples(self, samples: int) -> None:
        """Note that every pixel has at least ``samples`` samples."""
        self.samples = samples

    def clear(self) -> None:
        """Set all records to zero."""
        self.set_samples(0)
        for block in self.blocks:
            block.stream.clear()

    def lend(self, rectangle: tuple[slice, slice], size: tuple[int, int]) -> Stream | None:
        """The buffer's stream where it is exactly this rectangle (rows, columns) in the layout of a machine of ``size``
        (width, height); else None."""
        stream = self.blocks[0].stream
        rows, columns = self._local_rectangle(rectangle)
        is_all = (rows.start, columns.start) == (0, 0) and (columns.stop, rows.stop) == self.size
        return stream if is_all and len(self.blocks) == 1 and stream.size == size else None

    def overlapping_blocks(
        self, rectangle: tuple[slice, slice]
    ) -> Iterator[tuple[Block, tuple[int, int], tuple[int, int]]]:
        """The blocks that a rectangle (rows, columns) overlaps, each with the rectangle's corner (x, y) in it and its
        size (width, height)."""
        rows, columns = self._local_rectangle(rectangle)
        size = (columns.stop - columns.start, rows.stop - rows.start)
        for block in self.blocks:
            width, height = block.stream.size
            columns_overlap = columns.stop > block.x and block.x + width > columns.start
            if columns_overlap and rows.stop > block.y and block.y + height > rows.start:
                yield block, (columns.start - block.x, rows.start - block.y), size

    def _local_rectangle(self, rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
        """A rectangle (rows, columns) of the picture in the buffer's coordinates."""
        (rows, columns), (x, y) = rectangle, self.corner
        return slice(rows.start - y, rows.stop - y), slice(columns.start - x, columns.stop - x)

    def fields(self, names: Collection[str] | None = None) -> dict[str, NDArray[np.float32]]:
        """Fields by name (by default all), (H, W) or (H, W, width) float32, see `Stream.fields`."""
        if len(self.blocks) == 1:
            return self.blocks[0].stream.fields(names)
        out: dict[str, NDArray[np.float32]] = {}
        for block in self.blocks:
            width, height = block.stream.size
            for name, values in block.stream.fields(names).items():
                field = out.setdefault(name, np.empty((*self.size[::-1], *values.shape[2:]), np.float32))
                field[block.y : block.y + height, block.x : block.x + width] = values
        return out

    def read_fields_stepwise(self, names: Collection[str]) -> Generator[None, None, dict[str, NDArray[np.float32]]]:
        """The result of `fields`, read back in steps; the host does not wait for a concurrent device, except for a
        picture of several streams."""
        if len(self.blocks) == 1 and self.device.concurrent:
            return (yield from self.blocks[0].stream.read_fields_stepwise(names))
        yield
        return self.fields(names)

    def read(self) -> NDArray:
        """(H, W) structured of the record's dtype."""
        out = np.zeros(self.size[::-1], self.record.dtype)
        for block in self.blocks:
            width, height = block.stream.size
            out[block.y : block.y + height, block.x : block.x + width] = block.stream.read()
        return out

    def write(self, records: NDArray) -> None:
        """Write all pixels. records : (H, W) structured of the record's dtype."""
        for block in self.blocks:
            width, height = block.stream.size
            block.stream.write(records[block.y : block.y + height, block.x : block.x + width])

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
        self.set_samples(0 if film is None else int(film.count.min()))
        self.reduction: FilmError | None = None  # of `error`, compiled on first use
        self.halves: Buffer | None = None  # of the first half of twice as many samples; see `raystream.film.error`
        self.efficiency = 1.0  # `Film.efficiency` at the last call of `error`
        self.relative_std_error = 0.0  # `Film.relative_std_error`, likewise
        self.half = 0  # samples of the first half; its history is that of `Halves`
        self.convergence_history: ConvergenceHistory = {}, {}, {}
        self._uneven_until = 0  # samples up to which pixels have unequal counts, as in a film of a stopped cluster
        self.sample_budget: SampleBudget | None = None  # of adaptive sampling; halves are then at any sample count
        self.chosen: Buffer | None = None  # of `CHOICE`: the pixels of the current run; None: all
        self._host_halves: Halves | None = None
        self._count = np.zeros((0, 0), np.float32)  # samples of each pixel as known on the host
        self._current_round: tuple[NDArray[np.bool_], int] | None = None  # its pixels, and their samples at the end
        if film is not None and film.count.any():
            self.write(film.records())
            if film.sample_budget is not None:
                self.sample_budget, self._host_halves, self._count = film.sample_budget, film.halves, film.count
                self.set_samples(int(film.count.max()))
                self.efficiency = film.sample_budget.efficiency
                self.relative_std_error = film.sample_budget.relative_std_error
            elif film.halves is not None:
                self._load_halves(film.halves)
            elif film.count.max() > self.samples:
                self._uneven_until = int(film.count.max())

    def film(self) -> Film:
        """A copy on the host, equal to the bit."""
        film = Film(*self.size, self.fields())
        if self.sample_budget is not None:
            film.sample_budget, film.halves = self.sample_budget, self._host_halves
            return film
        if self.halves is not None and self.half:
            fields = self.halves.fields()
            film.halves = Halves(fields["sum"], fields["count"], *(dict(levels) for levels in self.convergence_history))
        return film

    def clear(self) -> None:
        """Discard all samples."""
        super().clear()
        if self.light is not None:
            self.light.clear()
        self.half = self._uneven_until = 0
        self.convergence_history = {}, {}, {}
        self.sample_budget = self._host_halves = None

    def store_half(self, reduction: FilmError | None = None) -> None:
        """Store the sums as first halves where every pixel has a power of two of samples, and extend the convergence
        history. reduction : as of `error`."""
        if not is_half(self.samples) or self.samples <= self.half or self.samples < self._uneven_until:
            return
        reduction = self._reduction(reduction)
        if self.samples == 2 * self.half:
            self.convergence_history = self._history(self._sums(reduction), self._sample_state())
        halves = self._halves()
        for block, half in zip(self.blocks, halves.blocks, strict=True):
            reduction.store_half(block.stream, half.stream)
        self.half = self.samples

    def error(self, reduction: FilmError | None = None) -> float:
        """`Film.error` up to the rounding of sums over `EDGE` x `EDGE` pixels, without a read-back of the film.
        reduction : a compiled one, shared by many films; by default the film's own."""
        if self.sample_budget is not None:
            return self.sample_budget.error
        return self._error(self._sums(self._reduction(reduction)), self._sample_state())

    def begin_error(self, reduction: FilmError | None = None) -> PendingError | None:
        """Begin to compute the error of the present samples, for `resolve_error`, without waiting; None under a sample
        budget, which has the error."""
        if self.sample_budget is not None:
            return None
        state, readbacks = self._sample_state(), []
        reduction = self._reduction(reduction)
        for stream, half in self._blocks_with_halves(state):
            sums = reduction.draw(stream, half)
            readbacks.append([Readback(self.device, texture) for texture in sums.textures])
        return PendingError(readbacks, state)

    def resolve_error(self, pending: PendingError) -> float:
        """The error that `begin_error` has begun, as of `error`."""
        sums = [np.concatenate([readback.read() for readback in block], axis=-1) for block in pending.sums]
        return self._error(np.concatenate([part.reshape(-1, 8) for part in sums]).astype(np.float64), pending.state)

    def _error(self, sums: NDArray[np.float64], state: SampleState) -> float:
        """The error by the reduction's sums (blocks, 8); sets ``efficiency`` and ``relative_std_error``."""
        pixels = self.size[0] * self.size[1]
        variance, luminance, undersampled = (float(value) for value in sums[:, :3].sum(axis=0))
        if undersampled:
            return float("inf")
        *history, relative_std_errors = self._history(sums, state)
        self.relative_std_error = latest(relative_std_errors)
        mean_variance = variance_of_mean(variance / pixels, state.samples, *history)
        mean = abs(luminance / pixels)
        self.efficiency = mean_variance / (variance / pixels) if variance > 0 else 1.0
        spread = math.sqrt(mean_variance)
        if spread == 0:
            return 0.0
        return spread / mean if mean > 0 else float("inf")

    def adapt(self, goal: float, samples: int) -> int:
        """Choose the pixels of the next round; returns the sample count that it brings them to, at most ``samples``, or
        0 where no pixel needs more. The rounds before must be complete. goal : relative error, see
        `raystream.film.adaptive`; every pixel must have `raystream.film.adaptive.MIN_SAMPLES` samples."""
        if self._current_round is not None:
            chosen, end = self._current_round
            self._count, self._current_round = np.where(chosen, np.float32(end), self._count), None
        film: Film | None = None
        budget = self.sample_budget
        if budget is None or not (self._count < budget.granted).any():
            film = self.film()
            grant_samples(film, goal)
            budget = self.sample_budget = film.sample_budget
            assert budget is not None
            self._host_halves, self._count, self.efficiency = film.halves, film.count, budget.efficiency
            self.relative_std_error = budget.relative_std_error
        chosen, end = next_round(self._count, budget.granted, samples)
        if not end:
            return 0
        film = film or self.film()
        store_halves(film, chosen)
        self.sample_budget, self._host_halves = film.sample_budget, film.halves
        self.chosen = self.chosen or Buffer(self.device, CHOICE, self.size)
        records = np.zeros(self.size[::-1], CHOICE.dtype)
        records["chosen"] = chosen
        self.chosen.write(records)
        self._current_round = chosen, end
        return end

    def needs_samples(self, rectangle: tuple[slice, slice]) -> bool:
        """Whether a rectangle (rows, columns) contains a chosen pixel."""
        return self._current_round is None or bool(self._current_round[0][self._local_rectangle(rectangle)].any())

    @property
    def min_samples(self) -> int:
        """The least samples of a chosen pixel."""
        return self.samples if self._current_round is None else int(self._count[self._current_round[0]].min())

    def reset_adaptive(self) -> None:
        """End adaptive sampling, so that all pixels get equal counts. Halves and sample budget are discarded."""
        if self.sample_budget is not None:
            self.set_samples(int(self.film().count.min()))
            self.sample_budget = self._host_halves = self._current_round = self.chosen = None

    def release(self) -> None:
        """Free the textures."""
        super().release()
        for buffer in (self.chosen, self.halves, self.light):
            if buffer is not None:
                buffer.release()
        if self.reduction is not None:
            self.reduction.release()

    def _reduction(self, reduction: FilmError | None) -> FilmError:
        self.reduction = reduction or self.reduction or FilmError(self.device)
        return self.reduction

    def _halves(self) -> Buffer:
        self.halves = self.halves or Buffer(self.device, HALF, self.size)
        return self.halves

    def _load_halves(self, halves: Halves) -> None:
        records = np.zeros(self.size[::-1], HALF.dtype)
        records["sum"], records["count"] = halves.sum, halves.count
        self._halves().write(records)
        self.half = int(halves.count.min())
        self.convergence_history = halves.history()

    def _sums(self, reduction: FilmError) -> NDArray[np.float64]:
        """(blocks, 8) sums of the reduction; with those of halves where the first is exactly half of the samples."""
        sums = [
            reduction.sums(stream, half).reshape(-1, 8)
            for stream, half in self._blocks_with_halves(self._sample_state())
        ]
        return np.concatenate(sums).astype(np.float64)

    def _sample_state(self) -> SampleState:
        """The present number of samples and history."""
        return SampleState(self.samples, self.half, self.convergence_history)

    def _blocks_with_halves(self, state: SampleState) -> Iterator[tuple[Stream, Stream | None]]:
        """The stream of each block with that of its first half, or None where that is not half of all samples."""
        halves = self.halves if state.is_halved else None
        for index, block in enumerate(self.blocks):
            yield block.stream, None if halves is None else halves.blocks[index].stream

    def _history(self, sums: NDArray[np.float64], state: SampleState) -> ConvergenceHistory:
        """The convergence history with the samples of ``state`` added, by their `_sums`."""
        differences, variances, relative_std_errors = (dict(levels) for levels in state.history)
        if state.is_halved:
            level, pixels = state.samples.bit_length() - 1, self.size[0] * self.size[1]
            differences[level] = float(sums[:, 3].sum()) / pixels
            block_variances = neighbour_variances(sums[:, 3:], sums[:, 0], level, pixels, differences)
            variances[level] = float(np.sum(block_variances)) / pixels
            relative_std_errors[level] = relative_std_error(block_variances)
        return differences, variances, relative_std_errors


class Pixels:
    """Writes a machine's stream of pixels on the device."""

    def __init__(self, device: Device) -> None:
        self.device, self.drawing = device, square(device, Shader(device, pixels_source()))

    def fill(self, stream: Stream, rectangle: tuple[slice, slice]) -> None:
        """Write the pixels of a rectangle (rows, columns) of the picture, in row order, to a stream of `PIXEL`."""
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
