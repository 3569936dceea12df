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

MAX_CELLS = 1 << 24  # cell numbers are integers in floats


@dataclass(frozen=True)
class PhotonGrid:
    """A uniform grid of cells, of a box or, hashed, of all space.

    low : corner of the first cell, world space. cell : edges of a cell, scene units. resolution : number of cells; each
    (3,). buckets : of the hash; 0: a box. kinds : 2 where caustic photons have separate cells, numbered after the
    others.
    """

    low: tuple[float, float, float]
    cell: tuple[float, float, float]
    resolution: tuple[int, int, int]
    buckets: int = 0
    kinds: int = 1

    @classmethod
    def hashed(cls, low: ArrayLike, edge: float, buckets: int, kinds: int = 1) -> PhotonGrid:
        """A grid of unbounded cubes with a corner ``low`` (3,); cell numbers are hashes below ``buckets``, a power of
        two (Purcell 2004, section 6.4.4)."""
        assert 0 < buckets <= MAX_CELLS // 4 and buckets & (buckets - 1) == 0
        return cls(_float3(low), _float3((edge, edge, edge)), (1, 1, 1), buckets, kinds)

    @classmethod
    def over(cls, low: ArrayLike, high: ArrayLike, resolution: ArrayLike, kinds: int = 1) -> PhotonGrid:
        """A grid over the box from ``low`` (3,) to ``high`` (3,). Raises ViewerError for a resolution below 1, or of
        more than 2^24 cells."""
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        cells = np.asarray(resolution, np.int64)
        if cells.shape != (3,) or (cells < 1).any() or kinds * np.prod(cells.astype(float)) >= MAX_CELLS:
            text = " x ".join(map(str, np.ravel(resolution)))
            hint = f"one to {MAX_CELLS // kinds - 1:,} cells in all"
            raise ViewerError("photon grid", f"{text} cells", hint)
        size = np.maximum(high - low, 1e-6 * max(float(np.abs([low, high]).max()), 1e-30))
        edges = size / cells
        return cls(_float3(low), _float3(edges), (int(cells[0]), int(cells[1]), int(cells[2])), kinds=kinds)

    @property
    def cells(self) -> int:
        """The number of cells, or of buckets, of all kinds."""
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
        cells = np.floor((np.asarray(positions, np.float32) - low) / edge)
        return (cells if self.buckets else np.clip(cells, 0, np.array(self.resolution) - 1)).astype(np.int64)

    def numbers(self, positions: NDArray) -> NDArray[np.int64]:
        """The cell number of each position (N, 3); for grids of a box."""
        x, y, z = self.cells_of(positions).T
        return (z * self.resolution[1] + y) * self.resolution[0] + x


def _float3(values: Any) -> tuple[float, float, float]:
    """Three values, rounded to float32 as on the device."""
    x, y, z = (float(np.float32(value)) for value in values)
    return x, y, z


# -- compaction of the stored photons on the device by transform feedback ----------------------------------------------
# Most elements of the frames have none, and the passes of a sort grow with its list.

FEEDBACK_OUTPUTS = ("kept",)  # outputs of the geometry program, for transform feedback
_GL_TRANSFORM_FEEDBACK_BUFFER, _GL_RASTERIZER_DISCARD, _GL_POINTS = 0x8C8E, 0x8C89, 0x0000


def compaction_sources() -> tuple[Source, Source]:
    """The vertex and the geometry program of `PhotonCompaction`."""
    vertex = Source.begin(PHOTON_CAUSTIC=STORED["caustic"])
    vertex.add_record(PHOTON)
    add_fetch(vertex, "photons", PHOTON)
    vertex.include("photons/compaction_vertex.glsl")
    return vertex, Source.of_file("photons/compaction_geometry.glsl")


class PhotonCompaction:
    """The pass that compacts stored photons into a list. Every call needs a current context."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.program = device.feedback_program(*compaction_sources(), outputs=FEEDBACK_OUTPUTS)
        self._uniforms = {name: self.program[name] for name in self.program}
        self._draw_points = device.context.vertex_array(self.program, [])
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
        """Draw ``count`` points into ``buffer``: as `VertexArray.transform`, but in several draws that append to each
        other."""
        require, uint, signed = self.device.require, ctypes.c_uint, ctypes.c_int
        require("glBindBufferBase", uint, uint, uint)(_GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer.glo)
        require("glUseProgram", uint)(self.program.glo)
        require("glBindVertexArray", uint)(self._draw_points.glo)
        require("glEnable", uint)(_GL_RASTERIZER_DISCARD)
        draw = require("glDrawArrays", uint, signed, signed)
        require("glBeginTransformFeedback", uint)(_GL_POINTS)
        for first, number in ranges(self._parts, count):
            draw(_GL_POINTS, first, number)
        require("glEndTransformFeedback")()
        require("glDisable", uint)(_GL_RASTERIZER_DISCARD)

    def _set(self, uniforms: Mapping[str, Any]) -> None:
        for name, value in uniforms.items():
            member = self._uniforms.get(name)
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
    """The sources of all passes of a map by sorting, by name."""
    yield "pad", pass_source("photons/pad_list", {"kept": ENTRY}, ENTRY)
    yield "sort", pass_source("photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
    yield "sort, two steps", pass_source("photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True)
    yield "search", pass_source("photons/first_photons", {"list": ENTRY}, FIRST)


class PhotonSort:
    """The passes of a bitonic merge sort, for lists of any size, whose streams are kept. Every call needs a current
    context.

    paired : two steps in a pass where a run has two left; the published sort has a pass for each.
    """

    def __init__(self, device: Device, size: tuple[int, int], paired: bool = False) -> None:
        self.device = device
        self._pad = Pass(device, "photons/pad_list", {"kept": ENTRY}, ENTRY)
        self._step = Pass(device, "photons/sort_step", {"list": ENTRY}, ENTRY, planar=True)
        self._double_step = (
            Pass(device, "photons/sort_two_steps", {"list": ENTRY}, ENTRY, planar=True) if paired else None
        )
        self._search = Pass(device, "photons/first_photons", {"list": ENTRY}, FIRST)
        self._list_pairs: dict[tuple[int, int], list[Stream]] = {}
        self.passes = 0  # of the last sort
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Switch to lists of this size, without compiling."""
        self.size, self.length = size, size[0] * size[1]
        assert self.length & (self.length - 1) == 0, "a power of two"
        if size not in self._list_pairs:
            self._list_pairs[size] = [Stream(self.device, ENTRY, size) for _ in range(2)]
        self._lists = self._list_pairs[size]

    @property
    def list(self) -> Stream:
        """`ENTRY` of every photon, sorted, after `sort`."""
        return self._lists[0]

    def enter(self, entries: Stream, count: int, cells: int) -> Job:
        """The job that copies the first ``count`` of ``entries``, of `ENTRY`, to the list, and pads it with the number
        ``cells``, beyond all cells."""
        yield Draw(lambda: self._pad.draw({"kept": entries}, self._lists[0], kept=count, cells=cells))

    def sort(self) -> Job:
        """The job that sorts the list: runs of 2, 4 .. all elements, each by exchanges at distances run / 2, run / 4
        .. 1."""
        self.passes = 0
        run = 2
        while run <= self.length:
            partner = run // 2
            while partner:
                double_step = self._double_step if partner > 1 else None
                yield Draw(partial(self._exchange, double_step or self._step, partner, run))
                partner //= 2 if double_step is None else 4
            run *= 2

    def search(self, first: Stream) -> Job:
        """The job that writes each cell's first index in the list to ``first``, of `FIRST`, and the number of photons
        at its end."""
        yield Draw(lambda: self._search.draw({"list": self._lists[0]}, first))

    def _exchange(self, step: Pass, partner: int, run: int) -> None:
        """Draw a step, or two: compare and exchange elements at the distance ``partner`` in runs of ``run``."""
        distances = {
            "partner": self._element(partner),
            "half_way": self._element(partner // 2),
            "run": self._element(run),
        }
        step.draw({"list": self._lists[0]}, self._lists[1], **distances)
        self._lists.reverse()
        self.passes += 1

    def _element(self, index: int) -> tuple[int, int]:
        """(column, row) of an element of the list whose ``index`` is a power of two."""
        width = self.size[0]
        return (index, 0) if index < width else (0, index // width)

    def release(self) -> None:
        """Free the lists."""
        for lists in self._list_pairs.values():
            for stream in lists:
                stream.release()
        self._list_pairs.clear()


# -- the photon map by stencil routing ---------------------------------------------------------------------------------
# Each photon is drawn as a point over its cell's footprint, and passes the stencil test at one texel (Purcell 2004,
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
MAX_EDGE = 16
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
    """Bytes of the textures of a map of ``cells`` cells with footprints of ``edge`` x ``edge`` texels."""
    width, height = footprints(cells)
    footprint_bytes = edge * edge * (16 * ENTRY.texels + _STENCIL_BYTES)
    return width * height * (footprint_bytes + 16 * (TOTAL.texels + ROUTED_CELL.texels))


def point_sources(fragment: str, output: Record, edge: int, fetched: bool = True) -> tuple[Source, Source]:
    """Vertex and fragment program that draw photons as points of ``edge`` texels. fetched : the vertex program fetches
    them from the stream of photons, by the list of stored ones; else they are vertices of `VERTEX`."""
    vertex, fragment_source = Source.begin(SIZE=edge, PHOTON_CAUSTIC=STORED["caustic"]), Source.begin()
    if fetched:
        for name, record in (("kept", ENTRY), ("photons", PHOTON)):
            vertex.add_record(record)
            add_fetch(vertex, name, record)
    vertex.include("photons/point_fetch.glsl" if fetched else "photons/point_vertex.glsl")
    vertex.include("photons/route_vertex.glsl")
    fragment_source.add_record(output, unpack=False, pack=True)
    fragment_source.include(f"photons/{fragment}.glsl")
    return vertex, fragment_source


def routed_sources() -> Iterator[tuple[str, tuple[Source, Source]]]:
    """Vertex and fragment programs, by name, that draw photons as points into a map by stencil routing."""
    for fetched in (True, False):
        source = "fetched" if fetched else "read back"
        yield f"route, {source}", point_sources("route_fragment", ENTRY, PUBLISHED_EDGE, fetched)
        yield f"total, {source}", point_sources("total_fragment", TOTAL, 1, fetched)


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


class _PhotonPoints:
    """The program that draws photons as points into a stream; arguments are those of `point_sources`."""

    def __init__(self, device: Device, fragment: str, output: Record, edge: int, fetched: bool) -> None:
        vertex, fragment_source = point_sources(fragment, output, edge, fetched)
        self.device, self.shader = device, Shader(device, fragment_source, vertex, listed=True)
        self._empty = device.context.vertex_array(self.shader.program, []) if fetched else None

    def draw(
        self, streams: dict[str, Stream], vertices: moderngl.Buffer | None, count: int, uniforms: dict[str, object]
    ) -> None:
        """Draw ``count`` points into the current framebuffer. streams : inputs by name. vertices : of `VERTEX`, where
        photons are not fetched."""
        for name, stream in streams.items():
            for k, texture in enumerate(stream.textures):
                self.shader.bind(f"in_{name}_{k}", texture)
        for name, value in uniforms.items():
            self.shader.set(name, value)
        context = self.device.context
        array = self._empty or self._array(vertices)
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.enable(moderngl.PROGRAM_POINT_SIZE)
        for first, number in ranges(self.shader.parts, count):
            array.render(moderngl.POINTS, vertices=number, first=first)
        context.disable(moderngl.PROGRAM_POINT_SIZE)
        if array is not self._empty:
            array.release()

    def _array(self, vertices: moderngl.Buffer | None) -> moderngl.VertexArray:
        """A vertex array of `VERTEX` with the attributes that the compiler has not removed."""
        assert vertices is not None
        used = [name for name in VERTEX.names or () if name in self.shader.members]
        sizes = {name: VERTEX[name].itemsize for name in VERTEX.names or ()}
        layout = " ".join(f"{size // 4}f" if name in used else f"{size}x" for name, size in sizes.items())
        return self.device.context.vertex_array(self.shader.program, [(vertices, layout, *used)])


class StencilRouting:
    """The passes that route photons to the cells of a grid. Every call needs a current context.

    edge : m, texels along the edge of a footprint, 1 .. 16. saturate : with 16, let the stencil saturate as published,
    which keeps a full cell's newest photon alone, instead of wrapping around. fetched : see `point_sources`.
    map, totals, cells : streams of `ENTRY`, the texels of all footprints, and of `TOTAL` and `ROUTED_CELL`, by cell.
    Raises ViewerError for an edge out of range, and for more cells than a texture holds.
    """

    def __init__(
        self, device: Device, cells: int, edge: int = PUBLISHED_EDGE, saturate: bool = False, fetched: bool = True
    ) -> None:
        if not 1 <= edge <= MAX_EDGE:
            raise ViewerError("photon map", f"footprints of {edge} x {edge} texels", f"1 to {MAX_EDGE} an edge")
        width, height = footprints(cells)
        if max(width, height) * edge > device.max_texture or width * height * edge * edge > LARGEST_INTEGER:
            hint = "take fewer cells, or smaller footprints"
            raise ViewerError("photon map", f"{cells:,} cells of {edge} x {edge} texels exceed a texture", hint)
        self.device, self.count, self.edge, self.saturate, self.fetched = device, cells, edge, saturate, fetched
        self.map = Stream(device, ENTRY, (width * edge, height * edge))
        self.totals = Stream(device, TOTAL, (width, height))
        self.cells = Stream(device, ROUTED_CELL, (width, height))
        self._route = _PhotonPoints(device, "route_fragment", ENTRY, edge, fetched)
        self._total = _PhotonPoints(device, "total_fragment", TOTAL, 1, fetched)
        self._redistribute = Pass(device, "photons/redistribute", _REDISTRIBUTE, ROUTED_CELL)
        self._bit = square(device, Shader(device, Source.of_file(_STENCIL_BIT, EDGE=edge)))
        self.stencil = Stencil(device, self.map.framebuffer)
        self._vertices: moderngl.Buffer | None = None

    @property
    def uniforms(self) -> dict[str, int]:
        """The uniforms of the modules that read the map."""
        return footprint_uniforms(self.edge, self.totals.size[0])

    def make(
        self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid, redistribution: str = "count"
    ) -> Job:
        """The job of a map of the first ``count`` ``entries``, of `ENTRY`, which list ``photons``: route, add up, and
        redistribute the power of lost photons. redistribution : a key of `REDISTRIBUTIONS`."""
        if not self.fetched:
            yield Host(lambda: self._read_back(photons))
        yield from self.route(photons, entries, count, grid)
        yield from self.add(photons, entries, count, grid)
        yield Draw(lambda: self._scale(photons, REDISTRIBUTIONS[redistribution]))
        if self._vertices is not None:
            self._vertices.release()
            self._vertices = None

    def route(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> Job:
        """The job that routes photons into the map; texels without a photon stay as they were."""
        yield Draw(self._begin)
        yield Draw(lambda: self._draw(photons, entries, count, grid))

    def add(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> Job:
        """The job that sums photons and powers of each cell in `totals`, by additive blending: counts are exact to
        2^24."""
        yield Draw(lambda: self._add(photons, entries, count, grid))

    def read_counts(self) -> Job:
        """The job that reads back (cells,) int32, the photons of each cell, from the stencil, as published: up to
        255; with m = 16, unless it saturates, modulo 256."""
        counts = yield Host(self._counts)
        return counts

    def _read_back(self, photons: Stream) -> None:
        """Read the photons back to the host, to be drawn as vertices, as published."""
        vertices = read_vertices(photons)
        self._vertices = self.device.context.buffer(vertices.tobytes() or bytes(VERTEX.itemsize))

    def _begin(self) -> None:
        """Number the texels of each footprint 0 .. m^2 - 1 in the stencil, bit by bit."""
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
        wraps = self.edge == MAX_EDGE and not self.saturate
        increase = INCREASE_AND_WRAP if wraps else INCREASE
        with self.stencil.test(EQUAL, self.edge * self.edge - 1, increase, failed=increase):
            self._draw_points(self._route, photons, entries, count, grid)

    def _add(self, photons: Stream, entries: Stream, count: int, grid: PhotonGrid) -> None:
        self.totals.clear()
        self.totals.framebuffer.use()
        context = self.device.context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._draw_points(self._total, photons, entries, count, grid)
        context.disable(moderngl.BLEND)

    def _draw_points(
        self, points: _PhotonPoints, photons: Stream, entries: Stream, count: int, grid: PhotonGrid
    ) -> None:
        if count:
            uniforms = {**grid.uniforms, "cells_wide": self.totals.size}
            points.draw({"photons": photons, "kept": entries}, self._vertices, count, uniforms)

    def _scale(self, photons: Stream, redistribution: int) -> None:
        """Write each cell's factor on its photons' power."""
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
