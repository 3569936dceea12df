"""Copies for drivers without a texture barrier, where a pass cannot read its own output.

Kernels write to a second set of textures, and a copy pass copies it back for the same rays.
"""

from __future__ import annotations

from collections.abc import Callable

import moderngl

from raystream.stream.compile.form import Form, outputs
from raystream.stream.compile.link import LinkedProgram, Step
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.stream import Stream


def copy_source(linked: LinkedProgram, step: Step, form: Form) -> Source:
    """The pass that copies the output of a step's kernel back to the next one's input, for the same rays."""
    names = outputs(linked, step, form)
    source = Source.begin()
    numbers = " || ".join(f"state == {linked.program.number(s)}" for s in step.states)
    if form.discards:
        source.add("uniform sampler2D in_before;", "copy")
    for location, name in enumerate(names):
        source.add(f"uniform sampler2D in_{name};\nlayout(location = {location}) out vec4 out_{name};", "copy")
    source.add("void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);", "copy")
    if form.discards:
        source.add("    int state = int(texelFetch(in_before, at, 0).x);", "copy")
        source.add(f"    if (!({numbers})) discard;", "copy")
    for name in names:
        source.add(f"    out_{name} = texelFetch(in_{name}, at, 0);", "copy")
    source.add("}", "copy")
    return source


def snapshot_source() -> Source:
    """The pass of `Snapshot`."""
    source = Source.begin()
    source.add("uniform sampler2D in_state;\nout vec4 before;", "snapshot")
    source.add("void main() { before = texelFetch(in_state, ivec2(gl_FragCoord.xy), 0); }", "snapshot")
    return source


class Snapshot:
    """The states of all rays before a pass: without a mask they identify the rays of the copy pass."""

    def __init__(self, device: Device, before: Stream, tiles: Tiles) -> None:
        self.before = before
        self._drawing = Drawing(device, Shader(device, snapshot_source()), tiles)
        self._target = device.context.framebuffer(before.textures)

    @property
    def texture(self) -> moderngl.Texture:
        """The texture, filled by `take`."""
        return self.before.textures[0]

    def take(self, state: Stream, prepare: Callable[[moderngl.Framebuffer], None]) -> None:
        """Copy the states of the kept tiles. prepare : sets up drawing to a framebuffer under the mask."""
        prepare(self._target)
        self._drawing.shader.bind("in_state", state.textures[0])
        self._drawing.render()
