"""The ray caster over the uniform grid beside Embree: machines, first runs, memory (the default benchmark).

A timed run goes from pixels to radiance on the device, waits for it, and reads nothing back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import raystream
from benchmarks.common import Options, Result, Table, cpus, facts, interleave, say
from benchmarks.rays import embree
from benchmarks.scenes import found
from raystream.cameras.lens import camera_uniforms
from raystream.kernels import PIXEL
from raystream.programs import LEVELS, PICTURES
from raystream.renderer.renderer import Renderer
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import Machine
from raystream.stream.machines.policy import Policy, Sweep

ABOUT = "the ray caster's machines beside Embree: Mrays/s, first runs, memory"


@dataclass(frozen=True)
class Setting:
    """A machine and its options; all but ``machine`` belong to multipass."""

    machine: str
    fuse: str = "none"
    policy: Policy = field(default_factory=Sweep)
    unroll: int | tuple[int, ...] | str = 1
    mask: str = "depth"


SETTINGS = {
    "singlepass": Setting("singlepass"),
    "multipass --fuse ray": Setting("multipass", fuse="ray", unroll="auto"),
    "multipass --fuse none --unroll auto": Setting("multipass", unroll="auto"),
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
        scene = raystream.load(view.source).tessellated()
        renderer = Renderer(scene, camera=view.camera, device=options.open(), program="cast", accel="grid")
        settings, memories = _settings(renderer, size, runs), renderer.gpu_scene.resources.bytes()
        data["scenes"][view.name] = {
            **{"triangles": len(renderer.prepared.triangles), "grid": dict(renderer.prepared.structure.statistics)},
            **{"camera": renderer.camera.text(), "fov": renderer.camera.fov, "settings": settings},
            "memory_textures": {**memories, "total": sum(memories.values())},
        }
        renderer.gpu_scene.resources.release()
    return Result(data, _tables(data))


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
        triangles = {name: peer.triangles() for name, peer in peers.items()}
    rows, base = {}, timings["singlepass"]
    for name, timing in timings.items():
        row = timing.to_json()
        rates = {"mrays": size[0] * size[1] / row["ms"] / 1e3, "ratio": timing.ratio(base)}
        rows[name] = {**row, **rates, "cpu_ratio": timing.cpu_ratio(base)}
    with renderer.device.current():
        ours = machines["singlepass"].read("hit")["triangle"].ravel()
        for name, machine in machines.items():
            counters: dict[str, Any] = {"passes": machine.stats.kernel_passes, "mask_passes": machine.stats.mask_passes}
            counters |= {"first_run_ms": 1e3 * first[name], "stream_bytes": machine.bytes}
            machine.release()
            counted = make(renderer, SETTINGS[name], size, counting=True)
            counted.finish()
            calls = {state: total.calls for state, total in counted.stats.kernels.items()}
            counted.release()
            rows[name] |= {**counters, "kernel_calls": calls}
    for name, of_peer in triangles.items():
        rows[name]["same_triangle"] = float((ours == of_peer).mean())  # a check that the same work was timed
    return rows


def _tables(data: dict[str, Any]) -> list[Table]:
    width, height = data["size"]
    columns: tuple[str, ...] = ("setting", "ms", "CPU ms", "Mrays/s", "ratio", "CPU ratio", "passes", "kernel calls")
    columns += ("first run ms", "streams MiB")
    tables = []
    for name, scene in data["scenes"].items():
        rows = []
        for setting, row in scene["settings"].items():
            cells = [row[key] for key in ("ms", "cpu_ms", "mrays", "ratio", "cpu_ratio")]
            if "passes" in row:
                counters = (row["passes"], sum(row["kernel_calls"].values()), row["first_run_ms"])
                cells += [*counters, row["stream_bytes"] / 2**20]
            rows.append((setting, *cells, *[None] * (len(columns) - 1 - len(cells))))
        note = (
            f"{width} x {height} rays, median of {data['runs']} runs in turn after an untimed one; CPU: all threads; "
            "ratio: median over rounds of time by singlepass's; kernel calls: of all rays and kernels. Scene: "
            f"{scene['memory_textures']['total'] / 2**20:.0f} MiB."
        )
        title = f"{name}: {scene['triangles']:,} triangles, grid {scene['grid']['resolution']}"
        tables.append(Table(title, columns, rows, note))
    return tables


def make(renderer: Renderer, setting: Setting, size: tuple[int, int], counting: bool = False) -> Machine:
    """The ray caster on a machine, its pixels and camera set: every `Machine.run` makes the same picture."""
    options: dict[str, Any] = {}
    if setting.machine == "multipass":
        options = {"fuse": setting.fuse, "policy": setting.policy, "unroll": setting.unroll, "mask": setting.mask}
    stepwise = setting.machine == "multipass" and setting.fuse == "none"
    program = PICTURES["cast"](LEVELS[renderer.prepared.structure.levels])
    machine = MACHINES[setting.machine](
        renderer.device,
        renderer.gpu_scene.bind(program, renderer.settings, stepwise),
        size,
        resources=renderer.gpu_scene.resources,
        counting=counting,
        fallback=lambda: renderer.gpu_scene.bind(program, renderer.settings, stepwise=True),
        **options,
    )
    machine.set(camera_uniforms(renderer.camera, size))
    pixels = np.zeros((size[1], size[0]), PIXEL.dtype)
    pixels["at"][..., 1], pixels["at"][..., 0] = np.mgrid[: size[1], : size[0]]
    machine.write("pixel", pixels)
    return machine


def whole_run(machine: Machine) -> Callable[[], None]:
    """A complete run, device included, without read-back beyond the host's needs: the timed unit."""

    def run() -> None:
        with machine.device.current():
            machine.finish()
            machine.device.context.finish()

    return run
