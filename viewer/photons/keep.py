"""Compaction of the stored photons on the device by transform feedback: most elements of the frames hold none, and a
sort's passes grow with its list.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import moderngl

from raystream.kernels.photons import ENTRY, PHOTON, STORED
from raystream.photons.grid import PhotonGrid
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import DrawSizes, ranges, timed_draws
from raystream.stream.gl.objects import Query
from raystream.stream.gl.passes import add_fetch
from raystream.stream.gl.stream import Stream

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
