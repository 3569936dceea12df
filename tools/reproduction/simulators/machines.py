"""What a picture costs on the papers' machines, and what these call, in how many passes, over the runs of rays.

C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, of R rays that each pierce v voxels, test t triangles and are shaded
s times, in P passes; C_r is a ray's beginning (eye ray and set-up), C_v, C_t, C_s are a call of the kernels of
traversal, intersection and shading. In every pass all rays' states are read; a machine of one pass has none.

SIMD (multipass): a pass serves one kernel, every ray by one call, or by a few where it is unrolled. MIMD (branching):
one pass takes a ray from its beginning to its end. Stream buffer: the wished-for machine with conditional output, whose
streams stay in a memory on the chip; it launches a kernel on a queue that holds none but rays which wait for it. Early
depth tests leave out blocks of pixels none of whose rays a pass serves; else all of their fragments run.

Sources: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), sections 4.1.2, 5.2, 5.3 and 5.4.2; Purcell et al.
(2002), sections 3.2 and 4; U. J. Kapasi et al., "The Imagine Stream Processor" (2002): a register file of 128 kB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from raystream.stream.machines.policy import Policy, Threshold
from reproduction.published.chapter5 import KernelRow, Passes
from reproduction.simulators.schedule import Runs, Schedule, Simulation
from reproduction.simulators.walk import Space, walk

WORD = 4  # bytes
# Calls of a kernel per ray, by what of `Workload` it goes with.
EYE, SETUP, STEP, INTERSECT, COLOR = KERNELS = (
    "Generate Eye Ray",
    "Traverse: Setup",
    "Traverse: Step",
    "Intersect",
    "Shade: Color",
)
TYPES = ("stream", "structures", "state")


@dataclass(frozen=True)
class Workload:
    """What rays do. rays : R; v, t, s : voxels, tests and shadings per ray; passes : P; eye : share of the rays that
    are eye rays, which alone have their generation counted."""

    rays: int
    v: float
    t: float
    s: float
    passes: int = 0
    eye: float = 1.0

    def calls(self) -> dict[str, float]:
        """Of each of `KERNELS`, by all rays."""
        per_ray = {EYE: self.eye, SETUP: 1.0, STEP: self.v, INTERSECT: self.t, COLOR: self.s}
        return {name: self.rays * calls for name, calls in per_ray.items()}


@dataclass(frozen=True)
class Cost:
    """instructions by kernel; bytes by kernel, "state reads" among them; bytes by type, of `TYPES`."""

    instructions: Mapping[str, float]
    bytes_by_kernel: Mapping[str, float]
    bytes_by_type: Mapping[str, float]

    @property
    def total_instructions(self) -> float:
        """Of all kernels."""
        return sum(self.instructions.values())

    @property
    def total_bytes(self) -> float:
        """Of all kernels and the state reads."""
        return sum(self.bytes_by_type.values())

    @property
    def instructions_per_byte(self) -> float:
        """What is compared with a processor's own ratio: above it instructions limit, below it memory does."""
        return self.total_instructions / max(self.total_bytes, 1e-300)


def cost(work: Workload, kernels: Mapping[str, KernelRow], state: float = 1.0) -> Cost:
    """Of a workload, with the kernels' rows as of table 5.1.

    state : bytes of a ray's state; states are read by all rays in all passes, whatever the kernels' rows say, and
    written by the calls. 0 for a machine without states.
    """
    instructions, by_kernel = {}, {}
    by_type = dict.fromkeys(TYPES, 0.0)
    for name, calls in work.calls().items():
        row = kernels[name]
        stream, structures = calls * WORD * (row.read + row.written), calls * WORD * row.random
        written = calls * row.state_written
        instructions[name] = calls * row.instructions
        by_kernel[name] = stream + structures + written
        by_type["stream"] += stream
        by_type["structures"] += structures
        by_type["state"] += written
    reads = work.rays * work.passes * state
    by_kernel["state reads"] = reads
    by_type["state"] += reads
    return Cost(instructions, by_kernel, by_type)


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


EDGES = (1, 2, 4, 8, 16, 32)  # pixels along a block
DONE = 2  # a ray that waits for neither kernel


@dataclass(frozen=True)
class Blocks:
    """Of the passes of the loop: their number, and by edge of a block the share of all fragments that run."""

    passes: int
    run: dict[int, float]


def blocks(runs: Runs, width: int, policy: Policy = TWENTY, edges: Sequence[int] = EDGES) -> Blocks:
    """Play a policy over the runs of a picture's rays, row after row of ``width`` pixels, and count blocks.

    Every ray is looked at in every pass: slow and plain, and so a test of `schedule.Simulation`.
    """
    height = -(-runs.rays // width)
    sizes = np.array(edges, np.int64)
    across = -(-width // sizes)
    first = np.concatenate([[0], np.cumsum(across * -(-height // sizes))]).astype(np.int64)
    state, left = np.full(runs.rays, DONE, np.uint8), np.zeros(runs.rays, np.int32)
    some = runs.start[:-1] < runs.start[1:]
    state[some], left[some] = 0, runs.length[runs.start[:-1][some]]
    at, stamps = runs.start[:-1].copy(), np.full(first[-1], -1, np.int32)
    waiting, counts = np.array([some.sum(), 0], np.int64), np.zeros(len(edges), np.int64)
    number = np.zeros(1, np.int64)
    fixed = (runs.start, runs.length, state, left, at, width, sizes, across, first, stamps, waiting, counts, number)
    serve = [jit.bind(_serve, kernel, *fixed) for kernel in (0, 1)]
    while waiting.any():
        for kernel in policy.choose(waiting.tolist(), runs.rays):
            if waiting[kernel]:
                serve[kernel]()
    whole = max(1, int(number[0])) * np.diff(first)
    return Blocks(int(number[0]), {edge: float(share) for edge, share in zip(edges, counts / whole, strict=True)})


def _serve(kernel, start, length, state, left, at, width, sizes, across, first, stamps, waiting, counts, number):
    """One pass: each ray in the state by one call, and each block with such a ray once."""
    now = number[0]
    number[0] = now + 1
    for ray in range(len(state)):
        if state[ray] != kernel:
            continue
        x, y = ray % width, ray // width
        for k in range(len(sizes)):
            block = first[k] + y // sizes[k] * across[k] + x // sizes[k]
            if stamps[block] != now:
                stamps[block] = now
                counts[k] += 1
        left[ray] -= 1
        if left[ray] == 0:
            waiting[kernel] -= 1
            at[ray] += 1
            if at[ray] < start[ray + 1]:
                state[ray] = 1 - kernel
                left[ray] = length[at[ray]]
                waiting[1 - kernel] += 1
            else:
                state[ray] = DONE
