"""Pictures as environments: Radiance, OpenEXR, PNG and JPEG files, equirectangular or as six faces of a cube."""

from __future__ import annotations

import io
import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.formats.files import read_file
from viewer.formats.image import hdr
from viewer.formats.image.color import linear_from_srgb
from viewer.formats.image.cube_maps import FACES, equirectangular, from_layout, layout_of
from viewer.scene.environment import (
    DARKNESS,
    MOST_TEXELS,
    ConstantEnvironment,
    Environment,
    ImageEnvironment,
    check_pixels,
    sky,
)

# Larger pictures would take more than about 2 GiB while they are read.
MOST_PIXELS = 1 << 26

_EXR, _PNG, _JPEG = b"\x76\x2f\x31\x01", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


def environment_of(
    value: str | tuple[float, float, float] | Environment | None, rotation: float = 0.0, lit: bool = True
) -> tuple[Environment, list[str]]:
    """The environment that an option means, and notes for the user.

    value : ``"none"``, ``"sky"``, a radiance (r, g, b), a file or folder, an environment; or None: darkness where
    something in the scene shines (``lit``), else the sky, which the notes then say. rotation : degrees about +Y.

    Raises ViewerError for files that cannot be read.
    """
    notes: list[str] = []
    if value is None and not lit:
        notes.append("the scene has no lights: it stands under the default sky (--environment none for darkness)")
        value = "sky"
    if value is None or value == "none":
        return DARKNESS, notes
    if value == "sky":
        return sky().rotated(rotation), notes
    if isinstance(value, ImageEnvironment):
        return value.rotated(value.rotation + rotation), notes
    if isinstance(value, ConstantEnvironment):
        return value, notes
    if isinstance(value, str | Path):
        if not Path(value).exists():
            what = "is neither a file or folder nor a radiance"
            raise ViewerError(f"environment '{value}'", what, "none, sky, a file, or three numbers such as 1,1,1")
        return load(value, rotation, notes), notes
    return ConstantEnvironment(value), notes


def load(path: str | Path, rotation: float = 0.0, notes: list[str] | None = None) -> ImageEnvironment:
    """The environment of a picture, or of a folder with the six faces of a cube.

    A picture twice as wide as high is equirectangular (`ImageEnvironment` says which way it faces). One of 4 : 3 or
    3 : 4 is a cube's cross, of 6 : 1 or 1 : 6 its faces in a row; `cube_maps` says how they lie. Any other is taken for
    equirectangular, with a note. More than 2^24 pixels are reduced to that, with a note.
    Raises ViewerError for what cannot be read, and for a pixel that is negative, too bright or not finite.
    """
    path, remarks = Path(path), [] if notes is None else notes
    if path.is_dir():
        return ImageEnvironment(equirectangular(_faces(path)), path.name, rotation)
    pixels = read_picture(path)
    height, width = pixels.shape[:2]
    layout = layout_of(width, height)
    if layout:
        return ImageEnvironment(equirectangular(from_layout(pixels, layout)), path.name, rotation)
    if width != 2 * height:
        remarks.append(f"{path.name} is {width} x {height}, not twice as wide as high; taken for equirectangular")
    if width * height > MOST_TEXELS:
        pixels = reduced(pixels, MOST_TEXELS)
        remarks.append(f"{path.name}: {width} x {height} pixels reduced to {pixels.shape[1]} x {pixels.shape[0]}")
    return ImageEnvironment(pixels, path.name, rotation)


def read_picture(path: Path) -> NDArray[np.float32]:
    """(H, W, 3) float32, linear, row 0 on top; the format is found by content. Raises ViewerError as `load` does."""
    data, where = read_file(path), str(path)
    if data.startswith(hdr.MAGIC):
        _check_size(*hdr.size(data, where), where)
        pixels = hdr.read(data, where)
    elif data.startswith(_EXR):
        pixels = _read_exr(data, where)
    elif data.startswith((_PNG, _JPEG)):
        pixels = _read_srgb(data, where)
    else:
        raise ViewerError(where, "is no picture that can be an environment", "known: .hdr, .exr, .png, .jpg")
    check_pixels(pixels, where)
    return pixels


def reduced(pixels: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """The picture with whole blocks of pixels averaged, so that at most ``most`` are left."""
    height, width = pixels.shape[:2]
    block = math.isqrt(-(-height * width // most))
    while -(-height // block) * -(-width // block) > most:
        block += 1
    rows, columns = np.arange(0, height, block), np.arange(0, width, block)
    summed = np.add.reduceat(np.add.reduceat(pixels, rows, axis=0, dtype=np.float64), columns, axis=1)
    tall, wide = np.diff(np.append(rows, height)), np.diff(np.append(columns, width))
    return (summed / (tall[:, None] * wide)[..., None]).astype(np.float32)


def _check_size(width: int, height: int, where: str) -> None:
    if width < 1 or height < 1 or width * height > MOST_PIXELS:
        raise ViewerError(
            where, f"{width:,} x {height:,} pixels, which is not 1 to {MOST_PIXELS:,}", "reduce the picture"
        )


def _read_srgb(data: bytes, where: str) -> NDArray[np.float32]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            _check_size(*image.size, where)
            encoded = np.asarray(image.convert("RGB"))
    except Image.DecompressionBombError:
        raise ViewerError(where, "is far too large", "reduce the picture") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, struct.error) as error:
        raise ViewerError(where, f"cannot be decoded: {str(error).lower()}", "the file is damaged") from None
    return linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)[encoded]


def _read_exr(data: bytes, where: str) -> NDArray[np.float32]:
    import OpenEXR

    try:
        with OpenEXR.File(io.BytesIO(data), separate_channels=True, header_only=True) as head:
            low, high = head.header()["dataWindow"]
        width, height = (int(b) - int(a) + 1 for a, b in zip(low, high, strict=True))
        _check_size(width, height, where)
        if not _exr_whole(data, height):
            raise ViewerError(where, "pixels are missing", "the file is truncated")
        with OpenEXR.File(io.BytesIO(data), separate_channels=True) as file:
            channels = {name: channel.pixels for name, channel in file.channels().items()}
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise ViewerError(where, f"cannot be read as OpenEXR: {str(error)[:80]}", "the file is damaged") from None
    names = next((names for names in ("RGB", "YYY") if all(name in channels for name in names)), None)
    if names is None:
        known = ", ".join(channels) or "none"
        raise ViewerError(where, "has no channels R, G and B", f"channels: {known}")
    if any(channels[name] is None or np.shape(channels[name]) != (height, width) for name in names):
        raise ViewerError(where, "channels are of another size than the picture", "subsampled or damaged; convert it")
    return np.stack([np.asarray(channels[name], np.float32) for name in names], axis=-1)


def _exr_whole(data: bytes, height: int) -> bool:
    """Whether all chunks that a scan-line file's table names lie in it: the library warns of such a file, and goes on
    (*OpenEXR File Layout*). Tiles and several parts are left to the library."""
    version = struct.unpack_from("<I", data, 4)[0]
    if version & 0x1A00:  # tiled, deep, several parts
        return True
    at, lines = 8, 1
    while at < len(data) and data[at]:
        name_end = data.find(b"\0", at)
        kind_end = data.find(b"\0", name_end + 1)
        if name_end < 0 or kind_end < 0 or kind_end + 5 > len(data):
            return False
        if data[at:name_end] == b"compression":
            lines = {3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256}.get(data[kind_end + 5], 1)
        at = kind_end + 5 + struct.unpack_from("<I", data, kind_end + 1)[0]
    chunks = -(-height // lines)
    if at + 1 + 8 * chunks > len(data):
        return False
    for offset in struct.unpack_from(f"<{chunks}Q", data, at + 1):
        if offset + 8 > len(data) or offset + 8 + struct.unpack_from("<I", data, offset + 4)[0] > len(data):
            return False
    return True


def _faces(folder: Path) -> NDArray[np.float32]:
    """(6, N, N, 3) of the pictures in a folder that are named like the faces of a cube."""
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in (".hdr", ".pic", ".exr", ".png", ".jpg", ".jpeg"):
            continue
        stem = path.stem.lower()
        for number, names in enumerate(FACES):
            if any(stem == name or (stem.endswith(name) and stem[-len(name) - 1] in "_-. ") for name in names):
                if number in found:
                    what = f"{found[number].name} and {path.name} are both the face {names[0]}"
                    raise ViewerError(str(folder), what, "keep one of them there")
                found[number] = path
    if len(found) < 6:
        missing = ", ".join(names[0] for number, names in enumerate(FACES) if number not in found)
        hint = "name the six pictures px, nx, py, ny, pz, nz, with .hdr, .exr, .png or .jpg"
        raise ViewerError(str(folder), f"lacks the faces {missing} of a cube", hint)
    pictures = [read_picture(found[number]) for number in range(6)]
    shape = pictures[0].shape
    for number, picture in enumerate(pictures):
        if picture.shape != shape or shape[0] != shape[1]:
            size = f"{picture.shape[1]} x {picture.shape[0]}"
            raise ViewerError(str(found[number]), f"is {size} pixels", "the faces of a cube are squares of one size")
    return np.stack(pictures)
