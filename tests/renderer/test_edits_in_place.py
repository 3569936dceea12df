"""A scene edited in place and passed again: the picture is that of a renderer made anew, and only what was edited is
redone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream import Camera, Instance, Renderer, Scene
from raystream.base.errors import ViewerError
from raystream.options.declare import Affects
from raystream.renderer.inputs.scene_copies import SceneCopy
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.texture import Image, Texture

SHOWN: dict[str, Any] = {"size": (24, 16), "spp": 2}
OPTIONS: dict[str, Any] = {"machine": "singlepass", "environment": (0.2, 0.3, 0.4)}


def square(name: str, height: float, material: int) -> Mesh:
    """Two triangles that face up, with everything that a vertex can have."""
    at = np.float32([(-1, height, -1), (-1, height, 1), (1, height, 1), (1, height, -1)])
    normals, uvs = np.float32([(0, 1, 0)] * 4), np.float32([(0, 0), (0, 1), (1, 1), (1, 0)])
    colors = np.full((4, 4), 1.0, np.float32)
    return Mesh(at, [(0, 1, 2), (0, 2, 3)], [material] * 2, normals, uvs, colors, name)


def stage() -> Scene:
    """A textured floor, a board and a ball over it, a lamp and a spot."""
    texels = np.full((2, 2, 4), 200, np.uint8)
    texels[0, 0] = 20, 60, 220, 255
    materials = [Material("floor", texture=0), Material("board", (0.8, 0.3, 0.2, 1.0)), Material("ball")]
    meshes = [square("floor", 0.0, 0), square("board", 0.4, 1), Quadric.sphere((0, 0, 0), 0.3, 2, "ball")]
    instances = [Instance(0, name="floor"), Instance(1, np.diag([0.4, 1.0, 0.4, 1.0]), name="board")]
    instances.append(Instance(2, np.eye(4) + np.outer([1, 1, 0, 0], [0, 0, 0, 0.4]), name="ball"))
    lights = [Light("point", "lamp", (1.0, 2.0, 1.0), intensity=(4.0, 4.0, 4.0))]
    lights.append(Light("spot", "spot", (-1.0, 2.0, 0.0), intensity=(5.0, 1.0, 1.0)))
    cameras = [Camera((0.0, 2.0, 3.0), (0.0, 0.2, 0.0))]
    return Scene(meshes, instances, materials, cameras, lights, "stage", textures=[Texture(Image(texels))])


def _write(array: Callable[[Scene], np.ndarray], values: Any) -> Callable[[Scene], None]:
    """An edit that adds to an array, in place."""

    def edit(scene: Scene) -> None:
        array(scene)[...] += np.asarray(values).astype(array(scene).dtype)

    return edit


def _assign(part: Callable[[Scene], Any], name: str, value: Any) -> Callable[[Scene], None]:
    return lambda scene: setattr(part(scene), name, value)


def _put(part: Callable[[Scene], list], number: int, **changes: Any) -> Callable[[Scene], None]:
    """An edit that puts another item into a list."""

    def edit(scene: Scene) -> None:
        part(scene)[number] = replace(part(scene)[number], **changes)

    return edit


PLACE = np.eye(4) + np.outer([0.2, 0.4, 0.2, 0], [0, 0, 0, 1])
# By name: the edit, and whether the structure is built anew.
EDITS: dict[str, tuple[Callable[[Scene], Any], bool]] = {
    "a colour": (_assign(lambda s: s.materials[1], "base_color", (0.1, 0.7, 0.2, 1.0)), False),
    "a colour in a list": (_assign(lambda s: s.materials[1], "base_color", [0.1, 0.7, 0.9, 1.0]), False),
    "a colour of NumPy": (_assign(lambda s: s.materials[1], "base_color", np.array([0.9, 0.7, 0.2, 1.0])), False),
    "an emission": (_assign(lambda s: s.materials[1], "emission", (2.0, 1.0, 0.5)), False),
    "a kind": (_assign(lambda s: s.materials[2], "kind", "mirror"), False),
    "another material in the list": (_put(lambda s: s.materials, 1, base_color=(0.2, 0.2, 0.9, 1.0)), False),
    "a light": (_put(lambda s: s.lights, 0, intensity=(1.0, 9.0, 1.0)), False),
    "a light that is moved": (_put(lambda s: s.lights, 1, position=(0.5, 1.0, 0.5)), False),
    "a light taken away": (lambda s: s.lights.pop(), False),
    "a camera": (_put(lambda s: s.cameras, 0, origin=(0.5, 1.5, 3.0)), False),
    "a transformation, written into": (_write(lambda s: s.instances[1].transform[:3, 3], (0.2, 0.1, 0.3)), True),
    "a transformation": (_assign(lambda s: s.instances[2], "transform", PLACE), True),
    "vertices, written into": (_write(lambda s: s.meshes[1].positions, (0.3, 0.1, 0.0)), True),
    "other vertices": (_assign(lambda s: s.meshes[0], "positions", square("", -0.3, 0).positions), True),
    "vertices of Python": (_assign(lambda s: s.meshes[0], "positions", square("", -0.2, 0).positions.tolist()), True),
    "normals": (_write(lambda s: s.meshes[0].normals, (0.5, -0.2, 0.0)), False),
    "colours": (_write(lambda s: s.meshes[1].colors, (-0.9, -0.5, 0.0, 0.0)), False),
    "texture coordinates": (_write(lambda s: s.meshes[0].uvs, (0.4, 0.3)), False),
    "materials of triangles": (_write(lambda s: s.meshes[1].materials, [1, 0]), False),
    "triangles": (_write(lambda s: s.meshes[0].triangles, [[0, 0, 0], [0, 0, 0 - 1]]), True),
    "texels": (_write(lambda s: s.textures[0].image.texels[..., 0], 50), False),
    "a texture's transformation": (_write(lambda s: s.textures[0].transform, [[0, 0, 0.5], [0, 0, 0]]), False),
    "a texture's filter": (_assign(lambda s: s.textures[0], "nearest", True), False),
    "a texture's wrap": (_assign(lambda s: s.textures[0], "wrap", ("clamp", "repeat")), False),
    "the material of an instance": (_assign(lambda s: s.instances[0], "material", 2), False),
    "an object that vanishes": (lambda s: s.instances.pop(1), True),
    "one that appears": (lambda s: s.instances.append(Instance(1, np.eye(4) * (0.5, 1.0, 0.5, 1.0))), True),
    "another shape": (_assign(lambda s: s.meshes[2], "shape", Quadric.sphere((0, 0.2, 0), 0.5).shape), True),
}


@pytest.fixture(scope="module")
def edited(device: Any) -> Iterator[tuple[Renderer, Scene]]:
    """A renderer, and the scene that it shows."""
    scene = stage()
    renderer = Renderer(scene, device=device, accel="bvh", **OPTIONS)
    yield renderer, scene
    renderer.release()


def anew(scene: Scene, renderer: Renderer) -> np.ndarray:
    """The picture of another renderer."""
    other = Renderer(scene, renderer.settings, device=renderer.device)
    picture = other.render(**SHOWN).linear
    other.release()
    return picture


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_in_place_is_shown(edited: tuple[Renderer, Scene], builds: list[str], edit: str) -> None:
    renderer, scene = edited
    before = renderer.render(**SHOWN).linear
    change, built = EDITS[edit]
    change(scene)
    affected = renderer.update(scene=scene)
    assert affected == (Affects.NOTHING if edit == "a camera" else Affects.SCENE)
    assert bool(builds) == built
    after = renderer.render(**SHOWN).linear
    assert not np.array_equal(after, before)
    np.testing.assert_array_equal(after, anew(scene, renderer))
    builds.clear()
    prepared = renderer.prepared
    assert renderer.update(scene=scene) == Affects.NOTHING and not builds
    assert renderer.prepared.scene is prepared.scene and renderer.scene is scene


@pytest.mark.parametrize("accel", ["grid", "two-level-bvh", "two-level-grid"])
def test_other_structures(device: Any, accel: str) -> None:
    scene = stage()
    renderer = Renderer(scene, device=device, accel=accel, **OPTIONS)
    renderer.render(**SHOWN)
    for name in ("a transformation, written into", "vertices, written into", "colours", "a colour", "texels"):
        EDITS[name][0](scene)
        renderer.update(scene=scene)
        np.testing.assert_array_equal(renderer.render(**SHOWN).linear, anew(scene, renderer), name)
    renderer.release()


def test_an_edit_waits_for_its_update(device: Any) -> None:
    """Whatever else is done meanwhile: scenes on show are values."""
    scene = stage()
    renderer = Renderer(scene, device=device, **OPTIONS)
    before = renderer.render(**SHOWN).linear
    scene.materials[1].base_color = (0.1, 0.7, 0.2, 1.0)
    scene.instances[1].transform[0, 3] = 0.4
    scene.textures[0].transform[0, 2] = 0.5
    scene.lights.clear()
    renderer.update(environment="none")
    renderer.update(environment=OPTIONS["environment"])
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, before)
    renderer.update(scene=scene)
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, anew(scene, renderer))
    renderer.release()


def test_a_deforming_mesh_is_edited(device: Any) -> None:
    scene = stage()
    first = Renderer(scene, device=device, accel="two-level-bvh", **OPTIONS)
    first.deform(1, scene.meshes[1].positions + np.float32([0.0, 0.2, 0.0]))
    scene = first.scene
    renderer = Renderer(scene, first.settings, device=device)
    before = renderer.render(**SHOWN).linear
    structure, mesh = renderer.prepared.structure, scene.meshes[1]
    mesh.pose.positions[:, 0] -= 0.3  # type: ignore[attr-defined]
    renderer.update(scene=scene)
    assert renderer.prepared.structure is structure  # refitted
    after = renderer.render(**SHOWN).linear
    assert not np.array_equal(after, before)
    np.testing.assert_array_equal(after, anew(scene, renderer))
    with pytest.raises(ValueError, match="read-only"):
        mesh.positions[0] = 0.0  # computed from the pose
    for each in (first, renderer):
        each.release()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_assign(lambda s: s.materials[1], "kind", "velvet"), "material 'board': unknown kind 'velvet'"),
        (_assign(lambda s: s.materials[1], "base_color", (1.0, 0.0)), "material 'board': base_color"),
        (_assign(lambda s: s.materials[1], "roughness", "rough"), "material 'board': roughness"),
        (_assign(lambda s: s.instances[1], "transform", np.eye(3)), "instance 1 'board': its transform has shape"),
        (_assign(lambda s: s.meshes[1], "positions", np.zeros((3, 3))), "board: triangle 1 names vertices"),
        (_assign(lambda s: s.meshes[1], "normals", np.zeros((3, 3))), r"board: normals have shape \(3, 3\)"),
        (_assign(lambda s: s.textures[0], "wrap", ("repeat", "twice")), "texture 'texture': unknown wrap 'twice'"),
    ],
)
def test_wrong_edits(device: Any, change: Callable[[Scene], None], message: str) -> None:
    scene = stage()
    renderer = Renderer(scene, device=device, **OPTIONS)
    before, prepared = renderer.render(**SHOWN).linear, renderer.prepared
    change(scene)
    with pytest.raises(ViewerError, match=message):
        renderer.update(scene=scene)
    assert renderer.prepared is prepared
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, before)
    renderer.release()


def test_content_of_a_million_triangles_is_compared_fast() -> None:
    """A small part of what a structure over them takes: 15 ms, and 1 s."""
    rng = np.random.default_rng(0)
    positions = rng.random((500_000, 3), np.float32)
    triangles = rng.integers(0, len(positions), (1_000_000, 3), np.int32)
    scene = Scene([Mesh(positions, triangles, normals=positions)], [Instance(0)])
    began = time.perf_counter()
    first = SceneCopy(scene)
    middle = time.perf_counter()
    second = SceneCopy(scene, first)
    ended = time.perf_counter()
    assert second.copy is first.copy
    assert middle - began < 0.5 and ended - middle < 0.5
    began = time.perf_counter()
    moved = SceneCopy(scene.moved(np.array([0]), np.diag([1.0, 2.0, 1.0, 1.0])[None]), second)
    assert time.perf_counter() - began < 0.02  # another scene that shares the arrays
    assert moved.copy.meshes[0] is first.copy.meshes[0]
    positions[-1, -1] += 1e-6
    third = SceneCopy(scene, moved)
    assert third.copy.meshes[0] is not first.copy.meshes[0]
    assert third.copy.meshes[0].triangles is first.copy.meshes[0].triangles


def test_copies_end_with_their_scenes() -> None:
    """A long loop of scenes holds the parts of the last ones alone."""
    copied = SceneCopy(stage())
    for _ in range(5):
        copied = SceneCopy(stage(), copied)
        copied.lend_scene(copied.copy.moved(np.array([0]), np.eye(4)[None]))
    assert len(copied._parts) <= 4 * 12
