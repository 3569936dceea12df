"""What a scene gives trimesh."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from tests.scene.unit_square import POINTS, at, square

pytest.importorskip("trimesh")


def test_scenes_for_trimesh() -> None:
    uvs = np.float32([[0, 0], [1, 0], [1, 0.25], [0, 1]])
    first = square(materials=[0, 1], uvs=uvs, normals=np.tile((0.0, 0, 1), (4, 1)), name="m")
    second = square(colors=np.float32([[0, 0.5, 1, 0.5]] * 4), name="c")
    image = Image(np.random.default_rng(1).integers(0, 256, (2, 3, 4), np.uint8))
    half = Image(np.zeros((1, 1, 4), np.float16))
    materials = [
        Material("p", (0.5, 0, 2, 1), metallic=0.3, roughness=0.4, kind="principled", texture=0, emission=(1, 2, 3))
        , Material("mirror", kind="mirror", texture=1, double_sided=True, alpha_mode="mask", alpha_cutoff=0.25),
    ]  # fmt: skip
    instances = [Instance(0), Instance(0, at(1, 0, 0), name="i"), Instance(1, at(0, 1, 0), material=0), Instance(1)]
    cameras = [Camera((0, 0, 5), (0, 0, 0), fov=30, name="eye"), Camera((1, 0, 0), (0, 0, 0))]
    scene = Scene([first, second], instances, materials, cameras, textures=[Texture(image), Texture(half)])
    found = scene.to_trimesh()
    placed = {name: found.graph[name] for name in found.graph.nodes_geometry}
    shown = {"m_0_0": "m_0_0", "m_0_1": "m_0_1", "i_1_0": "m_0_0", "i_1_1": "m_0_1", "c_2_0": "c_1_0", "c_3_0": "c_1_0"}
    assert {name: geometry for name, (_, geometry) in placed.items()} == shown
    np.testing.assert_array_equal(placed["i_1_1"][0], at(1, 0, 0))
    np.testing.assert_array_equal(placed["c_3_0"][0], np.eye(4))
    part = found.geometry["m_0_1"]
    np.testing.assert_array_equal(part.vertices, POINTS[[0, 2, 3]])
    assert part.faces.tolist() == [[0, 1, 2]]
    np.testing.assert_array_equal(part.vertex_normals, [[0, 0, 1]] * 3)
    np.testing.assert_allclose(part.visual.uv, [[0, 1], [1, 0.75], [0, 0]])  # v points up
    mirror, plain = part.visual.material, found.geometry["m_0_0"].visual.material
    assert (mirror.name, mirror.metallicFactor, mirror.roughnessFactor) == ("mirror", 1, 0)
    assert mirror.baseColorTexture is None
    assert (mirror.doubleSided, mirror.alphaMode, mirror.alphaCutoff) == (True, "MASK", 0.25)
    assert plain.baseColorFactor.tolist() == [128, 0, 255, 255] and plain.emissiveFactor.tolist() == [1, 2, 3]
    assert (plain.metallicFactor, plain.roughnessFactor, plain.alphaMode) == (0.3, 0.4, "OPAQUE")
    np.testing.assert_array_equal(np.asarray(plain.baseColorTexture), image.texels)
    whole = found.geometry["c_1_0"]
    assert len(whole.vertices) == 4 and whole.visual.kind == "texture"
    assert found.camera.name == "eye" and found.camera.fov.tolist() == [30, 30]
    np.testing.assert_allclose(found.camera_transform, at(0, 0, 5), atol=1e-12)


def test_vertex_colors_for_trimesh() -> None:
    """sRGB times the base colour; opacity stays linear."""
    mesh = square(colors=np.float32([[0, 0.5, 2, 0.5]] * 4), name="c")
    found = Scene([mesh], [Instance(0)], [Material(base_color=(1, 0.5, 1, 1))]).to_trimesh()
    (part,) = found.geometry.values()
    assert part.visual.vertex_colors[0].tolist() == [0, 137, 255, 128]
    for kind, factors in (("lambert", (0, 1)), ("dielectric", (0, 0)), ("phong", (0, 1))):
        found = Scene([square()], [Instance(0)], [Material(kind=kind)]).to_trimesh()
        (part,) = found.geometry.values()
        assert (part.visual.material.metallicFactor, part.visual.material.roughnessFactor) == factors
        assert part.visual.uv is None
