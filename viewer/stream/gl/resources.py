"""All memory on the device: memories, the arena of cold tables, and streams of any size.

Machines, draws and jobs borrow from here and own only their state. A run's streams stay on the device for later runs,
draws and kernels.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any

from raystream.stream.compile.addresses import Addressing, layout, texels_of
from raystream.stream.compile.memories import base_name, cold_tables
from raystream.stream.declare.kernel import Module, Table, Texels, Volume
from raystream.stream.declare.record import Record
from raystream.stream.gl.arena import Arena
from raystream.stream.gl.copy import Copies
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import Memory
from raystream.stream.gl.stream import Stream

Source = Table | Volume | Texels


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
        # Of memories that are another's, where hot tables and volumes are not, see `beside`.
        self._lent: frozenset[int] | None = None
        # By id: a replaced memory, and its replacement.
        self._stands_for: dict[int, tuple[weakref.ref[Source], Source]] = {}
        self._streams: dict[str, Stream] = {}
        self.settling: list[Callable[[], None]] = []  # passes whose results memories hold: see `settle`

    # -- addresses, for the generator --------------------------------------------------------------------------------

    @property
    def arena_row(self) -> int:
        """See `raystream.stream.compile.addresses.Addresses`."""
        return self.arena.row

    def layout(self, memory: Source) -> Addressing:
        """See `raystream.stream.compile.addresses.Addresses`."""
        memory = self._current(memory)
        buffers = self._lent is None or isinstance(memory, Texels)
        return layout(self.device.max_texture, memory, self.device.max_buffer if buffers else 0)

    def base(self, table: Table) -> int:
        """See `raystream.stream.compile.addresses.Addresses`; uploads the table on first use."""
        current = self._current(table)
        assert isinstance(current, Table)
        return self.arena.base(current)

    # -- memories ----------------------------------------------------------------------------------------------------

    def get(self, source: Source) -> Memory:
        """The texture of a memory with a texture of its own."""
        source = self._current(source)
        if id(source) not in self._memories:
            self._memories[id(source)] = Memory(self.device, source, self.layout(source))
        return self._memories[id(source)]

    def place(self, table: Table) -> tuple[Any, int, int]:
        """The texture that holds a table, texels in a row of it (0: a buffer texture), and the table's first texel."""
        if not table.hot:
            return self.arena.texture, self.arena_row, self.base(table)
        memory = self.get(table)
        return memory.texture, memory.layout.per_row * max(1, table.record.texels), 0

    def upload_number(self, table: Table) -> int:
        """Of the upload that brought a table here, another one for each; 0: it is not here."""
        if not self._held(table) or self._current(table) is not table:
            return 0
        return self.arena.upload_number(table) if not table.hot else self._memories[id(table)].number

    def settle(self) -> None:
        """Bring memories that passes compute up to date: before any run that reads them."""
        for update in self.settling:
            update()

    def _current(self, source: Source) -> Source:
        """The replacement of a memory, or itself."""
        replacement = self._stands_for.get(id(source))
        return source if replacement is None else replacement[1]

    def _held(self, source: Source) -> bool:
        source = self._current(source)
        if isinstance(source, Table) and not source.hot:
            return source in self.arena
        return id(source) in self._memories

    def upload(self, sources: Iterable[Source]) -> Iterator[float]:
        """Upload missing memories piece by piece; yields the fraction done. May be abandoned."""
        missing = [source for source in sources if not self._held(source)]
        total, before = sum(len(source.data) for source in missing), 0
        self.arena.reserve(sum(texels_of(memory) for memory in missing if isinstance(memory, Table) and not memory.hot))
        for source in missing:
            pieces = self.arena.add(source) if isinstance(source, Table) and not source.hot else self._fill(source)
            for fraction in pieces:
                yield (before + fraction * len(source.data)) / max(1, total)
            before += len(source.data)

    def _fill(self, source: Source) -> Iterator[float]:
        """Upload a memory in pieces; yields the share done. One that is brought here meanwhile stays."""
        if self._held(source):
            return
        memory = Memory(self.device, source, self.layout(source), filled=False)
        yield from memory.fill()
        if self._held(source):
            memory.release()
        else:
            self._memories[id(source)] = memory

    def update(self, source: Table, first: int, last: int) -> None:
        """Upload rows first .. last - 1 of a table, changed in place, if it is on the device."""
        if last <= first or not self._held(source) or self._current(source) is not source:
            return
        if not source.hot:
            self.arena.update(source, first, last)
        else:
            self._memories[id(source)].update(first, last)

    def exchangeable(self, old: Source, new: Source) -> bool:
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
        if not self._held(old):
            return True
        if isinstance(old, Table) and isinstance(new, Table) and not old.hot:
            return self.arena.has_room(old, new)
        return self._memories[id(old)].has_room(new)

    def exchange(self, old: Source, new: Source) -> None:
        """Replace ``old`` by ``new`` and upload the rows that differ: existing programs read the new values from now
        on. They must be `exchangeable`."""
        if old is new:
            return
        uploaded = self._held(old)
        if self._held(new) and self._current(new) is new:  # already uploaded
            self.drop([new])
        self._stands_for.pop(id(new), None)
        for key, (reference, current) in list(self._stands_for.items()):
            if current is old:
                self._stands_for[key] = reference, new
        key = id(old)
        self._stands_for[key] = weakref.ref(old, lambda collected: self._collected(key, collected)), new
        if not uploaded:
            return
        if isinstance(old, Table) and isinstance(new, Table) and not new.hot:
            self.arena.exchange(old, new)
        else:
            memory = self._memories[id(new)] = self._memories.pop(id(old))
            memory.exchange(new)

    def _collected(self, key: int, collected: weakref.ref[Source]) -> None:
        """A replaced memory has no references left, in machines or elsewhere."""
        if key in self._stands_for and self._stands_for[key][0] is collected:
            del self._stands_for[key]

    def drop(self, sources: Iterable[Source]) -> None:
        """Free memories that no machine reads any more."""
        for source in sources:
            if self._stands_for.pop(id(source), None) is not None:
                continue
            for key in [key for key, (_, current) in self._stands_for.items() if current is source]:
                del self._stands_for[key]
            if isinstance(source, Table) and source in self.arena:
                self.arena.drop(source)
            elif id(source) in self._memories:
                self._memories.pop(id(source)).release()

    # -- streams -----------------------------------------------------------------------------------------------------

    def stream(self, name: str, record: Record, size: tuple[int, int]) -> Stream:
        """The stream of a name, W x H records, not cleared."""
        stream = self._streams.get(name)
        if stream is None or stream.record != record or stream.size != size:
            self.give_back(name)
            stream = self._streams[name] = Stream(self.device, record, size)
        return stream

    def give_back(self, name: str) -> None:
        """Free the stream of a name, if present."""
        stream = self._streams.pop(name, None)
        if stream is not None:
            stream.release()

    def beside(self, buffers: bool = True) -> Resources:
        """The same memories, with streams of its own; without ``buffers`` also hot tables and volumes, in 2-D and 3-D
        textures. `leave` frees its own."""
        resources = copy(self)
        resources._streams = {}
        if not buffers:
            resources._memories = {
                key: memory for key, memory in self._memories.items() if isinstance(memory.source, Texels)
            }
            resources._lent = frozenset(resources._memories)
        return resources

    def leave(self) -> None:
        """Free its own streams and memories, `beside` another one's."""
        self._release_streams()
        for key in [] if self._lent is None else self._memories.keys() - self._lent:
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
        self._stands_for.clear()
        self.settling.clear()
