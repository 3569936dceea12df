"""The multipass machine's scheduler without the machine: exact, from what each ray does.

A ray in the loop of traversal and intersection alternates between *runs*: so many steps, then so many triangle
tests, and so on until it leaves. `extract` reads these runs from the real machine; `Simulation` then plays any policy
over them, pass by pass, at the cost of one step per run instead of one fragment per call. The policies are the
machine's own objects, so that no rule is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from viewer.renderer.renderer import Renderer
from viewer.stream.machines.policy import Policy

from .machines import Setting, make

LOOP = ("traverse", "intersect")  # the states of the loop, in the program's order
WHOLE_RUNS = 1 << 20  # calls in a pass: more than any run has


@dataclass(frozen=True)
class Runs:
    """What every ray of a picture does in the loop.

    start  : (rays + 1,) int64, where each ray's runs begin in ``length``.
    length : (runs,) int32 > 0, calls in each run: of traversal, of intersection, of traversal, ...
    steps, tests : (rays,) int64, a ray's calls of the two kernels in all.
    """

    start: NDArray[np.int64]
    length: NDArray[np.int32]
    steps: NDArray[np.int64]
    tests: NDArray[np.int64]

    @property
    def rays(self) -> int:
        """Rays of the stream, those that never enter the loop too."""
        return len(self.start) - 1

    @property
    def bound(self) -> int:
        """Passes that no policy can do with less: the most steps of any ray plus the most tests of any ray.

        A pass serves one state, each ray in it by one call (Purcell 2004, section 5.2).
        """
        return int(self.steps.max(initial=0) + self.tests.max(initial=0))

    @property
    def calls(self) -> int:
        """Kernel calls of all rays."""
        return int(self.length.sum(dtype=np.int64))

    @classmethod
    def from_lists(cls, rays: list[list[int]]) -> Runs:
        """From each ray's runs, written out."""
        counts = np.array([len(ray) for ray in rays], np.int64)
        start = np.concatenate([[0], np.cumsum(counts)])
        length = np.array([n for ray in rays for n in ray], np.int32)
        return cls(start, length, *_totals(start, length))


def _totals(start: NDArray[np.int64], length: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ray = np.repeat(np.arange(len(start) - 1), np.diff(start))
    testing = (np.arange(len(length)) - start[ray]) % 2 == 1
    rays = len(start) - 1
    steps = np.bincount(ray, np.where(testing, 0, length), rays).astype(np.int64)
    return steps, np.bincount(ray, np.where(testing, length, 0), rays).astype(np.int64)


def extract(renderer: Renderer, size: tuple[int, int]) -> Runs:
    """The runs of every ray of a picture, from the counters of the real machine.

    With no limit to the calls of a pass, a pass takes each of its rays through one whole run; what a pass added to the
    per-ray counters is that run. Raises RuntimeError where the counters contradict that.
    """
    with renderer.device.current():
        machine = make(renderer, Setting("multipass", fuse="none", unroll=WHOLE_RUNS), size, counting=True)
        before = {state: np.zeros(machine.rays, np.int64) for state in LOOP}
        rays: list[NDArray] = []
        kinds: list[NDArray] = []
        lengths: list[NDArray] = []
        for _ in machine.run():
            counted = machine.calls()
            for kind, state in enumerate(LOOP):
                now = counted[state].ravel().astype(np.int64)
                ran = np.flatnonzero(now > before[state])
                rays.append(ran)
                kinds.append(np.full(len(ran), kind, np.int8))
                lengths.append((now - before[state])[ran])
                before[state] = now
        number = machine.rays
        machine.release()
    ray = np.concatenate(rays)
    order = np.argsort(ray, kind="stable")
    ray = ray[order]
    testing, length = np.concatenate(kinds)[order], np.concatenate(lengths)[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(ray, minlength=number))])
    if not np.array_equal(testing, (np.arange(len(ray)) - start[ray]) % 2):
        raise RuntimeError("a ray's runs do not alternate between traversal and intersection")
    return Runs(start, length.astype(np.int32), before["traverse"], before["intersect"])


@dataclass(frozen=True)
class Schedule:
    """What a policy came to. passes: of the loop's two kernels, those on which any ray ran; served: rays that ran,
    added up over them, as (traversal, intersection); by_kernel: passes of each."""

    passes: int
    by_kernel: tuple[int, int]
    served: tuple[int, int]

    def active_share(self, rays: int) -> float:
        """Average share of a stream of so many rays that a pass ran on."""
        return sum(self.served) / max(1, self.passes * rays)


class Simulation:
    """Plays policies over the same runs, with one kernel call per pass and ray (unroll 1, nothing fused).

    Rays that wait for a kernel are kept by the number of that kernel's pass which ends their run, so that a pass costs
    only as much as rays change from one kernel to the other.
    """

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.ring = int(runs.length.max(initial=0)) + 1
        self._next = np.empty(runs.rays, np.int32)  # linked lists of the rays that end a run at the same pass
        self._at = np.empty(runs.rays, np.int64)
        self._heads = np.empty((2, self.ring), np.int32)

    def play(self, policy: Policy) -> Schedule:
        """One whole picture under a policy."""
        runs, heads, waiting = self.runs, self._heads, np.zeros(2, np.int64)
        _begin(runs.start, runs.length, self._next, self._at, heads, waiting)
        clock = np.zeros(2, np.int64)  # passes of each kernel so far, modulo the ring
        passes, served = [0, 0], [0, 0]
        while waiting.any():
            for k in policy.choose(waiting.tolist(), runs.rays):
                if waiting[k]:  # the machine's pass on no ray is not counted
                    passes[k] += 1
                    served[k] += int(waiting[k])
                _serve(k, runs.start, runs.length, self._next, self._at, heads, waiting, clock)
        return Schedule(sum(passes), (passes[0], passes[1]), (served[0], served[1]))


@njit(cache=True)
def _begin(start, length, follows, at, heads, waiting):
    heads[:] = -1
    for ray in range(len(start) - 1):
        at[ray] = start[ray]
        if start[ray] < start[ray + 1]:
            slot = length[start[ray]]
            follows[ray] = heads[0, slot]
            heads[0, slot] = ray
            waiting[0] += 1


@njit(cache=True)
def _serve(kernel, start, length, follows, at, heads, waiting, clock):
    """One pass: rays whose run it ends wait for the other kernel, or are done."""
    ring = heads.shape[1]
    clock[kernel] = (clock[kernel] + 1) % ring
    ray = heads[kernel, clock[kernel]]
    heads[kernel, clock[kernel]] = -1
    while ray >= 0:
        after = follows[ray]
        waiting[kernel] -= 1
        at[ray] += 1
        if at[ray] < start[ray + 1]:
            slot = (clock[1 - kernel] + length[at[ray]]) % ring
            follows[ray] = heads[1 - kernel, slot]
            heads[1 - kernel, slot] = ray
            waiting[1 - kernel] += 1
        ray = after
