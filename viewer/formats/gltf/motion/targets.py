"""Morph targets of glTF 2.0 (section 3.7.2.2), and their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject
from raystream.scene.deform.deformation import MorphTarget
from raystream.scene.mesh import Float

# Field of `MorphTarget` -> widths in a file.
_WIDTHS = {"positions": (3,), "normals": (3,), "tangents": (3,), "colors": (3, 4), "uvs": (2,), "uvs_1": (2,)}


def target_count(mesh: JsonObject) -> int:
    """Morph targets of a mesh.

    Raises ViewerError where two primitives have different numbers; those without any do not change their shape.
    """
    result = 0
    for primitive in mesh.objects("primitives"):
        count = len(primitive.array("targets"))
        if count and result and count != result:
            raise primitive.fail("targets", f"{count} morph targets, and another primitive has {result}")
        result = result or count
    return result


def rest_weights(node: JsonObject, mesh: JsonObject, count: int) -> tuple[float, ...]:
    """The weights of ``count`` morph targets at rest: the node's, else its mesh's, else zeros."""
    zeros = (0.0,) * count
    if not count:
        return zeros
    return node.numbers("weights", count) if "weights" in node else mesh.numbers("weights", count, zeros)


def read_targets(
    primitive: JsonObject, accessors: Accessors, count: int, sets: Sequence[str], fields: Sequence[str]
) -> tuple[MorphTarget, ...]:
    """The targets of a primitive of ``count`` vertices.

    sets : the attributes of texture coordinates for ``uvs`` and ``uvs_1``. fields : of `MorphTarget`, those that the
    primitive's mesh has. Displacements that are not finite are zero. Raises ViewerError for another number of elements.
    """
    keys = {"positions": "POSITION", "normals": "NORMAL", "tangents": "TANGENT", "colors": "COLOR_0"}
    keys |= dict(zip(("uvs", "uvs_1"), sets, strict=False))
    targets = []
    for item in primitive.objects("targets"):
        displacements: dict[str, Float] = {}
        for name in fields:
            if keys[name] not in item:
                continue
            values = accessors.floats(keys[name], item, _WIDTHS[name], normalize=name == "colors")
            if len(values) != count:
                raise item.fail(keys[name], f"has {len(values):,} elements, and POSITION {count:,}")
            if not np.isfinite(values).all():
                accessors.budget.charge(values.nbytes)
                values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
            if name == "colors" and values.shape[1] == 3:
                accessors.budget.charge(2 * values.nbytes)
                values = np.pad(values, ((0, 0), (0, 1)))
            if values.any():
                displacements[name] = values
        targets.append(MorphTarget(**displacements))
    return tuple(targets)
