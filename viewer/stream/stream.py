"""Streams and memories on the device: records in float textures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.errors import DeviceError
from viewer.stream.device import Device
from viewer.stream.generate import Layout
from viewer.stream.kernel import Table, Volume
from viewer.stream.record import Record

LARGEST_STREAM = 1 << 20  # rays in flight: a larger picture is cut


def float_texture(device: Device, size: tuple[int, int], channels: int = 4, data: Any = None) -> moderngl.Texture:
    """A float32 texture that is read texel by texel."""
    texture = device.context.texture(size, channels, data, dtype="f4")
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    texture.repeat_x = texture.repeat_y = False
    return texture


class Stream:
    """W x H records, one RGBA32F texture for each four scalars. ``back`` textures are made when a machine asks."""

    def __init__(self, device: Device, record: Record, size: tuple[int, int], channels: int = 4) -> None:
        self.device, self.record, self.size, self.channels = device, record, size, channels
        self.textures = [float_texture(device, size, channels) for _ in range(record.texels)]
        self._back: list[moderngl.Texture] = []

    @property
    def back(self) -> list[moderngl.Texture]:
        """A second set of textures, for drivers on which a pass cannot read what it writes."""
        if not self._back and self.textures:
            self._back = [float_texture(self.device, self.size, self.channels) for _ in self.textures]
        return self._back

    @property
    def bytes(self) -> int:
        """Texture memory in use."""
        return 4 * self.channels * self.size[0] * self.size[1] * (len(self.textures) + len(self._back))

    def write(self, array: NDArray) -> None:
        """array: (H, W) structured of the record's dtype."""
        packed = self.record.pack(array)
        for k, texture in enumerate(self.textures):
            texture.write(np.ascontiguousarray(packed[..., k, : self.channels]))

    def write_texels(self, texels: Sequence[NDArray[np.float32]]) -> None:
        """One (H, W, channels) float32 array for each texture, already packed."""
        for texture, array in zip(self.textures, texels, strict=True):
            texture.write(np.ascontiguousarray(array, np.float32))

    def read_texels(self) -> NDArray[np.float32]:
        """(H, W, texels, 4) float32."""
        width, height = self.size
        out = np.zeros((height, width, len(self.textures), 4), np.float32)
        for k, texture in enumerate(self.textures):
            read = np.frombuffer(texture.read(), np.float32).reshape(height, width, self.channels)
            out[..., k, : self.channels] = read
        return out

    def read(self) -> NDArray:
        """(H, W) structured of the record's dtype."""
        return self.record.unpack(self.read_texels())

    def release(self) -> None:
        """Free the textures."""
        for texture in (*self.textures, *self._back):
            texture.release()


def layout(device_max: int, table: Table) -> Layout:
    """How a table lies over a texture: a power of two of records a row, so that no record straddles two rows."""
    texels = max(1, table.record.texels)
    channels = 4 if texels > 1 or table.record.scalars > 2 else table.record.scalars
    widest = min(device_max, 16384) // texels
    per_row = 1 << (widest.bit_length() - 1)
    # A small table needs no long row, and rows about as many as columns are kind to tiled textures.
    while per_row > 64 and (per_row // 2) * texels * 2 >= 64 and (per_row // 2) ** 2 * texels >= 2 * len(table.data):
        per_row //= 2
    rows = -(-max(1, len(table.data)) // per_row)
    if rows > device_max:
        raise DeviceError(
            f"memory {table.name}",
            f"{len(table.data):,} records of {texels} texels exceed a texture of {device_max} x {device_max}",
            "use a smaller scene",
        )
    return Layout(per_row, channels)


class Memory:
    """A table or volume in a texture."""

    def __init__(self, device: Device, source: Table | Volume) -> None:
        self.source = source
        if isinstance(source, Volume):
            depth, height, width = source.data.shape
            if max(source.data.shape) > device.max_volume:
                raise DeviceError(
                    f"memory {source.name}",
                    f"{width} x {height} x {depth} voxels; this driver's 3-D textures end at {device.max_volume}",
                    "use a coarser --grid",
                )
            self.texture: moderngl.Texture | moderngl.Texture3D = device.context.texture3d(
                (width, height, depth), 1, np.ascontiguousarray(source.data, np.float32), dtype="f4"
            )
            self.texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self.bytes = 4 * width * height * depth
            return
        self.layout = layout(device.max_texture, source)
        record, per_row, channels = source.record, self.layout.per_row, self.layout.channels
        texels = max(1, record.texels)
        rows = -(-max(1, len(source.data)) // per_row)
        packed = np.zeros((rows * per_row, texels, 4), np.float32)
        record.pack(source.data, packed[: len(source.data)])
        packed = np.ascontiguousarray(packed[..., :channels])
        self.texture = float_texture(device, (per_row * texels, rows), channels, packed)
        self.bytes = packed.nbytes

    def release(self) -> None:
        """Free the texture."""
        self.texture.release()
