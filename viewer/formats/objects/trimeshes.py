"""Trimesh's ``Trimesh`` and ``Scene``, and other objects with vertices and faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.base.errors import ViewerError
from raystream.formats.named import kind_of
from raystream.formats.objects.surface import GREY, ForeignSurface, Gathered, linear
from raystream.scene.camera import Camera
from raystream.scene.material import Material


def is_scene(source: Any) -> bool:
    """Whether it has geometry by name, and a graph of transforms."""
    return hasattr(getattr(source, "geometry", None), "items") and hasattr(
        getattr(source, "graph", None), "nodes_geometry"
    )


def add_scene(gathered: Gathered, source: Any) -> None:
    """A ``trimesh.Scene``: every mesh once, an instance per node, and its camera if any."""
    gathered.name = _name(source, "scene")
    indices: dict[str, int] = {}
    for name, mesh in source.geometry.items():
        if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
            indices[name] = gathered.mesh(_surface(gathered, mesh, str(name)))
        else:
            gathered.warnings.append(f"{name}: {kind_of(mesh)} has no faces, and is left out")
    for node in source.graph.nodes_geometry:
        transform, geometry = source.graph[node]
        if geometry in indices:
            gathered.place(indices[geometry], str(node), transform)
    if getattr(source, "has_camera", False):  # accessing a missing camera would create one
        gathered.cameras.append(_camera(source))


def add(gathered: Gathered, source: Any) -> None:
    """A ``Trimesh``, or another object with vertices and faces."""
    gathered.name = _name(source, kind_of(source))
    gathered.add(_surface(gathered, source, gathered.name))


def _name(source: Any, otherwise: str) -> str:
    metadata: Any = getattr(source, "metadata", None)
    name = metadata.get("name") or metadata.get("file_name") if hasattr(metadata, "get") else None
    return str(name) if name else otherwise


def _camera(scene: Any) -> Camera:
    """The scene's camera; it looks along its own -Z, as in OpenGL."""
    matrix = np.asarray(scene.camera_transform, np.float64)
    origin, away, up = matrix[:3, 3], matrix[:3, 2], matrix[:3, 1]
    distance = 1.0
    focal = getattr(scene, "centroid", None)
    if focal is not None and np.shape(focal) == (3,):
        distance = float((origin - np.asarray(focal)) @ away) or 1.0
    target = origin - away * max(distance, 1e-3)
    return Camera(tuple(origin), tuple(target), tuple(up), fov=float(scene.camera.fov[1]), name=str(scene.camera.name))


def _surface(gathered: Gathered, mesh: Any, name: str) -> ForeignSurface:
    surface = ForeignSurface(name, np.asarray(mesh.vertices), np.asarray(mesh.faces))
    visual: Any = getattr(mesh, "visual", None)
    kind = getattr(visual, "kind", None)
    if kind == "texture":
        _textured(gathered, surface, visual)
    elif kind == "face":
        surface.face_colors = linear(np.asarray(visual.face_colors))
    elif kind == "vertex":
        surface.colors = linear(np.asarray(visual.vertex_colors))
    return surface


def _textured(gathered: Gathered, surface: ForeignSurface, visual: Any) -> None:
    uv = getattr(visual, "uv", None)
    if uv is not None and len(uv) == len(surface.vertices):
        surface.uvs = np.column_stack([np.asarray(uv)[:, 0], 1 - np.asarray(uv)[:, 1]]).astype(np.float32)
    material, several = visual.material, getattr(visual.material, "materials", None)
    if not several:
        surface.material = _material(gathered, material, surface)
        return
    indices = np.array([gathered.material(_material(gathered, item, surface)) for item in several], np.int32)
    chosen = getattr(visual, "face_materials", None)
    chosen = np.zeros(len(surface.faces), np.intp) if chosen is None else np.asarray(chosen)
    if chosen.shape != (len(surface.faces),) or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(indices)):
        raise ViewerError(surface.name, "its face_materials are not a material for each face")
    surface.materials = indices[chosen]


def _material(gathered: Gathered, source: Any, surface: ForeignSurface) -> Material:
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
        color = white if image is not None else GREY if diffuse is None else _rgba(linear(np.asarray(diffuse)[None]))
        return Material(name, color, texture=image, alpha_mode="blend" if color[3] < 1 else "opaque")
    factor = getattr(source, "baseColorFactor", None)
    color = (1.0, 1.0, 1.0, 1.0)
    if factor is not None:  # glTF's factor is linear; trimesh keeps it as bytes
        values = np.asarray(factor)
        values = values / 255 if values.dtype.kind in "iu" else values
        color = _rgba(linear(values[None].astype(np.float64), encoded=False))
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
