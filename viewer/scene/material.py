"""Surface materials as plain data: scattering of light, and the rest of a file's description."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from raystream.base import distributions
from raystream.base.attributes import declared
from raystream.base.errors import ViewerError

Color = tuple[float, float, float]

# -- the material of classic ray tracing on OpenCL and CUDA ------------------------------------------------------------
# Fresnel reflection with three parameters, and colours mixed by reflectivity and transmittance. With the diffuse colour
# C of a point, that of its textures included, the ray's direction I and the normal N against it:
#
#     R_f = clamp(bias + scale (1 + I.N)^power, 0, 1),  T_f = 1 - R_f
#     R = R_f (C (1 - r) + C_r S r) + T_f (C (1 - t) + C_t A t)
#
# Here r is the reflectivity, t the transmittance; C_r and C_t are the radiance along the reflected and the refracted
# ray, filtered by the specular colour S and the ambient colour A. Beyond the critical angle R_f is 1.

CLASSIC_MODES = {"replace": 0, "decal": 1, "modulate": 2, "blend": 3}
THICKNESS_MODELS = ("path", "slab")
MAX_LAYERS = 8  # of a material: each is evaluated at every hit of every material
MAX_INDEX = 100.0
MAX_NUMBER = 1e30


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
        if self.mode not in CLASSIC_MODES:
            raise ViewerError("classic texture", f"unknown mode '{self.mode}'", f"one of {', '.join(CLASSIC_MODES)}")
        _check_range("environment", self.environment, 0.0, MAX_NUMBER, "classic texture")


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
        _check_range("bias", (self.bias,), -MAX_NUMBER, MAX_NUMBER)
        _check_range("scale", (self.scale,), -MAX_NUMBER, MAX_NUMBER)
        _check_range("power", (self.power,), 0.0, MAX_NUMBER)
        _check_range("specular", self.specular, 0.0, 1.0)
        _check_range("ambient", self.ambient, 0.0, 1.0)
        _check_range("reflectivity", (self.reflectivity,), 0.0, 1.0)
        _check_range("transmittance", (self.transmittance,), 0.0, 1.0)
        _check_range("indices", self.indices, 1.0 / MAX_INDEX, MAX_INDEX)
        _check_range("thickness", (self.thickness,), 0.0, MAX_NUMBER)
        if self.thickness_model not in THICKNESS_MODELS:
            what = f"unknown thickness model '{self.thickness_model}'"
            raise ViewerError("classic material", what, f"one of {', '.join(THICKNESS_MODELS)}")
        if len(self.textures) > MAX_LAYERS:
            what = f"{len(self.textures)} textures"
            raise ViewerError("classic material", what, f"at most {MAX_LAYERS}: paint some of them into one image")

    @property
    def parts_channels(self) -> bool:
        """Whether red, green and blue are refracted into different directions."""
        return self.transmittance > 0.0 and len(set(self.indices)) > 1

    @property
    def is_sheet(self) -> bool:
        """Whether rays leave it displaced from their entry."""
        return self.transmittance > 0.0 and self.thickness > 0.0


def _check_range(name: str, values: Iterable[float], low: float, high: float, where: str = "classic material") -> None:
    numbers = tuple(values)
    if len(numbers) not in (1, 3) or not all(math.isfinite(number) and low <= number <= high for number in numbers):
        listed = ", ".join(f"{number:g}" for number in numbers)
        raise ViewerError(where, f"{name} {listed}", f"from {low:g} to {high:g}")


# Kinds of scattering; the numbers are the shaders' constants BSDF_LAMBERT and so on.
# -- materials ---------------------------------------------------------------------------------------------------------

KINDS = {"lambert": 0, "mirror": 1, "dielectric": 2, "phong": 3, "principled": 4, "classic": 5}
MAX_KINDS = 8  # a path keeps three bits of them
ALPHA_MODES = ("opaque", "mask", "blend")

# Real glass has up to about 1, rutile 2; far above, squared indices would overflow float32.
LARGEST_DISPERSION = 1000.0


@declared
@dataclass
class Material:
    """A surface's appearance; colours are linear sRGB. Every kind may emit as well: from its front face, or from both
    if it is double-sided.

    base_color : albedo of ``lambert`` and of the diffuse part of ``phong``; tint of a ``mirror``, and of a
    ``dielectric``'s transmission; the fourth is opacity, subject to ``alpha_mode``. texture : number of the scene's
    texture that multiplies it, or None. emission_texture : the same for the emission. ior : index of refraction of a
    dielectric's inside, relative to the outside (the front); of green under dispersion. dispersion : of a dielectric,
    and of ``principled`` volumes, 20 / Abbe number, by which the index grows from red to blue
    (KHR_materials_dispersion); 0: none. specular, exponent : reflectance (0 .. 1) and exponent of Phong's lobe.
    reflectivity : mirror reflectance (0 .. 1) of ``phong``, at every angle; base colour, specular and reflectivity are
    scaled down together to conserve energy.

    classic : of kind ``classic``, whose diffuse colour is ``base_color``; by default all defaults. A ``texture``
    modulates before its own.

    All other fields are of ``principled``, the material of glTF 2.0 and its extensions, with the meanings of their
    specifications; defaults have no effect. Each factor may be multiplied by a texture, in the channel named beside it;
    ``metallic_roughness_texture`` holds two, roughness in green and metallic in blue. metallic defaults to 0, not 1 as
    in files.

    ``backface_culling`` is set for all glTF materials that are not double-sided.

    ``source`` keeps the file's own description (textures, extensions) for other programs.

    Colours may be any sequences of numbers; a base colour of three is opaque.

    Raises ViewerError for an unknown kind or alpha mode, and where a number, or all numbers of a colour, are not given.
    """

    name: str = "default"
    base_color: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metallic: float = 0.0
    roughness: float = 1.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)  # radiance, W / (m^2 sr), strength included
    double_sided: bool = False
    backface_culling: bool = False  # back faces are invisible to cameras, unless the surface is transmissive
    source: dict[str, Any] = field(default_factory=dict)
    kind: str = "lambert"
    ior: float = 1.5
    dispersion: float = 0.0
    specular: float = 0.0
    exponent: float = 0.0
    reflectivity: float = 0.0
    classic: ClassicMaterial | None = None
    texture: int | None = None
    emission_texture: int | None = None
    metallic_roughness_texture: int | None = None
    normal_texture: int | None = None
    normal_scale: float = 1.0
    alpha_mode: str = "opaque"  # "mask": opaque from the cutoff on, else absent; "blend": partial coverage by opacity
    alpha_cutoff: float = 0.5
    unlit: bool = False  # emits its base colour without scattering
    specular_factor: float = 1.0  # of the dielectric's reflection, as specular_color
    specular_factor_texture: int | None = None  # alpha
    specular_color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    specular_color_texture: int | None = None  # rgb
    transmission: float = 0.0
    transmission_texture: int | None = None  # red
    thickness: float = 0.0  # 0: the surface is a thin wall, else the boundary of a volume
    thickness_texture: int | None = None  # green
    attenuation_color: tuple[float, float, float] = (1.0, 1.0, 1.0)  # transmittance of white light over the distance
    attenuation_distance: float = math.inf  # scene units
    priority: int = 0  # among nested volumes the highest wins
    anisotropy: float = 0.0
    anisotropy_rotation: float = 0.0  # radians, from the tangent towards the bitangent
    anisotropy_texture: int | None = None  # red and green: direction; blue: strength
    clearcoat: float = 0.0
    clearcoat_texture: int | None = None  # red
    clearcoat_roughness: float = 0.0
    clearcoat_roughness_texture: int | None = None  # green
    clearcoat_normal_texture: int | None = None
    clearcoat_normal_scale: float = 1.0
    iridescence: float = 0.0
    iridescence_texture: int | None = None  # red
    iridescence_ior: float = 1.3
    iridescence_thickness: tuple[float, float] = (
        100.0,
        400.0,
    )  # nm, at texture values 0 and 1; 1 without a texture
    iridescence_thickness_texture: int | None = None  # green
    sheen_color: tuple[float, float, float] = (0.0, 0.0, 0.0)
    sheen_color_texture: int | None = None  # rgb
    sheen_roughness: float = 0.0
    sheen_roughness_texture: int | None = None  # alpha
    diffuse_transmission: float = 0.0
    diffuse_transmission_texture: int | None = None  # alpha
    diffuse_transmission_color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    diffuse_transmission_color_texture: int | None = None  # rgb

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            distributions.load_plugins("materials", add_kind, self.kind)
        if self.kind not in KINDS:
            raise ViewerError(f"material '{self.name}'", f"unknown kind '{self.kind}'", f"one of {', '.join(KINDS)}")
        if self.kind == "classic" and self.classic is None:
            self.classic = ClassicMaterial()
        if self.alpha_mode not in ALPHA_MODES:
            raise ViewerError(
                f"material '{self.name}'", f"unknown alpha mode '{self.alpha_mode}'", f"one of {', '.join(ALPHA_MODES)}"
            )
        for name, default in NUMBERS.items():
            if getattr(self, name) is not default:
                self._convert(name, default)

    def _convert(self, name: str, default: float | tuple[float, ...]) -> None:
        """Check a number, or make a colour a tuple."""
        value: Any = getattr(self, name)
        count = len(default) if isinstance(default, tuple) else 0
        try:
            numbers = tuple(map(float, value)) if count else (float(value),)
        except (TypeError, ValueError):
            numbers = ()
        if name == "base_color" and len(numbers) == 3:
            numbers = (*numbers, 1.0)
        if len(numbers) != (count or 1):
            expected = f"{count} numbers" if count else "a number"
            raise ViewerError(f"material '{self.name}'", f"{name} {value!r}", f"give {expected}")
        if count and (type(value) is not tuple or len(value) < count):
            setattr(self, name, numbers)

    @property
    def texture_numbers(self) -> list[int]:
        """The indices of the scene's textures that it uses."""
        indices = (getattr(self, name) for name in TEXTURE_FIELDS)
        return [*(index for index in indices if index is not None), *(layer.texture for layer in self.layers)]

    @property
    def layers(self) -> tuple[ClassicTexture, ...]:
        """The textures behind a ``classic`` surface's colour, in order."""
        if self.kind != "classic" or self.classic is None:
            return ()
        return (*(() if self.texture is None else (ClassicTexture(self.texture),)), *self.classic.textures)

    @property
    def parts_channels(self) -> bool:
        """Whether red, green and blue are refracted into different directions."""
        if self.kind == "classic":
            return self.classic is not None and self.classic.parts_channels
        return self.half_spread > 0.0

    @property
    def half_spread(self) -> float:
        """Index difference of red below and of blue above green (KHR_materials_dispersion, section "Implementation"); 0
        except for dielectrics and volumes of glTF's materials."""
        is_volume = self.kind == "principled" and self.transmission > 0.0 and self.thickness > 0.0
        return (self.ior - 1.0) * 0.025 * self.dispersion if is_volume or self.kind == "dielectric" else 0.0

    @property
    def iors(self) -> tuple[float, float, float]:
        """Indices of refraction of red, green and blue; dispersion lowers none below 1."""
        low = max(self.ior - self.half_spread, 1.0) if self.half_spread else self.ior
        return low, self.ior, self.ior + self.half_spread


# Fields of numbers, with their defaults.
NUMBERS = {field.name: field.default for field in fields(Material) if isinstance(field.default, (tuple, float))}
# Fields with texture numbers.
TEXTURE_FIELDS = tuple(field.name for field in fields(Material) if field.name.endswith("texture"))


@dataclass(frozen=True)
class MaterialKind:
    """A kind of scattering that an entry point of ``raystream.materials`` brings, whose name it has.

    source  : the path of a GLSL file with ``<kind>_value``, ``_pdf``, ``_reflectance`` and ``_sample``, as
              ``shaders/interface/bsdf.glsl`` has them, of a BSDF that scatters over directions.
    numbers : the values of a material of the kind: ``parameter``, ``specular`` or ``reflectivity`` of an interaction,
              beside its ``albedo``.
    """

    source: str
    numbers: Callable[[Material], Mapping[str, float]] = lambda material: {}


FOREIGN: dict[str, MaterialKind] = {}  # by name, those that have been asked for


def add_kind(name: str, kind: MaterialKind) -> None:
    """Make a kind known. Raises TypeError and ValueError for another type, for a name that there is, and for more kinds
    than a path can keep."""
    if not isinstance(kind, MaterialKind):
        raise TypeError(f"{type(kind).__name__} is no MaterialKind")
    if name in KINDS or not name.isidentifier():
        raise ValueError(f"a kind cannot be called {name}")
    if len(KINDS) == MAX_KINDS:
        raise ValueError(f"there are {MAX_KINDS} kinds already")
    KINDS[name], FOREIGN[name] = len(KINDS), kind
