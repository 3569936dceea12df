"""The stream machine that Purcell (2004) wishes for in 5.4.2, call by call: its rays wait in queues on the chip.

`reproduction.simulators.machines.stream_buffer` counts its launches from what rays do; here its kernels run, in the
order in which the machine runs them, and what they fetch goes off the chip as a trace
(`reproduction.simulators.references`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from reproduction.simulators.cost import COLOR
from reproduction.simulators.references import (
    CALL,
    CHUNK,
    PIXEL_TEXEL,
    WRITES,
    Layout,
    Traffic,
    call,
    put_shading,
    put_stream,
)
from reproduction.simulators.walk import DONE, TRAVERSE, TRIANGLE, Space, State

# What the loop remembers between pieces of its trace: which half of a queue is filled, rays in the queues, the next ray
# to come, slots in use, the launch that runs (its kernel, half, size), and the place in it.
SIDES, COUNTS, COMING, SLOTS, KERNEL, SIDE, WAITING, PLACE, HELD = 0, 2, 4, 5, 6, 7, 8, 9, 10


def buffer_references(
    space: Space,
    rays: NDArray,
    traffic: Traffic,
    capacity: int,
    layout: Layout | None = None,
    state: State | None = None,
    launches: list[int] | None = None,
) -> Iterator[NDArray[np.int64]]:
    """References off the chip of rays (N,) of record RAY: structures, and the pixels that shading writes.

    capacity : rays that the buffer holds. state : of the rays, else set up here; left as the machine leaves it.
    launches : is given those of traversal and of intersection.
    """
    state = State.setup(space, rays) if state is None else state
    color = traffic.words(COLOR)[1] if traffic.shade else -1
    at = (layout or Layout.of(space, len(rays))).at
    capacity = max(1, min(capacity, len(rays)))
    queues, slots = np.zeros((2, 2, capacity), np.int32), np.zeros(capacity, np.int32)
    held, counted = np.zeros(HELD, np.int64), np.zeros(2, np.int64)
    codes, more = np.empty(CHUNK, np.int64), True
    while more:
        arguments = (*space.arrays, *state.arrays, at, color, queues, slots, held, counted, codes)
        more, used = jit.run(_serve, *arguments)
        yield codes[:used]
    if launches is not None:
        launches[:] = counted.tolist()


def _serve(
    box, resolution, pointers, lists, corners, following, floats, ints,
    at, color, queues, slots, held, counted, codes,
):  # fmt: skip
    """Launches until the codes are full (True) or no ray is left."""
    capacity, total, used, room = len(slots), len(following), 0, len(codes)
    while True:
        if held[PLACE] == held[WAITING]:  # a launch has ended
            while held[SLOTS] < capacity and held[COMING] < total:
                ray = held[COMING]
                held[COMING] += 1
                if following[ray] != DONE:
                    slots[held[SLOTS]] = ray
                    queues[0, held[SIDES], held[COUNTS]] = held[SLOTS]
                    held[COUNTS] += 1
                    held[SLOTS] += 1
            if held[COUNTS] == 0 and held[COUNTS + 1] == 0:
                return False, used
            kernel = 0 if held[COUNTS] >= held[COUNTS + 1] else 1
            held[KERNEL], held[SIDE] = kernel, held[SIDES + kernel]
            held[WAITING], held[PLACE] = held[COUNTS + kernel], 0
            held[COUNTS + kernel], held[SIDES + kernel] = 0, 1 - held[SIDES + kernel]
            counted[kernel] += 1
        if used + 2 * CALL > room:  # a call, and the shading of a ray that ends with it
            return True, used
        slot = queues[held[KERNEL], held[SIDE], held[PLACE]]
        held[PLACE] += 1
        ray = slots[slot]
        now, used = call(
            held[KERNEL], box, resolution, pointers, lists, corners, floats, ints, ray, at, codes, used, False
        )
        following[ray] = now
        if now == DONE:
            if color >= 0 and ints[ray, TRIANGLE] >= 0:
                used = put_shading(codes, used, at, ints[ray, TRIANGLE])
                used = put_stream(codes, used, at, ray, PIXEL_TEXEL, color, WRITES)
            while held[COMING] < total and following[held[COMING]] == DONE:
                held[COMING] += 1
            if held[COMING] == total:
                continue
            slots[slot] = held[COMING]
            held[COMING] += 1
            now = TRAVERSE
        queues[now, held[SIDES + now], held[COUNTS + now]] = slot
        held[COUNTS + now] += 1
