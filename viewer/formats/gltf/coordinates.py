"""The sets of texture coordinates that meshes need: glTF has any number (section 3.7.2.1), a mesh of the scene two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raystream.formats.gltf.json import JsonObject

Sets = tuple[int, ...]

DEFAULT: Sets = (0, 1)
_TRANSFORM = "KHR_texture_transform"


def material_sets(document: JsonObject, variants: str) -> list[Sets]:
    """For each material the numbers of the sets that its meshes have as ``uvs`` and ``uvs_1``: 0 and 1, unless its
    textures use others, then the first two of these. Materials that variants put on one mesh have the same.

    variants : the extension of primitives that names them. Malformed members are left to their readers.
    """
    materials = document.array("materials")
    used = [set(_coordinates(material)) for material in materials]
    group = list(range(len(materials)))

    def first(number: int) -> int:
        while group[number] != number:
            number = group[number]
        return number

    for candidates in _on_one_mesh(document, variants):
        numbers = [number for number in candidates if isinstance(number, int) and 0 <= number < len(group)]
        for number in numbers[1:]:
            group[first(number)] = first(numbers[0])
    merged: dict[int, set[int]] = {}
    for number, sets in enumerate(used):
        merged.setdefault(first(number), set()).update(sets)
    return [_chosen(merged[first(number)]) for number in range(len(materials))]


def _chosen(used: set[int]) -> Sets:
    return DEFAULT if used <= set(DEFAULT) else tuple(sorted(used)[:2])


def _on_one_mesh(document: JsonObject, variants: str) -> Iterator[list[Any]]:
    """The materials of every primitive that has several."""
    if document.extension(variants) is None:
        return
    for mesh in document.objects("meshes"):
        for primitive in mesh.objects("primitives"):
            extension = primitive.extension(variants)
            if extension is not None:
                yield [_integer(user.data.get("material")) for user in (primitive, *extension.objects("mappings"))]


def _coordinates(value: Any, key: str = "") -> Iterator[int]:
    """The sets that the textures in part of a JSON document use, but for occlusion's."""
    if isinstance(value, dict):
        if key.endswith("Texture") and key != "occlusionTexture":
            number = texture_set(value)
            if number is not None:
                yield number
        for inner, child in value.items():
            yield from _coordinates(child, inner)
    elif isinstance(value, list):
        for child in value:
            yield from _coordinates(child)


def texture_set(described: dict[str, Any]) -> int | None:
    """The set of texture coordinates of a texture's description; None where it is no number."""
    number = described.get("texCoord")
    extensions = described.get("extensions")
    transform = extensions.get(_TRANSFORM) if isinstance(extensions, dict) else None
    if isinstance(transform, dict) and transform.get("texCoord") is not None:
        number = transform["texCoord"]
    number = 0 if number is None else _integer(number)
    return number if isinstance(number, int) and number >= 0 else None


def _integer(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
