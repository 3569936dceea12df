"""Geometry of meshes: normals, tangents, bounds, triangles in world space."""
