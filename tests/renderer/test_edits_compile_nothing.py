"""What moves, or shines otherwise, uploads numbers: no program is compiled, and the picture is that of a renderer made
for the edited scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.scene.camera import Camera
from raystream.scene.edits.movable import with_light_at
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance

SHOWN: dict[str, Any] = {"size": (16, 8), "spp": 2}  # powers of two, as photons have: llvmpipe compiles once
OPTIONS: dict[str, Any] = {"machine": "singlepass", "photons": 512, "caustic_photons": 256, "photon_bounces": 2}


def square(name: str, height: float, half: float, material: int) -> Mesh:
    """Two triangles that face up, or down where ``half`` is negative."""
    at = np.array([(-half, height, -1), (-half, height, 1), (half, height, 1), (half, height, -1)], np.float32)
    at[:, 2] *= abs(half)
    return Mesh(at, np.array([(0, 1, 2), (0, 2, 3)], np.int32), np.full(2, material, np.int32), name=name)


def stage() -> Scene:
    """A floor, a ball of mirror and a lamp over them, and a lamp without extent."""
    meshes = [square("floor", 0.0, 2.0, 0), Quadric.sphere((0, 0.5, 0), 0.3, 1, "ball"), square("lamp", 2.0, -0.2, 2)]
    materials = [Material("matte"), Material("mirror", kind="mirror"), Material("lamp", emission=(9.0, 8.0, 7.0))]
    instances = [Instance(number, name=mesh.name) for number, mesh in enumerate(meshes)]
    lights = [Light("point", "point", (1.0, 1.5, 0.5), intensity=(1.0, 2.0, 3.0))]
    return Scene(meshes, instances, materials, [Camera((0, 1, 4), (0, 0.5, 0))], lights=lights, name="stage")


def shifted(scene: Scene, number: int, *by: float) -> Scene:
    transform = scene.instances[number].transform.copy()
    transform[:3, 3] += by
    return scene.moved(np.array([number]), transform[None])


def recolored(scene: Scene) -> Scene:
    materials = [*scene.materials[:2], replace(scene.materials[2], emission=(1.0, 5.0, 9.0))]
    return replace(scene, materials=materials, lights=[replace(scene.lights[0], intensity=(4.0, 1.0, 2.0))])


EDITS: dict[str, Callable[[Scene], Scene]] = {
    "an area light moved": lambda scene: with_light_at(scene, "lamp", (0.5, 1.7, 0.2)),
    "and far away": lambda scene: with_light_at(scene, "lamp", (9.0, 20.0, -7.0)),
    "a point light moved": lambda scene: with_light_at(scene, "point", (-1.0, 1.2, 1.0)),
    "other powers and colours": recolored,
    "a quadric moved": lambda scene: shifted(scene, 1, 0.4, 0.2, 0.1),
    "triangles moved": lambda scene: shifted(scene, 0, 0.1, -0.2, 0.3),
}


@pytest.mark.parametrize(
    ("program", "accel"), [("path", "bvh"), ("whitted", "none"), ("photon", "bvh"), ("photon", "two-level-bvh")]
)
def test_an_edit_uploads_numbers_alone(device: Any, program: str, accel: str) -> None:
    renderer = Renderer(stage(), device=device, program=program, accel=accel, **OPTIONS)
    renderer.render(**SHOWN)
    for estimate in ("progressive", "nearest") if (program, accel) == ("photon", "bvh") else ("progressive",):
        renderer.update(estimate=estimate)
        before = renderer.render(**SHOWN).linear
        compiled = device.compiled
        for edit in EDITS.values():
            renderer.update(edit(renderer.scene))
            after = renderer.render(**SHOWN).linear
            assert not np.array_equal(after, before)
            before = after
        renderer.update(camera=Camera((0.2, 1.1, 3.5), (0, 0.4, 0)))
        before = renderer.render(**SHOWN).linear
        assert device.compiled == compiled
        other = Renderer(renderer.scene, renderer.settings, device=device)
        np.testing.assert_array_equal(before, other.render(**SHOWN).linear)
        other.release()
        renderer.update(stage(), camera=None)
    renderer.release()
