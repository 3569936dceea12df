"""Counts of waiting rays in the multipass machine: passes, waits and times by occlusion queries and by the census.

Part of the benchmark of policies: primary rays through the published machine, one kernel per pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.common import Table, interleave
from benchmarks.stream.machines import Setting, make, whole_run
from raystream.renderer.renderer import Renderer
from raystream.stream.machines.count import COUNT_MODES
from raystream.stream.machines.policy import Naive, Sweep, Threshold

RUNS = 7
SETTINGS = {
    "sweep": Setting("multipass", unroll="auto"),
    "sweep, unroll 4": Setting("multipass", unroll=4),
    "sweep, kill mask": Setting("multipass", unroll="auto", mask="kill"),
    "sweep, no mask": Setting("multipass", unroll="auto", mask="none"),
    "threshold 20 %, unroll 16": Setting("multipass", policy=Threshold(0.2), unroll=16),
    "naive, unroll auto": Setting("multipass", policy=Naive(), unroll="auto"),
    "fuse ray": Setting("multipass", fuse="ray", policy=Sweep(), unroll="auto"),
}


def measure(renderer: Renderer, size: tuple[int, int], runs: int = RUNS) -> dict[str, dict[str, Any]]:
    """By setting and count: seconds (wall and CPU), passes of each kind and waits of one run."""
    out: dict[str, dict[str, Any]] = {}
    for name, setting in SETTINGS.items():
        machines: dict[str, Any] = {}
        with renderer.device.current():
            for count in COUNT_MODES:
                machines[count] = make(renderer, setting, size)
                machines[count].count = count
        timings = interleave({count: whole_run(machine) for count, machine in machines.items()}, runs)
        rows = {}
        for count, machine in machines.items():
            stats = machine.stats
            rows[count] = {
                **timings[count].to_json(),
                "kernel_passes": stats.kernel_passes,
                "mask_passes": stats.mask_passes,
                "count_passes": stats.count_passes,
                "waits": stats.waits,
            }
        rows["query"]["cpu_over_census"] = timings["query"].cpu_ratio(timings["census"])
        out[name] = rows
        with renderer.device.current():
            for machine in machines.values():
                machine.release()
    return out


def table(scenes: dict[str, Any], size: Sequence[int]) -> Table:
    """Both counts side by side."""
    rows = []
    for scene, data in scenes.items():
        for setting, both in data["counts"].items():
            query, census = both["query"], both["census"]
            rows.append(
                (
                    scene,
                    setting,
                    *(
                        f"{row['kernel_passes']} + {row['mask_passes']} + {row['count_passes']}"
                        for row in (query, census)
                    ),
                    f"{query['waits']} / {census['waits']}",
                    f"{query['ms']:.3g} / {census['ms']:.3g}",
                    query["cpu_over_census"],
                )
            )
    heads = ("scene", "policy", "passes by queries", "by census", "waits", "ms", "CPU, queries / census")
    note = (
        f"{size[0]} x {size[1]} primary rays; passes: kernel + mask + count; two figures: by queries / by the census."
    )
    return Table("counts by occlusion queries and by the census", heads, rows, note)
