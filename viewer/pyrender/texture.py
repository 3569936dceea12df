"""Textures and their samplers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender.checked import Checked, label
from raystream.pyrender.constants import GLTF

CHANNELS = {"R": (0,), "RG": (0, 1), "GB": (1, 2), "RGB": (0, 1, 2), "RGBA": (0, 1, 2, 3)}


class Sampler:
    """Filters and wrap modes, numbers of `GLTF`; a filter of None is linear."""

    name = Checked(label)

    def __init__(
        self,
        name: str | None = None,
        magFilter: int | None = None,
        minFilter: int | None = None,
        wrapS: int = GLTF.REPEAT,
        wrapT: int = GLTF.REPEAT,
    ) -> None:
        self.name = name
        self.magFilter, self.minFilter = magFilter, minFilter
        self.wrapS, self.wrapT = wrapS, wrapT


class Texture:
    """An image and its sampler.

    source : (H, W, C) uint8 or float of 0 to 1, or a picture of Pillow; ``source`` then is the array (H, W, channels)
    uint8 of ``source_channels``, one of `CHANNELS`.
    """

    name = Checked(label)
    sampler = Checked(lambda value: Sampler() if value is None else value)

    def __init__(
        self,
        name: str | None = None,
        sampler: Sampler | None = None,
        source: Any = None,
        source_channels: str | None = None,
        width: int | None = None,
        height: int | None = None,
        **_: Any,
    ) -> None:
        self.name, self.sampler = name, sampler
        self.source_channels = source_channels or "RGB"
        self.source = source
        self.height, self.width = height, width
        if self.source is not None:
            self.height, self.width = self.source.shape[:2]

    @property
    def source(self) -> NDArray[np.uint8] | None:
        """The image."""
        return self._source

    @source.setter
    def source(self, value: Any) -> None:
        self._source = None if value is None else texels(value, self.source_channels)

    def is_transparent(self, cutoff: float = 1.0) -> bool:
        """Whether some texel's opacity is below ``cutoff``, of 0 to 1."""
        if self.source is None or self.source_channels != "RGBA":
            return False
        return bool((self.source[..., 3] < cutoff * 255).any())


def texels(value: Any, channels: str) -> NDArray[np.uint8]:
    """(H, W, C) uint8 of an image, with the channels asked for: grey stands for each, opacity is full where there is
    none. Raises ValueError and TypeError for other images."""
    if channels not in CHANNELS:
        raise ValueError(f"source_channels is {channels!r}, expected one of {', '.join(CHANNELS)}")
    mode = getattr(value, "mode", None)
    if mode in ("1", "P", "PA", "CMYK", "YCbCr", "HSV", "LAB"):  # Pillow's, whose values are no colours as they are
        value = value.convert("RGBA" if "A" in channels or mode == "PA" else "RGB")
    pixels = np.asarray(value)
    if pixels.dtype.kind == "f":
        pixels = np.clip(pixels * 255.0, 0, 255)
    elif pixels.dtype.kind not in "iub":
        raise TypeError(f"a texture of {pixels.dtype}, expected numbers")
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 2, 3, 4):
        raise ValueError(f"a texture of shape {np.shape(value)}, expected (H, W), or (H, W, 1 to 4)")
    if pixels.shape[2] == 2 and len(channels) > 2:
        if mode != "LA":
            raise ValueError(f"two channels cannot become {channels}")
        pixels = pixels[..., [0, 0, 0, 1]]
    sources, have = CHANNELS[channels], pixels.shape[2]
    result = np.full((*pixels.shape[:2], len(sources)), 255, np.uint8)
    for index, channel in enumerate(sources):
        if have == 2 and channels == "GB":
            result[..., index] = pixels[..., index]  # these two already
        elif channel < 3:
            result[..., index] = pixels[..., min(channel, have - 1)]
        elif have == 4:
            result[..., index] = pixels[..., 3]
    return result
