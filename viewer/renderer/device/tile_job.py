"""Pieces of a picture: rectangles that a machine runs at once, as jobs on the picture's buffers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from raystream.film.device_film import Buffer, Pixels
from raystream.kernels.records import HIT, PIXEL
from raystream.stream.declare.program import Program
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Copy, Draw, Job, Run, Step, TimedStage
from raystream.stream.machines.common import Machine

PICTURE = "picture"  # the stage of a job that runs a picture's program
Rectangle = tuple[slice, slice]  # rows and columns of the picture

# Rasterises the first hits of a rectangle in a sample, by its index, into a stream.
FirstHitPass = Callable[[Stream, Rectangle, int], None]


@dataclass
class CachedHits:
    """The contents of a stream of first hits: kept for the next samples of the same picture."""

    stream: Stream | None = None
    of: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class EyeHits:
    """A program that finds the hits of the rays through the pixels' centres, and its machines' key.

    of : the version of the scene, the camera and the size of the picture. cached : where the hits of the rectangle
    before are noted.
    """

    program: Program
    key: Hashable
    of: tuple[Any, ...]
    cached: CachedHits


@dataclass(frozen=True)
class Tile:
    """A rectangle of the picture that one run renders, in its machine's streams; ``rows`` and ``columns`` index the
    picture."""

    rows: slice
    columns: slice
    machine: Machine


@dataclass(frozen=True)
class TileRun:
    """The job of each rectangle of a picture: a program, the machines' key and streams' size (width, height),
    uniforms, and the buffers by the names of the streams that they are loaded into and stored from. streams : others,
    which the program gathers from. chosen : of `CHOICE`, the pixels that it runs for; without it all.
    """

    program: Program
    key: Hashable
    size: tuple[int, int]
    uniforms: Mapping[str, Any]
    buffers: Mapping[str, Buffer]
    counting: bool = False
    streams: Mapping[str, Stream] = field(default_factory=dict)
    chosen: Buffer | None = None


def tile_job(
    piece: TileRun,
    rectangle: Rectangle,
    resources: Resources,
    pixels: Pixels,
    first_hits: FirstHitPass | EyeHits | None = None,
) -> Job:
    """Bring a rectangle of the buffers to the samples that the uniforms ask for.

    first_hits : where they are rasterised, for the sample that ``path_samples`` ends with, or traced ahead for all
    samples. Abandoned between two passes it leaves whole samples in the buffers, or nothing of this rectangle.
    """
    rows, columns = rectangle
    rays = (rows.stop - rows.start) * (columns.stop - columns.start)
    streams = {**piece.streams, "pixel": resources.stream("pixel", PIXEL, piece.size)}
    yield TimedStage(PICTURE)
    yield Draw(lambda: pixels.fill(streams["pixel"], rectangle))
    copied = []
    for name, buffer in piece.buffers.items():
        lent = buffer.lend(rectangle, piece.size)
        streams[name] = lent or resources.stream(name, buffer.record, piece.size)
        if lent is None:
            copied.append((buffer, streams[name]))
            yield from copies(buffer, streams[name], rectangle)
    chosen: Stream | None = None
    if piece.chosen is not None:
        chosen = piece.chosen.lend(rectangle, piece.size)
        if chosen is None:
            chosen = resources.stream("chosen", piece.chosen.record, piece.size)
            yield from copies(piece.chosen, chosen, rectangle)
    if isinstance(first_hits, EyeHits):
        streams["first_hit"] = stream = resources.stream("eye_hit", HIT, piece.size)
        cached, key = first_hits.cached, (*first_hits.of, rectangle)
        if cached.stream is not stream or cached.of != key:
            cached.of = None
            outputs = {"pixel": streams["pixel"], "hit": stream}
            counting = piece.counting
            yield Run(first_hits.program, first_hits.key, piece.size, rays, outputs, piece.uniforms, counting=counting)
            cached.stream, cached.of = stream, key
    elif first_hits is not None:
        streams["first_hit"] = resources.stream("first_hit", HIT, piece.size)
        sample = int(piece.uniforms.get("path_samples", 1)) - 1
        yield Draw(lambda: first_hits(streams["first_hit"], rectangle, sample))
    counting = piece.counting
    yield Run(piece.program, piece.key, piece.size, rays, streams, piece.uniforms, counting=counting, chosen=chosen)
    for buffer, stream in copied:
        yield from copies(buffer, stream, rectangle, back=True)


def copies(buffer: Buffer, stream: Stream, rectangle: Rectangle, back: bool = False) -> Iterator[Step]:
    """The steps that bring a rectangle of a buffer into a machine's stream, or ``back``."""
    for block, corner, size in buffer.parts(rectangle):
        yield Copy(block.stream, stream, corner, size, back)


def rectangles(size: tuple[int, int], side: int, most: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns), near-equal, that fit a stream, top to bottom and left to right: none wider or higher
    than ``side``, none with more than ``most`` pixels."""
    width, height = size
    widest = min(side, most)
    columns = -(-width // widest)
    wide = -(-width // columns)
    tallest = min(most // wide, widest)
    rows = -(-height // tallest)
    tall = -(-height // rows)
    for top in range(0, height, tall):
        for left in range(0, width, wide):
            yield slice(top, min(top + tall, height)), slice(left, min(left + wide, width))


def inside(region: tuple[slice, slice], rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
    """A rectangle (rows, columns) of a region of the picture as one of the picture."""
    down, right = (part.start for part in region)
    rows, columns = rectangle
    return slice(rows.start + down, rows.stop + down), slice(columns.start + right, columns.stop + right)


def tiles(
    size: tuple[int, int], tile: tuple[int, int], rows: Callable[[], int] | None = None
) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns) of ``tile`` (width, height), smaller at the right and the bottom, column by column.

    The next rectangle of a column costs about as much as the last, so that ``rows`` can choose its height by that.
    """
    for left in range(0, size[0], tile[0]):
        top, wide = 0, min(tile[0], size[0] - left)
        while top < size[1]:
            tall = tile[1] if rows is None else min(max(1, rows()), tile[1]) * tile[0] // wide
            yield slice(top, min(top + tall, size[1])), slice(left, left + wide)
            top += tall
