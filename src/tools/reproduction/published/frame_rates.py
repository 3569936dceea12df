"""Frame rates of all papers that stand in no table of another file: of A's table, T's table 3 and the text of P3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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


_A, _T = "ATI X1800 XL", "GeForce GTX 280, CUDA"
_WHITTED = {"program": "whitted", "accel": "two-level-grid"}
_CLASSIC = {"program": "whitted"}
RATES = (
    Rate("A", "Chair_wood", "chair", (512, 512), 12.8, _A, _WHITTED),
    Rate("A", "PalmPC", "palm_pc", (512, 512), 6.3, _A, _WHITTED),
    Rate("A", "Balls-1", "balls", (512, 512), 5.8, _A, _WHITTED),
    Rate("A", "Knife", "knife", (512, 512), 16.0, _A, _WHITTED),
    Rate("A", "SR71A", "jet", (512, 512), 7.9, _A, _WHITTED),
    Rate("A", "Palace", "palace", (512, 512), 10.1, _A, _WHITTED),
    Rate("A", "Hind24 (figure 1)", "helicopter", (512, 512), 6.0, _A, _WHITTED),
    Rate("T", "Sphere", "sphere", None, 9.5, _T, _CLASSIC),
    Rate("T", "Bunny", "bunny.ply", None, 5.3, _T, _CLASSIC),
    Rate("T", "Dragon", "dragon.ply", None, 2.4, _T, _CLASSIC),
)
