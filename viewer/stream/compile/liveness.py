"""Streams that no ray needs at a place in a fused pass, which compilers cannot know: to them any ray may be in any
state.

A stream written in one state and read in another is kept in registers from the pass's beginning to its end, because a
compiler sees a ray that is in the second state without having been in the first. The states' exits tell that there is
none.
"""

from __future__ import annotations

from viewer.stream.compile.link import LinkedProgram, Step
from viewer.stream.compile.order import Element, StateLoop
from viewer.stream.declare.program import DONE, entry_state


def dead_streams(linked: LinkedProgram, step: Step) -> dict[Element, tuple[str, ...]]:
    """For each element of the step's order the streams that it writes, and that no ray needs when the pass comes to
    it."""
    program, dead = linked.program, {}
    for element, states in _present(linked, step).items():
        needed = {stream for state in states for stream in (linked.live[state] if state else program.results)}
        inside = element.states() if isinstance(element, StateLoop) else [element]
        written = {stream for state in inside for stream in program.by_name[state].writes()}
        dead[element] = tuple(s for s in program.streams if s in written - needed)
    return dead


def _present(linked: LinkedProgram, step: Step) -> dict[Element, set[str]]:
    """For each element the states in which rays may be when the pass comes to it; an empty name for those done."""
    program = linked.program
    found: dict[Element, set[str]] = {}

    def after(element: Element, states: set[str]) -> set[str]:
        found[element] = found.get(element, set()) | states
        if isinstance(element, StateLoop):
            before: set[str] = set()
            while before != states:
                before, ahead = states, states
                for inner in (element.head, *element.body):
                    ahead = after(inner, ahead)
                states = before | ahead
            limited = step.turns and element in step.order
            return states if limited else states - set(element.states())
        if element not in states:
            return states
        leaves = [*program.by_name[element].exits.values(), *program.returns.get(element, ())]
        done = {""} if DONE in [entry_state(target) for target in leaves] else set()
        return (states - {element}) | {s for s in program.successors(element) if s != element} | done

    states = {*step.entries}
    for element in step.order:
        states = after(element, states)
    return found
