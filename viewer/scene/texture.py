"""Textures as plain data: images and their sampling (glTF 2.0, section 3.8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

# Wrap modes of coordinates beyond 0 .. 1; the numbers are those of the record Texture.
WRAPS = {"repeat": 0, "mirrored": 1, "clamp": 2}

# Minification filters by OpenGL's names: (nearest texel, mip levels). A random number chooses between two levels, for
# "_mipmap_nearest", too.
MINIFICATIONS = {
    "nearest": (True, False),
    "linear": (False, False),
    "nearest_mipmap_nearest": (True, True),
    "linear_mipmap_nearest": (False, True),
    "nearest_mipmap_linear": (True, True),
    "linear_mipmap_linear": (False, True),
}

# Contents of texels: colours, with sRGB-encoded red, green and blue for integers; plain values; or unit vectors v as (v
# + 1) / 2.
CONTENTS = ("color", "data", "normal")

DTYPES = (np.uint8, np.uint16, np.float16)


@declared
@dataclass(eq=False)
class Image:
    """texels : (H, W, 4) uint8, uint16 or float16, row 0 at the top: red, green, blue, opacity. Integers stand for 0 ..
    1; colours are sRGB-encoded, opacity always linear. Halfs are linear, and finite.

    Raises ViewerError for another shape or type, and for an empty image.
    """

    texels: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.float16]
    name: str = "image"

    def __post_init__(self) -> None:
        self.texels = np.ascontiguousarray(self.texels)  # type: ignore[assignment]
        shape, kind = self.texels.shape, self.texels.dtype
        if kind not in DTYPES or len(shape) != 3 or shape[2] != 4 or not self.texels.size:
            expected = "expected (H, W, 4) of uint8, uint16 or float16"
            raise ViewerError(self.name, f"texels are {shape} of {kind}, {expected}")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.texels.shape[1], self.texels.shape[0]

    @classmethod
    def white(cls, name: str = "white") -> Image:
        """One white texel, in place of an unavailable image."""
        return cls(np.full((1, 1, 4), 255, np.uint8), name)

    @classmethod
    def checkerboard(cls, name: str = "checkerboard") -> Image:
        """Magenta and black, 8 x 8, in place of a missing image."""
        row, column = np.indices((8, 8))
        texels = np.where(((row + column) % 2 == 0)[..., None], (255, 0, 255, 255), (0, 0, 0, 255))
        return cls(texels.astype(np.uint8), name)


@declared
@dataclass
class Texture:
    """An image with its sampling. (0, 0) is the image's upper left corner, (1, 1) its lower right one.

    wrap : a key of `WRAPS` across and down. nearest : nearest texel instead of bilinear filtering under magnification.
    minification : a key of `MINIFICATIONS`; none: mip levels, with ``nearest`` within each. transform : (2, 3) float64,
    mesh coordinates (u, v, 1) to the image's. uv_set : 0 or 1, the mesh's set of texture coordinates. content : one of
    `CONTENTS`.
    """

    image: Image
    wrap: tuple[str, str] = ("repeat", "repeat")
    nearest: bool = False
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(3)[:2])
    name: str = "texture"
    minification: str | None = None
    uv_set: int = 0
    content: str = "color"

    def __post_init__(self) -> None:
        for mode in self.wrap:
            self._check("wrap", mode, WRAPS)
        if self.minification is None:
            self.minification = f"{'nearest' if self.nearest else 'linear'}_mipmap_linear"
        self._check("minification", self.minification, MINIFICATIONS)
        self._check("content", self.content, CONTENTS)
        self._check("uv_set", self.uv_set, (0, 1))
        self.transform = np.asarray(self.transform, np.float64)
        if self.transform.shape != (2, 3) or not np.isfinite(self.transform).all():
            raise ViewerError(f"texture '{self.name}'", "the transform is not 2 x 3 finite numbers")

    def _check(self, what: str, value: object, choices: Collection[object]) -> None:
        if value not in choices:
            hint = f"one of {', '.join(map(str, choices))}"
            raise ViewerError(f"texture '{self.name}'", f"unknown {what} '{value}'", hint)


def uv_transform(
    offset: tuple[float, float] = (0.0, 0.0), rotation: float = 0.0, scale: tuple[float, float] = (1.0, 1.0)
) -> NDArray[np.float64]:
    """(2, 3): scale, then rotation, then translation, as in KHR_texture_transform; rotation in radians."""
    cosine, sine = np.cos(rotation), np.sin(rotation)
    matrix = np.array([[cosine, sine], [-sine, cosine]])
    return np.column_stack([matrix * np.asarray(scale, np.float64), np.asarray(offset, np.float64)])


def linear_texels(texels: NDArray, color: bool) -> NDArray[np.float64]:
    """(H, W, 4) of uint8, uint16 or float16 as linear numbers; ``color``: red, green and blue of integers are
    sRGB-encoded (IEC 61966-2-1)."""
    if texels.dtype == np.float16:
        return texels.astype(np.float64)
    max_code = np.iinfo(texels.dtype).max
    linear = np.arange(max_code + 1) / max_code
    values = linear[texels]
    if color:
        values[..., :3] = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)[
            texels[..., :3]
        ]
    return values


def linear_from_srgb(encoded: NDArray) -> NDArray[np.float64]:
    """Linear values of sRGB-encoded ones, both 0 .. 1 (IEC 61966-2-1)."""
    encoded = np.asarray(encoded, np.float64)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((np.maximum(encoded, 0.0) + 0.055) / 1.055) ** 2.4)
