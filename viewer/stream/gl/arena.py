"""The arena: a scene's cold tables in one float texture.

A table keeps its place while it is there: programs have its base as a uniform, set once. A dropped table leaves a gap
for the next table that fits.
"""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.addresses import IN_BUFFER, arena_row, texels_of
from raystream.stream.declare.kernel import Table
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import CHUNK, UPLOADS, BufferTexture, differing, packed_rows
from raystream.stream.gl.stream import float_texture

LEAST = 1 << 14  # texels of a new arena


class Arena:
    """One texture of RGBA32F texels: a buffer texture where the driver's are large, else a 2-D one that grows by rows.

    Tables are identified by object identity, and kept alive while they are here.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.row = arena_row(device.max_texture, device.max_buffer)
        self.texture: BufferTexture | moderngl.Texture | None = None
        self._room = 0  # texels of the texture
        self._places: dict[int, tuple[Table, int, int]] = {}  # by id: table, first texel, room in texels
        self._numbers: dict[int, int] = {}  # by id: of the upload
        self._gaps: list[tuple[int, int]] = []  # (first texel, texels), ascending
        self._end = 0
        self._age = 0  # changes whenever all places do

    @property
    def bytes(self) -> int:
        """Bytes of the texture."""
        return 16 * self._room

    def __contains__(self, table: Table) -> bool:
        return id(table) in self._places

    def tables(self) -> list[Table]:
        """The tables here."""
        return [table for table, _, _ in self._places.values()]

    def base(self, table: Table) -> int:
        """The first texel of a table, uploaded on first use."""
        if table not in self:
            for _ in self.add(table):
                pass
        return self._places[id(table)][1]

    def add(self, table: Table) -> Iterator[float]:
        """Upload a table in pieces of a few milliseconds; yields the share done. May be abandoned: the place counts
        only once complete. One that is brought here meanwhile stays. Raises DeviceError where the texture would exceed
        the driver's limit."""
        if table in self:
            return
        texels, count = texels_of(table), len(table.data)
        first, age = self._place(texels), self._age
        try:
            if not count:
                self._write(np.zeros((texels, 4), np.float32), first)
            for row in range(0, count, CHUNK):
                part = packed_rows(table, row, min(row + CHUNK, count))
                self._write(part.reshape(-1, 4), first + row * part.shape[1])
                yield min(1.0, (row + CHUNK) / count)
                if self._age != age:
                    break
        except BaseException:  # abandoned, too
            if self._age == age:
                self._free(first, texels)
            raise
        if self._age != age:  # all places have changed meanwhile
            yield from self.add(table)
        elif table in self:
            self._free(first, texels)
        else:
            self._places[id(table)] = table, first, texels
            self._numbers[id(table)] = next(UPLOADS)

    def upload_number(self, table: Table) -> int:
        """See `Resources.upload_number`."""
        return self._numbers[id(table)]

    def reserve(self, texels: int) -> None:
        """Have room for ``texels`` more behind the last table, at once: to grow for one table after the other copies
        all of them each time. Where that would exceed the driver's limit gaps may serve, or `add` tells."""
        total = self._end + texels
        if self._room < total <= self._most:
            self._grow(total, doubles=False)

    def update(self, table: Table, first: int, last: int) -> None:
        """Upload the rows first .. last - 1, changed in place."""
        part = packed_rows(table, first, last)
        self._write(part.reshape(-1, 4), self._places[id(table)][1] + first * part.shape[1])

    def has_room(self, old: Table, new: Table) -> bool:
        """Whether ``new`` would fit where ``old`` lies."""
        return texels_of(new) <= self._places[id(old)][2]

    def exchange(self, old: Table, new: Table) -> None:
        """Give one table's place to another; the rows that differ are uploaded."""
        _, first, room = self._places.pop(id(old))
        self._places[id(new)] = new, first, room
        self._numbers.pop(id(old), None)
        self._numbers[id(new)] = next(UPLOADS)
        changed = differing(old.data, new.data)
        if changed.start < changed.stop:
            self.update(new, changed.start, changed.stop)

    def drop(self, table: Table) -> None:
        """Free the table's place."""
        place = self._places.pop(id(table), None)
        self._numbers.pop(id(table), None)
        if place is not None:
            self._free(*place[1:])

    def compact(self) -> None:
        """Close the gaps by moving the remaining tables, where less than half of the texture is theirs; no program may
        still use their old places. In a buffer they move on the device: to pack and upload those of a million triangles
        takes seconds."""
        places = [(table, first, texels_of(table)) for table, first, _ in self._places.values()]  # no room to spare
        old = self.texture
        used = sum(texels for *_, texels in places)
        if 2 * used > self._end and self._room <= max(LEAST, 2 * used):
            return
        if not places or not isinstance(old, BufferTexture):
            self.release()
            for table, *_ in places:
                self.base(table)
            return
        numbers, self.texture = dict(self._numbers), None  # which stays until all are moved
        self.release()
        self._numbers = numbers
        self._room = max(sum(room for *_, room in places), LEAST)
        self.texture = moved = BufferTexture(self.device, self._room, 4)
        for table, first, room in places:
            place = self._place(room)
            copied = {"size": 16 * room, "read_offset": 16 * first, "write_offset": 16 * place}
            self.device.context.copy_buffer(moved.buffer, old.buffer, **copied)
            self._places[id(table)] = table, place, room
        old.release()

    def use(self, unit: int) -> None:
        """Bind to a texture unit."""
        assert self.texture is not None, "no table lies here"
        self.texture.use(unit)

    def release(self) -> None:
        """Free the texture."""
        if self.texture is not None:
            self.texture.release()
        self.texture, self._room, self._end, self._age = None, 0, 0, self._age + 1
        self._places.clear()
        self._numbers.clear()
        self._gaps.clear()

    def _place(self, texels: int) -> int:
        """The first of ``texels`` free texels."""
        for k, (first, room) in enumerate(self._gaps):
            if room >= texels:
                self._gaps[k : k + 1] = [(first + texels, room - texels)] if room > texels else []
                return first
        first = self._end
        if first + texels > self._room:
            self._grow(first + texels)
        self._end = first + texels
        return first

    def _free(self, first: int, texels: int) -> None:
        gaps: list[tuple[int, int]] = []
        for start, room in sorted([*self._gaps, (first, texels)]):
            if gaps and sum(gaps[-1]) == start:
                gaps[-1] = gaps[-1][0], gaps[-1][1] + room
            else:
                gaps.append((start, room))
        if gaps and sum(gaps[-1]) == self._end:
            self._end = gaps.pop()[0]
        self._gaps = gaps

    @property
    def _most(self) -> int:
        """Texels that the driver allows."""
        return self.device.max_buffer if self.row == IN_BUFFER else self.row * self.device.max_texture

    def _grow(self, least: int, doubles: bool = True) -> None:
        """Grow to at least ``least`` texels; ``doubles``: to twice as many as before, as far as the driver allows."""
        most = self._most
        if least > most:
            raise DeviceError("scene tables", f"{least:,} texels; this driver allows {most:,}", "use a smaller scene")
        texels = min(max(least, 2 * self._room * doubles, LEAST), most)
        if self.row == IN_BUFFER:
            if isinstance(self.texture, BufferTexture):
                self.texture.grow(texels)
            else:
                self.texture = BufferTexture(self.device, texels, 4)
            self._room = texels
            return
        rows = -(-texels // self.row)
        old, context = self.texture, self.device.context
        self.texture = float_texture(self.device, (self.row, rows))
        if isinstance(old, moderngl.Texture):
            target = context.framebuffer([self.texture])
            target.use()  # resets other scissors, which would clip the copy
            context.copy_framebuffer(target, context.framebuffer([old]))
            old.release()
        self._room = rows * self.row

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
            wide = min(self.row - x, len(texels)) if rows == 1 else self.row
            self.texture.write(np.ascontiguousarray(texels[: wide * rows]), (x, y, wide, rows))
            texels, first = texels[wide * rows :], first + wide * rows
