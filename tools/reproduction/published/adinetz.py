"""A: A. Adinetz, B. Berezin, Implementing Classical Ray Tracing on GPU (2006), its table; 512 x 512, ATI X1800 XL."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A scene: our stand-in's name, triangles, instances and lights (None: not given), frames a second."""

    scene: str
    triangles: int | None
    instances: int | None
    lights: int | None
    fps: float


SIZE = 512
DEVICE = "ATI X1800 XL"
INTERFACE = "OpenGL 2.0, GLSL 1.10, C#"
TEXTURE = 256  # texels along each edge of the texture of the grids
TABLE: dict[str, Entry] = {
    "Chair_wood": Entry("chair", 33_404, 11, 1, 12.8),
    "PalmPC": Entry("palm_pc", 13_532, 7, 1, 6.3),
    "Balls-1": Entry("balls", 31_200, 10, 2, 5.8),
    "Knife": Entry("knife", 1_676, 1, 1, 16.0),
    "SR71A": Entry("jet", 4_446, 1, 1, 7.9),
    "Palace": Entry("palace", 33_000, 36, 1, 10.1),
    "Hind24": Entry("helicopter", None, None, None, 6.0),
}
FIGURES = {"Hind24": "1", "Balls-1": "4", "Chair_wood": "5", "Palace": "6"}
