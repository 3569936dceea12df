"""Materials of glTF 2.0 (section 3.9) and its extensions KHR_materials_*, field by field.

The fields of `Material` have the extensions' meanings, without approximation: factors are clamped to their ranges,
colours stay linear, each texture keeps its coordinates, transform and content. Occlusion textures are ignored, as light
transport computes occlusion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.images import UNEDITED, TexelEdit
from raystream.formats.gltf.json import JsonObject, Omissions
from raystream.scene.material import ALPHA_MODES, LARGEST_DISPERSION, ClassicMaterial, ClassicTexture, Material
from raystream.scene.texture import Texture, linear_from_srgb

# -- the classic material in glTF: ``extras.classic`` of a material, whose diffuse colour is the base colour -----------
# "extras": {"classic": { "bias": 0.1, "scale": 0.9, "power": 5, "specular": [1, 1, 1], "ambient": [1, 1, 1],
# "reflectivity": 0.3, "transmittance": 0.8, "indices": [1.49, 1.5, 1.51], "thickness": 0, "thicknessModel": "path",
# "textures": [{"mode": "decal", "colorTexture": {"index": 0}}, {"mode": "blend", "colorTexture": {"index": 1},
# "environment": [1, 0.9, 0.7]}], "vertexColors": true, "lit": false }}
# All members are optional, see `raystream.scene.material`. ``indices`` may be one number.

_NUMBERS = ("bias", "scale", "power", "reflectivity", "transmittance", "thickness")
_MEMBERS = {*_NUMBERS, "specular", "ambient", "indices", "thicknessModel", "textures", "vertexColors", "lit"}

FindTexture = Callable[[JsonObject, str, str], int | None]


def read_classic(item: JsonObject, find: FindTexture) -> ClassicMaterial | None:
    """The classic material of a material's extras; None without an object of that name, since extras may be anything.

    find : number of a member's texture.
    Raises ViewerError for an unknown member, and for values of a wrong type or out of range.
    """
    extras = item.data.get("extras")
    if not isinstance(extras, dict) or not isinstance(extras.get("classic"), dict):
        return None
    extra, members = item.child("extras").child("classic"), dict[str, Any]()
    unknown = sorted(extra.data.keys() - _MEMBERS)
    if unknown:
        what = f"unknown member {short(unknown[0])}"
        raise ViewerError(extra.where, what, f"one of {', '.join(sorted(_MEMBERS))}")
    members |= {name: extra.number(name) for name in _NUMBERS if name in extra}
    members |= {name: extra.numbers(name, 3) for name in ("specular", "ambient") if name in extra}
    if "indices" in extra:
        single = not isinstance(extra.data["indices"], list)
        members["indices"] = (extra.number("indices"),) * 3 if single else extra.numbers("indices", 3)
    if "thicknessModel" in extra:
        members["thickness_model"] = extra.text("thicknessModel")
    if "vertexColors" in extra:
        members["vertex_colors"] = extra.flag("vertexColors")
    members["lit"] = extra.flag("lit", False)
    members["textures"] = tuple(_layer(layer, find) for layer in extra.objects("textures"))
    try:
        return ClassicMaterial(**members)
    except ViewerError as error:
        raise ViewerError(extra.where, error.what, error.hint) from None


def _layer(item: JsonObject, find: FindTexture) -> ClassicTexture:
    index = find(item, "colorTexture", "color")
    if index is None:
        raise item.fail("colorTexture", "is missing; expected a texture")
    mode = item.text("mode", "modulate").lower()
    try:
        return ClassicTexture(index, mode, item.numbers("environment", 3, (1.0, 1.0, 1.0)))
    except ViewerError as error:
        raise ViewerError(item.where, error.what, error.hint) from None


# -- materials of KHR_materials_pbrSpecularGlossiness (archived) in terms of KHR_materials_specular --------------------
# A dielectric whose reflectance towards the normal is the specular colour.
# Reflectance below 2 %, which no surface has, means occlusion: the reflection at grazing angles fades with it, to
# none for black (S. Lagarde, C. de Rousiers, "Moving Frostbite to Physically Based Rendering", 2014, section 3.1).

NAME = "KHR_materials_pbrSpecularGlossiness"
DIELECTRIC = 0.04  # reflectance of index 1.5
_MIN_REFLECTANCE = 0.02

Color = tuple[float, float, float]


def specular_of_reflectance(color: Color) -> tuple[float, Color]:
    """Specular factor and colour of a specular colour, linear."""
    factor = min(max(color) / _MIN_REFLECTANCE, 1.0)
    if factor == 0.0:
        return 0.0, (1.0, 1.0, 1.0)
    red, green, blue = (value / (DIELECTRIC * factor) for value in color)
    return factor, (red, green, blue)


def specular_factor_edit(color: Color) -> TexelEdit:
    """A texture's part of the specular factor in opacity, from specular colours that ``color`` multiplies."""
    factor = specular_of_reflectance(color)[0] or 1.0

    def changed(texels: NDArray) -> NDArray:
        out = np.full_like(texels, _max_integer(texels))
        linear = linear_from_srgb(_integer_values(texels))
        tables = [
            _to_integers(texels, np.minimum(linear * component / _MIN_REFLECTANCE, 1.0) / factor) for component in color
        ]
        out[..., 3] = np.max([table[texels[..., k]] for k, table in enumerate(tables)], axis=0)
        return out

    return TexelEdit(f"specular {color}", changed)


def roughness_edit(gloss: float) -> TexelEdit:
    """Roughness in green, from glossiness in opacity that ``gloss`` multiplies."""

    def changed(texels: NDArray) -> NDArray:
        out = np.full_like(texels, _max_integer(texels))
        out[..., 1] = _to_integers(texels, 1.0 - gloss * _integer_values(texels))[texels[..., 3]]
        return out

    return TexelEdit(f"roughness {gloss:g}", changed)


def _max_integer(texels: NDArray) -> int:
    """The integer that stands for 1."""
    return int(np.iinfo(texels.dtype).max)


def _integer_values(texels: NDArray) -> NDArray[np.float64]:
    """The value of each integer."""
    return np.arange(_max_integer(texels) + 1) / _max_integer(texels)


def _to_integers(texels: NDArray, fractions: NDArray[np.float64]) -> NDArray:
    """The integers of numbers from 0 to 1."""
    return np.rint(np.minimum(fractions, 1.0) * _max_integer(texels)).astype(texels.dtype)


# -- materials, field by field -----------------------------------------------------------------------------------------

# Emission beyond this would overflow float32 in sums of samples.
_MAX_EMISSION = 1e30
_MAX_FACTOR = 1e30
_MAX_IOR = 100.0
_MAX_PRIORITY = 1000

# Extensions read here.
EXTENSIONS = frozenset(
    f"KHR_materials_{name}"
    for name in (
        "anisotropy",
        "clearcoat",
        "diffuse_transmission",
        "dispersion",
        "emissive_strength",
        "ior",
        "iridescence",
        "pbrSpecularGlossiness",
        "sheen",
        "specular",
        "transmission",
        "unlit",
        "volume",
    )
)


def default_material() -> Material:
    """The material of primitives without one (3.9.2.1 and table 5.19: white metal, fully rough)."""
    white = (1.0, 1.0, 1.0, 1.0)
    material = Material(name="default", base_color=white, metallic=1.0, roughness=1.0, backface_culling=True)
    material.kind = kind_of(material)
    return material


class TextureNumbers(Protocol):
    """Where materials find the indices of their textures; see `GltfTextures`."""

    @property
    def textures(self) -> Sequence[Texture]:
        """The scene's, in order."""

    def number(self, owner: JsonObject, key: str, content: str = "color", change: TexelEdit = UNEDITED) -> int | None:
        """The scene's number of the texture described by ``owner[key]``; None for one that counts as white."""


def read_material(
    item: JsonObject, index: int, textures: TextureNumbers, animated: bool = False
) -> tuple[Material, bool]:
    """The document's material of an index, and whether factors out of range were clamped.

    animated : textures of factors that are black now are read, too.
    """
    reader = _Reader(item, f"material {index}", textures, animated)
    return reader.material, reader.clamped


def read_materials(
    document: JsonObject,
    warnings: list[str],
    textures: Callable[[int], TextureNumbers],
    animated: Collection[int],
    omissions: Omissions,
) -> list[Material]:
    """The document's materials; ``textures``: of each index; ``animated``: the indices of those with animated
    properties. The default one is in place of those left out.

    Factors out of range are clamped, with a warning. Raises ViewerError for wrong types, unknown alpha modes and
    unknown texture indices.
    """
    clamped: list[str] = []
    materials = []
    described = document.objects("materials")
    for index in range(len(described)):
        material, was_clamped = default_material(), False
        with omissions:
            material, was_clamped = read_material(described[index], index, textures(index), index in animated)
        materials.append(material)
        if was_clamped:
            clamped.append(material.name)
    if clamped:
        warnings.append(f"factors out of range were clamped in {len(clamped)} materials: {', '.join(clamped[:3])}")
    return materials


class _Reader:
    """Reads one material; ``clamped``: a factor was out of range."""

    def __init__(self, item: JsonObject, name: str, textures: TextureNumbers, animated: bool) -> None:
        self.textures, self.animated = textures, animated
        self.clamped = False
        self.item = item
        unlit = item.extension("KHR_materials_unlit") is not None
        self.gloss = item.extension(NAME)
        if unlit and "pbrMetallicRoughness" in item:
            self.gloss = None  # an unlit surface has the base colour
        both = item.flag("doubleSided", False)
        name = item.text("name", "") or name
        self.material = Material(name=name, double_sided=both, backface_culling=not both, source=item.data)
        self._base()
        if unlit:
            # An unlit material's other members are fallbacks for readers without the extension.
            self.material.unlit = True
        else:
            self._surface()
            self._emission()
            self._interior()
            self._layers()
        self.material.kind = kind_of(self.material)
        classic = read_classic(self.item, self._texture)
        if classic is not None:
            self.material.kind, self.material.classic = "classic", classic

    def _base(self) -> None:
        material, name, part = self.material, "baseColor", self.item.child("pbrMetallicRoughness")
        if self.gloss is not None:
            name, part = "diffuse", self.gloss
        red, green, blue, opacity = self._colors(part, f"{name}Factor", (1.0, 1.0, 1.0, 1.0))
        material.base_color = (red, green, blue, opacity)
        material.texture = self._texture(part, f"{name}Texture", "color")
        mode = self.item.text("alphaMode", "OPAQUE")
        if mode not in {mode_name.upper() for mode_name in ALPHA_MODES}:
            hint = f"expected one of {', '.join(ALPHA_MODES).upper()}"
            raise self.item.fail("alphaMode", f"unknown: {short(mode)}", hint)
        material.alpha_mode = mode.lower()
        material.alpha_cutoff = self._factor(self.item, "alphaCutoff", 0.5, high=_MAX_FACTOR)

    def _surface(self) -> None:
        material, pbr = self.material, self.item.child("pbrMetallicRoughness")
        if self.gloss is None:
            material.metallic = self._factor(pbr, "metallicFactor", 1.0)
            material.roughness = self._factor(pbr, "roughnessFactor", 1.0)
            material.metallic_roughness_texture = self._texture(pbr, "metallicRoughnessTexture")
        else:
            self._glossiness(self.gloss)
        material.normal_texture, material.normal_scale = self._normals(self.item, "normalTexture")
        if self.gloss is not None:
            return
        part = self._extension("specular")
        material.specular_factor = self._factor(part, "specularFactor", 1.0)
        material.specular_factor_texture = self._texture(part, "specularTexture")
        material.specular_color = self._rgb(part, "specularColorFactor", 1.0, high=_MAX_FACTOR)
        material.specular_color_texture = self._texture(part, "specularColorTexture", "color")
        part = self._extension("ior")
        # An index of 0 means no limit.
        unlimited = part.number("ior", 1.5) == 0.0
        material.ior = _MAX_IOR if unlimited else self._factor(part, "ior", 1.5, 1.0, _MAX_IOR)

    def _glossiness(self, part: JsonObject) -> None:
        """A dielectric whose reflectance is the specular colour, as rough as it is not glossy."""
        material, key = self.material, "specularGlossinessTexture"
        gloss = self._factor(part, "glossinessFactor", 1.0)
        color = self._rgb(part, "specularFactor", 1.0)
        material.specular_factor, material.specular_color = specular_of_reflectance(color)
        material.metallic, material.roughness = 0.0, 1.0 - gloss
        if key in part:
            material.specular_color_texture = self._texture(part, key, "color")
            material.specular_factor_texture = self._texture(part, key, "data", specular_factor_edit(color))
            material.metallic_roughness_texture = self._texture(part, key, "data", roughness_edit(gloss))
        if material.metallic_roughness_texture is not None:
            material.roughness = 1.0

    def _emission(self) -> None:
        """Emission with its texture; a single-colour texture is folded into the factor: an even light."""
        material = self.material
        strength = self._factor(self._extension("emissive_strength"), "emissiveStrength", 1.0, high=_MAX_EMISSION)
        factor = np.multiply(self._rgb(self.item, "emissiveFactor", 0.0), strength)
        if factor.any() or self.animated:
            index = self._texture(self.item, "emissiveTexture", "color")
            if index is not None:
                texels = self.textures.textures[index].image.texels[..., :3]
                if (texels == texels[0, 0]).all() and texels.dtype == np.uint8:
                    factor = factor * linear_from_srgb(texels[0, 0] / 255.0)
                elif factor.any():
                    material.emission_texture = index
        red, green, blue = (float(value) for value in factor)
        material.emission = (red, green, blue)

    def _interior(self) -> None:
        """Transmission through the surface, and the medium behind it."""
        material, part = self.material, self._extension("transmission")
        material.transmission = self._factor(part, "transmissionFactor", 0.0)
        material.transmission_texture = self._texture(part, "transmissionTexture")
        part = self._extension("diffuse_transmission")
        material.diffuse_transmission = self._factor(part, "diffuseTransmissionFactor", 0.0)
        material.diffuse_transmission_texture = self._texture(part, "diffuseTransmissionTexture")
        material.diffuse_transmission_color = self._rgb(part, "diffuseTransmissionColorFactor", 1.0)
        material.diffuse_transmission_color_texture = self._texture(part, "diffuseTransmissionColorTexture", "color")
        part = self._extension("dispersion")
        material.dispersion = self._factor(part, "dispersion", 0.0, high=LARGEST_DISPERSION)
        part = self._extension("volume")
        material.thickness = self._factor(part, "thicknessFactor", 0.0, high=_MAX_FACTOR)
        material.thickness_texture = self._texture(part, "thicknessTexture")
        material.attenuation_color = self._rgb(part, "attenuationColor", 1.0)
        if "attenuationDistance" in part:
            material.attenuation_distance = self._factor(part, "attenuationDistance", math.inf, 1e-30, _MAX_FACTOR)
        material.priority = self._priority()

    def _layers(self) -> None:
        material, part = self.material, self._extension("anisotropy")
        material.anisotropy = self._factor(part, "anisotropyStrength", 0.0)
        material.anisotropy_rotation = part.number("anisotropyRotation", 0.0)
        material.anisotropy_texture = self._texture(part, "anisotropyTexture")
        part = self._extension("clearcoat")
        material.clearcoat = self._factor(part, "clearcoatFactor", 0.0)
        material.clearcoat_texture = self._texture(part, "clearcoatTexture")
        material.clearcoat_roughness = self._factor(part, "clearcoatRoughnessFactor", 0.0)
        material.clearcoat_roughness_texture = self._texture(part, "clearcoatRoughnessTexture")
        normal_map = self._normals(part, "clearcoatNormalTexture")
        material.clearcoat_normal_texture, material.clearcoat_normal_scale = normal_map
        part = self._extension("iridescence")
        material.iridescence = self._factor(part, "iridescenceFactor", 0.0)
        material.iridescence_texture = self._texture(part, "iridescenceTexture")
        material.iridescence_ior = self._factor(part, "iridescenceIor", 1.3, 1.0, _MAX_IOR)
        thinnest = self._factor(part, "iridescenceThicknessMinimum", 100.0, high=_MAX_FACTOR)
        thickest = self._factor(part, "iridescenceThicknessMaximum", 400.0, high=_MAX_FACTOR)
        material.iridescence_thickness = (thinnest, thickest)
        material.iridescence_thickness_texture = self._texture(part, "iridescenceThicknessTexture")
        part = self._extension("sheen")
        material.sheen_color = self._rgb(part, "sheenColorFactor", 0.0)
        material.sheen_color_texture = self._texture(part, "sheenColorTexture", "color")
        material.sheen_roughness = self._factor(part, "sheenRoughnessFactor", 0.0)
        material.sheen_roughness_texture = self._texture(part, "sheenRoughnessTexture")

    def _extension(self, name: str) -> JsonObject:
        """The extension's object, empty if the material lacks it."""
        full = f"KHR_materials_{name}"
        return self.item.extension(full) or JsonObject({}, self.item.path(f"extensions.{full}"))

    def _factor(self, owner: JsonObject, key: str, default: float, low: float = 0.0, high: float = 1.0) -> float:
        value = owner.number(key, default)
        clamped = value if key not in owner else min(max(value, low), high)
        self.clamped |= clamped != value
        return clamped

    def _colors(self, owner: JsonObject, key: str, default: Sequence[float], high: float = 1.0) -> tuple[float, ...]:
        values = owner.numbers(key, len(default), tuple(default))
        clamped = tuple([min(max(component, 0.0), high) for component in values])
        self.clamped |= clamped != values
        return clamped

    def _rgb(self, owner: JsonObject, key: str, default: float, high: float = 1.0) -> tuple[float, float, float]:
        red, green, blue = self._colors(owner, key, (default,) * 3, high)
        return red, green, blue

    def _texture(self, owner: JsonObject, key: str, content: str = "data", change: TexelEdit = UNEDITED) -> int | None:
        return self.textures.number(owner, key, content, change) if key in owner else None

    def _normals(self, owner: JsonObject, key: str) -> tuple[int | None, float]:
        """A normal texture's number and scale."""
        if key not in owner:
            return None, 1.0
        return self.textures.number(owner, key, "normal"), owner.child(key).number("scale", 1.0)

    def _priority(self) -> int:
        """``extras.priority``: the medium of highest priority wins where media nest. glTF has no such field, and extras
        may be anything."""
        extras = self.item.data.get("extras")
        value = extras.get("priority", 0) if isinstance(extras, dict) else 0
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return min(max(value, -_MAX_PRIORITY), _MAX_PRIORITY) if is_integer else 0


def kind_of(material: Material) -> str:
    """``lambert`` if only the diffuse lobe of ``principled`` is left, at full opacity and without normal map."""
    return "lambert" if is_diffuse(material) else "principled"


def is_diffuse(material: Material) -> bool:
    """Whether only base colour and emission of a principled material have an effect."""
    lobes = (
        material.metallic,
        material.specular_factor,
        material.transmission,
        material.clearcoat,
        material.iridescence,
        *material.sheen_color,
        material.diffuse_transmission,
    )
    plain = material.alpha_mode == "opaque" and not material.unlit and material.normal_texture is None
    return plain and not any(lobes)
