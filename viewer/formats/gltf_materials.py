"""glTF materials: the factors of today, everything else kept as the file says it."""

from __future__ import annotations

from viewer.formats.gltf_json import Object
from viewer.scene.material import Material

# Emission beyond this would leave float32's range when samples are added up.
_BRIGHTEST = 1e30


def default_material() -> Material:
    """The material of primitives that name none (3.9.2.1 and table 5.19: white metal, fully rough)."""
    return Material(name="default", base_color=(1.0, 1.0, 1.0, 1.0), metallic=1.0, roughness=1.0)


def read_materials(document: Object, warnings: list[str]) -> list[Material]:
    """The document's materials; factors out of range are clamped, with a warning. Wrong types raise ViewerError."""
    clamped: list[str] = []
    materials = []
    for number, item in enumerate(document.objects("materials")):
        name = item.text("name", "") or f"material {number}"
        pbr = item.child("pbrMetallicRoughness")
        strength = 1.0
        extension = item.extension("KHR_materials_emissive_strength")
        if extension is not None:
            strength = extension.number("emissiveStrength", 1.0)
        color = pbr.numbers("baseColorFactor", 4, (1.0, 1.0, 1.0, 1.0))
        metallic, roughness = pbr.number("metallicFactor", 1.0), pbr.number("roughnessFactor", 1.0)
        emission = item.numbers("emissiveFactor", 3, (0.0, 0.0, 0.0))
        inside = [_share(value) for value in (*color, metallic, roughness, *emission)]
        bright = min(max(strength, 0.0), _BRIGHTEST)
        if inside != [*color, metallic, roughness, *emission] or bright != strength:
            clamped.append(name)
        materials.append(
            Material(
                name=name,
                base_color=(inside[0], inside[1], inside[2], inside[3]),
                metallic=inside[4],
                roughness=inside[5],
                emission=(inside[6] * bright, inside[7] * bright, inside[8] * bright),
                double_sided=item.flag("doubleSided", False),
                source=item.data,
            )
        )
    if clamped:
        warnings.append(f"factors out of range were clamped in {len(clamped)} materials: {', '.join(clamped[:3])}")
    return materials


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
