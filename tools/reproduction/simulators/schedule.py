"""The multipass machine's scheduler without the machine: exact, from what each ray does.

A ray in the loop of traversal and intersection alternates between *runs*: so many steps, then so many triangle
tests, and so on until it leaves. `extract` reads these runs from the real machine, and
`reproduction.simulators.walk` finds them without one; `Simulation` then plays any policy over them, pass by pass, at
the cost of one step per run instead of one fragment per call. The policies are the machine's own objects, so that no
rule is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.programs import LEVELS, trace
from raystream.renderer.renderer import Renderer
from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Policy, Sweep

LOOP = ("traverse", "intersect")  # the states of the loop, in the program's order


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
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls.from_lengths(start, np.array([n for ray in rays for n in ray], np.int32))

    @classmethod
    def from_lengths(cls, start: NDArray[np.int64], length: NDArray[np.int32]) -> Runs:
        """From ``start`` and ``length``; steps and tests are their sums."""
        steps, tests = np.zeros((2, len(start) - 1), np.int64)
        jit.run(_totals, start, length, steps, tests)
        return cls(start, length, steps, tests)

    def unrolled(self, steps: int, tests: int) -> Runs:
        """The runs in passes of so many calls of a kernel at most: n calls take n / steps passes, rounded up."""
        length = np.empty_like(self.length)
        jit.run(_unroll, self.start, self.length, steps, tests, length)
        return Runs.from_lengths(self.start, length)


def _totals(start, length, steps, tests):
    for ray in range(len(start) - 1):
        for k in range(start[ray], start[ray + 1]):
            if (k - start[ray]) % 2 == 0:
                steps[ray] += length[k]
            else:
                tests[ray] += length[k]


def _unroll(start, length, steps, tests, out):
    for ray in range(len(start) - 1):
        for k in range(start[ray], start[ray + 1]):
            calls = steps if (k - start[ray]) % 2 == 0 else tests
            out[k] = (length[k] + calls - 1) // calls


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
        jit.run(_begin, runs.start, runs.length, self._next, self._at, heads, waiting)
        clock = np.zeros(2, np.int64)  # passes of each kernel so far, modulo the ring
        passes, served = [0, 0], [0, 0]
        serve = [
            jit.bind(_serve, k, runs.start, runs.length, self._next, self._at, heads, waiting, clock) for k in (0, 1)
        ]
        while waiting.any():
            for k in policy.choose(waiting.tolist(), runs.rays):
                if waiting[k]:  # the machine's pass on no ray is not counted
                    passes[k] += 1
                    served[k] += int(waiting[k])
                serve[k]()
        return Schedule(sum(passes), (passes[0], passes[1]), (served[0], served[1]))


def _begin(start, length, follows, at, heads, waiting):
    for k in range(heads.shape[0]):
        for slot in range(heads.shape[1]):
            heads[k, slot] = -1
    for ray in range(len(start) - 1):
        at[ray] = start[ray]
        if start[ray] < start[ray + 1]:
            slot = length[start[ray]]
            follows[ray] = heads[0, slot]
            heads[0, slot] = ray
            waiting[0] += 1


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


WHOLE_RUNS = 1 << 20  # calls in a pass: more than any run has
_SWEEP = Sweep()


def trace_machine(renderer: Renderer, rays: NDArray, policy: Policy = _SWEEP, unroll: int = WHOLE_RUNS) -> Machine:
    """The multipass machine over given rays (N,) of record RAY, ready to run, in passes of `WHOLE_RUNS` calls of a
    kernel, or of fewer by a policy; it counts calls. The renderer's device must be current. The last row is filled with
    the first rays again: those of `extract` beyond N are to be left out."""
    columns = min(256, len(rays))
    rows = -(-len(rays) // columns)
    machine = Multipass(
        renderer.device,
        renderer.gpu_scene.bind(trace(LEVELS[renderer.prepared.structure.levels]), renderer.settings, stepwise=True),
        (columns, rows),
        resources=renderer.gpu_scene.resources,
        counting=True,
        fuse="none",
        policy=policy,
        unroll=unroll,
    )
    machine.write("ray", np.resize(rays, columns * rows).reshape(rows, columns))
    return machine


def extract(machine: Machine) -> Runs:
    """The runs of every ray of a machine that counts and serves whole runs in a pass: see `WHOLE_RUNS`.

    What a pass added to the per-ray counters is a run. The machine is run and released; its device must be current.
    Raises RuntimeError where the counters contradict that.
    """
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
    start = np.concatenate([[0], np.cumsum(np.bincount(ray, minlength=number))]).astype(np.int64)
    if not np.array_equal(testing, (np.arange(len(ray)) - start[ray]) % 2):
        raise RuntimeError("a ray's runs do not alternate between traversal and intersection")
    return Runs(start, length.astype(np.int32), before["traverse"], before["intersect"])
