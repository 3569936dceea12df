"""Scenes from other libraries' objects, recognised by their attributes alone: no library is imported."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from inspect import getattr_static
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError, warn
from raystream.formats import named
from raystream.formats.named import kind_of
from raystream.options.table import check
from raystream.scene.camera import Camera
from raystream.scene.edits.framed import framed
from raystream.scene.geometry.bounds import bounds_of
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.geometry.vertices import centred
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.projections import Orthographic
from raystream.scene.scene import COLOR_TOLERANCE, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

# -- surfaces, converted to meshes of a scene --------------------------------------------------------------------------

GREY = (0.8, 0.8, 0.8, 1.0)
WHITE = (1.0, 1.0, 1.0, 1.0)
COLORS = "give floats of 0 to 1, linear, or integers of 0 to 255, sRGB"


@dataclass
class ForeignSurface:
    """A surface to be converted. faces : (T, 3), or (T, 4) of quadrilaterals to cut. colors : (V, 4) linear,
    face_colors : (T, 4) linear. uvs : (V, 2) or per corner (T, 3, 2), origin at the image's upper left. materials :
    numbers of ``gathered`` materials, (T,); None: ``material``."""

    name: str
    vertices: NDArray
    faces: NDArray
    normals: NDArray | None = None
    colors: NDArray | None = None
    face_colors: NDArray | None = None
    uvs: NDArray | None = None
    material: Material | None = None
    materials: NDArray | None = None


# From z up to y up: (x, y, z) becomes (y, z, x), exactly.
Z_UP = np.eye(4)[[1, 2, 0, 3]]


@dataclass
class SceneBuilder:
    """A scene in the making. z_up : its instances and cameras are z up."""

    name: str = "object"
    meshes: list[Mesh] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    indices: dict[Hashable, int] = field(default_factory=dict)  # of textures by image, and of meshes
    centres: list[NDArray[np.float64]] = field(default_factory=list)  # of each mesh, the map that puts it back
    z_up: bool = False

    def scene(self) -> Scene:
        """The scene, y up."""
        instances, cameras = self.instances, self.cameras
        if self.z_up:
            instances = [replace(instance, transform=Z_UP @ instance.transform) for instance in instances]
            cameras = [z_up_camera(camera) for camera in cameras]
        return Scene(
            self.meshes,
            instances,
            self.materials or [Material()],
            cameras,
            name=self.name,
            warnings=self.warnings,
            textures=self.textures,
        )

    def texture(self, image: Any, content: str = "color", **how: Any) -> int | None:
        """The texture number of an image: Pillow's, or an array (H, W[, 1, 3 or 4]) of bytes."""
        if image is None:
            return None
        key = (id(image), content)
        if key not in self.indices:
            pixels = np.asarray(image.convert("RGBA") if hasattr(image, "convert") else image)
            if pixels.ndim == 2:
                pixels = pixels[..., None]
            if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or pixels.dtype != np.uint8 or not pixels.size:
                self.warnings.append(f"{self.name}: a texture of {pixels.shape} {pixels.dtype} is left out")
                return None
            if pixels.shape[2] == 1:
                pixels = np.repeat(pixels, 3, axis=2)
            if pixels.shape[2] == 3:
                pixels = np.concatenate([pixels, np.full_like(pixels[..., :1], 255)], axis=2)
            self.indices[key] = len(self.textures)
            self.textures.append(Texture(Image(pixels), content=content, **how))
        return self.indices[key]

    def material(self, material: Material) -> int:
        """The number of a material."""
        self.materials.append(material)
        return len(self.materials) - 1

    def mesh(self, surface: ForeignSurface) -> int:
        """The index of a surface's mesh."""
        vertices = rows(surface.name, "vertices", surface.vertices, (3,))
        self.centres.append(np.eye(4))
        if vertices.dtype == np.float64:
            vertices, self.centres[-1] = centred(vertices)
        faces = _triangles(surface)
        used_corners = vertices[faces] if vertices.dtype.kind == "f" and faces.size else np.zeros((0, 3, 3))
        if not np.isfinite(used_corners).all():
            face, corner = np.argwhere(~np.isfinite(used_corners).all(axis=2))[0].tolist()
            what = f"vertex {faces[face, corner]} is at {used_corners[face, corner].tolist()}, a corner of face {face}"
            raise ViewerError(surface.name, what, "give finite numbers")
        normals, uvs, colors = surface.normals, surface.uvs, surface.colors
        per_corner_uvs = uvs is not None and np.ndim(uvs) == 3
        if surface.face_colors is not None or per_corner_uvs:  # every corner a vertex of its own
            order = faces.ravel()
            vertices, faces = vertices[order], np.arange(len(order), dtype=np.int32).reshape(-1, 3)
            normals = None if normals is None else np.asarray(normals)[order]
            uvs = uvs if uvs is None or not per_corner_uvs else np.asarray(uvs).reshape(-1, 2)
            uvs = np.asarray(surface.uvs)[order] if uvs is not None and not per_corner_uvs else uvs
            colors = None if colors is None else colors[order]
            if surface.face_colors is not None:
                colors = np.repeat(surface.face_colors, 3, axis=0)
        material = surface.material or Material(surface.name, WHITE if colors is not None else GREY)
        if colors is not None and (colors[:, 3] < 1).any() and material.alpha_mode == "opaque":
            material = replace(material, alpha_mode="blend")
        if surface.materials is None:
            material_indices: ArrayLike = self.material(material)
        else:
            material_indices = surface.materials
        if normals is not None:
            normals, _ = unit_normals(vertices.astype(np.float32), faces, np.asarray(normals))
        mesh = Mesh(vertices, faces, material_indices, normals, uvs, colors, surface.name)  # type: ignore[arg-type]
        self.meshes.append(mesh)
        return len(self.meshes) - 1

    def add(self, surface: ForeignSurface, transform: ArrayLike | None = None) -> None:
        """Add a surface once."""
        self.add_instance(self.mesh(surface), surface.name, transform)

    def add_instance(self, mesh: int, name: str, transform: ArrayLike | None = None) -> None:
        """An instance of a mesh; transform : 4 x 4, for column vectors."""
        matrix = np.eye(4) if transform is None else np.asarray(transform, np.float64)
        if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
            raise ViewerError(name, "its transform is not 4 x 4 finite numbers")
        self.instances.append(Instance(mesh, matrix @ self.centres[mesh], name=name))


def z_up_camera(camera: Camera) -> Camera:
    """A z-up camera converted to y up."""

    def turned(vector: tuple[float, float, float]) -> tuple[float, float, float]:
        x, y, z = vector
        return y, z, x

    return replace(camera, origin=turned(camera.origin), target=turned(camera.target), up=turned(camera.up))


def array_of(where: str, what: str, values: Any) -> NDArray:
    """The values as an array; raises ViewerError if they are not one."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise ViewerError(where, f"{what} are not an array: {error}", "give numbers, rows of one length") from None


def rows(where: str, what: str, values: Any, widths: tuple[int, ...]) -> NDArray:
    """Real numbers (N, width); raises ViewerError for anything else."""
    array = array_of(where, what, values)
    fits = array.ndim == 2 and array.shape[1] in widths and array.dtype.kind in "fiu"
    if not fits:
        expected = " or ".join(f"(N, {width})" for width in widths)
        raise ViewerError(where, f"{what} are {array.shape} of {array.dtype}", f"expected numbers {expected}")
    return array


def _triangles(surface: ForeignSurface) -> NDArray:
    faces = np.asarray(surface.faces)
    if not faces.size:
        return np.zeros((0, 3), np.int32)
    faces = rows(surface.name, "faces", faces, (3, 4))
    if faces.dtype.kind == "f":
        raise ViewerError(surface.name, f"faces are {faces.dtype}", "give integer vertex numbers")
    if faces.shape[1] == 4:
        faces = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]], axis=1).reshape(-1, 3)
        surface.face_colors = None if surface.face_colors is None else np.repeat(surface.face_colors, 2, axis=0)
    count = len(surface.vertices)
    if faces.min() < 0 or faces.max() >= count:
        raise ViewerError(surface.name, f"a face names vertex {faces.max()} of {count}", "count from 0")
    return np.ascontiguousarray(faces, np.int32)


def to_linear(colors: NDArray, encoded: bool = True) -> NDArray[np.float32]:
    """(N, 4) linear from colours (N, 3 or 4): integers are sRGB of 0 to 255; floats are 0 to 1, sRGB if ``encoded``."""
    are_integers = colors.dtype.kind in "iu"
    values = colors.astype(np.float64) / (255 if are_integers else 1)
    rgba = np.ones((len(values), 4), np.float32)
    rgba[:, : values.shape[1]] = values
    if are_integers or encoded:
        rgba[:, :3] = linear_from_srgb(values[:, :3])
    return rgba


def set_colors(surface: ForeignSurface, colors: NDArray, notes: list[str]) -> None:
    """Set the surface's colours: per vertex, or per face if their number matches. Floats are linear; where they are
    bytes in all but their type, they are taken so, with a note."""
    values = rows(surface.name, "colors", colors, (3, 4))
    if values.size and not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 255):
        raise ViewerError(surface.name, f"colors reach from {values.min()} to {values.max()}", COLORS)
    if values.size and values.dtype.kind == "f" and values.max() > 1 + COLOR_TOLERANCE:
        if (values != np.rint(values)).any():
            raise ViewerError(surface.name, f"colors reach {values.max():g}", COLORS)
        notes.append(f"{surface.name}: colors reach {values.max():g}: taken as sRGB of 0 to 255 ({COLORS})")
        values = values.astype(np.uint8)
    rgba = to_linear(values, encoded=False)
    if len(rgba) == len(surface.vertices):
        surface.colors = rgba
    elif len(rgba) == len(surface.faces):
        surface.face_colors = rgba
    else:
        what = f"{len(rgba)} colors for {len(surface.vertices)} vertices and {len(surface.faces)} faces"
        raise ViewerError(surface.name, what, "give one of each vertex, or of each face")


# -- any object --------------------------------------------------------------------------------------------------------

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
    gathered = SceneBuilder(z_up=(up or ("z" if is_z_up(source) else "y")) == "z")
    if isinstance(source, (tuple, list)):
        gathered.name = "arrays"
        gathered.add(_arrays_surface(source, gathered.warnings))
    elif _is_trimesh_scene(source):
        _add_trimesh_scene(gathered, source)
    elif _is_plotter(source):
        _add_plotter(gathered, source)
    elif _is_blocks(source) or _is_dataset(source):
        _add_datasets(gathered, source)
    elif hasattr(source, "vertices") and hasattr(source, "faces"):
        _add_trimesh(gathered, source)
    elif _is_open3d(source):
        _add_open3d(gathered, source)
    else:
        raise ViewerError("scene", f"{kind_of(source)} cannot be shown", f"give {ACCEPTED}")
    scene = gathered.scene()
    if not scene.instances:
        raise ViewerError(scene.name, "has no visible surface", "; ".join(scene.warnings[:1]))
    if not scene.triangle_count:
        raise ViewerError(scene.name, "has no faces", "give at least one triangle")
    return scene if _is_plotter(source) else framed(scene)  # a plotter's view is what its user sees


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
    return any(is_one(source) for is_one in (_is_plotter, _is_blocks, _is_dataset))


def scene_from(source: Any, options: dict[str, Any], max_texture: int | None = None) -> Scene:
    """`scene_of` with its keywords taken out of ``options``; a camera there is converted with it. max_texture : where
    they have none."""
    up = options.pop("up", None)
    variant, lenient = options.pop("variant", None), bool(options.pop("lenient", False))
    scene = scene_of(source, variant, lenient, up, check("max_texture", options.get("max_texture", max_texture)))
    if up == "z" or (up is None and not isinstance(source, (str, os.PathLike, Scene)) and is_z_up(source)):
        options.update({"camera": _z_up_to_y_up(check("camera", options["camera"]))} if "camera" in options else {})
    return scene


def _z_up_to_y_up(camera: Any) -> Any:
    """A z-up camera converted; a name stays."""
    if isinstance(camera, str) and "," in camera:
        turned = z_up_camera(Camera.parse(camera))
        return turned if len(camera.split()) > 2 else replace(turned, up=(0.0, 1.0, 0.0))
    return z_up_camera(camera) if isinstance(camera, Camera) else camera


def _arrays_surface(arrays: tuple | list, notes: list[str]) -> ForeignSurface:
    if len(arrays) not in (2, 3):
        raise ViewerError("scene", f"{len(arrays)} arrays", "give (vertices, faces) or (vertices, faces, colors)")
    vertices, faces = rows("arrays", "vertices", arrays[0], (3,)), array_of("arrays", "faces", arrays[1])
    surface = ForeignSurface("arrays", vertices, faces)
    if len(arrays) == 3 and arrays[2] is not None:
        set_colors(surface, array_of("arrays", "colors", arrays[2]), notes)
    return surface


def _is_open3d(source: Any) -> bool:
    """Whether it is Open3D's: it has triangles, or is a tensor geometry convertible to one with triangles."""
    return (hasattr(source, "vertices") and hasattr(source, "triangles")) or (
        hasattr(source, "triangle") and hasattr(source, "to_legacy")
    )


def _add_open3d(gathered: SceneBuilder, source: Any) -> None:
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
        surface.colors = to_linear(colors)
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


# -- trimesh's ``Trimesh`` and ``Scene``, and other objects with vertices and faces ------------------------------------


def _is_trimesh_scene(source: Any) -> bool:
    """Whether it has geometry by name, and a graph of transforms."""
    return hasattr(getattr(source, "geometry", None), "items") and hasattr(
        getattr(source, "graph", None), "nodes_geometry"
    )


def _add_trimesh_scene(gathered: SceneBuilder, source: Any) -> None:
    """A ``trimesh.Scene``: every mesh once, an instance per node, and its camera if any."""
    gathered.name = _trimesh_name(source, "scene")
    indices: dict[str, int] = {}
    for name, mesh in source.geometry.items():
        if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
            indices[name] = gathered.mesh(_trimesh_surface(gathered, mesh, str(name)))
        else:
            gathered.warnings.append(f"{name}: {kind_of(mesh)} has no faces, and is left out")
    for node in source.graph.nodes_geometry:
        transform, geometry = source.graph[node]
        if geometry in indices:
            gathered.add_instance(indices[geometry], str(node), transform)
    if getattr(source, "has_camera", False):  # accessing a missing camera would create one
        gathered.cameras.append(_trimesh_camera(source))


def _add_trimesh(gathered: SceneBuilder, source: Any) -> None:
    """A ``Trimesh``, or another object with vertices and faces."""
    gathered.name = _trimesh_name(source, kind_of(source))
    gathered.add(_trimesh_surface(gathered, source, gathered.name))


def _trimesh_name(source: Any, otherwise: str) -> str:
    metadata: Any = getattr(source, "metadata", None)
    name = metadata.get("name") or metadata.get("file_name") if hasattr(metadata, "get") else None
    return str(name) if name else otherwise


def _trimesh_camera(scene: Any) -> Camera:
    """The scene's camera; it looks along its own -Z, as in OpenGL."""
    matrix = np.asarray(scene.camera_transform, np.float64)
    origin, away, up = matrix[:3, 3], matrix[:3, 2], matrix[:3, 1]
    distance = 1.0
    focal = getattr(scene, "centroid", None)
    if focal is not None and np.shape(focal) == (3,):
        distance = float((origin - np.asarray(focal)) @ away) or 1.0
    target = origin - away * max(distance, 1e-3)
    return Camera(tuple(origin), tuple(target), tuple(up), fov=float(scene.camera.fov[1]), name=str(scene.camera.name))


def _trimesh_surface(gathered: SceneBuilder, mesh: Any, name: str) -> ForeignSurface:
    surface = ForeignSurface(name, np.asarray(mesh.vertices), np.asarray(mesh.faces))
    visual: Any = getattr(mesh, "visual", None)
    kind = getattr(visual, "kind", None)
    if kind == "texture":
        _trimesh_textured(gathered, surface, visual)
    elif kind == "face":
        surface.face_colors = to_linear(np.asarray(visual.face_colors))
    elif kind == "vertex":
        surface.colors = to_linear(np.asarray(visual.vertex_colors))
    return surface


def _trimesh_textured(gathered: SceneBuilder, surface: ForeignSurface, visual: Any) -> None:
    uv = getattr(visual, "uv", None)
    if uv is not None and len(uv) == len(surface.vertices):
        surface.uvs = np.column_stack([np.asarray(uv)[:, 0], 1 - np.asarray(uv)[:, 1]]).astype(np.float32)
    material, several = visual.material, getattr(visual.material, "materials", None)
    if not several:
        surface.material = _trimesh_material(gathered, material, surface)
        return
    indices = np.array([gathered.material(_trimesh_material(gathered, item, surface)) for item in several], np.int32)
    chosen = getattr(visual, "face_materials", None)
    chosen = np.zeros(len(surface.faces), np.intp) if chosen is None else np.asarray(chosen)
    if chosen.shape != (len(surface.faces),) or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(indices)):
        raise ViewerError(surface.name, "its face_materials are not a material for each face")
    surface.materials = indices[chosen]


def _trimesh_material(gathered: SceneBuilder, source: Any, surface: ForeignSurface) -> Material:
    """glTF's material for a ``PBRMaterial``; the diffuse part of a ``SimpleMaterial``."""
    name = str(getattr(source, "name", None) or surface.name)
    lookup = {"wrap": ("repeat", "repeat")}

    def texture(field: str, content: str = "color") -> int | None:
        if surface.uvs is None:
            return None
        return gathered.texture(getattr(source, field, None), content, **lookup)

    def number(field: str, otherwise: float) -> float:
        value = getattr(source, field, None)
        return otherwise if value is None else float(value)

    if not hasattr(source, "metallicFactor"):
        image = texture("image")
        diffuse = getattr(source, "diffuse", None)
        white = (1.0, 1.0, 1.0, 1.0)
        # With an image, trimesh ignores the diffuse colour.
        color = white if image is not None else GREY if diffuse is None else _rgba(to_linear(np.asarray(diffuse)[None]))
        return Material(name, color, texture=image, alpha_mode="blend" if color[3] < 1 else "opaque")
    factor = getattr(source, "baseColorFactor", None)
    color = (1.0, 1.0, 1.0, 1.0)
    if factor is not None:  # glTF's factor is linear; trimesh keeps it as bytes
        values = np.asarray(factor)
        values = values / 255 if values.dtype.kind in "iu" else values
        color = _rgba(to_linear(values[None].astype(np.float64), encoded=False))
    emission = getattr(source, "emissiveFactor", None)
    emissive = texture("emissiveTexture")
    glow = (0.0, 0.0, 0.0) if emission is None else tuple(float(component) for component in emission)
    return Material(
        name,
        color,
        metallic=number("metallicFactor", 1.0),
        roughness=number("roughnessFactor", 1.0),
        emission=glow,  # type: ignore[arg-type]
        double_sided=bool(getattr(source, "doubleSided", False)),
        kind="principled",
        texture=texture("baseColorTexture"),
        emission_texture=emissive,
        metallic_roughness_texture=texture("metallicRoughnessTexture", "data"),
        normal_texture=texture("normalTexture", "normal"),
        alpha_mode=str(getattr(source, "alphaMode", None) or "opaque").lower(),
        alpha_cutoff=number("alphaCutoff", 0.5),
    )


def _rgba(colors: np.ndarray) -> tuple[float, float, float, float]:
    red, green, blue, alpha = colors[0].tolist()
    return red, green, blue, alpha


# -- PyVista's datasets, ``MultiBlock`` and ``Plotter`` ----------------------------------------------------------------

# Samples of the colour map viridis (N. Smith and S. van der Walt, 2015), sRGB: PyVista's default for scalars.
VIRIDIS = np.array(
    [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99)]
    + [(170, 220, 50), (253, 231, 37)],
    np.float64,
)


def _is_plotter(source: Any) -> bool:
    """Whether it has actors under a camera."""
    return hasattr(getattr(source, "actors", None), "items") and hasattr(source, "camera")


def _is_blocks(source: Any) -> bool:
    """Whether it holds datasets by name."""
    return hasattr(source, "n_blocks") and hasattr(source, "keys")


def _is_dataset(source: Any) -> bool:
    """Whether it has points, and faces or an extractable surface."""
    return hasattr(source, "points") and (_has_faces(source) or hasattr(source, "extract_surface"))


def _has_faces(source: Any) -> bool:
    """Whether it is a surface; looked up statically, as access raises for faces of several sizes."""
    return getattr_static(source, "regular_faces", None) is not None


def _add_datasets(gathered: SceneBuilder, source: Any) -> None:
    """A dataset or blocks of datasets, z up as in PyVista."""
    gathered.name = kind_of(source)
    for name, dataset in _datasets(source, gathered.name):
        surface = _dataset_surface(gathered, dataset, name)
        if surface is not None:
            gathered.add(surface)
    camera = _isometric_camera(gathered)
    gathered.cameras += [camera] if camera is not None else []


def _add_plotter(gathered: SceneBuilder, plotter: Any) -> None:
    """Every visible surface of a plotter with its colour and transform, and the plotter's camera."""
    gathered.name = "plotter"
    for name, actor in plotter.actors.items():
        dataset = getattr(getattr(actor, "mapper", None), "dataset", None)
        if dataset is None or not getattr(actor, "visibility", True):
            continue  # a text, a scale bar
        for part, block in _datasets(dataset, str(name)):
            surface = _dataset_surface(
                gathered, block, part, bool(getattr(actor.mapper, "scalar_visibility", True)), actor
            )
            if surface is not None:
                gathered.add(surface, _actor_matrix(actor))
    view = plotter.camera
    flat = getattr(view, "parallel_projection", False)  # whose scale is half of the height
    projection = Orthographic(2 * float(view.parallel_scale)) if flat else None
    origin, target, up = (_vector(vector) for vector in (view.position, view.focal_point, view.up))
    fov = float(view.view_angle)
    gathered.cameras.append(Camera(origin, target, up, fov=fov, name="plotter", projection=projection))


def _vector(values: Any) -> tuple[float, float, float]:
    x, y, z = map(float, values)
    return x, y, z


def _datasets(source: Any, name: str) -> list[tuple[str, Any]]:
    if not _is_blocks(source):
        return [(name, source)]
    parts = [(str(key), source[index]) for index, key in enumerate(source.keys())]  # not a mapping
    return [block for key, part in parts if part is not None for block in _datasets(part, key)]


def _actor_matrix(actor: Any) -> NDArray[np.float64]:
    get_matrix = getattr(actor, "GetMatrix", None)
    if get_matrix is not None:  # position, rotation and scale, besides the user's own matrix
        matrix = get_matrix()
        return np.array([[matrix.GetElement(row, column) for column in range(4)] for row in range(4)])
    user_matrix = getattr(actor, "user_matrix", None)
    return np.eye(4) if user_matrix is None else np.asarray(user_matrix, np.float64)


def _dataset_surface(
    gathered: SceneBuilder, dataset: Any, name: str, scalars: bool = True, actor: Any = None
) -> ForeignSurface | None:
    """The surface of a dataset; None, with a note, if it has none."""
    if not _has_faces(dataset):
        with warnings.catch_warnings():  # about future defaults with the same surfaces
            warnings.simplefilter("ignore")
            dataset = dataset.extract_surface()
    if not getattr(dataset, "is_all_triangles", True):
        dataset = dataset.triangulate()
    faces = np.asarray(dataset.regular_faces) if dataset.n_cells else np.zeros((0, 3), np.int64)
    if not len(faces) or faces.ndim != 2 or faces.shape[1] != 3:
        gathered.warnings.append(f"{name}: has only points or lines, left out")
        return None
    surface = ForeignSurface(name, np.asarray(dataset.points), faces)
    normals = dataset.point_data.get("Normals")
    if normals is not None and np.shape(normals) == (len(surface.vertices), 3):
        surface.normals = np.asarray(normals)
    uvs = getattr(dataset, "active_texture_coordinates", None)
    if uvs is not None and np.shape(uvs) == (len(surface.vertices), 2):
        surface.uvs = np.column_stack([np.asarray(uvs)[:, 0], 1 - np.asarray(uvs)[:, 1]]).astype(np.float32)
    if scalars:
        _dataset_color(surface, dataset, getattr(getattr(actor, "mapper", None), "scalar_range", None))
    if actor is not None:
        surface.material = _actor_material(gathered, actor, surface)
    return surface


def _dataset_color(surface: ForeignSurface, dataset: Any, limits: Any) -> None:
    """The active scalars: colours, or numbers through a colour map."""
    name = dataset.active_scalars_name
    if name is None:
        return
    on_points = name in dataset.point_data
    values = np.asarray((dataset.point_data if on_points else dataset.cell_data)[name])
    if values.ndim == 2 and values.shape[1] in (3, 4) and (values.dtype == np.uint8 or name.upper() in ("RGB", "RGBA")):
        colors = to_linear(values)
    elif values.ndim == 1 and values.dtype.kind in "fiub":
        numbers = values.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        if limits is not None:
            low, high = float(limits[0]), float(limits[1])
        fraction = np.nan_to_num(np.clip((numbers - low) / ((high - low) or 1.0), 0, 1))
        samples = np.linspace(0, 1, len(VIRIDIS))
        colors = to_linear(np.stack([np.interp(fraction, samples, VIRIDIS[:, k]) for k in range(3)], axis=1) / 255)
    else:
        return
    if on_points:
        surface.colors = colors
    else:
        surface.face_colors = colors


def _actor_material(gathered: SceneBuilder, actor: Any, surface: ForeignSurface) -> Material:
    prop = actor.prop
    has_colors = surface.colors is not None or surface.face_colors is not None
    image = getattr(actor, "texture", None)
    texture = None
    if image is not None and surface.uvs is not None and hasattr(image, "to_array"):
        texture = gathered.texture(np.ascontiguousarray(np.asarray(image.to_array())))
    white = has_colors or texture is not None
    red, green, blue = (1.0, 1.0, 1.0) if white else to_linear(np.array([prop.color.float_rgb]))[0, :3].tolist()
    opacity = float(prop.opacity)
    pbr = "PBR" in str(getattr(prop, "interpolation", "")).upper()
    fields: dict[str, Any] = {
        "kind": "principled",
        "metallic": float(prop.metallic),
        "roughness": float(prop.roughness),
    }
    return Material(
        surface.name,
        (red, green, blue, opacity),
        texture=texture,
        alpha_mode="blend" if opacity < 1 else "opaque",
        **(fields if pbr else {}),
    )


def _isometric_camera(gathered: SceneBuilder) -> Camera | None:
    """A camera that frames everything from the direction +X, +Y and +Z, z up."""
    points = [mesh.positions.astype(np.float64) for mesh in gathered.meshes]
    indices = np.array([instance.mesh for instance in gathered.instances], np.intp)
    matrices = np.array([instance.transform for instance in gathered.instances], np.float64).reshape(-1, 4, 4)
    box = bounds_of(points, indices, matrices)
    if box is None or not np.isfinite(box).all():
        return None
    try:
        view = Camera.framing(box[:, [1, 2, 0]], direction=(1.0, 1.0, 1.0))  # z, where y is upwards
    except ViewerError:
        return None

    def to_z_up(vector: tuple[float, float, float]) -> tuple[float, float, float]:
        y, z, x = vector
        return x, y, z

    return Camera(to_z_up(view.origin), to_z_up(view.target), to_z_up(view.up), fov=view.fov, name="isometric")
