"""What an early depth test leaves to run where it works on blocks of pixels: a block is left out if none of its rays is
in the state that a pass serves, else all of its fragments run.

Source: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), sections 4.1.2 and 5.3: the boards of the day test
blocks of 4 x 4 pixels and larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from raystream.base import jit
from raystream.stream.machines.policy import Policy
from reproduction.simulators.machines import TWENTY
from reproduction.simulators.schedule import Runs

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
