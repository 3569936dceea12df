"""The scenes that shaders are assembled for: every kind of surface, light and motion, on a triangle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose
from raystream.scene.exposure import moving_camera
from raystream.scene.geometry.normals import with_normals
from raystream.scene.light import KINDS as LIGHTS
from raystream.scene.light import Light
from raystream.scene.material import KINDS, TEXTURE_FIELDS, ClassicMaterial, ClassicTexture, Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

UNLIT: dict[str, Any] = {"kind": "principled", "unlit": True}
TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def moving(quadrics: bool = False) -> Scene:
    """A scene with `everything` in motion: instances, a mesh, lights and the camera; quadrics : a ball, too."""
    scene = everything(layers=True)
    motion = np.stack([np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0])])
    rest_mesh = with_normals(scene.meshes[0])
    rest_mesh.tangents = np.tile(np.array([1, 0, 0, 1], np.float32), (3, 1))
    leaning = np.eye(4)
    leaning[1, 0] = 1.0
    poses = MeshPose(joints=np.eye(4)[None]), MeshPose(joints=leaning[None])
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32)
    bending = DeformedMesh(rest_mesh, Deformation(joints, weights), poses[0], poses)
    scene.meshes = [rest_mesh, bending, *([Quadric.sphere()] if quadrics else [])]
    scene.instances = [replace(instance, motion=motion) for instance in scene.instances]
    scene.instances += [Instance(index, material=0, motion=motion) for index in range(1, len(scene.meshes))]
    scene.lights = [replace(light, motion=(light, replace(light, position=(1, 0, 0)))) for light in scene.lights]
    scene.cameras = [moving_camera([Camera((0, 0, z), (0, 0, 0)) for z in (4.0, 5.0)])]
    return scene


def everything(dispersion: float = 0.0, layers: bool = False) -> Scene:
    """A scene with every kind of surface and of light, and textures; its glass has that ``dispersion``. layers :
    of glTF's materials, too, with a second set of texture coordinates."""
    scene = Scene.from_triangles(*TRIANGLE)
    scene.meshes[0] = replace(scene.meshes[0], uvs=np.eye(3, 2, dtype=np.float32))
    scene.textures = [Texture(Image(np.full((2, 2, 4), 128, np.uint8)))]
    scene.materials = [Material(kind, kind=kind, texture=0, dispersion=dispersion) for kind in KINDS]
    sheet = ClassicMaterial(transmittance=0.5, thickness=1.0, textures=(ClassicTexture(0, "blend"),))
    scene.materials[KINDS["classic"]].classic = sheet
    scene.materials += [layered()] if layers else []
    scene.materials += [Material("even", emission=(1, 1, 1)), Material("spots", emission=(1, 1, 1), emission_texture=0)]
    if layers:
        scene.textures.append(Texture(scene.textures[0].image, uv_set=1))
        scene.materials[-3].normal_texture = 1
    scene.instances = [Instance(0, material=index) for index in range(len(scene.materials))]
    scene.lights = [Light(kind) for kind in LIGHTS]  # type: ignore[arg-type]  # they are its kinds
    return scene


def layered() -> Material:
    """A material of glTF's with all that there is."""
    names = dict.fromkeys(TEXTURE_FIELDS, 0)
    return Material(
        "layered",
        (1.0, 1.0, 1.0, 0.5),
        kind="principled",
        metallic=0.5,
        specular_factor=0.5,
        transmission=0.5,
        thickness=1.0,
        attenuation_distance=1.0,
        anisotropy=0.5,
        clearcoat=0.5,
        iridescence=0.5,
        sheen_color=(0.5, 0.5, 0.5),
        diffuse_transmission=0.5,
        alpha_mode="blend",
        **names,  # type: ignore[arg-type]  # they are numbers
    )


def with_quadric(scene: Scene) -> Scene:
    """The scene's mesh and a ball, both of which shine."""
    return Scene([*scene.meshes, Quadric.sphere()], [Instance(0), Instance(1)], [Material("lamp", emission=(1, 1, 1))])
