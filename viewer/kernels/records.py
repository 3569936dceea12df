"""The records of rays, hits and pictures that the kernels share."""

from __future__ import annotations

from viewer.stream.record import Field, Record

PIXEL = Record("Pixel", Field("at", "ivec2", "pixels", "picture", "column and row, row 0 at the top"))

RAY = Record(
    "Ray",
    Field("origin", "vec3", "scene units", "world"),
    Field("t_max", "float", "scene units", about="hits at this distance or beyond do not count"),
    Field("direction", "vec3", "unit length", "world"),
    Field("any_hit", "int", about="1: the first hit found will do"),
)

HIT = Record(
    "Hit",
    Field("t", "float", "scene units", about="distance along the unit ray; the ray's t_max while nothing is hit"),
    Field("barycentric", "vec2", about="weights of the triangle's second and third corner"),
    Field("triangle", "int", about="number in scene order, -1: nothing is hit"),
)

RADIANCE = Record("Radiance", Field("rgb", "vec3", "linear sRGB"))

SURFACE = Record(
    "Surface",
    Field("normal", "vec3", "unit length", "world", "shading normal, on the ray's side"),
    Field("albedo", "vec3", "linear sRGB"),
)

TRIANGLE = Record(
    "Triangle",
    Field("a", "vec3", "scene units", "world"),
    Field("b", "vec3", "scene units", "world"),
    Field("c", "vec3", "scene units", "world"),
)

FACE = Record(
    "Face",
    Field("corners", "ivec3", about="addresses of its vertices"),
    Field("material", "int", about="address of its material"),
)

VERTEX = Record(
    "Vertex",
    Field("normal", "vec3", "unit length", "world"),
    Field("color", "vec3", "linear sRGB"),
    Field("uv", "vec2"),
)

MATERIAL = Record("Material", Field("base_color", "vec3", "linear sRGB"))
