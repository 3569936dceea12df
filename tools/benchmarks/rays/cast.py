"""The ray caster over the uniform grid beside Embree: machines, first runs, memory (the default benchmark).

A timed run goes from pixels to radiance on the device, waits for it, and reads nothing back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import raystream
from benchmarks.common import Options, Result, Table, Timing, cpus, facts, interleave, say
from benchmarks.rays import embree
from benchmarks.scenes import View, found
from benchmarks.stream.machines import Setting, make, whole_run
from raystream.renderer.renderer import Renderer

ABOUT = "the ray caster's machines beside Embree: Mrays/s, first runs, memory"

SINGLEPASS, FUSED, UNFUSED = "singlepass", "multipass --fuse ray", "multipass --fuse none --unroll auto"
SETTINGS = {
    SINGLEPASS: Setting("singlepass"),
    FUSED: Setting("multipass", fuse="ray", unroll="auto"),
    UNFUSED: Setting("multipass", unroll="auto"),
}
RUNS = 9


def run(options: Options) -> Result:
    """Measure every scene."""
    views, missing = found(("cornell",) if options.quick else ("bunny", "dragon", "forest_flat"))
    size, runs = ((64, 64), 2) if options.quick else ((512, 512), RUNS)
    data: dict[str, Any] = {"facts": facts(options.open()), "size": size, "runs": runs, "missing": missing}
    data["scenes"] = {}
    for view in views:
        say(view.name)
        data["scenes"][view.name] = _scene(view, size, runs, options)
    return Result(data, _tables(data))


def _scene(view: View, size: tuple[int, int], runs: int, options: Options) -> dict[str, Any]:
    scene = raystream.load(view.source).tessellated()
    renderer = Renderer(scene, camera=view.camera, device=options.open(), program="cast", accel="grid")
    rows = _settings(renderer, size, runs)
    memories = renderer.gpu_scene.resources.bytes()
    out = {
        "triangles": len(renderer.prepared.triangles),
        "camera": renderer.camera.text(),
        "fov": renderer.camera.fov,
        "grid": dict(renderer.prepared.structure.statistics),
        "memory_textures": {**memories, "total": sum(memories.values())},
        "settings": rows,
    }
    renderer.gpu_scene.resources.release()
    return out


def _settings(renderer: Renderer, size: tuple[int, int], runs: int) -> dict[str, dict[str, Any]]:
    """Times of each setting, interleaved with the others and with Embree, where that is installed; then its
    counters."""
    with renderer.device.current():
        machines = {name: make(renderer, setting, size) for name, setting in SETTINGS.items()}
    cases: dict[str, Callable[[], Any]] = {name: whole_run(machine) for name, machine in machines.items()}
    first = {name: interleave({name: case}, 1, warm_up=0)[name].wall[0] for name, case in cases.items()}
    with ExitStack() as stack:
        peers: dict[str, embree.Embree] = {}
        if embree.available():
            origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
            corners = renderer.prepared.triangles.corners()
            for threads in dict.fromkeys((1, cpus())):
                name = f"Embree, {threads} thread{'s' if threads > 1 else ''}"
                peers[name] = stack.enter_context(embree.Embree(corners, origins, directions, threads))
        timings = interleave(cases | {name: peer.run for name, peer in peers.items()}, runs)
        theirs = {name: peer.triangles() for name, peer in peers.items()}
    rows = {name: _row(timing, timings[SINGLEPASS], size) for name, timing in timings.items()}
    with renderer.device.current():
        ours = machines[SINGLEPASS].read("hit")["triangle"].ravel()
        for name, machine in machines.items():
            rows[name] |= {
                "first_run_ms": 1e3 * first[name],
                "passes": machine.stats.kernel_passes,
                "mask_passes": machine.stats.mask_passes,
                "stream_bytes": machine.bytes,
                "kernel_calls": _kernel_calls(renderer, SETTINGS[name], size),
            }
            machine.release()
    for name, triangles in theirs.items():
        rows[name]["same_triangle"] = float((ours == triangles).mean())  # a check that the same work was timed
    return rows


def _row(timing: Timing, base: Timing, size: tuple[int, int]) -> dict[str, Any]:
    row = timing.to_json()
    row["mrays"] = size[0] * size[1] / row["ms"] / 1e3
    return {**row, "ratio": timing.ratio(base), "cpu_ratio": timing.cpu_ratio(base)}


def _kernel_calls(renderer: Renderer, setting: Setting, size: tuple[int, int]) -> dict[str, int]:
    """Calls of each state's kernel, from a counting run."""
    machine = make(renderer, setting, size, counting=True)
    machine.finish()
    calls = {state: total.calls for state, total in machine.stats.kernels.items()}
    machine.release()
    return calls


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    tables = []
    for name, scene in data["scenes"].items():
        rows = [
            (
                setting,
                *(row[key] for key in ("ms", "cpu_ms", "mrays", "ratio", "cpu_ratio")),
                row.get("passes"),
                sum(row["kernel_calls"].values()) if "kernel_calls" in row else None,
                row.get("first_run_ms"),
                row["stream_bytes"] / 2**20 if "stream_bytes" in row else None,
            )
            for setting, row in scene["settings"].items()
        ]
        title = f"{name}: {scene['triangles']:,} triangles, grid {scene['grid']['resolution']}"
        columns = ("setting", "ms", "CPU ms", "Mrays/s", "ratio", "CPU ratio", "passes", "kernel calls", "first run ms")
        note = (
            f"{width} x {height} rays, median of {data['runs']} runs in turn after an untimed one; CPU: all threads; "
            "ratio: median over rounds of time by singlepass's; kernel calls: of all rays and kernels. Scene: "
            f"{scene['memory_textures']['total'] / 2**20:.0f} MiB."
        )
        tables.append(Table(title, (*columns, "streams MiB"), rows, note))
    return tables
