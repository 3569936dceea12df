"""Calls inlined: every call gets its own copy of the states it calls.

This helps the single pass, where SIMD lanes run the code of all states in every iteration of a loop. An iteration that
takes a ray through two calls costs twice as much as one with a single call.
"""

from __future__ import annotations

from collections.abc import Mapping

from raystream.stream.declare.program import RETURN, Call, Groups, Program, State, Target

MARK = "@"  # between a state's own name and its copy's return state


def origin(name: str) -> str:
    """The name of the original of a copied state."""
    return name.partition(MARK)[0]


def inlined(program: Program) -> Program:
    """The program with a copy of a call's states for each return state, named ``traverse@shade``.

    A program with a single call site changes in names alone. The results are the same.
    """
    copies: dict[tuple[str, Target], None] = {}

    def resolve(target: Target, back: Target | None) -> Target:
        """The resolved target. back: return target of the copy that it leaves."""
        if isinstance(target, Call):
            return copy(target.state, target.then)
        if target is RETURN:
            assert back is not None
            return back
        return target if back is None or not isinstance(target, str) else copy(target, back)

    def copy(name: str, back: Target) -> str:
        copies.setdefault((name, back))
        return f"{name}{MARK}{back}"

    if not any(True for _ in program.calls()):
        return program
    called = {name for call in program.calls() for name in program.body(call.state)}
    start = resolve(program.start, None)
    assert isinstance(start, str)
    states = []
    for state in program.states:
        if state.name not in called:
            exits = {name: resolve(target, None) for name, target in state.exits.items()}
            states.append(State(state.name, state.kernel, exits, state.streams))
    done: set[tuple[str, Target]] = set()
    while len(done) < len(copies):
        for name, back in [key for key in copies if key not in done]:
            done.add((name, back))
            state = program.by_name[name]
            exits = {exit_: resolve(target, back) for exit_, target in state.exits.items()}
            states.append(State(f"{name}{MARK}{back}", state.kernel, exits, state.streams))
    names = [state.name for state in states]

    def expanded(entry: str) -> list[str]:
        """The states of an entry of the order: a state, or after ``->`` the states called with that return."""
        if not entry.startswith("->"):
            return [entry]
        return [name for name in names if name.endswith(MARK + entry.removeprefix("->"))]

    def copied(group: tuple[str, ...]) -> list[tuple[str, ...]]:
        """A fused group, once for each return state if it holds called states."""
        backs = dict.fromkeys(back for name, back in copies if name in group) or (None,)
        return [
            tuple(n for name in group for n in ([f"{name}{MARK}{b}"] if name in called else expanded(name)))
            for b in backs
        ]

    def all_copied(fusions: Mapping[str, Groups]) -> dict[str, Groups]:
        return {fusion: tuple(c for group in groups for c in copied(group)) for fusion, groups in fusions.items()}

    at = {state.name: k for k, state in enumerate(program.states)}
    states.sort(key=lambda state: at[origin(state.name)])
    return Program(
        program.name,
        program.streams,
        program.inputs,
        program.results,
        tuple(states),
        start,
        resumes=program.resumes,
        limit=program.limit,
        stacked=program.stacked,
        groups=all_copied(program.groups),
        gpu_groups=all_copied(program.gpu_groups),
        order=tuple(name for entry in program.order for name in expanded(entry)),
    )
