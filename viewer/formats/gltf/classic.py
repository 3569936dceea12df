"""The classic material in glTF: ``extras.classic`` of a material, whose diffuse colour is the base colour.

    "extras": {"classic": {
        "bias": 0.1, "scale": 0.9, "power": 5,
        "specular": [1, 1, 1], "ambient": [1, 1, 1], "reflectivity": 0.3, "transmittance": 0.8,
        "indices": [1.49, 1.5, 1.51], "thickness": 0, "thicknessModel": "path",
        "textures": [{"mode": "decal", "colorTexture": {"index": 0}},
                     {"mode": "blend", "colorTexture": {"index": 1}, "environment": [1, 0.9, 0.7]}],
        "vertexColors": true, "lit": false
    }}

All members are optional, see `raystream.scene.classic`. ``indices`` may be one number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raystream.base.errors import ViewerError
from raystream.formats.files import short
from raystream.formats.gltf.json import JsonObject
from raystream.scene.classic import ClassicMaterial, ClassicTexture

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
    number = find(item, "colorTexture", "color")
    if number is None:
        raise item.fail("colorTexture", "is missing; expected a texture")
    mode = item.text("mode", "modulate").lower()
    try:
        return ClassicTexture(number, mode, item.numbers("environment", 3, (1.0, 1.0, 1.0)))
    except ViewerError as error:
        raise ViewerError(item.where, error.what, error.hint) from None
