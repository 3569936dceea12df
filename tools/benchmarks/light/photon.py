"""The bitonic merge sort of photons by cell: T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), section 6.2.2.

Stages, masks and instructions beside the published ones are in the report of `tools/reproduce.py`.
"""

from __future__ import annotations

import statistics
from typing import Any

from reproduction import photon_cases, timed

from benchmarks.common import Options, Result, Table, facts, say

ABOUT = "photon mapping: the bitonic merge sort of photons by cell, and the search for each cell's first"
RUNS = 3
SORTED = (1 << 20, 1 << 13, 1 << 14, 1 << 16)  # photons: the dissertation's, and those of its three scenes


def run(options: Options) -> Result:
    """Sort random photons."""
    device = options.open()
    counts, runs = (SORTED[1:2], 1) if options.quick else (SORTED, RUNS)
    say("sorts")
    with photon_cases.sorts(device, counts) as cases:
        measured = timed.measured(cases, runs)["cases"]
    rows: list[dict[str, Any]] = []
    for photons in counts:
        parts = {name: statistics.median(values) for name, values in measured[str(photons)]["parts"].items()}
        row = {"photons": photons, "passes": int(parts["passes"]), "sorted": bool(parts["sorted"])}
        rows.append({**row, "ms": 1e3 * parts["sort"], "search ms": 1e3 * parts["search"]})
    note = "Random cells. Published: 210 passes for 1024 x 1024 photons."
    table = Table("bitonic merge sort", tuple(rows[0]), [tuple(row.values()) for row in rows], note)
    return Result({"facts": facts(device), "missing": [], "runs": runs, "sort": rows}, [table])
