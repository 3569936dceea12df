"""What hits need of a mesh where its materials have normal maps, a direction, holes, or textures of the
second coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.kernels.records import HIT
from viewer.scene.geometry.triangles import Triangles
from viewer.scene.mesh import Mesh
from viewer.stream.declare.kernel import Module, Table
from viewer.stream.declare.record import Field, Record

NAME = "details"
DETAIL = Record(
    "Detail",
    Field("tangent", "vec4", "unit length", "world", "along +u; 1 or -1, times the cross product of normal and it: -v"),
    Field("uv_1", "vec3", about="second texture coordinates; at a point, log2 of their change over that of the first"),
    Field("opacity", "float", about="of the vertex colour"),
)


def flat_details(triangles: Triangles) -> Module:
    """``detail_at`` for triangles in world space. A vertex without a tangent has zeros."""
    rows = np.zeros(len(triangles.positions), DETAIL.dtype)
    if triangles.tangents is not None:
        rows["tangent"] = triangles.tangents
    if triangles.uvs_1 is not None:
        rows["uv_1"][:, :2] = triangles.uvs_1
    rows["opacity"] = 1.0 if triangles.opacities is None else triangles.opacities
    return _module("flat", rows)


def object_details(meshes: Sequence[Mesh]) -> Module:
    """``detail_at`` for instances of objects, whose vertices lie one object behind the other."""
    rows = np.zeros(sum(len(mesh.positions) for mesh in meshes), DETAIL.dtype)
    first = 0
    for mesh in meshes:
        part = rows[first : first + len(mesh.positions)]
        part["tangent"] = 0.0 if mesh.tangents is None else mesh.tangents
        part["uv_1"][:, :2] = 0.0 if mesh.uvs_1 is None else mesh.uvs_1
        part["opacity"] = 1.0 if mesh.colors is None else mesh.colors[:, 3]
        first += len(part)
    return _module("objects", rows)


def _module(which: str, rows: np.ndarray) -> Module:
    return Module(
        NAME,
        provides=("detail_at", "opacity_face", "face_number"),
        source=f"shading/detail_{which}.glsl",
        memories=(Table("details", DETAIL, rows),),
        needs=("geometry_at",),
        uses=(HIT, DETAIL),
    )
