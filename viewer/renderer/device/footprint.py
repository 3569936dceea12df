"""The memory that a picture takes while it is rendered and saved, estimated before any is allocated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raystream.base.errors import ViewerError
from raystream.base.memory import available
from raystream.film.layers import LAYERS, SERIES, expanded
from raystream.kernels.light_layers import LIGHT_LAYERS, LIGHT_SUMS
from raystream.kernels.records import FEATURES, FILM, HALF

# Bytes of a pixel on the host, beside layers: the film and the picture made of it; for programs of samples also the
# film as it is read back with its first half, and the float64 arrays by which its noise is judged.
_CAST_BYTES = FILM.dtype.itemsize + 24
_SAMPLED_BYTES = 2 * FILM.dtype.itemsize + HALF.texels * 16 + 40
_UNCHECKED_BYTES = 1 << 26  # up to these free memory is not asked for: Linux takes as long as a small picture
_SUGGESTED_SHARE = 0.9  # of the free memory, for the size that a refusal suggests


def picture_bytes(
    size: tuple[int, int], progressive: bool, layers: Sequence[str] = (), software: bool = False, bounces: int = 0
) -> int:
    """Bytes of memory for a picture of ``size`` (width, height) with these layers. software : the driver's textures lie
    in the same memory. bounces : layers that the series ``bounce`` has."""
    layers = expanded(layers)
    sizes = {name: LAYERS[name].empty(1, 1).nbytes for name in layers if name not in SERIES}
    pixel_bytes = (_SAMPLED_BYTES if progressive else _CAST_BYTES) + 2 * sum(
        sizes.values()
    )  # a format may hold them once more
    pixel_bytes += 2 * 12 * bounces if "bounce" in layers else 0
    textures = (FILM.texels + HALF.texels) * 16 if progressive else 0
    if progressive and not {"depth", "normal", "albedo"}.isdisjoint(sizes):
        pixel_bytes += FEATURES.dtype.itemsize
        textures += FEATURES.texels * 16
    if progressive and not sizes.keys().isdisjoint(LIGHT_LAYERS):
        textures += LIGHT_SUMS.texels * 16
    return size[0] * size[1] * (pixel_bytes + (textures if software else 0))


def check_memory(
    size: tuple[int, int],
    progressive: bool,
    layers: Sequence[str] = (),
    software: bool = False,
    bounces: int = 0,
    extra_bytes: int = 0,
) -> None:
    """Raise ViewerError where free memory holds less than the picture, by `picture_bytes`, and ``extra_bytes``. The
    error names both amounts, and a size that fits. Small pictures are not checked."""
    needed = picture_bytes(size, progressive, layers, software, bounces) + extra_bytes
    free = None if needed <= _UNCHECKED_BYTES else available()
    if free is None or needed <= free:
        return
    scale = math.sqrt(_SUGGESTED_SHARE * free / needed)
    fits = [max(1, int(side * scale) // 16 * 16) for side in size]
    raise ViewerError(
        f"--size {size[0]}x{size[1]}",
        f"takes about {bytes_text(needed)} of memory, and {bytes_text(free)} are free",
        f"--size {fits[0]}x{fits[1]} or less fits here",
    )


def bytes_text(count: int) -> str:
    """A count of bytes in GiB or MiB, as text."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{math.ceil(count / 2**20):,} MiB"
