"""Feature layers of a picture, each declared once for programs, files and help texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError


@dataclass(frozen=True)
class Layer:
    """A layer: its quantity per pixel, and the ``background`` value of misses.

    components : suffixes of its channels in a file; one empty suffix for a scalar.
    """

    name: str
    meaning: str
    unit: str
    dtype: type[np.generic] = np.float32
    components: tuple[str, ...] = ("",)
    background: float = 0.0

    def empty(self, height: int, width: int) -> NDArray:
        """(height, width) or (height, width, components) of the background."""
        shape = (height, width) if len(self.components) == 1 else (height, width, len(self.components))
        return np.full(shape, self.background, self.dtype) if self.background else np.zeros(shape, self.dtype)


XYZ, RGB = ("X", "Y", "Z"), ("R", "G", "B")

LAYERS = {
    layer.name: layer
    for layer in (
        Layer(
            "depth",
            "distance along the unit ray, inf where nothing is hit; of progressive programs the mean of their samples",
            "scene units",
            background=np.inf,
        ),
        Layer(
            "normal",
            "shading normal in world space, towards the viewer's side of the surface; of progressive programs the mean "
            "of their samples, 0 where nothing is hit",
            "unit vector",
            components=XYZ,
        ),
        Layer("albedo", "base colour of the surface, linear sRGB; averaged as the normal is", "1", components=RGB),
        Layer("triangle", "triangle number in scene order, -1 where nothing is hit", "number", np.int32, background=-1),
        Layer("instance", "instance number in scene order, -1 where nothing is hit", "number", np.int32, background=-1),
        Layer("samples", "samples of the pixel", "count", np.int32, background=1),
        Layer("steps", "traversal steps of the ray", "count", np.int32),
        Layer("tests", "ray-triangle tests of the ray", "count", np.int32),
    )
}

# Series of layers: the program sets their number; names are those of `series`.
SERIES = {
    layer.name: layer
    for layer in (
        Layer(
            "bounce",
            "radiance that left its light this many surface interactions before the camera, from 0: light seen itself; "
            "together they are the picture",
            "linear sRGB",
            components=RGB,
        ),
    )
}

# The undenoised mean of a denoised picture, which is included without a request.
NOISY = Layer("noisy", "mean of the samples, of a denoised picture", "linear sRGB", components=RGB)


def series(name: str, count: int) -> tuple[str, ...]:
    """The names of a series' layers: ``bounce.0``, ``bounce.1`` ..."""
    return tuple(f"{name}.{number}" for number in range(count))


def find(name: str) -> Layer | None:
    """The declaration of a layer, or of its series; None for another name."""
    if name == NOISY.name:
        return NOISY
    head, dot, number = name.rpartition(".")
    return SERIES.get(head) if dot and number.isdecimal() else LAYERS.get(name)


def parse(text: str) -> tuple[str, ...]:
    """The layer names of ``"depth,normal"``, each once, in order; an empty text names none.

    Raises ViewerError for an unknown name, and lists the known ones.
    """
    names = dict.fromkeys(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in LAYERS:
            raise ViewerError("layers", f"no layer '{name}'", f"layers: {', '.join(LAYERS)}")
    return tuple(names)
