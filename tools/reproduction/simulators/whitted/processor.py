"""The thesis's CPU column: one thread that goes through every pixel's tree of rays depth first, compiled by numba.

The thesis's own is a recursion over another scene graph. numba compiles the loops through `raystream.base.jit`, which
the viewer's builders need as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.scene.camera import Camera
from reproduction.simulators.emulation import Frame
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted import loops
from reproduction.simulators.whitted.model import Traced


def wide(rays: NDArray) -> NDArray[np.float32]:
    """RAY records (N,) as rows of the loops: of weight 1, all channels, level 0."""
    made = np.ones((len(rays), loops.COLUMNS), np.float32)
    made[:, :3], made[:, 3:6] = rays["origin"], rays["direction"]
    made[:, loops.CHANNEL], made[:, loops.LEVEL] = -1.0, 0.0
    return made


class Processor:
    """A scene of classic materials, ready to be traced."""

    def __init__(self, traced: Traced) -> None:
        self.model, self.depth = traced.model, traced.depth
        self.environment = np.asarray(traced.environment, np.float32)
        self._stack = np.empty((1 + loops.MOST_CHILDREN * (self.depth + 1), loops.COLUMNS), np.float32)

    def render(self, camera: Camera, size: tuple[int, int]) -> Frame:
        """A frame of one ray a pixel; its rays are counted together."""
        width, height = size
        pixels, rays = self.trace(wide(eye_rays(camera, size)))
        return Frame(pixels.reshape(height, width, 3), [rays])

    def trace(self, eyes: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
        """The light (N, 3) of eye rays, rows of the loops; and how many rays their trees have."""
        pixels = np.zeros((len(eyes), 3), np.float32)
        arrays = (*self.model.structure, *self.model.surface, eyes, self.environment, self.depth)
        rays = jit.run(loops.trace, *arrays, self._stack, pixels)
        return pixels, int(rays)
