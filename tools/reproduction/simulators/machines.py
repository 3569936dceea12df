"""The papers' machines over the runs of rays: what each calls, in how many passes.

SIMD (multipass): a pass serves one kernel, every ray by one call, or by a few where it is unrolled. MIMD (branching):
one pass takes a ray from its beginning to its end. Stream buffer: the wished-for machine with conditional output, whose
streams stay in a memory on the chip; it launches a kernel on a queue that holds none but rays which wait for it.

Sources: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), sections 5.2 and 5.4.2; Purcell et al. (2002),
sections 3.2 and 4; U. J. Kapasi et al., "The Imagine Stream Processor" (2002): a stream register file of 128 kB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.stream.machines.policy import Policy, Threshold
from reproduction.published.chapter5 import KernelRow, Passes
from reproduction.simulators.cost import COLOR, EYE, INTERSECT, SETUP, STEP, TYPES, WORD, Cost, Workload, cost
from reproduction.simulators.schedule import Runs, Schedule, Simulation
from reproduction.simulators.walk import Space, walk

# Passes that every ray goes through once: eye rays, set-up in two (its 12 words are more than two outputs hold), shade.
OTHER_PASSES = 4
TWENTY = Threshold(0.2, "active")


def simd(runs: Runs, shaded: float, policy: Policy = TWENTY) -> Passes:
    """The SIMD machine's passes. shaded : s, share of the rays that hit."""
    return count(runs, shaded, Simulation(runs).play(policy))


def count(runs: Runs, shaded: float, schedule: Schedule) -> Passes:
    """A schedule of the loop, with the passes outside of it."""
    traversal, intersection = schedule.by_kernel
    total = schedule.passes + OTHER_PASSES
    active = sum(schedule.served) / max(1, runs.rays) + (OTHER_PASSES - 1) + shaded
    most = int(runs.steps.max(initial=0)), int(runs.tests.max(initial=0))
    return Passes(total, traversal, intersection, OTHER_PASSES, *most, active / total)


def by_type(space: Space, rays: Mapping[str, Iterable[NDArray]]) -> dict[str, tuple[int, int]]:
    """Passes of traversal and of intersection for each type of ray, added up over its streams.

    rays : by type (eye, shadow, reflection), streams of record RAY one after the other; each is run to its end before
    the next, as the papers count (Purcell 2004, 5.1.3 and table 5.4), so that set-up and shading are a pass for each
    stream, however long its rays take.
    """
    found = {}
    for name, streams in rays.items():
        played = [Simulation(walk(space, stream)[0]).play(TWENTY).by_kernel for stream in streams]
        found[name] = (sum(traversal for traversal, _ in played), sum(tests for _, tests in played))
    return found


def workload(runs: Runs, shaded: float, passes: int = 0) -> Workload:
    """v, t, s of runs. passes : of the SIMD machine; 0 on one that takes a ray to its end in one pass."""
    rays = max(1, runs.rays)
    return Workload(runs.rays, runs.steps.sum() / rays, runs.tests.sum() / rays, shaded, passes)


# -- unrolled passes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unrolled:
    """steps, tests : calls of a kernel in a pass at most; passes, instructions and bytes of the frame with memory
    references after a ray's last call in a pass suppressed or not; full_instructions : where every call loads and
    stores its streams."""

    steps: int
    tests: int
    passes: int
    instructions: float
    bytes: float
    suppressed_bytes: float
    full_instructions: float


def unrolled(
    runs: Runs,
    shaded: float,
    simd_rows: Mapping[str, KernelRow],
    mimd_rows: Mapping[str, KernelRow],
    steps: int,
    tests: int,
    policy: Policy = TWENTY,
) -> Unrolled:
    """A frame of the SIMD machine with so many calls in a pass.

    A ray's pass of traversal reads and writes its streams once for all of its calls. All calls of a pass are executed,
    needed or not: their instructions count, and their fetches where these are not suppressed. What a kernel of the SIMD
    machine takes more than that of the MIMD machine, the loading and storing of its streams, is executed once in a
    pass; the papers do not say how they counted it.
    Source: Purcell (2004), 5.2.2; Purcell et al. (2002), 4.2.
    """
    passed = runs.unrolled(steps, tests)
    schedule = Simulation(passed).play(policy)
    work = workload(runs, shaded, schedule.passes + OTHER_PASSES)
    plain = cost(work, simd_rows)
    instructions, bytes_, suppressed = plain.total_instructions, plain.total_bytes, plain.total_bytes
    full = plain.total_instructions
    kernels = ((STEP, steps, runs.steps, passed.steps), (INTERSECT, tests, runs.tests, passed.tests))
    for name, times, each, in_passes in kernels:
        row, inner = simd_rows[name], mimd_rows[name].instructions
        calls, visits = float(each.sum()), float(in_passes.sum())  # of the kernel; of passes by rays
        once = WORD * (row.read + row.written) + row.state_written
        instructions += visits * (row.instructions - inner + times * inner) - calls * row.instructions
        full += (visits * times - calls) * row.instructions
        moved = visits * once - calls * once
        suppressed += moved
        bytes_ += moved + WORD * row.random * (visits * times - calls)
    return Unrolled(steps, tests, work.passes, instructions, bytes_, suppressed, full)


# -- the stream buffer -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buffered:
    """launches : of a kernel on a queue, by (traversal, intersection); served : rays in them; occupancy : of the lanes
    of these launches; rays : that the buffer holds; cost : off the chip; on_chip : bytes in and out of the buffer."""

    launches: tuple[int, int]
    served: tuple[int, int]
    occupancy: float
    rays: int
    cost: Cost
    on_chip: float


def stream_buffer(
    runs: Runs, shaded: float, rows: Mapping[str, KernelRow], size: int = 128 * 1024, lanes: int = 8
) -> Buffered:
    """The stream machine: its buffer of ``size`` bytes holds rays with all that a kernel reads or writes of them.

    The queue of more rays is served, all of it; a kernel's conditional outputs append each ray to the queue that it
    waits in next. Rays that are done make room for new ones before each launch. No mask, no state, no ray runs in vain
    but in the last lanes of a launch. Off the chip there are the structures, and the pixels that shading writes.
    rows : the SIMD machine's kernels.
    """
    record = WORD * max(rows[name].read + rows[name].written for name in (SETUP, STEP, INTERSECT))
    capacity = max(1, min(runs.rays, int(size // record)))
    queues, lefts = np.zeros((2, 2, capacity), np.int32), np.zeros(capacity, np.int32)
    ats, rays = np.zeros(capacity, np.int64), np.zeros(capacity, np.int32)
    totals = np.zeros(5, np.int64)
    jit.run(_buffer, runs.start, runs.length, queues, lefts, ats, rays, lanes, totals)
    launches, served, filled = totals[:2], totals[2:4], int(totals[4])
    work = workload(runs, shaded)
    plain = cost(work, rows, state=0.0)
    written = runs.rays * WORD * rows[COLOR].written
    off = Cost(
        plain.instructions,
        {
            name: work.calls()[name] * WORD * (rows[name].random + (rows[name].written if name == COLOR else 0))
            for name in (EYE, SETUP, STEP, INTERSECT, COLOR)
        },
        dict(zip(TYPES, (work.s * written, plain.bytes_by_type["structures"], 0.0), strict=True)),
    )
    return Buffered(
        (int(launches[0]), int(launches[1])),
        (int(served[0]), int(served[1])),
        float(served.sum() / max(1, filled)),
        capacity,
        off,
        plain.bytes_by_type["stream"] - work.s * written,
    )


def _buffer(start, length, queues, lefts, ats, rays, lanes, totals):
    """Slots of the buffer wait in two queues, each kept twice: the one that is served is read while it is filled."""
    capacity = len(lefts)
    total = len(start) - 1
    side0, side1, count0, count1 = 0, 0, 0, 0
    coming, free = 0, 0
    # Slots never used yet are free .. capacity; ended ones are taken again at once below.
    while True:
        while free < capacity and coming < total:
            if start[coming] < start[coming + 1]:
                rays[free], ats[free], lefts[free] = coming, start[coming], length[start[coming]]
                queues[0, side0, count0] = free
                count0 += 1
                free += 1
            coming += 1
        if count0 == 0 and count1 == 0:
            return
        kernel = 0 if count0 >= count1 else 1
        if kernel == 0:
            side, waiting, count0 = side0, count0, 0
            side0 = 1 - side0
        else:
            side, waiting, count1 = side1, count1, 0
            side1 = 1 - side1
        totals[kernel] += 1
        totals[2 + kernel] += waiting
        totals[4] += (waiting + lanes - 1) // lanes * lanes
        for k in range(waiting):
            slot = queues[kernel, side, k]
            lefts[slot] -= 1
            following = kernel
            if lefts[slot] == 0:
                following = 1 - kernel
                ats[slot] += 1
                if ats[slot] == start[rays[slot] + 1]:
                    following = 0
                    while coming < total and start[coming] == start[coming + 1]:
                        coming += 1
                    if coming == total:
                        continue
                    rays[slot], ats[slot] = coming, start[coming]
                    coming += 1
                lefts[slot] = length[ats[slot]]
            if following == 0:
                queues[0, side0, count0] = slot
                count0 += 1
            else:
                queues[1, side1, count1] = slot
                count1 += 1
