"""The ways of rays between the passes of a loop, by the program's exits, and where a pass may find a ray: in the whole
stream, or tile by tile.

Purcell 2004, sections 6.2.3 and 6.3.3, draws the radiance estimate as points of 16 x 16 pixels, without those in which
a query has found no active pixel. That loop is one kernel; here it may have several, and rays alternate between them: a
pass skips a tile until a pass whose exits lead to it has found a ray there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.stream.compile.link import LinkedProgram, Step
from raystream.stream.compile.order import innermost
from raystream.stream.declare.program import DONE, entry_state


@dataclass(frozen=True)
class Flow:
    """Of a loop of passes, by their numbers in it.

    after : (passes, passes) whether a ray served by the first may wait for the second next. entered : (passes,) whether
    rays may come from outside of the loop. leaves : (passes,) whether a served ray may be done, or outside. order : the
    passes in turn, those of an innermost loop together.
    """

    after: NDArray[np.bool_]
    entered: NDArray[np.bool_]
    leaves: NDArray[np.bool_]
    order: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, linked: LinkedProgram, steps: Sequence[Step], stage: Sequence[Step]) -> Flow:
        """stage : a loop of ``steps``, as of `LinkedProgram.stages`."""
        program, successors = linked.program, linked.step_successors(steps)
        names = [step.name for step in stage]
        after = np.array([[name in successors[other] for name in names] for other in names])
        start = entry_state(program.start)
        came = {name for other in successors if other not in names for name in successors[other]}
        entered = [start in step.states or step.name in came for step in stage]
        leaves = [
            step.fused  # where the driver ends a loop early, rays wait for no step
            or not set(names).issuperset(successors[step.name])
            or any(DONE in [*program.by_name[s].exits.values(), *program.returns.get(s, ())] for s in step.states)
            for step in stage
        ]
        order = innermost(linked.order(steps), names)
        return cls(
            after,
            np.array(entered),
            np.array(leaves),
            tuple(tuple(names.index(name) for name in group) for group in order),
        )

    def reached(self, served: Sequence[int]) -> tuple[list[int], bool]:
        """The passes that rays may wait for once these are ``served``, in order, and whether all of those rays do."""
        steps = [int(k) for k in np.flatnonzero(self.after[list(served)].any(axis=0))]
        return steps, bool(steps) and not self.leaves[list(served)].any()


class LoopTiles:
    """The tiles of (rows, columns) in which each pass of a loop may find a ray.

    Only these passes change the rays' state: a pass leaves no ray behind, but by its own exit, until one before it
    finds a ray.
    """

    def __init__(self, flow: Flow, shape: tuple[int, int] = (1, 1)) -> None:
        self.flow = flow
        self.alive = np.zeros((len(flow.after), *shape), bool)
        self.alive[flow.entered] = True

    def any(self, numbers: Sequence[int]) -> bool:
        """Whether one of these passes may find a ray."""
        return bool(self.alive[list(numbers)].any())

    @property
    def over(self) -> bool:
        """Whether no pass can find a ray."""
        return not self.alive.any()

    def note(self, number: int, active_tiles: NDArray[np.bool_]) -> None:
        """A pass was drawn on all of its tiles, and rays were found, or may have been, in some."""
        self.alive[number] = False
        self.alive[self.flow.after[number]] |= active_tiles
