"""Scatter with addition: every element of a list adds a record to an element of a stream that it chooses itself.

Fragment programs cannot choose where they write; points can: each element is one, which its vertex program places, and
blending adds it up, in the order of the elements (T. Scheuermann and J. Hensley, "Efficient Histogram Generation Using
Scattering on GPUs", 2007; Purcell et al. 2003, section 2.2.2, routes photons so). Nothing is read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import moderngl

from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Shader, ranges
from viewer.stream.gl.passes import pass_head
from viewer.stream.gl.stream import Stream


def scatter_sources(name: str, inputs: Mapping[str, Record], output: Record, **constants: int) -> tuple[Source, Source]:
    """The vertex program ``shaders/NAME.glsl``, which defines ``bool scattered(int number, out ivec2 at, out OUTPUT
    element)``, false for an element that adds nothing; and the fragment program. inputs : as of a planar pass."""
    texels = range(output.texels)
    vertex = pass_head(inputs, output, planar=True, **constants)
    vertex.include(f"{name}.glsl")
    varyings = "\n".join(f"flat out vec4 texel_{k};" for k in texels)
    names = ", ".join(f"texel_{k}" for k in texels)
    vertex.add(
        f"""uniform ivec2 out_size;
{varyings}
void main() {{
    ivec2 at;
    {output.name} element;
    bool some = scattered(gl_VertexID, at, element);
    pack_{output.name}(element, {names});
    gl_PointSize = 1.0;
    gl_Position = some ? vec4((2.0 * vec2(at) + 1.0) / vec2(out_size) - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}}""",
        "scatter",
    )
    fragment = Source.begin()
    outputs = "\n".join(f"flat in vec4 texel_{k};\nlayout(location = {k}) out vec4 out_{k};" for k in texels)
    copied = " ".join(f"out_{k} = texel_{k};" for k in texels)
    fragment.add(f"{outputs}\nvoid main() {{ {copied} }}", "scatter")
    return vertex, fragment


class Scatter:
    """A scatter that is compiled; the context must be current in every call."""

    def __init__(
        self, device: Device, name: str, inputs: Mapping[str, Record], output: Record, **constants: int
    ) -> None:
        """As of `scatter_sources`."""
        self.device, self.output = device, output
        vertex, fragment = scatter_sources(name, inputs, output, **constants)
        self._shader = Shader(device, fragment, vertex, listed=True)

    def add(self, streams: Mapping[str, Stream], output: Stream, count: int, **uniforms: Any) -> None:
        """Add ``count`` elements to those of ``output``, which is none of the streams."""
        assert output.record == self.output and output not in streams.values()
        context = self.device.context
        output.framebuffer.use()
        output.framebuffer.viewport = (0, 0, *output.size)
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.enable(moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE)
        context.blend_func = moderngl.ONE, moderngl.ONE
        for name, stream in streams.items():
            for k, texture in enumerate(stream.textures):
                self._shader.bind(f"in_{name}_{k}", texture)
        for name, value in {**uniforms, "out_size": output.size}.items():
            self._shader.set(name, value)
        for first, some in ranges(self._shader.parts, count):
            self._shader.bare.render(moderngl.POINTS, vertices=some, first=first)
        context.disable(moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE)
