"""Differences between two pictures: FLIP, relative error, largest difference, shares of differing pixels and blemishes.

Two linear pictures are compared as radiance. If one has 8 or 16 bits for display, the other is displayed as well, and
sRGB values of 0 to 1 are compared. FLIP (P. Andersson et al., "FLIP: A Difference Evaluator for Alternating Images",
2020) always compares displayed pictures; linear ones by the first one's exposure.
"""

from __future__ import annotations

import io
import math
import os
import sys
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.film.files import image
from raystream.film.layers import LAYERS, channels
from raystream.film.tonemap import AUTO, TONEMAPS, decode, srgb8, stops
from raystream.formats.files import read_file
from raystream.formats.image import exr, hdr
from raystream.formats.image.environment_maps import read_picture
from raystream.formats.image.exr import in_display_window
from raystream.formats.image.images import decode as decode_image
from raystream.options.table import OPTIONS
from raystream.scene.light import LUMINANCE

# -- blemishes of a picture beside the converged one: specks, holes and fringes, each a mask of pixels -----------------
# Means over a picture, as FLIP's, hide single pixels that the eye sees at once. Pictures are displayed ones, (H, W,
# 3) sRGB values of 0 to 1, row 0 at the top; beyond the picture's edge its outermost pixels are repeated.

SPECK = 20 / 255  # of a display value off the median of its 3 x 3
HOLE = 1 / 3  # of the converged linear luminance
FRINGE = 0.1  # of chroma
BORDER = 2  # pixels from an edge of the ids that a fringe reaches
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Blemishes:
    """The shares of a picture's pixels that are specks, holes, and fringes (None without ids)."""

    specks: float
    holes: float
    fringes: float | None


def blemishes(shown: ArrayLike, converged: ArrayLike, ids: ArrayLike | None = None) -> Blemishes:
    """The blemishes of a displayed picture (H, W, 3) beside the converged one. ids : see `fringes`."""
    beyond = None if ids is None else float(fringes(shown, converged, ids).mean())
    return Blemishes(float(specks(shown, converged).mean()), float(holes(shown, converged).mean()), beyond)


def specks(shown: ArrayLike, converged: ArrayLike) -> Mask:
    """(H, W): the pixels more than `SPECK` off the median of their 3 x 3 where the converged picture's are not, and off
    the converged ones by as much: a pixel that is right is no speck beside blurred ones. Channel by channel: a blue
    speck of full strength has 7 % of white's luminance."""
    picture, truth = _picture(shown), _picture(converged)
    off = np.abs(picture - truth) > SPECK
    return np.asarray((dots(picture) & off & ~dots(truth)).any(axis=-1))


def dots(picture: ArrayLike) -> Mask:
    """(H, W, 3): the channels of pixels more than `SPECK` off the median of their 3 x 3: specks, or details as fine."""
    values = _picture(picture)
    return np.asarray(np.abs(values - _medians(values)) > SPECK)


def holes(shown: ArrayLike, converged: ArrayLike) -> Mask:
    """(H, W): the pixels of less than `HOLE` of the converged linear luminance where most of the 8 around them are not.

    Of the least converged luminance of their 3 x 3: a missing part of a lamp, or of an edge to black, is no hole, nor
    is the converged picture's own noise. Light that fades into the dark, less than `HOLE` from pixel to pixel, is
    missing light, and none either. Below a display value of `SPECK` none is visible.
    """
    luminance, of_converged = (_luminance(decode(_picture(picture))) for picture in (shown, converged))
    level = _windows(of_converged).min(axis=-1)
    dark = (level > _luminance(decode(np.full(3, SPECK)))) & (luminance < HOLE * level)
    deep = luminance < HOLE * _windows(luminance).max(axis=-1)
    return dark & deep & (_windows(dark).sum(axis=-1) <= 1 + 4)


def fringes(shown: ArrayLike, converged: ArrayLike, ids: ArrayLike) -> Mask:
    """(H, W): the pixels within `BORDER` of an edge of the ids whose chroma is off by more than `FRINGE`. Chroma: red
    and blue display values, each less the luma of Rec. 709, as a vector. ids : (H, W), or (H, W, K) of several kinds;
    an edge is where neighbours in a row or column differ in one of them."""
    off = _chroma(_picture(shown)) - _chroma(_picture(converged))
    return near_edges(ids) & (np.sqrt((off**2).sum(axis=-1)) > FRINGE)


def near_edges(ids: ArrayLike) -> Mask:
    """(H, W): the pixels with other ids within `BORDER`."""
    identities = np.asarray(ids)
    identities = identities.reshape(*identities.shape[:2], -1)
    near = np.zeros(identities.shape[:2], bool)
    for kind in np.moveaxis(identities, -1, 0):
        around = _windows(kind, BORDER)
        near |= (around != kind[..., None]).any(axis=-1)
    return near


def _medians(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W, 3): of each channel over each pixel's 3 x 3."""
    around = np.stack([_windows(channel) for channel in np.moveaxis(picture, -1, 0)], axis=-2)
    return np.asarray(np.partition(around, 4, axis=-1)[..., 4])


def _windows(values: NDArray, radius: int = 1) -> NDArray:
    """(H, W, N): the values of each pixel's square."""
    side = 2 * radius + 1
    padded = np.pad(values, radius, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (side, side)).reshape(*values.shape, side * side)


def _luminance(linear: NDArray) -> NDArray:
    return np.asarray(linear @ LUMINANCE)


def _chroma(picture: NDArray[np.float32]) -> NDArray:
    return picture[..., ::2] - _luminance(picture)[..., None]


def _picture(values: ArrayLike) -> NDArray[np.float32]:
    return np.asarray(values, np.float32)


# -- differences between two pictures ----------------------------------------------------------------------------------

DARKEST = 0.1  # times the first picture's mean: the smallest divisor of a relative difference
TOLERANCE = 0.01  # of a component, beyond which a pixel counts as different
IDS = ("object", "material")  # layers whose edges fringes lie beside
ZIP = b"PK\x03\x04"
# Of flip-evaluator, see pyproject.toml.
INSTALL = "pip install 'raystream[diff]'" if sys.version_info < (3, 14) else "Python 3.14 has no wheel of it"


@dataclass(frozen=True, eq=False)
class ComparedPicture:
    """A picture to compare. pixels : (H, W, 3) float32, row 0 on top: linear sRGB, or for a ``displayed`` one sRGB
    values of 0 to 1; for a layer (H, W) or (H, W, 3) in its own unit.

    exposure, tonemap : of its display; for a displayed one from its file; None: those of the other picture, or else
    Raystream's defaults. ids : (H, W, K), its layers of `IDS`; None without one.
    """

    name: str
    pixels: NDArray
    displayed: bool = False
    exposure: float | str | None = None
    tonemap: str | None = None
    ids: NDArray | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """The difference of the second of two pictures from the first.

    kind    : ``linear``, ``displayed``, or the name of a layer.
    flip    : mean FLIP, 0 to 1; None of a layer, and where flip-evaluator is not installed.
    error   : relative: root of the mean square of (second - first) / max(first, a tenth of its mean), in luminance.
    largest : difference of a component; ``at`` the column and row of the first pixel that has it.
    share   : of pixels with a component that differs by more than ``tolerance``.
    blemishes : of the second picture as it is displayed, the first one being converged; None of a layer.
    shown   : both pictures and their difference as 8-bit sRGB, (H, W, 3) each; of FLIP's errors, or without it of the
              largest difference in each pixel.
    """

    names: tuple[str, str]
    kind: str
    size: tuple[int, int]
    flip: float | None
    error: float
    largest: float
    at: tuple[int, int]
    share: float
    tolerance: float
    blemishes: Blemishes | None
    shown: Mapping[str, NDArray[np.uint8]] = field(repr=False)


def read(path: str | os.PathLike[str], layer: str | None = None) -> ComparedPicture:
    """A picture file, PNG, JPEG, WebP, EXR, Radiance or NPZ by content, or one of its layers. Opacity is left out.
    Raises ViewerError for an unreadable file, NaN or infinite pixels, and an unknown layer."""
    name, data = os.fspath(path), read_file(Path(path))
    if data.startswith(ZIP):
        return _read_npz(name, data, layer)
    if data.startswith(exr.MAGIC):
        return _read_exr(name, layer)
    if layer is not None:
        raise ViewerError(name, f"holds no layer '{layer}'", "EXR and NPZ files have layers")
    if data.startswith(hdr.MAGIC):
        return _finite(ComparedPicture(name, read_picture(Path(path))))
    texels = decode_image(data, name).texels
    exposure, tonemap = _display(data)
    values = np.asarray(texels[..., :3], np.float32) / (255 if texels.dtype == np.uint8 else 65535)
    return ComparedPicture(name, values, True, exposure, tonemap)


def compare(
    first: ComparedPicture, second: ComparedPicture, layer: str | None = None, tolerance: float = TOLERANCE
) -> Comparison:
    """The second picture, or its layer, against the first. Raises ViewerError for pictures of different sizes, and for
    layers of different kinds."""
    sizes = [f"{picture.pixels.shape[1]} x {picture.pixels.shape[0]}" for picture in (first, second)]
    if sizes[0] != sizes[1]:
        what = f"is {sizes[1]} pixels, and {first.name} {sizes[0]}"
        raise ViewerError(second.name, what, "make them of one size")
    if first.pixels.shape != second.pixels.shape:
        raise ViewerError(second.name, f"layer {layer} has another number of components than that of {first.name}")
    displayed = first.displayed or second.displayed
    flip_errors: NDArray | None = None
    spots: Blemishes | None = None
    one: NDArray
    other: NDArray
    if layer is not None:
        one, other = (picture.pixels.astype(np.float64) for picture in (first, second))
        error = _relative(one, other)
        pictures = _layer_pictures(one, other)
    else:
        codes = _displayed(first, second)
        display_values = [picture.astype(np.float32) / np.float32(255) for picture in codes]
        spots = blemishes(display_values[1], display_values[0], first.ids if first.ids is not None else second.ids)
        if displayed:  # of 16 bits all stay
            pairs = zip((first, second), display_values, strict=True)
            one, other = (picture.pixels if picture.displayed else values for picture, values in pairs)
            error = relative_error(decode(one), decode(other))
        else:
            one, other = first.pixels, second.pixels
            error = relative_error(one, other)
        flip_errors = flip_map(*display_values) if has_flip() else None
        pictures = dict(zip(("first", "second"), codes, strict=True))
    apart = _largest_difference(one, other)
    row, column = divmod(int(np.argmax(apart)), apart.shape[1])
    errors: NDArray | None = apart / apart.max() if flip_errors is None and 0 < apart.max() < math.inf else flip_errors
    return Comparison(
        (first.name, second.name),
        layer or ("displayed" if displayed else "linear"),
        (apart.shape[1], apart.shape[0]),
        None if flip_errors is None else float(flip_errors.mean(dtype=np.float64)),
        error,
        float(apart.max()),
        (column, row),
        float((apart > tolerance).mean()),
        tolerance,
        spots,
        {**pictures, "difference": _heat(apart > 0 if errors is None else errors)},
    )


def relative_error(first: ArrayLike, second: ArrayLike) -> float:
    """The root of the mean square of (second - first) / max(first, a tenth of its mean), in luminance, of linear
    pictures (H, W, 3); infinite where the first is black and the second is not."""
    one, other = (np.asarray(picture, np.float64) @ LUMINANCE for picture in (first, second))
    return _relative(one, other)


def stacked_ids(layers: Mapping[str, NDArray]) -> NDArray | None:
    """(H, W, K) of those layers that are in `IDS`; None where none is."""
    ids = [layers[name] for name in IDS if name in layers]
    return np.stack(ids, axis=-1) if ids else None


def has_flip() -> bool:
    """Whether flip-evaluator is importable."""
    from importlib.util import find_spec

    return find_spec("flip_evaluator") is not None


def flip_map(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W): FLIP of two displayed pictures (H, W, 3), sRGB values of 0 to 1, at the evaluator's default of 67 pixels
    per degree. Raises ViewerError where the evaluator is not installed."""
    try:
        import flip_evaluator
    except ImportError as error:
        raise ViewerError("FLIP", "flip-evaluator is not installed", INSTALL) from error
    errors = flip_evaluator.evaluate(first, second, "LDR", applyMagma=False, computeMeanError=False)[0]
    return np.asarray(errors, np.float32).reshape(first.shape[:2])


def flip(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """The mean of `flip_map`."""
    return float(flip_map(first, second).mean(dtype=np.float64))


def _relative(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The relative difference of (H, W), or of vectors (H, W, 3) by length; equal infinities, as depths of misses,
    count as equal."""
    one, other = (values.reshape(*values.shape[:2], -1) for values in (one, other))
    both = (np.isfinite(one) & np.isfinite(other)).all(axis=-1)
    if not (both | (one == other).all(axis=-1)).all():
        return math.inf
    first, off = one[both], other[both] - one[both]
    strength = np.sqrt((first**2).sum(axis=-1))
    apart, scale = np.sqrt((off**2).sum(axis=-1)), np.maximum(strength, DARKEST * strength.mean() if both.any() else 0)
    if not apart.any():
        return 0.0
    return math.inf if not scale.all() else float(np.sqrt(((apart / scale) ** 2).sum() / both.size))


def _largest_difference(one: NDArray, other: NDArray) -> NDArray[np.float64]:
    """(H, W): the largest difference of a component; 0 for equal infinities and for two NaN."""
    one, other = (np.asarray(values, np.float64).reshape(*values.shape[:2], -1) for values in (one, other))
    with np.errstate(invalid="ignore"):
        off = np.abs(other - one)
    off[(one == other) | (np.isnan(one) & np.isnan(other))] = 0
    off[np.isnan(off)] = math.inf
    return np.asarray(off.max(axis=-1))


def _displayed(first: ComparedPicture, second: ComparedPicture) -> list[NDArray[np.uint8]]:
    """Both as 8-bit sRGB: linear ones with the same exposure and tone map."""
    exposure = next((picture.exposure for picture in (first, second) if picture.exposure is not None), AUTO)
    tonemap = next(
        (picture.tonemap for picture in (first, second) if picture.tonemap is not None),
        OPTIONS["tonemap"].value.default,
    )
    linear = [picture for picture in (first, second) if not picture.displayed]
    exposure_stops = stops(exposure, linear[0].pixels) if linear else 0.0
    return [
        np.rint(picture.pixels * 255).astype(np.uint8)
        if picture.displayed
        else srgb8(picture.pixels, exposure_stops, tonemap)
        for picture in (first, second)
    ]


def _layer_pictures(one: NDArray[np.float64], other: NDArray[np.float64]) -> dict[str, NDArray[np.uint8]]:
    """Both layers as pictures, grey or colour, over the range of the first one's finite values."""
    finite = one[np.isfinite(one)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    span = high - low or 1.0

    def look(values: NDArray[np.float64]) -> NDArray[np.uint8]:
        scaled = np.clip((np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / span, 0, 1)
        codes = np.rint(scaled * 255).astype(np.uint8)
        return codes if codes.ndim == 3 else np.repeat(codes[..., None], 3, axis=2)

    return {"first": look(one), "second": look(other)}


def _heat(fraction: NDArray) -> NDArray[np.uint8]:
    """(H, W, 3): black, by red and yellow, to white, for 0 to 1."""
    ramp = 3 * np.clip(np.asarray(fraction, np.float64), 0, 1)[..., None] - np.arange(3)
    return np.rint(np.clip(ramp, 0, 1) * 255).astype(np.uint8)


def _finite(picture: ComparedPicture) -> ComparedPicture:
    wrong = np.argwhere(~np.isfinite(picture.pixels).all(axis=-1))
    if wrong.size:
        row, column = wrong[0]
        raise ViewerError(picture.name, f"pixel ({column}, {row}) is not finite", "column and row from the upper left")
    return picture


def _display(data: bytes) -> tuple[float | None, str | None]:
    """Exposure and tone map from the metadata of an 8-bit file of Raystream."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:  # already read once
        metadata: dict[str, object] = {str(key): value for key, value in opened.info.items()}
    comment = metadata.get("comment", b"")
    if isinstance(comment, bytes):
        comment = comment.decode(errors="replace")
    metadata |= dict(line.split(": ", 1) for line in str(comment).splitlines() if ": " in line)
    try:
        exposure = float(str(metadata.get("exposure", "")).split(" ")[0])
    except ValueError:
        exposure = math.nan
    tonemap = metadata.get("tonemap")
    return (exposure if abs(exposure) <= 32 else None), (str(tonemap) if tonemap in TONEMAPS else None)


def _missing(name: str, layer: str, layers: Collection[str]) -> ViewerError:
    return ViewerError(name, f"holds no layer '{layer}'", f"its layers: {', '.join(layers) or 'none'}")


def _read_exr(name: str, layer: str | None) -> ComparedPicture:
    if layer is None:
        pixels, present = read_picture(Path(name)), image.exr_header(name).channels
        ids = [channel for channel in IDS if channel in present]
        stacked = stacked_ids(image.read_exr(name, ids)[1]) if ids else None
        same = stacked is not None and stacked.shape[:2] == pixels.shape[:2]  # not of a crop in a larger window
        return _finite(ComparedPicture(name, pixels, ids=stacked if same else None))
    head = image.exr_header(name)
    present, names = head.channels, channels(layer)
    if not set(names) <= present.keys():
        raise _missing(name, layer, [candidate for candidate in LAYERS if present.keys() >= set(channels(candidate))])
    _, planes_of = image.read_exr(name, names)
    planes = [in_display_window(planes_of[channel], head, name) for channel in names]
    return ComparedPicture(name, planes[0] if len(planes) == 1 else np.stack(planes, axis=-1))


def _read_npz(name: str, data: bytes, layer: str | None) -> ComparedPicture:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            layers = [key for key in file.files if key not in ("linear", "metadata")]
            if "linear" not in file.files:
                raise ViewerError(name, "holds no array 'linear'", "an NPZ that raystream render has written")
            if layer is not None and layer not in layers:
                raise _missing(name, layer, layers)
            values = file[layer or "linear"]
            ids = stacked_ids({key: file[key] for key in layers if key in IDS})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ViewerError(name, f"cannot be read: {error}", "the file is damaged") from None
    if values.dtype.kind not in "fiu" or values.ndim not in (2, 3) or not values.size:
        raise ViewerError(name, f"'{layer or 'linear'}' is {values.shape} of {values.dtype}", "expected (H, W, 3)")
    if layer is None:
        if values.ndim != 3 or values.shape[2] != 3:
            raise ViewerError(name, f"'linear' has shape {values.shape}", "expected (H, W, 3)")
        return _finite(ComparedPicture(name, values.astype(np.float32), ids=ids))
    return ComparedPicture(name, values)
