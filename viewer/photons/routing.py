"""The photon map by stencil routing: each photon is drawn as a point over its cell's footprint, and the stencil lets it
into one texel of it (Purcell 2004, section 6.2.2; Purcell et al. 2003, section 2.2.2).

A footprint has m x m texels, so that a cell holds m^2 photons; the dissertation's m = 16 for 65,536 cells in 1024 x
1024 texels is m^2 = 16, that is m = 4. The stencil begins as 0, 1 .. m^2 - 1, a photon passes where it is m^2 - 1, and
every texel that is met is increased. With m = 16 the value that passes, 255, is where an eight-bit stencil saturates,
so that it must wrap around; then the newest photons are kept, instead of the first.
"""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.kernels.photons import ENTRY, PHOTON, TOTAL
from viewer.photons.grid import PhotonGrid
from viewer.photons.passes import fetch
from viewer.stream.compile.generate import VERSION
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Shader, square
from viewer.stream.gl.stencil import ALWAYS, EQUAL, INCREASE, INCREASE_AND_WRAP, LARGEST, REPLACE, Stencil
from viewer.stream.gl.stream import Stream
from viewer.stream.jobs import Draw, Host, Job

PUBLISHED_EDGE = 4  # texels; 1024 / 4 squared are the published 65,536 cells
LARGEST_EDGE = 16


def footprints(cells: int) -> tuple[int, int]:
    """(width, height), in footprints, of the stream that cells are routed to."""
    width = 1 << (-(-max(cells - 1, 1).bit_length() // 2))
    return width, -(-cells // width)


def point_sources(fragment: str, output: Record, edge: int) -> tuple[Source, Source]:
    """Vertex and fragment program that draw photons as points of ``edge`` texels."""
    vertex, pixel = Source(), Source()
    vertex.add(f"{VERSION}\nconst int SIZE = {edge};", "constants")
    vertex.add(f"{PHOTON.glsl_struct()}\n{PHOTON.glsl_unpack()}", "record Photon")
    vertex.add(fetch("photons", PHOTON), "stream photons")
    vertex.include("photons/route_vertex.glsl")
    pixel.add(VERSION, "version")
    pixel.add(f"{output.glsl_struct()}\n{output.glsl_pack()}", f"record {output.name}")
    pixel.include(f"photons/{fragment}.glsl")
    return vertex, pixel


class _Points:
    """Photons drawn as points into a stream."""

    def __init__(self, device: Device, fragment: str, output: Record, edge: int) -> None:
        vertex, pixel = point_sources(fragment, output, edge)
        self.device, self.shader = device, Shader(device, pixel, vertex)
        self._points = device.context.vertex_array(self.shader.program, [])

    def draw(self, photons: Stream, count: int, grid: PhotonGrid) -> None:
        """Into the framebuffer in use."""
        for k, texture in enumerate(photons.textures):
            self.shader.bind(f"in_photons_{k}", texture)
        for name, value in {**grid.uniforms, "cells_wide": footprints(grid.cells)}.items():
            self.shader.set(name, value)
        context = self.device.context
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.enable(moderngl.PROGRAM_POINT_SIZE)
        self._points.render(moderngl.POINTS, vertices=count)
        context.disable(moderngl.PROGRAM_POINT_SIZE)


class StencilRouting:
    """The passes that route photons to the cells of a grid; the context must be current in every call.

    edge : m, texels along the edge of a footprint, 1 .. 16. saturate : with 16, as published: let the stencil saturate
    instead of wrapping around, which leaves a cell with its newest photon alone.
    Raises ViewerError for an edge out of range, and for more cells than a texture has room for.
    """

    def __init__(self, device: Device, cells: int, edge: int = PUBLISHED_EDGE, saturate: bool = False) -> None:
        if not 1 <= edge <= LARGEST_EDGE:
            raise ViewerError("photon map", f"footprints of {edge} x {edge} texels", f"1 to {LARGEST_EDGE} an edge")
        wide, tall = footprints(cells)
        if max(wide, tall) * edge > device.max_texture:
            hint = "fewer cells, or smaller footprints"
            raise ViewerError("photon map", f"{cells:,} cells of {edge} x {edge} texels exceed a texture", hint)
        self.device, self.cells, self.edge, self.saturate = device, cells, edge, saturate
        self.map = Stream(device, ENTRY, (wide * edge, tall * edge))
        self.totals = Stream(device, TOTAL, (wide, tall))
        self._route = _Points(device, "route_fragment", ENTRY, edge)
        self._total = _Points(device, "total_fragment", TOTAL, 1)
        source = Source()
        source.add(f"{VERSION}\nconst int EDGE = {edge};", "constants")
        source.include("photons/stencil_bit.glsl")
        self._bit = square(device, Shader(device, source))
        self.stencil = Stencil(device, self.map.framebuffer)

    def route(self, photons: Stream, count: int, grid: PhotonGrid) -> Job:
        """The first ``count`` of `PHOTON` into the map; texels that no photon came to stay as they were."""
        yield Draw(self._begin)
        yield Draw(lambda: self._draw(photons, count, grid))

    def add(self, photons: Stream, count: int, grid: PhotonGrid) -> Job:
        """Photons and powers of each cell into `totals`, by additive blending: exact numbers up to 2^24."""
        yield Draw(lambda: self._add(photons, count, grid))

    def read_counts(self) -> Job:
        """(cells,) int32 photons of each cell as the stencil has counted them, read back as published: up to 255, and
        of m = 16 up to 254 where it saturates, else modulo 256."""
        found = yield Host(self._counts)
        return found

    def _begin(self) -> None:
        target, context = self.map.framebuffer, self.device.context
        target.color_mask = False, False, False, False  # before it is used, or it does not hold
        target.use()
        target.viewport = (0, 0, *self.map.size)
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE | moderngl.BLEND)
        self.stencil.clear(0)
        bit = 1
        while bit < self.edge * self.edge:
            self._bit.shader.set("bit", bit)
            with self.stencil.test(ALWAYS, LARGEST, REPLACE, bits=bit):
                self._bit.render()
            bit *= 2
        target.color_mask = True, True, True, True

    def _draw(self, photons: Stream, count: int, grid: PhotonGrid) -> None:
        self.map.framebuffer.use()
        self.device.context.disable(moderngl.BLEND)
        wraps = self.edge == LARGEST_EDGE and not self.saturate
        increase = INCREASE_AND_WRAP if wraps else INCREASE
        with self.stencil.test(EQUAL, self.edge * self.edge - 1, increase, failed=increase):
            self._route.draw(photons, count, grid)

    def _add(self, photons: Stream, count: int, grid: PhotonGrid) -> None:
        self.totals.clear()
        self.totals.framebuffer.use()
        context = self.device.context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._total.draw(photons, count, grid)
        context.disable(moderngl.BLEND)

    def _counts(self) -> NDArray[np.int32]:
        """Of the texel of each footprint that began as 0."""
        width, height = self.map.size
        values = np.frombuffer(self.stencil.read(), np.uint8).reshape(height, width)
        return values[:: self.edge, :: self.edge].ravel()[: self.cells].astype(np.int32)

    def release(self) -> None:
        """Free the map."""
        self.stencil.release()
        self.map.release()
        self.totals.release()
