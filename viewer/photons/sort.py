"""The photon map by sorting: a list of (cell, photon), sorted by cell, and the start of each cell in it.

Bitonic merge sort in k (k + 1) / 2 passes for 2^k elements, and a binary search in one pass (Purcell 2004, section
6.2.2; Purcell et al. 2003, section 2.2.1). Nothing is read back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import moderngl

from raystream.kernels.photons import ENTRY, FIRST, PHOTON, STORED
from raystream.photons.grid import PhotonGrid
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import DrawSizes, ranges, timed_draws
from raystream.stream.gl.objects import Query
from raystream.stream.gl.passes import Pass, add_fetch, pass_source
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Job

# -- compaction of the stored photons on the device by transform feedback ----------------------------------------------
# Most elements of the frames hold none, and a sort's passes grow with its list.

OUTPUTS = ("kept",)  # outputs of the geometry program, for transform feedback
_FEEDBACK_BUFFER, _RASTERIZER_DISCARD, _POINTS = 0x8C8E, 0x8C89, 0x0000


def keep_sources() -> tuple[Source, Source]:
    """Vertex and geometry program."""
    vertex = Source.begin(PHOTON_CAUSTIC=STORED["caustic"])
    vertex.add_record(PHOTON)
    add_fetch(vertex, "photons", PHOTON)
    vertex.include("photons/keep_vertex.glsl")
    return vertex, Source.of_file("photons/keep_geometry.glsl")


class Keep:
    """The pass. Every call needs a current context."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.program = device.feedback_program(*keep_sources(), outputs=OUTPUTS)
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
