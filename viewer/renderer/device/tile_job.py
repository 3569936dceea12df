"""Tiles of a picture: rectangles that a machine renders at once, as jobs on the picture's buffers."""

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
    """First hits for the next samples of a picture: their stream, and the key of its contents, None where it is
    stale."""

    stream: Stream | None = None
    key: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class EyeHits:
    """A program that finds the hits of the rays through the pixels' centres, and its machines' key.

    view_key : the version of the scene, the camera and the size of the picture. cached : the hits of the tile before.
    """

    program: Program
    key: Hashable
    view_key: tuple[Any, ...]
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
    """The job of each rectangle of a picture.

    key, size : of the machine, and (width, height) of its streams. buffers : of the picture, by the names of the
    streams that are loaded from them and stored to them. streams : others, which the program gathers from.
    chosen : of `CHOICE`, the pixels that it runs for; None: all.
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
    run: TileRun,
    rectangle: Rectangle,
    resources: Resources,
    pixels: Pixels,
    first_hits: FirstHitPass | EyeHits | None = None,
) -> Job:
    """The job that brings a rectangle of the buffers to as many samples as the uniforms say.

    first_hits : where they are rasterised, for the sample that ``path_samples`` ends with, or traced ahead for all
    samples. Abandoned between two passes, it leaves the buffers with whole samples of the rectangle, or unchanged.
    """
    rows, columns = rectangle
    rays = (rows.stop - rows.start) * (columns.stop - columns.start)
    streams = {**run.streams, "pixel": resources.stream("pixel", PIXEL, run.size)}
    yield TimedStage(PICTURE)
    yield Draw(lambda: pixels.fill(streams["pixel"], rectangle))
    copied = []  # buffers that cannot lend the rectangle as a stream, and the streams in their place
    for name, buffer in run.buffers.items():
        lent = buffer.lend(rectangle, run.size)
        streams[name] = lent or resources.stream(name, buffer.record, run.size)
        if lent is None:
            copied.append((buffer, streams[name]))
            yield from copies(buffer, streams[name], rectangle)
    chosen: Stream | None = None
    if run.chosen is not None:
        chosen = run.chosen.lend(rectangle, run.size)
        if chosen is None:
            chosen = resources.stream("chosen", run.chosen.record, run.size)
            yield from copies(run.chosen, chosen, rectangle)
    if isinstance(first_hits, EyeHits):
        streams["first_hit"] = stream = resources.stream("eye_hit", HIT, run.size)
        cached, key = first_hits.cached, (*first_hits.view_key, rectangle)
        if cached.stream is not stream or cached.key != key:
            cached.key = None
            outputs = {"pixel": streams["pixel"], "hit": stream}
            counting = run.counting
            yield Run(first_hits.program, first_hits.key, run.size, rays, outputs, run.uniforms, counting=counting)
            cached.stream, cached.key = stream, key
    elif first_hits is not None:
        streams["first_hit"] = resources.stream("first_hit", HIT, run.size)
        sample = int(run.uniforms.get("path_samples", 1)) - 1
        yield Draw(lambda: first_hits(streams["first_hit"], rectangle, sample))
    counting = run.counting
    yield Run(run.program, run.key, run.size, rays, streams, run.uniforms, counting=counting, chosen=chosen)
    for buffer, stream in copied:
        yield from copies(buffer, stream, rectangle, back=True)


def copies(buffer: Buffer, stream: Stream, rectangle: Rectangle, back: bool = False) -> Iterator[Step]:
    """The steps that bring a rectangle of a buffer into a machine's stream, or ``back``."""
    for block, corner, size in buffer.overlapping_blocks(rectangle):
        yield Copy(block.stream, stream, corner, size, back)


def rectangles(size: tuple[int, int], side: int, max_pixels: int) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns), near-equal, that fit a stream, top to bottom and left to right: none wider or higher
    than ``side``, none with more than ``max_pixels`` pixels."""
    width, height = size
    max_width = min(side, max_pixels)
    columns = -(-width // max_width)
    tile_width = -(-width // columns)
    max_height = min(max_pixels // tile_width, max_width)
    rows = -(-height // max_height)
    tile_height = -(-height // rows)
    for top in range(0, height, tile_height):
        for left in range(0, width, tile_width):
            yield slice(top, min(top + tile_height, height)), slice(left, min(left + tile_width, width))


def inside(region: tuple[slice, slice], rectangle: tuple[slice, slice]) -> tuple[slice, slice]:
    """A rectangle (rows, columns) within a region of the picture, in the picture's coordinates."""
    down, right = region[0].start, region[1].start
    rows, columns = rectangle
    return slice(rows.start + down, rows.stop + down), slice(columns.start + right, columns.stop + right)


def tiles(
    size: tuple[int, int], tile: tuple[int, int], rows: Callable[[], int] | None = None
) -> Iterator[tuple[slice, slice]]:
    """Rectangles (rows, columns) of ``tile`` (width, height), smaller at the right and the bottom, column by column.
    rows : asked before each rectangle for its height, which it may choose by the seconds of the last one above."""
    for left in range(0, size[0], tile[0]):
        top, width = 0, min(tile[0], size[0] - left)
        while top < size[1]:
            height = tile[1] if rows is None else min(max(1, rows()), tile[1]) * tile[0] // width
            yield slice(top, min(top + height, size[1])), slice(left, left + width)
            top += height
