"""Published frame rates of A's table and T's table 3, with what is rendered here; their numbers are in `adinetz` and
`thesis`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import adinetz, thesis


@dataclass(frozen=True)
class Rate:
    """A published frame rate. scene: built in, or a file of the scene data; settings: of the renderer."""

    paper: str
    name: str
    scene: str
    size: tuple[int, int] | None  # None: not given
    fps: float
    device: str
    settings: dict[str, Any] = field(default_factory=dict)


# The papers' own structures and tests of a triangle: two levels of grids and planes; two levels of hierarchies by
# escape indices and Cramer's rule.
_WHITTED = {"program": "whitted", "accel": "two-level-grid", "intersection": "planes", "plane_slack": 1.004}
_CLASSIC = {
    "program": "whitted",
    "accel": "two-level-bvh",
    "build": "midpoint",
    "traversal": "escape",
    "intersection": "moller-trumbore",
}
BEST = "CUDA"  # of the thesis's back ends
_BEST = thesis.BACK_ENDS.index(BEST)
RATES = (
    *(
        Rate("A", name, entry.scene, (adinetz.SIZE, adinetz.SIZE), entry.fps, adinetz.DEVICE, _WHITTED)
        for name, entry in adinetz.TABLE.items()
    ),
    *(
        Rate("T", name, thesis.SCENES[name], None, rates[_BEST], f"{thesis.DEVICE}, {BEST}", _CLASSIC)
        for name, rates in thesis.RATES.items()
    ),
)
