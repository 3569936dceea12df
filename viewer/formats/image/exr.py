"""OpenEXR files that may be hostile: headers are parsed here before the library allocates memory, and only requested
channels are decoded (*OpenEXR File Layout*, openexr.com).
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.image.primaries import SRGB, luminance_weights, srgb_from

MAGIC = b"\x76\x2f\x31\x01"
MAX_HEADER_BYTES = 1 << 26  # bytes of all parts together: Cryptomattes list the names of what a picture shows
_FIRST_BYTES = 1 << 16  # bytes that are read for a header, and eight times as many while it goes on
MAX_CHUNK_BYTES = 1 << 28  # bytes of lines or a tile decoded at once
MAX_DECODED_BYTES = 1 << 30  # of all channels, where the library can only decode all

_TILED, _DEEP, _PARTS = 0x200, 0x800, 0x1000  # flags in the version field
_LINES = {3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256, 10: 256, 11: 32}  # lines per chunk by compression; else 1
# Largest expansion of a chunk's bytes: none, runs of 128 in two bytes, deflate's 1032.
_MAX_EXPANSION = {0: 1, 1: 64, 2: 1032, 3: 1032, 5: 1032}
_TYPES_OF_PARTS = (b"scanlineimage", b"tiledimage")
_TYPES = ((np.uint32, 4), (np.float16, 2), (np.float32, 4))


@dataclass(frozen=True)
class ExrPart:
    """One picture of a file: ``attributes`` name -> (type, bytes); ``channels`` name -> (0 uint, 1 half or 2 float,
    lines and columns per sample); ``left``, ``top``, ``width`` and ``height`` of its data; ``window`` left, top, right
    and bottom of its display, inclusive; ``tile`` (width, height), pixels, or None."""

    attributes: dict[str, tuple[str, bytes]]
    channels: dict[str, tuple[int, int, int]]
    width: int
    height: int
    top: int
    lines: int
    compression: int
    tile: tuple[int, int] | None
    left: int
    window: tuple[int, int, int, int]

    @property
    def texts(self) -> dict[str, str]:
        """The text attributes."""
        return {
            name: data.decode("utf-8", "replace") for name, (kind, data) in self.attributes.items() if kind == "string"
        }

    @property
    def pixel_bytes(self) -> int:
        """Bytes of a pixel in all channels, decoded."""
        return sum(_TYPES[kind][1] for kind, _, _ in self.channels.values())

    @property
    def chunks(self) -> int:
        """Chunks of the picture, of its full size alone."""
        if self.tile is None:
            return -(-self.height // self.lines)
        return -(-self.width // self.tile[0]) * -(-self.height // self.tile[1])


def parts(data: bytes, where: str, hint: str = "the file is damaged") -> tuple[list[ExrPart], int]:
    """The headers in a file's first bytes, and the offset of its chunk tables.

    Raises ViewerError for other files than flat EXR, for damage, and for longer headers.
    """
    try:
        if data[:4] != MAGIC:
            raise ViewerError(where, "is not an EXR picture")
        version = struct.unpack_from("<I", data, 4)[0]
        if version & 0xFF != 2:
            raise ValueError(f"version {version & 0xFF}")
        if version & _DEEP:
            raise ViewerError(where, "holds deep pixels", "flatten them first")
        headers: list[ExrPart] = []
        offset = 8
        while not headers or (version & _PARTS and data[offset] != 0):
            attributes, offset = _attributes(data, offset)
            headers.append(_part(attributes, None if version & _PARTS else bool(version & _TILED)))
        return headers, offset + bool(version & _PARTS)
    except (IndexError, struct.error):
        long = len(data) >= MAX_HEADER_BYTES
        what = f"has a header of more than {MAX_HEADER_BYTES:,} bytes" if long else "is cut short in its header"
        raise ViewerError(where, what, hint) from None
    except ValueError as error:
        raise ViewerError(where, f"is a damaged EXR picture: {error}", hint) from None


def read_header(file: BinaryIO, where: str, hint: str = "the file is damaged") -> tuple[list[ExrPart], int]:
    """`parts` of an open file, of which only as much is read as its headers take."""
    data, size = b"", _FIRST_BYTES
    while True:
        data += file.read(size - len(data))
        try:
            return parts(data, where, hint)
        except ViewerError:
            if len(data) < size or size >= MAX_HEADER_BYTES:
                raise
        size = min(8 * size, MAX_HEADER_BYTES)


def check(headers: Sequence[ExrPart], start: int, length: int, where: str, hint: str = "the file is damaged") -> None:
    """Check that a file of ``length`` bytes can hold the pictures of its headers. Raises ViewerError."""
    tables = 8 * sum(max(part.chunks, _announced_chunks(part)) for part in headers)
    if start + tables > length:
        raise ViewerError(where, "is cut short: its headers list more chunks than it has bytes for", hint)
    for part in headers:
        rows, columns = (part.lines, part.width) if part.tile is None else part.tile
        if rows * columns * part.pixel_bytes > MAX_CHUNK_BYTES:
            raise ViewerError(where, f"decodes {rows} x {columns} pixels at once", "save it in lines or small tiles")
        decoded_bytes = part.width * part.height * part.pixel_bytes
        is_plain = all(channel[1:] == (1, 1) for channel in part.channels.values())
        if is_plain and decoded_bytes > length * _MAX_EXPANSION.get(part.compression, decoded_bytes):
            raise ViewerError(where, f"is cut short: {part.width:,} x {part.height:,} pixels in {length:,} bytes", hint)


class ExrPixels:
    """The pixels of a file's part, channel by channel; must be closed."""

    def __init__(
        self,
        source: str | bytes,
        parts: Sequence[ExrPart],
        where: str,
        hint: str = "the file is damaged",
        part_index: int = 0,
    ) -> None:
        """source : the file's path, or its bytes, after `check`. part_index : of a part. Raises ViewerError as `lines`
        does."""
        part = parts[part_index]
        self.part, self.where, self.hint = part, where, hint
        self._all: dict[str, NDArray] = {}
        import OpenEXR

        self._input: Any = None
        stream = source if isinstance(source, str) else io.BytesIO(source)
        with self._library_errors():
            plain = all(channel[1:] == (1, 1) for channel in part.channels.values())
            if part_index == 0 and plain and hasattr(OpenEXR, "InputFile"):
                self._input = OpenEXR.InputFile(stream)
                return
            # The library's access to single channels is deprecated, and of the first part and whole channels alone.
            if sum(part.width * part.height * part.pixel_bytes for part in parts) > MAX_DECODED_BYTES:
                raise ViewerError(where, f"holds {len(part.channels)} channels", "save fewer of them")
            with OpenEXR.File(stream, separate_channels=True) as file:
                self._all = {name: channel.pixels.copy() for name, channel in file.channels(part_index).items()}

    def lines(self, names: Sequence[str], first: int, last: int) -> list[NDArray]:
        """Each channel as (last - first, W) float32, or uint32 for integer channels.

        Raises ViewerError where they cannot be decoded, or have fewer samples than pixels.
        """
        size = last - first, self.part.width
        with self._library_errors():
            if any(self.part.channels[name][1:] != (1, 1) for name in names):
                raise ValueError("channels are of another size than the picture")
            if self._input is None:
                arrays = [self._all[name][first:last] for name in names]
                return [np.asarray(array, np.uint32 if array.dtype == np.uint32 else np.float32) for array in arrays]
            channels: dict[str, NDArray] = {}
            for integers in (False, True):
                group = [name for name in names if (self.part.channels[name][0] == 0) == integers]
                if group:
                    span = self.part.top + first, self.part.top + last - 1
                    data = self._input.channels(group, _pixel_type(integers), *span)
                    kind = np.uint32 if integers else np.float32
                    channels |= {
                        name: np.frombuffer(buffer, kind).reshape(size)
                        for name, buffer in zip(group, data, strict=True)
                    }
            return [channels[name] for name in names]

    def interpolated(self, name: str, first: int, last: int) -> NDArray[np.float32]:
        """A channel of fewer samples than pixels, as (last - first, W) float32: linear between them, which lie at
        multiples of their distance. Raises ViewerError where it cannot be decoded."""
        _, y_step, x_step = self.part.channels[name]
        if (y_step, x_step) == (1, 1):
            return np.asarray(self.lines([name], first, last)[0], np.float32)
        with self._library_errors():
            samples = np.asarray(self._all[name], np.float32)
            if samples.shape != (-(-self.part.height // y_step), -(-self.part.width // x_step)):
                raise ValueError(f"channel {name} has {samples.shape} samples")
            rows, above, weight = _interpolation(np.arange(first, last), y_step, samples.shape[0])
            lines = samples[rows] * (1 - weight[:, None]) + samples[above] * weight[:, None]
            columns, right, weight = _interpolation(np.arange(self.part.width), x_step, samples.shape[1])
            return (lines[:, columns] * (1 - weight) + lines[:, right] * weight).astype(np.float32)

    def close(self) -> None:
        """Close the file."""
        if self._input is not None:
            self._input.close()

    @contextmanager
    def _library_errors(self) -> Iterator[None]:
        """The library's exceptions as one line, its own messages suppressed."""
        try:
            with quiet():
                yield
        except (RuntimeError, ValueError, KeyError, TypeError, OSError) as error:
            # One of the library's errors includes its own stream's name.
            what = "" if "<Python Stream>" in str(error) else f": {short(str(error))}"
            raise ViewerError(self.where, f"is a damaged EXR picture{what}", self.hint) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the OpenEXR library's own messages on Python's standard output and the process's standard error."""
    with redirect_stdout(io.StringIO()):
        try:
            saved_stderr = os.dup(2)
        except OSError:  # no standard error
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            yield
        finally:
            os.dup2(saved_stderr, 2)
            os.close(saved_stderr)
            os.close(nowhere)


def _interpolation(
    positions: NDArray[np.int64], step: int, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Linear interpolation at integer ``positions`` (N,) between ``count`` samples, ``step`` apart: (lower sample,
    upper sample, weight of the upper one), (N,) each."""
    lower = np.minimum(positions // step, count - 1)
    return lower, np.minimum(lower + 1, count - 1), ((positions - lower * step) / step).astype(np.float32)


def _pixel_type(integers: bool) -> Any:
    import Imath

    return Imath.PixelType(Imath.PixelType.UINT if integers else Imath.PixelType.FLOAT)


def _attributes(data: bytes, offset: int) -> tuple[dict[str, tuple[str, bytes]], int]:
    """A header's attributes, and its end. Raises IndexError where ``data`` ends before it."""
    attributes: dict[str, tuple[str, bytes]] = {}
    while data[offset]:
        texts = []
        for _ in range(2):
            end = data.find(b"\0", offset, offset + 256)
            if end < 0 and offset + 256 <= len(data):
                raise ValueError("a name of more than 255 bytes")
            if end < 0:
                raise IndexError
            texts.append(data[offset:end].decode("latin-1"))
            offset = end + 1
        size = struct.unpack_from("<i", data, offset)[0]
        if size < 0:
            raise ValueError(f"attribute {short(texts[0])} has a length of {size}")
        if offset + 4 + size > len(data):
            raise ValueError(f"attribute {short(texts[0])} has a length of {size:,}, which leaves the header")
        attributes[texts[0]] = texts[1], data[offset + 4 : offset + 4 + size]
        offset += 4 + size
    return attributes, offset + 1


def _part(attributes: dict[str, tuple[str, bytes]], flag: bool | None) -> ExrPart:
    """A header's picture; ``flag``: tiled, as stated by the version field of a single-part file. Raises ValueError."""

    def values(name: str, kind: str, form: str) -> tuple[int, ...]:
        stored_kind, data = attributes.get(name, ("", b""))
        if stored_kind != kind or len(data) != struct.calcsize(form):
            raise ValueError(f"no {name}")
        return struct.unpack(form, data)

    left, top, right, bottom = values("dataWindow", "box2i", "<4i")
    width, height = right - left + 1, bottom - top + 1
    if width < 1 or height < 1:
        raise ValueError(f"{width} x {height} pixels")
    (compression,) = values("compression", "compression", "<B")
    type_ = attributes.get("type", ("", b"" if flag is None else _TYPES_OF_PARTS[flag]))[1].rstrip(b"\0")
    if type_ not in _TYPES_OF_PARTS or flag not in (None, type_ == _TYPES_OF_PARTS[True]):
        raise ValueError(f"its type is {short(type_)}")
    tile = None
    if type_ == _TYPES_OF_PARTS[True]:
        tile_width, tile_height, _ = values("tiles", "tiledesc", "<IIB")
        if not tile_width or not tile_height:
            raise ValueError("tiles without pixels")
        tile = tile_width, tile_height
    channels = _channels(attributes.get("channels", ("", b""))[1])
    window = left, top, right, bottom
    if "displayWindow" in attributes:
        window = values("displayWindow", "box2i", "<4i")  # type: ignore[assignment]
    if window[2] < window[0] or window[3] < window[1]:
        raise ValueError("a display window without pixels")
    lines = _LINES.get(compression, 1)
    return ExrPart(attributes, channels, width, height, top, lines, compression, tile, left, window)


def _channels(data: bytes) -> dict[str, tuple[int, int, int]]:
    channels, offset = {}, 0
    while offset < len(data) and data[offset]:
        end = data.find(b"\0", offset)
        if end < 0 or end + 17 > len(data):
            raise ValueError("its list of channels is cut short")
        kind, x_step, y_step = struct.unpack_from("<i4xii", data, end + 1)
        if not 0 <= kind < len(_TYPES) or x_step < 1 or y_step < 1:
            raise ValueError(f"channel {short(data[offset:end])} of an unknown kind")
        channels[data[offset:end].decode("utf-8", "replace")] = kind, y_step, x_step
        offset = end + 17
    return channels


def _announced_chunks(part: ExrPart) -> int:
    """Number of chunks, by the attribute of multi-part files."""
    data = part.attributes.get("chunkCount", ("", b""))[1]
    return int.from_bytes(data[:4], "little") if len(data) == 4 else 0


# -- colours of a file, as a picture of its display window in linear sRGB ----------------------------------------------
# Colours are the channels R, G and B of a part, else luminance with its chroma (Y, RY, BY; *Technical Introduction
# to OpenEXR*, "Luminance/Chroma Images"), else those of the only layer that has any.

MAX_DISPLAY_PIXELS = 1 << 26  # of a display window beyond that of the data
_CHROMA = ("Y", "RY", "BY")
_BEAUTY = ("combined", "beauty", "rgba")  # the layer of all light, among others


class ColorChannels(NamedTuple):
    """Where a file's colours are: the number of its part, and full names of channels: red, green, blue; luminance; or
    luminance and chroma. ``layer``: the name of a layer or of another part than the first, else empty."""

    part: int
    names: tuple[str, ...]
    layer: str = ""


def find_colors(parts: Sequence[ExrPart], where: str) -> ColorChannels:
    """The colours of a file's parts. Raises ViewerError where there are none, or layers of which none stands out."""
    for names in (tuple("RGB"), _CHROMA, ("Y",)):
        for part_index, part in enumerate(parts):
            if part.channels.keys() >= set(names):
                return ColorChannels(
                    part_index, names, part.texts.get("name", f"part {part_index}") if part_index else ""
                )
    layers = [candidate for part_index, part in enumerate(parts) for candidate in _layers(part_index, part)]
    chosen = (
        layers if len(layers) == 1 else [candidate for candidate in layers if candidate.layer.lower().endswith(_BEAUTY)]
    )
    if len(chosen) == 1:
        return chosen[0]
    if layers:
        what = f"has no channels R, G and B, but several layers: {', '.join(c.layer for c in layers)[:200]}"
        raise ViewerError(where, what, "save one of them")
    channel_names = ", ".join(name for part in parts for name in part.channels) or "none"
    raise ViewerError(where, "has no channels R, G and B", f"channels: {channel_names[:60]}")


def _layers(part_index: int, part: ExrPart) -> list[ColorChannels]:
    """The layers of a part with red, green and blue, in upper or lower case."""
    layers: dict[str, dict[str, str]] = {}
    for name in part.channels:
        layer, dot, channel = name.rpartition(".")
        if dot:
            layers.setdefault(layer, {})[channel.upper()] = name
    return [
        ColorChannels(part_index, tuple(named[color] for color in "RGB"), layer)
        for layer, named in layers.items()
        if named.keys() >= set("RGB")
    ]


class ExrColors:
    """A file's colours, line by line; must be closed. width, height : of its display window."""

    def __init__(self, source: str | bytes, parts: Sequence[ExrPart], where: str, hint: str = "the file is damaged"):
        """source : the file's path, or its bytes, after `exr.check`. Raises ViewerError as `find_colors` and `lines`
        do, and for a display window without a pixel of the file."""
        self.channels = find_colors(parts, where)
        part = parts[self.channels.part]
        self.width, self.height = display_size(part, where)
        primaries = _chromaticities(part)
        self._matrix = srgb_from(primaries, where)
        self._weights = luminance_weights(primaries)
        self._part = part
        self._pixels = ExrPixels(source, parts, where, hint, self.channels.part)

    def lines(self, first: int, last: int) -> NDArray[np.float32]:
        """(last - first, W, 3) float32, linear sRGB, black beyond the window of the data. Raises ViewerError where they
        cannot be decoded."""
        part = self._part
        shift = part.window[1] - part.top
        start, end = (min(max(row + shift, 0), part.height) for row in (first, last))
        rows = np.zeros((last - first, self.width, 3), np.float32)
        if start < end:
            with np.errstate(invalid="ignore", over="ignore"):  # infinite colours are their reader's
                colors = self._colors(start, end)
            rows[start - shift - first : end - shift - first] = _display_rows(colors, part)
        return rows

    def close(self) -> None:
        """Close the file."""
        self._pixels.close()

    def _colors(self, first: int, last: int) -> NDArray[np.float32]:
        """(last - first, width of the data, 3)."""
        names = self.channels.names
        if names == _CHROMA:
            (y,) = self._pixels.lines(names[:1], first, last)
            red, blue = (y * (1 + self._pixels.interpolated(name, first, last)) for name in names[1:])
            weights = self._weights
            colors = np.stack([red, (y - weights[0] * red - weights[2] * blue) / weights[1], blue], axis=-1)
        else:
            planes = [np.asarray(plane, np.float32) for plane in self._pixels.lines(names, first, last)]
            colors = np.stack(planes if len(planes) == 3 else planes * 3, axis=-1)
        if self._matrix is not None and len(names) == 3:
            colors = np.einsum("...c,kc", colors, self._matrix.astype(np.float32))
        return colors.astype(np.float32, copy=False)


def display_size(part: ExrPart, where: str) -> tuple[int, int]:
    """Width and height of a part's display window. Raises ViewerError for one that shows no pixel of its data, or is
    far larger."""
    left, top, right, bottom = part.window
    width, height = right - left + 1, bottom - top + 1
    if left > part.left + part.width - 1 or right < part.left or top > part.top + part.height - 1 or bottom < part.top:
        raise ViewerError(where, "has no pixels within its display window", "save it with one around its data")
    if (width, height) != (part.width, part.height) and width * height > MAX_DISPLAY_PIXELS:
        what = f"has a display window of {width:,} x {height:,} pixels"
        raise ViewerError(where, what, f"{MAX_DISPLAY_PIXELS:,} are read; reduce the picture")
    return width, height


def in_display_window(plane: NDArray, part: ExrPart, where: str) -> NDArray:
    """A part's channel (height, width) in its display window (H, W), 0 beyond the window of the data."""
    width, height = display_size(part, where)
    if (part.left, part.top, part.width, part.height) == (*part.window[:2], width, height):
        return plane
    out = np.zeros((height, width), plane.dtype)
    shift = part.top - part.window[1]
    first, last = max(shift, 0), min(shift + part.height, height)
    out[first:last] = _display_rows(plane[first - shift : last - shift], part)
    return out


def _display_rows(rows: NDArray, part: ExrPart) -> NDArray:
    """Rows of the data's width (N, w, ...) as wide as the display window."""
    left, _, right, _ = part.window
    width, offset = right - left + 1, part.left - left
    if (offset, width) == (0, part.width):
        return rows
    out = np.zeros((len(rows), width, *rows.shape[2:]), rows.dtype)
    first, last = max(offset, 0), min(offset + part.width, width)
    out[:, first:last] = rows[:, first - offset : last - offset]
    return out


def _chromaticities(part: ExrPart) -> tuple[float, ...]:
    kind, data = part.attributes.get("chromaticities", ("", b""))
    return struct.unpack("<8f", data) if kind == "chromaticities" and len(data) == 32 else SRGB
