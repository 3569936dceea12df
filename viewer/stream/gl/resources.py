"""All memory on the device: memories, the arena of cold tables, and streams of any size.

Machines, draws and jobs borrow from here and own only their state. A run's streams stay on the device for later runs,
draws and kernels.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.memories import (
    IN_BUFFER,
    Addressing,
    arena_row,
    base_name,
    cold_tables,
    layout,
    texels_of,
)
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table, Texels, Volume
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.memory import CHUNK, UPLOADS, BufferTexture, Memory, differing, packed_rows
from raystream.stream.gl.stream import Stream, float_texture

# -- the arena: a scene's cold tables in one float texture -------------------------------------------------------------
# A table keeps its place while it is there: programs have its base as a uniform, set once. A dropped table leaves a
# gap for the next table that fits.

MIN_ARENA_TEXELS = 1 << 14  # texels of a new arena


class Arena:
    """One texture of RGBA32F texels: a buffer texture where the driver's are large, else a 2-D one that grows by rows.

    Tables are identified by object identity, and kept alive while they are here.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.row = arena_row(device.max_texture, device.max_buffer)
        self.texture: BufferTexture | moderngl.Texture | None = None
        self._capacity = 0  # texels of the texture
        self._allocations: dict[int, tuple[Table, int, int]] = {}  # by id: table, first texel, room in texels
        self._numbers: dict[int, int] = {}  # by id: of the upload
        self._gaps: list[tuple[int, int]] = []  # (first texel, texels), ascending
        self._end = 0
        self._generation = 0  # changes whenever all tables are moved or dropped

    @property
    def bytes(self) -> int:
        """Bytes of the texture."""
        return 16 * self._capacity

    def __contains__(self, table: Table) -> bool:
        return id(table) in self._allocations

    def tables(self) -> list[Table]:
        """The tables here."""
        return [table for table, _, _ in self._allocations.values()]

    def base(self, table: Table) -> int:
        """The first texel of a table, uploaded on first use."""
        if table not in self:
            for _ in self.add(table):
                pass
        return self._allocations[id(table)][1]

    def add(self, table: Table) -> Iterator[float]:
        """Upload a table in pieces of a few milliseconds; yields the fraction done. May be abandoned: the table is here
        only once complete. If it is uploaded by another call meanwhile, that copy stays. Raises DeviceError where the
        texture would exceed the driver's limit."""
        if table in self:
            return
        texels, count = texels_of(table), len(table.data)
        first_texel, generation = self._allocate(texels), self._generation
        try:
            if not count:
                self._write(np.zeros((texels, 4), np.float32), first_texel)
            for first_row in range(0, count, CHUNK):
                rows = packed_rows(table, first_row, min(first_row + CHUNK, count))
                self._write(rows.reshape(-1, 4), first_texel + first_row * rows.shape[1])
                yield min(1.0, (first_row + CHUNK) / count)
                if self._generation != generation:
                    break
        except BaseException:  # abandoned, too
            if self._generation == generation:
                self._free(first_texel, texels)
            raise
        if self._generation != generation:  # all places have changed meanwhile
            yield from self.add(table)
        elif table in self:
            self._free(first_texel, texels)
        else:
            self._allocations[id(table)] = table, first_texel, texels
            self._numbers[id(table)] = next(UPLOADS)

    def upload_number(self, table: Table) -> int:
        """See `Resources.upload_number`."""
        return self._numbers[id(table)]

    def reserve(self, texels: int) -> None:
        """Grow once for ``texels`` more behind the last table: growing for each table copies all of them each time. No
        growth beyond the driver's limit: gaps may do, or `add` raises."""
        total = self._end + texels
        if self._capacity < total <= self._max_texels:
            self._grow(total, doubles=False)

    def update(self, table: Table, first: int, last: int) -> None:
        """Upload the rows first .. last - 1, changed in place."""
        rows = packed_rows(table, first, last)
        self._write(rows.reshape(-1, 4), self._allocations[id(table)][1] + first * rows.shape[1])

    def fits(self, old: Table, new: Table) -> bool:
        """Whether ``new`` would fit where ``old`` lies."""
        return texels_of(new) <= self._allocations[id(old)][2]

    def exchange(self, old: Table, new: Table) -> None:
        """Replace table ``old`` by ``new``, in its texels; the rows that differ are uploaded."""
        _, first, room = self._allocations.pop(id(old))
        self._allocations[id(new)] = new, first, room
        self._numbers.pop(id(old), None)
        self._numbers[id(new)] = next(UPLOADS)
        changed = differing(old.data, new.data)
        if changed.start < changed.stop:
            self.update(new, changed.start, changed.stop)

    def drop(self, table: Table) -> None:
        """Free the table's place."""
        allocation = self._allocations.pop(id(table), None)
        self._numbers.pop(id(table), None)
        if allocation is not None:
            self._free(*allocation[1:])

    def compact(self) -> None:
        """Close the gaps by moving the remaining tables, where less than half of the texture is theirs; no program may
        still use their old bases. In a buffer they move on the device: to pack and upload those of a million triangles
        takes seconds."""
        packed = [(table, first, texels_of(table)) for table, first, _ in self._allocations.values()]
        old = self.texture
        used = sum(texels for *_, texels in packed)
        if 2 * used > self._end and self._capacity <= max(MIN_ARENA_TEXELS, 2 * used):
            return
        if not packed or not isinstance(old, BufferTexture):
            self.release()
            for table, *_ in packed:
                self.base(table)
            return
        uploads, self.texture = dict(self._numbers), None  # so that `release` leaves the old one until all have moved
        self.release()
        self._numbers = uploads
        self._capacity = max(sum(room for *_, room in packed), MIN_ARENA_TEXELS)
        self.texture = texture = BufferTexture(self.device, self._capacity, 4)
        for table, first, room in packed:
            new_first = self._allocate(room)
            ranges = {"size": 16 * room, "read_offset": 16 * first, "write_offset": 16 * new_first}
            self.device.context.copy_buffer(texture.buffer, old.buffer, **ranges)
            self._allocations[id(table)] = table, new_first, room
        old.release()

    def use(self, unit: int) -> None:
        """Bind to a texture unit."""
        assert self.texture is not None, "no table lies here"
        self.texture.use(unit)

    def release(self) -> None:
        """Free the texture."""
        if self.texture is not None:
            self.texture.release()
        self.texture, self._capacity, self._end, self._generation = None, 0, 0, self._generation + 1
        self._allocations.clear()
        self._numbers.clear()
        self._gaps.clear()

    def _allocate(self, texels: int) -> int:
        """The first of ``texels`` free texels."""
        for k, (first, room) in enumerate(self._gaps):
            if room >= texels:
                self._gaps[k : k + 1] = [(first + texels, room - texels)] if room > texels else []
                return first
        first = self._end
        if first + texels > self._capacity:
            self._grow(first + texels)
        self._end = first + texels
        return first

    def _free(self, first: int, texels: int) -> None:
        gaps: list[tuple[int, int]] = []
        for start, size in sorted([*self._gaps, (first, texels)]):
            if gaps and sum(gaps[-1]) == start:
                gaps[-1] = gaps[-1][0], gaps[-1][1] + size
            else:
                gaps.append((start, size))
        if gaps and sum(gaps[-1]) == self._end:
            self._end = gaps.pop()[0]
        self._gaps = gaps

    @property
    def _max_texels(self) -> int:
        """Texels that the driver allows."""
        return self.device.max_buffer if self.row == IN_BUFFER else self.row * self.device.max_texture

    def _grow(self, min_texels: int, doubles: bool = True) -> None:
        """Grow to ``min_texels`` or, if it ``doubles``, twice as many; raises DeviceError beyond the limit."""
        max_texels = self._max_texels
        if min_texels > max_texels:
            raise DeviceError(
                "scene tables", f"{min_texels:,} texels; this driver allows {max_texels:,}", "use a smaller scene"
            )
        texels = min(max(min_texels, 2 * self._capacity * doubles, MIN_ARENA_TEXELS), max_texels)
        if self.row == IN_BUFFER:
            if isinstance(self.texture, BufferTexture):
                self.texture.grow(texels)
            else:
                self.texture = BufferTexture(self.device, texels, 4)
            self._capacity = texels
            return
        rows = -(-texels // self.row)
        old, context = self.texture, self.device.context
        self.texture = float_texture(self.device, (self.row, rows))
        if isinstance(old, moderngl.Texture):
            target = context.framebuffer([self.texture])
            target.use()  # resets other scissors, which would clip the copy
            context.copy_framebuffer(target, context.framebuffer([old]))
            old.release()
        self._capacity = rows * self.row

    def _write(self, texels: NDArray[np.float32], first: int) -> None:
        """Write texels (N, 4) from texel ``first`` on."""
        texels = self.device.stored(texels)
        if isinstance(self.texture, BufferTexture):
            self.texture.write(texels, 16 * first)
            return
        assert isinstance(self.texture, moderngl.Texture)
        while len(texels):  # the rest of a row, whole rows, the beginning of one
            y, x = divmod(first, self.row)
            rows = 1 if x or len(texels) < self.row else len(texels) // self.row
            width = min(self.row - x, len(texels)) if rows == 1 else self.row
            self.texture.write(np.ascontiguousarray(texels[: width * rows]), (x, y, width, rows))
            texels, first = texels[width * rows :], first + width * rows


# -- copies between a stream in row order and a rectangle of another, on the device ------------------------------------
# Machines take rays in row order, regardless of the picture's rectangle: tiles of every shape run in streams of one
# size.

FORMS = ("rows_from_rectangle", "rectangle_from_rows")


def copy_source(form: str, texels: int) -> Source:
    """The fragment program of a copy of records of ``texels`` texels. form : one of `FORMS`."""
    source = Source.begin()
    for k in range(texels):
        source.add(f"uniform sampler2D in_{k};\nlayout(location = {k}) out vec4 out_{k};", "record")
    body = "\n".join(f"    out_{k} = texelFetch(in_{k}, at, 0);" for k in range(texels))
    source.add(f"void copy(ivec2 at) {{\n{body}\n}}", "record")
    source.include(f"stream/{form}.glsl")
    return source


class Copies:
    """The copy programs of a device for records of every width, compiled on first use."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._drawings: dict[tuple[str, int], Drawing] = {}

    def to_rows(self, source: Stream, target: Stream, corner: tuple[int, int], size: tuple[int, int]) -> None:
        """Copy the rectangle of ``source`` with this lower left ``corner`` and ``size`` to the first elements of
        ``target``.

        Elements for parts outside of the source stay as they are.
        """
        self._draw(FORMS[0], source, target, target.size[0], corner, size, (0, 0, *target.size))

    def from_rows(self, source: Stream, target: Stream, corner: tuple[int, int], size: tuple[int, int]) -> None:
        """Copy the first elements of ``source`` to a rectangle of ``target``, clipped to the target."""
        left, bottom = max(corner[0], 0), max(corner[1], 0)
        right, top = min(corner[0] + size[0], target.size[0]), min(corner[1] + size[1], target.size[1])
        if left < right and bottom < top:
            box = (left, bottom, right - left, top - bottom)
            self._draw(FORMS[1], source, target, source.size[0], corner, size, box)

    def _draw(
        self,
        form: str,
        source: Stream,
        target: Stream,
        width: int,
        corner: tuple[int, int],
        size: tuple[int, int],
        box: tuple[int, int, int, int],
    ) -> None:
        """One draw of a copy by the shader ``form``: elements of a rectangle of ``size`` (width, height), its
        ``corner`` (x, y) in the source, of rows of ``width`` elements, to the pixels ``box`` (x, y, width, height) of
        the target."""
        assert source.record == target.record, "a copy keeps the record"
        key = form, source.record.texels
        if key not in self._drawings:
            self._drawings[key] = square(self.device, Shader(self.device, copy_source(*key)))
        drawing, shader, framebuffer = self._drawings[key], self._drawings[key].shader, target.framebuffer
        framebuffer.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        for k, texture in enumerate(source.textures):
            shader.bind(f"in_{k}", texture)
        for name, value in (("width", width), ("wide", (size[0], size[0] * size[1])), ("corner", corner)):
            shader.set(name, value)
        shader.set("size", source.size)
        framebuffer.viewport = box  # the square covers it
        drawing.render()
        framebuffer.viewport = (0, 0, *target.size)


# -- all memory on the device ------------------------------------------------------------------------------------------

MemorySource = Table | Volume | Texels


class Resources:
    """The owner of a scene's data on a device. Every call needs a current context.

    Memories are identified by object identity and uploaded once. One may be replaced by another (`exchange`): existing
    machines then read the new values. Streams have names: the same record and size give the same stream again, another
    record or size a new one in its place.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.arena = Arena(device)
        self.copies = Copies(device)
        self._memories: dict[int, Memory] = {}
        # In a fork without buffers: the ids of the memories that it shares, see `fork`.
        self._shared_ids: frozenset[int] | None = None
        # By id: a replaced memory, and its replacement.
        self._replacements: dict[int, tuple[weakref.ref[MemorySource], MemorySource]] = {}
        self._streams: dict[str, Stream] = {}
        self.computed_tables: list[Callable[[], None]] = []  # passes, see `update_computed_tables`

    # -- addresses, for the generator --------------------------------------------------------------------------------

    @property
    def arena_row(self) -> int:
        """See `raystream.stream.compile.memories.Addresses`."""
        return self.arena.row

    def layout(self, memory: MemorySource) -> Addressing:
        """See `raystream.stream.compile.memories.Addresses`."""
        memory = self._current(memory)
        buffers = self._shared_ids is None or isinstance(memory, Texels)
        return layout(self.device.max_texture, memory, self.device.max_buffer if buffers else 0)

    def base(self, table: Table) -> int:
        """See `raystream.stream.compile.memories.Addresses`; uploads the table on first use."""
        current = self._current(table)
        assert isinstance(current, Table)
        return self.arena.base(current)

    # -- memories ----------------------------------------------------------------------------------------------------

    def get(self, source: MemorySource) -> Memory:
        """The texture of a memory with a texture of its own."""
        source = self._current(source)
        if id(source) not in self._memories:
            self._memories[id(source)] = Memory(self.device, source, self.layout(source))
        return self._memories[id(source)]

    def location(self, table: Table) -> tuple[Any, int, int]:
        """The texture that holds a table, texels in a row of it (0: a buffer texture), and the table's first texel."""
        if not table.hot:
            return self.arena.texture, self.arena_row, self.base(table)
        memory = self.get(table)
        return memory.texture, memory.layout.per_row * max(1, table.record.texels), 0

    def upload_number(self, table: Table) -> int:
        """The number of a table's upload, unique to it; 0: the table is not uploaded."""
        if not self._is_uploaded(table) or self._current(table) is not table:
            return 0
        return self.arena.upload_number(table) if not table.hot else self._memories[id(table)].number

    def update_computed_tables(self) -> None:
        """Bring memories that passes compute up to date: before any run that reads them."""
        for update in self.computed_tables:
            update()

    def _current(self, source: MemorySource) -> MemorySource:
        """The replacement of a memory, or itself."""
        replacement = self._replacements.get(id(source))
        return source if replacement is None else replacement[1]

    def _is_uploaded(self, source: MemorySource) -> bool:
        source = self._current(source)
        if isinstance(source, Table) and not source.hot:
            return source in self.arena
        return id(source) in self._memories

    def upload(self, sources: Iterable[MemorySource]) -> Iterator[float]:
        """Upload missing memories piece by piece; yields the fraction done. May be abandoned."""
        missing = [source for source in sources if not self._is_uploaded(source)]
        total, done = sum(len(source.data) for source in missing), 0
        self.arena.reserve(sum(texels_of(memory) for memory in missing if isinstance(memory, Table) and not memory.hot))
        for source in missing:
            pieces = (
                self.arena.add(source) if isinstance(source, Table) and not source.hot else self._upload_memory(source)
            )
            for fraction in pieces:
                yield (done + fraction * len(source.data)) / max(1, total)
            done += len(source.data)

    def _upload_memory(self, source: MemorySource) -> Iterator[float]:
        """Upload a memory in pieces; yields the fraction done. A copy that another call uploads meanwhile stays."""
        if self._is_uploaded(source):
            return
        memory = Memory(self.device, source, self.layout(source), filled=False)
        yield from memory.fill()
        if self._is_uploaded(source):
            memory.release()
        else:
            self._memories[id(source)] = memory

    def update(self, source: Table, first: int, last: int) -> None:
        """Upload rows first .. last - 1 of a table, changed in place, if it is on the device."""
        if last <= first or not self._is_uploaded(source) or self._current(source) is not source:
            return
        if not source.hot:
            self.arena.update(source, first, last)
        else:
            self._memories[id(source)].update(first, last)

    def exchangeable(self, old: MemorySource, new: MemorySource) -> bool:
        """Whether `exchange` is possible: the same programs read both, and there is room."""
        if old is new:
            return True
        if type(old) is not type(new) or old.name != new.name or self.layout(old) != self.layout(new):
            return False
        if isinstance(old, Table) and isinstance(new, Table):
            if old.record != new.record or old.hot != new.hot:
                return False
        elif old.data.shape != new.data.shape:  # a volume's shape is part of its source
            return False
        if not self._is_uploaded(old):
            return True
        if isinstance(old, Table) and isinstance(new, Table) and not old.hot:
            return self.arena.fits(old, new)
        return self._memories[id(old)].fits(new)

    def exchange(self, old: MemorySource, new: MemorySource) -> None:
        """Replace ``old`` by ``new`` and upload the rows that differ: existing programs read the new values from now
        on. They must be `exchangeable`."""
        if old is new:
            return
        uploaded = self._is_uploaded(old)
        if self._is_uploaded(new) and self._current(new) is new:  # already uploaded
            self.drop([new])
        self._replacements.pop(id(new), None)
        for key, (reference, current) in list(self._replacements.items()):
            if current is old:
                self._replacements[key] = reference, new
        key = id(old)
        self._replacements[key] = weakref.ref(old, lambda collected: self._forget(key, collected)), new
        if not uploaded:
            return
        if isinstance(old, Table) and isinstance(new, Table) and not new.hot:
            self.arena.exchange(old, new)
        else:
            memory = self._memories[id(new)] = self._memories.pop(id(old))
            memory.exchange(new)

    def _forget(self, key: int, collected: weakref.ref[MemorySource]) -> None:
        """Forget the replacement of a memory to which nothing refers any more."""
        if key in self._replacements and self._replacements[key][0] is collected:
            del self._replacements[key]

    def drop(self, sources: Iterable[MemorySource]) -> None:
        """Free memories that no machine reads any more."""
        for source in sources:
            if self._replacements.pop(id(source), None) is not None:
                continue
            for key in [key for key, (_, current) in self._replacements.items() if current is source]:
                del self._replacements[key]
            if isinstance(source, Table) and source in self.arena:
                self.arena.drop(source)
            elif id(source) in self._memories:
                self._memories.pop(id(source)).release()

    # -- streams -----------------------------------------------------------------------------------------------------

    def stream(self, name: str, record: Record, size: tuple[int, int]) -> Stream:
        """The stream of a name, W x H records, not cleared."""
        stream = self._streams.get(name)
        if stream is None or stream.record != record or stream.size != size:
            self.release_stream(name)
            stream = self._streams[name] = Stream(self.device, record, size)
        return stream

    def release_stream(self, name: str) -> None:
        """Free the stream of a name, if present."""
        stream = self._streams.pop(name, None)
        if stream is not None:
            stream.release()

    def fork(self, buffers: bool = True) -> Resources:
        """Resources that share these memories, and have their own streams; without ``buffers`` also their own hot
        tables and volumes, in 2-D and 3-D textures. `release_fork` frees what is their own."""
        resources = copy(self)
        resources._streams = {}
        if not buffers:
            resources._memories = {
                key: memory for key, memory in self._memories.items() if isinstance(memory.source, Texels)
            }
            resources._shared_ids = frozenset(resources._memories)
        return resources

    def release_fork(self) -> None:
        """Free a fork's own streams and memories, not those that it shares."""
        self._release_streams()
        for key in [] if self._shared_ids is None else self._memories.keys() - self._shared_ids:
            self._memories.pop(key).release()

    def _release_streams(self) -> None:
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()

    # -- facts -------------------------------------------------------------------------------------------------------

    def bases(self, modules: Iterable[Module]) -> dict[str, int]:
        """The uniforms with the bases of these modules' cold tables in the arena."""
        return {base_name(table): self.base(table) for table in cold_tables(modules)}

    def bytes(self) -> dict[str, int]:
        """Texture bytes of memories by name; the arena's tables together."""
        sizes = {memory.source.name: memory.bytes for memory in self._memories.values()}
        return sizes | ({"arena": self.arena.bytes} if self.arena.bytes else {})

    def hot_bytes(self) -> int:
        """Texture bytes of hot tables and volumes."""
        return sum(memory.bytes for memory in self._memories.values() if not isinstance(memory.source, Texels))

    def stream_bytes(self) -> int:
        """Texture bytes of the named streams."""
        return sum(stream.bytes for stream in self._streams.values())

    def release(self) -> None:
        """Free everything."""
        for memory in self._memories.values():
            memory.release()
        self._release_streams()
        self.arena.release()
        self._memories.clear()
        self._replacements.clear()
        self.computed_tables.clear()
