"""Where poses meet what else changes, and what a picture of another pose costs the host."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
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
from raystream.accel.deform import DeformedBounds, merge_ranges, posed_bounds
from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.base.interrupts import UNWAITED
from raystream.film.error import Stop
from raystream.kernels.records import VERTEX
from raystream.renderer.device.deformer import GpuDeformer
from raystream.renderer.inputs import prepared as preparing
from raystream.renderer.inputs.prepared import PreparedScene, prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import gbuffer
from raystream.renderer.preview.gbuffer import GBuffer
from raystream.renderer.session.session import Session
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget, with_vertices
from raystream.scene.exposure import exposed
from raystream.scene.hierarchy import compose
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.declare.kernel import Table
from raystream.stream.gl.resources import Arena
from raystream.stream.gl.stream import Stream
from raystream.stream.raster import InstancedMeshes, MeshGroups, RasterMesh
from raystream.viewport.picture_texture import PictureTexture

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


def character() -> Scene:
    """Of several meshes."""
    return deforming.scene(*(deforming.skinned_tube(joints=3, influences=2) for _ in range(4)))


def drawn(device: Any, scene: Scene) -> tuple[Renderer, GBuffer]:
    """A renderer whose scene is drawn."""
    renderer = Renderer(scene, device=device, program="path", machine="singlepass", environment="sky")
    buffer = GBuffer(renderer)
    buffer.window_pixels = 1 << 22
    with device.current():
        assert not buffer.chosen() and buffer.chosen()
    return renderer, buffer


def calls_of(patch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """The arguments of each call from now on."""
    found: list[tuple[Any, ...]] = []
    call: Callable[..., Any] = getattr(owner, name)
    patch.setattr(owner, name, lambda *given, **named: (found.append(given), call(*given, **named))[1])
    return found


def test_joints_of_all_meshes_are_one_upload(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    base = character()
    renderer = Renderer(base, device=device, program="cast")
    renderer.render((8, 8))
    uploads = calls_of(monkeypatch, Arena, "update")
    renderer.update(deforming.posed(base, 1))
    (rows,) = [given[2:] for given in uploads if given[1].name == "joints"]
    assert rows == (0, 12)


def test_ranges_of_rows_are_joined() -> None:
    one, other = (Table(name, VERTEX, np.zeros(9, VERTEX.dtype)) for name in ("one", "other"))
    rows = [(one, 4, 6), (other, 0, 1), (one, 0, 2), (other, 3, 5), (one, 2, 3), (one, 5, 8), (other, 1, 2)]
    assert merge_ranges(rows) == [(one, 0, 3), (one, 4, 8), (other, 0, 2), (other, 3, 5)]
    assert merge_ranges([]) == []


def test_a_pose_makes_neither_looks_nor_sources(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    base = character()
    renderer, buffer = drawn(device, base)
    made = [calls_of(monkeypatch, preparing, "surface_features")]
    made += [calls_of(monkeypatch, gbuffer, name) for name in ("_source", "_modules", "raster_meshes")]
    taken = calls_of(monkeypatch, InstancedMeshes, "_copy_positions")
    for seed in (1, 2):
        renderer.update(deforming.posed(base, seed))
        with device.current():
            assert buffer.chosen()
    assert made == [[], [], [], []]
    assert len(taken) == 2, "meshes that lie side by side are read at once"
    buffer.release()


@pytest.mark.parametrize("change", ["materials", "shaders"])
def test_other_looks_and_shaders_are_made_anew(device: Any, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    base = deforming.posed(character(), 1)
    renderer, buffer = drawn(device, base)
    before, shared = buffer._raster, renderer.prepared.shared
    sources = calls_of(monkeypatch, gbuffer, "_source")
    if change == "materials":
        masked = replace(base.materials[0], alpha_mode="mask", alpha_cutoff=0.5)
        base = base.with_parts(materials=[masked, base.materials[1]])
        renderer.update(base)
        assert renderer.prepared.surfaces.alpha and renderer.prepared.shared is not shared
    else:
        renderer.reload()
    renderer.update(deforming.posed(base, 2))
    with device.current():
        buffer.chosen()
        assert buffer.chosen()
    assert buffer._raster is not before and sources
    buffer.release()


def test_volumes_are_looked_at_in_each_pose(device: Any) -> None:
    """Whether something reaches into a volume follows from where it is."""
    tube = deforming.skinned_tube(joints=1, influences=1)
    base = deforming.scene(tube)
    glass = Material("glass", (1.0, 1.0, 1.0, 1.0), kind="principled", transmission=1.0, thickness=1.0)
    base = base.with_parts(materials=[glass, *base.materials[1:]])
    away, inside = (np.eye(4)[None].copy() for _ in range(2))
    away[0, 1, 3] = 50.0
    renderer = Renderer(base.deformed({1: MeshPose(away)}), device=device, program="path")
    assert renderer.prepared.absorbing and not renderer.prepared.nested
    inside[0, 1, 3] = -2.0
    renderer.update(base.deformed({1: MeshPose(inside)}))
    assert renderer.prepared.nested


def test_positions_are_taken_of_any_meshes(device: Any) -> None:
    """Of those that follow each other in both places at once, of others one by one; the rest stays."""
    rng = np.random.default_rng(3)
    sizes, width = (5, 7, 4, 9), 8
    made = [
        RasterMesh(rng.normal(size=(n, 3)).astype(np.float32), np.array([[0, 1, 2]], np.int32), np.zeros(1, np.uint8))
        for n in sizes
    ]
    records = np.zeros((6, width), VERTEX.dtype)
    records["position"] = rng.normal(size=(6, width, 3))
    points = records["position"].reshape(-1, 3)
    with device.current():
        stream = Stream(device, VERTEX, (width, 6))
        stream.write(records)
        for numbers, firsts in (
            ((0, 1), (3, 8)),
            ((0, 1), (8, 3)),
            ((1, 3), (0, 7)),
            ((1, 3), (0, 11)),
            ((3,), (30,)),
            ((), ()),
        ):
            meshes = InstancedMeshes(device, MeshGroups(made))
            expected = [mesh.positions.copy() for mesh in made]
            for number, first in zip(numbers, firsts, strict=True):
                expected[number] = points[first : first + sizes[number]]
            meshes.write_positions(np.array(numbers, np.int64), stream, np.array(firsts, np.int64))
            found = np.frombuffer(meshes._buffers["position"][0].read(), np.float32).reshape(-1, 3)
            assert np.array_equal(found, np.concatenate(expected))
            meshes.release()
        stream.release()


def test_boxes_of_many_are_those_of_each() -> None:
    """With joints and without, of targets, of vertices that follow no joint, and of poses that are not finite."""
    skinned = deforming.skinned_tube(joints=4, influences=3, morphs=2)
    weights = skinned.deformation.weights.copy()
    weights[0] = 0.0  # which the origin then is among
    loose = Deformation(skinned.deformation.joints, weights)
    free = DeformedMesh(skinned.rest, loose, MeshPose(skinned.pose.joints))
    meshes = [skinned, deforming.faceted_ball(), free, skinned, deforming.skinned_tube(joints=2, influences=1)]
    poses = [deforming.random_pose(mesh, seed) for seed, mesh in enumerate(meshes)]
    poses[2].joints[:, :3, 3] += 9.0
    poses[3] = MeshPose(np.full((4, 4, 4), np.nan), np.zeros(2))
    covers = [DeformedBounds(mesh, 2.0**-number) for number, mesh in enumerate(meshes)]
    found = posed_bounds(covers, poses)
    assert all(
        np.array_equal(box, posed_bounds([cover], [pose])[0])
        for box, cover, pose in zip(found, covers, poses, strict=True)
    )
    assert (found[3] == 0.0).all()
    for box, mesh, pose, number in zip(found, meshes, poses, range(len(meshes)), strict=True):
        points = mesh.posed(pose).positions * 2.0**-number
        points = points[np.isfinite(points).all(axis=1)]
        assert (points >= box[0]).all() and (points <= box[1]).all()
    assert (found[2][0] <= 0.0).all() and (found[2][1] >= 0.0).all()


def test_given_vertices_that_are_nowhere() -> None:
    """A vertex that is not finite is left out of the boxes, a normal without a direction is that at rest."""
    tube = deforming.tube()
    points, normals = tube.positions + 1.0, np.array(tube.normals) * 3.0
    points[3], normals[3:6] = (np.nan, np.inf, 0.0), ((0.0, 0.0, 0.0), (np.nan, 0.0, 1.0), (np.inf, 0.0, 0.0))
    given = with_vertices(tube, points, normals)
    whole = np.delete(points, 3, axis=0).astype(np.float64)
    ((low, high),) = posed_bounds([DeformedBounds(given, 0.5)], [given.pose])
    assert np.abs(low - 0.5 * whole.min(axis=0)).max() < 1e-5 and (low <= 0.5 * whole.min(axis=0)).all()
    assert np.abs(high - 0.5 * whole.max(axis=0)).max() < 1e-5 and (high >= 0.5 * whole.max(axis=0)).all()
    assert given.pose.normals is not None and np.abs(given.pose.normals - tube.normals).max() < 1e-6


def test_a_frame_begins_in_its_pose(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Poses take the same time for a picture of any size: it is not the frame's, by which its size is chosen."""
    base = character()
    renderer = Renderer(base, device=device, program="path", machine="singlepass", environment="sky")
    with device.current():
        session = Session(renderer, (40, 30), Stop(1), screen=PictureTexture(device))
        session.finish()
        refits, steps = calls_of(monkeypatch, GpuDeformer, "refit"), []
        step = Session._step
        monkeypatch.setattr(Session, "_step", lambda run: (steps.append(len(refits)), step(run))[1])
        for seed in (1, 2, 3):
            session.update(deforming.posed(base, seed))
            before, pictures = len(steps), session.pictures
            while session.pictures == pictures:
                session.advance(0.0, moving=True)
            assert steps[before:] and set(steps[before:]) == {seed} and len(refits) == seed
        session.release()
