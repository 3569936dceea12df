"""Shaders drawn over squares of a stream: shared by masks, machines and the window."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.objects import Query

# -- sizes of draws: how many rays, points or triangles ---------------------------------------------------------------
# A driver ends programs that keep a device busy for seconds, and no device is known before it has drawn something.
# Draws are timed by queries that are read when they are there. A ray's results do not depend on the draw that it
# belongs to; points and triangles are drawn in their order, on which depths and sums depend.

LONGEST = 0.1  # seconds of a draw; drivers end one after 2 or more
AIMED = 0.5  # of `LONGEST`: other rays may be dearer than those that were timed
FIRST, LEAST = 64 * 64, 8 * 8  # rays of a program's first draw, and of its smallest
FIRST_PLAIN = 1 << 18  # elements of the first draw of a pass without loops
MOST_UNKNOWN = 4  # draws without an answer, before the first has told
MOST_UNSEEN = 1 << 16  # rays of a draw, where those before have told of few rays alone
GROWTH = 4.0  # times as many rays as were timed, at most
MOST_LISTED = 1 << 20  # points or triangles of a draw: the next ones may cover far more than those that were timed
SIDE = 8  # rays along the shorter side of a part of a draw
REMEMBERED = 32  # timed draws, of which the dearest rays count
TIMED_EVERY = 8  # draws that are known to be short
FIRST_TURNS, MOST_TURNS = 64, 1 << 16  # of a loop in one draw, once its smallest part takes too long

Box = tuple[int, int, int, int]  # x, y, width, height


class DrawSizes:
    """The sizes of one program's draws, from a small one on, by the times of earlier ones.

    rays : of the next draw, at most; or points, or triangles. turns : of a loop in it, where even the smallest takes
    too long; None: any number. listed : of points or triangles, of which a draw may have a single one.
    """

    def __init__(self, first: int = FIRST, listed: bool = False) -> None:
        self.rays = first
        self.least, self.most = (1, MOST_LISTED) if listed else (LEAST, 1 << 62)
        self._granted = first if listed else 0  # whatever was timed: a short list is no reason to cut a long one
        self.turns: int | None = None
        self._costs: deque[float] = deque(maxlen=REMEMBERED)  # seconds of a ray, in draws of about one size
        self._largest = 0  # of the rays of these draws
        self.timed = False  # whether any draw has told, be it of few rays
        self._since = TIMED_EVERY

    @property
    def known(self) -> bool:
        """Whether a draw has told the cost of rays."""
        return self._largest > 0

    def times(self, rays: int) -> bool:
        """Whether a draw of this number of rays is to be timed: each, until they are known to be short."""
        self._since += 1
        if not self.known or rays * max(self._costs) * GROWTH > LONGEST or self._since > TIMED_EVERY:
            self._since = 0
            return True
        return False

    def note(self, rays: int, seconds: float, active: int) -> None:
        """Learn the seconds of a draw of ``rays``, of which ``active`` were not excluded before they began."""
        self.timed = True
        if 2 * active < rays:  # which says little of what all of them cost
            if seconds > LONGEST:
                self.rays = max(self.least, min(self.rays, int(AIMED * LONGEST / seconds * rays)))
            elif active and not self.known and seconds * GROWTH < LONGEST:
                self.rays = max(self.rays, min(MOST_UNSEEN, int(GROWTH * rays)))
        else:
            self._note(rays, seconds)
        if rays <= self.least and seconds > LONGEST:
            self.turns = max(1, (self.turns or 2 * FIRST_TURNS) // 2)
        elif self.turns is not None and active and seconds * GROWTH < LONGEST:
            self.turns = 2 * self.turns if self.turns < MOST_TURNS else None

    def _note(self, rays: int, seconds: float) -> None:
        if rays >= GROWTH * self._largest or seconds > LONGEST:  # of more, the fixed cost of a draw matters less
            self._costs.clear()
            self._largest = rays
        if 2 * rays >= self._largest:
            self._costs.append(seconds / rays)
            self._largest = max(self._largest, rays)
        target = AIMED * LONGEST / max(*self._costs, 1e-12)
        self.rays = max(self.least, int(min(target, max(GROWTH * self._largest, self._granted), self.most)))
        self._largest = min(self._largest, self.rays)

    def parts(self, box: Box) -> Iterator[Box]:
        """The parts of a rectangle that are drawn one after the other, each as large as draws may be by then."""
        x, y, width, height = box
        top = 0
        while top < height:
            tall = min(height - top, max(SIDE, self.rays // width))
            left = 0
            while left < width:
                wide = min(width - left, max(SIDE, self.rays // tall))
                yield x + left, y + top, wide, tall
                left += wide
            top += tall

    def ranges(self, count: int, rays_per_element: int = 1) -> Iterator[tuple[int, int]]:
        """The first and the number of the elements of each part of a list, each as large as draws may be by then."""
        first = 0
        while first < count:
            some = min(count - first, max(1, self.rays // rays_per_element))
            yield first, some
            first += some


# -- shaders drawn over squares of a stream ----------------------------------------------------------------------------

CORNERS: NDArray[np.float32] = np.array(
    [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32
)  # of a square's two triangles


def tiles_source() -> Source:
    """The vertex program of every pass."""
    return Source.of_file("stream/tiles.glsl")


class TimedDraws:
    """Parts of a program's draws, of which some are timed: the sizes of those after them follow.

    counts : fragments may be excluded before they begin, which samples tell.
    """

    def __init__(self, device: Device, sizes: DrawSizes, counts: bool) -> None:
        self.device, self.sizes, self.counts = device, sizes, counts
        # Parts without an answer yet: the rays of each, the query of its time, those of its samples.
        self._timed: deque[tuple[int, Query, Sequence[Query]]] = deque()

    @contextmanager
    def part(self, rays: int, query: Query | None = None) -> Iterator[None]:
        """Draws within are a part of ``rays``, with a query of its own where it belongs to one or is to be timed."""
        timed = self._times(rays) or (query is not None and query.timed and not self.device.timing)
        if query is None and not timed:
            yield
            return
        part_query = Query(self.device, samples=query is not None or self.counts, time=timed)
        with part_query:
            yield
        if query is not None:
            query.add(part_query)
        if timed:
            self._add(rays, part_query, [part_query])

    @contextmanager
    def each(self, rays: int, queries: Sequence[Query]) -> Iterator[Sequence[Query]]:
        """As `part`, for draws inside a query each, those that are yielded; ``queries`` have their answers."""
        if not self._times(rays):
            yield queries
            return
        time, part_queries = Query(self.device, time=True), [Query(self.device, samples=True) for _ in queries]
        with time:
            yield part_queries
        for query, part_query in zip(queries, part_queries, strict=True):
            query.begin_parts()
            query.add(part_query)
        self._add(rays, time, part_queries)

    def _times(self, rays: int) -> bool:
        return not self.device.timing and self.sizes.times(rays)

    def _add(self, rays: int, time: Query, samples: Sequence[Query]) -> None:
        self._timed.append((rays, time, samples if self.counts else ()))
        self.collect_timings()

    def collect_timings(self) -> None:
        """Feed timer queries that have ended into the draws' sizes; wait for one where `MOST_UNKNOWN` draws of unknown
        length are outstanding."""
        while self._timed:
            rays, time, samples = self._timed[0]
            ready = time.ready and all(query.ready for query in samples)
            if not ready and (self.sizes.timed or len(self._timed) < MOST_UNKNOWN):
                return
            self._timed.popleft()
            active = sum(query.samples for query in samples) if self.counts else rays
            self.sizes.note(rays, time.elapsed * 1e-9, active)


def timed_draws(device: Device, sizes: DrawSizes, counts: bool = False) -> TimedDraws | None:
    """None on a software driver, which nothing watches, and whose timers know of the last tile of a draw alone."""
    return None if device.software else TimedDraws(device, sizes, counts)


def ranges(parts: TimedDraws | None, count: int) -> Iterator[tuple[int, int]]:
    """The first and the number of the elements of each draw of a list, in its order: draws before the next request
    are one of its parts. parts : None for a single draw."""
    if parts is None:
        if count:
            yield 0, count
        return
    parts.collect_timings()
    for first, some in parts.sizes.ranges(count):
        with parts.part(some):
            yield first, some
        if first + some < count:
            parts.device.flush()


class Shader:
    """A program with its samplers and uniforms, drawn over tiles, or by ``vertex`` over other geometry.

    Within `Device.deferred` it is compiled later, at the latest when it is drawn. Raises ShaderError.

    kernel : its fragments loop, and some may be excluded before they begin. listed : it is drawn over points or
    triangles in their order. parts : of its draws, see `timed_draws`.
    """

    def __init__(
        self, device: Device, source: Source, vertex: Source | None = None, kernel: bool = False, listed: bool = False
    ) -> None:
        small = kernel or listed or source.loops
        self.parts = timed_draws(device, DrawSizes(FIRST if small else FIRST_PLAIN, listed), kernel)
        self.source, self.vertex, self._device = source, vertex or tiles_source(), device
        self._linked: moderngl.Program | None = None
        self._members: dict[str, Any] = {}
        self._units: dict[str, int] = {}
        self._values: dict[str, Any] = {}  # of uniforms, until there are any
        self._compilation = device.compilation(self.vertex, source)
        if self._compilation.made is not None:
            self._take()

    def _take(self) -> moderngl.Program:
        """The program, with its uniforms and samplers set."""
        if self._linked is None:
            program = self._linked = self._compilation.finish()
            self._members = {name: program[name] for name in program}
            for name, member in self._members.items():
                if isinstance(member, moderngl.Uniform) and name.startswith(("in_", "memory_")):
                    self._units[name] = len(self._units)
                    member.value = self._units[name]
            self._number_buffers(self._device)
            values, self._values = self._values | {"exact_one": 1.0}, {}  # of lib/exact.glsl
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
            location = locate(program.glo, name.encode())
            if location >= 0:
                put(location, self._units.setdefault(name, len(self._units)))

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
        self.places: NDArray[np.int64] = np.zeros((0, 2), np.int64)  # column and row of each that is kept
        self._uploaded: NDArray[np.bool_] | None = None

    def keep(self, alive: NDArray[np.bool_] | None) -> None:
        """alive: (rows, columns) tiles to draw; None for the whole stream as one square."""
        self.all = alive is None
        if alive is None or (self._uploaded is not None and np.array_equal(alive, self._uploaded)):
            return
        self._uploaded = alive.copy()
        rows, columns = np.nonzero(alive)
        self.places = np.stack([columns, rows], axis=1)
        self.count = len(rows)
        if self.count:
            self.buffer.write((self.places.astype(np.float32)[:, None] + CORNERS) * np.float32(self.edge))


class Drawing:
    """A shader with the vertex arrays to draw it over tiles."""

    def __init__(self, device: Device, shader: Shader, tiles: Tiles) -> None:
        self.device, self.shader, self.tiles = device, shader, tiles
        shader.set("clip", (2.0 / tiles.size[0], 2.0 / tiles.size[1]))

    @cached_property
    def some(self) -> moderngl.VertexArray:
        """The vertices of the kept tiles."""
        return self._array(self.tiles.buffer)

    @cached_property
    def whole(self) -> moderngl.VertexArray:
        """The vertices of a square over the whole stream."""
        return self._array(self.tiles.whole)

    def _array(self, corners: moderngl.Buffer) -> moderngl.VertexArray:
        return self.device.context.vertex_array(self.shader.program, [(corners, "2f4", "corner")])

    def render(self, query: Query | None = None) -> None:
        """Draw over the kept tiles, inside a query of samples if given: in parts that are no longer than they may
        be."""
        parts, tiles = self.shader.parts, self.tiles
        if not tiles.all and not tiles.count:
            with query or nullcontext():
                return
        if parts is None or self.device.context.fbo is self.device.context.screen:
            with query or nullcontext():
                self._draw(0, tiles.count)
            return
        if query is not None:
            query.begin_parts()
        parts.collect_timings()
        if tiles.all:  # of a framebuffer there is a box
            self._in_boxes(parts, self.device.context.scissor or (0, 0, 0, 0), 0, 0, query)
            return
        area = tiles.edge**2
        for first, count in parts.sizes.ranges(tiles.count, area):
            if count == 1 and self._divides(parts):
                self._in_boxes(parts, self._box(first), first, 1, query)
            else:
                with parts.part(count * area, query):
                    self._draw(first, count)
            if first + count < tiles.count:
                self.device.flush()

    def render_each(self, queries: Sequence[Query]) -> None:
        """Draw over the kept tiles, by rows, each inside its own query; in parts as `render` does."""
        parts, tiles = self.shader.parts, self.tiles
        assert not tiles.all and len(queries) == tiles.count
        if parts is None:
            for index, query in enumerate(queries):
                with query:
                    self._draw(index, 1)
            return
        parts.collect_timings()
        area = tiles.edge**2
        for first, count in parts.sizes.ranges(tiles.count, area):
            if count == 1 and self._divides(parts):
                queries[first].begin_parts()
                self._in_boxes(parts, self._box(first), first, 1, queries[first])
            else:
                with parts.each(count * area, queries[first : first + count]) as asked:
                    for index, query in enumerate(asked, first):
                        with query:
                            self._draw(index, 1)
            if first + count < tiles.count:
                self.device.flush()

    def _draw(self, first: int, count: int) -> None:
        """The whole square, or ``count`` of the kept tiles."""
        if self.tiles.all:
            self.whole.render(moderngl.TRIANGLES, vertices=len(CORNERS))
        else:
            self.some.render(moderngl.TRIANGLES, vertices=len(CORNERS) * count, first=len(CORNERS) * first)

    def _divides(self, parts: TimedDraws) -> bool:
        """Whether a tile has more rays than a draw may have; of a census it is a texel."""
        return parts.sizes.rays < self.tiles.edge**2 and self.device.context.fbo.size == self.tiles.size

    def _box(self, index: int) -> Box:
        """A kept tile: left, low, width and height in rays."""
        left, low = (int(at) * self.tiles.edge for at in self.tiles.places[index])
        width, height = self.tiles.size
        return left, low, min(self.tiles.edge, width - left), min(self.tiles.edge, height - low)

    def _in_boxes(self, parts: TimedDraws, box: Box, first: int, count: int, query: Query | None) -> None:
        """The square, or a tile, in rectangles."""
        context = self.device.context
        before = context.scissor or (0, 0, 0, 0)
        for part in parts.sizes.parts(box):
            if part != before:
                context.scissor = part
            with parts.part(part[2] * part[3], query):
                self._draw(first, count)
            if part != box:
                self.device.flush()
        context.scissor = before


def square(device: Device, shader: Shader) -> Drawing:
    """A drawing over the whole viewport."""
    tiles = Tiles(device, (1, 1), 1)
    tiles.keep(None)
    shader.set("depth", 0.5)
    return Drawing(device, shader, tiles)
