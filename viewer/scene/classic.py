"""The material of classic ray tracing on OpenCL and CUDA: Fresnel reflection with three parameters, and colours mixed
by reflectivity and transmittance.

With the diffuse colour C of a point, that of its textures included, the ray's direction I and the normal N against it:

    R_f = clamp(bias + scale (1 + I.N)^power, 0, 1),  T_f = 1 - R_f
    R = R_f (C (1 - r) + C_r S r) + T_f (C (1 - t) + C_t A t)

Here r is the reflectivity, t the transmittance; C_r and C_t are the radiance along the reflected and the refracted ray,
filtered by the specular colour S and the ambient colour A. Beyond the critical angle R_f is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

Color = tuple[float, float, float]

MODES = {"replace": 0, "decal": 1, "modulate": 2, "blend": 3}
THICKNESS = ("path", "slab")
MOST_LAYERS = 8  # of a material: each is evaluated at every hit of every material
LARGEST_INDEX = 100.0
LARGEST = 1e30


@declared
@dataclass(frozen=True)
class ClassicTexture:
    """A texture that modifies the colour C with its own colour T_c and opacity T_a.

    texture : the scene's number. mode : "replace": T_c; "decal": C (1 - T_a) + T_c T_a; "modulate": C T_c; "blend": C
    (1 - T_c) + environment T_c.

    Raises ViewerError for an unknown mode, and for a colour that is negative, huge or not finite.
    """

    texture: int
    mode: str = "modulate"
    environment: Color = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ViewerError("classic texture", f"unknown mode '{self.mode}'", f"one of {', '.join(MODES)}")
        _check("environment", self.environment, 0.0, LARGEST, "classic texture")


@declared
@dataclass(frozen=True)
class ClassicMaterial:
    """The fields of a `Material` of kind ``classic`` besides its base colour, the diffuse colour; see this module's
    text.

    bias, scale, power : of R_f. specular, ambient : linear sRGB, 0 .. 1, the filters S and A. reflectivity,
    transmittance : r and t, 0 .. 1. indices : of refraction, inside relative to the front, of red, green and blue;
    where they differ a ray of all channels is refracted into one for each. thickness : scene units; above 0 the surface
    is a sheet of glass, which rays leave in their original direction. thickness_model : "path": the ray's path length
    inside, at any angle; "slab": the sheet's own thickness. textures : in the order of their application. vertex_colors
    : whether the mesh's colours replace the diffuse colour; None: if the meshes have any. lit : whether the diffuse
    part receives light and shadow; else it emits its colour.

    Raises ViewerError for values out of range.
    """

    bias: float = 0.0
    scale: float = 1.0
    power: float = 5.0
    specular: Color = (1.0, 1.0, 1.0)
    ambient: Color = (1.0, 1.0, 1.0)
    reflectivity: float = 0.0
    transmittance: float = 0.0
    indices: Color = (1.5, 1.5, 1.5)
    thickness: float = 0.0
    thickness_model: str = "path"
    textures: tuple[ClassicTexture, ...] = ()
    vertex_colors: bool | None = None
    lit: bool = False

    def __post_init__(self) -> None:
        _check("bias", (self.bias,), -LARGEST, LARGEST)
        _check("scale", (self.scale,), -LARGEST, LARGEST)
        _check("power", (self.power,), 0.0, LARGEST)
        _check("specular", self.specular, 0.0, 1.0)
        _check("ambient", self.ambient, 0.0, 1.0)
        _check("reflectivity", (self.reflectivity,), 0.0, 1.0)
        _check("transmittance", (self.transmittance,), 0.0, 1.0)
        _check("indices", self.indices, 1.0 / LARGEST_INDEX, LARGEST_INDEX)
        _check("thickness", (self.thickness,), 0.0, LARGEST)
        if self.thickness_model not in THICKNESS:
            what = f"unknown thickness model '{self.thickness_model}'"
            raise ViewerError("classic material", what, f"one of {', '.join(THICKNESS)}")
        if len(self.textures) > MOST_LAYERS:
            what = f"{len(self.textures)} textures"
            raise ViewerError("classic material", what, f"at most {MOST_LAYERS}: paint some of them into one image")

    @property
    def parts_channels(self) -> bool:
        """Whether red, green and blue are refracted into different directions."""
        return self.transmittance > 0.0 and len(set(self.indices)) > 1

    @property
    def is_sheet(self) -> bool:
        """Whether rays leave it displaced from their entry."""
        return self.transmittance > 0.0 and self.thickness > 0.0


def _check(name: str, values: Iterable[float], low: float, high: float, where: str = "classic material") -> None:
    numbers = tuple(values)
    if len(numbers) not in (1, 3) or not all(math.isfinite(number) and low <= number <= high for number in numbers):
        shown = ", ".join(f"{number:g}" for number in numbers)
        raise ViewerError(where, f"{name} {shown}", f"from {low:g} to {high:g}")
