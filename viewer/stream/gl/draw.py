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

MAX_DRAW_SECONDS = 0.1  # drivers end a draw after 2 or more
TARGET_FRACTION = 0.5  # of `MAX_DRAW_SECONDS`: other rays may cost more than those that were timed
FIRST_RAYS, MIN_RAYS = 64 * 64, 8 * 8  # rays of a program's first draw, and of its smallest
FIRST_ELEMENTS = 1 << 18  # elements of the first draw of a pass without loops
MAX_UNANSWERED_DRAWS = 4  # timed draws outstanding before the first answer
MAX_UNPROVEN_RAYS = 1 << 16  # rays of a draw, while few rays of the timed draws were active
GROWTH = 4.0  # times as many rays as were timed, at most
MAX_LISTED = 1 << 20  # points or triangles of a draw: the next ones may cover far more than those that were timed
MIN_PART_SIDE = 8  # rays along the shorter side of a part of a draw
COST_HISTORY = 32  # timed draws whose greatest cost of a ray counts
TIMING_INTERVAL = 8  # draws from one timed draw to the next, where they are short
FIRST_ITERATIONS, MAX_ITERATIONS = 64, 1 << 16  # of a loop in one draw, once its smallest part takes too long

Box = tuple[int, int, int, int]  # x, y, width, height


class DrawSizes:
    """The sizes of one program's draws, from a small one on, by the times of earlier ones.

    rays : of the next draw, at most; or points, or triangles. iterations : of a loop in it, where even the smallest
    takes too long; None: any number. listed : of points or triangles, of which a draw may have a single one.
    """

    def __init__(self, first: int = FIRST_RAYS, listed: bool = False) -> None:
        self.rays = first
        self.min_rays, self.max_rays = (1, MAX_LISTED) if listed else (MIN_RAYS, 1 << 62)
        self._unmeasured_rays = first if listed else 0  # granted untimed: a short list is no reason to cut a long one
        self.iterations: int | None = None
        self._costs: deque[float] = deque(maxlen=COST_HISTORY)  # seconds of a ray, in draws of about one size
        self._largest_timed = 0  # rays of the largest of these draws
        self.timed = False  # whether any draw has been timed, even if few of its rays were active
        self._untimed_draws = TIMING_INTERVAL

    @property
    def has_cost(self) -> bool:
        """Whether the cost of a ray has been measured."""
        return self._largest_timed > 0

    def should_time(self, rays: int) -> bool:
        """Whether to time the next draw: each one until they prove short, then every `TIMING_INTERVAL`-th."""
        self._untimed_draws += 1
        is_short = self.has_cost and rays * max(self._costs) * GROWTH <= MAX_DRAW_SECONDS
        if not is_short or self._untimed_draws > TIMING_INTERVAL:
            self._untimed_draws = 0
            return True
        return False

    def record(self, rays: int, seconds: float, active: int) -> None:
        """Adapt the sizes to a draw of ``rays``, of which ``active`` were not excluded before, in ``seconds``."""
        self.timed = True
        if 2 * active < rays:  # says little of the cost of a draw with all rays active
            if seconds > MAX_DRAW_SECONDS:
                self.rays = max(self.min_rays, min(self.rays, int(TARGET_FRACTION * MAX_DRAW_SECONDS / seconds * rays)))
            elif active and not self.has_cost and seconds * GROWTH < MAX_DRAW_SECONDS:
                self.rays = max(self.rays, min(MAX_UNPROVEN_RAYS, int(GROWTH * rays)))
        else:
            self._record_cost(rays, seconds)
        if rays <= self.min_rays and seconds > MAX_DRAW_SECONDS:
            self.iterations = max(1, (self.iterations or 2 * FIRST_ITERATIONS) // 2)
        elif self.iterations is not None and active and seconds * GROWTH < MAX_DRAW_SECONDS:
            self.iterations = 2 * self.iterations if self.iterations < MAX_ITERATIONS else None

    def _record_cost(self, rays: int, seconds: float) -> None:
        """Derive the rays of the next draw from the greatest cost of a ray in the latest draws of about one size."""
        # In a draw of many more rays its fixed cost matters less.
        if rays >= GROWTH * self._largest_timed or seconds > MAX_DRAW_SECONDS:
            self._costs.clear()
            self._largest_timed = rays
        if 2 * rays >= self._largest_timed:
            self._costs.append(seconds / rays)
            self._largest_timed = max(self._largest_timed, rays)
        target = TARGET_FRACTION * MAX_DRAW_SECONDS / max(*self._costs, 1e-12)
        grown = max(GROWTH * self._largest_timed, self._unmeasured_rays)
        self.rays = max(self.min_rays, int(min(target, grown, self.max_rays)))
        self._largest_timed = min(self._largest_timed, self.rays)

    def parts(self, box: Box) -> Iterator[Box]:
        """The parts of a rectangle that are drawn one after the other, each as large as draws may be by then."""
        x, y, width, height = box
        top = 0
        while top < height:
            part_height = min(height - top, max(MIN_PART_SIDE, self.rays // width))
            left = 0
            while left < width:
                part_width = min(width - left, max(MIN_PART_SIDE, self.rays // part_height))
                yield x + left, y + top, part_width, part_height
                left += part_width
            top += part_height

    def ranges(self, count: int, rays_per_element: int = 1) -> Iterator[tuple[int, int]]:
        """(first element, number of elements) of each part of a list, each as large as draws may be by then."""
        first = 0
        while first < count:
            size = min(count - first, max(1, self.rays // rays_per_element))
            yield first, size
            first += size


# -- shaders drawn over squares of a stream ----------------------------------------------------------------------------

CORNERS: NDArray[np.float32] = np.array(
    [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]], np.float32
)  # of a square's two triangles


def tiles_source() -> Source:
    """The vertex program of every pass."""
    return Source.of_file("stream/tiles.glsl")


class TimedDraws:
    """Draws of a program in parts, of which some are timed to adapt the sizes of later ones.

    counts : count samples, as fragments may be excluded before they begin.
    """

    def __init__(self, device: Device, sizes: DrawSizes, counts: bool) -> None:
        self.device, self.sizes, self.counts = device, sizes, counts
        # Parts without an answer yet: the rays of each, the query of its time, those of its samples.
        self._timed: deque[tuple[int, Query, Sequence[Query]]] = deque()

    @contextmanager
    def timed_part(self, rays: int, query: Query | None = None) -> Iterator[None]:
        """The draws within the block are one part, of ``rays``. It gets a query of its own if it is to be timed, or if
        it belongs to ``query``, which sums up its parts."""
        timed = self._should_time(rays) or (query is not None and query.timed and not self.device.timing)
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
    def timed_queries(self, rays: int, queries: Sequence[Query]) -> Iterator[Sequence[Query]]:
        """As `timed_part`, for draws inside queries: yields those to use, whose answers ``queries`` have, too."""
        if not self._should_time(rays):
            yield queries
            return
        time, part_queries = Query(self.device, time=True), [Query(self.device, samples=True) for _ in queries]
        with time:
            yield part_queries
        for query, part_query in zip(queries, part_queries, strict=True):
            query.begin_parts()
            query.add(part_query)
        self._add(rays, time, part_queries)

    def _should_time(self, rays: int) -> bool:
        return not self.device.timing and self.sizes.should_time(rays)

    def _add(self, rays: int, time: Query, samples: Sequence[Query]) -> None:
        self._timed.append((rays, time, samples if self.counts else ()))
        self.collect_timings()

    def collect_timings(self) -> None:
        """Feed timer queries that have ended into the draws' sizes; wait for one where `MAX_UNANSWERED_DRAWS` draws of
        unknown length are outstanding."""
        while self._timed:
            rays, time, samples = self._timed[0]
            ready = time.ready and all(query.ready for query in samples)
            if not ready and (self.sizes.timed or len(self._timed) < MAX_UNANSWERED_DRAWS):
                return
            self._timed.popleft()
            active = sum(query.samples for query in samples) if self.counts else rays
            self.sizes.record(rays, time.elapsed * 1e-9, active)


def timed_draws(device: Device, sizes: DrawSizes, counts: bool = False) -> TimedDraws | None:
    """The timing of a program's draws; None on software drivers, which end no long draw."""
    return None if device.software else TimedDraws(device, sizes, counts)


def ranges(parts: TimedDraws | None, count: int) -> Iterator[tuple[int, int]]:
    """(first element, number of elements) of each draw of a list, in its order. The draws that the caller makes before
    it asks for the next range are one part. parts : None for a single draw of all."""
    if parts is None:
        if count:
            yield 0, count
        return
    parts.collect_timings()
    for first, size in parts.sizes.ranges(count):
        with parts.timed_part(size):
            yield first, size
        if first + size < count:
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
        self.parts = timed_draws(device, DrawSizes(FIRST_RAYS if small else FIRST_ELEMENTS, listed), kernel)
        self.source, self.vertex, self._device = source, vertex or tiles_source(), device
        self._linked: moderngl.Program | None = None
        self._members: dict[str, Any] = {}
        self._units: dict[str, int] = {}
        self._values: dict[str, Any] = {}  # of uniforms, until there are any
        self._compilation = device.compilation(self.vertex, source)
        if self._compilation.program is not None:
            self._finish()

    def _finish(self) -> moderngl.Program:
        """The linked program, with its uniforms and samplers set."""
        if self._linked is None:
            program = self._linked = self._compilation.finish()
            self._members = {name: program[name] for name in program}
            for name, member in self._members.items():
                if isinstance(member, moderngl.Uniform) and name.startswith(("in_", "memory_")):
                    self._units[name] = len(self._units)
                    member.value = self._units[name]
            self._assign_buffer_units(self._device)
            values, self._values = self._values | {"exact_one": 1.0}, {}  # of lib/exact.glsl
            for name, value in values.items():
                self.set(name, value)
        return self._linked

    @property
    def program(self) -> moderngl.Program:
        """The program, compiled."""
        return self._finish()

    @cached_property
    def without_attributes(self) -> moderngl.VertexArray:
        """A vertex array without attributes, for programs that use ``gl_VertexID`` alone."""
        return self._device.context.vertex_array(self.program, [])

    @property
    def members(self) -> dict[str, Any]:
        """Its uniforms and attributes by name, compiled."""
        self._finish()
        return self._members

    def _assign_buffer_units(self, device: Device) -> None:
        """Assign texture units to samplers of buffer textures: moderngl cannot."""
        declaration, lines = "uniform samplerBuffer ", [*self.vertex.lines, *self.source.lines]
        names = [line.removeprefix(declaration).rstrip(";") for line, _ in lines if line.startswith(declaration)]
        if not names:
            return
        unsigned = ctypes.c_uint
        program = self._finish()
        locate = device.require("glGetUniformLocation", unsigned, ctypes.c_char_p, result=ctypes.c_int)
        device.require("glUseProgram", unsigned)(program.glo)
        set_integer = device.require("glUniform1i", ctypes.c_int, ctypes.c_int)
        for name in names:
            location = locate(program.glo, name.encode())
            if location >= 0:
                set_integer(location, self._units.setdefault(name, len(self._units)))

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
        self._finish()
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
        self.cells: NDArray[np.int64] = np.zeros((0, 2), np.int64)  # column and row of each alive tile
        self._uploaded: NDArray[np.bool_] | None = None

    def set_alive(self, alive: NDArray[np.bool_] | None) -> None:
        """alive: (rows, columns) tiles to draw; None for the whole stream as one square."""
        self.all = alive is None
        if alive is None or (self._uploaded is not None and np.array_equal(alive, self._uploaded)):
            return
        self._uploaded = alive.copy()
        rows, columns = np.nonzero(alive)
        self.cells = np.stack([columns, rows], axis=1)
        self.count = len(rows)
        if self.count:
            self.buffer.write((self.cells.astype(np.float32)[:, None] + CORNERS) * np.float32(self.edge))


class Drawing:
    """A shader with the vertex arrays to draw it over tiles."""

    def __init__(self, device: Device, shader: Shader, tiles: Tiles) -> None:
        self.device, self.shader, self.tiles = device, shader, tiles
        shader.set("clip", (2.0 / tiles.size[0], 2.0 / tiles.size[1]))

    @cached_property
    def alive_vertices(self) -> moderngl.VertexArray:
        """The vertex array of the alive tiles."""
        return self._array(self.tiles.buffer)

    @cached_property
    def whole(self) -> moderngl.VertexArray:
        """The vertex array of one square over the whole stream."""
        return self._array(self.tiles.whole)

    def _array(self, corners: moderngl.Buffer) -> moderngl.VertexArray:
        return self.device.context.vertex_array(self.shader.program, [(corners, "2f4", "corner")])

    def render(self, query: Query | None = None) -> None:
        """Draw over the alive tiles, inside a query if given, in parts of at most `MAX_DRAW_SECONDS`."""
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
        if tiles.all:  # parts are scissor boxes, which a screen need not have
            self._draw_in_boxes(parts, self.device.context.scissor or (0, 0, 0, 0), 0, 0, query)
            return
        area = tiles.edge**2
        for first, count in parts.sizes.ranges(tiles.count, area):
            if count == 1 and self._exceeds_draw(parts):
                self._draw_in_boxes(parts, self._tile_box(first), first, 1, query)
            else:
                with parts.timed_part(count * area, query):
                    self._draw(first, count)
            if first + count < tiles.count:
                self.device.flush()

    def render_each(self, queries: Sequence[Query]) -> None:
        """Draw over the alive tiles, by rows, each inside its own query; in parts as `render` does."""
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
            if count == 1 and self._exceeds_draw(parts):
                queries[first].begin_parts()
                self._draw_in_boxes(parts, self._tile_box(first), first, 1, queries[first])
            else:
                with parts.timed_queries(count * area, queries[first : first + count]) as part_queries:
                    for index, query in enumerate(part_queries, first):
                        with query:
                            self._draw(index, 1)
            if first + count < tiles.count:
                self.device.flush()

    def _draw(self, first: int, count: int) -> None:
        """The whole square, or ``count`` of the alive tiles."""
        if self.tiles.all:
            self.whole.render(moderngl.TRIANGLES, vertices=len(CORNERS))
        else:
            self.alive_vertices.render(moderngl.TRIANGLES, vertices=len(CORNERS) * count, first=len(CORNERS) * first)

    def _exceeds_draw(self, parts: TimedDraws) -> bool:
        """Whether a tile has more rays than a draw may have; not where a tile is one texel, as in a census."""
        return parts.sizes.rays < self.tiles.edge**2 and self.device.context.fbo.size == self.tiles.size

    def _tile_box(self, index: int) -> Box:
        """The rectangle of an alive tile, in rays."""
        x, y = (int(cell) * self.tiles.edge for cell in self.tiles.cells[index])
        width, height = self.tiles.size
        return x, y, min(self.tiles.edge, width - x), min(self.tiles.edge, height - y)

    def _draw_in_boxes(self, parts: TimedDraws, box: Box, first: int, count: int, query: Query | None) -> None:
        """Draw the square, or a tile, in parts, each inside a scissor box."""
        context = self.device.context
        previous = context.scissor or (0, 0, 0, 0)
        for part in parts.sizes.parts(box):
            if part != previous:
                context.scissor = part
            _, _, width, height = part
            with parts.timed_part(width * height, query):
                self._draw(first, count)
            if part != box:
                self.device.flush()
        context.scissor = previous


def square(device: Device, shader: Shader) -> Drawing:
    """A drawing over the whole viewport."""
    tiles = Tiles(device, (1, 1), 1)
    tiles.set_alive(None)
    shader.set("depth", 0.5)
    return Drawing(device, shader, tiles)
