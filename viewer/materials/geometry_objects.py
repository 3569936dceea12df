"""The geometry module of scenes of two levels: each distinct mesh once, in the space of its object."""

from __future__ import annotations

import numpy as np

from viewer.accel.two_level.objects import Objects
from viewer.kernels.records import FACE, GEOMETRY, HIT, RAY, VERTEX
from viewer.stream.declare.kernel import Module, Table


def object_geometry(objects: Objects) -> Module:
    """``geometry_at`` for instances of objects, whose rows the module that provides ``object_ray`` brings.

    Vertices and faces lie one object behind the other.
    """
    count = sum(len(mesh.positions) for mesh in objects.meshes)
    vertices, faces = np.zeros(count, VERTEX.dtype), np.zeros(objects.triangles, FACE.dtype)
    vertex = face = 0
    for mesh, scale in zip(objects.meshes, objects.scales, strict=True):
        rows = vertices[vertex : vertex + len(mesh.positions)]
        with np.errstate(over="ignore"):  # vertices of no triangle may lie anywhere
            rows["position"] = mesh.positions.astype(np.float64) * scale
        rows["normal"] = mesh.normals
        rows["color"] = 1.0 if mesh.colors is None else mesh.colors[:, :3]
        rows["uv"] = 0.0 if mesh.uvs is None else mesh.uvs
        places = faces[face : face + len(mesh.triangles)]
        places["corners"], places["material"] = mesh.triangles + vertex, mesh.materials
        vertex, face = vertex + len(rows), face + len(places)
    return Module(
        "object geometry",
        provides=("geometry_at",),
        source="shading/geometry_objects.glsl",
        memories=(Table("faces", FACE, faces), Table("vertices", VERTEX, vertices)),
        needs=("object_ray",),
        uses=(RAY, HIT, GEOMETRY),
    )
