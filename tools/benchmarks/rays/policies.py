"""Policies of the multipass machine: passes of each over a lower bound.

The lower bound is the most traversal steps of any ray plus the most triangle tests of any ray: a pass serves one
kernel, with one call per ray. Counted are passes of the loop of traversal and intersection with any active ray; one
call per pass (unroll 1), nothing fused. All figures come from an exact simulation (`reproduction.simulators.schedule`)
of counted runs of the machine; for small pictures the machine itself runs beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from reproduction.simulators.schedule import LOOP, WHOLE_RUNS, Runs, Schedule, Simulation, extract

import raystream
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.rays.cast import Setting, make
from benchmarks.scenes import found
from raystream.renderer.renderer import Renderer
from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold

ABOUT = "passes over the lower bound by policy, and by threshold as a curve"

SCENES = ("cornell", "teapotahedron", "bunny", "forest inside", "forest overview", "dragon", "stadium")
OF_ACTIVE, OF_ALL = "threshold 20 % of active", "threshold 20 % of all"
POLICIES: dict[str, Policy] = {
    "naive": Naive(),
    OF_ACTIVE: Threshold(0.2, "active"),
    OF_ALL: Threshold(0.2, "all"),
    "most-work": MostWork(),
    "sweep": Sweep(),
}
DENOMINATORS = ("active", "all")
SHARES = (*range(1, 20), *range(20, 101, 2))  # percent
MOST_PASSES = 2500  # of the machine itself, for the check against the simulation
BOUND = "most steps of any ray + most tests of any ray"
PASSES = "of traversal and intersection, with any ray in them; unroll 1, nothing fused"
PUBLISHED = {
    "naive": "at least 5 times the optimum (Purcell et al. 2002, section 3.2)",
    "threshold": "to intersect once 20 % of the rays wait for it is the best found (Purcell et al. 2002, section 3.2)",
    "passes": "1.1 to 2.0 times the lower bound (Purcell 2004, table 5.2)",
}


def run(options: Options) -> Result:
    """Simulate every scene, and check a small picture of each on the machine."""
    views, missing = found(("cornell", "teapotahedron") if options.quick else SCENES)
    size, small = ((96, 96), (32, 32)) if options.quick else ((512, 512), (64, 64))
    shares = SHARES[::6] if options.quick else SHARES
    data: dict[str, Any] = {"facts": facts(options.open()), "bound": BOUND, "passes": PASSES, "published": PUBLISHED}
    data |= {"size": size, "check_size": small, "missing": missing, "scenes": {}}
    for view in views:
        say(f"{view.name}: runs of rays, and policies")
        chosen: dict[str, Any] = {"program": "cast", "accel": "grid"}
        renderer = Renderer(raystream.load(view.source), camera=view.camera, device=options.open(), **chosen)
        runs = _runs(renderer, size)
        simulation, loop = Simulation(runs), int((np.diff(runs.start) > 0).sum())
        data["scenes"][view.name] = {
            **{"triangles": len(renderer.prepared.triangles), "camera": renderer.camera.text()},
            **{"fov": renderer.camera.fov, "rays": runs.rays, "rays_in_loop": loop, "bound": runs.bound},
            **{"most_steps": int(runs.steps.max(initial=0)), "most_tests": int(runs.tests.max(initial=0))},
            **{"calls": runs.calls, "steps": int(runs.steps.sum()), "tests": int(runs.tests.sum())},
            "policies": {name: _row(simulation.play(policy), runs) for name, policy in POLICIES.items()},
            "thresholds": {
                of: {str(share): _row(simulation.play(Threshold(share / 100, of)), runs) for share in shares}
                for of in DENOMINATORS
            },
            "check": _check(renderer, small),
        }
        renderer.gpu_scene.resources.release()
    return Result(data, _tables(data))


def _runs(renderer: Renderer, size: tuple[int, int]) -> Runs:
    """The runs of every ray of a picture, from the counters of the real machine."""
    with renderer.device.current():
        return extract(make(renderer, Setting("multipass", fuse="none", unroll=WHOLE_RUNS), size, counting=True))


def _row(schedule: Schedule, runs: Runs) -> dict[str, Any]:
    """passes; over the bound; average share of the stream per pass; passes of each kernel."""
    row = {"passes": schedule.passes, "over_bound": schedule.passes / max(1, runs.bound)}
    row |= dict(zip(("traverse", "intersect"), schedule.by_kernel, strict=True))
    return {**row, "active_share": schedule.active_share(runs.rays)}


def _check(renderer: Renderer, size: tuple[int, int]) -> dict[str, dict[str, Any]]:
    """Passes and rays served on the machine and in the simulation, for policies that end soon enough."""
    simulation = Simulation(_runs(renderer, size))
    out: dict[str, dict[str, Any]] = {}
    for name, policy in POLICIES.items():
        expected = simulation.play(policy)
        if expected.passes > MOST_PASSES:
            continue
        with renderer.device.current():
            machine = make(renderer, Setting("multipass", policy=policy), size, counting=True)
            machine.finish()
            passes = [p for p in machine.stats.passes if p.step in LOOP and p.fragments]
            machine.release()
        equal = len(passes) == expected.passes and sum(p.fragments for p in passes) == sum(expected.served)
        out[name] = {"simulated": expected.passes, "machine": len(passes), "equal": equal}
    return out


def _tables(data: dict[str, Any]) -> list[Table]:
    over: list[tuple[Any, ...]] = []
    least: list[tuple[Any, ...]] = []
    for name, scene in data["scenes"].items():
        policies, thresholds = scene["policies"], scene["thresholds"]
        ratios = [row["over_bound"] for row in policies.values()]
        over.append((name, scene["most_steps"], scene["most_tests"], scene["bound"], *ratios))
        # The best threshold of each kind, the lowest among equals: passes and share.
        best = [min((row["passes"], int(share)) for share, row in thresholds[of].items()) for of in DENOMINATORS]
        passes = max(1, min([each for each, _ in best] + [row["passes"] for row in policies.values()]))
        near = [int(s) for s, row in thresholds["active"].items() if row["passes"] <= 1.1 * best[0][0]]
        naive, of_active, of_all = (policies[key]["passes"] / passes for key in ("naive", OF_ACTIVE, OF_ALL))
        cells = (naive, of_active, f"{best[0][1]} %", f"{min(near)} .. {max(near)} %", of_all, f"{best[1][1]} %")
        least.append((name, *cells))
    width, height = data["size"]
    checks = [check["equal"] for scene in data["scenes"].values() for check in scene["check"].values()]
    note = (
        f"{width} x {height} rays; bound: {BOUND}; passes: {PASSES}.\n"
        f"Published: {'; '.join(f'{key}, {words}' for key, words in PUBLISHED.items())}.\n"
        f"The machine itself, at {data['check_size'][0]} x {data['check_size'][1]}: {sum(checks)} of {len(checks)} "
        "pass counts equal to the simulation's."
    )
    columns = ("scene", "naive", "20 % of active", "best of active", "within 10 %", "20 % of all", "best of all")
    return [
        Table("passes over the lower bound", ("scene", "most steps", "most tests", "bound", *POLICIES), over, note),
        Table("passes over the least found, and the best thresholds", columns, least),
    ]
