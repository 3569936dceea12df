"""Addresses of memories in generated programs: the layout of each, and a cold table's base in the arena.

Hot memories, read in every traversal step, have a texture each. A scene's cold tables share one float texture, the
*arena*, so that no step reads from many samplers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from raystream.base.errors import DeviceError
from raystream.stream.declare.kernel import Table, Texels, Volume
from raystream.stream.declare.record import SMALL

WIDEST = 16384  # texels of a row in use: enough for 2^24 records of up to 16 texels in as many rows
MOST_LAYERS = 256  # of a 2-D array texture, guaranteed by OpenGL 3.3
IN_BUFFER = 0  # `Addressing.per_row` of a buffer texture


@dataclass(frozen=True)
class Addressing:
    """Addressing of a memory: ``per_row`` records (a power of two) in a row of a 2-D texture, 0 in a buffer texture.

    channels : per texel. layers : of a 2-D array texture, with equal rows; 0: not an array. large : more records than
    `SMALL`.
    """

    per_row: int
    channels: int
    layers: int = 0
    large: bool = False


class Addresses(Protocol):
    """The generator's view of the placement of memories.

    A cold table's base in the arena is not part of a program but a uniform, `Resources.base` of the table.
    """

    @property
    def arena_row(self) -> int:
        """Texels in a row of the arena, a power of two; 0 for a buffer texture."""

    def layout(self, memory: Table | Volume | Texels) -> Addressing:
        """The layout of a memory with a texture of its own."""


class PlannedAddresses:
    """Addresses planned from a driver's limits, without OpenGL."""

    def __init__(self, largest: int, buffer_texels: int = 0) -> None:
        """largest: edge of a 2-D texture. buffer_texels: of a buffer texture."""
        self.largest, self.buffer_texels = largest, buffer_texels

    @property
    def arena_row(self) -> int:
        """See `Addresses`."""
        return arena_row(self.largest, self.buffer_texels)

    def layout(self, memory: Table | Volume | Texels) -> Addressing:
        """See `Addresses`."""
        return layout(self.largest, memory, self.buffer_texels)


def texels_of(table: Table) -> int:
    """Texels of a table in the arena; an empty one has room for one record, so that address 0 is valid."""
    return max(1, table.record.texels) * max(1, len(table.data))


def arena_row(largest: int, buffer_texels: int) -> int:
    """`Addresses.arena_row`: a buffer texture where the driver's are larger than OpenGL 3.3 guarantees."""
    return IN_BUFFER if buffer_texels >= 1 << 24 else 1 << min(largest, WIDEST).bit_length() - 1


def layout(largest: int, memory: Table | Volume | Texels, buffer_texels: int = 0) -> Addressing:
    """The layout of a memory. largest: edge of a 2-D texture; buffer_texels: of a buffer texture; both the driver's.

    In 2-D a row holds a power of two of records, so that none straddles two rows.
    """
    if isinstance(memory, Volume):
        return Addressing(IN_BUFFER if memory.data.size <= buffer_texels else 1, 1)
    if isinstance(memory, Texels):
        return _texel_layout(largest, memory, buffer_texels)
    texels, count = max(1, memory.record.texels), max(1, len(memory.data))
    channels = 4 if texels > 1 or memory.record.scalars > 2 else memory.record.scalars
    if texels * count <= buffer_texels:
        return Addressing(IN_BUFFER, channels, large=count > SMALL)
    per_row = 1 << (min(largest, WIDEST) // texels).bit_length() - 1
    # A small table needs no long row; about square suits tiled textures.
    while per_row > 64 and (per_row // 2) ** 2 * texels >= 2 * count:
        per_row //= 2
    if -(-count // per_row) > largest:
        raise DeviceError(
            f"memory {memory.name}",
            f"{count:,} records of {texels} texels exceed a texture of {largest} x {largest}",
            "use a smaller scene",
        )
    return Addressing(per_row, channels, large=count > SMALL)


def _texel_layout(largest: int, memory: Texels, buffer_texels: int) -> Addressing:
    count = max(1, len(memory.data))
    if count <= buffer_texels:
        return Addressing(IN_BUFFER, 4)
    per_row = 1 << min(largest, WIDEST).bit_length() - 1
    while per_row > 64 and (per_row // 2) ** 2 >= 2 * count:
        per_row //= 2
    if count <= per_row * per_row or -(-count // per_row) <= largest:
        return Addressing(per_row, 4)
    layers = -(-count // per_row**2)
    if layers > MOST_LAYERS:
        what = f"{count:,} texels exceed {MOST_LAYERS} textures of {per_row} x {per_row}"
        raise DeviceError(f"memory {memory.name}", what, "reduce the images by --max-texture")
    return Addressing(per_row, 4, layers)
