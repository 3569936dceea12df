"""The extensions of a document: those that are supported, and notes about all others."""

from __future__ import annotations

from typing import Any

from raystream.formats.files import short
from raystream.formats.gltf.decoders import DECODERS, decoder
from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.materials import EXTENSIONS
from raystream.formats.gltf.omissions import Omissions

# Supported extensions.
APPLIED = frozenset(
    {
        *EXTENSIONS,
        *DECODERS,
        "EXT_mesh_gpu_instancing",
        "EXT_texture_webp",
        "KHR_animation_pointer",
        "KHR_lights_punctual",
        "KHR_materials_variants",
        "KHR_mesh_quantization",
        "KHR_node_visibility",
        "KHR_texture_transform",
    }
)
# Extensions that may be required though not supported: geometry and materials are right without them.
KEPT = frozenset({"KHR_xmp", "KHR_xmp_json_ld", "EXT_lights_image_based"})


def read_extensions(document: JsonObject, warnings: list[str], omissions: Omissions) -> tuple[list[str], list[str]]:
    """Names of all extensions that the document declares, and of those without effect here, declared or not, which are
    told. Raises ViewerError for unknown required ones, unless they are left out."""
    required = document.texts("extensionsRequired")
    for name in required:
        if name in DECODERS:
            decoder(DECODERS[name], f"{document.path('extensionsRequired')}: {name}")
        with omissions:
            if name not in APPLIED and name not in KEPT:
                raise document.fail(
                    "extensionsRequired",
                    f"needs the unknown extension {short(name)}",
                    "the scene would be wrong without it",
                )
    used = sorted({*required, *document.texts("extensionsUsed")})
    ignored = sorted({*used, *_named(document.data)} - APPLIED)
    if ignored:
        more = f" and {len(ignored) - _MOST_NAMED} more" if len(ignored) > _MOST_NAMED else ""
        names = ", ".join(short(name)[1:-1] for name in ignored[:_MOST_NAMED])
        warnings.append(f"extensions that are not supported have no effect: {names}{more}")
    return used, ignored


_MOST_NAMED = 8


def _named(data: dict[str, Any]) -> set[str]:
    """The names of the extensions that objects of a document have, those in extras aside."""
    names: set[str] = set()
    pending = [data]
    while pending:
        for key, value in pending.pop().items():
            kind = type(value)  # of JSON: no class is derived
            if kind is dict:
                if key == "extensions":
                    names.update(value)
                if key != "extras":
                    pending.append(value)
            elif kind is list and value and not isinstance(value[0], (int, float, str)):
                pending.extend([child for child in value if type(child) is dict])
    return names
