"""Meshes that deform: vertices posed and trees refitted on the device, against builds on the host; vertices given as
arrays; and pictures that a view shows while it plays, with the CPU time of their parts.

The view has no window; its pace and its pictures are those of a page or a notebook: pose, refit, light of few pixels,
surfaces, filter, and the bitmap that is sent. CPU time is of all threads.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.scenes import shared
from raystream.accel import bvh_build
from raystream.accel.bvh_tree import MAX_IN_LEAF
from raystream.renderer.device.deformer import GpuDeformer
from raystream.renderer.preview.gbuffer import GBuffer, GBufferTracer
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import POLL, QUICK, TURN
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import Sampler
from raystream.scene.animation import Animation, Track
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose
from raystream.scene.edits.animated import AnimatedParts
from raystream.scene.hierarchy import Deformer, Hierarchy, Skin, compose
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.jobs import Executor, Job
from raystream.viewport.canvas import Bitmaps, CanvasView
from raystream.viewport.picture_texture import AutoExposure
from raystream.viewport.preferences import Preferences

ABOUT = "meshes that deform: posing, refitting against building, pictures while playing"

RUNS, JOINTS = 9, 20
SECONDS, KEYS = 2.0, 24  # of a tube's animation
PLAYED = 10.0  # seconds of playing
# Rings and sides of tubes, of as many vertices as the models that they are called by.
TUBES = {"100,000 vertices": (400, 250), "CesiumMan's size": (82, 40), "Fox's size": (54, 32)}
MODELS = ("CesiumMan", "Fox", "BrainStem", "RiggedSimple", "AnimatedMorphCube", "MorphStressTest")
REFITTED = MODELS[:3]

SIZE = (480, 270)  # of the view
SAMPLES = 6  # of a pixel at rest, before: a view then has compiled what serves pictures in motion
WARM_UP, LONGEST = 2.0, 60.0  # seconds before measurements, and until all is there
# Parts of a picture, by what they are computed by; time within an inner one is that one's alone.
PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "channels": ((AnimatedParts, "posed"),),
    "scene": ((Renderer, "update"),),
    "pose": ((GpuDeformer, "pose"),),
    "refit": ((GpuDeformer, "refit"),),
    "light": ((Sampler, "render_tiles"),),
    "surfaces": tuple((GBuffer, f) for f in ("chosen", "queue_triangles", "queue_surfaces"))
    + ((GBufferTracer, "fill"),),
    "filter": ((Preview, "_picture"),),
    "bitmap": ((Bitmaps, "read"), (AutoExposure, "follow")),
}
OTHER = "other"


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
        data["scenes"][name] = _refitted(scene, lambda k, poses=poses: poses[k % len(poses)], device, runs)
        if large or options.quick:
            data["arrays"][name] = _given(scene, device, runs)
    for name in () if options.quick else MODELS:
        path = shared() / "scenes" / "models" / f"{name}.glb"
        if not path.is_file():
            data["missing"].append(f"{name}: not found among shared models")
            continue
        say(f"deform: {name}")
        if name in REFITTED:
            scene = raystream.load(path)
            data["scenes"][name] = _refitted(scene, lambda k, s=scene: s.posed(k / 24.0), device, runs)
        data["played"][name] = played(path, seconds)
    for name in ("Fox's size",) if options.quick else ("CesiumMan's size", "Fox's size"):
        say(f"deform: {name} plays")
        data["played"][name] = played(_animated(*TUBES[name], name), seconds, rests=not options.quick)
    return Result(data, _tables(data))


# -- tubes ---------------------------------------------------------------------------------------------------------


def _animated(rings: int, sides: int, name: str) -> Scene:
    """A textured tube that waves, with as many tracks as a character has."""
    tube = _tube(rings, sides)
    turn = np.arctan2(tube.rest.positions[:, 2], tube.rest.positions[:, 0]) / (2 * np.pi)
    tube.rest.uvs = np.stack([turn, tube.rest.positions[:, 1] / 4], axis=1).astype(np.float32)
    times = np.linspace(0.0, SECONDS, KEYS)
    tracks = []
    for number in range(JOINTS):
        move, turned = _wave(2 * np.pi / SECONDS * times, number)
        channels = {"translation": move, "rotation": turned, "scale": np.ones((KEYS, 3))}
        tracks += [Track(number, channel, times, values) for channel, values in channels.items()]
    nodes = Hierarchy.of(np.full(JOINTS, -1), np.zeros((JOINTS, 3)), [-1])
    skin = Skin(np.arange(JOINTS), np.tile(np.eye(4), (JOINTS, 1, 1)))
    check = np.kron(np.indices((16, 16)).sum(axis=0) % 2, np.ones((16, 16)))[..., None]
    check = (check * (0, 90, 60, 0) + (200, 90, 60, 255)).astype(np.uint8)
    scene = Scene([tube], [Instance(0)], [Material("skin", kind="principled", texture=0)], name=name)
    scene.textures, scene.animations = [Texture(Image(check))], [Animation("wave", tuple(tracks))]
    return replace(scene, hierarchy=replace(nodes, deformers=(Deformer(0, -1, skin),)))


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
    return compose(*_wave(np.full(JOINTS, time), np.arange(JOINTS)), np.ones((JOINTS, 3)))


def _wave(time: np.ndarray, number: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
    """Translations (N, 3) and rotations (N, 4) of joints by their numbers."""
    turn = np.stack([0 * time, 0 * time, 0.1 * np.sin(time + 0.3 * number), 1 + 0 * time], axis=1)
    return np.stack([0.2 * np.sin(time + 0.2 * number), 0 * time, 0 * time], axis=1), turn


# -- poses and refits ----------------------------------------------------------------------------------------------


def _refitted(scene: Scene, pose: Callable[..., Scene], device: Any, runs: int) -> dict[str, Any]:
    """Timings of a scene in other poses, by number."""
    refit, built = (Renderer(scene, program="cast", rebuild=way, device=device) for way in ("refit", "build"))
    number = iter(range(1 << 30))
    on_device = refit.gpu_scene
    deformer = on_device.deformer
    assert deformer is not None
    for renderer in (refit, built):
        renderer.update(pose(next(number)))
        renderer.render(SIZE)
    executor = Executor(device, on_device.resources, on_device.machines.machine_of)
    tables = deformer.tables(refit.prepared)
    corners = [mesh.positions[mesh.triangles] for mesh in deformer.deforming.poses.meshes]

    def both() -> Job:
        yield from deformer.refit(tables, (yield from deformer.pose(tables)))

    def rebuild() -> Iterator[Any]:
        built.update(pose(next(number)))
        yield from built.gpu_scene.upload(built.settings)

    def waited(steps: Callable[[], Iterator[Any]]) -> Callable[[], None]:
        def work() -> None:
            with device.current():
                for _ in steps():
                    pass
                device.context.finish()

        return work

    cases: dict[str, Callable[[], Any]] = {
        "pose": waited(lambda: executor.run(deformer.pose(tables))),
        "both": waited(lambda: executor.run(both())),
        "tree": lambda: [bvh_build.build(each, leaf=MAX_IN_LEAF) for each in corners],
        "build": waited(rebuild),
    }
    timings = {name: timing.to_json() for name, timing in interleave(cases, runs).items()}
    refit_ms = timings["both"]["cpu_ms"] - timings["pose"]["cpu_ms"]
    vertices = sum(len(mesh.rest.positions) for mesh in deformer.deforming.poses.meshes)
    for renderer in (refit, built):
        renderer.release()
    out = {"vertices": vertices, "triangles": sum(map(len, corners)), "timings": timings}
    return {**out, "refit_cpu_ms": refit_ms, "of_a_build": refit_ms / timings["build"]["cpu_ms"]}


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


# -- playing -------------------------------------------------------------------------------------------------------


class Clock:
    """CPU seconds of parts, of all threads. device : is waited for at the end of each part."""

    def __init__(self, device: Any) -> None:
        self.device, self.seconds = device, dict.fromkeys([*PARTS, OTHER], 0.0)
        self._stack, self._since = [OTHER], time.process_time()

    def _count(self) -> None:
        """Count the seconds since the last call for the innermost part."""
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now

    @contextmanager
    def within(self, part: str) -> Iterator[None]:
        """A part lasts as long as the block."""
        self._count()
        self._stack.append(part)
        try:
            yield
        finally:
            with self.device.current():
                self.device.context.finish()
            self._count()
            self._stack.pop()

    def around(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """A function as a part; of a generator each of its steps."""

        @wraps(call)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.within(part):
                result = call(*arguments, **named)
            return self._steps(part, result) if isinstance(result, Iterator) else result

        return timed

    def _steps(self, part: str, steps: Iterator[Any]) -> Iterator[Any]:
        while True:
            try:
                with self.within(part):
                    step = next(steps)
            except StopIteration as end:
                return end.value
            yield step

    @contextmanager
    def running(self) -> Iterator[None]:
        """The parts of pictures are timed meanwhile."""
        with ExitStack() as stack:
            for part, calls in PARTS.items():
                for owner, name in calls:
                    stack.enter_context(mock.patch.object(owner, name, self.around(part, getattr(owner, name))))
            yield
            self._count()


def played(source: Scene | Path, seconds: float, rests: bool = True) -> dict[str, Any]:
    """A scene's animation, played for so many seconds: rates, and CPU milliseconds of a picture and of its parts.

    rests : the view has been at rest before, as for `SAMPLES`.
    """
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        view = CanvasView(source, SIZE, preferences=Preferences(path=Path(folder) / "settings.toml"), spp=SAMPLES)
        try:
            view.wait()
            began = time.perf_counter()
            while not view.session.complete or (rests and not view.idle):
                view.advance(TURN)
                if time.perf_counter() - began > LONGEST:
                    break
            if rests:
                _compile_quick(view)
            view.perform("animation.play")
            _turns(view, WARM_UP if rests else 0.0)
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
            rates, clock = _turns(view, seconds), Clock(view.device)
            with clock.running():
                pictures = max(_turns(view, seconds)["pictures"], 1)
            parts = {part: 1e3 * each / pictures for part, each in clock.seconds.items()}
            return {"load": load, **rates, "cpu_ms_of_parts": parts}
        finally:
            view.release()


def _compile_quick(view: CanvasView) -> None:
    """Compile what a picture at rest leaves time for, unless the machine is so busy that it takes too long."""
    warmup, renderer = view.session._warmup, view.view.renderer
    assert warmup is not None and renderer is not None
    quick = warmup.quick
    if quick is not None:
        for _ in renderer.sampler.warm(quick, renderer.camera, QUICK):
            pass


def _turns(view: CanvasView, seconds: float) -> dict[str, Any]:
    """The turns of a page meanwhile, and at least until there is a picture."""
    began, used, first = time.perf_counter(), time.process_time(), view.session.pictures
    last, scales = first, list[float]()
    while time.perf_counter() - began < seconds or not scales:
        bitmap = view.advance(TURN)
        if view.session.pictures > last and bitmap is not None:  # the others differ in exposure alone
            last = view.session.pictures
            scales.append(view.session.scale)
        if view.wait_timeout > 0:
            time.sleep(min(view.wait_timeout, POLL))
    passed, took = time.perf_counter() - began, time.process_time() - used
    pictures = view.session.pictures - first
    rates = {"shown_per_second": len(scales) / passed, "per_cpu_second": pictures / took, "cores": took / passed}
    rates |= {"cpu_ms": 1e3 * took / pictures, "light": statistics.median(scales)}
    return {"seconds": passed, "pictures": pictures, **rates}


def _tables(data: dict[str, Any]) -> list[Table]:
    def cpu(timings: dict[str, Any], *cases: str) -> list[float]:
        return [timings[case]["cpu_ms"] for case in cases]

    columns = ("scene", "vertices", "triangles", "refit", "pose", "tree", "build", "refit of a build")
    keys: tuple[str, ...] = ("vertices", "triangles", "refit_cpu_ms")
    scenes = [
        (name, *(row[key] for key in keys), *cpu(row["timings"], "pose", "tree", "build"), row["of_a_build"])
        for name, row in data["scenes"].items()
    ]
    note = (
        f"CPU milliseconds, median of {data['runs']} runs in turn. Build: the structure for another pose, posed on the "
        "host and uploaded; tree: its trees alone, by the builder."
    )
    cases = ("with normals", "normals made")
    given = [(name, row["vertices"], *cpu(row["timings"], *cases)) for name, row in data["arrays"].items()]
    of_arrays = "CPU milliseconds of `Renderer.deform`, which uploads them."
    keys = ("shown_per_second", "load", "cores", "cpu_ms", "light")
    plays = [
        (name, *(row[key] for key in keys), *row["cpu_ms_of_parts"].values()) for name, row in data["played"].items()
    ]
    played_columns = ("scene", "shown a second", "load", "cores", "CPU ms a picture", "width of light", *PARTS, OTHER)
    played_note = (
        "A view without a window of {} x {}, at its own pace. Shown: bitmaps of other poses, by the clock, beside as "
        "many processes as the load says; cores: that it had on average. CPU milliseconds of all threads, the parts' "
        "in a second run that waits for the device after each. Width of light: that of the picture's."
    ).format(*SIZE)
    return [
        Table("meshes that deform", columns, scenes, note),
        Table("vertices given as arrays", ("scene", "vertices", *cases), given, of_arrays),
        Table("animations that play", played_columns, plays, played_note),
    ]
