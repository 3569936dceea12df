"""Memories on the device: read-only records with 1-D addresses, volumes of floats, and texels of pictures.

A memory is a buffer texture within the driver's limit: on software rasterisers primary rays take 1.5 times the CPU time
by 2-D textures (``tools/bench.py accel``). Beyond it, 2-D or 3-D textures: OpenGL 3.3 guarantees only 65,536 texels of
a buffer texture.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.memories import IN_BUFFER, Addressing, layout
from raystream.stream.declare.kernel import Table, Texels, Volume
from raystream.stream.gl.device import Device
from raystream.stream.gl.objects import PinnedBuffer, RawObject
from raystream.stream.gl.stream import Stream, float_texture

CHUNK = 1 << 16  # records or voxels packed and uploaded at once: a few milliseconds
_TEXTURE_BUFFER, _TEXTURE0 = 0x8C2A, 0x84C0
_FORMATS = {1: 0x822E, 2: 0x8230, 4: 0x8814}  # R32F, RG32F, RGBA32F: OpenGL 3.3's formats for buffer textures
_RGBA8 = 0x8058
MIN_PINNED_BYTES = 1 << 20  # of a buffer that a software driver gets as pages of the process
UPLOADS = itertools.count(1)  # numbers of uploads


class Memory:
    """A table or volume in a texture, in the device's best layout, or in that of ``addressing``.

    Without ``filled`` it has no values until `fill` is complete.
    """

    def __init__(
        self, device: Device, source: Table | Volume | Texels, addressing: Addressing | None = None, filled: bool = True
    ) -> None:
        self.device, self.source = device, source
        self.layout = addressing or layout(device.max_texture, source, device.max_buffer)
        self.texture: moderngl.Texture | moderngl.TextureArray | moderngl.Texture3D | BufferTexture
        if self.layout.per_row == IN_BUFFER:
            self.texture = BufferTexture(device, *self._texels(), bytes_only=isinstance(source, Texels))
            self.bytes = self.texture.bytes
        elif isinstance(source, Texels):
            self.texture, self.bytes = _texel_texture(device, source, self.layout)
        elif isinstance(source, Table):
            rows = -(-max(1, len(source.data)) // self.layout.per_row)
            size = self.layout.per_row * max(1, source.record.texels), rows
            self.texture = float_texture(device, size, self.layout.channels)
            self.bytes = 4 * self.layout.channels * size[0] * size[1]
        else:
            voxels = device.stored(np.ascontiguousarray(source.data, np.float32))
            self.texture, self.bytes = _volume_texture(device, source.name, voxels), voxels.nbytes
        self.number = next(UPLOADS)
        if filled:
            for _ in self.fill():
                pass

    def _texels(self) -> tuple[int, int]:
        """Texels of a buffer texture, and channels per texel."""
        if isinstance(self.source, Volume):
            return self.source.data.size, 1
        if isinstance(self.source, Texels):
            return max(1, len(self.source.data)), 4
        return max(1, self.source.record.texels) * max(1, len(self.source.data)), self.layout.channels

    def fill(self) -> Iterator[float]:
        """Upload piece by piece; yields the fraction done."""
        source = self.source
        if not isinstance(self.texture, BufferTexture):
            if isinstance(source, Table):
                yield from self._fill_rows(source)
            else:  # uploaded at construction
                yield 1.0
            return
        flat: NDArray
        flat = np.ascontiguousarray(source.data, np.float32).reshape(-1) if isinstance(source, Volume) else source.data
        if not len(flat):
            self.texture.write(np.zeros(self.bytes, np.uint8))
        offset = 0
        for first in range(0, len(flat), CHUNK):
            piece = flat[first : first + CHUNK]
            if isinstance(source, Table):
                piece = packed_rows(source, first, first + len(piece), self.layout.channels)
            elif isinstance(source, Texels):
                piece = np.ascontiguousarray(piece, np.uint8)
            self.texture.write(piece, offset)
            offset += piece.nbytes
            yield min(1.0, (first + CHUNK) / len(flat))

    def _fill_rows(self, table: Table) -> Iterator[float]:
        """As `fill`, by whole rows of a 2-D texture."""
        count, rows_at_once = max(1, len(table.data)), -(-CHUNK // self.layout.per_row) * self.layout.per_row
        for first in range(0, count, rows_at_once):
            self.update(first, min(first + rows_at_once, count))
            yield min(1.0, (first + rows_at_once) / count)

    def update(self, first: int, last: int) -> None:
        """Upload the rows first .. last - 1 of a table, changed in place."""
        assert isinstance(self.source, Table)
        texels, count, per_row = max(1, self.source.record.texels), len(self.source.data), self.layout.per_row
        if per_row != IN_BUFFER:  # whole rows of the texture
            first, last = first - first % per_row, -(-last // per_row) * per_row
        packed = np.zeros((last - first, texels, 4), np.float32)
        rows = self.source.data[first : min(last, count)]
        self.source.record.pack(rows, packed[: len(rows)])
        values = self.device.stored(np.ascontiguousarray(packed[..., : self.layout.channels]))
        if isinstance(self.texture, BufferTexture):
            self.texture.write(values, 4 * self.layout.channels * texels * first)
        elif isinstance(self.texture, moderngl.Texture):
            self.texture.write(values, (0, first // per_row, per_row * texels, (last - first) // per_row))

    def fits(self, source: Table | Volume | Texels) -> bool:
        """Whether another source fits in this texture, possibly grown, under the same name and layout."""
        if isinstance(source, Table) and isinstance(self.texture, moderngl.Texture):
            return -(-max(1, len(source.data)) // self.layout.per_row) <= self.texture.height
        if isinstance(source, Texels) and not isinstance(self.texture, BufferTexture):
            return np.array_equal(source.data, self.source.data)
        return isinstance(source, Table) or source.data.shape == self.source.data.shape

    def exchange(self, source: Table | Volume | Texels) -> None:
        """Replace the source by one for which it `fits`; differences are uploaded."""
        old, self.source = self.source, source
        self.number = next(UPLOADS)
        if isinstance(self.texture, BufferTexture):
            texels, _ = self._texels()
            if self.texture.texels < texels:
                self.texture.grow(texels)
                self.bytes = self.texture.bytes
        changed = differing(old.data, source.data)
        if changed.start == changed.stop:
            return
        if isinstance(source, Table):
            self.update(changed.start, changed.stop)
        elif isinstance(self.texture, moderngl.Texture3D):
            self.texture.write(self.device.stored(np.ascontiguousarray(source.data, np.float32)))
        else:
            for _ in self.fill():
                pass

    def fill_from_stream(self, stream: Stream, count: int) -> None:
        """Copy the first ``count`` elements of a stream of numbers, in row order, on the device, into the records or
        voxels, of one number each. A table grows as needed, in 2-D into another texture."""
        assert self.layout.channels == 1 and count <= stream.size[0] * stream.size[1]
        if isinstance(self.texture, BufferTexture):
            if self.texture.texels < count:
                self.texture.grow(count)
                self.bytes = self.texture.bytes
            _read_rows(stream, count, self.texture.buffer)
            return
        texture = self.texture
        if isinstance(texture, moderngl.Texture):
            width, rows = self.layout.per_row, max(1, -(-count // self.layout.per_row))
            if rows > texture.height:
                texture.release()
                texture = self.texture = float_texture(self.device, (width, rows), 1)
                self.bytes = 4 * width * rows
        buffer = self.device.context.buffer(reserve=self.bytes)
        _read_rows(stream, count, buffer)
        if isinstance(texture, moderngl.Texture):
            texture.write(buffer, (0, 0, width, rows))
        else:
            texture.write(buffer)
        buffer.release()

    def release(self) -> None:
        """Free the texture."""
        self.texture.release()


def _read_rows(stream: Stream, count: int, buffer: moderngl.Buffer) -> None:
    """Copy the first ``count`` numbers of a stream to a buffer, on the device."""
    width = stream.size[0]
    rows, remainder = divmod(count, width)
    for box in ((0, 0, width, rows), (0, rows, remainder, 1)):
        if box[2] * box[3]:
            stream.framebuffer.read_into(buffer, box, 1, dtype="f4", write_offset=4 * width * box[1])


def differing(old: NDArray, new: NDArray) -> slice:
    """The rows (N, ...) from the first to the last one that differ in any bit; all of ``new`` if the lengths differ."""
    if old is new:
        return slice(0, 0)
    if len(old) != len(new) or not len(new):
        return slice(0, len(new))
    old_bytes, new_bytes = (np.ascontiguousarray(rows).reshape(len(rows), -1).view(np.uint8) for rows in (old, new))
    changed = np.flatnonzero((old_bytes != new_bytes).any(axis=1))
    return slice(int(changed[0]), int(changed[-1]) + 1) if len(changed) else slice(0, 0)


def packed_rows(table: Table, first: int, last: int, channels: int = 4) -> NDArray[np.float32]:
    """(rows, texels, channels) float32 of the rows first .. last - 1 of a table."""
    texels = np.zeros((last - first, max(1, table.record.texels), 4), np.float32)
    table.record.pack(table.data[first:last], texels)
    return np.ascontiguousarray(texels[..., :channels])


class BufferTexture:
    """``texels`` texels of 1, 2 or 4 floats, or of 4 bytes for 0 .. 1, as a buffer texture. Raw calls, as moderngl has
    no wrapper; it binds like a texture."""

    def __init__(self, device: Device, texels: int, channels: int, bytes_only: bool = False) -> None:
        unsigned = ctypes.c_uint
        self.device = device
        self._format = _RGBA8 if bytes_only else _FORMATS[channels]
        self._texel_bytes = (1 if bytes_only else 4) * channels
        self._active = device.require("glActiveTexture", unsigned)
        self._bind = device.require("glBindTexture", unsigned, unsigned)
        self._object = RawObject(device, "Texture")
        self._pinned: PinnedBuffer | None = None
        self.buffer = self._allocate(texels)

    def _allocate(self, texels: int) -> moderngl.Buffer:
        """A new buffer of ``texels``, attached to the texture."""
        self.texels, self.bytes = texels, self._texel_bytes * texels
        if self.bytes >= MIN_PINNED_BYTES and PinnedBuffer.is_supported(self.device):
            self._pinned = PinnedBuffer(self.device, self.bytes)
            return self._attach(self._pinned.buffer)
        return self._attach(self.device.context.buffer(reserve=max(self.bytes, 16)))

    def _attach(self, buffer: moderngl.Buffer) -> moderngl.Buffer:
        unsigned = ctypes.c_uint
        self.use(0)
        attach = self.device.require("glTexBuffer", unsigned, unsigned, unsigned)
        attach(_TEXTURE_BUFFER, self._format, buffer.glo)
        return buffer

    def grow(self, texels: int) -> None:
        """Grow to more texels, with the same content and texture name."""
        if self._pinned is not None:
            self._pinned.grow(self._texel_bytes * texels)
            self.texels, self.bytes = texels, self._texel_bytes * texels
            self.buffer = self._attach(self._pinned.buffer)
            return
        old, size = self.buffer, self.bytes
        self.buffer = self._allocate(texels)
        self.device.context.copy_buffer(self.buffer, old, size)
        old.release()

    def write(self, values: NDArray[np.float32] | NDArray[np.uint8], offset: int = 0) -> None:
        """Write from a byte offset on."""
        self.buffer.write(values, offset=offset)

    def use(self, unit: int) -> None:
        """Bind to a texture unit."""
        self._active(_TEXTURE0 + unit)
        self._bind(_TEXTURE_BUFFER, self._object.name)

    def release(self) -> None:
        """Free the texture and its buffer."""
        self._object.release()
        self.buffer.release()
        if self._pinned is not None:
            self._pinned.release()


def _texel_texture(
    device: Device, source: Texels, layout: Addressing
) -> tuple[moderngl.Texture | moderngl.TextureArray, int]:
    """The texels in rows of a 2-D texture or array texture, and its bytes."""
    per_row = layout.per_row
    if layout.layers:
        layers = device.context.texture_array((per_row, per_row, layout.layers), 4)
        for layer in range(layout.layers):
            page = np.zeros((per_row * per_row, 4), np.uint8)
            texels = source.data[layer * len(page) : (layer + 1) * len(page)]
            page[: len(texels)] = texels
            layers.write(page, (0, 0, layer, per_row, per_row, 1))
        layers.filter = (moderngl.NEAREST, moderngl.NEAREST)
        return layers, 4 * per_row * per_row * layout.layers
    rows = max(1, -(-len(source.data) // per_row))
    packed = np.zeros((rows * per_row, 4), np.uint8)
    packed[: len(source.data)] = source.data
    texture = device.context.texture((per_row, rows), 4, packed)
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    return texture, packed.nbytes


def _volume_texture(device: Device, name: str, texels: NDArray[np.float32]) -> moderngl.Texture3D:
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
