"""Shared by the readers of other libraries' objects: surfaces, converted to meshes of a scene."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.geometry.vertices import centred
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import ROUNDING, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

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
class Gathered:
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
        used = vertices[faces] if vertices.dtype.kind == "f" and faces.size else np.zeros((0, 3, 3))
        if not np.isfinite(used).all():
            face, corner = np.argwhere(~np.isfinite(used).all(axis=2))[0].tolist()
            what = f"vertex {faces[face, corner]} is at {used[face, corner].tolist()}, a corner of face {face}"
            raise ViewerError(surface.name, what, "give finite numbers")
        normals, uvs, colors = surface.normals, surface.uvs, surface.colors
        corners = uvs is not None and np.ndim(uvs) == 3
        if surface.face_colors is not None or corners:  # every corner a vertex of its own
            order = faces.ravel()
            vertices, faces = vertices[order], np.arange(len(order), dtype=np.int32).reshape(-1, 3)
            normals = None if normals is None else np.asarray(normals)[order]
            uvs = uvs if uvs is None or not corners else np.asarray(uvs).reshape(-1, 2)
            uvs = np.asarray(surface.uvs)[order] if uvs is not None and not corners else uvs
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
        self.place(self.mesh(surface), surface.name, transform)

    def place(self, mesh: int, name: str, transform: ArrayLike | None = None) -> None:
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


def linear(colors: NDArray, encoded: bool = True) -> NDArray[np.float32]:
    """(N, 4) linear from colours (N, 3 or 4): integers are sRGB of 0 to 255; floats are 0 to 1, sRGB if ``encoded``."""
    are_integers = colors.dtype.kind in "iu"
    values = colors.astype(np.float64) / (255 if are_integers else 1)
    rgba = np.ones((len(values), 4), np.float32)
    rgba[:, : values.shape[1]] = values
    if are_integers or encoded:
        rgba[:, :3] = linear_from_srgb(values[:, :3])
    return rgba


def colors_of(surface: ForeignSurface, colors: NDArray, notes: list[str]) -> None:
    """Set the surface's colours: per vertex, or per face if their number matches. Floats are linear; where they are
    bytes in all but their type, they are taken so, with a note."""
    values = rows(surface.name, "colors", colors, (3, 4))
    if values.size and not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 255):
        raise ViewerError(surface.name, f"colors reach from {values.min()} to {values.max()}", COLORS)
    if values.size and values.dtype.kind == "f" and values.max() > 1 + ROUNDING:
        if (values != np.rint(values)).any():
            raise ViewerError(surface.name, f"colors reach {values.max():g}", COLORS)
        notes.append(f"{surface.name}: colors reach {values.max():g}: taken as sRGB of 0 to 255 ({COLORS})")
        values = values.astype(np.uint8)
    rgba = linear(values, encoded=False)
    if len(rgba) == len(surface.vertices):
        surface.colors = rgba
    elif len(rgba) == len(surface.faces):
        surface.face_colors = rgba
    else:
        what = f"{len(rgba)} colors for {len(surface.vertices)} vertices and {len(surface.faces)} faces"
        raise ViewerError(surface.name, what, "give one of each vertex, or of each face")
