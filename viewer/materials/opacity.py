"""Surfaces with holes, and partly transparent ones: the traversal's test at a hit (glTF 2.0, 3.9.4).

A hit that light passes does not count, for rays of every kind. Scenes with opaque surfaces alone have no such code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from raystream.base.errors import ViewerError
from raystream.kernels.records import HIT, RAY
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.material import ALPHA_MODES, Material
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

NAME = "opacity"
OPACITY = Record(
    "Opacity",
    Field("mode", "int", about="OPACITY_OPAQUE, OPACITY_MASK, OPACITY_BLEND", within=SMALL),
    Field("factor", "float"),
    Field("cutoff", "float"),
    Field("texture", "int", about="address of the base colour's texture, -1: none", within=ROWS),
)
_TEST_FUNCTION = "triangle_test"  # the function that rejects transparent hits


def opacity(materials: Sequence[Material], surfaces: SurfaceFeatures, texture_count: int = 0) -> list[Module]:
    """The module of ``triangle_test`` over the ``solid_test`` of `with_opacity_test`, with the materials' opacities;
    none where all surfaces are opaque. Raises ViewerError for a material that names a texture which is not there."""
    if not surfaces.alpha:
        return []
    table = np.zeros(max(1, len(materials)), OPACITY.dtype)
    for row, material in zip(table, materials, strict=False):
        index = -1 if material.texture is None else material.texture
        if index >= texture_count:
            raise ViewerError(f"material '{material.name}'", f"names texture {index} of {texture_count}")
        row["mode"] = ALPHA_MODES.index(material.alpha_mode)
        row["factor"], row["cutoff"], row["texture"] = material.base_color[3], material.alpha_cutoff, index
    return [
        Module(
            NAME,
            provides=(_TEST_FUNCTION, "opacity_passes", "opacity_at"),
            source="shading/opacity.glsl",
            memories=(Table("opacities", OPACITY, table),),
            uniforms={"opacity_layered": ("int", 0)} if surfaces.blend else {},
            constants={f"OPACITY_{mode.upper()}": index for index, mode in enumerate(ALPHA_MODES)},
            needs=("solid_test", "geometry_at", "tangents_at", "texture_texel"),
            uses=(RAY, HIT),
            text=f"#undef {_TEST_FUNCTION}",
            features=surfaces.features,
        )
    ]


def with_opacity_test(modules: Sequence[Module], surfaces: SurfaceFeatures) -> list[Module]:
    """A structure's modules, with ``triangle_test`` renamed to ``solid_test`` for `opacity` where surfaces have it."""
    if not surfaces.alpha:
        return list(modules)
    return [
        replace(
            module,
            provides=tuple("solid_test" if name == _TEST_FUNCTION else name for name in module.provides),
            text=f"{module.text}\n#define {_TEST_FUNCTION} solid_test",
        )
        if _TEST_FUNCTION in module.provides
        else module
        for module in modules
    ]
