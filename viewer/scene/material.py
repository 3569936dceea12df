"""Surface materials as plain data: how a surface scatters light, and everything else a file said, kept for later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from viewer.base.errors import ViewerError

# Ways to scatter light; the numbers are those of the shaders' constants BSDF_LAMBERT and so on.
KINDS = {"lambert": 0, "mirror": 1, "dielectric": 2, "phong": 3}

# Of real glass up to about 1, of rutile 2; far beyond squared indices would leave float32's range.
LARGEST_DISPERSION = 1000.0


@dataclass
class Material:
    """How a surface looks; colours are linear sRGB. Every kind may emit as well, from its front face.

    base_color : albedo of ``lambert`` and of the diffuse part of ``phong``; tint of a ``mirror``, and of what a
    ``dielectric`` transmits; the fourth is opacity, which is not used yet. texture : number of the scene's texture that
    multiplies it, or None. emission_texture : the same for the emission; such a surface is seen, and found by chance,
    but is no light that paths choose. ior : index of refraction of a dielectric's inside, relative to the outside (the
    front); of green where there is dispersion. dispersion : of a dielectric, 20 / Abbe number, by which the index grows
    from red to blue (KHR_materials_dispersion); 0: alike for all. specular, exponent : reflectance (0 .. 1) and
    exponent of Phong's lobe. reflectivity : reflectance (0 .. 1) of ``phong`` as a mirror, at every angle; base colour,
    specular and it are scaled down together where they reflect more than comes. metallic, roughness : glTF's factors.
    ``source`` keeps the file's own description (textures, extensions) for the programs that read more of it.

    Raises ViewerError for an unknown kind.
    """

    name: str = "default"
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metallic: float = 0.0
    roughness: float = 1.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)  # radiance, W / (m^2 sr), strength included
    double_sided: bool = False
    source: dict[str, Any] = field(default_factory=dict)
    kind: str = "lambert"
    ior: float = 1.5
    dispersion: float = 0.0
    specular: float = 0.0
    exponent: float = 0.0
    reflectivity: float = 0.0
    texture: int | None = None
    emission_texture: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ViewerError(f"material '{self.name}'", f"unknown kind '{self.kind}'", f"one of {', '.join(KINDS)}")

    @property
    def half_spread(self) -> float:
        """How far the index of red lies below that of green, and blue's above (KHR_materials_dispersion, section
        "Implementation"); 0 of all but dielectrics."""
        return (self.ior - 1.0) * 0.025 * self.dispersion if self.kind == "dielectric" else 0.0

    @property
    def iors(self) -> tuple[float, float, float]:
        """The indices of refraction of red, green and blue; dispersion takes none below 1."""
        low = max(self.ior - self.half_spread, 1.0) if self.half_spread else self.ior
        return low, self.ior, self.ior + self.half_spread
