"""Meshes that deform: vertices posed and trees refitted on the device, against builds on the host; vertices given as
arrays; and pictures that a view shows while it plays.

CPU time is of all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.scenes import shared
from benchmarks.viewing import playing
from raystream.accel import bvh_build
from raystream.accel.bvh_tree import MAX_IN_LEAF
from raystream.renderer.renderer import Renderer
from raystream.scene.animation import Animation, Track
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose
from raystream.scene.hierarchy import Deformer, Hierarchy, Skin, compose
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.jobs import Executor, Job

ABOUT = "meshes that deform: posing, refitting against building, pictures while playing"

RUNS, JOINTS = 9, 20
SECONDS, KEYS = 2.0, 24  # of a tube's animation
PLAYED = 10.0  # seconds of playing
# Rings and sides of tubes, of as many vertices as the models that they are called by.
TUBES = {"100,000 vertices": (400, 250), "CesiumMan's size": (82, 40), "Fox's size": (54, 32)}
MODELS = ("CesiumMan", "Fox", "BrainStem", "RiggedSimple", "AnimatedMorphCube", "MorphStressTest")
REFITTED = ("CesiumMan", "Fox", "BrainStem")


def run(options: Options) -> Result:
    """Tubes that bend, and models that dance."""
    runs, seconds = (2, 0.3) if options.quick else (RUNS, PLAYED)
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "runs": runs, "missing": []}
    data |= {"scenes": {}, "arrays": {}, "played": {}}
    for name, (rings, sides) in TUBES.items():
        large = rings * sides == 100_000
        if options.quick and large:
            continue
        say(f"deform: {name}")
        scene = Scene([_tube(rings, sides)], [Instance(0)], name=name)
        poses = [scene.deformed({0: MeshPose(_joints(0.1 * k))}) for k in range(1, 9)]
        data["scenes"][name] = _measured(scene, lambda k, poses=poses: poses[k % len(poses)], device, runs)
        if large or options.quick:
            data["arrays"][name] = _given(scene, device, runs)
    for name in () if options.quick else MODELS:
        path = shared() / "scenes" / "models" / f"{name}.glb"
        if not path.is_file():
            data["missing"].append(f"{name}: not found among shared models")
            continue
        if name in REFITTED:
            say(f"deform: {name}")
            scene = raystream.load(path)
            data["scenes"][name] = _measured(scene, lambda k, s=scene: s.posed(k / 24.0), device, runs)
        say(f"deform: {name} plays")
        data["played"][name] = playing.played(path, seconds)
    for name in ("Fox's size",) if options.quick else ("CesiumMan's size", "Fox's size"):
        say(f"deform: {name} plays")
        data["played"][name] = playing.played(_animated(*TUBES[name], name), seconds, rests=not options.quick)
    return Result(data, _tables(data))


def _animated(rings: int, sides: int, name: str) -> Scene:
    """A textured tube that waves, with as many tracks as a character has."""
    tube = _tube(rings, sides)
    turn = np.arctan2(tube.rest.positions[:, 2], tube.rest.positions[:, 0]) / (2 * np.pi)
    tube.rest.uvs = np.stack([turn, tube.rest.positions[:, 1] / 4], axis=1).astype(np.float32)
    times = np.linspace(0.0, SECONDS, KEYS)
    tracks = []
    for number in range(JOINTS):
        move, turned = _wave(2 * np.pi / SECONDS * times, number)
        tracks += [Track(number, "translation", times, move), Track(number, "rotation", times, turned)]
        tracks.append(Track(number, "scale", times, np.ones((KEYS, 3))))
    nodes = Hierarchy.of(np.full(JOINTS, -1), np.zeros((JOINTS, 3)), [-1])
    skin = Skin(np.arange(JOINTS), np.tile(np.eye(4), (JOINTS, 1, 1)))
    check = np.kron(np.indices((16, 16)).sum(axis=0) % 2, np.ones((16, 16)))[..., None]
    check = (check * (0, 90, 60, 0) + (200, 90, 60, 255)).astype(np.uint8)
    return Scene(
        [tube],
        [Instance(0)],
        [Material("skin", kind="principled", texture=0)],
        textures=[Texture(Image(check))],
        hierarchy=replace(nodes, deformers=(Deformer(0, -1, skin),)),
        animations=[Animation("wave", tuple(tracks))],
        name=name,
    )


def _tube(rings: int, sides: int) -> DeformedMesh:
    """A tube along y whose vertices follow four of `JOINTS` joints each."""
    y, turn = np.meshgrid(np.linspace(0, 4, rings), np.linspace(0, 2 * np.pi, sides, endpoint=False), indexing="ij")
    out = np.stack([np.cos(turn), 0 * turn, np.sin(turn)], axis=-1).reshape(-1, 3)
    row, side = (each.ravel() for each in np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij"))
    a, b = row * sides + side, row * sides + (side + 1) % sides
    faces = np.concatenate([np.stack([a, a + sides, b], 1), np.stack([b, a + sides, b + sides], 1)])
    points = 0.4 * out
    points[:, 1] = y.ravel()
    mesh = Mesh(points.astype(np.float32), faces, normals=out, name="tube")
    place = points[:, 1] / 4 * (JOINTS - 1)
    joints = np.clip(np.floor(place).astype(int)[:, None] + np.arange(-1, 3), 0, JOINTS - 1)
    weights = np.maximum(0.0, 2.0 - np.abs(joints - place[:, None]))
    weights /= weights.sum(axis=1, keepdims=True)
    return DeformedMesh(mesh, Deformation(joints.astype(np.int32), weights.astype(np.float32)), MeshPose(_joints(0.0)))


def _joints(time: float) -> np.ndarray:
    """(J, 4, 4): a wave along the tube."""
    number = np.arange(JOINTS)
    return compose(*_wave(np.full(JOINTS, time), number), np.ones((JOINTS, 3)))


def _wave(time: np.ndarray, number: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
    """Translations (N, 3) and rotations (N, 4) of joints by their numbers."""
    turn = np.stack([0 * time, 0 * time, 0.1 * np.sin(time + 0.3 * number), 1 + 0 * time], axis=1)
    return np.stack([0.2 * np.sin(time + 0.2 * number), 0 * time, 0 * time], axis=1), turn


def _measured(scene: Scene, pose: Callable[..., Scene], device: Any, runs: int) -> dict[str, Any]:
    """Timings of a scene in other poses, by number."""
    played, built = (Renderer(scene, program="cast", rebuild=way, device=device) for way in ("refit", "build"))
    number = iter(range(1 << 30))
    deformer = played.gpu_scene.deformer
    assert deformer is not None
    deforming = deformer.deforming
    for renderer in (played, built):
        renderer.update(pose(next(number)))
        renderer.render(playing.SIZE)

    def rebuild() -> None:
        built.update(pose(next(number)))
        for _ in built.gpu_scene.upload(built.settings):
            pass

    scene_played = played.gpu_scene
    executor = Executor(device, scene_played.resources, scene_played.machines.machine_of)

    def both() -> Job:
        yield from deformer.refit(tables, (yield from deformer.pose(tables)))

    def step(job: Job) -> None:
        for _ in executor.run(job):
            pass

    tables = deformer.tables(played.prepared)
    corners = [mesh.positions[mesh.triangles] for mesh in deforming.poses.meshes]
    cases: dict[str, Callable[[], Any]] = {
        "pose": lambda: _waited(device, lambda: step(deformer.pose(tables))),
        "both": lambda: _waited(device, lambda: step(both())),
        "tree": lambda: [bvh_build.build(each, leaf=MAX_IN_LEAF) for each in corners],
        "build": lambda: _waited(device, rebuild),
    }
    timings = {name: timing.to_json() for name, timing in interleave(cases, runs).items()}
    refit = timings["both"]["cpu_ms"] - timings["pose"]["cpu_ms"]
    made = {"refit_cpu_ms": refit, "of_a_build": refit / timings["build"]["cpu_ms"]}
    vertices = sum(len(mesh.rest.positions) for mesh in deforming.poses.meshes)
    for renderer in (played, built):
        renderer.release()
    return {"vertices": vertices, "triangles": sum(map(len, corners)), "timings": timings, **made}


def _given(scene: Scene, device: Any, runs: int) -> dict[str, Any]:
    """Timings of `Renderer.deform`, by which vertices come to the device, with normals and without."""
    rest = scene.meshes[0].rest  # type: ignore[attr-defined]
    renderer = Renderer(Scene([rest], [Instance(0)]), program="cast", accel="two-level-bvh", device=device)
    moved = [(rest.positions + 0.01 * k * np.sin(rest.positions[:, [1, 2, 0]])).astype(np.float32) for k in range(8)]
    number = iter(range(1 << 30))
    cases: dict[str, Callable[[], Any]] = {
        "with normals": lambda: renderer.deform(0, moved[next(number) % 8], rest.normals),
        "normals made": lambda: renderer.deform(0, moved[next(number) % 8]),
    }
    renderer.deform(0, moved[1])
    renderer.render((64, 36))
    timings = {name: timing.to_json() for name, timing in interleave(cases, runs).items()}
    renderer.release()
    return {"vertices": len(rest.positions), "timings": timings}


def _waited(device: Any, work: Callable[[], Any]) -> None:
    """Do something until the device is done."""
    with device.current():
        work()
        device.context.finish()


def _tables(data: dict[str, Any]) -> list[Table]:
    columns = ("scene", "vertices", "triangles", "pose", "refit", "tree", "build", "refit of a build")
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
        )
        for name, scene in data["scenes"].items()
    ]
    note = (
        f"CPU milliseconds, median of {data['runs']} runs in turn. Build: the structure for another pose, posed on the "
        "host and uploaded; tree: its trees alone, by the builder."
    )
    given = [
        (name, each["vertices"], *(each["timings"][case]["cpu_ms"] for case in ("with normals", "normals made")))
        for name, each in data["arrays"].items()
    ]
    return [
        Table("meshes that deform", columns, rows, note),
        Table(
            "vertices given as arrays",
            ("scene", "vertices", "with normals", "normals made"),
            given,
            "CPU milliseconds of `Renderer.deform`, which uploads them.",
        ),
        playing.table(data["played"]),
    ]
