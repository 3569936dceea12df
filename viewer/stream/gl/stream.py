"""Streams on the device: records in float textures."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.stream.declare.record import FieldSlice, Record
from raystream.stream.gl.device import Device, in_context
from raystream.stream.gl.objects import Readback

LARGEST_STREAM = 1 << 20  # rays in flight; larger pictures are split


def float_texture(device: Device, size: tuple[int, int], channels: int = 4, data: Any = None) -> moderngl.Texture:
    """A float32 texture for fetches of single texels."""
    texture = device.context.texture(size, channels, data, dtype="f4")
    texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
    texture.repeat_x = texture.repeat_y = False
    return texture


def components(array: NDArray, dimensions: int) -> Iterator[NDArray]:
    """The components of vectors (..., width), each (...), or the array itself if it has ``dimensions`` dimensions.
    NumPy copies a component in one long loop, whole vectors in many short ones."""
    if array.ndim == dimensions:
        yield array
    else:
        yield from (array[..., k] for k in range(array.shape[-1]))


class Stream:
    """W x H records, one RGBA32F texture per four scalars. ``back`` textures are made on request.

    Records are read, written, cleared and released whichever context is current; the rest needs the device's.
    """

    def __init__(self, device: Device, record: Record, size: tuple[int, int], channels: int = 4) -> None:
        self.device, self.record, self.size, self.channels = device, record, size, channels
        self.textures = [float_texture(device, size, channels) for _ in range(record.texels)]
        self._back: list[moderngl.Texture] = []
        self._clearing: dict[int, moderngl.Framebuffer] = {}
        self._framebuffer: moderngl.Framebuffer | None = None

    @classmethod
    def over(cls, device: Device, record: Record, texture: moderngl.Texture) -> Stream:
        """A stream of one-texel records over another owner's RGBA32F texture, which it does not release."""
        stream = cls.__new__(cls)
        stream.device, stream.record, stream.size, stream.channels = device, record, texture.size, 4
        stream.textures, stream._back, stream._clearing, stream._framebuffer = [texture], [], {}, None
        return stream

    @property
    def back(self) -> list[moderngl.Texture]:
        """A second set of textures, for drivers where a pass cannot read its own output."""
        if not self._back and self.textures:
            self._back = [float_texture(self.device, self.size, self.channels) for _ in self.textures]
        return self._back

    @property
    def bytes(self) -> int:
        """Texture memory in use."""
        return 4 * self.channels * self.size[0] * self.size[1] * (len(self.textures) + len(self._back))

    @property
    def framebuffer(self) -> moderngl.Framebuffer:
        """All textures as the attachments of one framebuffer."""
        if self._framebuffer is None:
            self._framebuffer = self.device.context.framebuffer(self.textures)
        return self._framebuffer

    @in_context
    def write(self, array: NDArray) -> None:
        """array: (H, W) structured of the record's dtype."""
        packed = self.record.pack(array)
        for k, texture in enumerate(self.textures):
            texture.write(self.device.stored(np.ascontiguousarray(packed[..., k, : self.channels])))

    @in_context
    def write_texels(self, texels: Sequence[NDArray[np.float32]]) -> None:
        """One (H, W, channels) float32 array for each texture, already packed."""
        for texture, array in zip(self.textures, texels, strict=True):
            texture.write(self.device.stored(np.ascontiguousarray(array, np.float32)))

    @in_context
    def read_texels(self) -> NDArray[np.float32]:
        """(H, W, texels, 4) float32."""
        width, height = self.size
        out = np.zeros((height, width, len(self.textures), 4), np.float32)
        for k in range(len(self.textures)):
            out[..., k, : self.channels] = self._texels(k)
        return out

    def read(self) -> NDArray:
        """(H, W) structured of the record's dtype."""
        out = np.zeros(self.size[::-1], self.record.dtype)
        for name, values in self.fields().items():
            with np.errstate(invalid="ignore"):  # unwritten elements may hold anything on some drivers
                for target, source in zip(components(out[name], 2), components(values, 2), strict=True):
                    target[...] = source
        return out

    @in_context
    def fields(
        self, names: Collection[str] | None = None, out: Mapping[str, NDArray[np.float32]] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Fields by name (by default all), (H, W) or (H, W, width) float32 as stored, integers too: views of the
        textures read, no others.

        out : contiguous arrays (h, W) or (h, W, width) float32 for the first rows of some fields. A field that alone is
        read from the start of its texture goes directly into its array, which is returned.
        """
        slices = [piece for piece in self.record.slices if names is None or piece.field.name in names]
        widths: dict[int, int] = {}  # number of leading components to read from each texture
        for piece in slices:
            widths[piece.texel] = max(widths.get(piece.texel, 0), piece.component + piece.size)
        # Only the first field of a texture ends at its own width.
        array_of = {
            r.texel: (out or {}).get(r.field.name) for r in slices if widths[r.texel] == r.size == r.field.width
        }
        texels = {index: self._texels(index, widths[index], array_of.get(index)) for index in sorted(widths)}
        return _fields_of_texels(slices, texels)

    def read_fields_stepwise(self, names: Collection[str]) -> Generator[None, None, dict[str, NDArray[np.float32]]]:
        """The generator's result is `fields` by name; it yields while the texels are not there, and never waits."""
        slices = [piece for piece in self.record.slices if piece.field.name in names]
        with self.device.current():
            readbacks = {piece.texel: Readback(self.device, self.textures[piece.texel]) for piece in slices}
        while True:
            with self.device.current():
                if all(readback.ready for readback in readbacks.values()):
                    return _fields_of_texels(slices, {index: readback.read() for index, readback in readbacks.items()})
            self.device.failed_polls += 1
            yield

    def _texels(
        self, index: int, width: int | None = None, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """(H, W, width) float32: the first components of a texture (by default all), packed by the driver; ``out``: its
        first rows alone, into that array. By a framebuffer, see `read_texture`."""
        width, (columns, rows) = width or self.channels, self.size
        self.device.waits += 1
        if out is None:
            out = np.empty((rows, columns, width), np.float32)
        box = (0, 0, columns, out.shape[0])
        self.framebuffer.read_into(out, box, components=width, attachment=index, dtype="f4")
        return out.reshape(-1, columns, width)

    @in_context
    def clear(self, texels: Sequence[Sequence[float]] = (), rays: int | None = None) -> None:
        """Fill the first ``rays`` elements (by default all) in row order with ``texels``, one per texture (zeros by
        default), on the device."""
        width, height = self.size
        rows, remainder = (height, 0) if rays is None else divmod(rays, width)
        for k in range(len(self.textures)):
            red, green, blue, alpha = texels[k] if texels else (0.0, 0.0, 0.0, 0.0)
            value = (float(red), float(green), float(blue), float(alpha))
            if rows:
                self._only_attachment(k).clear(viewport=None if rows == height else (0, 0, width, rows), color=value)
            if remainder:
                self._only_attachment(k).clear(viewport=(0, rows, remainder, 1), color=value)

    def _only_attachment(self, index: int) -> moderngl.Framebuffer:
        """The framebuffer of a single texture, made the one in use: the scissors of another one would clip a clear."""
        target = self._clearing.get(index)
        if target is None:
            target = self._clearing[index] = self.device.context.framebuffer([self.textures[index]])
        target.use()
        return target

    @in_context
    def release(self) -> None:
        """Free the textures. Framebuffers are freed with their last reference: moderngl would bind a released one
        again."""
        self._clearing.clear()
        self._framebuffer = None
        for texture in (*self.textures, *self._back):
            texture.release()


def _fields_of_texels(
    slices: Sequence[FieldSlice], texels: Mapping[int, NDArray[np.float32]]
) -> dict[str, NDArray[np.float32]]:
    """Fields by name, (H, W) or (H, W, width), from texels (H, W, components) by texture index."""
    fields: dict[str, NDArray[np.float32]] = {}
    for piece in slices:
        values, name = texels[piece.texel][..., piece.component : piece.component + piece.size], piece.field.name
        if piece.size < piece.field.width:  # split over the gaps of several
            fields.setdefault(name, np.empty((*values.shape[:2], piece.field.width), np.float32))
            fields[name][..., piece.first : piece.first + piece.size] = values
        else:
            fields[name] = values if piece.field.width > 1 else values[..., 0]
    return fields


class NamedStreams:
    """Streams of one device; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._streams: dict[str, Stream] = {}

    def get(self, name: str, record: Record, size: tuple[int, int]) -> Stream:
        """The stream of that name, replaced for another size, (width, height)."""
        stream = self._streams.get(name)
        if stream is None or stream.size != size:
            if stream is not None:
                stream.release()
            stream = self._streams[name] = Stream(self.device, record, size)
        return stream

    def __getitem__(self, name: str) -> Stream:
        return self._streams[name]

    def release(self) -> None:
        """Free them."""
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
