"""Cost of masks and gain of early tests: every mask, by share of active rays and by unrolling.

First one pass alone: a kernel of fixed length on a given share of the rays, in blocks of 4 x 4 rays (coherent) or
singly (scattered), including its mask; then whole runs of the ray caster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

import raystream
from benchmarks import plots
from benchmarks.common import Options, Result, Table, facts, interleave, say
from benchmarks.scenes import Absent, View, view
from benchmarks.stream.machines import Setting, make, whole_run
from raystream.renderer.renderer import Renderer
from raystream.stream.compile.generate import Form, fragment, inputs, outputs
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.source import read_shader
from raystream.stream.declare.kernel import INOUT, Kernel
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import EDGE
from raystream.stream.machines.count import Queries
from raystream.stream.machines.mask import DEPTH_OF_STEP, MASKS
from raystream.stream.machines.multipass import STATE

ABOUT = "cost of masks and gain of early-z, by share of active rays and by unroll"

SHARES = (0.0, 0.01, 0.06, 0.25, 1.0)
BLOCKS = {"4 x 4 blocks": 4, "single rays": 1}
UNROLLS: dict[str, int | tuple[int, ...] | str] = {
    "1/1": 1,
    "4/2": (4, 2),
    "8/8": 8,
    "32/32": 32,
    "auto": "auto",
}
PASS_RUNS, WHOLE_RUNS, REPEATS = 7, 3, 8

WORK = Record("Work", Field("value", "float"))
SPIN = Kernel("spin", (INOUT("work", WORK),), exits=("again", "done"))
SPIN_TURNS = 200
SPIN_SOURCE = f"""int spin(inout Work work) {{
    for (int turn = 0; turn < {SPIN_TURNS}; ++turn) work.value = fract(work.value * 1.37 + 0.11);
    return work.value < 0.0 ? EXIT_DONE : EXIT_AGAIN;  // never done, so that a pass may be repeated
}}"""


def run(options: Options) -> Result:
    """Single passes, then whole runs."""
    device = options.open()
    edge = 128 if options.quick else 512
    runs, whole_runs = (1, 1) if options.quick else (PASS_RUNS, WHOLE_RUNS)
    say("single passes")
    passes = _passes(device, edge, SHARES[1::2] if options.quick else SHARES, runs)
    data: dict[str, Any] = {
        "facts": facts(device),
        "size": (edge, edge),
        "kernel_turns": SPIN_TURNS,
        "runs": runs,
        "passes_per_run": REPEATS,
        "whole_runs": whole_runs,
        "warm_up": 1,
        "missing": [],
        "passes": passes,
    }
    try:
        each = view("cornell" if options.quick else "bunny")
    except Absent as error:
        data["missing"].append(f"bunny: {error}")
        each = view("teapotahedron")
    say(f"{each.name}: whole runs")
    data["scene"] = each.name
    data["whole"] = _whole(each, device, edge, ("8/8", "auto") if options.quick else tuple(UNROLLS), whole_runs)
    return Result(data, _tables(data), plots.drawn(_figure, data))


# -- one pass ------------------------------------------------------------------------------------------------------


class _Bench:
    """One kernel pass of a stream under a mask, as `raystream.stream.machines.multipass` draws it."""

    def __init__(self, device: Device, mask: str, edge: int) -> None:
        size = (edge, edge)
        self.device, self.edge = device, edge
        spin = State("spin", SPIN, {"again": "spin", "done": DONE})
        program = Program("spin", {"work": WORK}, inputs=("work",), results=("work",), states=(spin,), start="spin")
        linked = LinkedProgram(program, ())
        steps = linked.steps("none")
        self.streams = {"state": Stream(device, STATE, size, channels=2), "work": Stream(device, WORK, size)}
        self.tiles = tiles = Tiles(device, size, EDGE)
        self.queries = Queries(device)
        tiles.keep(None)
        self.mask = MASKS[mask](device, linked, steps, self.streams["state"], tiles)
        form = Form(scheduled=True, discards=self.mask.discards)
        source = fragment(
            linked,
            steps[0],
            form,
            Resources(device),
            lambda name: SPIN_SOURCE if name == SPIN.file else read_shader(name),
        )
        self.drawing = Drawing(device, Shader(device, source), tiles)
        self.drawing.shader.set("depth", DEPTH_OF_STEP)
        self.drawing.shader.set("unroll", 1)
        self.samplers = [(f"in_{name}", self._texture(name)) for name in inputs(linked, steps[0], form)]
        back = device.texture_barrier is None
        targets = [self._texture(name, back) for name in outputs(linked, steps[0], form)]
        self.target = self.mask.attach(targets)

    def _texture(self, name: str, back: bool = False) -> moderngl.Texture:
        stream = self.streams[name.split("_")[0]]
        return (stream.back if back else stream.textures)[0]

    def activate(self, active: NDArray[np.bool_]) -> None:
        """Set the rays (edge, edge) that wait for the kernel; the others are done."""
        state = np.zeros((self.edge, self.edge, 2), np.float32)
        state[..., 0] = active
        self.streams["state"].write_texels([state])

    def run(self) -> None:
        """Mask and kernel, repeated, then a wait for the device."""
        context = self.device.context
        alive = np.ones((self.tiles.rows, self.tiles.columns), bool)  # tiles with rays
        for _ in range(REPEATS):
            if self.device.texture_barrier is not None:
                self.device.texture_barrier()
            self.mask.select(1)
            self.target.use()
            context.disable(moderngl.BLEND | moderngl.CULL_FACE)
            self.mask.enter(1)
            for name, texture in self.samplers:
                self.drawing.shader.bind(name, texture)
            if not self.mask.by_tiles:
                self.drawing.render()
            elif alive.any():
                self.tiles.keep(alive)
                queries = [self.queries.take() for _ in range(self.tiles.count)]
                self.drawing.render_each(queries)
                alive[alive] = [self.queries.read(query) > 0 for query in queries]
            self.mask.leave()
        context.finish()


def active_rays(edge: int, share: float, block: int, seed: int = 1) -> NDArray[np.bool_]:
    """(edge, edge): a share of the rays, exact to a block, in random square blocks of ``block`` rays an edge."""
    side = edge // block
    chosen = np.zeros(side * side, bool)
    chosen[np.random.default_rng(seed).permutation(side * side)[: round(share * side * side)]] = True
    return np.kron(chosen.reshape(side, side), np.ones((block, block), bool))


def _passes(device: Device, edge: int, shares: tuple[float, ...], runs: int) -> list[dict[str, Any]]:
    rows = []
    with device.current():
        benches = {mask: _Bench(device, mask, edge) for mask in MASKS}
        for pattern, block in BLOCKS.items():
            for share in shares:
                active = active_rays(edge, share, block)
                for bench in benches.values():
                    bench.activate(active)
                timings = interleave({mask: bench.run for mask, bench in benches.items()}, runs)
                for mask, timing in timings.items():
                    row = {key: value / REPEATS if "ms" in key else value for key, value in timing.to_json().items()}
                    rows.append({"mask": mask, "pattern": pattern, "share": float(active.mean()), **row})
        for bench in benches.values():
            for stream in bench.streams.values():
                stream.release()
    return rows


# -- whole runs ----------------------------------------------------------------------------------------------------


def _whole(each: View, device: Device, edge: int, unrolls: tuple[str, ...], runs: int) -> list[dict[str, Any]]:
    renderer = Renderer(raystream.load(each.source), camera=each.camera, device=device, program="cast", accel="grid")
    cases: dict[tuple[str, str], Callable[[], None]] = {}
    machines = {}
    with device.current():
        for unroll in unrolls:
            for mask in MASKS:
                setting = Setting("multipass", unroll=UNROLLS[unroll], mask=mask)
                machines[unroll, mask] = make(renderer, setting, (edge, edge))
                cases[unroll, mask] = whole_run(machines[unroll, mask])
    timings = interleave({f"{unroll} {mask}": case for (unroll, mask), case in cases.items()}, runs)
    rows = []
    for unroll, mask in cases:
        machine, timing = machines[unroll, mask], timings[f"{unroll} {mask}"]
        rows.append(
            {
                "unroll": unroll,
                "mask": mask,
                **timing.to_json(),
                "ratio": timing.ratio(timings[f"{unroll} depth"]),
                "cpu_ratio": timing.cpu_ratio(timings[f"{unroll} depth"]),
                "passes": machine.stats.kernel_passes,
                "mask_passes": machine.stats.mask_passes,
                "tiles": machine.stats.tiles,
            }
        )
        with device.current():
            machine.release()
    renderer.gpu_scene.resources.release()
    return rows


# -- output --------------------------------------------------------------------------------------------------------


def _tables(data: dict[str, Any]) -> list[Table]:
    edge = data["size"][0]
    cost: dict[tuple[str, float], dict[str, dict[str, float]]] = {}
    for row in data["passes"]:
        cost.setdefault((row["pattern"], row["share"]), {})[row["mask"]] = row
    rows = [
        (
            f"{pattern}, {100 * share:.3g} %",
            *(row["ms"] for row in by_mask.values()),
            *(row["cpu_ms"] for row in by_mask.values()),
            by_mask["none"]["cpu_ms"] / by_mask["depth"]["cpu_ms"],
        )
        for (pattern, share), by_mask in cost.items()
    ]
    note = (
        f"{edge} x {edge} rays, a kernel of {data['kernel_turns']} turns; median of {data['runs']} runs of "
        f"{data['passes_per_run']} passes after {data['warm_up']} untimed, masks in turn, the mask's own pass included."
    )
    whole = [
        (
            r["unroll"],
            r["mask"],
            r["ms"],
            r["cpu_ms"],
            r["ratio"],
            r["cpu_ratio"],
            r["passes"],
            r["mask_passes"],
            r["tiles"],
        )
        for r in data["whole"]
    ]
    runs = f"{edge} x {edge} rays, nothing fused, policy sweep; median of {data['whole_runs']} runs, all in turn."
    heads = [f"{mask} {unit}" for unit in ("ms", "CPU ms") for mask in MASKS]
    columns = ("unroll", "mask", "ms", "CPU ms", "to depth", "CPU to depth", "passes", "mask passes", "tiles")
    return [
        Table("one pass, by active rays", ("active", *heads, "CPU none / depth"), rows, note),
        Table(f"{data['scene']}, whole runs", columns, whole, runs),
    ]


def _figure(data: dict[str, Any]) -> Any:
    figure, (left, right) = plots.figure(11.0, 4.4, 2)
    for number, mask in enumerate(MASKS):
        for pattern, style in zip(BLOCKS, ("-", "--"), strict=True):
            rows = [r for r in data["passes"] if (r["mask"], r["pattern"]) == (mask, pattern)]
            left.plot(
                [100 * r["share"] for r in rows],
                [r["ms"] for r in rows],
                style,
                color=plots.COLORS[number],
                marker=plots.MARKERS[number],
                markersize=4.5,
                label=f"{mask}, {pattern}",
            )
    left.set_xscale("symlog", linthresh=1)
    left.set_yscale("log")
    left.set_xticks([0, 1, 6, 25, 100], ["0", "1", "6", "25", "100"])
    left.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    left.minorticks_off()
    left.set_xlabel("active rays, %")
    left.set_ylabel("ms for one pass")
    left.legend(frameon=False, fontsize=8)
    unrolls = list(dict.fromkeys(r["unroll"] for r in data["whole"]))
    values = {mask: [r["ms"] for r in data["whole"] if r["mask"] == mask] for mask in MASKS}
    plots.bars(right, unrolls, values, text="%.0f", size=7)
    right.set_xlabel("most calls in a pass: traversal / intersection")
    right.set_ylabel(f"ms for {data['scene']}")
    right.legend(frameon=False, fontsize=8, title="mask", title_fontsize=8)
    edge = data["size"][0]
    figure.suptitle(f"Masks, {edge} x {edge} rays, {data['facts']['renderer']}", fontsize=10)
    return figure
