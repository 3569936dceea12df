"""Scenes from other libraries' objects, recognised by their attributes alone: no library is imported."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from raystream.base.errors import ViewerError, warn
from raystream.formats import named
from raystream.formats.named import kind_of
from raystream.formats.objects import pyvistas, trimeshes
from raystream.formats.objects.surface import ForeignSurface, Gathered, array_of, colors_of, linear, rows, z_up_camera
from raystream.options.table import check
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import framed
from raystream.scene.material import Material
from raystream.scene.scene import Scene

ACCEPTED = (
    "a file, a built-in name, a Scene, (vertices, faces[, colors]), a trimesh Trimesh or Scene, a PyVista dataset or"
    " Plotter, an Open3D TriangleMesh, or an object with vertices and faces"
)


def scene_of(
    source: Any,
    variant: str | int | None = None,
    lenient: bool = False,
    up: str | None = None,
    max_texture: int | None = None,
) -> Scene:
    """The scene of a file, of a built-in name, or of an object in memory.

    source : the name of a file or of a built-in scene; a `Scene`; ``(vertices, faces[, colors])``, arrays (V, 3), (T,
    3) and (V or T, 3 or 4), integer colours being sRGB of 0 to 255 and others linear of 0 to 1 (whole numbers beyond
    that are taken for bytes, with a warning); trimesh's ``Trimesh`` or ``Scene``; any PyVista dataset, ``MultiBlock``
    or ``Plotter``; Open3D's ``TriangleMesh``; or any object with ``vertices`` and ``faces``. Materials, textures,
    colours of vertices and faces, cameras and instances are converted; omissions are in the scene's ``warnings``.
    variant : also of a `Scene`, which stays in its own without one. lenient, max_texture : for files, as in `load`.
    up : the up axis of an object or arrays, ``y`` or ``z``; None: z for PyVista's, y for others. Scenes are y up: a
    z-up (x, y, z) becomes (y, z, x).

    Raises ViewerError for anything else, and for objects that cannot be converted.
    """
    if up not in (None, "y", "z"):
        raise ViewerError(f"up={up!r}", "is not an up axis", "give 'y' or 'z'")
    if isinstance(source, (str, os.PathLike, Scene)):
        if up is not None:
            raise ViewerError(
                f"up={up!r}", "applies to arrays and other libraries' objects", "files and Scenes have y upwards"
            )
        if isinstance(source, Scene):
            return source if variant is None else source.with_variant(variant)
        return named.load(source, variant, lenient, max_texture)
    gathered = Gathered(z_up=(up or ("z" if is_z_up(source) else "y")) == "z")
    if isinstance(source, (tuple, list)):
        gathered.name = "arrays"
        gathered.add(_of_arrays(source, gathered.warnings))
    elif trimeshes.is_scene(source):
        trimeshes.add_scene(gathered, source)
    elif pyvistas.is_plotter(source):
        pyvistas.add_plotter(gathered, source)
    elif pyvistas.is_blocks(source) or pyvistas.is_dataset(source):
        pyvistas.add(gathered, source)
    elif hasattr(source, "vertices") and hasattr(source, "faces"):  # a Trimesh has triangles, too: their corners
        trimeshes.add(gathered, source)
    elif _is_open3d(source):
        _add_open3d(gathered, source)
    else:
        raise ViewerError("scene", f"{kind_of(source)} cannot be shown", f"give {ACCEPTED}")
    scene = gathered.scene()
    if not scene.instances:
        raise ViewerError(scene.name, "has no visible surface", "; ".join(scene.warnings[:1]))
    if not scene.triangle_count:
        raise ViewerError(scene.name, "has no faces", "give at least one triangle")
    return scene if pyvistas.is_plotter(source) else framed(scene)  # a plotter's view is what its user sees


def load(scene: Any, variant: str | int | None = None, lenient: bool = False, up: str | None = None) -> Scene:
    """The scene of a file (.gltf, .glb, .ply, .obj, .stl, .bsp), of a built-in name (files take precedence), of arrays,
    or of an object of trimesh, PyVista or Open3D: that of `scene_of`, with its ``warnings`` as Python's.

    variant : the material variant, as in `Scene.with_variant`; a `Scene` stays in its own without one. lenient :
    checkerboards replace unreadable images, with a warning.

    Raises ViewerError with the file, the part and the fault.
    """
    loaded = scene_of(scene, variant, lenient, up)
    if loaded is not scene:
        warn(loaded.warnings)
    return loaded


def is_z_up(source: Any) -> bool:
    """Whether it is an object of a z-up library."""
    return any(is_one(source) for is_one in (pyvistas.is_plotter, pyvistas.is_blocks, pyvistas.is_dataset))


def taken(source: Any, options: dict[str, Any], max_texture: int | None = None) -> Scene:
    """`scene_of` with its keywords taken out of ``options``; a camera there is converted with it. max_texture : where
    they have none."""
    up = options.pop("up", None)
    variant, lenient = options.pop("variant", None), bool(options.pop("lenient", False))
    scene = scene_of(source, variant, lenient, up, check("max_texture", options.get("max_texture", max_texture)))
    if up == "z" or (up is None and not isinstance(source, (str, os.PathLike, Scene)) and is_z_up(source)):
        options.update({"camera": _turned(check("camera", options["camera"]))} if "camera" in options else {})
    return scene


def _turned(camera: Any) -> Any:
    """A z-up camera converted; a name stays."""
    if isinstance(camera, str) and "," in camera:
        turned = z_up_camera(Camera.parse(camera))
        return turned if len(camera.split()) > 2 else replace(turned, up=(0.0, 1.0, 0.0))
    return z_up_camera(camera) if isinstance(camera, Camera) else camera


def _of_arrays(arrays: tuple | list, notes: list[str]) -> ForeignSurface:
    if len(arrays) not in (2, 3):
        raise ViewerError("scene", f"{len(arrays)} arrays", "give (vertices, faces) or (vertices, faces, colors)")
    vertices, faces = rows("arrays", "vertices", arrays[0], (3,)), array_of("arrays", "faces", arrays[1])
    surface = ForeignSurface("arrays", vertices, faces)
    if len(arrays) == 3 and arrays[2] is not None:
        colors_of(surface, array_of("arrays", "colors", arrays[2]), notes)
    return surface


def _is_open3d(source: Any) -> bool:
    """Whether it is Open3D's: it has triangles, or is a tensor geometry convertible to one with triangles."""
    return (hasattr(source, "vertices") and hasattr(source, "triangles")) or (
        hasattr(source, "triangle") and hasattr(source, "to_legacy")
    )


def _add_open3d(gathered: Gathered, source: Any) -> None:
    """Open3D's mesh with its normals, colours, and textures by triangle; its colours are sRGB of 0 to 1."""
    mesh = source if hasattr(source, "triangles") else source.to_legacy()
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
    images = [np.asarray(texture) for texture in getattr(mesh, "textures", ())]
    if uvs.shape == (3 * triangles, 2) and images:
        # Open3D keeps images upside down: v counts rows from the first.
        surface.uvs = uvs.reshape(triangles, 3, 2).astype(np.float32)
        material_indices = [
            gathered.material(Material(f"texture {index}", (1.0, 1.0, 1.0, 1.0), texture=gathered.texture(image)))
            for index, image in enumerate(images)
        ]
        chosen = np.asarray(getattr(mesh, "triangle_material_ids", ()))
        chosen = chosen if chosen.shape == (triangles,) else np.zeros(triangles, np.intp)
        surface.materials = np.asarray(material_indices, np.int32)[np.clip(chosen, 0, len(material_indices) - 1)]
    gathered.add(surface)
