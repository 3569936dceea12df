"""Passes that read memories, and streams that become rows of memories: tables computed on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import moderngl

from raystream.stream.compile.addresses import IN_BUFFER, Addresses
from raystream.stream.compile.generate import add_modules
from raystream.stream.compile.memories import cold_tables
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.memory import BufferTexture
from raystream.stream.gl.passes import Pass, add_fetch, pass_main
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream

_TEXEL = Record("MemoryTexel", Field("value", "vec4"))


def rows_source(texels: int) -> Source:
    """The fragment program for records of ``texels`` texels, by their numbers."""
    at = "    ivec2 at = texel_of(number, textureSize(in_0, 0).x);\n"
    return _record_source(texels, "int number", at, "texelFetch(in_{}, at, 0)", "stream/rows_of_records.glsl")


def interleaved_source(texels: int) -> Source:
    """The same by their places in the stream."""
    # On llvmpipe a nearest sample takes two thirds of the time of texelFetch.
    nearest = "textureLod(in_{}, place, 0.0)"
    return _record_source(texels, "vec2 place", "", nearest, "stream/interleaved_records.glsl")


def _record_source(texels: int, argument: str, before: str, fetch: str, main: str) -> Source:
    source = Source.begin(RECORD_TEXELS=texels)
    if before:
        source.include("lib/texel_of.glsl")
    for k in range(texels):
        source.add(f"uniform sampler2D in_{k};", "record")
    cases = "\n".join(f"    if (texel == {k}) return {fetch.format(k)};" for k in range(texels - 1))
    body = f"{before}{cases}\n    return {fetch.format(texels - 1)};"
    source.add(f"vec4 record_texel({argument}, int texel) {{\n{body}\n}}", "record")
    source.include(main)
    return source


def table_pass_source(
    modules: Sequence[Module], inputs: Mapping[str, Record], output: Record, addresses: Addresses, planar: bool = False
) -> Source:
    """The fragment program of a `TablePass`."""
    source = Source.begin()
    tables = [memory.record for module in modules for memory in module.memories if isinstance(memory, Table)]
    uses = [record for module in modules for record in module.uses]
    for record in dict.fromkeys((*inputs.values(), output, *tables, *uses)):
        source.add_record(record, pack=record == output)
    for stream, record in inputs.items():
        add_fetch(source, stream, record, planar)
    add_modules(source, modules, addresses, counting=False, once=False)
    source.add(pass_main(output, planar), "pass")
    return source


class TablePass(Pass):
    """A pass, of which ``modules`` bring the memories and ``OUTPUT element(int number)``; else as `Pass`."""

    def __init__(
        self,
        device: Device,
        resources: Resources,
        modules: Sequence[Module],
        inputs: Mapping[str, Record],
        output: Record,
        planar: bool = False,
    ) -> None:
        self._have(device, output, table_pass_source(modules, inputs, output, resources, planar))
        self._modules, self._resources = modules, resources

    def draw_rows(self, streams: Mapping[str, Stream], output: Stream, rows: tuple[int, int], **uniforms: Any) -> None:
        """As of `Pass.draw_rows`."""
        shader, resources = self.drawing.shader, self._resources
        for name, base in resources.bases(self._modules).items():  # uploads, which may bind framebuffers
            shader.set(name, base)
        for module in self._modules:
            for memory in module.memories:
                if not isinstance(memory, Table) or memory.hot:
                    shader.bind(f"memory_{memory.name}", resources.get(memory).texture)
        if cold_tables(self._modules):
            shader.bind("memory_arena", resources.arena)
        super().draw_rows(streams, output, rows, **uniforms)


class RowWriter:
    """Writes streams to memories of ``resources``; the context must be current in every call.

    A pass brings the texels of a record together: straight into a memory that is a 2-D texture; one that is a buffer
    texture takes them from another texture, which its driver copies.
    """

    def __init__(self, device: Device, resources: Resources) -> None:
        self.device, self._resources = device, resources
        self._drawings: dict[int, Drawing] = {}
        self._interleaving: dict[int, Drawing] = {}
        self._texels: dict[tuple[int, int], Stream] = {}  # on their way, by size

    def write(self, stream: Stream, table: Table, count: int) -> None:
        """The first ``count`` elements of a stream in row order become the first rows of a table of its record, which
        must have 3 scalars at least."""
        assert stream.record == table.record and stream.channels == 4 and count <= len(table.data)
        if not count:
            return
        texels = stream.record.texels
        texture, row, first = self._resources.place(table)
        if row != IN_BUFFER:
            assert isinstance(texture, moderngl.Texture)
            low, high = first // row, -(-(first + count * texels) // row)
            self._draw(stream, self.device.context.framebuffer([texture]), row, first, count, (low, high))
            return
        assert isinstance(texture, BufferTexture)
        wide, (rows, remainder) = stream.size[0] * texels, divmod(count, stream.size[0])
        interleaved = self._held((wide, stream.size[1]))
        self._interleave(stream, interleaved.framebuffer, (wide, rows + bool(remainder)))
        for part, offset in (((0, 0, wide, rows), 0), ((0, rows, remainder * texels, 1), rows * wide)):
            if part[2] and part[3]:
                interleaved.framebuffer.read_into(
                    texture.buffer, part, components=4, dtype="f4", write_offset=16 * (first + offset)
                )

    def _held(self, size: tuple[int, int]) -> Stream:
        """The texture of a size in texels."""
        if size not in self._texels:
            self._texels[size] = Stream(self.device, _TEXEL, size)
        return self._texels[size]

    def _interleave(self, stream: Stream, target: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        texels = stream.record.texels
        if texels not in self._interleaving:
            self._interleaving[texels] = square(self.device, Shader(self.device, interleaved_source(texels)))
        drawing = self._interleaving[texels]
        target.viewport = 0, 0, *size
        target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            drawing.shader.bind(f"in_{k}", texture)
        drawing.render()

    def _draw(
        self,
        stream: Stream,
        target: moderngl.Framebuffer,
        row: int,
        first: int,
        count: int,
        rows: tuple[int, int],
    ) -> None:
        texels = stream.record.texels
        if texels not in self._drawings:
            self._drawings[texels] = square(self.device, Shader(self.device, rows_source(texels)))
        drawing = self._drawings[texels]
        for name, value in (("row", row), ("first", first), ("count", count)):
            drawing.shader.set(name, value)
        box = 0, rows[0], row, rows[1] - rows[0]
        target.viewport = target.scissor = box
        target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            drawing.shader.bind(f"in_{k}", texture)
        drawing.render()
        target.scissor = None  # type: ignore[assignment]  # the whole

    def release(self) -> None:
        """Free the textures."""
        for stream in self._texels.values():
            stream.release()
        self._texels.clear()
