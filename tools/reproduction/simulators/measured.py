"""Runs of rays as the real multipass machine counts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.programs import LEVELS, trace
from raystream.renderer.renderer import Renderer
from raystream.stream.machines.common import Machine
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Policy, Sweep
from reproduction.simulators.schedule import LOOP, Runs

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
