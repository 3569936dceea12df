"""Where poses meet what else changes: exposures, structures prepared before others were built, uploads, shaders."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import deforming
import numpy as np
import pytest
from motion import OPTIONS, SIZE, following
from numpy.typing import NDArray

from raystream import Renderer
from raystream.accel import deform as deforming_module
from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.base.interrupts import UNWAITED
from raystream.renderer.inputs.prepared import PreparedScene, prepare
from raystream.renderer.inputs.settings import Settings
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget, with_vertices
from raystream.scene.exposure import exposed
from raystream.scene.hierarchy import compose
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture

LAYERS = ("depth", "normal", "triangle", "instance")


def pictures(scenes: list[Scene], **options: Any) -> list[bytes]:
    """Of one renderer, scene after scene."""
    renderer = Renderer(scenes[0], **{**OPTIONS, **options})
    found = []
    for scene in scenes:
        renderer.update(scene)
        found.append(renderer.render(SIZE, spp=4).linear.tobytes())
    renderer.release()
    return found


@pytest.mark.parametrize("accel", ["two-level-bvh", "bvh"])
def test_exposures_follow_stills_and_stills_exposures(device: Any, accel: str) -> None:
    """A structure that follows poses has nothing of a mesh that moves while the shutter is open."""
    scene = following()
    still, blurred, other = scene.posed(0.5), exposed(scene, 0.0, 1.0), exposed(scene, 0.0, 0.5)
    fresh = [pictures([each], accel=accel)[0] for each in (still, blurred, other)]
    assert len(set(fresh)) == 3
    order = [0, 1, 0, 2, 1]
    shown = pictures([(still, blurred, other)[k] for k in order], accel=accel)
    assert [fresh.index(each) if each in fresh else -1 for each in shown] == order


def swapped(monkeypatch: pytest.MonkeyPatch) -> tuple[Renderer, Scene, PreparedScene]:
    """A renderer whose trees have been built anew, its scene from before, and that with other colours as it was
    prepared in the meantime."""
    monkeypatch.setattr(deforming_module, "MIN_PAUSE", 0.0)
    base = deforming.scene(deforming.skinned_tube(joints=5, influences=1), deforming.faceted_ball())
    renderer = Renderer(base, program="cast", camera=base.camera())
    renderer.render((48, 48), layers=LAYERS)
    before = renderer.prepared.structure
    renderer.update(deforming.posed(base, 3))
    coming = base.with_parts(materials=[replace(each, base_color=(0.1, 0.2, 0.9, 1.0)) for each in base.materials])
    early = prepare(deforming.posed(coming, 3), renderer.settings, before=renderer.prepared)
    coming = base.with_parts(materials=coming.materials, meshes=renderer.prepared.scene.meshes)
    early = prepare(coming, renderer.settings, before=renderer.prepared)
    assert early.structure is before
    renderer.render((48, 48), layers=LAYERS)
    held = renderer.gpu_scene._rebuilder
    assert held is not None
    held[1].wait()
    renderer.update(deforming.posed(base, 4))
    assert renderer.prepared.structure is not before
    return renderer, coming, early


def test_what_was_prepared_before_other_trees_is_shown_in_its_pose(
    device: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    renderer, coming, early = swapped(monkeypatch)
    renderer.update(early)
    found = renderer.render((48, 48), layers=LAYERS)
    fresh = Renderer(coming, program="cast", camera=renderer.camera).render((48, 48), layers=LAYERS)
    for name in LAYERS:
        assert found.layers[name].tobytes() == fresh.layers[name].tobytes(), name
    assert np.array_equal(found.linear, fresh.linear)


def test_what_is_discarded_takes_nothing_that_is_shown(device: Any) -> None:
    """Tables of a scene that was prepared beside the one on show, which has been changed since."""
    base = deforming.scene(deforming.skinned_tube())
    renderer = Renderer(base, program="cast", camera=base.camera())
    renderer.render((16, 16))
    early = prepare(base.with_parts(name="early"), renderer.settings, before=renderer.prepared)
    changed = base.with_parts(materials=[replace(each, base_color=(0.1, 0.2, 0.9, 1.0)) for each in base.materials])
    renderer.update(changed)
    picture = renderer.render((16, 16)).linear
    renderer.gpu_scene.discard(early)
    assert np.array_equal(renderer.render((16, 16)).linear, picture)
    again = base.with_parts(materials=[replace(each, base_color=(0.9, 0.2, 0.1, 1.0)) for each in base.materials])
    renderer.update(again)
    fresh = Renderer(again, program="cast", camera=renderer.camera).render((16, 16)).linear
    assert np.array_equal(renderer.render((16, 16)).linear, fresh)


def test_an_upload_that_a_picture_overtakes(device: Any) -> None:
    """The picture brings what it needs by itself; poses go on from there."""
    base = deforming.scene(deforming.skinned_tube(), deforming.faceted_ball())
    renderer = Renderer(base, program="cast", camera=base.camera())
    upload = renderer.gpu_scene.upload(renderer.settings)
    with device.current():
        next(upload)
    renderer.render((32, 32), layers=LAYERS)
    with device.current():
        for _ in upload:
            pass
    tables = len(renderer.gpu_scene.resources.arena.tables())
    scene = deforming.posed(base, 3)
    renderer.update(scene)
    found = renderer.render((32, 32), layers=LAYERS)
    fresh = Renderer(base, program="cast", camera=base.camera())
    fresh.update(scene)
    expected = fresh.render((32, 32), layers=LAYERS)
    for name in LAYERS:
        assert found.layers[name].tobytes() == expected.layers[name].tobytes(), name
    assert tables == len(fresh.gpu_scene.resources.arena.tables())


def test_poses_go_on_where_a_shader_does_not_compile_any_more(
    device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shaders = tmp_path / "shaders"
    shutil.copytree(paths.shaders(), shaders)
    monkeypatch.setattr(paths, "shaders", lambda: shaders)
    base = deforming.scene(deforming.skinned_tube(), deforming.faceted_ball())
    renderer = Renderer(base, program="cast", camera=base.camera())
    renderer.render((32, 32))

    def posed() -> bytes:
        renderer.update(base)
        renderer.update(deforming.posed(base, 3))
        return renderer.render((32, 32)).linear.tobytes()

    found, file = posed(), shaders / "deform" / "pose_vertex.glsl"
    good = file.read_text()
    file.write_text(good + "\nno GLSL")
    with pytest.raises(ShaderError):
        renderer.reload()
    assert posed() == found
    file.write_text(good.replace("return Vertex(position,", "return Vertex(position + vec3(0.25, 0.0, 0.0),"))
    renderer.reload()
    assert renderer.render((32, 32)).linear.tobytes() != found
    file.write_text(good)
    renderer.reload()
    assert renderer.render((32, 32)).linear.tobytes() == found


def test_renderers_of_one_preparation_have_poses_of_their_own(device: Any) -> None:
    """What one shows moves nothing that the others show, or that comes later of the same preparation."""
    base = deforming.scene(deforming.skinned_tube(), deforming.faceted_ball())
    moved = base.moved(np.array([0]), compose([[0.0, -1.0, 0.0]], [[0, 0, 0, 1]], [[2.0, 0.2, 2.0]]))
    made = prepare(base, Settings(program="cast"))

    def shown(renderer: Renderer) -> bytes:
        return renderer.render((32, 32)).linear.tobytes()

    def renderer(scene: Scene | PreparedScene) -> Renderer:
        return Renderer(scene, program="cast", camera=base.camera())

    first, second = renderer(made), renderer(made)
    assert first.prepared.structure is second.prepared.structure is made.structure
    rest = shown(second)
    for scene in (deforming.posed(base, 3), moved):
        first.update(scene)
        assert shown(first) == shown(renderer(scene)) != rest
        assert shown(second) == rest
    second.update(deforming.posed(base, 4))  # alone by now, in place
    assert second.prepared.structure is made.structure
    other = renderer(made)
    assert shown(other) == rest
    other.update(made)
    assert shown(other) == rest
    second.update(made)
    assert shown(second) == rest and second.prepared.structure is made.structure


def test_a_texture_slides_over_what_shines(device: Any) -> None:
    """Light is chosen by where it shines in the pose, by the list of lights and where paths find it alike."""
    corners = np.array([[-1, 2, -1], [1, 2, -1], [1, 2, 1], [-1, 2, 1]], np.float32)
    uvs = np.array([[0, 0], [0.5, 0], [0.5, 1], [0, 1]], np.float32)
    lamp = Mesh(corners, [[0, 1, 2], [0, 2, 3]], np.full(2, 2), [[0, -1, 0]] * 4, uvs, name="lamp")
    slid = MorphTarget(uvs=np.tile(np.float32([0.25, 0.0]), (4, 1)))
    own = replace(Deformation.none(4), targets=(slid,))
    texels = np.zeros((2, 16, 4), np.uint8)
    texels[:, :7] = 255
    base = deforming.scene(DeformedMesh(lamp, own, MeshPose(weights=np.zeros(1))))
    glow = Material("glow", emission=(6.0, 5.0, 4.0), emission_texture=0)
    base = base.with_parts(materials=[*base.materials, glow], textures=[Texture(Image(texels))])
    options = {**OPTIONS, "depth": 2, "camera": base.camera()}
    there = base.deformed({1: MeshPose(weights=np.ones(1))})
    renderer = Renderer(base, **options)
    renderer.render(SIZE, spp=4)
    before = renderer.prepared.structure
    renderer.update(there)
    assert renderer.prepared.structure is before
    fresh = Renderer(there, **options)
    assert renderer.render(SIZE, spp=4).linear.tobytes() == fresh.render(SIZE, spp=4).linear.tobytes()


def test_other_trees_keep_the_costs_that_they_are_compared_with() -> None:
    """One that is dear in some pose, whatever the tree, is not built again for every pose like that."""
    base = deforming.scene(deforming.skinned_tube(), deforming.faceted_ball())
    structure = prepare(base).structure
    assert structure.deforming is not None and structure.again is not None
    trees = structure.deforming.bvhs
    other = structure.again(deforming_module.Trees(trees.bvhs, [4 * cost for cost in trees.costs]))
    assert other.deforming is not None
    assert other.deforming.bvhs.costs == [4 * cost for cost in trees.costs]


class Shared:
    """An array of another library, whose memory NumPy may look at."""

    def __init__(self, values: NDArray[np.float32]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.float32]:
        return self.values.copy() if copy else self.values


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.view, Shared, list])
def test_vertices_that_the_caller_changes_later_stay(kind: Any) -> None:
    mesh = deforming.skinned_tube().rest
    own = mesh.positions.copy()
    made = with_vertices(mesh, kind(own))
    before = made.positions.copy()
    own += 1
    fresh = with_vertices(mesh, before)
    assert np.array_equal(made.pose.positions, before) and np.array_equal(fresh.positions, before)


def test_a_process_may_end_while_trees_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where there is no memory for others, those that there are serve on."""
    monkeypatch.setattr(deforming_module, "MIN_PAUSE", 0.0)
    mesh, made = deforming.skinned_tube(joints=5, influences=1), threading.Event()
    structure = prepare(deforming.scene(mesh)).structure
    assert structure.deforming is not None

    def fail(trees: deforming_module.Trees) -> None:
        made.wait(30)
        raise MemoryError

    rebuilder = deforming_module.Rebuilder(structure.deforming.bvhs, np.ones(1), "sah", fail)
    rebuilder.check([mesh.posed(deforming.random_pose(mesh, 4))])
    try:
        assert any(thread.name == UNWAITED for thread in threading.enumerate())
    finally:
        made.set()
        rebuilder.wait()
    assert rebuilder.take_finished() is None
