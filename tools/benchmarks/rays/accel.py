"""Acceleration structures against each other and Embree: builds, memory, and rates of primary, shadow and bounce rays.

Rays are lists, traced as by `Renderer.trace`; a run is timed until the device is done, without read-back. Shadow rays
go from the camera's hits to a point light beside the camera, with any hit; bounce rays go from there in directions of a
cosine distribution, incoherent among neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from benchmarks.common import Options, Result, Table, Timing, cpus, facts, interleave, say
from benchmarks.rays import embree
from benchmarks.scenes import View, found
from raystream.accel import structures
from raystream.accel.structures import Primitives, Structure, StructureOptions
from raystream.accel.two_level.structure import two_level_structure
from raystream.kernels.records import RAY
from raystream.programs import LEVELS, trace
from raystream.renderer.sampling.ray_queries import pack_rays
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import Module
from raystream.stream.gl.device import shared_device
from raystream.stream.gl.resources import Resources
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine

ABOUT = "structures and traversals on every machine: builds, memory, Mrays/s of primary, shadow and bounce rays"

SIZE, SMALL = 512, 256  # of the picture of primary rays, and of the one that starts the others
RUNS, WARM_UP = 3, 2

MACHINES_USED: dict[str, dict[str, Any]] = {
    "singlepass": {},
    "multipass ray": {"fuse": "ray", "unroll": "auto"},
    "multipass none": {"fuse": "none", "unroll": "auto"},
}
EVERY = tuple(MACHINES_USED)
Recipes = dict[str, tuple[StructureOptions, dict[str, tuple[str, ...]]]]
# structure -> its options, and its traversals with the machines to measure.
FLAT: Recipes = {
    "bvh": (StructureOptions("bvh"), {"stack": EVERY[:2], "octants": EVERY, "escape": EVERY[::2]}),
    "bvh, midpoint": (StructureOptions("bvh", build="midpoint"), {"stack": EVERY[:1]}),
    "grid": (StructureOptions("grid"), {"dda": EVERY, "adinetz": EVERY[::2]}),
}
TWO_LEVEL: Recipes = {
    "two-level-bvh": (StructureOptions("two-level-bvh"), {"stack": EVERY[:2], "octants": EVERY}),
    "two-level-grid": (StructureOptions("two-level-grid"), {"adinetz": EVERY}),
}
# scene -> its name in `scenes`, and its structures. A flattened forest is another scene's job.
SCENES = {
    "bunny": ("bunny", FLAT),
    "dragon": ("dragon", FLAT),
    "forest, flat": ("forest_flat", FLAT),
    "forest, instanced": ("forest inside", TWO_LEVEL),
    "teapot in a stadium": ("stadium", FLAT | TWO_LEVEL),
}
QUICK = {"cornell": ("cornell", FLAT | TWO_LEVEL)}
SLOW = ("forest, instanced", "teapot in a stadium")  # of smaller pictures: long traversals, 57,000 triangles in a voxel
EMBREE = f"Embree, {cpus()} threads"
COMPARED = {"bvh": "stack", "grid": "dda"}  # by 1-D and by 2-D addresses


class Rays(NamedTuple):
    """Rays (R, 3) each; ends: (R,) in units of the direction for shadow rays."""

    origins: NDArray[np.float32]
    directions: NDArray[np.float32]
    ends: NDArray[np.float32] | None = None


class Case:
    """A structure's traversal on a machine, a key of `MACHINES_USED`."""

    def __init__(
        self, resources: Resources, structure: Structure, modules: list[Module], machine: str, edge: int
    ) -> None:
        program = trace(LEVELS[structure.levels])
        with resources.device.current():
            self.machine: Machine = MACHINES[machine.split()[0]](
                resources.device,
                LinkedProgram(program, modules),
                (edge, edge),
                resources=resources,
                fallback=lambda: LinkedProgram(program, structure.modules(stepwise=True)),
                **MACHINES_USED[machine],
            )
        self.count = 0

    def upload(self, rays: Rays) -> None:
        """Take rays to the device."""
        far = np.inf if rays.ends is None else rays.ends
        records, _ = pack_rays(rays.origins, rays.directions, far, rays.ends is not None)
        self.count = len(records)
        width, height = self.machine.size
        stream = np.zeros(width * height, RAY.dtype)
        stream[: self.count] = records
        with self.machine.device.current():
            self.machine.write("ray", stream.reshape(height, width))

    def run(self) -> None:
        """Trace them and wait for the device."""
        with self.machine.device.current():
            self.machine.finish(self.count)
            self.machine.device.context.finish()

    def hits(self) -> NDArray:
        """(R,) records."""
        with self.machine.device.current():
            return self.machine.read("hit").reshape(-1)[: self.count]

    def release(self) -> None:
        """Free the machine."""
        with self.machine.device.current():
            self.machine.release()


def run(options: Options) -> Result:
    """Measure every scene."""
    scenes = QUICK if options.quick else SCENES
    views, missing = found(tuple(name for name, _ in scenes.values()))
    by_name = {view.name: view for view in views}
    data: dict[str, Any] = {"facts": facts(options.open()), "runs": 1 if options.quick else RUNS, "warm_up": WARM_UP}
    data |= {"missing": missing, "scenes": {}}
    for name, (view, recipes) in scenes.items():
        if view in by_name:
            data["scenes"][name] = _scene(name, by_name[view], recipes, options)
    return Result(data, _tables(data))


def _scene(name: str, view: View, recipes: Recipes, options: Options) -> dict[str, Any]:
    say(f"{name}: builds")
    device, runs = options.open(), 1 if options.quick else RUNS
    scene = raystream.load(view.source).tessellated()
    camera = view.camera if not isinstance(view.camera, str) else scene.camera(view.camera)
    corners = scene.flatten().corners()
    size, small = (64, 32) if options.quick else (SMALL, SMALL // 2) if name in SLOW else (SIZE, SMALL)
    built: dict[str, Structure] = {}

    def build(which: str) -> None:
        recipe = recipes[which][0]
        flat = structures.FLAT.get(recipe.accel)
        built[which] = flat(Primitives(corners), recipe) if flat else two_level_structure(scene, recipe)

    # A first build compiles the loops.
    timings = interleave({which: lambda which=which: build(which) for which in recipes}, 1)
    builds = {which: timings[which].to_json() | dict(built[which].statistics) for which in recipes}
    resources, cases = Resources(device), dict[str, Case]()
    memory: dict[str, dict[str, int]] = {}
    for which, (_, traversals) in recipes.items():
        for traversal, machines in traversals.items():
            modules = built[which].make(traversal)
            for machine in machines:
                cases[f"{which}, {traversal}, {machine}"] = Case(resources, built[which], modules, machine, size)
            with device.current():
                used = [resources.get(each) for module in modules for each in module.memories]
            memory[f"{which}, {traversal}"] = {each.source.name: each.bytes for each in used}
    rays = _rays(next(iter(cases.values())), scene, corners, camera, size, small)
    out: dict[str, Any] = {"triangles": len(corners), "camera": camera.text(), "fov": camera.fov, "builds": builds}
    out |= {"memory": memory, "rays": {kind: len(part.origins) for kind, part in rays.items()}}
    out |= {"rates": {}, "same_hits": {}}
    for kind, part in rays.items():
        say(f"{name}: {kind} rays")
        out["rates"][kind], out["same_hits"][kind] = _rates(cases, part, corners, runs)
    if "bvh" in recipes and name not in SLOW:
        out["addresses"] = {"rates": _addresses(resources, built, rays, size, runs)}
    for each in cases.values():
        each.release()
    with device.current():
        resources.release()
    return out


def _rays(
    first: Case, scene: raystream.Scene, corners: NDArray, camera: raystream.Camera, size: int, small: int
) -> dict[str, Rays]:
    """Rays of every kind."""
    rng = np.random.default_rng(1)
    primary, seen = (
        Rays(*(part.reshape(-1, 3).astype(np.float32) for part in camera.rays(edge, edge))) for edge in (size, small)
    )
    first.upload(seen)
    first.run()
    hits = first.hits()
    at = hits["triangle"] >= 0
    origins, directions = seen.origins[at].astype(np.float64), seen.directions[at].astype(np.float64)
    points = origins + hits["t"][at, None] * directions
    before = np.cumsum([0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)])
    triangles = corners[before[hits["instance"][at]] + hits["triangle"][at]].astype(np.float64)  # 0 in a flat one
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    normals *= -np.sign((normals * directions).sum(axis=1, keepdims=True))
    starts = points + 1e-4 * np.linalg.norm(points - origins, axis=1, keepdims=True) * normals
    right, up, _ = camera.basis()
    origin, target = np.asarray(camera.origin), np.asarray(camera.target)
    light = origin + 0.5 * np.linalg.norm(target - origin) * (right + up)
    lighting = rng.normal(size=normals.shape)
    bounce = normals + lighting / np.linalg.norm(lighting, axis=1, keepdims=True)
    bounce /= np.maximum(np.linalg.norm(bounce, axis=1, keepdims=True), 1e-6)
    starts, shadow, bounce = (part.astype(np.float32) for part in (starts, light - starts, bounce))
    ends = np.ones(len(starts), np.float32)
    return {"primary": primary, "shadow": Rays(starts, shadow, ends), "bounce": Rays(starts, bounce)}


def _rates(
    cases: Mapping[str, Case], rays: Rays, corners: NDArray, runs: int
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Times and rates of all cases and Embree; the share of rays with the first case's hits."""
    for each in cases.values():
        each.upload(rays)
    work: dict[str, Callable[[], Any]] = {name: each.run for name, each in cases.items()}
    triangles: NDArray | None = None
    with ExitStack() as stack:
        if embree.available():
            yard = stack.enter_context(embree.Embree(corners, *rays[:2], cpus(), rays.ends))
            work[EMBREE] = yard.run
        timings = interleave(work, runs, WARM_UP)
        if EMBREE in work:
            triangles = yard.triangles()
    hits = {name: each.hits() for name, each in cases.items()}
    values = {name: each["t"] if rays.ends is None else each["triangle"] >= 0 for name, each in hits.items()}
    first, *_ = cases
    same = {name: float((each == values[first]).mean()) for name, each in values.items()}
    if triangles is not None:
        same[EMBREE] = float(((hits[first]["triangle"] >= 0) == (triangles >= 0)).mean())
    return {name: rate(timing, len(rays.origins)) for name, timing in timings.items()}, same


def rate(timing: Timing, count: int) -> dict[str, Any]:
    """Times of ``count`` rays, and million rays per second of wall time and of one CPU's time."""
    row = timing.to_json()
    return {**row, "mrays": count / row["ms"] / 1e3, "cpu_mrays": count / max(row["cpu_ms"], 1e-6) / 1e3}


def _addresses(
    resources: Resources, built: Mapping[str, Structure], rays: Mapping[str, Rays], size: int, runs: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Buffer textures, whose addresses are 1-D, against 2-D and 3-D textures (``--memory texture``): rates by
    structure, kind of rays and addresses."""
    other = Resources(shared_device(None, resources.device.texture_barrier is not None, False))
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for which, traversal in COMPARED.items():
        modules = built[which].make(traversal)
        memories = {"1-D": resources, "2-D": other}
        cases = {by: Case(each, built[which], modules, "singlepass", size) for by, each in memories.items()}
        out[which] = {}
        for kind in ("primary", "bounce"):
            for each in cases.values():
                each.upload(rays[kind])
            timings = interleave({by: each.run for by, each in cases.items()}, runs, WARM_UP)
            out[which][kind] = {by: rate(timing, len(rays[kind].origins)) for by, timing in timings.items()}
        for each in cases.values():
            each.release()
    with other.device.current():
        other.release()
    return out


def _tables(data: dict[str, Any]) -> list[Table]:
    out = [_build_table(data)]
    note = (
        f"Median of {data['runs']} runs in turn after {data['warm_up']}. Mrays/s by wall time, and in brackets by the "
        f"CPU time of all threads (of one core). Same: share of the primary rays that hit at the first row's distance."
    )
    for name, scene in data["scenes"].items():
        rates, same = scene["rates"], scene["same_hits"]["primary"]
        rows = []
        for setting, row in rates["primary"].items():
            each = [f"{of[setting]['mrays']:.3g} ({of[setting]['cpu_mrays']:.3g})" for of in rates.values()]
            rows.append((setting, row["ms"], row["cpu_ms"], *each, same.get(setting)))
        counts = ", ".join(f"{count:,} {kind}" for kind, count in scene["rays"].items())
        title = f"{name}: {scene['triangles']:,} triangles; {counts} rays"
        out.append(Table(title, ("setting", "ms", "CPU ms", *rates, "same"), rows, note))
    return out + _address_table(data)


def _build_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        for traversal, sizes in scene["memory"].items():
            build, triangles = scene["builds"][traversal.rpartition(", ")[0]], sizes.get("triangles", 0)
            mebibytes = [each / 2**20 for each in (sum(sizes.values()) - triangles, triangles)]
            rows.append((f"{name}: {traversal}", build["ms"], build["cpu_ms"], *mebibytes))
    columns = ("scene: structure, traversal", "build ms", "CPU ms", "structure MiB", "triangles MiB")
    note = "Structure: textures of the traversal. Triangles: unshared corners and numbers, in the order of the leaves."
    return Table("builds and memory", columns, rows, note)


def _address_table(data: dict[str, Any]) -> list[Table]:
    """By scene, structure and kind of rays; none without any."""
    rows = []
    for name, scene in data["scenes"].items():
        for structure, kinds in scene.get("addresses", {"rates": {}})["rates"].items():
            for kind, timed in kinds.items():
                row = [timed[by][key] for key in ("ms", "cpu_ms") for by in ("1-D", "2-D")]
                rows.append((f"{name}: {structure}, {kind}", *row, row[3] / max(row[2], 1e-6)))
    heads = ("scene: structure, rays", "1-D ms", "2-D ms", "1-D CPU ms", "2-D CPU ms", "CPU ratio")
    title = "1-D addresses (buffer textures) against 2-D and 3-D ones, singlepass"
    return [Table(title, heads, rows)] if rows else []
