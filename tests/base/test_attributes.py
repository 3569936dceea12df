"""Attributes that parts of scenes do not have: an assignment raises, and names the one that may be meant."""

from __future__ import annotations

import pickle
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream import Camera, Instance, Scene
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose
from raystream.scene.environment import ConstantEnvironment
from raystream.scene.light import Light
from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.mesh import Mesh

MESH = Mesh(np.eye(3), [[0, 1, 2]], normals=np.eye(3))
PARTS: dict[str, Any] = {
    "scene": Scene([MESH], [Instance(0)]),
    "material": Material(),
    "light": Light("point"),
    "camera": Camera((0, 0, 1), (0, 0, 0)),
    "mesh": copy(MESH),
    "instance": Instance(0),
    "classic material": ClassicMaterial(),
    "environment": ConstantEnvironment((1.0, 1.0, 1.0)),
}


@pytest.mark.parametrize(
    ("part", "name", "hint"),
    [
        ("material", "color", "Material has no 'color': did you mean 'base_color'?"),
        ("scene", "light", "Scene has no 'light': did you mean 'lights'?"),
        ("light", "color", "Light has no 'color': it has kind, name, position, direction, intensity"),
        ("mesh", "normal", "did you mean 'normals'?"),
        ("instance", "transformation", "did you mean 'transform'?"),
        ("classic material", "bais", "did you mean 'bias'?"),
        ("environment", "radiances", "did you mean 'radiance'?"),
    ],
)
def test_unknown_attributes(part: str, name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        setattr(PARTS[part], name, (1.0, 0.0, 0.0))
    assert hint in str(error.value) and "\n" not in str(error.value)
    assert name not in vars(PARTS[part])


@pytest.mark.parametrize(("part", "name"), [("light", "intensity"), ("camera", "fov"), ("environment", "radiance")])
def test_values_stay(part: str, name: str) -> None:
    kind = type(PARTS[part]).__name__
    with pytest.raises(AttributeError, match=rf"dataclasses.replace\({kind.lower()}, {name}=...\)"):
        setattr(PARTS[part], name, 1.0)


def test_what_follows_a_pose_stays() -> None:
    mesh = DeformedMesh(MESH, Deformation.none(3), MeshPose())
    with pytest.raises(AttributeError, match=r"its positions stays: put mesh.posed"):
        mesh.positions = MESH.positions


def test_fields_are_assigned_copied_and_pickled() -> None:
    scene = pickle.loads(pickle.dumps(copy(PARTS["scene"])))
    scene.materials[0].base_color = (1.0, 0.0, 0.0, 1.0)
    scene.name, scene.lights = "another", [replace(PARTS["light"], intensity=(2.0, 2.0, 2.0))]
    assert (scene.name, scene.lights[0].intensity) == ("another", (2.0, 2.0, 2.0))
    assert scene.bounds().tolist() == [[0, 0, 0], [1, 1, 1]]  # kept in a field of its own
