"""The geometry module of scenes of two levels: each distinct mesh once, in the space of its object."""

from __future__ import annotations

import numpy as np

from viewer.accel.two_level.objects import Objects
from viewer.kernels.records import FACE, GEOMETRY, HIT, RAY, VERTEX
from viewer.materials.geometry import VERTEX_KEY, with_vertex_keys
from viewer.stream.declare.kernel import Module, Table


def object_geometry(objects: Objects) -> Module:
    """``geometry_at`` for instances of objects, whose rows the module that provides ``object_ray`` brings.

    Vertices and faces lie one object behind the other; the face of quadric n has corners of -n - 1.
    """
    count = sum(len(mesh.positions) for mesh in objects.meshes)
    vertices, faces = np.zeros(count, VERTEX.dtype), np.zeros(objects.triangles, FACE.dtype)
    vertex = face = quadric = 0
    for mesh, scale, placed in zip(objects.meshes, objects.scales, objects.quadrics, strict=True):
        rows = vertices[vertex : vertex + len(mesh.positions)]
        with np.errstate(over="ignore"):  # vertices of no triangle may lie anywhere
            rows["position"] = mesh.positions.astype(np.float64) * scale
        rows["normal"] = mesh.normals
        rows["color"] = 1.0 if mesh.colors is None else mesh.colors[:, :3]
        rows["uv"] = 0.0 if mesh.uvs is None else mesh.uvs
        places = faces[face : face + len(mesh.triangles)]
        places["corners"], places["material"] = mesh.triangles + vertex, mesh.materials
        if placed is not None:
            quadric += 1
            places["corners"] = -quadric
        vertex, face = vertex + len(rows), face + len(places)
    still = Module(
        "object geometry",
        provides=("geometry_at",),
        source=f"shading/geometry_objects{'_quadrics' if quadric else ''}.glsl",
        memories=(Table("faces", FACE, faces), Table("vertices", VERTEX, vertices)),
        needs=("object_ray", "quadric_at") if quadric else ("object_ray",),
        uses=(RAY, HIT, GEOMETRY),
    )
    count = max(map(len, objects.keys), default=0)
    if not count:
        return still
    keys = np.zeros((count, len(vertices)), VERTEX_KEY.dtype)
    keys["position"], keys["normal"] = vertices["position"], vertices["normal"]
    vertex = 0
    for mesh, scale, poses in zip(objects.meshes, objects.scales, objects.keys, strict=True):
        for row, pose in zip(keys[:, vertex : vertex + len(mesh.positions)], poses, strict=False):
            with np.errstate(over="ignore"):
                row["position"] = pose.positions.astype(np.float64) * scale
            row["normal"] = pose.normals
        vertex += len(mesh.positions)
    return with_vertex_keys(still, keys)
