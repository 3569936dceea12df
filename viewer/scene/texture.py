"""Textures as plain data: images of bytes, and how a surface looks them up (glTF 2.0, section 3.8)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError

# How a coordinate beyond 0 .. 1 is brought back; the numbers are those of the record Texture.
WRAPS = {"repeat": 0, "mirrored": 1, "clamp": 2}


@dataclass(eq=False)
class Image:
    """texels : (H, W, 4) uint8, row 0 at the top; colour sRGB-encoded, opacity linear.

    Raises ViewerError for another shape or type, and for an image of no texels.
    """

    texels: NDArray[np.uint8]
    name: str = "image"

    def __post_init__(self) -> None:
        self.texels = np.ascontiguousarray(self.texels)
        shape, kind = self.texels.shape, self.texels.dtype
        if kind != np.uint8 or len(shape) != 3 or shape[2] != 4 or not self.texels.size:
            raise ViewerError(self.name, f"texels are {shape} of {kind}, expected (H, W, 4) of uint8")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.texels.shape[1], self.texels.shape[0]

    @classmethod
    def white(cls, name: str = "white") -> Image:
        """One white texel: stands in for an image that cannot be had."""
        return cls(np.full((1, 1, 4), 255, np.uint8), name)


@dataclass
class Texture:
    """An image with its lookup. (0, 0) is the image's upper left corner, (1, 1) its lower right one.

    wrap : a key of `WRAPS` across and down. nearest : the nearest texel instead of bilinear filtering.
    transform : (2, 3) float64, mesh coordinates (u, v, 1) to those of the image.
    """

    image: Image
    wrap: tuple[str, str] = ("repeat", "repeat")
    nearest: bool = False
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(3)[:2])
    name: str = "texture"

    def __post_init__(self) -> None:
        for way in self.wrap:
            if way not in WRAPS:
                raise ViewerError(f"texture '{self.name}'", f"unknown wrap '{way}'", f"one of {', '.join(WRAPS)}")
        self.transform = np.asarray(self.transform, np.float64)
        if self.transform.shape != (2, 3) or not np.isfinite(self.transform).all():
            raise ViewerError(f"texture '{self.name}'", "the transform is not 2 x 3 finite numbers")


def uv_transform(
    offset: tuple[float, float] = (0.0, 0.0), rotation: float = 0.0, scale: tuple[float, float] = (1.0, 1.0)
) -> NDArray[np.float64]:
    """(2, 3): scaled, then turned, then moved, as KHR_texture_transform has it; rotation in radians."""
    cosine, sine = np.cos(rotation), np.sin(rotation)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    return np.column_stack([turn * np.asarray(scale, np.float64), np.asarray(offset, np.float64)])
