"""The ray caster over the uniform grid beside Embree: machines, first runs, memory (the default benchmark).

A timed run goes from pixels to radiance on the device, waits for it, and reads nothing back.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import raystream
from benchmarks import plots
from benchmarks.common import Options, Result, Table, Timing, cpus, facts, interleave, say, target_tables
from benchmarks.processes import launch
from benchmarks.rays import embree
from benchmarks.scenes import View, found
from benchmarks.stream.machines import Setting, make, whole_run
from raystream.accel.grid import build as grid_build
from raystream.renderer.renderer import Renderer
from raystream.stream.machines.policy import MostWork, Naive, Threshold

ABOUT = "the ray caster's machines beside Embree: Mrays/s, first runs, memory"

SINGLEPASS, FUSED, UNFUSED = "singlepass", "multipass --fuse ray", "multipass --fuse none --unroll auto"
SETTINGS = {
    SINGLEPASS: Setting("singlepass"),
    FUSED: Setting("multipass", fuse="ray", unroll="auto"),
    UNFUSED: Setting("multipass", unroll="auto"),
}
# The dissertation's machine: one call per pass. Minutes on large scenes, so one scene and fewer runs.
PLAIN = {
    "unroll 1, sweep": Setting("multipass"),
    "unroll 1, most-work": Setting("multipass", policy=MostWork()),
    "unroll 1, threshold 20 % of active": Setting("multipass", policy=Threshold()),
    "unroll 1, naive": Setting("multipass", policy=Naive()),
}
RUNS, PLAIN_RUNS, LOADS, WARM_STARTS = 9, 3, 5, 3

# Targets on two cores of llvmpipe: name -> (accessor, limit, whether more is better).
TARGETS: dict[str, tuple[Callable[[dict[str, Any]], float], float, bool]] = {
    "bunny, singlepass, Mrays/s": (lambda d: d["scenes"]["bunny"]["settings"][SINGLEPASS]["mrays"], 5.5, True),
    "bunny, --fuse ray / singlepass": (lambda d: d["scenes"]["bunny"]["settings"][FUSED]["ratio"], 1.12, False),
    "bunny, --fuse none / singlepass": (lambda d: d["scenes"]["bunny"]["settings"][UNFUSED]["ratio"], 2.5, False),
    "dragon, --fuse none / singlepass": (lambda d: d["scenes"]["dragon"]["settings"][UNFUSED]["ratio"], 2.5, False),
    "bunny, raystream render, warm, s": (lambda d: d["starts"]["bunny"]["warm"]["seconds"], 0.8, False),
    "dragon, load, ms": (lambda d: d["scenes"]["dragon"]["load_ms"], 500.0, False),
}


def run(options: Options) -> Result:
    """Measure everything."""
    views, missing = found(("cornell",) if options.quick else ("bunny", "dragon", "forest_flat"))
    size = (64, 64) if options.quick else (512, 512)
    data: dict[str, Any] = {
        "facts": facts(options.open()),
        "size": size,
        "runs": 2 if options.quick else RUNS,
        "plain_runs": _plain_runs(options),
        "warm_up": 2,
        "missing": missing,
        "scenes": {},
        "starts": {},
    }
    for number, each in enumerate(views):
        say(f"{each.name}: machines")
        data["scenes"][each.name] = _scene(each, size, options, plain=number == 0)
    for number, each in enumerate(views):
        say(f"{each.name}: new processes")
        data["starts"][each.name] = _starts(each, size, cold=number == 0, runs=1 if options.quick else WARM_STARTS)
    data["targets"] = _targets(data)
    return Result(data, _tables(data), plots.drawn(_figure, data))


def _plain_runs(options: Options) -> int:
    return 1 if options.quick else PLAIN_RUNS


# -- measurements --------------------------------------------------------------------------------------------------


def _scene(each: View, size: tuple[int, int], options: Options, plain: bool) -> dict[str, Any]:
    runs = 2 if options.quick else RUNS
    loads = 1 if options.quick else LOADS
    load = interleave({"load": lambda: raystream.load(each.source)}, loads)["load"]
    renderer = Renderer(
        raystream.load(each.source).tessellated(),
        camera=each.camera,
        device=options.open(),
        program="cast",
        accel="grid",
    )
    corners = renderer.prepared.triangles.corners()
    built = interleave({"grid": lambda: grid_build.build(corners)}, max(1, loads // 2))["grid"]
    rows = _settings(renderer, SETTINGS, size, runs, corners)
    if plain:
        say(f"{each.name}: one call in a pass")
        beside = _settings(renderer, {SINGLEPASS: SETTINGS[SINGLEPASS], **PLAIN}, size, _plain_runs(options))
        rows |= {name: row for name, row in beside.items() if name in PLAIN}
    memories = renderer.gpu_scene.resources.bytes()
    out = {
        "triangles": len(renderer.prepared.triangles),
        "camera": renderer.camera.text(),
        "fov": renderer.camera.fov,
        "load_ms": load.to_json()["ms"],
        "grid_ms": built.to_json()["ms"],
        "grid": dict(renderer.prepared.structure.statistics),
        "memory_textures": {**memories, "total": sum(memories.values())},
        "settings": rows,
    }
    renderer.gpu_scene.resources.release()
    return out


def _settings(
    renderer: Renderer,
    settings: dict[str, Setting],
    size: tuple[int, int],
    runs: int,
    corners: np.ndarray | None = None,
) -> dict[str, dict[str, Any]]:
    """Times of each setting, interleaved with the others and (with corners) with Embree; then its counters."""
    with renderer.device.current():
        machines = {name: make(renderer, setting, size) for name, setting in settings.items()}
    cases: dict[str, Callable[[], Any]] = {name: whole_run(machine) for name, machine in machines.items()}
    first = {name: _seconds(case) for name, case in cases.items()}
    with _Yardsticks(renderer, size, corners) as yardsticks:
        timings = interleave(cases | yardsticks.cases, runs, warm_up=1 if yardsticks.cases else 0)
        same = yardsticks.same(machines[next(iter(machines))])
    base = timings[SINGLEPASS]
    rows = {name: _row(timing, base, size) for name, timing in timings.items()}
    for name, machine in machines.items():
        rows[name] |= {
            "first_run_ms": 1e3 * first[name],
            "passes": machine.stats.kernel_passes,
            "mask_passes": machine.stats.mask_passes,
            "stream_bytes": machine.bytes,
            "kernel_calls": _kernel_calls(renderer, settings[name], size),
        }
        with renderer.device.current():
            machine.release()
    for name in yardsticks.cases:
        rows[name]["same_triangle"] = same
    return rows


def _row(timing: Timing, base: Timing, size: tuple[int, int]) -> dict[str, Any]:
    row = timing.to_json()
    return {
        **row,
        "mrays": size[0] * size[1] / row["ms"] / 1e3,
        "ratio": timing.ratio(base),
        "cpu_ratio": timing.cpu_ratio(base),
    }


def _kernel_calls(renderer: Renderer, setting: Setting, size: tuple[int, int]) -> dict[str, int]:
    """Calls of each state's kernel, from a counting run."""
    with renderer.device.current():
        machine = make(renderer, setting, size, counting=True)
        machine.finish()
        calls = {state: total.calls for state, total in machine.stats.kernels.items()}
        machine.release()
    return calls


class _Yardsticks:
    """Embree with one thread and with one per CPU, if installed and requested."""

    def __init__(self, renderer: Renderer, size: tuple[int, int], corners: np.ndarray | None) -> None:
        self.members: dict[str, embree.Embree] = {}
        if corners is None or not embree.available():
            return
        origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
        for threads in dict.fromkeys((1, cpus())):
            name = f"Embree, {threads} thread{'s' if threads > 1 else ''}"
            self.members[name] = embree.Embree(corners, origins, directions, threads)

    def __enter__(self) -> _Yardsticks:
        for member in self.members.values():
            member.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        for member in self.members.values():
            member.__exit__(*exception)

    @property
    def cases(self) -> dict[str, Callable[[], Any]]:
        """Cases to time."""
        return {name: member.run for name, member in self.members.items()}

    def same(self, machine: Any) -> float | None:
        """Share of rays with the same triangle: a check that the same work was timed."""
        if not self.members:
            return None
        with machine.device.current():
            ours = machine.read("hit")["triangle"].ravel()
        return float((ours == next(iter(self.members.values())).triangles()).mean())


def _seconds(case: Callable[[], Any]) -> float:
    started = time.perf_counter()
    case()
    return time.perf_counter() - started


def _starts(each: View, size: tuple[int, int], cold: bool, runs: int) -> dict[str, Any]:
    """``raystream render`` and its phases in new processes, with caches of their own: empty (``cold``), then filled."""
    text, fov = _camera_text(each)
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        environment = launch.caches(Path(folder) / "render")
        shape = f"{size[0]}x{size[1]}"
        command = ["-m", "raystream", "render", each.source, "-o", str(Path(folder) / "out.png"), "--quiet"]
        command += ["--program", "cast", "--size", shape, "--camera", text, "--fov", str(fov)]
        first = launch.process(command, environment)
        warm = [launch.process(command, environment) for _ in range(runs)]
        out = {
            "warm": {key: statistics.median(w[key] for w in warm) for key in warm[0]},
            "warm_runs": runs,
            "peak_bytes": max(w["peak_bytes"] for w in warm),
        }
        if cold:
            out["cold"] = first
            phases = [each.source, text, str(fov), *map(str, size)]
            environment = launch.caches(Path(folder) / "phases")
            out["cold phases"] = launch.phases(phases, environment)
            measured = [launch.phases(phases, environment) for _ in range(runs)]
            out["warm phases"] = {key: statistics.median(m[key] for m in measured) for key in measured[0]}
    return out


def _camera_text(each: View) -> tuple[str, float]:
    camera = each.camera if not isinstance(each.camera, str) else raystream.load(each.source).camera(each.camera)
    return camera.text(), camera.fov


# -- output --------------------------------------------------------------------------------------------------------


def _targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for name, (read, limit, more) in TARGETS.items():
        try:
            value = read(data)
        except KeyError:
            continue
        met = value >= limit if more else value <= limit
        out.append({"target": name, "limit": limit, "measured": value, "met": met})
    return out


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    note = (
        f"{width} x {height} rays, median of {data['runs']} runs in turn after {data['warm_up']} untimed "
        f"(one call in a pass: {data['plain_runs']} after 1); CPU: all threads; ratio: median over rounds of time by "
        "singlepass's; kernel calls: of all rays and kernels."
    )
    tables = []
    for name, scene in data["scenes"].items():
        rows = [
            (
                setting,
                *(row[key] for key in ("ms", "cpu_ms", "mrays", "ratio", "cpu_ratio")),
                row.get("passes"),
                sum(row["kernel_calls"].values()) if "kernel_calls" in row else None,
                row.get("first_run_ms"),
            )
            for setting, row in scene["settings"].items()
        ]
        title = f"{name}: {scene['triangles']:,} triangles, grid {scene['grid']['resolution']}"
        columns = ("setting", "ms", "CPU ms", "Mrays/s", "ratio", "CPU ratio", "passes", "kernel calls", "first run ms")
        tables.append(Table(title, columns, rows, note))
    tables.append(_start_table(data))
    return tables + target_tables(data)


def _start_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, starts in data["starts"].items():
        scene = data["scenes"][name]
        rows.append(
            (
                name,
                scene["load_ms"],
                scene["grid_ms"],
                starts["warm"]["seconds"],
                starts["cold"]["seconds"] if "cold" in starts else None,
                starts["peak_bytes"] / 2**20,
                scene["memory_textures"]["total"] / 2**20,
                scene["settings"][FUSED]["stream_bytes"] / 2**20,
            )
        )
    notes = [
        "raystream render: a new process, caches of driver and loops warm, or empty (first); peak: the process's, "
        "textures of a software driver included; streams: of --fuse ray."
    ]
    for kind in ("cold phases", "warm phases"):
        for name, starts in data["starts"].items():
            if kind in starts:
                parts = ", ".join(f"{part} {seconds:.2f}" for part, seconds in starts[kind].items())
                notes.append(f"{name}, {kind}, seconds: {parts}.")
    columns = ("scene", "load ms", "grid ms", "render s", "first s", "peak MiB", "memories MiB", "streams MiB")
    return Table("new processes, and memory", columns, rows, "\n".join(notes))


def _figure(data: dict[str, Any]) -> Any:
    if not data["scenes"]:
        return None
    figure, (axes,) = plots.figure(9.0, 4.2)
    names = list(SETTINGS)
    names += [n for n in next(iter(data["scenes"].values()))["settings"] if n.startswith("Embree")]
    values = {name: [scene["settings"][name]["mrays"] for scene in data["scenes"].values()] for name in names}
    plots.bars(axes, list(data["scenes"]), values, text="%.2g")
    axes.set_ylabel("million rays per second")
    axes.set_title(f"Primary rays, {data['size'][0]} x {data['size'][1]}, {data['facts']['renderer']}", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    return figure
