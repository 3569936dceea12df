"""The uniform grid of triangles, built on the device by fragment programs: expansion, sort and search.

Purcell et al. (2002), section 5.1, want the geometry scan-converted into a grid on the chip, and lack scattered writes.
Here each triangle becomes the rows of voxels that its bounds hold, each row the voxels in it that the triangle
overlaps (D. Horn, "Stream reduction operations for GPGPU applications", 2005: prefix sums and gathers by binary
search); these pairs are sorted by voxel and triangle, and each voxel's list is found by binary search, as the photon
map's (Purcell et al. 2003, section 2.2.1). The host reads two numbers: of rows, and of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from raystream.accel.grid.cost import MAX_ADDRESS
from raystream.accel.grid.grid import ENTRY as LISTED
from raystream.accel.grid.grid import DeviceGrid
from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY
from raystream.kernels.records import TRIANGLE
from raystream.photons.grid import PhotonSort, cell_size, list_size
from raystream.stream.compile.memories import Addresses, PlannedAddresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import Memory
from raystream.stream.gl.passes import Pass, hot_pass_source, pass_source
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Host, Job, TimedStage

COUNT = Record("Count", Field("count", "int", about="outputs of an element, or of it and all before"))
SPAN = Record(
    "Span",
    Field("first", "int", about="number of the first of a row's voxels that a triangle overlaps"),
    Field("count", "int", about="voxels from there on that it overlaps"),
    Field("triangle", "int"),
)
POINTER = Record("Pointer", Field("address", "int", about="of a voxel's list, -1 if it is empty"))

PASSES: dict[str, tuple[dict[str, Record], Record]] = {
    "triangle_rows": ({}, COUNT),
    "scan": ({"counts": COUNT}, COUNT),
    "row_span": ({"sums": COUNT}, SPAN),
    "span_counts": ({"spans": SPAN}, COUNT),
    "expand": ({"sums": COUNT, "spans": SPAN}, ENTRY),
    "pointers": ({"list": ENTRY}, POINTER),
    "lists": ({"list": ENTRY}, LISTED),
}
TRIANGLE_PASSES = ("triangle_rows", "row_span")  # these read the table of triangles


def grid_sources() -> Iterator[tuple[str, Source]]:
    """The sources of all passes but the sort's, by name."""
    table = Table("triangles", TRIANGLE, np.zeros(1, TRIANGLE.dtype), hot=True)
    yield from _sources(table, PlannedAddresses(1 << 14, 1 << 27))


def _sources(triangles: Table, addresses: Addresses) -> Iterator[tuple[str, Source]]:
    for name, (inputs, output) in PASSES.items():
        if name in TRIANGLE_PASSES:
            yield name, hot_pass_source(f"grid_build/{name}", inputs, output, (triangles,), addresses)
        else:
            yield name, pass_source(f"grid_build/{name}", inputs, output)


class GridBuild:
    """The passes that build a grid over a table of triangles. Every call needs a current context.

    triangles : ``triangles`` of `raystream.accel.primitives.triangle_module`. Raises ShaderError.
    """

    def __init__(self, device: Device, triangles: Table, addresses: Addresses) -> None:
        self.device, self.record, self.layout = device, triangles.record, addresses.layout(triangles)
        sources = _sources(triangles, addresses)
        self._passes = {name: Pass.of_source(device, source, PASSES[name][1]) for name, source in sources}
        self._sort = PhotonSort(device, list_size(2), paired=True)
        self._streams: dict[str, Stream] = {}

    def serves(self, triangles: Table, addresses: Addresses) -> bool:
        """Whether the passes, as they are compiled, can read this table."""
        return (triangles.record, addresses.layout(triangles)) == (self.record, self.layout)

    def job(self, grid: DeviceGrid, triangles: Memory, pointers: Memory, lists: Memory) -> Job:
        """Build the grid: from the memory of triangles write its memories of pointers and lists; a `TimedStage` each
        step. Raises ViewerError beyond 2^24 rows or entries; the memories then stay as they were."""
        space: dict[str, Any] = {
            "build_low": tuple(map(float, grid.low)),
            "build_scale": tuple(map(float, np.float32(1.0) / grid.voxel)),
            "build_margin": tuple(map(float, grid.margin)),
            "build_resolution": grid.resolution,
        }
        yield TimedStage("rows")
        counts, scratch = self._count_streams(grid.triangles)
        space["triangle_count"] = grid.triangles
        yield Draw(partial(self._draw_from_triangles, triangles, "triangle_rows", {}, counts, **space))
        sums = yield from self._prefix_sums(counts, scratch)
        rows = yield Host(partial(self._total, sums))
        self._check_count(rows, "rows of voxels")
        yield TimedStage("spans")
        spans = self._stream("spans", SPAN, list_size(rows))
        space["row_count"] = rows
        yield Draw(partial(self._draw_from_triangles, triangles, "row_span", {"sums": sums}, spans, **space))
        counts, scratch = self._count_streams(rows)
        yield Draw(partial(self._draw, "span_counts", {"spans": spans}, counts))
        sums = yield from self._prefix_sums(counts, scratch)
        entries = yield Host(partial(self._total, sums))
        self._check_count(entries, "list entries")
        yield TimedStage("sort")
        sort = self._sort
        sort.resize(list_size(entries))
        expand = {"entries": entries, "voxels": grid.voxels}
        yield Draw(partial(self._draw, "expand", {"sums": sums, "spans": spans}, sort.list, **expand))
        yield from sort.sort()
        yield TimedStage("search")
        cell_pointers = self._stream("pointers", POINTER, cell_size(grid.voxels), 1)
        yield Draw(partial(self._draw, "pointers", {"list": sort.list}, cell_pointers))
        listed = self._stream("lists", LISTED, sort.size, 1)
        yield Draw(partial(self._draw, "lists", {"list": sort.list}, listed, entries=entries))
        yield TimedStage("copy")
        yield Host(partial(pointers.fill_from_stream, cell_pointers, grid.voxels))
        yield Host(partial(lists.fill_from_stream, listed, entries))
        grid.statistics.update(rows=rows, list_entries=entries, sort_passes=sort.passes)

    def _draw(self, name: str, *streams: Any, **uniforms: Any) -> None:
        self._passes[name].draw(*streams, **uniforms)

    def _draw_from_triangles(self, triangles: Memory, name: str, *streams: Any, **uniforms: Any) -> None:
        self._passes[name].bind(triangles)
        self._draw(name, *streams, **uniforms)

    def _prefix_sums(self, counts: Stream, scratch: Stream) -> Job:
        """Draw inclusive prefix sums of ``counts``; returns the stream that has them, one of the two."""
        distance = 1
        while distance < counts.size[0] * counts.size[1]:
            yield Draw(partial(self._draw, "scan", {"counts": counts}, scratch, distance=distance))
            counts, scratch = scratch, counts
            distance *= 4
        return counts

    def _total(self, sums: Stream) -> int:
        """The last prefix sum, which is the total; the host waits for it."""
        self.device.waits += 1
        width, height = sums.size
        read = sums.framebuffer.read((width - 1, height - 1, 1, 1), 1, dtype="f4")
        return int(np.frombuffer(read, np.float32)[0])

    def _check_count(self, count: int, what: str) -> None:
        if not 0 <= count < MAX_ADDRESS:
            raise ViewerError(
                "--rebuild device-grid", f"{MAX_ADDRESS:,} {what} and more; addresses end there", "use a coarser --grid"
            )

    def _count_streams(self, count: int) -> list[Stream]:
        """Two streams of at least ``count`` numbers, for the sums of one pass to be the input of the next."""
        return [self._stream(name, COUNT, list_size(count), 1) for name in ("counts", "sums")]

    def _stream(self, name: str, record: Record, size: tuple[int, int], channels: int = 4) -> Stream:
        stream = self._streams.get(name)
        if stream is None or stream.size != size:
            if stream is not None:
                stream.release()
            stream = self._streams[name] = Stream(self.device, record, size, channels)
        return stream

    def release(self) -> None:
        """Free the streams."""
        self._sort.release()
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
