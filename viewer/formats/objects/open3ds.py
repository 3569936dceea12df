"""Open3D's ``TriangleMesh``, of its legacy and of its tensor geometry."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewer.formats.objects.surface import ForeignSurface, Gathered, linear
from viewer.scene.material import Material


def is_mesh(given: Any) -> bool:
    """Whether it has triangles, or is a tensor geometry convertible to one with triangles."""
    return (hasattr(given, "vertices") and hasattr(given, "triangles")) or (
        hasattr(given, "triangle") and hasattr(given, "to_legacy")
    )


def add(gathered: Gathered, given: Any) -> None:
    """The mesh with its normals, colours, and textures by triangle; its colours are sRGB of 0 to 1."""
    mesh = given if hasattr(given, "triangles") else given.to_legacy()
    gathered.name = "mesh"
    surface = ForeignSurface("mesh", np.asarray(mesh.vertices), np.asarray(mesh.triangles))
    count, triangles = len(surface.vertices), len(surface.faces)
    normals = np.asarray(getattr(mesh, "vertex_normals", ()))
    if normals.shape == (count, 3) and count:
        surface.normals = normals
    colors = np.asarray(getattr(mesh, "vertex_colors", ()))
    if colors.shape == (count, 3) and count:
        surface.colors = linear(colors)
    uvs = np.asarray(getattr(mesh, "triangle_uvs", ()))
    images = [np.asarray(each) for each in getattr(mesh, "textures", ())]
    if uvs.shape == (3 * triangles, 2) and images:
        # Open3D keeps images upside down: v counts rows from the first.
        surface.uvs = uvs.reshape(triangles, 3, 2).astype(np.float32)
        made = [
            gathered.material(Material(f"texture {number}", (1.0, 1.0, 1.0, 1.0), texture=gathered.texture(image)))
            for number, image in enumerate(images)
        ]
        chosen = np.asarray(getattr(mesh, "triangle_material_ids", ()))
        chosen = chosen if chosen.shape == (triangles,) else np.zeros(triangles, np.intp)
        surface.materials = np.asarray(made, np.int32)[np.clip(chosen, 0, len(made) - 1)]
    gathered.add(surface)
