"""Shaders drawn over squares of a stream: shared by masks, machines and the window."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.objects import Query
from viewer.stream.pace import FIRST, FIRST_PLAIN, MOST_UNKNOWN, DrawSizes

CORNERS: NDArray[np.float32] = np.array(
    [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32
)  # of a square's two triangles


def tiles_source() -> Source:
    """The vertex program of every pass."""
    return Source.of_file("stream/tiles.glsl")


class Shader:
    """A program with its samplers and uniforms, drawn over tiles, or by ``vertex`` over other geometry.

    Within `Device.deferred` it is compiled later, at the latest when it is drawn. Raises ShaderError.

    kernel : its fragments loop, and some may be excluded before they begin. sizes : of its draws over tiles; None on a
    software driver, which nothing watches, and whose timers know of their last tile alone.
    """

    def __init__(self, device: Device, source: Source, vertex: Source | None = None, kernel: bool = False) -> None:
        self.kernel = kernel
        self.sizes = None if device.software else DrawSizes(FIRST if kernel else FIRST_PLAIN)
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
        self.device, self.shader, self.tiles = device, shader, tiles
        self._timed: deque[tuple[int, Query]] = deque()  # draws without an answer yet, and the rays of each
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
        return self.device.context.vertex_array(self.shader.program, [(corners, "2f4", "corner")])

    def render(self, query: Query | None = None) -> None:
        """Draw over the kept tiles, inside a query of samples if given: in parts that are no longer than they may
        be."""
        sizes, tiles = self.shader.sizes, self.tiles
        if not tiles.all and not tiles.count:
            with query or nullcontext():
                return
        if sizes is None or self.device.context.fbo is self.device.context.screen:
            with query or nullcontext():
                self._draw(0, tiles.count)
        elif tiles.all:
            self._in_boxes(sizes, query)
        else:
            self._in_runs(sizes, query)

    def _draw(self, first: int, count: int) -> None:
        """The whole square, or so many of the kept tiles."""
        if self.tiles.all:
            self.whole.render(moderngl.TRIANGLES, vertices=len(CORNERS))
        else:
            self.some.render(moderngl.TRIANGLES, vertices=len(CORNERS) * count, first=len(CORNERS) * first)

    def _in_boxes(self, sizes: DrawSizes, query: Query | None) -> None:
        """The square, in rectangles."""
        context = self.device.context
        box = context.scissor or (0, 0, 0, 0)  # of a framebuffer there is one
        if query is not None:
            query.begin_parts()
        self._learn(sizes)
        for part in sizes.parts(box):
            if part != box:
                context.scissor = part
            self._part(sizes, part[2] * part[3], 0, 0, query)
            if part != box:
                self.device.flush()
        context.scissor = box

    def _in_runs(self, sizes: DrawSizes, query: Query | None) -> None:
        """The kept tiles, some at a time."""
        first, area = 0, self.tiles.edge**2
        if query is not None:
            query.begin_parts()
        self._learn(sizes)
        while first < self.tiles.count:
            count = min(self.tiles.count - first, max(1, sizes.rays // area))
            self._part(sizes, count * area, first, count, query)
            first += count
            if count < self.tiles.count:
                self.device.flush()

    def _part(self, sizes: DrawSizes, rays: int, first: int, count: int, query: Query | None) -> None:
        """A part of a draw with a query of its own, where it belongs to one or is to be timed."""
        timed = not self.device.timing and (sizes.times(rays) or (query is not None and query.timed))
        if query is None and not timed:
            self._draw(first, count)
            return
        own = Query(self.device, samples=query is not None or self.shader.kernel, time=timed)
        with own:
            self._draw(first, count)
        if query is not None:
            query.add(own)
        if timed:
            self._timed.append((rays, own))
            self._learn(sizes)

    def _learn(self, sizes: DrawSizes) -> None:
        """Take the answers that are there. Many draws of unknown length are not begun at a time."""
        while self._timed:
            rays, query = self._timed[0]
            if not query.ready and (sizes.known or len(self._timed) < MOST_UNKNOWN):
                return
            self._timed.popleft()
            sizes.note(rays, query.elapsed * 1e-9, query.samples if self.shader.kernel else rays)

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
