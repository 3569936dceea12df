"""Decoding of pictures that may be hostile: PNG, JPEG, WebP and others through Pillow, of bounded size and memory."""

from __future__ import annotations

import io
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.base.errors import ViewerError
from raystream.base.memory import available
from raystream.scene.texture import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow


# -- the memory of a scene's images, charged by their headers before they are decoded ----------------------------------

MAX_SIDE = 1 << 24  # texels of an image: Pillow refuses rows of 2 ** 31 bits for want of memory
MAX_IMAGE_TEXELS = 1 << 28  # texels of an image, such as 16,384 x 16,384: 1 GiB
MAX_SCENE_TEXELS = 1 << 30  # of all images of a scene: 4 GiB
# Memory to decode an image, and memory of all images, beside a multiple of their files' bytes: real pictures are not
# packed much tighter, and pictures of one colour are small.
BASE_BYTES = 1 << 30
DECODED_PER_BYTE, HELD_PER_BYTE = 16, 256


@dataclass(frozen=True)
class ImageHeader:
    """The header of an encoded image.

    decoder : bytes for each texel of the whole picture until it is decoded; if it ``scales``, of the reduced picture.
    texel : bytes of a decoded texel. least : the largest factor of reduction. hint : the remedy for an image
    that is too large even if reduced.
    """

    width: int
    height: int
    decoder: float
    texel: int = 4
    scales: bool = False
    least: int = 1 << 15
    hint: str = "use a smaller image"

    def peak(self, factor: int) -> int:
        """Bytes to decode it, reduced by a factor."""
        texels = self.width * self.height
        decoded_texels = texels / min(factor, 8) ** 2 if self.scales else texels
        return int(self.decoder * decoded_texels + self.texel * texels / factor**2)


class ImageMemory:
    """The memory for the images of a scene: texels that are kept with their copies on the device, and copies while they
    are decoded.

    side : the option ``max_texture``. An image that does not fit is reduced to it by halves; no other one is, since the
    option reduces images in linear light.
    """

    def __init__(self, side: int | None = None) -> None:
        free = available()
        self.side = side
        self.texels = 0
        self._max_texels = MAX_SCENE_TEXELS if free is None else min(MAX_SCENE_TEXELS, free // 10)
        self._peak = None if free is None else free // 2
        self._granted = BASE_BYTES
        self._charged = self._decoding = 0
        self._condition = threading.Condition()

    def plan(self, image: ImageHeader, length: int, where: str) -> int:
        """The factor by which an image of ``length`` bytes is reduced; charges its texels. Raises ViewerError where
        it does not fit."""
        self._granted += HELD_PER_BYTE * length
        factor, fault = 1, self._fault(image, length, 1)
        if fault and self.side is not None:
            while max(image.width, image.height) // factor > self.side and factor < image.least:
                factor *= 2
            fault = self._fault(image, length, factor) if factor > 1 else fault
        if fault:
            smaller = self._fault(image, length, min(16, image.least))
            raise ViewerError(where, fault, image.hint if smaller else "--max-texture 1024 reads it at a smaller size")
        texels = image.width * image.height // factor**2
        self.texels += texels
        self._charged += image.texel * texels
        return factor

    def add(self, texels: int, where: str) -> None:
        """Charge the texels of an image that was made of others. Raises ViewerError beyond the limit."""
        self.texels += texels
        if self.texels > self._max_texels:
            what = f"more than {self._max_texels:,} texels in all pictures"
            raise ViewerError(where, what, "use smaller ones")

    @contextmanager
    def decoding(self, size: int) -> Iterator[None]:
        """Waits until ``size`` bytes more, beside those that others are decoding, are within those of one image."""
        with self._condition:
            self._condition.wait_for(lambda: not self._decoding or self._decoding + size <= BASE_BYTES)
            self._decoding += size
        try:
            yield
        finally:
            with self._condition:
                self._decoding -= size
                self._condition.notify_all()

    def _fault(self, image: ImageHeader, length: int, factor: int) -> str:
        """The reason to refuse an image at a size; "" if it fits."""
        size, texels = f"{image.width:,} x {image.height:,} texels", image.width * image.height
        if max(image.width, image.height) > MAX_SIDE:
            return f"{size}, more than {MAX_SIDE:,} a side"
        most = min(MAX_IMAGE_TEXELS, self._max_texels - self.texels)
        if texels > MAX_IMAGE_TEXELS or texels // factor**2 > most:
            return f"{size}, more than {most:,}"
        peak, limit = image.peak(factor), BASE_BYTES + DECODED_PER_BYTE * length
        limit = limit if self._peak is None else min(limit, self._peak)
        if peak > limit:
            return f"{size} take {peak / 2**30:.1f} GiB to decode {length:,} bytes, more than {limit / 2**30:.1f}"
        if self._charged + image.texel * texels // factor**2 > self._granted:
            return f"{size} and the images before take more than {self._granted / 2**30:.1f} GiB"
        return ""


# -- PNG files of 16 bits per channel that may be hostile --------------------------------------------------------------
# Pillow keeps only the upper 8 bits of colours (*Portable Network Graphics*, 3rd edition, W3C).

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # of colour types: grey, colour, both with opacity
_HINT = "the image is damaged"
_INFLATED_AT_ONCE = 1 << 16  # compressed bytes that are inflated at once
_BAND_TEXELS = 1 << 18  # texels converted at once
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a picture for `read`; None for other files and 8-bit ones."""
    if data[:8] != _SIGNATURE or data[12:16] != b"IHDR" or len(data) < 33:
        return None
    width, height, depth, color, packing, filters, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    readable = depth == 16 and color in _CHANNELS and packing == filters == 0 and interlace in (0, 1)
    return (width, height) if readable and width and height else None


def read(data: bytes, where: str, factor: int = 1) -> NDArray[np.uint16]:
    """(H, W, 4) of a file whose `size` is not None; grey becomes colour, and pixels of the colour key are transparent.
    Sides are reduced by ``factor``, in means.

    Raises ViewerError for a damaged file.
    """
    dimensions = size(data)
    assert dimensions is not None
    width, height = dimensions
    channels, interlaced = _CHANNELS[data[25]], data[28] == 1
    passes = [(x, y, dx, dy) for x, y, dx, dy in _ADAM7 if x < width and y < height] if interlaced else [(0, 0, 1, 1)]
    shapes = [(-(-(height - y) // dy), 1 + 2 * channels * -(-(width - x) // dx)) for x, y, dx, dy in passes]
    lines, key = _inflated(data, where, sum(rows * row for rows, row in shapes))
    passes_pixels, offset = [], 0
    for rows, row in shapes:
        filtered = np.frombuffer(lines, np.uint8, rows * row, offset).reshape(rows, row)
        wrong = jit.run(unfilter, filtered, 2 * channels, small=filtered.size < 1 << 12)
        if wrong >= 0:
            raise ViewerError(where, f"line {wrong} has an unknown filter", _HINT)
        passes_pixels.append(filtered)
        offset += rows * row
    if interlaced:
        deinterlaced = np.zeros((height, width, channels), ">u2")
        for (x, y, dx, dy), piece in zip(passes, passes_pixels, strict=True):
            deinterlaced[y::dy, x::dx] = (
                np.ascontiguousarray(piece[:, 1:]).view(">u2").reshape(len(piece), -1, channels)
            )
        filtered = np.zeros((height, 1 + 2 * channels * width), np.uint8)
        filtered[:, 1:] = deinterlaced.view(np.uint8).reshape(height, -1)
    x_step, y_step = min(factor, width), min(factor, height)
    out = np.empty((height // y_step, width // x_step, 4), np.uint16)
    band_rows = max(1, _BAND_TEXELS // (width * y_step))
    for first in range(0, len(out), band_rows):
        last = min(first + band_rows, len(out))
        stored = np.ascontiguousarray(filtered[first * y_step : last * y_step, 1:]).view(">u2")
        values = stored.reshape(-1, width, channels)[:, : out.shape[1] * x_step]
        band = np.full((*values.shape[:2], 4), 65535, np.uint16)
        band[..., :3] = values[..., :3] if channels > 2 else values[..., :1]
        if channels % 2 == 0:
            band[..., 3] = values[..., -1]
        elif len(key) == channels:
            band[..., 3] = np.where((values == key).all(axis=-1), 0, 65535)
        if factor > 1:
            boxes = band.reshape(last - first, y_step, out.shape[1], x_step, 4)
            band = np.rint(boxes.mean(axis=(1, 3))).astype(np.uint16)
        out[first:last] = band
    return out


def _inflated(data: bytes, where: str, length: int) -> tuple[bytearray, NDArray[np.uint16]]:
    """The ``length`` bytes of the picture's lines, and the colour key, empty without one."""
    unpack, lines, key = zlib.decompressobj(), bytearray(), np.zeros(0, np.uint16)
    try:
        for kind, content in _chunks(data, where):
            if kind == b"tRNS":
                key = np.frombuffer(content[: len(content) // 2 * 2], ">u2")
                continue
            for offset in range(0, len(content), _INFLATED_AT_ONCE):
                lines += unpack.decompress(content[offset : offset + _INFLATED_AT_ONCE], length - len(lines))
                if len(lines) == length:
                    break
    except zlib.error as error:
        raise ViewerError(where, f"unreadable PNG: {error}", _HINT) from None
    if len(lines) < length:
        what = f"{len(lines):,} of {length:,} bytes of the picture are there"
        raise ViewerError(where, what, _HINT)
    return lines, key


def _chunks(data: bytes, where: str) -> Iterator[tuple[bytes, memoryview]]:
    """The parts with the compressed picture and the colour key."""
    start = 8
    while start + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, start)
        content = data[start + 8 : start + 8 + length]
        if start + 12 + length > len(data):
            raise ViewerError(where, f"a part of {length:,} bytes at byte {start:,} is cut off", _HINT)
        if kind == b"IEND":
            return
        if kind in (b"IDAT", b"tRNS"):
            if (
                zlib.crc32(data[start + 4 : start + 8 + length])
                != struct.unpack_from(">I", data, start + 8 + length)[0]
            ):
                raise ViewerError(where, f"the checksum of the part at byte {start:,} is wrong", _HINT)
            yield kind, memoryview(content)
        start += 12 + length


def unfilter(lines: NDArray[np.uint8], step: int) -> int:
    """Undo the filters of lines (H, 1 + bytes) in place, each with its filter number first (PNG, 3rd edition, section
    9); ``step`` bytes per pixel. Returns the first line with an unknown filter, or -1."""
    height, width = lines.shape
    for line in range(height):
        kind = lines[line, 0]
        if kind > 4:
            return line
        for k in range(1, width):
            left = int(lines[line, k - step]) if k > step else 0
            above = int(lines[line - 1, k]) if line > 0 else 0
            corner = int(lines[line - 1, k - step]) if k > step and line > 0 else 0
            guess = 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            elif kind == 4:
                by_left, by_above, by_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
                if by_left <= by_above and by_left <= by_corner:
                    guess = left
                elif by_above <= by_corner:
                    guess = above
                else:
                    guess = corner
            lines[line, k] = (int(lines[line, k]) + guess) & 255
    return -1


# -- decoding of pictures that may be hostile --------------------------------------------------------------------------

WEB = ("PNG", "JPEG", "WEBP")  # of glTF
MODELLERS = (*WEB, "BMP", "TIFF", "GIF", "PPM", "TGA")  # TGA, which has no signature, comes last
_NAMES = {"JPEG": "JPEG", "WEBP": "WebP"}
_OPENING = threading.Lock()

# Bytes of Pillow's decoders for each texel of the whole picture: measured.
_WEBP, _PROGRESSIVE = 20, 11
_BYTE_MODES = ("1", "L", "P")


def decode(data: bytes, where: str, name: str = "image", factor: int = 1, formats: tuple[str, ...] = WEB) -> Image:
    """The image in the bytes of a file of one of these formats, by content.

    factor : a power of two by which both sides are reduced, in means of the stored values; bands are converted one by
    one, so that the whole picture is in memory once, as its decoder has it.

    Grey and palettes become colour; colour profiles are ignored. 16-bit PNG keeps all bits. Raises
    ViewerError for other files and for damage.
    """
    if size(data) is not None:
        return Image(read(data, where, factor), name)
    with _decoding_errors(where, formats), _open_undecoded(data, formats) as opened:
        width, height = opened.size
        draft = opened.draft(None, (-(-width // factor), -(-height // factor))) if factor > 1 else None
        if draft is not None:
            factor = max(1, factor * opened.size[0] // width)
        opened.load()
        _scale_key(opened, data)
        return Image(_bands(opened, factor), name)


def header(data: bytes, where: str, formats: tuple[str, ...] = WEB) -> ImageHeader:
    """The size of a picture, and the memory to decode it. Raises ViewerError as `decode` does."""
    png_size = size(data)
    if png_size is not None:
        return ImageHeader(
            *png_size, decoder=8.0 * (1 + 2 * data[28]), texel=8
        )  # an interlaced one is put together twice
    with _decoding_errors(where, formats), _open_undecoded(data, formats) as opened:
        if opened.format == "WEBP":
            return ImageHeader(*opened.size, decoder=_WEBP, hint="WebP is decoded whole: store it smaller, or as PNG")
        scales = opened.format == "JPEG"
        progressive = scales and bool(opened.info.get("progressive"))
        decoder = _PROGRESSIVE if progressive else 1 if opened.mode in _BYTE_MODES else 4
        return ImageHeader(*opened.size, decoder=decoder, scales=scales and not progressive)


def read_image(
    memory: ImageMemory, data: bytes, where: str, name: str = "image", formats: tuple[str, ...] = WEB
) -> Image:
    """`decode` at the size that a scene's memory allows. Raises ViewerError as it does, and where it does not fit."""
    factor = memory.plan(header(data, where, formats), len(data), where)
    return decode(data, where, name, factor, formats)


@contextmanager
def _decoding_errors(where: str, formats: tuple[str, ...]) -> Iterator[None]:
    from PIL import Image as Library

    try:
        yield
    except ViewerError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, Library.DecompressionBombError) as error:
        # Pillow raises any of these for damage.
        reason = str(error).split("<")[0].strip() or type(error).__name__
        *names, last = (_NAMES.get(kind, kind) for kind in formats)
        what = f"unreadable {', '.join(names)} or {last}: {reason}"
        raise ViewerError(where, what, "the image is damaged") from None


def _open_undecoded(data: bytes, formats: tuple[str, ...]) -> Pillow:
    """The picture, not decoded yet. Pillow's own limit of sizes is process-wide and switched off here."""
    from PIL import Image as Library

    with _OPENING, warnings.catch_warnings():  # warning filters are process-wide, too
        warnings.simplefilter("ignore")
        limit, Library.MAX_IMAGE_PIXELS = Library.MAX_IMAGE_PIXELS, None
        try:
            return Library.open(io.BytesIO(data), formats=formats)
        finally:
            Library.MAX_IMAGE_PIXELS = limit


def rgb(opened: Pillow) -> NDArray[np.uint8]:
    """(H, W, 3) of a picture of any mode; the upper 8 of 16 bits."""
    if opened.mode.startswith("I"):  # 16-bit grey, which Pillow would clip instead of scaling
        grey = np.clip(np.asarray(opened).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.dstack([grey, grey, grey])
    return np.asarray(opened.convert("RGB"))


def _bands(opened: Pillow, factor: int) -> NDArray[np.uint8]:
    """(H, W, 4) of a loaded picture, reduced."""
    from PIL import Image as Library

    x_step, y_step = min(factor, opened.width), min(factor, opened.height)
    width, height = opened.width // x_step, opened.height // y_step
    out = np.empty((height, width, 4), np.uint8)
    step = max(1, _BAND_TEXELS // (opened.width * y_step))
    for row in range(0, height, step):
        last = min(row + step, height)
        band = _rgba(opened.crop((0, row * y_step, width * x_step, last * y_step)))
        if factor > 1:
            # Channel by channel: Pillow would weigh colours by the fourth, which is not always opacity.
            channels = [channel.reduce((x_step, y_step)) for channel in Library.fromarray(band).split()]
            band = np.dstack([np.asarray(channel) for channel in channels])
        out[row:last] = band
    return out


def _scale_key(opened: Pillow, data: bytes) -> None:
    """Pillow scales grey of 2 and 4 bits to 8, but not the grey that is transparent."""
    key = opened.info.get("transparency")
    if opened.format == "PNG" and opened.mode == "L" and isinstance(key, int) and data[24] in (2, 4):
        opened.info["transparency"] = key * 255 // ((1 << data[24]) - 1)


def _rgba(opened: Pillow) -> NDArray[np.uint8]:
    if opened.mode.startswith("I"):
        color = rgb(opened)
        return np.dstack([color, np.full_like(color[..., 0], 255)])
    return np.asarray(opened.convert("RGBA"))
