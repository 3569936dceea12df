"""Vertex data of hits on materials with normal maps, anisotropy, alpha, or textures of the second coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.accel.motion import KEYS, MOTION
from raystream.kernels.records import HIT
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

NAME = "details"
DETAIL = Record(
    "Detail",
    Field("tangent", "vec4", "unit length", "world", "along +u; 1 or -1, times the cross product of normal and it: -v"),
    Field("uv_1", "vec3", about="second texture coordinates; at a point, log2 of their change over that of the first"),
    Field("opacity", "float", about="of the vertex colour"),
)


TANGENT_KEY = Record("TangentKey", Field("tangent", "vec3", "unit length", "world"))
MOVING = "MOVING_TANGENTS"  # feature of the scene


def flat_details(triangles: Triangles, keys: Sequence[Triangles] = ()) -> Module:
    """``detail_at`` for triangles in world space. A vertex without a tangent has zeros. keys : the same at the keys of
    an exposure."""
    rows = np.zeros(len(triangles.positions), DETAIL.dtype)
    if triangles.tangents is not None:
        rows["tangent"] = triangles.tangents
    if triangles.uvs_1 is not None:
        rows["uv_1"][:, :2] = triangles.uvs_1
    rows["opacity"] = 1.0 if triangles.opacities is None else triangles.opacities
    if triangles.tangents is None:
        return _module("flat", rows)
    return _module("flat", rows, [mesh.tangents for mesh in keys])


def object_details(meshes: Sequence[Mesh], keys: Sequence[Sequence[Mesh]] = ()) -> Module:
    """``detail_at`` for instances of objects, whose vertices lie one object behind the other. keys : of each mesh the
    same at the keys of an exposure, where it deforms."""
    rows = np.zeros(sum(len(mesh.positions) for mesh in meshes), DETAIL.dtype)
    first = 0
    for mesh in meshes:
        part = rows[first : first + len(mesh.positions)]
        part["tangent"] = 0.0 if mesh.tangents is None else mesh.tangents
        part["uv_1"][:, :2] = 0.0 if mesh.uvs_1 is None else mesh.uvs_1
        part["opacity"] = 1.0 if mesh.colors is None else mesh.colors[:, 3]
        first += len(part)
    count = max(map(len, keys), default=0)
    tangents = np.repeat(rows["tangent"][None], count, axis=0)
    first = 0
    for mesh, poses in zip(meshes, keys, strict=False):
        for row, pose in zip(tangents[:, first : first + len(mesh.positions)], poses, strict=False):
            row[:] = 0.0 if pose.tangents is None else pose.tangents
        first += len(mesh.positions)
    return _module("objects", rows, list(tangents))


def _module(which: str, rows: np.ndarray, keys: Sequence[NDArray[np.float32] | None] = ()) -> Module:
    """keys : (V, 4) tangents at those of an exposure."""
    still = Module(
        NAME,
        provides=("detail_at", "opacity_face", "face_number"),
        source=f"shading/detail_{which}.glsl",
        memories=(Table("details", DETAIL, rows),),
        needs=("geometry_at",),
        uses=(HIT,),
    )
    moved = [key for key in keys if key is not None]
    tangents = np.array(moved, np.float32).reshape(len(moved), len(rows), 4)[..., :3]
    moves = (tangents != tangents[:1]).any(axis=(0, 2))
    if not moves.any():
        return replace(still, uses=(HIT, DETAIL))
    record = Record(DETAIL.name, *DETAIL.fields, KEYS)
    moving, table = (
        np.zeros(len(rows), record.dtype),
        np.zeros((np.count_nonzero(moves), len(tangents)), TANGENT_KEY.dtype),
    )
    for name in DETAIL.dtype.names or ():
        moving[name] = rows[name]
    moving["keys"] = -1
    moving["keys"][moves] = np.arange(len(table)) * len(tangents)
    table["tangent"] = tangents[:, moves].transpose(1, 0, 2)
    return replace(
        still,
        memories=(Table("details", record, moving), Table("tangent_keys", TANGENT_KEY, table.ravel())),
        uniforms={"tangent_segments": ("int", len(tangents) - 1)},
        uses=(HIT, record),
        features=frozenset({MOTION, MOVING}),
    )
