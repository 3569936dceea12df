"""The light that has been seen on the surfaces of a scene, kept in space while the camera moves: an irradiance cache.

What the pictures before have shown is lost where it leaves the picture, and of a fast camera there are few of them. The
cache keeps light by its place in the scene: in cells of space, found by a hash of their place and of the way that their
surfaces face (N. Binder, S. Fricke and A. Keller, "Massively Parallel Path Space Filtering", 2019; irradiance caching
is G. Ward, F. Rubinstein and R. Clear's, "A Ray Tracing Solution for Diffuse Interreflection", 1988). The finest cells
are as wide as two pixels of light there; wider ones are asked where these have seen too little. Between two axes the
light of both is mixed by the squares of the cosines (G. McTaggart's ambient cube, "Half-Life 2 Source Shading", 2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.base import jit
from viewer.denoise.irradiance_cache_loops import add, find, scratch
from viewer.denoise.view import view_uniforms
from viewer.scene.camera import Camera

PLACES = 1 << 20  # of cells: 28 MiB
ROOM = PLACES // 2  # cells, from which on all is forgotten: a table that is fuller is slow
WIDE = 2.0  # pixels of light: the finest cells
ERROR = 0.15  # relative, of light that is known well enough: else wider cells tell


class IrradianceCache:
    """Light on surfaces. error : relative, within which cells should tell it, see `ERROR`."""

    def __init__(self, error: float = ERROR) -> None:
        self.error = error
        self._keys = np.zeros(PLACES, np.int64)
        self._sums = np.zeros((PLACES, 5), np.float32)
        self._used = np.zeros(1, np.int64)
        self._turn = 0
        self._scratch = scratch()

    @property
    def cells(self) -> int:
        """How many hold light."""
        return int(self._used[0])

    def forget(self) -> None:
        """The light is another one."""
        if self.cells:
            self._keys[:] = 0
            self._sums[:] = 0.0
            self._used[0] = 0

    def add(
        self,
        surfaces: NDArray[np.float32],
        light: NDArray[np.float32],
        camera: Camera,
        samples: float,
        pixel: float,
        stride: int = 1,
    ) -> None:
        """Keep the light of a picture.

        surfaces : (H, W, 4), normal and 1 / depth. light : (H, W, 4), linear sRGB without the surfaces' texture, and
        something. samples : that each pixel is the mean of. pixel : how wide one of light is at a depth of 1. stride :
        one pixel of so many rows and columns is taken, each time another one.
        """
        if self.cells >= ROOM:
            self.forget()
        levels, widths = _cells(surfaces, pixel)
        first = np.array([self._turn % stride, self._turn // stride % stride], np.int64)
        self._turn += 1
        view = _view(camera, surfaces.shape[:2])
        jit.run(
            add, surfaces, light, stride, first, view, levels, widths, float(samples), self._keys, self._sums,
            self._used, ROOM, *self._scratch[:2],
        )  # fmt: skip

    def find(self, surfaces: NDArray[np.float32], camera: Camera, pixel: float) -> NDArray[np.float32]:
        """(H, W, 5): the light that is known on surfaces, its samples, and the variance of one of them."""
        levels, widths = _cells(surfaces, pixel)
        found = np.empty((*surfaces.shape[:2], 5), np.float32)
        view = _view(camera, surfaces.shape[:2])
        jit.run(find, surfaces, view, levels, widths, self.error, self._keys, self._sums, found, *self._scratch)
        return found


def _view(camera: Camera, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """(4, 3): as the loops take it, of a picture of (height, width)."""
    height, width = shape
    return np.array([*view_uniforms(camera, (width, height)).values(), camera.origin], np.float64)


def _cells(surfaces: NDArray[np.float32], pixel: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Level and width, (H, W), of the finest cells of a picture's pixels."""
    with np.errstate(all="ignore"):
        level = np.floor(np.log2(np.float64(WIDE * pixel) / surfaces[..., 3].astype(np.float64)))
    level = np.where(np.isfinite(level), np.clip(level, -60, 60), 0.0)
    return level.astype(np.int64), np.exp2(level)
