"""Passes over whole streams: a fragment program drawn as a square, with streams as input and output."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import moderngl

from raystream.stream.compile.generate import add_modules
from raystream.stream.compile.memories import IN_BUFFER, Addresses, cold_tables, memory_glsl
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.memory import BufferTexture, Memory
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream


def pass_source(
    name: str,
    inputs: Mapping[str, Record],
    output: Record,
    planar: bool = False,
    features: Collection[str] = (),
    **constants: int,
) -> Source:
    """The fragment program ``shaders/NAME.glsl``, which defines ``OUTPUT element(int number)``.

    inputs : streams by name; each gives ``RECORD fetch_<name>(int number)``, elements in row order. planar : elements
    are pixels, addressed by column and row: ``element(ivec2 at)``, ``fetch_<name>(ivec2 at)``. features : conditional
    parts of the source; see `raystream.stream.compile.source`.
    """
    source = pass_head(inputs, output, planar, **constants)
    source.features |= set(features)
    source.include(f"{name}.glsl")
    source.add(pass_main(output, planar), "pass")
    return source


def hot_pass_source(
    name: str, inputs: Mapping[str, Record], output: Record, tables: Sequence[Table], addresses: Addresses
) -> Source:
    """The fragment program of `pass_source` for a pass that also reads hot tables. Its outputs are ``invariant``:
    compilers would reorder sums that are to be rounded as they are written."""
    source = pass_head(inputs, output, False)
    for table in tables:
        assert table.hot, "cold tables lie in the arena"
        source.add_record(table.record)
        source.add(memory_glsl(table, addresses.layout(table), False), f"memory {table.name}")
    source.include(f"{name}.glsl")
    source.add(pass_main(output, False, "invariant out"), "pass")
    return source


def pass_head(inputs: Mapping[str, Record], output: Record, planar: bool, **constants: int) -> Source:
    """The source of a pass up to its file: constants, records, and ``fetch_<name>`` of each stream."""
    source = Source.begin(**constants)
    for record in dict.fromkeys((*inputs.values(), output)):
        source.add_record(record, pack=True)
    for stream, record in inputs.items():
        add_fetch(source, stream, record, planar)
    return source


def add_fetch(source: Source, stream: str, record: Record, planar: bool = False) -> None:
    """Append ``RECORD fetch_<stream>(int number)`` over a stream's textures to a source; ``planar``: by position."""
    samplers = "\n".join(f"uniform sampler2D in_{stream}_{k};" for k in range(record.texels))
    if planar:  # on llvmpipe a nearest sample takes two thirds of the time of texelFetch
        texels = ", ".join(f"textureLod(in_{stream}_{k}, place, 0.0)" for k in range(record.texels))
        argument = "ivec2 at"
        place = f"\n    vec2 place = (vec2(at) + 0.5) * (1.0 / vec2(textureSize(in_{stream}_0, 0)));"
    else:
        source.include("lib/texel_of.glsl")
        texels = ", ".join(f"texelFetch(in_{stream}_{k}, at, 0)" for k in range(record.texels))
        argument, place = "int number", f"\n    ivec2 at = texel_of(number, textureSize(in_{stream}_0, 0).x);"
    text = f"""{samplers}
{record.name} fetch_{stream}({argument}) {{{place}
    return unpack_{record.name}({texels});
}}"""
    source.add(text, f"stream {stream}")


def pass_main(output: Record, planar: bool = False, out: str = "out") -> str:
    """``main()`` of a pass: ``element`` of each of its elements, packed."""
    outputs = "\n".join(f"layout(location = {k}) {out} vec4 out_{k};" for k in range(output.texels))
    names = ", ".join(f"out_{k}" for k in range(output.texels))
    element = "element(at)" if planar else "element(at.y * out_width + at.x)"
    return f"""uniform int out_width;
{outputs}
void main() {{
    ivec2 at = ivec2(gl_FragCoord.xy);
    pack_{output.name}({element}, {names});
}}"""


class Pass:
    """A compiled pass. Every call needs a current context."""

    def __init__(
        self,
        device: Device,
        name: str,
        inputs: Mapping[str, Record],
        output: Record,
        planar: bool = False,
        features: Collection[str] = (),
        **constants: int,
    ) -> None:
        """As of `pass_source`."""
        self._set_up(device, output, pass_source(name, inputs, output, planar, features, **constants))

    @classmethod
    def of_source(cls, device: Device, source: Source, output: Record) -> Pass:
        """A pass of a source as of `hot_pass_source`."""
        pass_ = cls.__new__(cls)
        pass_._set_up(device, output, source)
        return pass_

    def _set_up(self, device: Device, output: Record, source: Source) -> None:
        self.device, self.output = device, output
        self.drawing = square(device, Shader(device, source))

    def bind(self, memory: Memory) -> None:
        """The memory of a table that the next draw reads."""
        self.drawing.shader.bind(f"memory_{memory.source.name}", memory.texture)

    def draw(self, streams: Mapping[str, Stream], output: Stream, **uniforms: Any) -> None:
        """Compute every element of ``output``, which must not be among the input streams."""
        self.draw_rows(streams, output, (0, output.size[1]), **uniforms)

    def draw_rows(self, streams: Mapping[str, Stream], output: Stream, rows: tuple[int, int], **uniforms: Any) -> None:
        """Compute the elements of the rows ``rows[0]`` .. ``rows[1] - 1`` of ``output``, else as `draw`."""
        assert output.record == self.output and output not in streams.values()
        shader = self.drawing.shader
        output.framebuffer.use()
        output.framebuffer.viewport = (0, rows[0], output.size[0], rows[1] - rows[0])
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for name, stream in streams.items():
            for k, texture in enumerate(stream.textures):
                shader.bind(f"in_{name}_{k}", texture)
        shader.set("out_width", output.size[0])
        for name, value in uniforms.items():
            shader.set(name, value)
        self.drawing.render()


Declared = Mapping[str, tuple[Mapping[str, Record], Record]]  # passes by name: their inputs by name, and the output


class PassSet:
    """Planar passes of one folder of shaders, each compiled at its first draw; the context must be current."""

    def __init__(self, device: Device, folder: str, declared: Declared) -> None:
        self.device, self.folder, self.declared = device, folder, declared
        self._passes: dict[tuple[str, tuple[str, ...]], Pass] = {}

    def prepare(self, *names: str, features: tuple[str, ...] = ()) -> None:
        """Compile these. features : as of `pass_source`. Raises ShaderError."""
        for name in names:
            if (name, features) not in self._passes:
                inputs, record = self.declared[name]
                pass_ = Pass(self.device, f"{self.folder}/{name}", inputs, record, True, features)
                self._passes[name, features] = pass_

    def draw(
        self,
        name: str,
        streams: Mapping[str, Stream],
        output: Stream,
        features: tuple[str, ...] = (),
        **uniforms: Any,
    ) -> None:
        """As of `Pass.draw`. Raises ShaderError where it does not compile."""
        self.prepare(name, features=features)
        self._passes[name, features].draw(streams, output, **uniforms)


def pass_sources(folder: str, declared: Declared, features: tuple[str, ...] = ()) -> Iterator[tuple[str, Source]]:
    """Every pass of a folder, by name."""
    for name, (inputs, output) in declared.items():
        yield name, pass_source(f"{folder}/{name}", inputs, output, True, features)


# -- passes that read memories, and streams that become rows of memories: tables computed on the device ----------------

_TEXEL = Record("MemoryTexel", Field("value", "vec4"))


def record_rows_source(texels: int) -> Source:
    """The fragment program that writes records of ``texels`` texels into rows of a 2-D memory, fetched by number."""
    at = "    ivec2 at = texel_of(number, textureSize(in_0, 0).x);\n"
    return _record_source(texels, "int number", at, "texelFetch(in_{}, at, 0)", "stream/rows_of_records.glsl")


def interleaved_records_source(texels: int) -> Source:
    """The fragment program that writes the texels of each record side by side, at the record's place in the stream."""
    # On llvmpipe a nearest sample takes two thirds of the time of texelFetch.
    nearest = "textureLod(in_{}, place, 0.0)"
    return _record_source(texels, "vec2 place", "", nearest, "stream/interleaved_records.glsl")


def _record_source(texels: int, parameter: str, setup: str, fetch: str, file: str) -> Source:
    source = Source.begin(RECORD_TEXELS=texels)
    if setup:
        source.include("lib/texel_of.glsl")
    for k in range(texels):
        source.add(f"uniform sampler2D in_{k};", "record")
    cases = "\n".join(f"    if (texel == {k}) return {fetch.format(k)};" for k in range(texels - 1))
    body = f"{setup}{cases}\n    return {fetch.format(texels - 1)};"
    source.add(f"vec4 record_texel({parameter}, int texel) {{\n{body}\n}}", "record")
    source.include(file)
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
    """A pass whose ``modules`` provide the memories and ``OUTPUT element(int number)``; else as `Pass`."""

    def __init__(
        self,
        device: Device,
        resources: Resources,
        modules: Sequence[Module],
        inputs: Mapping[str, Record],
        output: Record,
        planar: bool = False,
    ) -> None:
        self._set_up(device, output, table_pass_source(modules, inputs, output, resources, planar))
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

    A pass interleaves the textures of a stream: directly into a memory that is a 2-D texture; for one that is a buffer
    texture into another stream, which the driver copies.
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
        texture, row, first = self._resources.location(table)
        if row != IN_BUFFER:
            assert isinstance(texture, moderngl.Texture)
            rows_written = first // row, -(-(first + count * texels) // row)
            self._draw(stream, self.device.context.framebuffer([texture]), row, first, count, rows_written)
            return
        assert isinstance(texture, BufferTexture)
        width, (rows, remainder) = stream.size[0] * texels, divmod(count, stream.size[0])
        interleaved = self._interleaved_stream((width, stream.size[1]))
        self._interleave(stream, interleaved.framebuffer, (width, rows + bool(remainder)))
        for box, offset in (((0, 0, width, rows), 0), ((0, rows, remainder * texels, 1), rows * width)):
            if box[2] and box[3]:  # neither whole rows nor the begun one need exist
                interleaved.framebuffer.read_into(
                    texture.buffer, box, components=4, dtype="f4", write_offset=16 * (first + offset)
                )

    def _interleaved_stream(self, size: tuple[int, int]) -> Stream:
        """The stream of single texels of a size, (width, height)."""
        if size not in self._texels:
            self._texels[size] = Stream(self.device, _TEXEL, size)
        return self._texels[size]

    def _interleave(self, stream: Stream, target: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        texels = stream.record.texels
        if texels not in self._interleaving:
            self._interleaving[texels] = square(self.device, Shader(self.device, interleaved_records_source(texels)))
        target.viewport = 0, 0, *size
        self._render(self._interleaving[texels], stream, target)

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
            self._drawings[texels] = square(self.device, Shader(self.device, record_rows_source(texels)))
        drawing = self._drawings[texels]
        for name, value in (("row", row), ("first", first), ("count", count)):
            drawing.shader.set(name, value)
        box = 0, rows[0], row, rows[1] - rows[0]
        target.viewport = target.scissor = box
        self._render(drawing, stream, target)
        target.scissor = None  # type: ignore[assignment]  # the whole

    def _render(self, drawing: Drawing, stream: Stream, target: moderngl.Framebuffer) -> None:
        target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(stream.textures):
            drawing.shader.bind(f"in_{k}", texture)
        drawing.render()

    def release(self) -> None:
        """Free the textures."""
        for stream in self._texels.values():
            stream.release()
        self._texels.clear()
