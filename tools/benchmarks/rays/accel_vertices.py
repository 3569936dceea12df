"""The ray/triangle test over shared vertices: a triangle is three vertex indices, as in the scene's files.

Half to a third of the memory of unshared corners, for four texels at two depths of fetches instead of three at one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import raystream
from raystream.kernels.records import TRIANGLE
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

CORNERS = Record(
    "TriangleCorners",
    Field("vertices", "ivec3", about="addresses of its corners"),
    Field("number", "int", about="of the triangle"),
)
POSITION = Record("Position", Field("at", "vec3", "scene units", "world"))
FETCH = """Triangle fetch_triangles(int i) {
    TriangleCorners t = fetch_triangle_corners(i);
    return Triangle(
        fetch_positions(t.vertices.x).at, fetch_positions(t.vertices.y).at, fetch_positions(t.vertices.z).at, t.number
    );
}"""


def indexed(test: Module, scene: raystream.Scene) -> Module:
    """The module of a ray/triangle test with the scene's vertices, shared as after flattening."""
    (table,) = test.memories
    flat = scene.flatten()
    assert isinstance(table, Table)
    numbers = table.data["number"]
    corners = np.zeros(len(numbers), CORNERS.dtype)
    corners["vertices"], corners["number"] = flat.triangles[numbers], numbers
    positions = np.zeros(len(flat.positions), POSITION.dtype)
    positions["at"] = flat.positions
    memories = (Table("triangle_corners", CORNERS, corners), Table("positions", POSITION, positions))
    return replace(
        test, name=f"{test.name}, shared vertices", memories=memories, uses=(*test.uses, TRIANGLE), text=FETCH
    )
