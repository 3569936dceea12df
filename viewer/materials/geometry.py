"""The geometry module of scenes whose triangles are all in world space."""

from __future__ import annotations

import numpy as np

from viewer.kernels.records import FACE, GEOMETRY, HIT, RAY, VERTEX
from viewer.scene.geometry.triangles import Triangles
from viewer.stream.declare.kernel import Module, Table


def vertex_table(triangles: Triangles) -> Table:
    """``fetch_vertices``: what every vertex carries."""
    vertices = np.zeros(len(triangles.positions), VERTEX.dtype)
    vertices["position"], vertices["normal"] = triangles.positions, triangles.normals
    vertices["color"], vertices["uv"] = triangles.colors, triangles.uvs
    return Table("vertices", VERTEX, vertices)


def face_table(triangles: Triangles) -> Table:
    """``fetch_faces``: corners and material of every triangle, by its number; corners of -n - 1 for quadric n."""
    faces = np.zeros(len(triangles), FACE.dtype)
    faces["corners"], faces["material"] = triangles.triangles, triangles.materials
    for number, quadric in enumerate(triangles.quadrics):
        faces["corners"][quadric.number] = -1 - number
    return Table("faces", FACE, faces)


def flat_geometry(triangles: Triangles) -> Module:
    """``geometry_at`` for triangles in world space, and quadrics where there are some."""
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
