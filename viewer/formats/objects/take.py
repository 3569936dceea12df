"""Scenes of what other libraries hold, recognised by its attributes alone: none of them is imported."""

from __future__ import annotations

import os
from typing import Any

from viewer.base.errors import ViewerError
from viewer.formats.named import kind_of, load
from viewer.formats.objects import open3ds, pyvistas, trimeshes
from viewer.formats.objects.surface import Gathered, Surface, array_of, colors_of, rows
from viewer.scene.scene import Scene

KNOWN = (
    "a file, a built-in name, a Scene, (vertices, faces[, colors]), a trimesh Trimesh or Scene, a PyVista dataset or"
    " Plotter, an Open3D TriangleMesh, or an object with vertices and faces"
)


def scene_of(given: Any, variant: str | int | None = None, lenient: bool = False) -> Scene:
    """The scene of a file, of a built-in name, or of an object in memory.

    given : the name of a file or of a built-in scene; a `Scene`; ``(vertices, faces[, colors])``, arrays (V, 3), (T, 3)
    and (V or T, 3 or 4), whole numbers of colours being sRGB of 0 to 255 and others linear; of trimesh a ``Trimesh`` or
    ``Scene``; of PyVista any dataset, a ``MultiBlock`` or a ``Plotter``; of Open3D a ``TriangleMesh``; or any object
    with ``vertices`` and ``faces``. Materials, textures, colours of vertices and faces, cameras and instances come
    along; what does not is told in the scene's ``warnings``.
    variant, lenient : of files, as `load` has them.

    Raises ViewerError for what is none of these, and where it cannot be understood.
    """
    if isinstance(given, (str, os.PathLike)):
        return load(given, variant, lenient)
    if isinstance(given, Scene):
        return given.with_variant(variant)
    gathered = Gathered()
    if isinstance(given, (tuple, list)):
        gathered.name = "arrays"
        gathered.add(_of_arrays(given))
    elif trimeshes.is_scene(given):
        trimeshes.add_scene(gathered, given)
    elif pyvistas.is_plotter(given):
        pyvistas.add_plotter(gathered, given)
    elif pyvistas.is_blocks(given) or pyvistas.is_dataset(given):
        pyvistas.add(gathered, given)
    elif hasattr(given, "vertices") and hasattr(given, "faces"):  # a Trimesh has triangles, too: their corners
        trimeshes.add(gathered, given)
    elif open3ds.is_mesh(given):
        open3ds.add(gathered, given)
    else:
        raise ViewerError("scene", f"{kind_of(given)} is nothing that can be shown", f"give {KNOWN}")
    scene = gathered.scene()
    if not scene.instances:
        raise ViewerError(scene.name, "has no surface that can be shown", "; ".join(scene.warnings[:1]))
    return scene


def _of_arrays(given: tuple | list) -> Surface:
    if len(given) not in (2, 3):
        raise ViewerError("scene", f"{len(given)} arrays", "give (vertices, faces) or (vertices, faces, colors)")
    vertices, faces = rows("arrays", "vertices", given[0], (3,)), array_of("arrays", "faces", given[1])
    surface = Surface("arrays", vertices, faces)
    if len(given) == 3 and given[2] is not None:
        colors_of(surface, array_of("arrays", "colors", given[2]), encoded=False)
    return surface
