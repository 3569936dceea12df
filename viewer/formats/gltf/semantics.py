"""Semantic classes, which glTF leaves to applications: ``extras`` of nodes and meshes name them.

``{"extras": {"class": "chair"}}``, or ``"semantic"`` in its place, a text or a whole number; the node's own before that
of its mesh. Nodes below have it too, unless theirs say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viewer.formats.gltf.json import JsonObject

KEYS = ("class", "semantic")


def semantic_classes(document: JsonObject, numbers: Sequence[int]) -> list[str] | None:
    """The classes of the nodes of these numbers, empty without one; None if none has."""
    nodes, meshes = document.objects("nodes"), document.objects("meshes")
    found = []
    for number in numbers:
        node = nodes[number]
        mesh = node.integer("mesh", -1, low=-(1 << 53))
        own = _class_of(node.data)
        if not own and 0 <= mesh < len(meshes):
            own = _class_of(meshes[mesh].data)
        found.append(own)
    return found if any(found) else None


def _class_of(data: Mapping[str, Any]) -> str:
    """By the extras of an object; extras of any other form are another application's."""
    extras = data.get("extras")
    if not isinstance(extras, dict):
        return ""
    for key in KEYS:
        value = extras.get(key)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return ""
