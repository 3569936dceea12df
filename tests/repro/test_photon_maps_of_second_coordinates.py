"""Photon maps of surfaces with textures by a second set of coordinates were refused by the multipass machine: an
interaction takes six texels there, and finding a photon and weighing it read 17 textures, of 16 granted."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.programs.photon_map import photon_map
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.environment import ConstantEnvironment
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.compile.link import MAX_SAMPLERS, LinkedProgram

CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)


def plate() -> Scene:
    """A rough plate, whose colour lies by the second coordinates, and its roughness by the first."""
    random = np.random.default_rng(3).integers(40, 255, (4, 4, 4)).astype(np.uint8)
    material = Material(kind="principled", texture=0, metallic_roughness_texture=1, metallic=0.5)
    mesh = Mesh(CORNERS, np.array([[0, 1, 2], [0, 2, 3]]), uvs=UVS, uvs_1=UVS[::-1])
    scene = Scene([mesh], [Instance(0)], [material], [Camera((0, 0, 2.0), (0, 0, 0), fov=40.0)])
    scene.textures = [Texture(Image(random), uv_set=1), Texture(Image(random[::-1].copy()), content="data")]
    scene.lights = [Light("point", position=(0.5, 0.5, 1.0), intensity=(9.0, 9.0, 9.0))]
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"photon_map": "stencil"}, {"final_gather": 1}], ids=["stencil", "gather"])
def test_machines_agree(device, more):
    chosen = {"program": "photon", "photons": 256, "environment": ConstantEnvironment((0.2, 0.2, 0.2)), **more}
    found = []
    for machine in ("singlepass", "multipass"):
        renderer = Renderer(plate(), device=device, machine=machine, **chosen)
        found.append(renderer.render((8, 8), 1).linear)
    assert "weigh" in renderer.program().by_name
    assert found[0].std() > 0.01
    np.testing.assert_array_equal(*found)


def test_steps_are_within_the_limits():
    prepared = prepare(plate(), Settings())
    assert prepared.wide
    for gather in (False, True):
        linked = LinkedProgram(photon_map(gather=gather, apart=True), prepared.modules(True, True))
        assert all(linked.sampler_count(step) <= MAX_SAMPLERS for step in linked.steps("none"))


def test_other_scenes_weigh_where_they_find():
    assert "weigh" not in photon_map().by_name and "weigh" in photon_map(apart=True).by_name
