"""Photons brought to the cells of a grid, by sorting or by stencil routing; but for the number of photons that are
stored nothing is read back, unless asked for.
"""

from __future__ import annotations

from typing import Any

from raystream.base.errors import ViewerError
from raystream.base.memory import available
from raystream.kernels.photons import ENTRY, FIRST, PHOTON
from raystream.photons.grid import PhotonGrid
from raystream.photons.keep import Keep
from raystream.photons.routing import StencilRouting, routing_bytes
from raystream.photons.sort import PhotonSort, cell_size, list_size
from raystream.renderer.device.footprint import text
from raystream.renderer.inputs.settings import Settings
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Host, Job


def map_settings(settings: Settings) -> tuple[Any, ...]:
    """The key of the photons' order by cells, beside the grid."""
    if settings.photon_map == "sort":
        return ("sort",)
    return ("stencil", settings.footprint, settings.redistribution, settings.photon_points)


class PhotonCells:
    """The photon map of a grid on a device, of one kind at a time.

    streams : those of `raystream.kernels.photons.MAPS`, after `order`. uniforms : of the modules that read them.
    stored : photons that came to a cell, whether it holds them or not. orders : how often photons were brought to their
    cells.
    """

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self.resources = device, resources
        self.streams: dict[str, Stream] = {}
        self.uniforms: dict[str, Any] = {}
        self.stored = self.orders = 0
        self._keep: Keep | None = None
        self._sorting: PhotonSort | None = None
        self._routing: StencilRouting | None = None
        self._fits: tuple[Any, ...] | None = None  # for which there was memory

    def check_memory(self, settings: Settings, grid: PhotonGrid, size: tuple[int, int], beside: int = 0) -> None:
        """Find out, before any is taken, whether the memory that is free holds photons (a stream of ``size``) and their
        map, and ``beside`` bytes more. Raises ViewerError that names both; nothing where the driver has its own."""
        request = size, grid.cells, settings.photon_map, settings.footprint, beside
        if self._fits == request:  # most of it is taken by now
            return
        free = available() if self.device.software else None
        places = size[0] * size[1]
        needed = beside + places * 16 * (PHOTON.texels + 2 * ENTRY.texels)  # the list, and its buffer
        if settings.photon_map == "stencil":
            needed += routing_bytes(grid.cells, settings.footprint)
        else:
            needed += 16 * (2 * ENTRY.texels * places + FIRST.texels * grid.cells)
        allocated = sum(stream.bytes for stream in self.streams.values())
        if free is not None and needed - allocated > free:
            what = f"takes about {text(needed)} of memory, and {text(free)} are free"
            hint = "take fewer --photons, --caustic-photons or --photon-bounces, or a coarser --photon-grid"
            raise ViewerError("photon map", what, hint)
        self._fits = request

    def order(self, photons: Stream, count: int, grid: PhotonGrid, settings: Settings) -> Job:
        """Bring the photons of a stream's first ``count`` places to the cells."""
        entries = self.resources.stream("kept photons", ENTRY, photons.size)
        self._keep = keep = self._keep or Keep(self.device)
        self.stored = yield Host(lambda: keep.run(photons, count, grid, entries))
        if settings.photon_map == "stencil":
            routing = yield Host(lambda: self._router(grid.cells, settings))
            yield from routing.make(photons, entries, self.stored, grid, settings.redistribution)
            self.streams = {"photons": photons, "footprints": routing.map, "routed_cells": routing.cells}
            self.uniforms = routing.uniforms
        else:
            yield from self._sort(photons, entries, grid)
        self.orders += 1

    def _router(self, cells: int, settings: Settings) -> StencilRouting:
        """The one of before, where it fits."""
        fetched, routing = settings.photon_points == "fetch", self._routing
        if routing is None or (routing.count, routing.edge, routing.fetched) != (cells, settings.footprint, fetched):
            self._free_routing()
            self._routing = routing = StencilRouting(self.device, cells, settings.footprint, fetched=fetched)
        return routing

    def _free_routing(self) -> None:
        if self._routing is not None:
            self._routing.release()
            self._routing = None

    def _sort(self, photons: Stream, entries: Stream, grid: PhotonGrid) -> Job:
        starts = self.resources.stream("first photons", FIRST, cell_size(grid.cells))
        size = list_size(self.stored)
        sort = self._sorting
        if sort is None:
            sort = self._sorting = PhotonSort(self.device, size)
        sort.resize(size)
        yield from sort.enter(entries, self.stored, grid.cells)
        yield from sort.sort()
        yield from sort.search(starts)
        self.streams, self.uniforms = {"photons": photons, "photon_list": sort.list, "first_photons": starts}, {}

    def release(self) -> None:
        """Free memory that the resources do not own; the context must be current."""
        self.streams, self._fits = {}, None
        if self._sorting is not None:
            self._sorting.release()
            self._sorting = None
        if self._keep is not None:
            self._keep.release()
        self._free_routing()
