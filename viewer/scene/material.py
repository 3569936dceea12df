"""Surface materials as plain data: today's factors, and everything else a file said, kept for later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Material:
    """The glTF 2.0 metallic-roughness factors; colours are linear sRGB.

    ``source`` keeps the file's own description (textures, extensions) for the programs that read more of it.
    """

    name: str = "default"
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metallic: float = 0.0
    roughness: float = 1.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)  # radiance, W / (m^2 sr), strength included
    double_sided: bool = False
    source: dict[str, Any] = field(default_factory=dict)
