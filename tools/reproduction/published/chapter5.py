"""Figures of chapter 5 of T. J. Purcell, Ray Tracing on a Stream Processor (Stanford 2004; "D"), and of T. J. Purcell,
I. Buck, W. R. Mark and P. Hanrahan, Ray Tracing on Programmable Graphics Hardware (2002; "P2"), which share most.

What is worked out from printed figures here, and not printed itself, is named ``..._DERIVED``.
"""

from __future__ import annotations

from typing import NamedTuple

from ..report import table


class KernelRow(NamedTuple):
    """A row of table 5.1, a call of a kernel: 4-wide instructions; 32-bit words read and written between passes and
    fetched at random; 8-bit states read and written (bytes)."""

    instructions: float
    read: float
    written: float
    random: float
    state_read: float = 0
    state_written: float = 0


class View(NamedTuple):
    """A column of D fig. 5.2: triangles, voxels by axis; per eye ray voxels pierced (v), triangles tested (t) and
    shadings (s); multipass passes (P)."""

    triangles: int
    grid: tuple[int, int, int]
    v: float
    t: float
    s: float
    passes: int


class Passes(NamedTuple):
    """A row of table 5.2 (D) and of table 2 (P2): passes in all, of traversal, of intersection and the others; the most
    steps and tests of a ray; efficiency: the share of active rays (0 to 1) that a pass finds on average."""

    total: int
    traversal: int
    intersection: int
    other: int
    max_steps: int
    max_tests: int
    efficiency: float

    @property
    def bound(self) -> int:
        """Passes of the loop that no oracle can do with less."""
        return self.max_steps + self.max_tests

    @property
    def over_bound(self) -> float:
        """Passes of the loop over the bound."""
        return (self.traversal + self.intersection) / max(1, self.bound)

    @property
    def over_larger(self) -> float:
        """And over the larger of the most steps and the most tests."""
        return (self.traversal + self.intersection) / max(1, self.max_steps, self.max_tests)


class Textures(NamedTuple):
    """A row of table 5.3: instructions, RGBA float textures read and written."""

    instructions: int
    read: int
    written: int


class Frame(NamedTuple):
    """A column of table 5.4: types of ray (E eye, S shadow, R reflection), frames per second and passes."""

    rays: str
    fps: float
    traversal: int
    intersection: int


# D table 5.1 = P2 table 1: "SIMD" (D) is "multipass" (P2), "MIMD" is "branching", "state-buffer" is "stencil".
TABLE_5_1: dict[str, dict[str, KernelRow]] = {
    "SIMD": {
        "Generate Eye Ray": KernelRow(28, 0, 5, 0, 0, 1),
        "Traverse: Setup": KernelRow(38, 11, 12, 0, 1, 0),
        "Traverse: Step": KernelRow(20, 14, 9, 1, 1, 1),
        "Intersect": KernelRow(41, 14, 5, 10, 1, 1),
        "Shade: Color": KernelRow(36, 10, 3, 21, 1, 0),
        "Shade: Shadow": KernelRow(16, 11, 8, 0, 1, 1),
        "Shade: Reflected": KernelRow(26, 11, 9, 9, 1, 1),
        "Shade: Path": KernelRow(17, 14, 9, 9, 1, 1),
    },
    "MIMD": {
        "Generate Eye Ray": KernelRow(26, 0, 4, 0),
        "Traverse: Setup": KernelRow(22, 7, 0, 0),
        "Traverse: Step": KernelRow(12, 0, 0, 1),
        "Intersect": KernelRow(36, 0, 0, 10),
        "Shade: Color": KernelRow(25, 0, 3, 21),
        "Shade: Shadow": KernelRow(10, 0, 0, 0),
        "Shade: Reflected": KernelRow(12, 0, 0, 0),
        "Shade: Path": KernelRow(11, 3, 0, 0),
    },
}

# D fig. 5.2, P2 fig. 6: 1024 x 1024, an eye ray a pixel. The views are named as in the tables.
PIXELS = 1024 * 1024
VIEWS: dict[str, View] = {
    "Soda Hall Outside": View(1_500_000, (250, 198, 128), 14.41, 2.52, 0.44, 2443),
    "Soda Hall Inside": View(1_500_000, (250, 198, 128), 26.11, 40.46, 1.00, 1198),
    "Forest Top Down": View(1_000_000, (581, 128, 581), 81.29, 34.07, 0.96, 1999),
    "Forest Inside": View(1_000_000, (581, 128, 581), 130.7, 47.90, 0.97, 2835),
    "Bunny Ray Cast": View(70_000, (98, 64, 163), 93.93, 13.88, 0.82, 1085),
}

# D table 5.2, P2 table 2.
TABLE_5_2: dict[str, Passes] = {
    "Soda Hall Outside": Passes(2443, 692, 1747, 4, 384, 1123, 0.009),
    "Soda Hall Inside": Passes(1198, 70, 1124, 4, 60, 1039, 0.061),
    "Forest Top Down": Passes(1999, 311, 1684, 4, 137, 1435, 0.062),
    "Forest Inside": Passes(2835, 1363, 1468, 4, 898, 990, 0.068),
    "Bunny Ray Cast": Passes(1085, 610, 471, 4, 221, 328, 0.105),
}
PASSES = 1000, 3000  # of a picture (P2 4.2)
ACTIVE = 0.06, 0.10  # of the rays in a pass; the text excepts Soda Hall Outside
ORACLE_OF_OPTIMUM = (2.0, 3.0)  # times as many passes as the optimum, by the text
NAIVE_OF_OPTIMUM = 5.0  # and without an oracle at least

# The cost model of D 5.2.1, P2 3.2, G instructions and GB a frame: C = R (C_r + v C_v + t C_t + s C_s) + R P C_state,
# 4 bytes a word, a byte a state read; the bars of figs. 5.3 to 5.5 are not given as numbers.
_HEAD, *_ROWS = table("published/cost_derived", head=True)
COST_DERIVED: dict[str, dict[str, float]] = {
    view: dict(zip(_HEAD[1:], map(float, numbers), strict=True)) for view, *numbers in _ROWS
}

# Lines drawn into figs. 5.3 and 5.4 (P2 fig. 7): 4-way instructions and bytes a second of the hardware of the day.
HARDWARE: dict[str, dict[str, float]] = {
    "Radeon 9700 Pro (D)": {"instructions": 2.5e9, "bytes": 12e9},
    "GeForce3 (P2)": {"instructions": 2e9, "bytes": 8e9},
}

# D 5.2.2, P2 4.2: 4 traversal steps or 2 tests a pass; change of the total bandwidth and of the instructions.
UNROLL = {"steps": 4, "tests": 2, "bandwidth": -0.50, "bandwidth, suppressed": -0.60, "instructions, less than": 0.10}

# D 5.2.3, P2 4.1 to 4.3.
CACHE = {"MIMD shadow": -0.35, "MIMD reflect": 0.0}  # change of the bytes
TRIANGLE_HITS = 0.96, 0.99  # of triangle data alone

# D table 5.3: RGBA float textures read and written, Radeon 9700 Pro.
TABLE_5_3: dict[str, Textures] = {
    "Generate Eye Ray": Textures(27, 0, 3),
    "Traverse: Setup": Textures(32, 2, 4),
    "Traverse: Step": Textures(43, 7, 4),
    "Intersect": Textures(59, 9, 2),
    "Shade: Color": Textures(48, 9, 4),
    "Shade: Shadow": Textures(48, 9, 1),
    "Shade: Reflected": Textures(46, 8, 4),
}

# D table 5.4: 256 x 256.
TABLE_5_4: dict[str, Frame] = {
    "Cornell Box": Frame("S (hybrid)", 10.5, 18, 54),
    "Teapotahedron, E S R": Frame("E, S, R", 1.0, 123, 2350),
    "Teapotahedron, E R": Frame("E, R", 1.5, 79, 1499),
    "Quake3": Frame("S (hybrid)", 1.8, 146, 730),
}

# D 5.3 and P2 5.2: rates in text. Tests and rays a second.
RATES: dict[str, float | tuple[float, float]] = {
    "ray-triangle tests, peak (D)": 100e6,
    "ray-triangle tests (P2)": 56e6,
    "ray-triangle tests at 8 G (P2)": 222e6,
    "rays (D)": (300e3, 4e6),
    "Ray Engine, Radeon 8500, tests": 114e6,
    "Pentium III 800, tests": 20e6,
    "Pentium 4 3.0 GHz, tests": 120e6,
    "Pentium 4 2.5 GHz, rays unshaded": (800e3, 7.1e6),
    "Pentium 4 2.5 GHz, rays shaded": (1.8e6, 2.3e6),
}

# P2 table 3: bunny, branching architecture, relative to ray casting: instructions, bandwidth.
TABLE_3: dict[str, tuple[float, float]] = {
    "Shadow Caster": (0.85, 1.15),
    "Whitted Ray Tracer": (2.62, 3.00),
    "Path Tracer": (3.24, 4.06),
}
# Rays relative to ray casting that explain table 3: s = 0.82 of the pixels hit; the path tracer 256 x 256 x 64.
TABLE_3_RAYS_DERIVED: dict[str, float] = {
    "Shadow Caster": 0.82,
    "Whitted Ray Tracer": 1 + 0.82 + 0.82,
    "Path Tracer": 64 * 256**2 / 1024**2 * 0.82,
}

# Limits of the day (D 2.3, 5.4.1, P2 2.2), by year.
LARGEST_INTEGERS = 131_072  # distinct integers of 24-bit floats (s16e7)
LARGEST_TEXTURE = (256, 512)  # texels that such an address reaches
BUNNY_VOXELS = 98 * 64 * 163  # 1.02 M: over the 131 K
LIMITS_PRINTED: dict[str, dict[str, int | str]] = {
    "2002": {"outputs": 2, "states": 256},  # a byte of stencil
    "2004": {"floats": "s16e7", "integers": LARGEST_INTEGERS, "outputs": 4, "instructions": 64, "fetches": 4},
}
