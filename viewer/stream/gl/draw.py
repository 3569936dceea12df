"""Shaders drawn over squares of a stream: shared by masks, machines and the window."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.objects import Query

CORNERS: NDArray[np.float32] = np.array(
    [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32
)  # of a square's two triangles


def tiles_source() -> Source:
    """The vertex program of every pass."""
    return Source.of_file("stream/tiles.glsl")


class Shader:
    """A program with its samplers and uniforms, drawn over tiles, or by ``vertex`` over other geometry.

    Within `Device.deferred` it is compiled later, at the latest when it is drawn. Raises ShaderError.
    """

    def __init__(self, device: Device, source: Source, vertex: Source | None = None) -> None:
        self.source, self.vertex, self._device = source, vertex or tiles_source(), device
        self._linked: moderngl.Program | None = None
        self._members: dict[str, Any] = {}
        self._units: dict[str, int] = {}
        self._values: dict[str, Any] = {}  # of uniforms, until there are any
        self._compilation = device.compilation(self.vertex, source)
        if self._compilation.made is not None:
            self._take()

    def _take(self) -> moderngl.Program:
        """The program, with what was set."""
        if self._linked is None:
            program = self._linked = self._compilation.finish()
            self._members = {name: program[name] for name in program}
            for name, member in self._members.items():
                if isinstance(member, moderngl.Uniform) and name.startswith(("in_", "memory_")):
                    self._units[name] = len(self._units)
                    member.value = self._units[name]
            self._number_buffers(self._device)
            values, self._values = self._values, {}
            for name, value in values.items():
                self.set(name, value)
        return self._linked

    @property
    def program(self) -> moderngl.Program:
        """The program, compiled."""
        return self._take()

    @cached_property
    def bare(self) -> moderngl.VertexArray:
        """Vertices without attributes: the program has their numbers alone."""
        return self._device.context.vertex_array(self.program, [])

    @property
    def members(self) -> dict[str, Any]:
        """Its uniforms and attributes by name, compiled."""
        self._take()
        return self._members

    def _number_buffers(self, device: Device) -> None:
        """Assign texture units to samplers of buffer textures: moderngl cannot."""
        start, lines = "uniform samplerBuffer ", [*self.vertex.lines, *self.source.lines]
        names = [line.removeprefix(start).rstrip(";") for line, _ in lines if line.startswith(start)]
        if not names:
            return
        unsigned = ctypes.c_uint
        program = self._take()
        locate = device.require("glGetUniformLocation", unsigned, ctypes.c_char_p, result=ctypes.c_int)
        device.require("glUseProgram", unsigned)(program.glo)
        put = device.require("glUniform1i", ctypes.c_int, ctypes.c_int)
        for name in names:
            place = locate(program.glo, name.encode())
            if place >= 0:
                put(place, self._units.setdefault(name, len(self._units)))

    def set(self, name: str, value: Any) -> None:
        """Set a uniform; one removed by the compiler is ignored."""
        if self._linked is None:
            self._values[name] = value
            return
        member = self._members.get(name)
        if isinstance(member, moderngl.Uniform):
            member.value = value

    def bind(self, name: str, texture: Any) -> None:
        """Bind a texture to a sampler; one removed by the compiler is ignored."""
        self._take()
        unit = self._units.get(name)
        if unit is not None:
            texture.use(unit)


class Tiles:
    """Squares of a stream, as two triangles each: some drivers lack instanced arrays, part of OpenGL 3.3."""

    def __init__(self, device: Device, size: tuple[int, int], edge: int) -> None:
        self.size, self.edge = size, edge
        self.columns, self.rows = -(-size[0] // edge), -(-size[1] // edge)
        self.buffer = device.context.buffer(reserve=CORNERS.nbytes * max(1, self.columns * self.rows), dynamic=True)
        self.whole = device.context.buffer((CORNERS * edge * max(self.columns, self.rows)).tobytes())
        self.count, self.all = 0, True
        self._uploaded: NDArray[np.bool_] | None = None

    def keep(self, alive: NDArray[np.bool_] | None) -> None:
        """alive: (rows, columns) tiles to draw; None for the whole stream as one square."""
        self.all = alive is None
        if alive is None or (self._uploaded is not None and np.array_equal(alive, self._uploaded)):
            return
        self._uploaded = alive.copy()
        rows, columns = np.nonzero(alive)
        self.count = len(rows)
        if self.count:
            tiles = np.stack([columns, rows], axis=1).astype(np.float32)[:, None]
            self.buffer.write((tiles + CORNERS) * np.float32(self.edge))


class Drawing:
    """A shader with the vertex arrays to draw it over tiles."""

    def __init__(self, device: Device, shader: Shader, tiles: Tiles) -> None:
        self.shader, self.tiles, self._context = shader, tiles, device.context
        shader.set("clip", (2.0 / tiles.size[0], 2.0 / tiles.size[1]))

    @cached_property
    def some(self) -> moderngl.VertexArray:
        """Of the kept tiles."""
        return self._array(self.tiles.buffer)

    @cached_property
    def whole(self) -> moderngl.VertexArray:
        """Of the whole stream."""
        return self._array(self.tiles.whole)

    def _array(self, corners: moderngl.Buffer) -> moderngl.VertexArray:
        return self._context.vertex_array(self.shader.program, [(corners, "2f4", "corner")])

    def render(self) -> None:
        """Draw over the kept tiles."""
        if self.tiles.all:
            self.whole.render(moderngl.TRIANGLES, vertices=len(CORNERS))
        elif self.tiles.count:
            self.some.render(moderngl.TRIANGLES, vertices=len(CORNERS) * self.tiles.count)

    def render_each(self, queries: Sequence[Query]) -> None:
        """Draw over the kept tiles, by rows, each inside its own query."""
        assert not self.tiles.all and len(queries) == self.tiles.count
        for number, query in enumerate(queries):
            with query:
                self.some.render(moderngl.TRIANGLES, vertices=len(CORNERS), first=len(CORNERS) * number)


def square(device: Device, shader: Shader) -> Drawing:
    """A drawing over the whole viewport."""
    tiles = Tiles(device, (1, 1), 1)
    tiles.keep(None)
    shader.set("depth", 0.5)
    return Drawing(device, shader, tiles)
