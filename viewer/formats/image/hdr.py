"""Radiance pictures (.hdr, .pic): 8-bit mantissas with a common exponent.

G. Ward, "Real Pixels", Graphics Gems II, 1991, and the *Radiance File Formats* of the Radiance reference; both
run-length codings, old and new.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.image.primaries import SRGB, Matrix, srgb_from, xyz_to_srgb

# -- the loop over the bytes of a Radiance picture ---------------------------------------------------------------------

DONE, TRUNCATED, OVERRUN, NOTHING_TO_REPEAT = range(4)


def decode(data: NDArray[np.uint8], start: int, out: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Fill out (lines, length, 4) from the bytes after the header; (state, line, address in ``data``).

    A line starts with 2, 2 and its length, followed by each component in turn as runs (a byte b above 128: b - 128
    copies of a value) and literals (a byte b up to 128: b values). Otherwise it is pixels of four bytes, where 1, 1, 1,
    n repeats the previous one n times; n gains 8 bits for each consecutive such mark.
    """
    lines, length = out.shape[0], out.shape[1]
    size, byte = len(data), start
    for line in range(lines):
        if byte + 4 > size:
            return TRUNCATED, line, byte
        coded = data[byte] == 2 and data[byte + 1] == 2 and (int(data[byte + 2]) << 8 | int(data[byte + 3])) == length
        if coded and 8 <= length < 32768:
            byte += 4
            for component in range(4):
                column = 0
                while column < length:
                    if byte + 2 > size:
                        return TRUNCATED, line, byte
                    count = int(data[byte])
                    if count > 128:
                        count -= 128
                        if column + count > length:
                            return OVERRUN, line, byte
                        for k in range(count):
                            out[line, column + k, component] = data[byte + 1]
                        byte += 2
                    else:
                        if count == 0 or column + count > length:
                            return OVERRUN, line, byte
                        if byte + 1 + count > size:
                            return TRUNCATED, line, byte
                        for k in range(count):
                            out[line, column + k, component] = data[byte + 1 + k]
                        byte += 1 + count
                    column += count
            continue
        column, shift = 0, 0
        while column < length:
            if byte + 4 > size:
                return TRUNCATED, line, byte
            if data[byte] == 1 and data[byte + 1] == 1 and data[byte + 2] == 1:
                if column == 0:
                    return NOTHING_TO_REPEAT, line, byte
                if shift > 16:
                    return OVERRUN, line, byte
                count = int(data[byte + 3]) << shift
                if column + count > length:
                    return OVERRUN, line, byte
                for k in range(count):
                    for component in range(4):
                        out[line, column + k, component] = out[line, column - 1, component]
                column += count
                shift += 8
            else:
                for component in range(4):
                    out[line, column, component] = data[byte + component]
                column += 1
                shift = 0
            byte += 4
    return DONE, lines, byte


# -- headers and pixels ------------------------------------------------------------------------------------------------

MAGIC = (b"#?RADIANCE", b"#?RGBE")

_RGBE, _XYZE = "32-bit_rle_rgbe", "32-bit_rle_xyze"
_MAX_HEADER_BYTES = 1 << 16  # bytes; comments may list every command behind the picture
_SIZE = re.compile(rb"([+-])([XY]) +([0-9]{1,9}) +([+-])([XY]) +([0-9]{1,9}) *\r?")
_FAULTS = {
    TRUNCATED: ("ends", "the file is truncated"),
    OVERRUN: ("holds a run longer than the line", "the file is damaged"),
    NOTHING_TO_REPEAT: ("begins with a repeated pixel", "the file is damaged"),
}


def size(data: bytes, where: str) -> tuple[int, int]:
    """(width, height) from the header, parsed as in `read`."""
    _, _, _, resolution = _header(data, where)
    lines, length = resolution[1], resolution[3]
    return (length, lines) if "Y" in resolution[0] else (lines, length)


def read(data: bytes, where: str) -> NDArray[np.float32]:
    """(H, W, 3) float32, linear, row 0 on top, from a file's bytes, divided by the header's EXPOSURE.

    A value is its mantissa times a power of two, as in most renderers; Radiance itself adds half a step. CIE XYZ and
    colours of the header's PRIMARIES are converted to linear sRGB, whose primaries those without are assumed to have.
    Raises ViewerError for damaged files and sizes of zero.
    """
    start, exposure, matrix, (line_axis, lines, pixel_axis, length) = _header(data, where)
    if len(data) - start < 4 * lines:  # before large allocations for a small file
        raise ViewerError(where, f"{lines:,} lines in {len(data) - start:,} bytes", "the file is truncated")
    texels = np.zeros((lines, length, 4), np.uint8)
    raw = np.frombuffer(data, np.uint8)
    state, line, address = jit.run(decode, raw, start, texels, small=texels.size < 1 << 12)
    if state in _FAULTS:
        what, hint = _FAULTS[state]
        raise ViewerError(where, f"line {line + 1:,} of {lines:,} {what} at byte {address:,}", hint)
    out = texels[..., :3].astype(np.float32)
    scale = np.ldexp(np.float32(1.0), np.arange(256) - 136).astype(np.float32)
    scale[0] = 0.0
    out *= scale[texels[..., 3], None]
    if exposure != 1.0:
        with np.errstate(over="ignore"):  # overflows are reported by the picture's user
            out = (out / exposure).astype(np.float32)
    if matrix is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.einsum("...c,kc", out, matrix.astype(np.float32))
    # Lines run along the header's second axis, in the direction of its sign.
    if line_axis[0] == ("+" if line_axis[1] == "Y" else "-"):
        out = out[::-1]
    if pixel_axis[0] == ("-" if pixel_axis[1] == "X" else "+"):
        out = out[:, ::-1]
    return np.ascontiguousarray(out.transpose(1, 0, 2) if line_axis[1] == "X" else out)


def _header(data: bytes, where: str) -> tuple[int, float, Matrix | None, tuple[str, int, str, int]]:
    """Offset of the pixels, exposure, matrix to sRGB, and (axis of the lines, lines, axis along a line, its length)."""
    if not data.startswith(MAGIC):
        raise ViewerError(where, f"does not begin with '#?RADIANCE' but with {short(data[:10])}", "not a .hdr file")
    exposure, pixel_format = 1.0, ""
    primaries: tuple[float, ...] = SRGB
    start = data.find(b"\n") + 1
    while start:
        end = data.find(b"\n", start, _MAX_HEADER_BYTES)
        if end < 0:
            break
        line, start = data[start:end].strip(), end + 1
        if not line:
            break
        name, equals, value = line.partition(b"=")
        if name == b"FORMAT" and equals:
            pixel_format = value.strip().decode("latin-1")
        elif name == b"EXPOSURE" and equals:
            exposure *= _exposure(value, where)
        elif name == b"PRIMARIES" and equals:
            primaries = _primaries(value, where)
    end = data.find(b"\n", start, _MAX_HEADER_BYTES) if start else -1
    if end < 0:
        raise ViewerError(where, "the header does not end", "the file is truncated")
    if pixel_format not in ("", _RGBE, _XYZE):
        raise ViewerError(where, f"holds {short(pixel_format)}", f"{_RGBE} and {_XYZE} are read; convert the picture")
    matrix = xyz_to_srgb() if pixel_format == _XYZE else srgb_from(primaries, where)
    match = _SIZE.fullmatch(data[start:end])
    if match is None or match.group(2) == match.group(5):
        raise ViewerError(where, f"no size in the header but {short(data[start:end])}", "expected as in -Y 512 +X 1024")
    line_axis, pixel_axis = (match.group(k) + match.group(k + 1) for k in (1, 4))
    lines, length = int(match.group(3)), int(match.group(6))
    if lines == 0 or length == 0:
        raise ViewerError(where, f"a picture of {length} x {lines} pixels", "there is nothing to see")
    return end + 1, exposure, matrix, (line_axis.decode(), lines, pixel_axis.decode(), length)


def _primaries(value: bytes, where: str) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, value.split()))
    except ValueError:
        numbers = ()
    if len(numbers) != 8:
        raise ViewerError(where, f"PRIMARIES is {short(value)}", "expected x and y of red, green, blue and white")
    return numbers


def _exposure(value: bytes, where: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 1e-30 < number < 1e30:
        raise ViewerError(where, f"EXPOSURE is {short(value)}", "expected a number above zero")
    return number
