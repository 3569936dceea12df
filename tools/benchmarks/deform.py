"""Meshes that deform: vertices posed and trees refitted on the device, against builds on the host; pictures while
playing.

Targets are of two quiet cores; CPU time is of all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import viewer
from viewer.accel.bvh import build as bvh_build
from viewer.accel.bvh.tree import MOST_IN_LEAF
from viewer.renderer.renderer import Renderer
from viewer.scene.deform.deformation import Deformation, MeshPose
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.hierarchy import compose
from viewer.scene.instance import Instance
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Scene
from viewer.stream.jobs import Executor, Job

from .common import Options, Result, Table, facts, interleave, say, target_tables
from .scenes import shared

ABOUT = "meshes that deform: posing, refitting against building, pictures while playing"

RUNS, JOINTS, SIZE = 9, 20, (480, 270)
# Rings and sides of tubes, of as many vertices as the models that they are called by, and pictures a second wanted.
TUBES: dict[str, tuple[int, int, float | None]] = {
    "100,000 vertices": (400, 250, None),
    "CesiumMan's size": (82, 40, 20.0),
    "Fox's size": (54, 32, 20.0),
}
FILMED = {"CesiumMan": 20.0, "Fox": 20.0, "BrainStem": 8.0}  # models, and pictures a second wanted
POSING, REFIT = 15.0, 0.2  # milliseconds for 100,000 vertices; of a build


def run(options: Options) -> Result:
    """Tubes that bend, and models that dance."""
    runs = 2 if options.quick else RUNS
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "runs": runs, "missing": [], "scenes": {}, "targets": []}
    for name, (rings, sides, wanted) in TUBES.items():
        if options.quick and wanted is None:
            continue
        say(f"deform: {name}")
        scene = Scene([_tube(rings, sides)], [Instance(0)], name=name)
        poses = [scene.deformed({0: MeshPose(_joints(0.1 * k))}) for k in range(1, 9)]
        data["scenes"][name] = _measured(scene, lambda k, poses=poses: poses[k % len(poses)], device, runs, wanted)
    for name, rate in () if options.quick else FILMED.items():
        path = shared() / "scenes" / "models" / f"{name}.glb"
        if not path.is_file():
            data["missing"].append(f"{name}: not found in {path.parent}")
            continue
        say(f"deform: {name}")
        scene = viewer.load(path)
        data["scenes"][name] = _measured(scene, lambda k, s=scene: s.posed(k / 24.0), device, runs, rate)
    _judge(data)
    return Result(data, _tables(data))


def _tube(rings: int, sides: int) -> DeformedMesh:
    """A tube along y whose vertices follow four of `JOINTS` joints each."""
    y, turn = np.meshgrid(np.linspace(0, 4, rings), np.linspace(0, 2 * np.pi, sides, endpoint=False), indexing="ij")
    out = np.stack([np.cos(turn), 0 * turn, np.sin(turn)], axis=-1).reshape(-1, 3)
    row, side = (each.ravel() for each in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = row * sides + side, row * sides + (side + 1) % sides
    faces = np.concatenate([np.stack([a, a + sides, b], 1), np.stack([b, a + sides, b + sides], 1)])
    points = 0.4 * out
    points[:, 1] = y.ravel()
    mesh = Mesh(points, faces, normals=out, name="tube")
    place = points[:, 1] / 4 * (JOINTS - 1)
    joints = np.clip(np.floor(place).astype(int)[:, None] + np.arange(-1, 3), 0, JOINTS - 1)
    weights = np.maximum(0.0, 2.0 - np.abs(joints - place[:, None]))
    weights /= weights.sum(axis=1, keepdims=True)
    return DeformedMesh(mesh, Deformation(joints.astype(np.int32), weights.astype(np.float32)), MeshPose(_joints(0.0)))


def _joints(time: float) -> np.ndarray:
    """(J, 4, 4): a wave along the tube."""
    number = np.arange(JOINTS)
    turn = np.stack([0 * number, 0 * number, 0.1 * np.sin(time + 0.3 * number), 1 + 0 * number], axis=1)
    move = np.stack([0.2 * np.sin(time + 0.2 * number), 0 * number, 0 * number], axis=1)
    return compose(move, turn, np.ones((JOINTS, 3)))


def _measured(
    scene: Scene, pose: Callable[[int], Scene], device: Any, runs: int, wanted: float | None
) -> dict[str, Any]:
    """Timings of a scene in other poses, by number."""
    played, built = (Renderer(scene, program="cast", rebuild=way, device=device) for way in ("refit", "build"))
    number = iter(range(1 << 30))
    deformer = played.gpu_scene.deformer
    assert deformer is not None
    deforming = deformer.deforming

    def show(renderer: Renderer) -> None:
        renderer.update(pose(next(number)))
        renderer.render(SIZE)

    def rebuild(renderer: Renderer) -> None:
        renderer.update(pose(next(number)))
        for _ in renderer.upload():
            pass

    scene_played = played.gpu_scene
    executor = Executor(device, scene_played.resources, scene_played.machines.machine_of)

    def both() -> Job:
        yield from deformer.refit(tables, (yield from deformer.pose(tables)))

    def step(job: Job) -> None:
        for _ in executor.run(job):
            pass
        wait()

    def wait() -> None:
        with device.current():
            device.context.finish()

    show(played)
    tables = deformer.tables(played.prepared)
    corners = [mesh.positions[mesh.triangles] for mesh in deforming.poses.meshes]
    cases: dict[str, Callable[[], Any]] = {
        "pose": lambda: step(deformer.pose(tables)),
        "both": lambda: step(both()),
        "tree": lambda: [bvh_build.build(each, leaf=MOST_IN_LEAF) for each in corners],
        "build": lambda: (rebuild(built), wait()),
        "frame": lambda: show(played),
        "frame, built": lambda: show(built),
    }
    timings = {name: timing.to_json() for name, timing in interleave(cases, runs).items()}
    vertices = sum(len(mesh.rest.positions) for mesh in deforming.poses.meshes)
    for renderer in (played, built):
        renderer.release()
    return {"vertices": vertices, "triangles": sum(map(len, corners)), "wanted": wanted, "timings": timings}


def _judge(data: dict[str, Any]) -> None:
    for name, scene in data["scenes"].items():
        timings = scene["timings"]
        refit = timings["both"]["cpu_ms"] - timings["pose"]["cpu_ms"]
        scene["refit_cpu_ms"], scene["of_a_build"] = refit, refit / timings["build"]["cpu_ms"]
        limits = [(f"{name}, refit of a build, CPU time", REFIT, scene["of_a_build"], True)]
        if scene["wanted"]:
            rate = 1e3 / timings["frame"]["cpu_ms"]
            limits.append((f"{name}, pictures a second of CPU time", scene["wanted"], rate, False))
        else:
            limits.append((f"{name}, posed, CPU ms", POSING, timings["pose"]["cpu_ms"], True))
        for target, limit, measured, most in limits:
            met = measured <= limit if most else measured >= limit
            data["targets"].append({"target": target, "limit": limit, "measured": measured, "met": met})


def _tables(data: dict[str, Any]) -> list[Table]:
    columns = ("scene", "vertices", "triangles", "pose", "refit", "tree", "build", "refit of a build")
    columns += ("picture", "picture, built")
    rows = [
        (
            name,
            scene["vertices"],
            scene["triangles"],
            scene["timings"]["pose"]["cpu_ms"],
            scene["refit_cpu_ms"],
            scene["timings"]["tree"]["cpu_ms"],
            scene["timings"]["build"]["cpu_ms"],
            scene["of_a_build"],
            scene["timings"]["frame"]["cpu_ms"],
            scene["timings"]["frame, built"]["cpu_ms"],
        )
        for name, scene in data["scenes"].items()
    ]
    note = (
        f"CPU milliseconds, median of {data['runs']} runs in turn; pictures of {SIZE[0]} x {SIZE[1]}, rays to hits. "
        "Build: the structure for another pose, posed on the host and uploaded; tree: its trees alone, by the builder."
    )
    return [Table("meshes that deform", columns, rows, note), *target_tables(data)]
