"""Picture files by extension: PNG, WebP, JPEG, EXR, NPZ; written beside the old file and renamed, whole or not at all.

| ending | picture | layers | metadata |
|---|---|---|---|
| .png | 8-bit sRGB; straight alpha | none | text chunks |
| .webp | 8-bit sRGB, lossless; straight alpha | none | XMP description, a line each |
| .jpg, .jpeg | 8-bit sRGB, quality 95, 4:4:4 | none | the comment, a line each |
| .exr | R, G, B: float32 linear, ZIP; premultiplied by A | channels `depth`, `normal.X` ... | string attributes |
| .npz | `linear`, (H, W, 3) float32, row 0 on top; `alpha` | an array each, under its name | `metadata`, a JSON text |

EXR channels are float32, exact for integers up to 2^24; a layer of larger ones becomes uint32, with 2^32 - 1 in place
of -1.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.base.part_file import is_stream
from raystream.film.layers import RGB, channels, find
from raystream.film.tonemap import exposure_text, srgb8, stops, tonemapped
from raystream.formats.image import exr

# -- encoded 8-bit pictures: lossless PNG and WebP, JPEG for the web; all with metadata --------------------------------

JPEG_QUALITY = 95  # Pillow's highest recommended; 4:4:4 colour keeps edges sharp
MOST_WEBP = 16383  # pixels a side, RFC 9649
WEBP_EFFORT = 60  # 0 .. 100, of the lossless coder
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>'
    '<rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>'
)
_MAX_COMMENT_BYTES = 65533  # bytes: a JPEG segment's length has 16 bits and counts itself


# Keys that ImageMagick takes for settings of a picture it reads, and refuses values of (MagickCore/property.c,
# `SetImageProperty`).
IMAGE_MAGICK = {
    *("alpha", "background", "bias", "colorspace", "compose", "compress", "delay", "density", "depth", "dispose"),
    *("endian", "gamma", "gravity", "intensity", "intent", "interpolate", "loop", "mattecolor", "orientation", "page"),
    *("profile", "rendering-intent", "tile-offset", "units"),
}


def write_png(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write 8-bit sRGB, (H, W, 3), or (H, W, 4) with straight alpha, as PNG, with ``metadata`` as text chunks."""
    from PIL import Image, PngImagePlugin

    info = PngImagePlugin.PngInfo()
    info.add(b"sRGB", b"\0")  # perceptual rendering intent of sRGB
    for key, value in metadata.items():
        if key in IMAGE_MAGICK:
            key = f"raystream:{key}"
        # PNG keywords are 1 to 79 Latin-1 characters; Pillow turns texts beyond Latin-1 into international ones.
        info.add_text(key.encode("latin-1", "replace").decode("latin-1")[:79] or "text", value)
    Image.fromarray(pixels).save(file, format="PNG", pnginfo=info)


def write_jpeg(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as JPEG, 4:4:4, with ``metadata`` as the comment, a line each. JPEG's limit of 65,535
    pixels a side exceeds any picture's."""
    from PIL import Image

    comment = "\n".join(f"{key}: {value}" for key, value in metadata.items()).encode()[:_MAX_COMMENT_BYTES]
    buffer = io.BytesIO()  # Pillow misses a full disk when it writes directly to a file
    Image.fromarray(pixels).save(
        buffer, format="JPEG", quality=JPEG_QUALITY, subsampling=0, optimize=True, comment=comment
    )
    file.write(buffer.getbuffer())


def write_webp(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write 8-bit sRGB, (H, W, 3), or (H, W, 4) with straight alpha, as lossless WebP, with ``metadata`` as the XMP
    description, a line each. Raises ViewerError beyond the format's size."""
    from PIL import Image

    if max(pixels.shape[:2]) > MOST_WEBP:
        what = f"a WebP file holds at most {MOST_WEBP} pixels a side"
        raise ViewerError(f"{pixels.shape[1]} x {pixels.shape[0]}", what, "save as .png or .exr")
    lines = escape("\n".join(f"{key}: {value}" for key, value in metadata.items()), quote=False)
    buffer = io.BytesIO()  # Pillow misses a full disk when it writes directly to a file
    xmp = XMP.format(lines).encode()
    Image.fromarray(pixels).save(buffer, format="WEBP", lossless=True, quality=WEBP_EFFORT, exact=True, xmp=xmp)
    file.write(buffer.getbuffer())


def grey_png(values: NDArray[np.uint16] | NDArray[np.bool_]) -> bytes:
    """(H, W) as a grey PNG of 16 bits, or of 8 bits, 0 and 255, for a mask; without metadata."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(values * np.uint8(255) if values.dtype == bool else values).save(file, format="PNG")
    return file.getvalue()


def png(pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> bytes:
    """The bytes of `write_png`."""
    file = io.BytesIO()
    write_png(file, pixels, metadata)
    return file.getvalue()


# -- picture files by extension ----------------------------------------------------------------------------------------

DISPLAYED = {  # 8 bits
    ".png": ("PNG", write_png),
    ".webp": ("WebP", write_webp),
    ".jpg": ("JPEG", write_jpeg),
    ".jpeg": ("JPEG", write_jpeg),
}
COVERED = 0.5  # alpha beyond which a pixel is of the picture, rather than of what is behind
OPAQUE = ("JPEG",)  # have no alpha channel
FORMATS = (*DISPLAYED, ".exr", ".npz")

# Reserved EXR attribute names; metadata under such a name gets a prefix.
EXR_RESERVED = {
    *("channels", "compression", "dataWindow", "displayWindow", "lineOrder", "pixelAspectRatio", "screenWindowCenter"),
    *("screenWindowWidth", "tiles", "type", "name", "version", "chunkCount", "view", "multiView", "preview"),
}


def save(
    path: str | os.PathLike[str],
    linear: ArrayLike,
    layers: Mapping[str, NDArray] | None = None,
    metadata: Mapping[str, str] | None = None,
    exposure: float | str = 0.0,
    tonemap: str = "none",
    matte: Matte | None = None,
) -> None:
    """Write a picture in the format of its extension.

    linear   : (H, W, 3) linear sRGB, row 0 on top.
    layers   : name -> (H, W) or (H, W, 3); the 8-bit formats leave them out.
    exposure, tonemap : for the 8-bit formats alone, as in `srgb8`.
    matte    : its background.

    The old file stays until the new one is complete, also on Ctrl-C. Raises ViewerError when it cannot be written.
    """
    target = checked_path(path)
    picture = np.ascontiguousarray(linear, np.float32)
    extra = {name: np.asarray(layer) for name, layer in (layers or {}).items()}
    texts = {key: str(value) for key, value in (metadata or {}).items()}
    alpha = matte.alpha if matte is not None and matte.color is None else None
    if alpha is not None:
        check_alpha(path)
    for name, layer in extra.items():
        if layer.shape[:2] != picture.shape[:2]:
            raise ValueError(f"layer {name} has shape {layer.shape}, the picture {picture.shape}")

    def write(part: Path) -> None:
        match _ending(target):
            case ending if ending in DISPLAYED:
                exposure_stops = stops(exposure, picture if matte is None else matte.metered(picture))
                pixels = displayed(picture, matte, exposure_stops, tonemap)
                with open(part, "wb") as file:
                    display_texts = {"exposure": exposure_text(exposure, exposure_stops), "tonemap": tonemap}
                    DISPLAYED[ending][1](file, pixels, {**texts, **display_texts})
            case ".exr":
                _write_exr(part, picture, extra, texts, alpha)
            case ".npz":
                _write_npz(part, picture, extra if alpha is None else {**extra, "alpha": alpha}, texts)

    write_whole(target, write)


def save_unpacked(
    path: str | os.PathLike[str], linear: NDArray, layers: Mapping[str, NDArray], metadata: Mapping[str, str]
) -> None:
    """Write an EXR as `save` does, in a fifth of the time, for packing takes the rest."""
    picture = np.ascontiguousarray(linear, np.float32)
    write_whole(checked_path(path, (".exr",)), lambda part: _write_exr(part, picture, layers, metadata, packed=False))


@dataclass(frozen=True, eq=False)
class Matte:
    """A picture's background: the picture's ``alpha`` (H, W), 0 to 1, and the background's ``color``, linear sRGB, as a
    screen shows it; None: the picture is transparent."""

    alpha: NDArray[np.float32]
    color: tuple[float, float, float] | None = None

    def foreground(self, linear: NDArray[np.float32]) -> NDArray[np.float32]:
        """(H, W, 3): a picture without its background, premultiplied by alpha."""
        if self.color is None:
            return linear
        return np.maximum(linear - (1 - self.alpha[..., None]) * np.asarray(self.color, np.float32), 0)

    def metered(self, linear: NDArray[np.float32]) -> NDArray[np.float32]:
        """(1, N, 3): the colours of pixels covered by more than half, by which a picture is exposed; all pixels where
        none is."""
        covered = self.alpha > COVERED
        colors = self.foreground(linear)[covered] / self.alpha[covered][:, None]
        return colors[None] if len(colors) else linear


def displayed(
    linear: NDArray[np.float32], matte: Matte | None, exposure_stops: float, tonemap: str
) -> NDArray[np.uint8]:
    """8-bit sRGB of a picture (H, W, 3) at an exposure in stops: (H, W, 3), or of a transparent one (H, W, 4), its
    colours not multiplied by alpha, and black where nothing is. A colour behind it is neither exposed nor tone mapped:
    white stays white, whatever stands before it."""
    if matte is None:
        return srgb8(linear, exposure_stops, tonemap)
    alpha = np.asarray(matte.alpha, np.float32)[..., None]
    straight = matte.foreground(linear) / np.where(alpha > 0, alpha, np.float32(1))
    if matte.color is None:
        return np.concatenate(
            [srgb8(straight, exposure_stops, tonemap), np.rint(alpha * 255).astype(np.uint8)], axis=-1
        )
    foreground = np.clip(np.nan_to_num(tonemapped(straight.astype(np.float32), exposure_stops, tonemap)), 0, 1)
    return srgb8(foreground * alpha + (1 - alpha) * np.asarray(matte.color, np.float32))


def check_alpha(path: str | os.PathLike[str]) -> None:
    """Raises ViewerError for a file whose format has no alpha channel."""
    kind = DISPLAYED.get(_ending(checked_path(path)), ("",))[0]
    if kind in OPAQUE:
        raise ViewerError(os.fspath(path), f"a {kind} file has no alpha channel", "save as .png, .webp or .exr")


def save_srgb8(path: str | os.PathLike[str], pixels: NDArray[np.uint8]) -> None:
    """Write 8-bit sRGB pixels, (H, W, 3), as PNG: a screenshot. Raises ViewerError as `save` does."""

    def write(part: Path) -> None:
        with open(part, "wb") as file:
            write_png(file, np.ascontiguousarray(pixels), {})

    write_whole(checked_path(path), write)


def exr_header(path: str | os.PathLike[str]) -> exr.ExrPart:
    """The header of an EXR picture, without its pixels. Raises ViewerError for a missing file, no EXR, or a header cut
    short or damaged."""
    text = os.fspath(path)
    try:
        with open(text, "rb") as file:
            (parts, start), length = exr.read_header(file, text, "start a new render"), os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        raise ViewerError(text, f"cannot be read: {_reason(error)}") from None
    exr.check(parts, start, length, text, "start a new render")
    return parts[0]


def read_exr(
    path: str | os.PathLike[str], names: Iterable[str] | None = None
) -> tuple[dict[str, str], dict[str, NDArray]]:
    """An EXR picture's text attributes, and the channels of these full names, or all, each (H, W). Raises ViewerError
    as `exr_header` does, and for pixels damaged or cut short."""
    head, text = exr_header(path), os.fspath(path)
    if not _exr_complete(Path(text)):
        raise ViewerError(text, "is cut short", "start a new render")
    chosen = list(head.channels if names is None else names)
    pixels = exr.ExrPixels(text, [head], text, "start a new render")
    try:
        planes = pixels.lines(chosen, 0, head.height)
    finally:
        pixels.close()
    return head.texts, dict(zip(chosen, planes, strict=True))


def check_path(path: str | os.PathLike[str], layers: Iterable[str] = ()) -> None:
    """Check before rendering that a picture with these layers can be written to ``path``. Raises ViewerError for an
    unknown ending, a missing folder, no permission, or layers that the format cannot hold."""
    target = checked_path(path)
    names = list(layers)
    if names and _ending(target) in DISPLAYED:
        what = f"a {DISPLAYED[_ending(target)][0]} file cannot hold the layers {', '.join(names)}"
        raise ViewerError(str(path), what, "save as .exr or .npz")
    begin_part(target).end()


def checked_path(path: str | os.PathLike[str], formats: Sequence[str] = FORMATS) -> Path:
    """The file to replace, links resolved, or the FIFO or device to write to, with any extension. Raises ViewerError
    for other kinds of files."""
    text = os.fspath(path)
    try:
        target = Path(os.path.realpath(text))
        folder_exists, is_folder = target.parent.is_dir(), target.is_dir()
    except (OSError, ValueError) as error:  # a name too long, a loop of links, a zero byte
        raise ViewerError(repr(text), f"not a usable file name: {_reason(error)}") from None
    if is_stream(text):
        return Path(text)
    if target.suffix.lower() not in formats or not Path(text).suffix:
        ending = Path(text).suffix
        what = f"unknown picture format '{ending}'" if ending else "the file name has no ending"
        raise ViewerError(text or "picture", what, f"known: {', '.join(formats)}")
    if not folder_exists:
        raise ViewerError(text, f"there is no folder {target.parent}", "make it first")
    if is_folder:
        raise ViewerError(text, "is a folder", "give a file name")
    if target.exists() and not target.is_file():
        raise ViewerError(text, "is a disk or a socket", "give a file name")
    return target


def _ending(target: Path) -> str:
    """The format of a file; PNG for a FIFO or device without a known extension."""
    ending = target.suffix.lower()
    return ".png" if is_stream(target) and ending not in FORMATS else ending


def begin_part(target: Path) -> part_file.PartFile:
    """Create the empty part file of a target: in its folder, with the permissions of an ordinary new file. For a FIFO
    or device it is a temporary file."""
    if is_stream(target):
        if not os.access(target, os.W_OK):
            raise ViewerError(str(target), "cannot be written: Permission denied", "choose another file")
        handle, name = tempfile.mkstemp()
        os.close(handle)
        return part_file.PartFile(Path(name), None)
    try:
        os.lstat(target)  # fails for a name too long for the file system
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ViewerError(str(target), f"cannot be written: {_reason(error)}") from None
    try:
        return part_file.begin(target)
    except OSError as error:
        raise ViewerError(str(target), f"cannot be written: {_reason(error)}", "choose another folder") from None


def write_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a part file, then rename it to the target; on any exception the old file stays."""
    part = begin_part(target)
    try:
        write(part.path)
        if is_stream(target):
            with open(part.path, "rb") as whole, open(target, "wb") as stream:
                shutil.copyfileobj(whole, stream)
            return
        with open(part.path, "rb+") as file:
            os.fsync(file.fileno())  # some file systems report a full disk only now
        if target.exists():
            shutil.copymode(target, part.path)
        os.replace(part.path, target)
    except BaseException as error:
        if isinstance(error, OSError):
            kept = "the old file is kept" if os.path.isfile(target) else ""
            raise ViewerError(str(target), f"cannot be written: {_reason(error)}", kept) from None
        raise
    finally:
        part.end()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _write_npz(part: Path, linear: NDArray, layers: Mapping[str, NDArray], metadata: Mapping[str, str]) -> None:
    arrays: dict[str, NDArray] = {}
    for name, layer in layers.items():
        layer_format = find(name)
        arrays[name] = layer if layer_format is None else np.asarray(layer, layer_format.dtype)
    arrays |= {"linear": linear, "metadata": np.array(json.dumps(dict(metadata)))}
    with open(part, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # its stub takes the names for allow_pickle


def _write_exr(
    part: Path,
    linear: NDArray,
    layers: Mapping[str, NDArray],
    metadata: Mapping[str, str],
    alpha: NDArray | None = None,
    packed: bool = True,
) -> None:
    import OpenEXR

    header = {f"raystream.{key}" if key in EXR_RESERVED else key: value for key, value in metadata.items()}
    packing = OpenEXR.ZIP_COMPRESSION if packed else OpenEXR.NO_COMPRESSION
    header |= {"compression": packing, "type": OpenEXR.scanlineimage}
    channels = {"RGB": linear}
    if alpha is not None:
        channels = {"RGBA": np.concatenate([linear, np.asarray(alpha, np.float32)[..., None]], axis=-1)}
    for name, layer in layers.items():
        channels |= _exr_channels(name, layer)
    try:
        with OpenEXR.File(header, channels) as file:
            file.write(str(part))
    except RuntimeError as error:
        # The library's own message names the part file and ends with the system's error.
        raise OSError(str(error).rstrip(".").rpartition(". ")[2]) from None
    if not _exr_complete(part):
        raise OSError("the disk is full, or a size limit is reached")


def _exr_channels(name: str, layer: NDArray) -> dict[str, NDArray]:
    """Channel name -> (H, W), float32 or uint32, contiguous, as the OpenEXR library requires."""
    kind: type[np.generic] = np.float32
    if layer.dtype.kind in "iu" and layer.size and int(layer.max()) > 1 << 24:
        layer, kind = layer.astype(np.int64) & 0xFFFFFFFF, np.uint32
    if layer.ndim == 2:
        return {name: np.ascontiguousarray(layer, kind)}
    channel_names = channels(name) if find(name) is not None else [f"{name}.{suffix}" for suffix in RGB]
    return {
        channel: np.ascontiguousarray(layer[..., index], kind)
        for index, channel in enumerate(channel_names[: layer.shape[2]])
    }


def _exr_complete(part: Path) -> bool:
    """Whether the last scan lines are in the file: the library loses write errors of a full disk on close. Layout:
    *OpenEXR File Layout* (openexr.com): header, table of chunk offsets, chunks of lines."""
    size = part.stat().st_size
    with open(part, "rb") as file:
        try:
            parts, start = exr.read_header(file, str(part))
        except ViewerError:
            return False
        head = parts[0]
        if len(parts) > 1 or head.tile is not None:  # not one of ours: left to the library
            return True
        file.seek(start)
        table = file.read(8 * head.chunks)
        if len(table) < 8 * head.chunks:
            return False
        last = max(struct.unpack(f"<{head.chunks}Q", table))
        if last == 0 or last + 8 > size:
            return False
        file.seek(last + 4)
        return last + 8 + struct.unpack("<i", file.read(4))[0] <= size
