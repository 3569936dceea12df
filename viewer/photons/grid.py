"""The photon map on the device: a uniform grid of cells over a box, numbered x first; its photons by cell, sorted or
routed.

Purcell et al. 2003, section 2.2; cells need not be cubes (the scenes of table 6.1 have 250 x 1 x 250 and 25 x 25 x 50).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, FIRST, PHOTON, ROUTED_CELL, STORED, TOTAL
from raystream.lighting.photons import footprint_uniforms
from raystream.stream.compile.source import Source
from raystream.stream.declare.record import LARGEST_INTEGER, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import DrawSizes, Shader, ranges, square, timed_draws
from raystream.stream.gl.objects import ALL_BITS, ALWAYS, EQUAL, INCREASE, INCREASE_AND_WRAP, REPLACE, Query, Stencil
from raystream.stream.gl.passes import Pass, add_fetch, pass_source
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Host, Job

MOST_CELLS = 1 << 24  # cell numbers are integers in floats


@dataclass(frozen=True)
class PhotonGrid:
    """low : corner of the lowest cell, world. cell : edges of a cell, scene units. resolution : cells; each (3,).
    buckets : of a hash of unbounded cells; 0: cells of a box. kinds : 2 if caustic photons have separate cells,
    numbered after the others'.
    """

    low: tuple[float, float, float]
    cell: tuple[float, float, float]
    resolution: tuple[int, int, int]
    buckets: int = 0
    kinds: int = 1

    @classmethod
    def hashed(cls, low: ArrayLike, edge: float, buckets: int, kinds: int = 1) -> PhotonGrid:
        """Unbounded cubes of an edge, counted from a corner (3,); their numbers are hashes below ``buckets``, a power
        of two (Purcell 2004, section 6.4.4)."""
        assert 0 < buckets <= MOST_CELLS // 4 and buckets & (buckets - 1) == 0
        return cls(_three(low), _three((edge, edge, edge)), (1, 1, 1), buckets, kinds)

    @classmethod
    def over(cls, low: ArrayLike, high: ArrayLike, resolution: ArrayLike, kinds: int = 1) -> PhotonGrid:
        """Cells over a box (3,), (3,). Raises ViewerError for a resolution below 1 or of more than 2^24 cells."""
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        cells = np.asarray(resolution, np.int64)
        if cells.shape != (3,) or (cells < 1).any() or kinds * np.prod(cells.astype(float)) >= MOST_CELLS:
            text = " x ".join(map(str, np.ravel(resolution)))
            hint = f"one to {MOST_CELLS // kinds - 1:,} cells in all"
            raise ViewerError("photon grid", f"{text} cells", hint)
        size = np.maximum(high - low, 1e-6 * max(float(np.abs([low, high]).max()), 1e-30))
        edges = size / cells
        return cls(_three(low), _three(edges), (int(cells[0]), int(cells[1]), int(cells[2])), kinds=kinds)

    @property
    def cells(self) -> int:
        """Number of cell numbers."""
        return self.kinds * (self.buckets or int(np.prod(self.resolution)))

    @property
    def uniforms(self) -> dict[str, Any]:
        """The uniforms of ``shaders/interface/photon_grid.glsl``."""
        return {
            "photon_grid_low": self.low,
            "photon_grid_cell": self.cell,
            "photon_grid_resolution": self.resolution,
            "photon_grid_buckets": self.buckets,
            "photon_grid_kinds": self.kinds,
        }

    def cells_of(self, positions: NDArray) -> NDArray[np.int64]:
        """The cell (N, 3) of each position (N, 3), clamped to the box unless hashed; in float32, as on the device."""
        low, edge = np.array(self.low, np.float32), np.array(self.cell, np.float32)
        at = np.floor((np.asarray(positions, np.float32) - low) / edge)
        return (at if self.buckets else np.clip(at, 0, np.array(self.resolution) - 1)).astype(np.int64)

    def numbers(self, positions: NDArray) -> NDArray[np.int64]:
        """The cell number of each position (N, 3), of a box."""
        x, y, z = self.cells_of(positions).T
        return (z * self.resolution[1] + y) * self.resolution[0] + x


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(np.float32(value)) for value in values)
    return x, y, z


# -- compaction of the stored photons on the device by transform feedback ----------------------------------------------
# Most elements of the frames hold none, and a sort's passes grow with its list.

OUTPUTS = ("kept",)  # outputs of the geometry program, for transform feedback
_FEEDBACK_BUFFER, _RASTERIZER_DISCARD, _POINTS = 0x8C8E, 0x8C89, 0x0000


def compaction_sources() -> tuple[Source, Source]:
    """Vertex and geometry program."""
    vertex = Source.begin(PHOTON_CAUSTIC=STORED["caustic"])
    vertex.add_record(PHOTON)
    add_fetch(vertex, "photons", PHOTON)
    vertex.include("photons/compaction_vertex.glsl")
    return vertex, Source.of_file("photons/compaction_geometry.glsl")


class PhotonCompaction:
    """The pass. Every call needs a current context."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.program = device.feedback_program(*compaction_sources(), outputs=OUTPUTS)
        self._members = {name: self.program[name] for name in self.program}
        self._points = device.context.vertex_array(self.program, [])
        self._query = Query(device, primitives=True)
        self._parts = timed_draws(device, DrawSizes(listed=True))
        self._buffer: moderngl.Buffer | None = None

    def run(self, photons: Stream, count: int, grid: PhotonGrid, entries: Stream) -> int:
        """Copy the stored photons of the first ``count`` of `PHOTON` to the first elements of ``entries`` of `ENTRY`,
        in their order; returns their number, for which the host waits."""
        assert entries.record == ENTRY and entries.size[0] * entries.size[1] >= count
        size = 16 * entries.size[0] * entries.size[1]
        if self._buffer is None or self._buffer.size != size:
            if self._buffer is not None:
                self._buffer.release()
            self._buffer = self.device.context.buffer(reserve=size)
        for k, texture in enumerate(photons.textures):
            self._set({f"in_photons_{k}": k})
            texture.use(k)
        self._set(grid.uniforms)
        entries.framebuffer.use()  # nothing is drawn to it, but the current framebuffer must be complete
        with self._query:
            self._transform(self._buffer, count)
        entries.textures[0].write(self._buffer)  # on the device
        return self._query.primitives

    def _transform(self, buffer: moderngl.Buffer, count: int) -> None:
        """As `VertexArray.transform`, which is a single draw: here each part goes on where the one before has ended."""
        require, uint, signed = self.device.require, ctypes.c_uint, ctypes.c_int
        require("glBindBufferBase", uint, uint, uint)(_FEEDBACK_BUFFER, 0, buffer.glo)
        require("glUseProgram", uint)(self.program.glo)
        require("glBindVertexArray", uint)(self._points.glo)
        require("glEnable", uint)(_RASTERIZER_DISCARD)
        draw = require("glDrawArrays", uint, signed, signed)
        require("glBeginTransformFeedback", uint)(_POINTS)
        for first, some in ranges(self._parts, count):
            draw(_POINTS, first, some)
        require("glEndTransformFeedback")()
        require("glDisable", uint)(_RASTERIZER_DISCARD)

    def _set(self, uniforms: Mapping[str, Any]) -> None:
        for name, value in uniforms.items():
            member = self._members.get(name)
            if isinstance(member, moderngl.Uniform):
                member.value = value

    def release(self) -> None:
        """Free the buffer."""
        if self._buffer is not None:
            self._buffer.release()
            self._buffer = None


# -- the photon map by sorting -----------------------------------------------------------------------------------------
# A list of (cell, photon), sorted by cell, and the start of each cell in it. Bitonic merge sort in k (k + 1) / 2 passes
# for 2^k elements, and a binary search in one pass (Purcell 2004, section 6.2.2; Purcell et al. 2003, section 2.2.1).
# Nothing is read back.


def list_size(photons: int) -> tuple[int, int]:
    """(width, height) of the smallest stream of a power of two of elements that holds ``photons``."""
    exponent = max(1, (max(photons, 2) - 1).bit_length())
    return 1 << ((exponent + 1) // 2), 1 << (exponent // 2)


def cell_size(cells: int) -> tuple[int, int]:
    """(width, height) of a stream with an element for each cell and one more."""
    width = 1 << (-(-(cells + 1).bit_length() // 2))
    return width, -(-(cells + 1) // width)


def sort_sources() -> Iterator[tuple[str, Source]]:
    """Every pass of a map by sorting, by name."""
    yield "pad", pass_source("photons/pad_list", {"kept": ENTRY}, ENTRY)
    yield "sort", pass_source("photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
    yield "sort, two steps", pass_source("photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True)
    yield "search", pass_source("photons/first_photons", {"list": ENTRY}, FIRST)


class PhotonSort:
    """The passes of the sort, for lists of any size; used sizes are kept. Every call needs a current context.

    paired : two steps in a pass, where there are two of a run; the published sort has a pass for each.
    """

    def __init__(self, device: Device, size: tuple[int, int], paired: bool = False) -> None:
        self.device = device
        self._pad = Pass(device, "photons/pad_list", {"kept": ENTRY}, ENTRY)
        self._step = Pass(device, "photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
        self._pair = Pass(device, "photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True) if paired else None
        self._search = Pass(device, "photons/first_photons", {"list": ENTRY}, FIRST)
        self._held: dict[tuple[int, int], list[Stream]] = {}
        self.passes = 0  # of the last sort
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Switch to lists of this size, without compiling."""
        self.size, self.length = size, size[0] * size[1]
        assert self.length & (self.length - 1) == 0, "a power of two"
        if size not in self._held:
            self._held[size] = [Stream(self.device, ENTRY, size) for _ in range(2)]
        self._lists = self._held[size]

    @property
    def list(self) -> Stream:
        """`ENTRY` of every photon, sorted, after `sort`."""
        return self._lists[0]

    def enter(self, entries: Stream, count: int, cells: int) -> Job:
        """Make the unsorted list: the first ``count`` of ``entries``, of `ENTRY`, in a grid of ``cells`` cells."""
        yield Draw(lambda: self._pad.draw({"kept": entries}, self._lists[0], kept=count, cells=cells))

    def sort(self) -> Job:
        """Sort the list: run lengths 2, 4 .. all, and in each the distances run / 2, run / 4 .. 1."""
        self.passes = 0
        run = 2
        while run <= self.length:
            partner = run // 2
            while partner:
                pair = self._pair if partner > 1 else None
                yield Draw(partial(self._exchange, pair or self._step, partner, run))
                partner //= 2 if pair is None else 4
            run *= 2

    def search(self, first: Stream) -> Job:
        """Write the start of each cell into ``first`` of `FIRST`; after the last the number of photons."""
        yield Draw(lambda: self._search.draw({"list": self._lists[0]}, first))

    def _exchange(self, step: Pass, partner: int, run: int) -> None:
        distances = {"partner": self._at(partner), "half_way": self._at(partner // 2), "run": self._at(run)}
        step.draw({"list": self._lists[0]}, self._lists[1], **distances)
        self._lists.reverse()
        self.passes += 1

    def _at(self, index: int) -> tuple[int, int]:
        """Column and row of a power of two."""
        width = self.size[0]
        return (index, 0) if index < width else (0, index // width)

    def release(self) -> None:
        """Free the lists."""
        for lists in self._held.values():
            for stream in lists:
                stream.release()
        self._held.clear()


# -- the photon map by stencil routing ---------------------------------------------------------------------------------
# Each photon is drawn as a point over its cell's footprint, and the stencil lets it into one texel (Purcell 2004,
# section 6.2.2; Purcell et al. 2003, section 2.2.2).
#
# A footprint has m x m texels, so that a cell holds m^2 photons; the dissertation's m = 16 for 65,536 cells in 1024 x
# 1024 texels is m^2 = 16, that is m = 4. The stencil begins as 0, 1 .. m^2 - 1, a photon passes at m^2 - 1, and every
# texel covered is incremented. With m = 16 the passing value, 255, is where an eight-bit stencil saturates, so it must
# wrap around; then the newest photons are kept, instead of the first.
#
# The power of photons lost in a full cell is redistributed to those kept. As published, the stencil counts the photons,
# exact to 255; here an additive pass counts them, exact to 2^24.

PUBLISHED_EDGE = 4  # texels; 1024 / 4 squared are the published 65,536 cells
LARGEST_EDGE = 16
REDISTRIBUTIONS = {"none": 0, "count": 1, "power": 2}  # numbers in shaders/photons/redistribute.glsl
VERTEX = np.dtype([("at", "<f4", 3), ("carried", "<f4", 3), ("number", "<f4"), ("kind", "<f4")])  # read back
_REDISTRIBUTE = {"totals": TOTAL, "footprints": ENTRY, "photons": PHOTON}  # input streams of the pass
_STENCIL_BIT = "photons/stencil_bit.glsl"
_STENCIL_BYTES = 4  # per texel, with depth


def footprints(cells: int) -> tuple[int, int]:
    """(width, height), in footprints, of the stream of routed cells."""
    width = 1 << (-(-max(cells - 1, 1).bit_length() // 2))
    return width, -(-cells // width)


def routing_bytes(cells: int, edge: int) -> int:
    """Texture memory of a map of ``cells`` cells."""
    wide, tall = footprints(cells)
    texels = edge * edge * (16 * ENTRY.texels + _STENCIL_BYTES)
    return wide * tall * (texels + 16 * (TOTAL.texels + ROUTED_CELL.texels))


def point_sources(fragment: str, output: Record, edge: int, fetched: bool = True) -> tuple[Source, Source]:
    """Vertex and fragment program that draw photons as points of ``edge`` texels.

    fetched : the vertex program fetches them from the stream of photons, by the list of stored ones; else they are
    vertices of `VERTEX`.
    """
    vertex, pixel = Source.begin(SIZE=edge, PHOTON_CAUSTIC=STORED["caustic"]), Source.begin()
    if fetched:
        for name, record in (("kept", ENTRY), ("photons", PHOTON)):
            vertex.add_record(record)
            add_fetch(vertex, name, record)
    vertex.include("photons/point_fetch.glsl" if fetched else "photons/point_vertex.glsl")
    vertex.include("photons/route_vertex.glsl")
    pixel.add_record(output, unpack=False, pack=True)
    pixel.include(f"photons/{fragment}.glsl")
    return vertex, pixel


def routed_sources() -> Iterator[tuple[str, tuple[Source, Source]]]:
    """Vertex and fragment programs, by name, that draw photons as points into a map by stencil routing."""
    for fetched in (True, False):
        how = "fetched" if fetched else "read back"
        yield f"route, {how}", point_sources("route_fragment", ENTRY, PUBLISHED_EDGE, fetched)
        yield f"total, {how}", point_sources("total_fragment", TOTAL, 1, fetched)


def routing_sources() -> Iterator[tuple[str, Source]]:
    """Fragment programs, by name, over whole streams of a map by stencil routing."""
    yield "stencil bit", Source.of_file(_STENCIL_BIT, EDGE=PUBLISHED_EDGE)
    yield "redistribute", pass_source("photons/redistribute", _REDISTRIBUTE, ROUTED_CELL)


def read_vertices(photons: Stream) -> NDArray:
    """(N,) `VERTEX` of the stored photons, in their order, read back from the device."""
    read = photons.read().ravel()
    indices = np.flatnonzero(read["stored"] > 0)
    out = np.zeros(len(indices), VERTEX)
    out["at"], out["carried"], out["number"] = read["position"][indices], read["power"][indices], indices
    out["kind"] = read["stored"][indices]
    return out


class _Points:
    """Photons drawn as points into a stream."""

    def __init__(self, device: Device, fragment: str, output: Record, edge: int, fetched: bool) -> None:
        vertex, pixel = point_sources(fragment, output, edge, fetched)
        self.device, self.shader = device, Shader(device, pixel, vertex, listed=True)
        self._empty = device.context.vertex_array(self.shader.program, []) if fetched else None

    def draw(
        self, streams: dict[str, Stream], vertices: moderngl.Buffer | None, count: int, uniforms: dict[str, object]
    ) -> None:
        """Draw into the current framebuffer."""
        for name, stream in streams.items():
            for k, texture in enumerate(stream.textures):
                self.shader.bind(f"in_{name}_{k}", texture)
        for name, value in uniforms.items():
            self.shader.set(name, value)
        context = self.device.context
        array = self._empty or self._array(vertices)
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.enable(moderngl.PROGRAM_POINT_SIZE)
        for first, some in ranges(self.shader.parts, count):
            array.render(moderngl.POINTS, vertices=some, first=first)
        context.disable(moderngl.PROGRAM_POINT_SIZE)
        if array is not self._empty:
            array.release()

    def _array(self, vertices: moderngl.Buffer | None) -> moderngl.VertexArray:
        """The vertex array of `VERTEX`, without attributes removed by the compiler."""
        assert vertices is not None
        used = [name for name in VERTEX.names or () if name in self.shader.members]
        sizes = {name: VERTEX[name].itemsize for name in VERTEX.names or ()}
        form = " ".join(f"{size // 4}f" if name in used else f"{size}x" for name, size in sizes.items())
        return self.device.context.vertex_array(self.shader.program, [(vertices, form, *used)])


class StencilRouting:
    """The passes that route photons to the cells of a grid. Every call needs a current context.

    edge : m, texels along the edge of a footprint, 1 .. 16. saturate : with 16, as published: let the stencil saturate
    instead of wrapping around, which leaves a cell with its newest photon alone. fetched : see `point_sources`. map,
    totals, cells : `ENTRY` of every footprint's texels, `TOTAL` and `ROUTED_CELL` of every cell. Raises ViewerError for
    an edge out of range, and for more cells than a texture holds.
    """

    def __init__(
        self, device: Device, cells: int, edge: int = PUBLISHED_EDGE, saturate: bool = False, fetched: bool = True
    ) -> None:
        if not 1 <= edge <= LARGEST_EDGE:
            raise ViewerError("photon map", f"footprints of {edge} x {edge} texels", f"1 to {LARGEST_EDGE} an edge")
        wide, tall = footprints(cells)
        if max(wide, tall) * edge > device.max_texture or wide * tall * edge * edge > LARGEST_INTEGER:
            hint = "take fewer cells, or smaller footprints"
            raise ViewerError("photon map", f"{cells:,} cells of {edge} x {edge} texels exceed a texture", hint)
        self.device, self.count, self.edge, self.saturate, self.fetched = device, cells, edge, saturate, fetched
        self.map = Stream(device, ENTRY, (wide * edge, tall * edge))
        self.totals, self.cells = Stream(device, TOTAL, (wide, tall)), Stream(device, ROUTED_CELL, (wide, tall))
        self._route = _Points(device, "route_fragment", ENTRY, edge, fetched)
        self._total = _Points(device, "total_fragment", TOTAL, 1, fetched)
        self._redistribute = Pass(device, "photons/redistribute", _REDISTRIBUTE, ROUTED_CELL)
        self._bit = square(device, Shader(device, Source.of_file(_STENCIL_BIT, EDGE=edge)))
        self.stencil = Stencil(device, self.map.framebuffer)
        self._vertices: moderngl.Buffer | None = None

    @property
    def uniforms(self) -> dict[str, int]:
        """Uniforms of the modules with which estimates read the map."""
        return footprint_uniforms(self.edge, self.totals.size[0])

    def make(
        self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid, redistribution: str = "count"
    ) -> Job:
        """Make the map of the first ``count`` of ``entries``, of `ENTRY`, from ``photons``: route, count, redistribute
        by a word of `REDISTRIBUTIONS`."""
        if not self.fetched:
            yield Host(lambda: self._read_back(photons))
        yield from self.route(photons, entries, count, grid)
        yield from self.add(photons, entries, count, grid)
        yield Draw(lambda: self._scale(photons, REDISTRIBUTIONS[redistribution]))
        if self._vertices is not None:
            self._vertices.release()
            self._vertices = None

    def route(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> Job:
        """Route into the map; texels without a photon stay as they were."""
        yield Draw(self._begin)
        yield Draw(lambda: self._draw(photons, entries, count, grid))

    def add(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> Job:
        """Sum photons and powers of each cell in `totals`, by additive blending: exact numbers up to 2^24."""
        yield Draw(lambda: self._add(photons, entries, count, grid))

    def read_counts(self) -> Job:
        """(cells,) int32 photons of each cell from the stencil, read back as published: up to 255; with m = 16, unless
        it saturates, modulo 256."""
        counts = yield Host(self._counts)
        return counts

    def _read_back(self, photons: Stream) -> None:
        """As published: the photons are read back to the host and drawn as vertices."""
        vertices = read_vertices(photons)
        self._vertices = self.device.context.buffer(vertices.tobytes() or bytes(VERTEX.itemsize))

    def _begin(self) -> None:
        target, context = self.map.framebuffer, self.device.context
        target.color_mask = False, False, False, False  # set before use, else it has no effect
        target.use()
        target.viewport = (0, 0, *self.map.size)
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE | moderngl.BLEND)
        self.stencil.clear(0)
        bit = 1
        while bit < self.edge * self.edge:
            self._bit.shader.set("bit", bit)
            with self.stencil.test(ALWAYS, ALL_BITS, REPLACE, bits=bit):
                self._bit.render()
            bit *= 2
        target.color_mask = True, True, True, True

    def _draw(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> None:
        self.map.framebuffer.use()
        self.device.context.disable(moderngl.BLEND)
        wraps = self.edge == LARGEST_EDGE and not self.saturate
        increase = INCREASE_AND_WRAP if wraps else INCREASE
        with self.stencil.test(EQUAL, self.edge * self.edge - 1, increase, failed=increase):
            self._points(self._route, photons, entries, count, grid)

    def _add(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> None:
        self.totals.clear()
        self.totals.framebuffer.use()
        context = self.device.context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._points(self._total, photons, entries, count, grid)
        context.disable(moderngl.BLEND)

    def _points(self, points: _Points, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> None:
        if count:
            uniforms = {**grid.uniforms, "cells_wide": self.totals.size}
            points.draw({"photons": photons, "kept": entries}, self._vertices, count, uniforms)

    def _scale(self, photons: Stream, redistribution: int) -> None:
        streams = {"totals": self.totals, "footprints": self.map, "photons": photons}
        self._redistribute.draw(streams, self.cells, redistribution=redistribution, **self.uniforms)

    def _counts(self) -> NDArray[np.int32]:
        """The photons drawn over each footprint, by the stencil of its first texel."""
        width, height = self.map.size
        values = np.frombuffer(self.stencil.read(), np.uint8).reshape(height, width)
        return values[:: self.edge, :: self.edge].ravel()[: self.count].astype(np.int32)

    def release(self) -> None:
        """Free the map."""
        self.stencil.release()
        for stream in (self.map, self.totals, self.cells):
            stream.release()
