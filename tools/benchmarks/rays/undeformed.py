"""Scenes in which nothing deforms: CPU time of pictures, beside the same with all that deformation brings.

The same triangles as plain meshes, with an animation of an object that rests, and as meshes whose vertices follow a
joint that rests, under the same structure. A second renderer of the plain scene tells what turns and noise do. That
sources of plain scenes are the same to the byte is a test's (tests/accel/test_deforming.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.scenes import found
from raystream.renderer.renderer import Renderer
from raystream.scene.animation import Animation, Track
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose
from raystream.scene.geometry.normals import with_normals
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.mesh import Mesh, transforms_of
from raystream.scene.scene import Scene

ABOUT = "scenes without deformation: CPU time beside the same with animations, and as deforming meshes at rest"

PAIRS, SIZE, SCENES = 201, (128, 128), ("cornell", "bunny")
PLAIN, AGAIN, RESTS, DEFORMS = "plain", "plain again", "with an animation at rest", "as deforming meshes at rest"


def run(options: Options) -> Result:
    """Measure every form of each scene in turn."""
    device = options.open()
    pairs, size = (2, (32, 32)) if options.quick else (PAIRS, SIZE)
    data: dict[str, Any] = {"facts": facts(device), "pairs": pairs, "size": size, "scenes": {}}
    views, data["missing"] = found(SCENES)
    rows = []
    for view in views:
        name, scene = view.name, raystream.load(view.source)
        say(f"undeformed: {name}")
        forms = {PLAIN: scene, AGAIN: scene, RESTS: _resting(scene), DEFORMS: _following(scene)}
        chosen: dict[str, Any] = {"accel": "two-level-bvh", "program": "path", "depth": 2, "environment": "sky"}
        chosen["camera"] = view.camera
        renderers = {form: Renderer(each, device=device, **chosen) for form, each in forms.items()}
        cases = {form: partial(each.render, size, spp=1) for form, each in renderers.items()}
        timings = interleave(cases, pairs)
        data["scenes"][name] = {}
        for form, timing in timings.items():
            ratios = np.divide(timing.cpu, timings[PLAIN].cpu)
            low, middle, high = np.percentile(ratios, (25, 50, 75)).tolist()
            data["scenes"][name][form] = {**timing.to_json(), "cpu_ratio": middle, "cpu_ratio_quartiles": [low, high]}
            rows.append((name, form, timing.to_json()["cpu_ms"], middle, low, high))
        for each in renderers.values():
            each.release()
    note = f"Path traced, {size[0]} x {size[1]}, one sample of every pixel; {pairs} pictures of each, in turn."
    columns = ("scene", "form", "CPU ms", "of plain, median", "lower quartile", "upper quartile")
    return Result(data, [Table("scenes without deformation", columns, rows, note)])


def _resting(scene: Scene) -> Scene:
    """With an animation of its first object's node, which stays where it is."""
    nodes = Hierarchy.of([-1], np.zeros((1, 3)), instance_nodes=[0, *[-1] * (len(scene.instances) - 1)])
    track = Track(0, "translation", np.array([0.0, 1.0]), np.zeros((2, 3)))
    resting = replace(scene, hierarchy=replace(nodes, offsets=transforms_of(scene.instances)))
    resting.animations = [Animation("rest", (track,))]
    return resting.posed(0.5)


def _following(scene: Scene) -> Scene:
    """With meshes of which every vertex follows a joint."""
    return scene.with_parts(meshes=[_skinned(mesh) for mesh in scene.meshes])


def _skinned(mesh: Mesh) -> DeformedMesh:
    mesh = with_normals(mesh)
    joints, weights = np.zeros((len(mesh.positions), 1), np.int32), np.ones((len(mesh.positions), 1), np.float32)
    return DeformedMesh(mesh, Deformation(joints, weights), MeshPose(joints=np.eye(4)[None]))
