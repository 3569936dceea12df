"""Memory references of the simulated machines, in the order in which a pipeline of one pixel's width makes them.

A reference is an int64: ``(address * 4 + words - 1) * 8 + kind``, of 1 to 4 words of 32 bits at a byte address; kinds
are listed below. They come in arrays of at most `CHUNK`, so that memory stays bounded whatever the picture.

Memory is laid out as in Purcell (2004), figure 5.1: voxels, lists, and a texture of RGB texels for each corner of the
triangles, addressed in one dimension; normals and colours of the corners likewise. Streams lie in RGBA textures, texel
k of a ray's record in texture k, the rays a row after the other. Textures begin at multiples of `ALIGN` bytes.

Source: Purcell (2004), 5.2.3; Purcell et al. (2002), 4.1.

Caches play such traces: hits, lines fetched and bytes moved, by kind of data. And the stream machine that Purcell
wishes for in 5.4.2 makes one call by call, its rays in queues on the chip; `machines.stream_buffer` counts its launches
from what rays do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.base.errors import ViewerError
from reproduction.published.chapter5 import KernelRow
from reproduction.simulators import walk
from reproduction.simulators.machines import COLOR, EYE, INTERSECT, SETUP, STEP, TWENTY
from reproduction.simulators.walk import BEYOND, DONE, LIST, TRAVERSE, TRIANGLE, Space, State, entry, step, test

KINDS = VOXELS, LISTS, TRIANGLES, SHADING, READS, WRITES = range(6)
STRUCTURES = (VOXELS, LISTS, TRIANGLES, SHADING)
STREAM = (READS, WRITES)
CHUNK = 1 << 17  # references: a mebibyte
CALL = 32  # no kernel's call makes more references
ALIGN = 192  # bytes: whole lines of 48, 64 and 32
TEXEL = 4  # words of a stream's texel
# Texels of a ray's record: two of the ray itself, then what traversal and intersection write, the last the pixel's.
STATE_TEXEL, PIXEL_TEXEL, RECORD_TEXELS = 2, 5, 6
# Of the layout.
AT_VOXELS, AT_LISTS, AT_CORNERS, AT_NORMALS, AT_COLORS, AT_STREAMS, PER_CORNER, PER_STREAM = range(8)


@dataclass(frozen=True)
class Layout:
    """Byte addresses. at : (8,) int64: voxels, lists, corners, normals, colours and streams begin; bytes between the
    textures of two corners, and of two texels of a record."""

    at: NDArray[np.int64]

    @classmethod
    def of(cls, space: Space, rays: int) -> Layout:
        """Of a scene's structures, and streams of so many rays."""
        triangles = len(space.corners)
        per_corner, per_stream = _up(12 * triangles), _up(4 * TEXEL * rays)
        sizes = (_up(4 * len(space.pointers)), _up(4 * len(space.lists)), *(3 * per_corner,) * 3)
        starts = np.cumsum([0, *sizes])
        return cls(np.array([*starts, per_corner, per_stream], np.int64))


def _up(size: int) -> int:
    return -(-size // ALIGN) * ALIGN


@dataclass(frozen=True)
class Traffic:
    """Words of streams that the kernels of a machine read and write in a call, of the rows of table 5.1.

    eye, shade : whether rays are generated, and shaded where they hit, in the trace; neither for secondary rays.
    """

    rows: Mapping[str, KernelRow]
    eye: bool = True
    shade: bool = True

    def words(self, kernel: str) -> tuple[int, int]:
        """Read, written."""
        row = self.rows[kernel]
        return int(row.read), int(row.written)


def mimd_references(
    space: Space,
    rays: NDArray,
    traffic: Traffic,
    layout: Layout | None = None,
    state: State | None = None,
    beyond: str = "kept",
) -> Iterator[NDArray[np.int64]]:
    """Of the MIMD machine, each ray (N,) of record RAY from its beginning to its end, one after the other.

    state : of the rays, else set up here; left as the machine leaves it. beyond : hits beyond the voxel, of `BEYOND`.
    """
    state, missed = State.setup(space, rays) if state is None else state, BEYOND.index(beyond) == 1
    at = (layout or Layout.of(space, len(rays))).at
    eye, setup = traffic.words(EYE)[1] * traffic.eye, traffic.words(SETUP)[0]
    color = traffic.words(COLOR)[1] if traffic.shade else -1
    codes, first, begun = np.empty(CHUNK, np.int64), 0, False
    while first < len(rays):
        arguments = (*space.arrays, *state.arrays, at, eye, setup, color, first, begun, codes, missed)
        first, begun, used = jit.run(_mimd, *arguments)
        yield codes[:used]


def simd_references(
    space: Space,
    rays: NDArray,
    traffic: Traffic,
    layout: Layout | None = None,
    tiles: Sequence[NDArray[np.integer]] | None = None,
    passes: list[int] | None = None,
    state: State | None = None,
    beyond: str = "kept",
) -> Iterator[NDArray[np.int64]]:
    """Of the SIMD machine: every pass over all rays (N,) that it serves, in their order.

    tiles : numbers of the rays of each part that is rendered to completion before the next begins, in streams that all
    tiles share, as large as the largest; one of all rays without. passes : is given [traversal, intersection] passes,
    added up over the tiles. state, beyond : as of `mimd_references`.
    """
    state, missed = State.setup(space, rays) if state is None else state, BEYOND.index(beyond) == 1
    packed, parts = tiles is not None, [np.arange(len(rays))] if tiles is None else tiles
    at = (layout or Layout.of(space, max(map(len, parts)))).at
    codes, used = np.empty(CHUNK, np.int64), 0
    kernels = [traffic.words(name) for name in (STEP, INTERSECT)]
    counted = [0, 0]
    for tile in parts:
        numbers = np.ascontiguousarray(tile, np.int32)

        def whole(
            read: int, write: int, texel: int, hits: bool = False, numbers: NDArray = numbers
        ) -> Iterator[NDArray]:
            """A pass of all rays; hits : of those that hit, whose shading is fetched."""
            nonlocal used
            first = 0
            while True:
                first, used = jit.run(
                    _every, numbers, packed, state.ints, first, read, write, texel, hits, at, codes, used
                )
                if first == len(numbers):
                    return
                yield codes[:used]
                used = 0

        if traffic.eye:
            yield from whole(0, traffic.words(EYE)[1], 0)
        yield from whole(*traffic.words(SETUP), STATE_TEXEL)
        waiting = np.bincount(state.next[numbers], minlength=3)[:2].astype(np.int64)
        while waiting.any():
            for kernel in TWENTY.choose(waiting.tolist(), len(numbers)):
                counted[kernel] += bool(waiting[kernel])
                first = 0
                while True:
                    where = (numbers, packed, first, kernel, *kernels[kernel], at, codes, used, waiting, missed)
                    first, used = jit.run(_pass, *space.arrays, *state.arrays, *where)
                    if first == len(numbers):
                        break
                    yield codes[:used]
                    used = 0
        if traffic.shade:
            yield from whole(*traffic.words(COLOR), PIXEL_TEXEL, True)
    if passes is not None:
        passes[:] = counted
    yield codes[:used]


def tiles_of(size: tuple[int, int], edge: int) -> list[NDArray[np.int32]]:
    """Numbers of the rays of a picture (width, height) in tiles of edge x edge, rows of tiles from the top."""
    width, height = size
    numbers = np.arange(width * height, dtype=np.int32).reshape(height, width)
    return [numbers[y : y + edge, x : x + edge].ravel() for y in range(0, height, edge) for x in range(0, width, edge)]


# -- loops -----------------------------------------------------------------------------------------------------------


@jit.helper
def put(codes, used, at, words, kind):
    codes[used] = (at * 4 + words - 1) * 8 + kind
    return used + 1


@jit.helper
def put_stream(codes, used, at, ray, texel, words, kind):
    """A ray's words of a stream, from a texel of its record on."""
    while words > 0:
        here = min(words, TEXEL)
        used = put(codes, used, at[AT_STREAMS] + texel * at[PER_STREAM] + 16 * ray, here, kind)
        words -= here
        texel += 1
    return used


@jit.helper
def put_corners(codes, used, at, start, triangle, kind):
    """Three texels of a triangle's corners, their normals or colours."""
    for corner in range(3):
        used = put(codes, used, start + corner * at[PER_CORNER] + 12 * triangle, 3, kind)
    return used


@jit.helper
def put_shading(codes, used, at, triangle):
    """21 words: normals and colours of the corners, and a material's colour, which all triangles share."""
    used = put_corners(codes, used, at, at[AT_NORMALS], triangle, SHADING)
    used = put_corners(codes, used, at, at[AT_COLORS], triangle, SHADING)
    return put(codes, used, at[AT_COLORS], 3, SHADING)


@jit.helper
def call(kernel, box, resolution, pointers, lists, corners, floats, ints, ray, at, codes, used, missed):
    """A kernel's call for a ray, with what it fetches of the structures: the kernel that the ray waits for next.

    missed : hits beyond the voxel are none.
    """
    if kernel == TRAVERSE:
        used = put(codes, used, at[AT_VOXELS] + 4 * walk.address(resolution, ints, ray), 1, VOXELS)
        return step(box, resolution, pointers, floats, ints, ray, missed), used
    used = put(codes, used, at[AT_LISTS] + 4 * np.int64(ints[ray, LIST]), 1, LISTS)
    used = put_corners(codes, used, at, at[AT_CORNERS], entry(lists, ints, ray), TRIANGLES)
    return test(resolution, lists, corners, floats, ints, ray, missed), used


def _mimd(
    box, resolution, pointers, lists, corners, following, floats, ints,
    at, eye, setup, color, first, begun, codes, missed,
):  # fmt: skip
    capacity, used, rays = len(codes), 0, len(following)
    for ray in range(first, rays):
        if not begun:
            if used + CALL > capacity:
                return ray, False, used
            used = put_stream(codes, used, at, ray, 0, eye, WRITES)
            used = put_stream(codes, used, at, ray, 0, setup, READS)
        begun = False
        now = following[ray]
        while now != DONE:
            if used + CALL > capacity:
                following[ray] = now
                return ray, True, used
            now, used = call(now, box, resolution, pointers, lists, corners, floats, ints, ray, at, codes, used, missed)
        following[ray] = DONE
        if used + CALL > capacity:
            return ray, True, used
        if color >= 0 and ints[ray, TRIANGLE] >= 0:
            used = put_shading(codes, used, at, ints[ray, TRIANGLE])
            used = put_stream(codes, used, at, ray, PIXEL_TEXEL, color, WRITES)
    return rays, False, used


def _every(numbers, packed, ints, first, read, write, texel, hits, at, codes, used):
    capacity = len(codes)
    for k in range(first, len(numbers)):
        if used + CALL > capacity:
            return k, used
        ray = numbers[k]
        if hits and ints[ray, TRIANGLE] < 0:
            continue
        place = k if packed else ray
        used = put_stream(codes, used, at, place, 0, read, READS)
        if hits:
            used = put_shading(codes, used, at, ints[ray, TRIANGLE])
        used = put_stream(codes, used, at, place, texel, write, WRITES)
    return len(numbers), used


def _pass(
    box, resolution, pointers, lists, corners, following, floats, ints,
    numbers, packed, first, kernel, read, write, at, codes, used, waiting, missed,
):  # fmt: skip
    """A pass of a kernel; a ray that it has served waits for the next pass, whatever it waits for."""
    capacity = len(codes)
    for k in range(first, len(numbers)):
        ray = numbers[k]
        if following[ray] != kernel:
            continue
        if used + CALL > capacity:
            return k, used
        place = k if packed else ray
        used = put_stream(codes, used, at, place, 0, read, READS)
        now, used = call(kernel, box, resolution, pointers, lists, corners, floats, ints, ray, at, codes, used, missed)
        used = put_stream(codes, used, at, place, STATE_TEXEL, write, WRITES)
        if now != kernel:
            following[ray] = now
            waiting[kernel] -= 1
            if now != DONE:
                waiting[now] += 1
    return len(numbers), used


REFERENCES, WORDS, MISSES, LINES = range(4)


class Cache:
    """A cache that traces are played through.

    size, line : bytes. ways : lines that share an index. kinds : of data that pass through it; what else is in a trace
    is no part of its figures. sets : in place of size / line / ways, rounded down.
    Raises ViewerError for what makes no cache.
    """

    def __init__(
        self,
        size: int = 64 * 1024,
        line: int = 48,
        ways: int = 1,
        kinds: Sequence[int] = KINDS,
        write_back: bool = False,
        sets: int | None = None,
    ) -> None:
        self.sets = size // max(1, line * ways) if sets is None else sets
        if line < 4 or line % 4 or ways < 1 or self.sets < 1:
            what = f"{size} bytes in lines of {line}, {ways} ways"
            raise ViewerError("texture cache", what, "lines of whole words, of which at least as many as ways fit")
        self.line, self.ways, self.write_back, self.kinds = line, ways, write_back, tuple(kinds)
        self._tags = np.full((self.sets, ways), -1, np.int64)
        self._counts = np.zeros((len(KINDS), 4), np.int64)
        self._written_back = np.zeros(1, np.int64)

    def play(self, chunks: Iterable[NDArray[np.int64]]) -> Cache:
        """References, after those played before. Returns the cache."""
        for codes in chunks:
            self.take(codes)
        return self

    def take(self, codes: NDArray[np.int64]) -> None:
        """One chunk of references (N,)."""
        mask = sum(1 << kind for kind in self.kinds)
        sizes = (self.line, self.sets, self.ways, mask, self.write_back)
        jit.run(_play, codes, *sizes, self._tags, self._counts, self._written_back)

    def _sum(self, column: int, kinds: Sequence[int] | None) -> int:
        return int(self._counts[list(self.kinds if kinds is None else kinds), column].sum())

    def references(self, kinds: Sequence[int] | None = None) -> int:
        """Texels fetched and written."""
        return self._sum(REFERENCES, kinds)

    def hit_rate(self, kinds: Sequence[int] | None = None) -> float:
        """Share of the references that fetch no line."""
        return 1 - self._sum(MISSES, kinds) / max(1, self.references(kinds))

    def bytes_without(self, kinds: Sequence[int] | None = None) -> int:
        """Bytes moved without a cache: every word."""
        return 4 * self._sum(WORDS, kinds)

    def bytes_with(self, kinds: Sequence[int] | None = None) -> int:
        """Bytes moved with it: lines fetched; written words, or lines where they are written back, those too that the
        trace leaves in the cache."""
        kinds = self.kinds if kinds is None else kinds
        moved = self.line * self._sum(LINES, kinds)
        if WRITES in kinds:
            left = int((self._tags[self._tags >= 0] & 1).sum()) + int(self._written_back[0])
            moved += self.line * left if self.write_back else 4 * self._sum(WORDS, [WRITES])
        return moved

    def ratio(self, kinds: Sequence[int] | None = None) -> float:
        """Bytes with the cache over bytes without."""
        return self.bytes_with(kinds) / max(1, self.bytes_without(kinds))


def play_all(caches: Iterable[Cache], chunks: Iterable[NDArray[np.int64]]) -> None:
    """One trace through several caches."""
    caches = list(caches)
    for codes in chunks:
        for cache in caches:
            cache.take(codes)


def _play(codes, line, sets, ways, mask, write_back, tags, counts, written_back):
    for k in range(len(codes)):
        code = codes[k]
        kind = code & 7
        if (mask >> kind) & 1 == 0:
            continue
        words = ((code >> 3) & 3) + 1
        at = code >> 5
        write = kind == WRITES
        counts[kind, REFERENCES] += 1
        counts[kind, WORDS] += words
        if write and not write_back:
            continue  # a line that is there is updated in place
        # Unsigned: a division of numbers with a sign takes twice as long.
        first = np.int64(np.uint32(np.uint64(at) // np.uint64(line)))
        last = first
        while (last + 1) * line < at + 4 * words:
            last += 1
        missed = False
        for place in range(first, last + 1):
            index = np.int64(np.uint32(place) % np.uint32(sets))
            if tags[index, 0] >> 1 == place:  # the one used last, as most are
                if write:
                    tags[index, 0] |= 1
                continue
            found = 1
            while found < ways and tags[index, found] >> 1 != place:
                found += 1
            if found == ways:
                missed = True
                counts[kind, LINES] += 1
                found = ways - 1
                if tags[index, found] >= 0 and tags[index, found] & 1 == 1:
                    written_back[0] += 1
                tag = place * 2
            else:
                tag = tags[index, found]
            for way in range(found, 0, -1):
                tags[index, way] = tags[index, way - 1]
            tags[index, 0] = tag | 1 if write else tag
        if missed:
            counts[kind, MISSES] += 1


# What the loop remembers between pieces of its trace: which half of a queue is filled, rays in the queues, the next ray
# to come, slots in use, the launch that runs (its kernel, half, size), and the place in it.
SIDES, COUNTS, COMING, SLOTS, KERNEL, SIDE, WAITING, PLACE, HELD = 0, 2, 4, 5, 6, 7, 8, 9, 10


def buffer_references(
    space: Space,
    rays: NDArray,
    traffic: Traffic,
    capacity: int,
    layout: Layout | None = None,
    state: State | None = None,
    launches: list[int] | None = None,
) -> Iterator[NDArray[np.int64]]:
    """References off the chip of rays (N,) of record RAY: structures, and the pixels that shading writes.

    capacity : rays that the buffer holds. state : of the rays, else set up here; left as the machine leaves it.
    launches : is given those of traversal and of intersection.
    """
    state = State.setup(space, rays) if state is None else state
    color = traffic.words(COLOR)[1] if traffic.shade else -1
    at = (layout or Layout.of(space, len(rays))).at
    capacity = max(1, min(capacity, len(rays)))
    queues, slots = np.zeros((2, 2, capacity), np.int32), np.zeros(capacity, np.int32)
    held, counted = np.zeros(HELD, np.int64), np.zeros(2, np.int64)
    codes, more = np.empty(CHUNK, np.int64), True
    while more:
        arguments = (*space.arrays, *state.arrays, at, color, queues, slots, held, counted, codes)
        more, used = jit.run(_serve, *arguments)
        yield codes[:used]
    if launches is not None:
        launches[:] = counted.tolist()


def _serve(
    box, resolution, pointers, lists, corners, following, floats, ints,
    at, color, queues, slots, held, counted, codes,
):  # fmt: skip
    """Launches until the codes are full (True) or no ray is left."""
    capacity, total, used, room = len(slots), len(following), 0, len(codes)
    while True:
        if held[PLACE] == held[WAITING]:  # a launch has ended
            while held[SLOTS] < capacity and held[COMING] < total:
                ray = held[COMING]
                held[COMING] += 1
                if following[ray] != DONE:
                    slots[held[SLOTS]] = ray
                    queues[0, held[SIDES], held[COUNTS]] = held[SLOTS]
                    held[COUNTS] += 1
                    held[SLOTS] += 1
            if held[COUNTS] == 0 and held[COUNTS + 1] == 0:
                return False, used
            kernel = 0 if held[COUNTS] >= held[COUNTS + 1] else 1
            held[KERNEL], held[SIDE] = kernel, held[SIDES + kernel]
            held[WAITING], held[PLACE] = held[COUNTS + kernel], 0
            held[COUNTS + kernel], held[SIDES + kernel] = 0, 1 - held[SIDES + kernel]
            counted[kernel] += 1
        if used + 2 * CALL > room:  # a call, and the shading of a ray that ends with it
            return True, used
        slot = queues[held[KERNEL], held[SIDE], held[PLACE]]
        held[PLACE] += 1
        ray = slots[slot]
        now, used = call(
            held[KERNEL], box, resolution, pointers, lists, corners, floats, ints, ray, at, codes, used, False
        )
        following[ray] = now
        if now == DONE:
            if color >= 0 and ints[ray, TRIANGLE] >= 0:
                used = put_shading(codes, used, at, ints[ray, TRIANGLE])
                used = put_stream(codes, used, at, ray, PIXEL_TEXEL, color, WRITES)
            while held[COMING] < total and following[held[COMING]] == DONE:
                held[COMING] += 1
            if held[COMING] == total:
                continue
            slots[slot] = held[COMING]
            held[COMING] += 1
            now = TRAVERSE
        queues[now, held[SIDES + now], held[COUNTS + now]] = slot
        held[COUNTS + now] += 1
