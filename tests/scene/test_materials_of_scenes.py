"""Culling, limits, kinds and dispersion of materials; models in classic glass on a plane."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.edits.classic_plane import GLASS, POLISHED, on_plane, tiles
from raystream.scene.edits.materials import colorings, culled, culled_of_objects, culls, decided_materials
from raystream.scene.material import ClassicMaterial, ClassicTexture, Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from tests.scene.unit_square import square


@pytest.mark.parametrize(
    ("more", "culling"),
    [
        ({}, True),
        ({"backface_culling": False}, False),
        ({"transmission": 0.1}, False),
        ({"diffuse_transmission": 0.1}, False),
        ({"kind": "dielectric"}, False),
        ({"kind": "classic"}, False),
        ({"kind": "principled"}, True),
        ({"kind": "mirror", "double_sided": True}, True),
    ],
)
def test_materials_that_cull(more: dict, culling: bool) -> None:
    assert culls(Material(**{"backface_culling": True, **more})) == culling


def test_culled_triangles() -> None:
    both, one = Material(), Material(backface_culling=True)
    numbers = np.array([0, 1, 2, -1, 1], np.int32)
    found = culled(numbers, [both, one])
    assert found is not None and found.tolist() == [False, True, False, False, True]
    assert culled(numbers, [both, both]) is None and culled(numbers[:1], [both, one]) is None
    assert culled(np.array([-1], np.int32), [one]) is None
    meshes = [square(materials=[0, 1]), square(materials=[1, 1]), square(materials=[1, 1])]
    scene = Scene(
        meshes, [Instance(0), Instance(1), Instance(1, material=0), Instance(2, material=0), Instance(0)], [both, one]
    )
    of, own = np.array([0, 1, 1, 2, -1], np.int32), np.array([False, False, False, True, False])
    found_of = culled_of_objects(scene, meshes, of, own)
    assert [None if each is None else each.tolist() for each in found_of] == [[False, True], None, [True, True]]
    own[3] = False
    assert culled_of_objects(scene, meshes, of, own)[2] is None
    assert culled_of_objects(scene, meshes, np.array([0, 0, 2, 2, -1], np.int32), own)[1] is None
    shared = Scene(meshes, [Instance(0), Instance(0, material=1)], [both, one])
    (sides, *_) = culled_of_objects(shared, meshes, np.zeros(2, np.int32), np.zeros(2, bool))
    assert sides is not None and sides.tolist() == [False, True]  # by all instances alone
    alone = Scene(meshes, [Instance(1, material=0), Instance(1)], [both, one])
    assert culled_of_objects(alone, meshes, np.array([1, 1], np.int32), np.zeros(2, bool))[1] is None


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [
        ("bias", -1e30, 1e30),
        ("scale", -1e30, 1e30),
        ("power", 0, 1e30),
        ("reflectivity", 0, 1),
        ("transmittance", 0, 1),
        ("thickness", 0, 1e30),
        ("specular", 0, 1),
        ("ambient", 0, 1),
        ("indices", 0.01, 100),
    ],
)
def test_limits_of_classic_materials(field: str, low: float, high: float) -> None:
    three = field in ("specular", "ambient", "indices")
    for value in (low, high):
        given = (high, high, value) if three else value
        assert getattr(ClassicMaterial(**{field: given}), field) == given
    for value in (low - 0.005 - abs(low), high * 1.01, math.nan):
        with pytest.raises(ViewerError, match=f"classic material: {field} "):
            ClassicMaterial(**{field: (high, high, value) if three else value})
    if three:
        with pytest.raises(ViewerError, match=f"classic material: {field} "):
            ClassicMaterial(**{field: (high, high)})


def test_kinds_of_classic_materials() -> None:
    assert ClassicMaterial(textures=tuple(ClassicTexture(k) for k in range(8))).textures[7].texture == 7
    nine = tuple(ClassicTexture(k) for k in range(9))
    for wrong, words in (
        ({"textures": nine}, r"9 textures \(at most 8"),
        ({"thickness_model": "thin"}, r"unknown thickness model 'thin' \(one of path, slab\)"),
    ):
        with pytest.raises(ViewerError, match=f"^classic material: {words}"):
            ClassicMaterial(**wrong)
    for wrong, words in (
        ({"mode": "add"}, r": unknown mode 'add' \(one of replace, decal, modulate, ble"),
        ({"environment": (0, 0, -1)}, ""),
        ({"environment": (0, 0, 2e30)}, ""),
    ):
        with pytest.raises(ViewerError, match=f"classic texture{words}"):
            ClassicTexture(0, **wrong)
    for indices, through, thick, parts, sheet in (
        ((1.5, 1.5, 1.6), 0.5, 1, True, True),
        ((1.5, 1.5, 1.5), 0.5, 0, False, False),
        ((1.5, 1.5, 1.6), 0, 1, False, False),
    ):
        made = ClassicMaterial(indices=indices, transmittance=through, thickness=thick)
        assert (made.parts_channels, made.is_sheet) == (parts, sheet)
        assert Material(kind="classic", classic=made).parts_channels == parts
    plain = Material(
        kind="classic", texture=3, normal_texture=2, classic=ClassicMaterial(textures=(ClassicTexture(5, "decal"),))
    )
    assert plain.layers == (ClassicTexture(3), ClassicTexture(5, "decal")) and plain.texture_numbers == [3, 2, 3, 5]
    assert Material(texture=3).layers == () and Material(texture=3).texture_numbers == [3]
    assert Material(kind="classic").classic == ClassicMaterial()


@pytest.mark.parametrize(
    ("more", "iors"),
    [
        ({}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2, "kind": "dielectric"}, (1.475, 1.5, 1.525)),
        ({"dispersion": 2, "kind": "principled", "transmission": 1, "thickness": 1}, (1.475, 1.5, 1.525)),
        ({"dispersion": 2, "kind": "principled", "transmission": 1}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2, "kind": "principled", "thickness": 1}, (1.5, 1.5, 1.5)),
        ({"dispersion": 100, "kind": "dielectric"}, (1, 1.5, 2.75)),
        ({"ior": 0.5, "kind": "dielectric"}, (0.5, 0.5, 0.5)),
    ],
)
def test_dispersion_of_materials(more: dict, iors: tuple[float, float, float]) -> None:
    """(n - 1) 0.025 dispersion to both sides (KHR_materials_dispersion)."""
    found = Material(**more)
    assert found.iors == pytest.approx(iors) and found.parts_channels == (iors[0] != iors[2])


@pytest.mark.parametrize(("field", "value"), [("kind", "glass"), ("alpha_mode", "OPAQUE")])
def test_unknown_words_of_materials(field: str, value: str) -> None:
    with pytest.raises(ViewerError, match=f"unknown .*'{value}'"):
        Material(**{field: value})


def test_vertex_colors_that_meshes_decide() -> None:
    colored, plain = square(colors=np.ones((4, 4)), materials=[0, 2]), square(materials=[1, 1])
    classic = Material(kind="classic")
    chosen = Material(kind="classic", classic=ClassicMaterial(vertex_colors=False))
    scene = Scene([colored, plain], [Instance(0), Instance(1)], [classic, classic, chosen])
    assert colorings(scene, {0, 1}) == {0: {True}, 1: {False}}
    found = decided_materials(scene)
    assert [each.classic.vertex_colors for each in found if each.classic] == [True, False, False]
    assert found[2] is chosen and scene.materials[0].classic.vertex_colors is None
    assert decided_materials(Scene([colored], [Instance(0)], [chosen] * 3))[0] is chosen
    scene.instances.append(Instance(0, material=1))
    with pytest.raises(ViewerError, match="is on meshes with vertex colours and on some without"):
        decided_materials(scene)
    unused = Scene([colored], [], [classic])
    assert decided_materials(unused)[0].classic.vertex_colors is False


def test_models_of_glass() -> None:
    lamp, brick = (
        Material("lamp", emission=(1, 0, 0)),
        Material("brick", (0.1, 0.2, 0.3, 0.4), texture=0, alpha_mode="mask", alpha_cutoff=0.3),
    )
    own = Material("own", kind="classic")
    image = Texture(Image.white())
    scene = Scene(
        [square(materials=[0, 1]), square(materials=[2, 2])],
        [Instance(0), Instance(1)],
        [lamp, brick, own],
        textures=[image],
    )
    found = on_plane(scene)
    assert found.materials[0] is lamp and found.materials[2] is own and found.textures == [image, tiles()]
    glass, floor = found.materials[1], found.materials[3]
    assert (glass.name, glass.kind, glass.base_color, glass.texture) == ("brick", "classic", brick.base_color, 0)
    assert (glass.alpha_mode, glass.alpha_cutoff) == ("mask", 0.3)
    assert glass.classic == replace(GLASS, vertex_colors=False)
    assert floor.classic == replace(POLISHED, vertex_colors=False, textures=(ClassicTexture(1),))
    assert on_plane(found) is found
    # Three widths of the model, in its heights.
    np.testing.assert_allclose(np.diag(found.instances[found.ground].transform)[[0, 2]], 3)
    high = on_plane(Scene([square()], [Instance(0, np.diag([2.0, 0.5, 1, 1]))], [brick], textures=[image]))
    np.testing.assert_allclose(np.diag(high.instances[high.ground].transform)[[0, 2]], 6)
    colored = Scene([square(colors=np.ones((4, 4)))], [Instance(0)])
    assert on_plane(colored).materials[0].classic == replace(GLASS, vertex_colors=True)


def test_nothing_to_stand_on_a_plane() -> None:
    with pytest.raises(ViewerError, match=r"has no extent to put a plane under"):
        on_plane(Scene(name="empty"))
