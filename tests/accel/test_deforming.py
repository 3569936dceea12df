"""Poses on the device: vertices against their twin in float64, boxes against the builder's, hits, and costs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import deforming
import meshes
import numpy as np
import pytest
from numpy.typing import NDArray
from test_two_level import assert_as_flat

from raystream import Renderer, Scene
from raystream.accel import bvh_tree
from raystream.accel import deform as deforming_module
from raystream.accel.bvh_build import Bvh
from raystream.base.errors import ViewerError
from raystream.film.device_film import Buffer
from raystream.formats import load
from raystream.kernels.records import FEATURES
from raystream.renderer.preview.gbuffer import GBuffer, GBufferTracer
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.sampling.ray_queries import Hits
from raystream.scene.deform import DeformedMesh, MeshPose, with_vertices
from raystream.scene.geometry.normals import with_normals
from raystream.scene.hierarchy import compose
from raystream.scene.mesh import Instance, Mesh
from raystream.stream.declare.kernel import Table
from raystream.stream.gl.memory import BufferTexture
from tests.held import HELD, run_held

LAYERS = ("depth", "normal", "triangle", "instance")


def complex_scene() -> Scene:
    """All that can deform at once."""
    skinned = deforming.skinned_tube(influences=9, morphs=3, looks=True)
    return deforming.scene(skinned, deforming.faceted_ball(), deforming.skinned_tube(joints=2, influences=1))


# Of a mesh's size: sums of a few products in float32 are off by some 2^-23 of their terms.
CLOSE = 1e-5

MEMORIES = ("auto", "texture")  # buffer textures, and 2-D ones


def rows(renderer: Renderer, name: str) -> NDArray:
    """What is on the device of a table."""
    memories = [m for module in renderer.prepared.made() for m in module.memories]
    table = next(m for m in memories if isinstance(m, Table) and m.name == name)
    texture, _row, first = renderer.gpu_scene.resources.location(table)
    count = len(table.data) * table.record.texels
    with renderer.device.current():
        if isinstance(texture, BufferTexture):
            read = texture.buffer.read(16 * count, offset=16 * first)
            texels = np.frombuffer(read, np.float32).reshape(-1, 4)
        else:
            target = renderer.device.context.framebuffer([texture])
            texels = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(-1, 4)
            texels = texels[first : first + count]
    return table.record.unpack(texels.reshape(-1, table.record.texels, 4))


def settled(renderer: Renderer, scene: Scene) -> None:
    """Show a scene and have the device pose it."""
    renderer.update(scene)
    with renderer.device.current():
        renderer.gpu_scene.resources.update_computed_tables()


def deformed(renderer: Renderer) -> list[DeformedMesh]:
    """The deforming meshes in the order of their objects."""
    found = renderer.prepared.structure.deforming
    assert found is not None
    return found.poses.meshes


def assert_directions(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> None:
    """Blends of maps that turn in all directions may nearly lose a dimension, and few vectors the digits of it."""
    apart = np.abs(found - wanted).max(axis=1)
    assert np.quantile(apart, 0.99) < CLOSE and apart.max() < 1e-3


@pytest.mark.parametrize("memory", MEMORIES)
def test_vertices_are_those_of_the_reference(device: object, memory: str) -> None:
    """Positions, normals, colours and texture coordinates of many influences, morph targets and faceted meshes."""
    base = complex_scene()
    renderer = Renderer(base, program="cast", memory=memory)
    assert renderer.prepared.structure.name == "two-level-bvh"
    for seed in range(20 if memory == "auto" else 2):
        settled(renderer, deforming.posed(base, 10 * seed))
        found, first = rows(renderer, "vertices"), 0
        for mesh, scale in zip(deformed(renderer), renderer.prepared.structure.built.objects.scales, strict=False):
            assert "_posed" not in vars(mesh)  # the host has not computed them
            own = found[first : first + len(mesh.rest.positions)]
            size = np.abs(mesh.positions).max()
            assert np.abs(own["position"] / scale - mesh.positions).max() < CLOSE * size
            assert_directions(own["normal"], mesh.normals)
            for name, reference in (("color", mesh.colors), ("uv", mesh.uvs)):
                if reference is not None:
                    assert np.abs(own[name] - reference[:, : own[name].shape[1]]).max() < CLOSE
            first += len(own)


def test_tangents_follow_too(device: object) -> None:
    """With what else only detailed materials read."""
    base = deforming.scene(deforming.skinned_tube(morphs=2, looks=True), deforming.faceted_ball())
    base = deforming.with_normal_map(base)
    renderer = Renderer(base, program="path")
    for seed in range(5):
        settled(renderer, deforming.posed(base, 10 * seed))
        mesh = deformed(renderer)[0]
        own = rows(renderer, "tangents")[: len(mesh.rest.positions)]
        assert_directions(own["tangent"], mesh.tangents)
        assert np.abs(own["uv_1"][:, :2] - mesh.uvs_1).max() < CLOSE
        assert np.abs(own["opacity"] - mesh.colors[:, 3]).max() < CLOSE


def boxes_of(bvh: Bvh, corners: NDArray[np.float32]) -> tuple[NDArray, NDArray]:
    """Boxes (N, 3) twice of a tree's nodes over triangles in its order, those of the builder."""
    low, high = np.empty((len(bvh.low), 3), np.float32), np.empty((len(bvh.low), 3), np.float32)
    for node in reversed(range(len(bvh.low))):
        if bvh.second[node] < 0:
            own = corners[bvh.first[node] : bvh.first[node] + bvh.count[node]].reshape(-1, 3)
            low[node], high[node] = own.min(axis=0), own.max(axis=0)
        else:
            children = [node + 1, bvh.second[node]]
            low[node], high[node] = low[children].min(axis=0), high[children].max(axis=0)
    return bvh_tree.enlarged(low, high)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("traversal", ["stack", "octants"])
def test_boxes_are_those_of_the_builder(
    device: object, traversal: str, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each node, over the triangles that the device has written."""
    built: list[Bvh] = []
    make = bvh_tree.module
    monkeypatch.setattr(bvh_tree, "module", lambda bvhs, which: built.extend(bvhs) or make(bvhs, which))
    base = complex_scene()
    renderer = Renderer(base, program="cast", traversal=traversal, memory=memory)
    renderer.render((8, 8))
    settled(renderer, deforming.posed(base, 3))
    triangles = rows(renderer, "triangles")
    corners = np.stack([triangles[name] for name in "abc"], axis=1)
    table, first, at = rows(renderer, "bvh_pairs" if traversal == "stack" else "bvh_nodes"), 0, 0
    for bvh in built[: len(deformed(renderer))]:
        low, high = boxes_of(bvh, corners[first : first + len(bvh.order)])
        if traversal == "stack":
            inner = np.flatnonzero(bvh.second >= 0)
            own = table[at : at + len(inner)]
            for column, child in enumerate((inner + 1, bvh.second[inner])):
                for axis, name in enumerate("xyz"):
                    assert_rounded(own[name][:, column], low[child, axis])
                    assert_rounded(own[name][:, 2 + column], high[child, axis])
        else:
            own = table[at : at + len(bvh.low)]
            assert_rounded(own["low"], low)
            assert_rounded(own["high"], high)
        first, at = first + len(bvh.order), at + len(own)


def assert_rounded(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> None:
    """Equal but for a last place, which widening rounds by."""
    assert (np.abs(found - wanted) <= np.spacing(np.abs(wanted)) + np.float32(1e-15)).all()


def same_hits(one: Hits, other: Hits) -> None:
    """But for ties: which of two triangles at one distance is met."""
    equal = one.triangle == other.triangle
    assert equal.mean() > 0.999
    hit = np.isfinite(other.distance)
    assert (np.isfinite(one.distance) == hit).all()
    assert np.abs(one.distance[hit] - other.distance[hit]).max(initial=0) < 1e-5


def test_hits_are_those_of_a_fresh_build(device: object) -> None:
    """And those of Embree over the posed triangles."""
    base = complex_scene()
    renderer = Renderer(base, program="cast", camera=base.camera())
    for seed in (1, 2, 3):
        scene = deforming.posed(base, 10 * seed)
        renderer.update(scene)
        picture = renderer.render((64, 64), layers=LAYERS)
        fresh = Renderer(scene, program="cast", camera=renderer.camera)
        other = fresh.render((64, 64), layers=LAYERS)
        for name in LAYERS:
            assert picture.layers[name].tobytes() == other.layers[name].tobytes(), name
        assert (picture.layers["triangle"] >= 0).mean() > 0.05
        rays = np.random.default_rng(seed)
        origins = rays.uniform(-5, 5, (4000, 3))
        directions = rays.uniform(-2, 2, (4000, 3)) - origins
        same_hits(renderer.trace(origins, directions), fresh.trace(origins, directions))
        assert_as_flat(scene, renderer, 8000)
        fresh.release()


def test_machines_and_traversals_find_the_same_bits(device: object) -> None:
    base = complex_scene()
    scene = deforming.posed(base, 7)
    pictures = []
    ways: list[dict[str, Any]] = [{}, {"machine": "singlepass"}, {"fuse": "none"}, {"traversal": "escape"}]
    for options in (*ways, {"memory": "texture"}, {"barrier": "off"}):
        renderer = Renderer(base, program="cast", camera=base.camera(), **options)
        renderer.render((8, 8))
        renderer.update(scene)
        pictures.append(renderer.render((48, 48), layers=LAYERS))
        renderer.release()
    for picture in pictures[1:]:
        for name in LAYERS:
            assert picture.layers[name].tobytes() == pictures[0].layers[name].tobytes(), name


@pytest.mark.parametrize("test", ["watertight", "moller-trumbore"])
@pytest.mark.parametrize("broken", [np.inf, -np.inf, np.nan, 1e30])
def test_a_pose_that_explodes_is_not_hit(device: object, broken: float, test: str) -> None:
    """Triangles with a corner that is not finite have no box; the others stay, and the next pose is whole again."""
    base = complex_scene()
    renderer = Renderer(base, program="cast", camera=base.camera(), intersection=test)
    whole = renderer.render((48, 48), layers=LAYERS)
    poses = {}
    for number in (1, 3):  # of many joints to a vertex, and of one
        pose = deforming.random_pose(base.meshes[number], 5)
        joints = np.stack([pose.joints[0], np.diag([broken, broken, broken, 1.0]), *pose.joints[2:]])
        poses[number] = MeshPose(joints, pose.weights)
    scene = base.deformed(poses)
    renderer.update(scene)
    picture = renderer.render((48, 48), layers=LAYERS)
    assert np.isfinite(picture.linear).all()
    fresh = Renderer(scene, program="cast", camera=base.camera(), intersection=test)
    assert fresh.render((48, 48), layers=LAYERS).layers["triangle"].tobytes() == picture.layers["triangle"].tobytes()
    assert (picture.layers["triangle"] >= 0).any()
    for number, place in ((1, 1), (3, 4)):
        corners = scene.meshes[number].positions[scene.meshes[number].triangles]
        lost = ~np.isfinite(corners).all(axis=(1, 2)) | (np.abs(np.nan_to_num(corners)) > 1e18).any(axis=(1, 2))
        assert lost.any()
        hit = picture.layers["instance"] == place
        assert not lost[picture.layers["triangle"][hit] - renderer.prepared.starts[place]].any()
    renderer.update(base)
    assert renderer.render((48, 48), layers=LAYERS).layers["depth"].tobytes() == whole.layers["depth"].tobytes()


def test_boxes_without_vertices_hold_them_all(device: object) -> None:
    base = complex_scene()
    renderer = Renderer(base, program="cast")
    for seed in range(10):
        scene = deforming.posed(base, seed)
        renderer.update(scene)
        two = renderer.prepared.structure.built
        for place, instance in enumerate(scene.instances):
            mesh = scene.meshes[instance.mesh]
            linear, move = instance.transform[:3, :3], instance.transform[:3, 3]
            points = mesh.positions.astype(np.float64) @ linear.T + move
            assert (points >= two.low[place]).all() and (points <= two.high[place]).all()
            if isinstance(mesh, DeformedMesh):  # and are no larger than a few times their content
                assert (two.high[place] - two.low[place]).max() < 6 * np.ptp(points, axis=0).max()


def test_any_mesh_takes_vertices(device: object) -> None:
    """Its own, or as they were before some were split for their normals; without normals they are smooth again."""
    made = meshes.box()
    scene = Scene([Mesh(made.points, made.faces, name="box")], [Instance(0)])
    renderer = Renderer(scene, program="cast", camera=scene.camera())
    before = renderer.render((48, 48), layers=LAYERS)
    renderer.deform(0, made.points)  # of edges that split its vertices
    assert renderer.prepared.structure.name == "two-level-bvh"
    structure = renderer.prepared.structure
    same = renderer.render((48, 48), layers=LAYERS)
    assert same.layers["triangle"].tobytes() == before.layers["triangle"].tobytes()
    assert np.abs(same.layers["normal"] - before.layers["normal"]).max() < CLOSE
    bent = made.points * (1.2, 1.0, 0.8) + np.sin(made.points[:, ::-1])
    renderer.deform(0, bent)
    assert renderer.prepared.structure is structure
    moved = renderer.render((48, 48), layers=LAYERS)
    fresh = Renderer(Scene([Mesh(bent, made.faces)], [Instance(0)]), program="cast", accel="bvh", camera=scene.camera())
    wanted = fresh.render((48, 48), layers=LAYERS)
    assert (moved.layers["triangle"] == wanted.layers["triangle"]).mean() > 0.999
    hit = (moved.layers["triangle"] == wanted.layers["triangle"]) & (wanted.layers["triangle"] >= 0)
    assert np.abs(moved.layers["depth"][hit] - wanted.layers["depth"][hit]).max() < CLOSE
    for mesh, positions, word in ((1, bent, "no mesh 1"), (0, bent[1:], "shape"), (0, "x", "numbers")):
        with pytest.raises(ViewerError, match=word):
            renderer.deform(mesh, positions)


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_rays_that_no_picture_precedes_see_the_pose(device: object, machine: str) -> None:
    corners = np.float32([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    renderer = Renderer(Scene.from_triangles(corners, [[0, 1, 2]]), accel="two-level-bvh", machine=machine)
    for height in (0.0, 0.5, 1.5):
        renderer.deform(0, corners + np.float32([0, 0, height]))
        assert renderer.trace([[0, 0, 3]], [[0, 0, -1]]).distance == 3 - height
    renderer.release()


def test_smooth_normals_are_those_of_smooth_meshes() -> None:
    """At rest they are what a mesh without normals gets, and they turn with it."""
    ball = meshes.icosphere(3)
    mesh = Mesh(ball.points, ball.faces)
    turn = compose([[0, 0, 0]], [[0.3, 0.2, 0.1, 0.9]], [[1, 1, 1]])[0][:3, :3]
    for matrix in (np.eye(3), turn):
        found = with_vertices(mesh, ball.points @ matrix.T)
        assert np.abs(found.normals - with_normals(mesh).normals @ matrix.T).max() < CLOSE


def test_light_comes_from_where_the_emitter_is(device: object) -> None:
    """The list of lights follows; of meshes that emit alone are the vertices computed on the host."""
    base = deforming.scene(deforming.skinned_tube(joints=2, influences=2), deforming.faceted_ball())
    shines = replace(base.materials[0], emission=(3.0, 2.0, 1.0))
    base = base.with_parts(materials=[shines, base.materials[1]])
    scene = deforming.posed(base, 4)
    options = {"program": "path", "environment": "none", "camera": base.camera()}
    renderer = Renderer(base, **options)
    renderer.render((24, 24), spp=1)
    renderer.update(scene)
    fresh = Renderer(scene, **options)
    assert renderer.render((24, 24), spp=2).linear.tobytes() == fresh.render((24, 24), spp=2).linear.tobytes()


def test_trees_that_have_grown_dear_are_built_anew(device: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the background, and swapped between two pictures: the hits are the same, and no program is compiled anew."""
    monkeypatch.setattr(deforming_module, "MIN_PAUSE", 0.0)
    base = deforming.scene(deforming.skinned_tube(joints=5, influences=1), deforming.faceted_ball())
    renderer = Renderer(base, program="cast", camera=base.camera())
    renderer.render((48, 48), layers=LAYERS)
    before = renderer.prepared.structure
    scene = deforming.posed(base, 3)
    renderer.update(scene)
    picture = renderer.render((48, 48), layers=LAYERS)
    held = renderer.gpu_scene._rebuilder
    assert held is not None
    held[1].wait()
    compiled = renderer.device.compiled
    renderer.update(deforming.posed(base, 4))
    assert renderer.prepared.structure is not before  # triangles that were neighbours are far apart
    renderer.update(scene)
    again = renderer.render((48, 48), layers=LAYERS)
    for name in LAYERS:
        assert again.layers[name].tobytes() == picture.layers[name].tobytes(), name
    assert renderer.device.compiled == compiled
    wide = Renderer(base, program="cast", camera=base.camera(), rebuild="refit")
    for _ in range(3):
        wide.update(scene)
        wide.update(base)
    assert wide.gpu_scene._rebuilder is None


def test_passes_that_pose_are_counted_among_a_picture_s(device: Any) -> None:
    """Steps of a job, of which there is none where the pose stays."""
    base = complex_scene()
    renderer = Renderer(base, program="cast", camera=base.camera(), rebuild="refit")
    draws = []
    for scene in (base, deforming.posed(base, 1), deforming.posed(base, 1), deforming.posed(base, 2)):
        renderer.update(scene)
        stats = renderer.render((32, 32), stats=True).stats
        assert stats.to_json()["draws"] == stats.draws
        draws.append(stats.draws)
    still = renderer.render((32, 32), stats=True).stats.draws
    # Vertices, triangles, leaves, nodes and the rows of two tables at least; the first fills tables besides.
    assert len(set(draws[1:])) == 1 and draws[0] >= draws[1] >= still + 6


def test_a_film_in_a_loop_takes_no_more_memory(device: Any) -> None:
    """No texture, table or program more than after the first poses."""
    base = complex_scene()
    renderer = Renderer(base, program="cast", camera=base.camera(), rebuild="refit")
    moments = [deforming.posed(base, 10 * seed) for seed in range(3)]

    def play() -> tuple[object, ...]:
        for scene in moments:
            renderer.update(scene)
            renderer.render((32, 32))
        deformer = renderer.gpu_scene.deformer
        assert deformer is not None
        streams = sorted((name, stream.bytes) for name, stream in deformer.streams.items())
        return (
            renderer.gpu_scene.resources.bytes(),
            streams,
            device.compiled,
            len(renderer.gpu_scene.resources.arena.tables()),
        )

    first = play()
    for _ in range(3):
        assert play() == first
    held = []
    for _ in range(3):  # other scenes take their tables along
        renderer.update(deforming.scene(deforming.skinned_tube()))
        renderer.render((32, 32))
        renderer.update(base)
        renderer.render((32, 32))
        held.append((renderer.gpu_scene.resources.bytes(), len(renderer.gpu_scene.resources.arena.tables())))
    assert held[1:] == held[:-1]


@pytest.mark.parametrize("accel", ["bvh", "grid", "two-level-grid"])
def test_other_structures_are_built_for_each_pose(device: object, accel: str) -> None:
    base = complex_scene()
    renderer = Renderer(base, program="cast", camera=base.camera(), accel=accel)
    renderer.render((8, 8))
    scene = deforming.posed(base, 7)
    renderer.update(scene)
    picture = renderer.render((48, 48), layers=LAYERS)
    fresh = Renderer(scene, program="cast", camera=base.camera(), accel=accel).render((48, 48), layers=LAYERS)
    assert picture.layers["triangle"].tobytes() == fresh.layers["triangle"].tobytes()
    refitted = Renderer(base, program="cast", camera=base.camera())
    refitted.update(scene)
    other = refitted.render((48, 48), layers=LAYERS)
    assert (picture.layers["triangle"] == other.layers["triangle"]).mean() > 0.995  # posed on the host, rounded once


def test_poses_on_opengl_33(device: Any) -> None:
    """Without a texture barrier, without buffer textures' extensions: the tests of vertices, boxes and hits."""
    run_held(device, [__file__], "reference or (builder and stack) or fresh or held", "--golden", "off")


@pytest.mark.skipif(not os.environ.get(HELD), reason="run by test_poses_on_opengl_33, in a process of its own")
def test_the_driver_is_held(device: Any) -> None:
    assert device.context.version_code == 330 and device.texture_barrier is None


def test_what_is_drawn_is_in_its_pose(device: Any) -> None:
    """The rasteriser's features of moving pictures, from vertices that stay on the device; none of a pose that is not
    finite."""
    base = complex_scene()
    renderer = Renderer(base, device=device, program="path", machine="singlepass", environment="sky")
    gbuffer = GBuffer(renderer)
    gbuffer.window_pixels = 1 << 22
    assert gbuffer.suits
    size, settings = (96, 72), of_motion(renderer.settings)
    for seed in (1, 2, 3):
        scene = deforming.posed(base, 10 * seed)
        renderer.update(scene)
        with device.current():
            assert gbuffer.chosen() == (seed > 1)  # buffers are made where a scene stays, or moves in its pose
            if seed == 1:
                assert gbuffer.chosen()
            drawn, cast = Buffer(device, FEATURES, size), Buffer(device, FEATURES, size)
            gbuffer.draw(drawn, renderer.camera)
        for _ in GBufferTracer(renderer).fill(cast, 1, renderer.camera, 1e9, settings):
            pass
        assert not any("_posed" in vars(mesh) for mesh in scene.meshes)
        with device.current():
            one, other = (each.blocks[0].stream.read() for each in (drawn, cast))
        same = (one["triangle"] == other["triangle"]) & (one["instance"] == other["instance"])
        assert same.mean() > 0.99 and (other["triangle"] >= 0).mean() > 0.05  # but for silhouettes
        assert np.abs(one["depth"] - other["depth"])[same].max() < 1e-3
        assert np.abs(one["normal"] - other["normal"])[same].max() < 1e-2
    joints = np.full((5, 4, 4), np.inf)
    renderer.update(base.deformed({1: MeshPose(joints, np.zeros(3))}))
    assert not gbuffer.suits
    gbuffer.release()


RAYS, MOMENTS = 3000, 4


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("model", "animation", "deforms"),
    [
        ("RiggedSimple", 0, True),
        ("MorphStressTest", "all", True),
        pytest.param("AnimatedMorphCube", 0, True, marks=SLOW),
        pytest.param("BrainStem", 0, True, marks=SLOW),
        pytest.param("BoxAnimated", 0, False, marks=SLOW),
        pytest.param("InterpolationTest", "all", False, marks=SLOW),
    ],
)
def test_hits_of_models_in_motion(
    device: Any, shared_scenes: Path, model: str, animation: int | str, deforms: bool
) -> None:
    scene = load(shared_scenes / "models" / f"{model}.glb")
    scene.play(animation)
    camera, (low, high) = scene.camera(), scene.bounds()
    renderer, rng = Renderer(scene, program="cast", camera=camera), np.random.default_rng(1)
    assert (renderer.prepared.structure.deforming is not None) is deforms
    hit = 0
    for seconds in np.linspace(0.0, scene.duration, MOMENTS).tolist():
        renderer.update(moment=seconds)
        fresh = Renderer(scene.posed(seconds), program="cast", camera=camera)
        origins = (low + high) / 2 + rng.normal(size=(RAYS, 3)) * np.linalg.norm(high - low)
        directions = low + rng.random((RAYS, 3)) * (high - low) - origins
        found, wanted = (each.trace(origins, directions) for each in (renderer, fresh))
        for name in ("instance", "triangle", "distance"):
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), (seconds, name)
        hit += int((found.triangle >= 0).sum())
        fresh.release()
    assert hit > RAYS
    renderer.release()
