"""Pictures as environments: Radiance, OpenEXR, PNG and JPEG files, equirectangular or as six faces of a cube."""

from __future__ import annotations

import io
import math
import struct
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import read_file
from raystream.formats.image import exr, hdr
from raystream.formats.image.exr import ExrColors
from raystream.formats.image.images import rgb
from raystream.scene.environment import (
    DARKNESS,
    MOST_TEXELS,
    SUN,
    ConstantEnvironment,
    Environment,
    ImageEnvironment,
    sky,
    studio,
)
from raystream.scene.light import BRIGHTEST
from raystream.scene.texture import linear_from_srgb

# -- cube maps ---------------------------------------------------------------------------------------------------------
# Six faces in the order and orientation of OpenGL (specification 3.3, table 3.18), as one environment picture.
# OpenGL's faces form a left-handed world: the +X face is on the right of the +Z face. World space is right-handed
# here and would mirror the faces. They are sampled at (-x, y, z), as in three.js: pictures keep their orientation,
# +Z and +Y their place, and the +X face appears towards -X.

# Accepted names of the faces, in OpenGL's order.
FACES = (
    ("px", "posx", "right"),
    ("nx", "negx", "left"),
    ("py", "posy", "top", "up"),
    ("ny", "negy", "bottom", "down"),
    ("pz", "posz", "front"),
    ("nz", "negz", "back"),
)

# Columns and rows of the faces in each layout; in the vertical cross the last one is upside down.
_LAYOUTS: dict[str, tuple[int, int, tuple[tuple[int, int], ...]]] = {
    "horizontal cross": (4, 3, ((2, 1), (0, 1), (1, 0), (1, 2), (1, 1), (3, 1))),
    "vertical cross": (3, 4, ((2, 1), (0, 1), (1, 0), (1, 2), (1, 1), (1, 3))),
    "row": (6, 1, tuple((k, 0) for k in range(6))),
    "column": (1, 6, tuple((0, k) for k in range(6))),
}


def layout_of(width: int, height: int) -> str:
    """The layout of six faces by a picture's size: crosses (4 : 3 and 3 : 4) with +Z in the middle, or a row or column
    in OpenGL's order; "" for any other."""
    for name, (columns, rows, _) in _LAYOUTS.items():
        if width * rows == height * columns and width % columns == 0:
            return name
    return ""


def from_layout(pixels: NDArray[np.float32], layout: str) -> NDArray[np.float32]:
    """The faces (6, N, N, 3) of a cube from a picture (H, W, 3) in a layout, as of `layout_of`."""
    columns, _, places = _LAYOUTS[layout]
    side = pixels.shape[1] // columns
    faces = np.stack([pixels[y * side : (y + 1) * side, x * side : (x + 1) * side] for x, y in places])
    if layout == "vertical cross":
        faces[5] = faces[5, ::-1, ::-1]
    return faces


def cube_radiance(faces: NDArray[np.float32], directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 3) radiance from directions (N, 3) of any length: bilinear within a face, clamped at its edges."""
    x, y, z = -directions[:, 0], directions[:, 1], directions[:, 2]
    ax, ay, az = np.abs(directions).T
    major = np.where((ax >= ay) & (ax >= az), 0, np.where(ay >= az, 1, 2))
    major_coordinate = np.choose(major, [x, y, z])
    face = 2 * major + (major_coordinate < 0)
    s = np.choose(face, [-z, z, x, x, x, -x]) / np.abs(major_coordinate)
    t = np.choose(face, [-y, -y, z, -z, -y, -y]) / np.abs(major_coordinate)
    side = faces.shape[1]
    column = np.clip((s + 1) / 2 * side - 0.5, 0, side - 1)
    row = np.clip((t + 1) / 2 * side - 0.5, 0, side - 1)
    c, r = np.floor(column).astype(np.int64), np.floor(row).astype(np.int64)
    fc, fr = (column - c)[:, None], (row - r)[:, None]
    c1, r1 = np.minimum(c + 1, side - 1), np.minimum(r + 1, side - 1)
    top = faces[face, r, c] * (1 - fc) + faces[face, r, c1] * fc
    return top * (1 - fr) + (faces[face, r1, c] * (1 - fc) + faces[face, r1, c1] * fc) * fr


def equirectangular(faces: NDArray[np.float32], max_pixels: int = MOST_TEXELS) -> NDArray[np.float32]:
    """(2 N, 4 N, 3) from six faces (6, N, N, 3), in the orientation of `ImageEnvironment`; reduced to ``max_pixels``
    pixels. Each is the mean of 2 x 2 directions, or of one per face pixel in it."""
    side = faces.shape[1]
    height = min(2 * side, int((max_pixels / 2) ** 0.5))
    width, samples = 2 * height, max(2, -(-4 * side // height))
    panorama = np.zeros((height, width, 3), np.float32)
    azimuths = ((np.arange(width * samples) + 0.5) / (width * samples) - 0.5) * 2 * np.pi
    rows = max(1, (1 << 18) // (width * samples * samples))  # bounds temporary memory to tens of megabytes
    for first in range(0, height, rows):
        last = min(first + rows, height)
        polar = (np.arange(first * samples, last * samples) + 0.5) / (height * samples) * np.pi
        sines, heights = np.sin(polar)[:, None], np.broadcast_to(np.cos(polar)[:, None], (len(polar), len(azimuths)))
        directions = np.stack([sines * np.cos(azimuths), heights, sines * np.sin(azimuths)], axis=-1)
        radiance = cube_radiance(faces, directions.reshape(-1, 3))
        panorama[first:last] = radiance.reshape(last - first, samples, width, samples, 3).mean(axis=(1, 3))
    return panorama


# -- pictures as environments ------------------------------------------------------------------------------------------

# Larger pictures would take over 2 GiB while being read.
MAX_PIXELS = 1 << 26
BAND_PIXELS = 1 << 20  # pixels decoded at once

HIGH_RANGE = (".hdr", ".pic", ".exr")  # endings of pictures of high dynamic range
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


def resolve_environment(
    value: str | tuple[float, float, float] | Environment | None,
    rotation: float = 0.0,
    lit: bool = True,
    sun: tuple[float, float] | None = None,
    single_object: bool = False,
    grounded: bool = False,
) -> tuple[Environment, list[str]]:
    """The environment of an option's value, and notes for the user.

    value : ``"none"``, ``"sky"``, ``"studio"``, a radiance (r, g, b), a file or folder, an environment; or None for a
    default with a note: darkness for scenes with emitters (``lit``), the studio for a ``single_object``, else the sky.
    rotation : degrees about +Y. sun : elevation and azimuth of the sky's, degrees; with one, None means the sky.
    grounded : there is a ground plane, which the studio continues.

    Raises ViewerError for unreadable files.
    """
    notes: list[str] = []
    if value is None and sun is not None:
        value = "sky"
    elif value is None and not lit:
        value, where = ("studio", "in the default studio") if single_object else ("sky", "under the default sky")
        other = "sky or none" if single_object else "none for darkness"
        notes.append(f"the scene has no lights and is {where} (--environment {other})")
    if sun is not None and value != "sky":
        notes.append("--sun needs --environment sky")
    if value is None or value == "none":
        return DARKNESS, notes
    if value in ("sky", "studio") and isinstance(value, str):
        return (studio(cove=grounded) if value == "studio" else sky(sun=sun or SUN)).rotated(rotation), notes
    if isinstance(value, ImageEnvironment):
        return value.rotated(value.rotation + rotation), notes
    if isinstance(value, ConstantEnvironment):
        return value, notes
    if isinstance(value, str | Path):
        if not Path(value).exists():
            what = "is neither a file or folder nor a radiance"
            raise ViewerError(
                f"--environment {str(value)!r}", what, "none, sky, studio, a file, or three numbers such as 1,1,1"
            )
        return load(value, rotation, notes), notes
    return ConstantEnvironment(value), notes


def load(path: str | Path, rotation: float = 0.0, notes: list[str] | None = None) -> ImageEnvironment:
    """The environment of a picture, or of a folder with the six faces of a cube.

    A picture twice as wide as high is equirectangular (oriented as in `ImageEnvironment`). One of 4 : 3 or 3 : 4 is a
    cube's cross, of 6 : 1 or 1 : 6 its faces in a row, see `cube_maps`. Any other is read as equirectangular, with a
    note. More than 2^24 pixels are reduced to that, with a note. Negative components become 0, and infinite ones the
    largest finite one, with notes.
    Raises ViewerError for unreadable files, and for a picture that is nowhere finite.
    """
    path, remarks = Path(path), [] if notes is None else notes
    if path.is_dir():
        return ImageEnvironment(equirectangular(_faces(path, remarks)), path.name, rotation)
    pixels, (width, height) = _read(path, MOST_TEXELS, remarks)
    layout = layout_of(width, height)
    if layout:
        return ImageEnvironment(equirectangular(from_layout(pixels, layout)), path.name, rotation)
    if width != 2 * height:
        remarks.append(f"{path.name} is {width} x {height}, not twice as wide as high; taken for equirectangular")
    if pixels.shape[:2] != (height, width):
        remarks.append(f"{path.name}: {width} x {height} pixels reduced to {pixels.shape[1]} x {pixels.shape[0]}")
    return ImageEnvironment(pixels, path.name, rotation)


def read_picture(path: Path) -> NDArray[np.float32]:
    """(H, W, 3) float32, linear, as stored, row 0 on top; the format is found by content. Raises ViewerError for
    unreadable files."""
    return _read(path)[0]


def _read(
    path: Path, max_pixels: int | None = None, notes: list[str] | None = None
) -> tuple[NDArray[np.float32], tuple[int, int]]:
    """A picture's pixels, block-averaged down to ``max_pixels`` unless in a cube's layout; and its own width and
    height. Decoded in bands, so that a large one is never in memory as floats. Components that are no radiance are
    mended where ``notes`` takes the remarks on them."""
    data, where = read_file(path), str(path)
    if data.startswith(hdr.MAGIC):
        opened = _open_hdr(data, where)
    elif data.startswith(exr.MAGIC):
        opened = _open_exr(data, path, notes)
    elif data.startswith((_PNG, _JPEG)):
        opened = _open_srgb(data, where)
    else:
        raise ViewerError(where, "cannot be an environment: unknown picture format", "known: .hdr, .exr, .png, .jpg")
    with opened as picture:
        width, height = picture.width, picture.height
        block = 1 if max_pixels is None or layout_of(width, height) else _block_edge(width, height, max_pixels)
        pixels_out = np.empty((-(-height // block), -(-width // block), 3), np.float32)
        band = max(1, BAND_PIXELS // (width * block)) * block
        repair = PixelRepair()
        while True:
            for first in range(0, height, band):
                pixels = picture.lines(first, min(first + band, height))
                if notes is not None:
                    pixels = repair.repair(pixels)
                pixels_out[first // block : -(-(first + len(pixels)) // block)] = _average_blocks(pixels, block)
            if not repair.needs_second_pass(where):
                break
    if notes is not None:
        notes.extend(f"{path.name}: {note}" for note in repair.notes())
    return pixels_out, (width, height)


class _Picture(NamedTuple):
    """A picture decoded in bands: ``lines(first, last)`` is (last - first, W, 3) float32, linear."""

    width: int
    height: int
    lines: Callable[[int, int], NDArray[np.float32]]


def reduce_pixels(pixels: NDArray[np.float32], max_pixels: int) -> NDArray[np.float32]:
    """The picture averaged over whole blocks to at most ``max_pixels`` pixels."""
    return _average_blocks(pixels, _block_edge(pixels.shape[1], pixels.shape[0], max_pixels))


def _block_edge(width: int, height: int, max_pixels: int) -> int:
    """The edge of the blocks, in pixels."""
    block = max(1, math.isqrt(-(-height * width // max_pixels)))
    while -(-height // block) * -(-width // block) > max_pixels:
        block += 1
    return block


def _average_blocks(pixels: NDArray[np.float32], block: int) -> NDArray[np.float32]:
    if block == 1:
        return pixels
    height, width = pixels.shape[:2]
    sums = np.zeros((-(-height // block), -(-width // block), 3))
    for row in range(block):
        for column in range(block):
            part = pixels[row::block, column::block]
            sums[: part.shape[0], : part.shape[1]] += part
    row_counts, column_counts = (np.minimum(block, side - np.arange(0, side, block)) for side in (height, width))
    return (sums / (row_counts[:, None] * column_counts)[..., None]).astype(np.float32)


def _check_size(width: int, height: int, where: str) -> None:
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise ViewerError(where, f"{width:,} x {height:,} pixels, not 1 to {MAX_PIXELS:,}", "reduce the picture")


@contextmanager
def _open_hdr(data: bytes, where: str) -> Iterator[_Picture]:
    _check_size(*hdr.size(data, where), where)
    pixels = hdr.read(data, where)
    yield _Picture(pixels.shape[1], pixels.shape[0], lambda first, last: pixels[first:last])


@contextmanager
def _open_srgb(data: bytes, where: str) -> Iterator[_Picture]:
    from PIL import Image, UnidentifiedImageError

    table = linear_from_srgb(np.arange(256) / 255.0).astype(np.float32)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about very large pictures: this loader has its own limit
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
                width, height = image.size
                _check_size(width, height, where)
                image.load()
                yield _Picture(width, height, lambda first, last: table[rgb(image.crop((0, first, width, last)))])
    except Image.DecompressionBombError:
        raise ViewerError(where, "is far too large", "reduce the picture") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, struct.error) as error:
        raise ViewerError(where, f"cannot be decoded: {str(error).lower()}", "the file is damaged") from None


@contextmanager
def _open_exr(data: bytes, path: Path, notes: list[str] | None) -> Iterator[_Picture]:
    where = str(path)
    parts, start = exr.parts(data[: exr.MAX_HEADER_BYTES], where)
    for part in parts:
        _check_size(part.width, part.height, where)
    exr.check(parts, start, len(data), where)
    colors = ExrColors(data, parts, where)
    try:
        if notes is not None and colors.channels.layer:
            notes.append(f"{path.name}: its colours are those of {colors.channels.layer}")
        yield _Picture(colors.width, colors.height, colors.lines)
    finally:
        colors.close()


def _faces(folder: Path, notes: list[str]) -> NDArray[np.float32]:
    """(6, N, N, 3) from the pictures in a folder named after the faces of a cube."""
    paths: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in (*HIGH_RANGE, ".png", ".jpg", ".jpeg"):
            continue
        stem = path.stem.lower()
        for index, names in enumerate(FACES):
            if any(stem == name or (stem.endswith(name) and stem[-len(name) - 1] in "_-. ") for name in names):
                if index in paths:
                    what = f"{paths[index].name} and {path.name} are both the face {names[0]}"
                    raise ViewerError(str(folder), what, "keep one of them there")
                paths[index] = path
    if len(paths) < 6:
        missing = ", ".join(names[0] for index, names in enumerate(FACES) if index not in paths)
        hint = "name the six pictures px, nx, py, ny, pz, nz, with .hdr, .exr, .png or .jpg"
        raise ViewerError(str(folder), f"lacks the faces {missing} of a cube", hint)
    pictures = [_read(paths[index], notes=notes)[0] for index in range(6)]
    shape = pictures[0].shape
    for index, picture in enumerate(pictures):
        if picture.shape != shape or shape[0] != shape[1]:
            size = f"{picture.shape[1]} x {picture.shape[0]}"
            raise ViewerError(str(paths[index]), f"is {size} pixels", "the faces of a cube are squares of one size")
    return np.stack(pictures)


class PixelRepair:
    """Repairs a picture band by band: negative components and NaN become 0, infinite ones and those beyond `BRIGHTEST`
    the largest finite one. That is known after all bands: see `needs_second_pass`."""

    def __init__(self) -> None:
        self._largest = 0.0
        self._limit: float | None = None
        self._negative = self._infinite = self._nan = 0

    def repair(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """The band (H, W, 3) with its faults mended."""
        with np.errstate(invalid="ignore"):
            low, high = pixels.min(), pixels.max()
            if low >= 0 and high <= BRIGHTEST:  # neither, where one is not a number
                self._largest = max(self._largest, float(high))
                return pixels
            negative, infinite, nan = pixels < 0, pixels > BRIGHTEST, np.isnan(pixels)
        if self._limit is None:
            counts = [int(np.count_nonzero(mask.any(axis=-1))) for mask in (negative, infinite, nan)]
            self._negative += counts[0]
            self._infinite += counts[1]
            self._nan += counts[2]
        repaired = np.where(negative | nan | infinite, np.float32(0), pixels)
        self._largest = max(self._largest, float(repaired.max()))
        return repaired if self._limit is None else np.where(infinite, np.float32(self._limit), repaired)

    def needs_second_pass(self, where: str) -> bool:
        """Whether all bands must be mended once more. Raises ViewerError for a picture without a finite light."""
        if not self._infinite or self._limit is not None:
            return False
        if not self._largest:
            raise ViewerError(where, "has no finite light, but infinite pixels", "make the picture anew")
        self._limit = self._largest
        return True

    def notes(self) -> list[str]:
        """The repairs, a line each."""
        mended = (
            (self._negative, "negative", "0"),
            (self._infinite, "infinite", f"the largest finite value, {self._largest:g},"),
            (self._nan, "not a number", "0"),
        )
        return [
            f"{count:,} {'pixel is' if count == 1 else 'pixels are'} {what}; {instead} is in place of that"
            for count, what, instead in mended
            if count
        ]
