"""Where rays can go within a loop of passes, by the program's exits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.stream.declare.program import DONE, Program, entry_state
from viewer.stream.machines.step_pass import StepPass


@dataclass(frozen=True)
class Flow:
    """after : (passes, passes) whether a ray served by the first may wait for the second next. entered : (passes,)
    whether rays may come from outside of the loop. leaves : (passes,) whether a ray may be done, or outside, once it is
    served."""

    after: NDArray[np.bool_]
    entered: NDArray[np.bool_]
    leaves: NDArray[np.bool_]

    @classmethod
    def of(cls, program: Program, successors: Mapping[str, Sequence[str]], stage: Sequence[StepPass]) -> Flow:
        """successors : as of `LinkedProgram.step_successors`."""
        names = [entry.step.name for entry in stage]
        after = np.array([[name in successors[other] for name in names] for other in names])
        np.fill_diagonal(after, [entry.loops for entry in stage])
        start = entry_state(program.start)
        came = {name for other in successors if other not in names for name in successors[other]}
        entered = [start in entry.step.states or entry.step.name in came for entry in stage]
        leaves = [
            entry.step.fused  # where the driver ends a loop early, rays wait for no step
            or not set(names).issuperset(successors[entry.step.name])
            or any(DONE in [*program.by_name[s].exits.values(), *program.returns.get(s, ())] for s in entry.step.states)
            for entry in stage
        ]
        return cls(after, np.array(entered), np.array(leaves))
