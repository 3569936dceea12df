"""Acceleration structures against each other and Embree: builds, memory, and rates of primary, shadow and bounce rays.

Rays are given lists, traced as by `Renderer.trace`; a run is timed until the device is done, without read-back. Shadow
rays go from the camera's hits to a point light beside the camera, with any hit; bounce rays go from there in directions
of a cosine distribution, incoherent among neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from reproduction.plots import COLORS, figure

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
from raystream.stream.gl.device import Device, shared_device
from raystream.stream.gl.resources import Resources
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine

ABOUT = "structures and traversals on every machine: builds, memory, Mrays/s of primary, shadow and bounce rays"

SIZE, SMALL = 512, 256  # of the picture of primary rays, and of the one that starts the others
RUNS, WARM_UP = 3, 2
KINDS = ("primary", "shadow", "bounce")

MACHINES_USED: dict[str, dict[str, Any]] = {
    "singlepass": {},
    "multipass ray": {"fuse": "ray", "unroll": "auto"},
    "multipass none": {"fuse": "none", "unroll": "auto"},
}
EVERY = tuple(MACHINES_USED)
# structure -> its options, and its traversals with the machines to measure.
FLAT: dict[str, tuple[StructureOptions, dict[str, tuple[str, ...]]]] = {
    "bvh": (StructureOptions("bvh"), {"stack": EVERY[:2], "octants": EVERY, "escape": EVERY[::2]}),
    "bvh, midpoint": (StructureOptions("bvh", build="midpoint"), {"stack": EVERY[:1]}),
    "grid": (StructureOptions("grid"), {"dda": EVERY, "adinetz": EVERY[::2]}),
}
TWO_LEVEL: dict[str, tuple[StructureOptions, dict[str, tuple[str, ...]]]] = {
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
# Shown in the plot.
STACK, STACKLESS = "bvh, stack", "bvh, octants"
SINGLE, FUSED, UNFUSED = "singlepass", "multipass ray", "multipass none"
SHOWN = (f"{STACK}, {SINGLE}", f"{STACKLESS}, {SINGLE}", f"{STACKLESS}, {UNFUSED}", f"grid, dda, {SINGLE}")
SHOWN_TWO = (f"two-level-bvh, stack, {SINGLE}", f"two-level-grid, adinetz, {SINGLE}")


class Rays(NamedTuple):
    """Rays (R, 3) each; ends: (R,) in units of the direction for shadow rays."""

    origins: NDArray[np.float32]
    directions: NDArray[np.float32]
    ends: NDArray[np.float32] | None = None


@dataclass
class Case:
    """A structure, a traversal and a machine, ready to trace."""

    machine: Machine
    count: int = 0

    def give(self, rays: Rays) -> None:
        """Upload rays."""
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


def case(
    resources: Resources,
    structure: Structure,
    modules: list[Module],
    machine: str,
    size: tuple[int, int],
) -> Case:
    """A machine, a key of `MACHINES_USED`, over the modules of one of the structure's traversals."""
    program = trace(LEVELS[structure.levels])
    with resources.device.current():
        made = MACHINES[machine.split()[0]](
            resources.device,
            LinkedProgram(program, modules),
            size,
            resources=resources,
            fallback=lambda: LinkedProgram(program, structure.modules(stepwise=True)),
            **MACHINES_USED[machine],
        )
    return Case(made)


def run(options: Options) -> Result:
    """Measure every scene."""
    scenes = QUICK if options.quick else SCENES
    views, missing = found(tuple(name for name, _ in scenes.values()))
    by_name = {view.name: view for view in views}
    device = options.open()
    data: dict[str, Any] = {
        "facts": facts(device),
        "runs": 1 if options.quick else RUNS,
        "warm_up": WARM_UP,
        "missing": missing,
        "scenes": {},
    }
    for name, (view, wanted) in scenes.items():
        if view in by_name:
            data["scenes"][name] = _scene(name, by_name[view], wanted, options)
    return Result(data, tables(data), plot(data) if find_spec("matplotlib") else None)


# -- measurements --------------------------------------------------------------------------------------------------


def _scene(name: str, view: View, wanted: Mapping[str, Any], options: Options) -> dict[str, Any]:
    say(f"{name}: builds")
    device, runs = options.open(), 1 if options.quick else RUNS
    scene = raystream.load(view.source).tessellated()
    camera = view.camera if not isinstance(view.camera, str) else scene.camera(view.camera)
    corners = scene.flatten().corners()
    size, small = (64, 32) if options.quick else (SMALL, SMALL // 2) if name in SLOW else (SIZE, SMALL)
    built, builds = _builds(scene, corners, wanted)
    resources = Resources(device)
    cases: dict[str, Case] = {}
    first, *_ = wanted
    tables: dict[str, dict[str, int]] = {}
    for which, (_, traversals) in wanted.items():
        for traversal, machines in traversals.items():
            modules = built[which].make(traversal)
            for machine in machines:
                cases[f"{which}, {traversal}, {machine}"] = case(
                    resources, built[which], modules, machine, (size, size)
                )
            with device.current():
                used = [resources.get(memory) for module in modules for memory in module.memories]
            tables[f"{which}, {traversal}"] = {memory.source.name: memory.bytes for memory in used}
    rays = _rays(next(iter(cases.values())), scene, corners, camera, size, small)
    out: dict[str, Any] = {
        "triangles": len(corners),
        "camera": camera.text(),
        "fov": camera.fov,
        "builds": builds,
        "memory": tables,
        "rays": {kind: len(part.origins) for kind, part in rays.items()},
        "rates": {},
        "same_hits": {},
    }
    for kind, part in rays.items():
        say(f"{name}: {kind} rays")
        out["rates"][kind], out["same_hits"][kind] = _rates(cases, part, corners, runs)
    if first == "bvh" and name not in SLOW:
        flat = {which: built[which] for which in ("bvh", "grid")}
        out["addresses"] = _addresses(device, resources, flat, rays, (size, size), runs)
    with device.current():
        for each in cases.values():
            each.machine.release()
        resources.release()
    return out


def _builds(
    scene: raystream.Scene, corners: NDArray, wanted: Mapping[str, Any]
) -> tuple[dict[str, Structure], dict[str, dict[str, Any]]]:
    """Every structure with its build time; a first build compiles the loops."""
    made: dict[str, Structure] = {}

    def build(which: str) -> None:
        recipe = wanted[which][0]
        flat = structures.FLAT.get(recipe.accel)
        made[which] = flat(Primitives(corners), recipe) if flat else two_level_structure(scene, recipe)

    timings = interleave({which: lambda which=which: build(which) for which in wanted}, 1)
    return made, {which: timings[which].to_json() | dict(made[which].statistics) for which in wanted}


def _rays(
    first: Case, scene: raystream.Scene, corners: NDArray, camera: raystream.Camera, size: int, small: int
) -> dict[str, Rays]:
    """Rays of every kind."""
    rng = np.random.default_rng(1)
    primary = Rays(*(part.reshape(-1, 3).astype(np.float32) for part in camera.rays(size, size)))
    seen = Rays(*(part.reshape(-1, 3).astype(np.float32) for part in camera.rays(small, small)))
    first.give(seen)
    first.run()
    hits = first.hits()
    at = hits["triangle"] >= 0
    origins, directions = seen.origins[at].astype(np.float64), seen.directions[at].astype(np.float64)
    points = origins + hits["t"][at, None] * directions
    before = np.cumsum([0, *(len(scene.meshes[instance.mesh].triangles) for instance in scene.instances)])
    own = corners[before[hits["instance"][at]] + hits["triangle"][at]].astype(np.float64)  # 0 in a flat one
    normals = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    normals *= -np.sign((normals * directions).sum(axis=1, keepdims=True))
    starts = points + 1e-4 * np.linalg.norm(points - origins, axis=1, keepdims=True) * normals
    right, up, _ = camera.basis()
    origin, target = np.asarray(camera.origin), np.asarray(camera.target)
    light = origin + 0.5 * np.linalg.norm(target - origin) * (right + up)
    lighting = rng.normal(size=normals.shape)
    bounce = normals + lighting / np.linalg.norm(lighting, axis=1, keepdims=True)
    bounce /= np.maximum(np.linalg.norm(bounce, axis=1, keepdims=True), 1e-6)
    return {
        "primary": primary,
        "shadow": Rays(
            starts.astype(np.float32), (light - starts).astype(np.float32), np.ones(len(starts), np.float32)
        ),
        "bounce": Rays(starts.astype(np.float32), bounce.astype(np.float32)),
    }


def _rates(
    cases: Mapping[str, Case], rays: Rays, corners: NDArray, runs: int
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """Times and rates of all cases and Embree; the share of rays with the first case's hits."""
    for each in cases.values():
        each.give(rays)
    work: dict[str, Callable[[], Any]] = {name: each.run for name, each in cases.items()}
    with ExitStack() as stack:
        if embree.available():
            yard = stack.enter_context(embree.Embree(corners, *rays[:2], cpus(), rays.ends))
            work[EMBREE] = yard.run
        timings = interleave(work, runs, WARM_UP)
        given = yard.triangles() if EMBREE in work else None
    shadow, same = rays.ends is not None, {}
    first: NDArray | None = None
    for name, each in cases.items():
        hits = each.hits()
        found = (hits["triangle"] >= 0) if shadow else hits["t"]
        first = found if first is None else first
        same[name] = float((found == first).mean())
    if given is not None and first is not None:
        hit = first if shadow else next(iter(cases.values())).hits()["triangle"] >= 0
        same[EMBREE] = float((hit == (given >= 0)).mean())
    return {name: rate(timing, len(rays.origins)) for name, timing in timings.items()}, same


def rate(timing: Timing, count: int) -> dict[str, Any]:
    """Times of ``count`` rays, and million rays per second of wall time and of one CPU's time."""
    row = timing.to_json()
    return {**row, "mrays": count / row["ms"] / 1e3, "cpu_mrays": count / max(row["cpu_ms"], 1e-6) / 1e3}


COMPARED = {"bvh": "stack", "grid": "dda"}


def _compare(
    rows: dict[str, dict[str, Case]], rays: Mapping[str, Rays], runs: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Cases side by side: {what: {kind: {way: rate}}}."""
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for what, ways in rows.items():
        out[what] = {}
        for kind in ("primary", "bounce"):
            for each in ways.values():
                each.give(rays[kind])
            timings = interleave({way: each.run for way, each in ways.items()}, runs, WARM_UP)
            out[what][kind] = {way: rate(timing, len(rays[kind].origins)) for way, timing in timings.items()}
    return out


def _addresses(
    device: Device,
    resources: Resources,
    flat: Mapping[str, Structure],
    rays: Mapping[str, Rays],
    size: tuple[int, int],
    runs: int,
) -> dict[str, Any]:
    """Buffer textures, whose addresses are 1-D, against 2-D and 3-D textures (``--memory texture``)."""
    other = Resources(shared_device(None, device.texture_barrier is not None, False))
    rows: dict[str, dict[str, Case]] = {}
    for which, structure in flat.items():
        modules = structure.make(COMPARED[which])
        memories = {"1-D": resources, "2-D": other}
        rows[which] = {way: case(held, structure, modules, "singlepass", size) for way, held in memories.items()}
    out = {"rates": _compare(rows, rays, runs)}
    for ways in rows.values():
        for each in ways.values():
            with each.machine.device.current():
                each.machine.release()
    with other.device.current():
        other.release()
    return out


# -- output --------------------------------------------------------------------------------------------------------


def _embree(rates: dict[str, Any]) -> str | None:
    return next((name for name in rates if name.startswith("Embree")), None)


def tables(data: dict[str, Any]) -> list[Table]:
    """All of them."""
    out = [_build_table(data)]
    note = (
        f"Median of {data['runs']} runs in turn after {data['warm_up']}. Mrays/s by wall time, and in brackets by the "
        f"CPU time of all threads (of one core). Same: share of the primary rays that hit at the first row's distance."
    )
    for name, scene in data["scenes"].items():
        rates = scene["rates"]
        rows = [
            (
                setting,
                rates["primary"][setting]["ms"],
                rates["primary"][setting]["cpu_ms"],
                *(f"{rates[kind][setting]['mrays']:.3g} ({rates[kind][setting]['cpu_mrays']:.3g})" for kind in rates),
                scene["same_hits"]["primary"].get(setting),
            )
            for setting in rates["primary"]
        ]
        counts = ", ".join(f"{count:,} {kind}" for kind, count in scene["rays"].items())
        columns = ("setting", "ms", "CPU ms", *rates, "same")
        out.append(Table(f"{name}: {scene['triangles']:,} triangles; {counts} rays", columns, rows, note))
    return out + list(_address_table(data))


def _build_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, scene in data["scenes"].items():
        for structure, build in scene["builds"].items():
            for traversal, held in scene["memory"].items():
                if traversal.rpartition(", ")[0] == structure:
                    triangles = held.get("triangles", 0)
                    rest = sum(held.values()) - triangles
                    row = (build["ms"], build["cpu_ms"], rest / 2**20, triangles / 2**20)
                    rows.append((f"{name}: {traversal}", *row))
    columns = ("scene: structure, traversal", "build ms", "CPU ms", "structure MiB", "triangles MiB")
    note = "Structure: textures of the traversal. Triangles: unshared corners and numbers, in the order of the leaves."
    return Table("builds and memory", columns, rows, note)


def _address_table(data: dict[str, Any]) -> Iterator[Table]:
    """By scene, structure and kind of rays; nothing without any."""
    ways, rows = ("1-D", "2-D"), list[tuple[Any, ...]]()
    for name, scene in data["scenes"].items():
        for structure, kinds in scene.get("addresses", {"rates": {}})["rates"].items():
            for kind, timed in kinds.items():
                row = [timed[way][key] for key in ("ms", "cpu_ms") for way in ways]
                rows.append((f"{name}: {structure}, {kind}", *row, row[3] / max(row[2], 1e-6)))
    heads = ("scene: structure, rays", *(f"{way} ms" for way in ways), *(f"{way} CPU ms" for way in ways), "CPU ratio")
    if rows:
        yield Table("1-D addresses (buffer textures) against 2-D and 3-D ones, singlepass", heads, rows)


def plot(data: dict[str, Any]) -> Any:
    """Rates of the main settings and Embree, by kind of ray."""
    if not data["scenes"]:
        return None
    drawn, axes = figure(13.0, 4.4, ncols=3)
    scenes = data["scenes"]
    for axis, kind in zip(axes, next(iter(scenes.values()))["rates"], strict=True):
        for place, scene in enumerate(scenes.values()):
            rates = scene["rates"][kind]
            shown = [name for name in (*SHOWN, *SHOWN_TWO, _embree(rates) or "") if name in rates]
            width = 0.85 / len(shown)
            for number, name in enumerate(shown):
                color = COLORS[_color(name)]
                at = place + (number - (len(shown) - 1) / 2) * width
                label = f"_{name}" if any(name in s["rates"][kind] for s in list(scenes.values())[:place]) else name
                axis.bar(at, rates[name]["cpu_mrays"], 0.92 * width, color=color, label=label)
        axis.set_xticks(range(len(scenes)), [name.replace(", ", ",\n").replace(" in ", "\nin ") for name in scenes])
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(False, axis="x")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_title(f"{kind} rays", fontsize=10)
    axes[0].set_ylabel("million rays per second of one core's time")
    handles = [axis.get_legend_handles_labels() for axis in axes]
    drawn.legend(*handles[0], frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    drawn.suptitle(f"Acceleration structures, {data['facts']['renderer']}", fontsize=10)
    return drawn


def _color(name: str) -> int:
    names = (*SHOWN, *SHOWN_TWO)
    return names.index(name) if name in names else len(COLORS) - 1
