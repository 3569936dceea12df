"""glTF materials, taken for what the light transport knows: mirror, smooth glass, and Lambert for the rest.

What that leaves out is said in one line per kind of simplification; the file's own description stays with the material.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from viewer.formats.gltf.images import Textures
from viewer.formats.gltf.json import Object
from viewer.formats.image.color import linear_from_srgb
from viewer.scene.material import LARGEST_DISPERSION, Material

# Emission beyond this would leave float32's range when samples are added up.
_BRIGHTEST = 1e30
# Metal smoother than this is a mirror.
_MIRROR_ROUGHNESS = 0.1
_LARGEST_IOR = 100.0

_UNUSED_TEXTURES = ("metallicRoughnessTexture", "normalTexture", "occlusionTexture")
# Layers and effects on top of the base material.
_UNUSED_EXTENSIONS = tuple(
    f"KHR_materials_{name}"
    for name in ("anisotropy", "clearcoat", "diffuse_transmission", "iridescence", "sheen", "unlit")
)


def default_material() -> Material:
    """The material of primitives that name none (3.9.2.1 and table 5.19: white metal, fully rough)."""
    return Material(name="default", base_color=(1.0, 1.0, 1.0, 1.0), metallic=1.0, roughness=1.0)


def read_materials(document: Object, warnings: list[str], textures: Textures) -> tuple[list[Material], list[int]]:
    """The document's materials, and the set of texture coordinates that each uses.

    Factors out of range are clamped, with a warning; textures that cannot be had are white. Wrong types raise
    ViewerError.
    """
    clamped: list[str] = []
    simplified: Counter[str] = Counter()
    materials, sets = [], []
    for number, item in enumerate(document.objects("materials")):
        material, changed = _read(item, f"material {number}", simplified)
        if changed:
            clamped.append(material.name)
        pbr = item.child("pbrMetallicRoughness")
        coordinates = 0
        if "baseColorTexture" in pbr:
            material.texture, coordinates = textures.number(pbr, "baseColorTexture")
        if "emissiveTexture" in item and any(material.emission):
            coordinates = _shine(item, material, coordinates, textures, simplified)
        materials.append(material)
        sets.append(coordinates)
    if clamped:
        warnings.append(f"factors out of range were clamped in {len(clamped)} materials: {', '.join(clamped[:3])}")
    warnings.extend(
        f"{count:,} {'material' if count == 1 else 'materials'}: {text}" for text, count in simplified.items()
    )
    return materials, sets


def _read(item: Object, name: str, simplified: Counter[str]) -> tuple[Material, bool]:
    """The material without its textures, and whether a factor was out of range."""
    pbr = item.child("pbrMetallicRoughness")
    strength, ior, transmission, dispersion = 1.0, 1.5, 0.0, 0.0
    extension = item.extension("KHR_materials_emissive_strength")
    if extension is not None:
        strength = extension.number("emissiveStrength", 1.0)
    extension = item.extension("KHR_materials_ior")
    if extension is not None:
        ior = extension.number("ior", 1.5)
    extension = item.extension("KHR_materials_transmission")
    if extension is not None:
        transmission = extension.number("transmissionFactor", 0.0)
    extension = item.extension("KHR_materials_dispersion")
    if extension is not None:
        dispersion = extension.number("dispersion", 0.0)
    color = pbr.numbers("baseColorFactor", 4, (1.0, 1.0, 1.0, 1.0))
    metallic, roughness = pbr.number("metallicFactor", 1.0), pbr.number("roughnessFactor", 1.0)
    emission = item.numbers("emissiveFactor", 3, (0.0, 0.0, 0.0))
    given = [*color, metallic, roughness, *emission, transmission]
    inside = [min(max(value, 0.0), 1.0) for value in given]
    bright = min(max(strength, 0.0), _BRIGHTEST)
    # An index of 0 stands for one without a limit (KHR_materials_ior).
    index = _LARGEST_IOR if ior == 0.0 else min(max(ior, 1.0), _LARGEST_IOR)
    spread = min(max(dispersion, 0.0), LARGEST_DISPERSION)
    material = Material(
        name=item.text("name", "") or name,
        base_color=(inside[0], inside[1], inside[2], inside[3]),
        metallic=inside[4],
        roughness=inside[5],
        emission=(inside[6] * bright, inside[7] * bright, inside[8] * bright),
        double_sided=item.flag("doubleSided", False),
        source=item.data,
        ior=index,
        dispersion=spread,
    )
    _scatter(item, material, inside[9], simplified)
    changed = inside != given or bright != strength or spread != dispersion or (ior != 0.0 and index != ior)
    return material, changed


def _shine(item: Object, material: Material, coordinates: int, textures: Textures, simplified: Counter[str]) -> int:
    """Give the material its emissive texture; the set of texture coordinates that it uses."""
    number, own = textures.number(item, "emissiveTexture")
    texels = textures.textures[number].image.texels[..., :3]
    if (texels == texels[0, 0]).all():  # one colour: an even light
        red, green, blue = (float(c) for c in np.multiply(material.emission, linear_from_srgb(texels[0, 0] / 255.0)))
        material.emission = (red, green, blue)
        return coordinates
    material.emission_texture = number
    simplified["emissive texture: seen, but not chosen as a light (its light is found by chance)"] += 1
    if material.texture is None:
        return own
    if own != coordinates:
        simplified["emissive texture on the base colour's texture coordinates instead of its own"] += 1
    return coordinates


def _scatter(item: Object, material: Material, transmission: float, simplified: Counter[str]) -> None:
    """Choose the material's kind, and count what that leaves out."""
    pbr = item.child("pbrMetallicRoughness")
    if material.metallic >= 0.5:
        if material.roughness < _MIRROR_ROUGHNESS:
            material.kind = "mirror"
            if material.roughness > 0.0 or material.metallic < 1.0:
                simplified["nearly smooth metal, taken for a perfect mirror"] += 1
        else:
            simplified["rough metal, drawn matte (Lambert)"] += 1
    elif transmission > 0.0:
        material.kind = "dielectric"
        volume = item.extension("KHR_materials_volume")
        solid = volume is not None and volume.number("thicknessFactor", 0.0) > 0.0
        if not solid:
            simplified["thin-walled glass, taken for the surface of a solid"] += 1
        elif "attenuationDistance" in volume:  # type: ignore[operator]  # not None where it is solid
            simplified["glass that absorbs, taken for clear"] += 1
        if transmission < 1.0 or material.roughness > 0.0 or "transmissionTexture" in _transmission(item):
            simplified["partly transparent or rough glass, taken for clear and smooth"] += 1
    else:
        specular = item.extension("KHR_materials_specular")
        factor = 1.0 if specular is None else specular.number("specularFactor", 1.0)
        if material.roughness < 1.0 and factor > 0.0:
            simplified["glossy, drawn matte (Lambert)"] += 1
    if item.text("alphaMode", "OPAQUE") != "OPAQUE":
        simplified["alpha is not used, drawn opaque"] += 1
    if any(key in item or key in pbr for key in _UNUSED_TEXTURES):
        simplified["normal, roughness and occlusion textures are not used"] += 1
    if any(item.extension(name) is not None for name in _UNUSED_EXTENSIONS):
        simplified["layers and effects of extensions are not used"] += 1


def _transmission(item: Object) -> Object:
    found = item.extension("KHR_materials_transmission")
    assert found is not None
    return found
