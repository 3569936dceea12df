"""D, chapter 6, and P3: photon mapping, of a GeForce FX 5900 Ultra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

ROUTED = 16  # photons of a cell that stencil routing keeps, m^2 with m = 4


@dataclass(frozen=True)
class Published:
    """A scene of section 6.3.1 and its row of table 6.1: seconds of its stages by either map:
    photons traced, the grid built, rays traced, the radiance estimate.

    scene : built in; the papers do not give the geometry, the lights, or the cameras. shows : what is to be seen.
    quad : the estimate as one quad, seconds; in tiles it is that of table 6.1.
    """

    scene: str
    shows: str
    sort: tuple[float, ...]
    stencil: tuple[float, ...]
    quad: float | None = None


TABLE_6_1 = {
    "GLASS BALL": Published(
        "glass_ball", "the caustic under the ball", (1.2, 0.8, 0.5, 14.9), (1.2, 1.8, 0.5, 7.8), 102.0
    ),
    "RING": Published("ring", "the cardioid inside the ring", (1.3, 0.8, 0.4, 6.5), (1.3, 1.8, 0.4, 4.6)),
    "CORNELL BOX": Published(
        "cornell_photons",
        "colours of the walls on their neighbours, and the caustic of the ball of glass",
        (2.1, 1.4, 8.4, 52.4),
        (2.1, 1.7, 8.4, 35.0),
        104.0,
    ),
}


GPU = "GeForce FX 5900 Ultra"
MACHINE = "Pentium 4 of 3.0 GHz with hyper-threading, 2 GB, Windows XP, driver 43.51, Cg 1.1 compiled for fp30"


@dataclass(frozen=True)
class Settings:
    """What section 6.3.1 gives of a scene: pixels, cells of the grid, photons stored, photons k that an estimate asks
    for, light, shadow rays a pixel."""

    size: tuple[int, int]
    grid: tuple[int, int, int]
    stored: int
    nearest: int
    light: str
    samples: int


SETTINGS = {
    "GLASS BALL": Settings((512, 384), (250, 1, 250), 5_000, 32, "area", 4),
    "RING": Settings((512, 384), (250, 1, 250), 16_000, 64, "point", 1),
    "CORNELL BOX": Settings((512, 512), (25, 25, 50), 65_000, 500, "area", 32),
}
TOTALS = {"GLASS BALL": (17.4, 11.3), "RING": (9.0, 8.1), "CORNELL BOX": (64.3, 47.2)}
# Section 6.2.2: passes of the sort of so many elements; the rest by k (k + 1) / 2.
SORT_PASSES = {1 << 20: 210}
VISUAL_CONVERGENCE = (4.0, 14.9)  # seconds of GLASS BALL by sort: to the eye, and to the end
TILES_GAIN = (2, 10)  # section 6.4.3; of 6.3.3 follow 2.0 and 6.8
READ_BACK_SHARE = ("about 10 %", "60 % and more")  # of the build, few photons and many (6.4.2)
STENCIL_EDGES = (16, 65_536)  # m, and cells of a buffer of 1024 x 1024, as printed
LARGEST_GRID = 40  # cells along a side of what 65,536 are enough for (D 6.2.2), or approximately are (P3 2.2.2)
CAPTION_NEAREST, CAPTION_REJECTED = 4, 1  # of figure 6.6: k, and photons rejected because k have been counted
INTERACTIVE = "one or two seconds"  # to rebuild and converge, geometry or light moved
WINDOWS = {"P3": 160, "D": 256}  # pixels along a side of the interactive window


class InstructionsRow(NamedTuple):
    """Of table 6.2 (P3 table 2), one iteration: all instructions, fetches, for addresses, for packing."""

    all: int
    textures: int
    addresses: int
    packing: int


TABLE_6_2: dict[str, InstructionsRow] = {
    "Bitonic Sort": InstructionsRow(52, 2, 13, 0),
    "Binary Search": InstructionsRow(18, 1, 13, 0),
    "Rad. Estimate (sort)": InstructionsRow(202, 6, 47, 41),
    "Stencil Routing": InstructionsRow(42, 0, 25, 0),
    "Rad. Estimate (stencil)": InstructionsRow(193, 5, 20, 41),
}
HAND_CODED_SORT = 19  # in place of Cg's 52
ESTIMATE_OVERHEAD = (1 / 3, 1 / 2)  # "a third to a half" for addresses and packing
LEAST_PER_TEXTURE = 20  # "at least 20 arithmetic operations for every texture access"
