"""Conversion of a scene to trimesh, for `Scene.to_trimesh`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.camera import Camera
from raystream.scene.geometry.vertices import shifted
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.texture import Texture

# (metallic, roughness) by kind of material; principled ones have their own, others are (0, 1).
KIND_FACTORS = {"mirror": (1.0, 0.0), "dielectric": (0.0, 0.0)}


def trimesh_scene(source: Any) -> Any:
    """A ``trimesh.Scene`` of a `raystream.scene.scene.Scene` of triangles: a ``Trimesh`` for each mesh and material, a
    node for each instance of those, and its first camera.

    Raises ViewerError if trimesh is not installed.
    """
    meshes: Sequence[Mesh] = source.meshes
    instances: Sequence[Instance] = source.instances
    materials: Sequence[Material] = source.materials
    textures: Sequence[Texture] = source.textures
    cameras: Sequence[Camera] = source.cameras[:1]
    origin: Sequence[float] = source.origin
    try:
        import trimesh
    except ImportError as error:
        raise ViewerError("to_trimesh", "trimesh is not installed", "pip install trimesh") from error
    scene = trimesh.Scene()
    geometry_names: dict[tuple[int, int], str] = {}
    images: dict[int, Any] = {}
    for index, instance in enumerate(instances):
        mesh, transform = meshes[instance.mesh], shifted(instance.transform, origin)
        used = np.unique(mesh.materials).tolist() if instance.material is None else [instance.material]
        for material_index in used:
            key, node = (instance.mesh, material_index), f"{instance.name or mesh.name}_{index}_{material_index}"
            if key in geometry_names:
                scene.graph.update(node, geometry=geometry_names[key], matrix=transform)
                continue
            faces = mesh.triangles
            if instance.material is None:
                faces = faces[mesh.materials == material_index]
            geometry = _trimesh_mesh(trimesh, mesh, faces, materials[material_index], textures, images)
            geometry_names[key] = f"{mesh.name}_{instance.mesh}_{material_index}"
            scene.add_geometry(geometry, node_name=node, geom_name=geometry_names[key], transform=transform)
    for camera in (camera.about((0.0, 0.0, 0.0)) for camera in cameras):
        right, up, forward = camera.basis()
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = np.column_stack([right, up, -forward]), camera.origin
        scene.camera = trimesh.scene.Camera(name=camera.name, resolution=(512, 512), fov=(camera.fov, camera.fov))
        scene.camera_transform = matrix
    return scene


def _trimesh_mesh(
    trimesh: Any, mesh: Mesh, faces: NDArray, material: Material, textures: Sequence[Texture], images: dict[int, Any]
) -> Any:
    vertices, corners = np.unique(faces, return_inverse=True)  # the vertices in use
    visual: Any
    if mesh.colors is not None and material.texture is None:
        rgba = mesh.colors[vertices] * np.array(material.base_color, np.float32)
        visual = trimesh.visual.ColorVisuals(vertex_colors=np.rint(_srgb_colors(rgba) * 255).astype(np.uint8))
    else:
        uv = None if mesh.uvs is None else mesh.uvs[vertices] * (1, -1) + (0, 1)
        visual = trimesh.visual.TextureVisuals(uv=uv, material=_trimesh_material(trimesh, material, textures, images))
    return trimesh.Trimesh(
        mesh.positions[vertices],
        corners.reshape(-1, 3),
        vertex_normals=None if mesh.normals is None or not mesh.normals.any() else mesh.normals[vertices],
        visual=visual,
        process=False,  # else equal vertices would be merged
    )


def _trimesh_material(trimesh: Any, material: Material, textures: Sequence[Texture], images: dict[int, Any]) -> Any:
    def image(index: int | None) -> Any:
        if index is None or textures[index].image.texels.dtype != np.uint8:
            return None
        if index not in images:
            from PIL import Image

            images[index] = Image.fromarray(textures[index].image.texels)
        return images[index]

    default_factors = (material.metallic, material.roughness) if material.kind == "principled" else (0.0, 1.0)
    metallic, roughness = KIND_FACTORS.get(material.kind, default_factors)
    return trimesh.visual.material.PBRMaterial(
        name=material.name,
        baseColorFactor=np.clip(np.rint(np.array(material.base_color) * 255), 0, 255).astype(np.uint8),
        baseColorTexture=image(material.texture),
        metallicFactor=metallic,
        roughnessFactor=roughness,
        metallicRoughnessTexture=image(material.metallic_roughness_texture),
        emissiveFactor=np.array(material.emission, np.float64),
        emissiveTexture=image(material.emission_texture),
        normalTexture=image(material.normal_texture),
        doubleSided=material.double_sided,
        alphaMode=material.alpha_mode.upper(),
        alphaCutoff=material.alpha_cutoff,
    )


def _srgb_colors(rgba: NDArray) -> NDArray[np.float64]:
    """sRGB of linear colours, 0 to 1; opacity stays (IEC 61966-2-1)."""
    values = np.clip(np.asarray(rgba, np.float64), 0, 1)
    encoded = np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    encoded[:, 3] = values[:, 3]
    return encoded
