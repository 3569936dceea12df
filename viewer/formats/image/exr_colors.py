"""The colours of an OpenEXR file, as a picture of its display window in linear sRGB.

Colours are the channels R, G and B of a part, else luminance with its chroma (Y, RY, BY; *Technical Introduction to
OpenEXR*, "Luminance/Chroma Images"), else those of the only layer that has any.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.image.exr import ExrPart, ExrPixels
from raystream.formats.image.primaries import SRGB, luminance_weights, srgb_from

MOST_PIXELS = 1 << 26  # of a display window beyond that of the data
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
        for number, part in enumerate(parts):
            if part.channels.keys() >= set(names):
                return ColorChannels(number, names, part.texts.get("name", f"part {number}") if number else "")
    layers = [candidate for number, part in enumerate(parts) for candidate in _layers(number, part)]
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


def _layers(number: int, part: ExrPart) -> list[ColorChannels]:
    """The layers of a part with red, green and blue, in upper or lower case."""
    layers: dict[str, dict[str, str]] = {}
    for name in part.channels:
        layer, dot, channel = name.rpartition(".")
        if dot:
            layers.setdefault(layer, {})[channel.upper()] = name
    return [
        ColorChannels(number, tuple(named[color] for color in "RGB"), layer)
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
        down = part.window[1] - part.top
        begin, end = (min(max(row + down, 0), part.height) for row in (first, last))
        out = np.zeros((last - first, self.width, 3), np.float32)
        if begin < end:
            with np.errstate(invalid="ignore", over="ignore"):  # infinite colours are their reader's
                colors = self._colors(begin, end)
            out[begin - down - first : end - down - first] = _display_rows(colors, part)
        return out

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
    if (width, height) != (part.width, part.height) and width * height > MOST_PIXELS:
        what = f"has a display window of {width:,} x {height:,} pixels"
        raise ViewerError(where, what, f"{MOST_PIXELS:,} are read; reduce the picture")
    return width, height


def displayed(plane: NDArray, part: ExrPart, where: str) -> NDArray:
    """A part's channel (height, width) in its display window (H, W), 0 beyond the window of the data."""
    width, height = display_size(part, where)
    if (part.left, part.top, part.width, part.height) == (*part.window[:2], width, height):
        return plane
    out = np.zeros((height, width), plane.dtype)
    down = part.top - part.window[1]
    first, last = max(down, 0), min(down + part.height, height)
    out[first:last] = _display_rows(plane[first - down : last - down], part)
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
