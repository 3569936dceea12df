"""OpenEXR files written byte by byte (*OpenEXR File Layout*, openexr.com), with windows, primaries and channels of
fewer samples, which the library's own writer does not take."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

Box = tuple[int, int, int, int]  # left, top, right, bottom, inclusive
Channel = tuple[np.ndarray, int]  # float32 samples, and pixels per sample along both axes


def attribute(name: str, kind: str, data: bytes) -> bytes:
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<i", len(data)) + data


def exr_bytes(
    channels: Mapping[str, Channel | np.ndarray],
    display: Box | None = None,
    corner: tuple[int, int] = (0, 0),
    chromaticities: tuple[float, ...] = (),
) -> bytes:
    """A file of one part without compression. corner : left and top of the data."""
    given = {name: each if isinstance(each, tuple) else (each, 1) for name, each in sorted(channels.items())}
    height, width = next(samples.shape for samples, step in given.values() if step == 1)
    left, top = corner
    data = left, top, left + width - 1, top + height - 1
    listed = b"".join(name.encode() + b"\0" + struct.pack("<i4xii", 2, step, step) for name, (_, step) in given.items())
    header = attribute("channels", "chlist", listed + b"\0")
    header += attribute("compression", "compression", b"\0")
    header += attribute("dataWindow", "box2i", struct.pack("<4i", *data))
    header += attribute("displayWindow", "box2i", struct.pack("<4i", *(data if display is None else display)))
    header += attribute("lineOrder", "lineOrder", b"\0")
    header += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    header += attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0))
    header += attribute("screenWindowWidth", "float", struct.pack("<f", 1))
    if chromaticities:
        header += attribute("chromaticities", "chromaticities", struct.pack("<8f", *chromaticities))
    lines = []
    for row in range(height):
        rows = [samples[row // step].astype("<f4").tobytes() for samples, step in given.values() if row % step == 0]
        body = b"".join(rows)
        lines.append(struct.pack("<ii", top + row, len(body)) + body)
    begin = b"\x76\x2f\x31\x01" + struct.pack("<I", 2) + header + b"\0"
    at = len(begin) + 8 * height + np.cumsum([0, *(len(line) for line in lines[:-1])])
    return begin + struct.pack(f"<{height}Q", *at.tolist()) + b"".join(lines)
