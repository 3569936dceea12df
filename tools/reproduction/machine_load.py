"""How quiet a machine is while something is timed."""

from __future__ import annotations

import os
from dataclasses import dataclass

QUIET = 1.5  # load average at the start of a process up to which a machine is called quiet


@dataclass(frozen=True)
class Quiet:
    """How quiet the machine was. runs : of each case; start : load average as the process began, before any work of its
    own; load : the same of the last minute before and after the runs; others : share of the machine's CPUs that other
    processes had meanwhile, None where the system does not tell; own : CPU seconds over seconds by the clock, of the
    case that has least of the CPUs and of the one that has most."""

    runs: int
    start: float
    load: tuple[float, float]
    others: float | None
    own: tuple[float, float]


def load_average() -> float:
    """Of the last minute; 0 where the system does not tell."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0
