"""What the authors wished for, and what became of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..context import Context
from ..report import WISHES, Parts, Wish, section, told

ADAPTIVE = Path(__file__).parents[2] / "results" / "llvmpipe-amd-epyc-2-cpus" / "adaptive.json"  # of tools/bench.py


@section("wishes", paper="all", title="The authors' wishes, and what became of them", order=5)
def wishes(context: Context) -> Parts:
    """Each wish of each paper."""
    yield told("wishes")
    gains = adaptive_gains()
    for where, wish, field, here, _ in WISHES:
        yield Wish(where, wish, field, here.replace("{gains}", f"{min(gains):.1f} to {max(gains):.1f}"))


def adaptive_gains() -> list[float]:
    """CPU time times the square of the error, without adaptive sampling over with it, of each scene and error."""
    stops = json.loads(ADAPTIVE.read_text(encoding="utf-8"))["stops"]
    found = []
    for scene in stops.values():
        for goal in scene["goals"]:
            off, on = (
                np.mean([one["seconds"] * one["error"] ** 2 for one in scene[how] if one["goal"] == goal])
                for how in ("off", "on")
            )
            found.append(float(off / on))
    return found
