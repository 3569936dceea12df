"""Memories on the device: read-only records with 1-D addresses, volumes of floats, and texels of pictures.

A memory lies in a buffer texture where the driver allows one that large: software rasterisers fetch from it about twice
as fast as from a 2-D texture (``tools/bench.py memory``). Else it lies in 2-D textures, or a 3-D one: OpenGL 3.3 grants
a buffer texture 65,536 texels only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import DeviceError
from viewer.stream.compile.generate import Layout, joined_bases
from viewer.stream.declare.kernel import Table, Texels, Volume
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import float_texture

WIDEST = 16384  # texels of a row that are of use: 2^24 records of up to 16 texels then need no more rows than that
IN_BUFFER = 0  # `Layout.per_row` of a buffer texture
CHUNK = 1 << 16  # records or voxels that are packed and uploaded at once: a few milliseconds
_TEXTURE_BUFFER, _TEXTURE0 = 0x8C2A, 0x84C0
_FORMATS = {1: 0x822E, 2: 0x8230, 4: 0x8814}  # R32F, RG32F, RGBA32F: those that 3.3 has for buffer textures
_RGBA8 = 0x8058


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
    if -(-count // per_row) > largest:
        raise DeviceError(
            f"memory {memory.name}", f"{count:,} texels exceed a texture of {largest} x {largest}", "use smaller images"
        )
    return Layout(per_row, 4)


def layouts(device: Device) -> Callable[[Table | Volume | Texels], Layout]:
    """`layout` by what a device allows."""
    return lambda memory: layout(device.max_texture, memory, device.max_buffer)


class Memory:
    """A table or volume in a texture, laid out as the device allows best, or as ``form`` says.

    Not ``filled`` it holds no values until `fill` has run to its end.
    """

    def __init__(
        self, device: Device, source: Table | Volume | Texels, form: Layout | None = None, filled: bool = True
    ) -> None:
        self.source = source
        self.layout = form or layouts(device)(source)
        self.texture: moderngl.Texture | moderngl.Texture3D | BufferTexture
        if self.layout.per_row == IN_BUFFER:
            self.texture = BufferTexture(device, *self._texels(), bytes_only=isinstance(source, Texels))
            self.bytes = self.texture.bytes
        elif isinstance(source, Texels):
            self.texture, self.bytes = _picture(device, source, self.layout.per_row)
        else:  # drivers whose buffer textures are that small have a GPU, which takes it at once
            texels = self._pack(source) if isinstance(source, Table) else np.ascontiguousarray(source.data, np.float32)
            self.texture = (
                float_texture(device, (texels.shape[1], len(texels)), self.layout.channels, texels)
                if isinstance(source, Table)
                else _volume(device, source.name, texels)
            )
            self.bytes = texels.nbytes
        if filled:
            for _ in self.fill():
                pass

    def _texels(self) -> tuple[int, int]:
        """Texels of a buffer texture, and channels of each."""
        if isinstance(self.source, Volume):
            return self.source.data.size, 1
        if isinstance(self.source, Texels):
            return max(1, len(self.source.data)), 4
        return max(1, self.source.record.texels) * max(1, len(self.source.data)), self.layout.channels

    def fill(self) -> Iterator[float]:
        """Upload piece by piece; yields the share that is done."""
        if not isinstance(self.texture, BufferTexture):
            return
        source = self.source
        flat: NDArray
        flat = np.ascontiguousarray(source.data, np.float32).reshape(-1) if isinstance(source, Volume) else source.data
        if not len(flat):
            self.texture.write(np.zeros(self.bytes, np.uint8))
        offset = 0
        for first in range(0, len(flat), CHUNK):
            part = flat[first : first + CHUNK]
            if isinstance(source, Table):
                texels = np.zeros((len(part), max(1, source.record.texels), 4), np.float32)
                source.record.pack(part, texels)
                part = np.ascontiguousarray(texels[..., : self.layout.channels])
            elif isinstance(source, Texels):
                part = np.ascontiguousarray(part, np.uint8)
            self.texture.write(part, offset)
            offset += part.nbytes
            yield min(1.0, (first + CHUNK) / len(flat))

    def update(self, first: int, last: int) -> None:
        """Upload the rows first .. last - 1 of a table anew, which has changed in place."""
        assert isinstance(self.source, Table)
        texels, count, per_row = max(1, self.source.record.texels), len(self.source.data), self.layout.per_row
        if per_row != IN_BUFFER:  # whole rows of the texture
            first, last = first - first % per_row, -(-last // per_row) * per_row
        packed = np.zeros((last - first, texels, 4), np.float32)
        part = self.source.data[first : min(last, count)]
        self.source.record.pack(part, packed[: len(part)])
        values = np.ascontiguousarray(packed[..., : self.layout.channels])
        if isinstance(self.texture, BufferTexture):
            self.texture.write(values, 4 * self.layout.channels * texels * first)
        elif isinstance(self.texture, moderngl.Texture):
            self.texture.write(values, (0, first // per_row, per_row * texels, (last - first) // per_row))

    def _pack(self, table: Table) -> NDArray[np.float32]:
        """(rows, texels of a row, channels) float32."""
        texels, count, per_row = max(1, table.record.texels), max(1, len(table.data)), self.layout.per_row
        rows = -(-count // per_row)
        packed = np.zeros((rows * per_row, texels, 4), np.float32)
        table.record.pack(table.data, packed[: len(table.data)])
        return np.ascontiguousarray(packed[..., : self.layout.channels]).reshape(rows, per_row * texels, -1)

    def release(self) -> None:
        """Free the texture."""
        self.texture.release()


class Joined:
    """Tables that share a buffer texture, one behind the other in four channels; see `Bound.joined`."""

    def __init__(self, device: Device, tables: Sequence[Table]) -> None:
        self.tables = tuple(tables)
        self.bases = joined_bases(tables)
        last = self.tables[-1]
        self.texture = BufferTexture(device, self.bases[id(last)] + last.record.texels * max(1, len(last.data)), 4)
        self.texture.write(np.zeros(self.texture.bytes, np.uint8))
        for table in self.tables:
            self.update(table, 0, len(table.data))

    @property
    def bytes(self) -> int:
        """Of the texture."""
        return self.texture.bytes

    def update(self, table: Table, first: int, last: int) -> None:
        """Upload rows first .. last - 1 of one of the tables."""
        if last > first:
            packed = np.ascontiguousarray(table.record.pack(table.data[first:last]))
            self.texture.write(packed, 16 * (self.bases[id(table)] + first * table.record.texels))

    def release(self) -> None:
        """Free the texture."""
        self.texture.release()


class BufferTexture:
    """So many texels of 1, 2 or 4 floats, or of 4 bytes that stand for 0 .. 1, as a buffer texture, which moderngl does
    not wrap: raw calls. It binds like a texture."""

    def __init__(self, device: Device, texels: int, channels: int, bytes_only: bool = False) -> None:
        unsigned = ctypes.c_uint
        self.bytes = (1 if bytes_only else 4) * channels * texels
        self.buffer = device.context.buffer(reserve=max(self.bytes, 16))
        self._active = device.require("glActiveTexture", unsigned)
        self._bind = device.require("glBindTexture", unsigned, unsigned)
        self._delete = device.require("glDeleteTextures", ctypes.c_int, ctypes.POINTER(unsigned))
        self._name = unsigned(0)
        device.require("glGenTextures", ctypes.c_int, ctypes.POINTER(unsigned))(1, ctypes.byref(self._name))
        self.use(0)
        attach = device.require("glTexBuffer", unsigned, unsigned, unsigned)
        attach(_TEXTURE_BUFFER, _RGBA8 if bytes_only else _FORMATS[channels], self.buffer.glo)

    def write(self, values: NDArray[np.float32] | NDArray[np.uint8], offset: int = 0) -> None:
        """Fill from a byte on."""
        self.buffer.write(values, offset=offset)

    def use(self, unit: int) -> None:
        """Bind to a texture unit."""
        self._active(_TEXTURE0 + unit)
        self._bind(_TEXTURE_BUFFER, self._name)

    def release(self) -> None:
        """Free the texture and its buffer."""
        self._delete(1, ctypes.byref(self._name))
        self.buffer.release()


def _picture(device: Device, source: Texels, per_row: int) -> tuple[moderngl.Texture, int]:
    """The texels in rows of a 2-D texture, and its bytes."""
    rows = max(1, -(-len(source.data) // per_row))
    packed = np.zeros((rows * per_row, 4), np.uint8)
    packed[: len(source.data)] = source.data
    texture = device.context.texture((per_row, rows), 4, packed)
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    return texture, packed.nbytes


def _volume(device: Device, name: str, texels: NDArray[np.float32]) -> moderngl.Texture3D:
    depth, height, width = texels.shape
    if max(texels.shape) > device.max_volume:
        raise DeviceError(
            f"memory {name}",
            f"{width} x {height} x {depth} voxels; this driver's 3-D textures end at {device.max_volume}",
            "use a coarser --grid",
        )
    texture = device.context.texture3d((width, height, depth), 1, texels, dtype="f4")
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    return texture
