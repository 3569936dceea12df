"""KHR_materials_variants: named variants of a file, with other materials for some primitives."""

from __future__ import annotations

from viewer.formats.files import short
from viewer.formats.gltf.json import JsonObject

NAME = "KHR_materials_variants"


def read_variants(document: JsonObject) -> list[str]:
    """Unique names of the variants: missing and duplicate ones are numbered."""
    extension = document.extension(NAME)
    names: list[str] = []
    for number, item in enumerate([] if extension is None else extension.objects("variants")):
        name = unique = item.text("name", "") or f"variant {number}"
        k = 2
        while unique in names:
            unique, k = f"{name} {k}", k + 1
        names.append(unique)
    return names


def read_mappings(primitive: JsonObject, material_count: int, variant_count: int) -> dict[int, int]:
    """The materials of a primitive by variant number.

    Raises ViewerError for numbers out of range, and for a variant named twice.
    """
    extension = primitive.extension(NAME)
    found: dict[int, int] = {}
    for mapping in [] if extension is None else extension.objects("mappings"):
        material = mapping.index("material", material_count, "material")
        for variant in mapping.indices("variants", variant_count, "variant"):
            if variant in found:
                raise mapping.fail("variants", f"names variant {short(variant)}, as does another mapping")
            found[variant] = material
    return found
