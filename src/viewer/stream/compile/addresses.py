"""Where memories lie, as generated programs must know it: the layout of each, and a cold table's base in the arena.

Hot memories (what a traversal reads in every step) have a texture each. The cold tables of a scene lie one behind the
other in one float texture, the *arena*, so that no step reads from many samplers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from viewer.base.errors import DeviceError
from viewer.stream.declare.kernel import Table, Texels, Volume

WIDEST = 16384  # texels of a row that are of use: 2^24 records of up to 16 texels then need no more rows than that
MOST_LAYERS = 256  # of a 2-D array texture, that every OpenGL 3.3 grants
IN_BUFFER = 0  # `Layout.per_row` of a buffer texture


@dataclass(frozen=True)
class Layout:
    """Addressing of a memory: ``per_row`` records (a power of two) in a row of a 2-D texture, 0 in a buffer texture.

    channels : of a texel. layers : of a 2-D array texture, each of as many rows; 0: it is no such.
    """

    per_row: int
    channels: int
    layers: int = 0


class Addresses(Protocol):
    """What the generator asks of whoever places memories.

    Where a cold table begins in the arena is no part of a program: that is a uniform, `Resources.base` of the table.
    """

    @property
    def arena_row(self) -> int:
        """Texels in a row of the arena, a power of two; 0 where it is a buffer texture."""

    def layout(self, memory: Table | Volume | Texels) -> Layout:
        """How a memory with a texture of its own lies."""


class PlannedAddresses:
    """Addresses by what a driver allows, without OpenGL."""

    def __init__(self, largest: int, buffer_texels: int = 0) -> None:
        """largest: edge of a 2-D texture. buffer_texels: of a buffer texture."""
        self.largest, self.buffer_texels = largest, buffer_texels

    @property
    def arena_row(self) -> int:
        """See `Addresses`."""
        return arena_row(self.largest, self.buffer_texels)

    def layout(self, memory: Table | Volume | Texels) -> Layout:
        """See `Addresses`."""
        return layout(self.largest, memory, self.buffer_texels)


def texels_of(table: Table) -> int:
    """Texels of a table in the arena; an empty one has room for a record, so that address 0 is one."""
    return max(1, table.record.texels) * max(1, len(table.data))


def arena_row(largest: int, buffer_texels: int) -> int:
    """`Addresses.arena_row`: a buffer texture where the driver's are large, beyond what every OpenGL 3.3 grants."""
    return IN_BUFFER if buffer_texels >= 1 << 24 else 1 << min(largest, WIDEST).bit_length() - 1


def layout(largest: int, memory: Table | Volume | Texels, buffer_texels: int = 0) -> Layout:
    """How a memory lies: largest edge of a 2-D texture, and texels of a buffer texture, that the driver allows.

    In 2-D a row holds a power of two of records, so that none straddles two rows.
    """
    if isinstance(memory, Volume):
        return Layout(IN_BUFFER if memory.data.size <= buffer_texels else 1, 1)
    if isinstance(memory, Texels):
        return _texel_layout(largest, memory, buffer_texels)
    texels, count = max(1, memory.record.texels), max(1, len(memory.data))
    channels = 4 if texels > 1 or memory.record.scalars > 2 else memory.record.scalars
    if texels * count <= buffer_texels:
        return Layout(IN_BUFFER, channels)
    per_row = 1 << (min(largest, WIDEST) // texels).bit_length() - 1
    # A small table needs no long row, and rows about as many as columns are kind to tiled textures.
    while per_row > 64 and (per_row // 2) ** 2 * texels >= 2 * count:
        per_row //= 2
    if -(-count // per_row) > largest:
        raise DeviceError(
            f"memory {memory.name}",
            f"{count:,} records of {texels} texels exceed a texture of {largest} x {largest}",
            "use a smaller scene",
        )
    return Layout(per_row, channels)


def _texel_layout(largest: int, memory: Texels, buffer_texels: int) -> Layout:
    count = max(1, len(memory.data))
    if count <= buffer_texels:
        return Layout(IN_BUFFER, 4)
    per_row = 1 << min(largest, WIDEST).bit_length() - 1
    while per_row > 64 and (per_row // 2) ** 2 >= 2 * count:
        per_row //= 2
    if count <= per_row * per_row or -(-count // per_row) <= largest:
        return Layout(per_row, 4)
    layers = -(-count // per_row**2)
    if layers > MOST_LAYERS:
        what = f"{count:,} texels exceed {MOST_LAYERS} textures of {per_row} x {per_row}"
        raise DeviceError(f"memory {memory.name}", what, "reduce the images by --max-texture")
    return Layout(per_row, 4, layers)
