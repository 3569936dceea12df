"""Deforming meshes: rebuilds of trees, counters, programs and draws."""

from __future__ import annotations

import os
from typing import Any

import deforming
import numpy as np
import pytest
from deforming_scene import LAYERS, complex_scene

from raystream import Renderer, Scene
from raystream.accel import bvh_build
from raystream.accel import deform as deforming_module
from raystream.film.device_film import Buffer
from raystream.kernels.records import FEATURES
from raystream.renderer.preview.gbuffer import GBuffer, GBufferTracer
from raystream.renderer.preview.motion import of_motion
from raystream.scene.deform import MeshPose
from raystream.scene.mesh import Instance, Mesh
from raystream.stream.compile.generate import Form, fragment
from tests.held import HELD, run_held


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


def test_the_expected_cost_is_that_of_the_builder() -> None:
    """Of a tree over the triangles that it was built over; refitted to others it costs no less than theirs."""
    mesh = deforming.skinned_tube()
    corners = mesh.rest.positions[mesh.rest.triangles]
    tree_of_rest = bvh_build.build(corners, leaf=8)
    assert deforming_module.expected_cost(tree_of_rest, corners) == pytest.approx(tree_of_rest.statistics["sah_cost"])
    posed = mesh.posed(deforming.random_pose(mesh, 2))
    other = posed.positions[posed.triangles]
    assert deforming_module.expected_cost(tree_of_rest, other) > bvh_build.build(other, leaf=8).statistics["sah_cost"]


def test_each_pose_builds_where_that_is_asked_for(device: object) -> None:
    base = complex_scene()
    scene = deforming.posed(base, 7)
    built = Renderer(base, program="cast", camera=base.camera(), rebuild="build")
    refit = Renderer(base, program="cast", camera=base.camera())
    pictures = []
    for renderer in (built, refit):
        renderer.render((8, 8))
        before = renderer.prepared.structure
        renderer.update(scene)
        assert (renderer.prepared.structure is before) == (renderer is refit)
        pictures.append(renderer.render((48, 48), layers=LAYERS))
    # The reference poses on the host, rounded once.
    assert (pictures[0].layers["triangle"] == pictures[1].layers["triangle"]).mean() > 0.995


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


def test_the_sources_of_other_scenes_know_nothing_of_it(device: object) -> None:
    """A mesh that deforms is traced by the programs of two levels as they are."""
    mesh = deforming.skinned_tube(morphs=2)
    texts = []
    for shape in (mesh, Mesh(mesh.rest.positions, mesh.rest.triangles, normals=mesh.rest.normals, uvs=mesh.rest.uvs)):
        renderer = Renderer(Scene([shape], [Instance(0)]), program="path", accel="two-level-bvh", environment="sky")
        linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings)
        texts.append(
            [fragment(linked, step, Form(True), renderer.gpu_scene.resources).text for step in linked.steps("ray")]
        )
        renderer.release()
    assert texts[0] == texts[1] and len(texts[0]) > 1


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
    gbuffer.fit(1 << 22)
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
