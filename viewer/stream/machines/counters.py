"""Counters of a run, as data: passes, fragments, kernel calls, words moved, time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SUMMED = ("fragments", "calls", "seconds", "words_read", "words_written")  # of the passes of a step
_TOTALS = (
    "kernel_passes",
    "mask_passes",
    "count_passes",
    "waits",
    "copy_passes",
    "tiles",
    "draws",
)  # of runs, see `Stats`


@dataclass
class KernelPass:
    """One kernel pass. fragments: its rays (occlusion query); calls: kernel calls, more under unroll; seconds: on the
    device (timer query); words read and written: 32-bit words of streams and ray state."""

    step: str
    fragments: int
    calls: int
    seconds: float
    words_read: int
    words_written: int


@dataclass
class KernelTotal:
    """One state's kernel over a run.

    calls: of the kernel. words_random: 32-bit words that it fetched from memories, counted at run time.
    words_read_per_call, words_written_per_call: words of streams and ray state per call as a pass of its own, from the
    declarations. state_bytes: bytes of a ray that such a pass touches.
    """

    kernel: str
    calls: int = 0
    words_random: int = 0
    words_read_per_call: int = 0
    words_written_per_call: int = 0
    state_bytes: int = 0


@dataclass
class Stats:
    """Counters of one or more runs; `add` sums the runs of a picture rendered in parts.

    Numbers of passes are always there; ``passes``, ``kernels`` and ``calls`` only if the machine was counting.
    """

    rays: int = 0
    kernel_passes: int = 0
    passes: list[KernelPass] = field(default_factory=list)
    kernels: dict[str, KernelTotal] = field(default_factory=dict)
    mask_passes: int = 0
    count_passes: int = 0  # count passes of occlusion queries or a census
    waits: int = 0  # for the device to answer
    copy_passes: int = 0
    tiles: int = 0  # drawn singly by kernel passes
    draws: int = 0  # passes of jobs beside their runs
    calls: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)  # per ray and state, of the last run
    offered: int = 0  # rays times passes, summed over the added runs
    facts: dict[str, Any] = field(default_factory=dict)  # scene, machine, driver of these figures

    @property
    def active_share(self) -> float:
        """Average share of the stream's rays per kernel pass."""
        offered = self._rays_times_passes()
        return sum(p.fragments for p in self.passes) / offered if offered else 0.0

    def _rays_times_passes(self) -> int:
        """Rays of the stream times kernel passes, over all added runs."""
        return self.offered or len(self.passes) * self.rays

    def add(self, other: Stats) -> None:
        """Add another run's counters."""
        self.offered = self._rays_times_passes() + other._rays_times_passes()
        self.rays = max(self.rays, other.rays)
        for name in _TOTALS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.passes += other.passes
        self.calls = other.calls
        for state, total in other.kernels.items():
            previous = self.kernels.get(state)
            calls, random_words = (previous.calls, previous.words_random) if previous else (0, 0)
            self.kernels[state] = replace(
                total, calls=calls + total.calls, words_random=random_words + total.words_random
            )

    def per_step(self) -> dict[str, dict[str, float]]:
        """Passes of each step, and their fragments, calls, seconds and stream words."""
        totals: dict[str, dict[str, float]] = {}
        for kernel_pass in self.passes:
            total = totals.setdefault(kernel_pass.step, {"passes": 0, **dict.fromkeys(_SUMMED, 0)})
            total["passes"] += 1
            for name in _SUMMED:
                total[name] += getattr(kernel_pass, name)
        return totals

    def to_json(self) -> dict[str, Any]:
        """Everything but the per-ray arrays, ready for `json.dumps`."""
        return {
            **self.facts,
            "rays": self.rays,
            **{name: getattr(self, name) for name in _TOTALS},
            "average_active_share": self.active_share,
            "kernels": {state: asdict(total) for state, total in self.kernels.items()},
            "steps": self.per_step(),
            "passes": [asdict(p) for p in self.passes],
        }
