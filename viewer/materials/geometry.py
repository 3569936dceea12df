"""Geometry as modules: of scenes whose triangles are all in world space, and of scenes of two levels. Tangents, second
texture coordinates and vertex opacities are tables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.accel.motion import DEFORMING, KEYS, MOTION
from raystream.accel.two_level.structure import Objects
from raystream.kernels.records import FACE, GEOMETRY, HIT, RAY, VERTEX
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

VERTEX_KEY = Record("VertexKey", *VERTEX.fields[:2])


def vertex_table(triangles: Triangles) -> Table:
    """The table ``vertices``, with the attributes of every vertex."""
    vertices = np.zeros(len(triangles.positions), VERTEX.dtype)
    vertices["position"], vertices["normal"] = triangles.positions, triangles.normals
    vertices["color"], vertices["uv"] = triangles.colors, triangles.uvs
    return Table("vertices", VERTEX, vertices)


def with_vertex_keys(geometry: Module, keys: NDArray) -> Module:
    """A geometry's module with vertices that move through ``keys`` (K, V) of `VERTEX_KEY`; itself where none moves."""
    moves = (keys != keys[:1]).any(axis=0)
    if not moves.any():
        return geometry
    vertices = next(memory for memory in geometry.memories if memory.name == "vertices")
    assert isinstance(vertices, Table)
    record = Record(VERTEX.name, *VERTEX.fields, KEYS)
    rows = np.zeros(len(vertices.data), record.dtype)
    for name in VERTEX.dtype.names or ():
        rows[name] = vertices.data[name]
    rows["keys"] = -1
    rows["keys"][moves] = np.arange(np.count_nonzero(moves)) * len(keys)
    memories = [Table("vertices", record, rows) if memory is vertices else memory for memory in geometry.memories]
    return replace(
        geometry,
        memories=(*memories, Table("vertex_keys", VERTEX_KEY, np.ascontiguousarray(keys[:, moves].T).ravel())),
        uniforms={**geometry.uniforms, "vertex_segments": ("int", len(keys) - 1)},
        features=geometry.features | {MOTION, DEFORMING},
    )


def face_table(triangles: Triangles) -> Table:
    """The table ``faces``, with corners and material of every triangle; the first corner is -n - 1 for quadric n."""
    faces = np.zeros(len(triangles), FACE.dtype)
    faces["corners"], faces["material"] = triangles.triangles, triangles.materials
    faces["corners"][triangles.quadrics.indices, 0] = -1 - np.arange(len(triangles.quadrics))
    return Table("faces", FACE, faces)


def flat_geometry(triangles: Triangles, keys: Sequence[Triangles] = ()) -> Module:
    """The module of ``geometry_at`` for triangles, and quadrics, in world space. keys : the triangles at the keys of an
    exposure."""
    module = _flat_geometry(triangles)
    if not keys:
        return module
    rows = np.zeros((len(keys), len(triangles.positions)), VERTEX_KEY.dtype)
    for row, mesh in zip(rows, keys, strict=True):
        row["position"], row["normal"] = mesh.positions, mesh.normals
    return with_vertex_keys(module, rows)


def _flat_geometry(triangles: Triangles) -> Module:
    if triangles.quadrics:
        return Module(
            "flat geometry",
            provides=("geometry_at",),
            source="shading/geometry_flat_quadrics.glsl",
            memories=(face_table(triangles), vertex_table(triangles)),
            needs=("quadric_at",),
            uses=(RAY, HIT, GEOMETRY),
        )
    return Module(
        "flat geometry",
        provides=("geometry_at",),
        source="shading/geometry_flat.glsl",
        memories=(face_table(triangles), vertex_table(triangles)),
        uses=(RAY, HIT, GEOMETRY),
    )


def object_geometry(objects: Objects) -> Module:
    """The module of ``geometry_at`` for instances of objects; that of ``object_ray`` has the instances. Vertices and
    faces of all objects follow each other; the face of quadric n has a first corner of -n - 1."""
    count = sum(len(mesh.positions) for mesh in objects.meshes)
    vertices, faces = np.zeros(count, VERTEX.dtype), np.zeros(objects.triangles, FACE.dtype)
    vertex = face = quadric = 0
    for mesh, scale, quadrics in zip(objects.meshes, objects.scales, objects.quadrics, strict=True):
        rows = vertices[vertex : vertex + len(mesh.positions)]
        with np.errstate(over="ignore"):  # vertices of no triangle may lie anywhere
            rows["position"] = mesh.positions.astype(np.float64) * scale
        rows["normal"] = mesh.normals
        rows["color"] = 1.0 if mesh.colors is None else mesh.colors[:, :3]
        rows["uv"] = 0.0 if mesh.uvs is None else mesh.uvs
        face_rows = faces[face : face + len(mesh.triangles)]
        face_rows["corners"], face_rows["material"] = mesh.triangles + vertex, mesh.materials
        if quadrics is not None:
            face_rows["corners"][:, 0] = -1 - quadric - np.arange(len(face_rows))
            quadric += len(face_rows)
        vertex, face = vertex + len(rows), face + len(face_rows)
    module = Module(
        "object geometry",
        provides=("geometry_at",),
        source=f"shading/geometry_objects{'_quadrics' if quadric else ''}.glsl",
        memories=(Table("faces", FACE, faces), Table("vertices", VERTEX, vertices)),
        needs=("object_ray", "quadric_at") if quadric else ("object_ray",),
        uses=(RAY, HIT, GEOMETRY),
    )
    return with_vertex_keys(module, _vertex_keys(objects, vertices)) if any(objects.keys) else module


def _vertex_keys(objects: Objects, vertices: NDArray) -> NDArray:
    """(K, V) of `VERTEX_KEY`: the vertices (V,) of all objects at each of their K keys, those that rest repeated."""
    keys = np.zeros((max(map(len, objects.keys)), len(vertices)), VERTEX_KEY.dtype)
    keys["position"], keys["normal"] = vertices["position"], vertices["normal"]
    vertex = 0
    for mesh, scale, poses in zip(objects.meshes, objects.scales, objects.keys, strict=True):
        for row, pose in zip(keys[:, vertex : vertex + len(mesh.positions)], poses, strict=False):
            with np.errstate(over="ignore"):
                row["position"] = pose.positions.astype(np.float64) * scale
            row["normal"] = pose.normals
        vertex += len(mesh.positions)
    return keys


# -- vertex data of normal maps, anisotropy, alpha, and textures of the second coordinates -----------------------------

TANGENTS = "vertex tangents"  # name of the module
VERTEX_TANGENTS = Record(
    "VertexTangents",
    Field("tangent", "vec4", "unit length", "world", "along +u; 1 or -1, times the cross product of normal and it: -v"),
    Field("uv_1", "vec3", about="second texture coordinates; at a point, log2 of their change over that of the first"),
    Field("opacity", "float", about="of the vertex colour"),
)


TANGENT_KEY = Record("TangentKey", Field("tangent", "vec3", "unit length", "world"))
MOVING = "MOVING_TANGENTS"  # feature of the scene


def flat_tangents(triangles: Triangles, keys: Sequence[Triangles] = ()) -> Module:
    """The module of ``tangents_at`` for triangles in world space; a vertex without a tangent has zeros. keys : the
    triangles at the keys of an exposure."""
    rows = np.zeros(len(triangles.positions), VERTEX_TANGENTS.dtype)
    if triangles.tangents is not None:
        rows["tangent"] = triangles.tangents
    if triangles.uvs_1 is not None:
        rows["uv_1"][:, :2] = triangles.uvs_1
    rows["opacity"] = 1.0 if triangles.opacities is None else triangles.opacities
    if triangles.tangents is None:
        return _tangents_module("flat", rows)
    return _tangents_module("flat", rows, [mesh.tangents for mesh in keys])


def object_tangents(meshes: Sequence[Mesh], keys: Sequence[Sequence[Mesh]] = ()) -> Module:
    """The module of ``tangents_at`` for instances of objects, whose vertices follow each other. keys : each mesh at the
    keys of an exposure, where it deforms."""
    rows = np.zeros(sum(len(mesh.positions) for mesh in meshes), VERTEX_TANGENTS.dtype)
    first = 0
    for mesh in meshes:
        mesh_rows = rows[first : first + len(mesh.positions)]
        mesh_rows["tangent"] = 0.0 if mesh.tangents is None else mesh.tangents
        mesh_rows["uv_1"][:, :2] = 0.0 if mesh.uvs_1 is None else mesh.uvs_1
        mesh_rows["opacity"] = 1.0 if mesh.colors is None else mesh.colors[:, 3]
        first += len(mesh_rows)
    count = max(map(len, keys), default=0)
    tangents = np.repeat(rows["tangent"][None], count, axis=0)
    first = 0
    for mesh, poses in zip(meshes, keys, strict=False):
        for row, pose in zip(tangents[:, first : first + len(mesh.positions)], poses, strict=False):
            row[:] = 0.0 if pose.tangents is None else pose.tangents
        first += len(mesh.positions)
    return _tangents_module("objects", rows, list(tangents))


def _tangents_module(which: str, rows: np.ndarray, keys: Sequence[NDArray[np.float32] | None] = ()) -> Module:
    """The module of ``tangents_at``, of the shader of that name. rows : of `VERTEX_TANGENTS`. keys : tangents (V, 4) at
    the keys of an exposure."""
    module = Module(
        TANGENTS,
        provides=("tangents_at", "opacity_face", "face_number"),
        source=f"shading/tangents_{which}.glsl",
        memories=(Table("tangents", VERTEX_TANGENTS, rows),),
        needs=("geometry_at",),
        uses=(HIT,),
    )
    moving_tangents = [key for key in keys if key is not None]
    tangents = np.array(moving_tangents, np.float32).reshape(len(moving_tangents), len(rows), 4)[..., :3]
    moves = (tangents != tangents[:1]).any(axis=(0, 2))
    if not moves.any():
        return replace(module, uses=(HIT, VERTEX_TANGENTS))
    record = Record(VERTEX_TANGENTS.name, *VERTEX_TANGENTS.fields, KEYS)
    moving = np.zeros(len(rows), record.dtype)
    table = np.zeros((np.count_nonzero(moves), len(tangents)), TANGENT_KEY.dtype)
    for name in VERTEX_TANGENTS.dtype.names or ():
        moving[name] = rows[name]
    moving["keys"] = -1
    moving["keys"][moves] = np.arange(len(table)) * len(tangents)
    table["tangent"] = tangents[:, moves].transpose(1, 0, 2)
    return replace(
        module,
        memories=(Table("tangents", record, moving), Table("tangent_keys", TANGENT_KEY, table.ravel())),
        uniforms={"tangent_segments": ("int", len(tangents) - 1)},
        uses=(HIT, record),
        features=frozenset({MOTION, MOVING}),
    )
