"""Programs: states, the kernel of each, and the targets of its exits. Checked here, without OpenGL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from raystream.base.errors import WiringError
from raystream.options.declare import suggestion
from raystream.stream.declare.kernel import Kernel, ModuleState
from raystream.stream.declare.record import Record


class _Mark:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


RESERVED = ("state", "count", "before")  # the machines' own streams
DONE = _Mark("DONE")  # the ray is finished
RETURN = _Mark("RETURN")  # to the return state of the call


@dataclass(frozen=True)
class Call:
    """Go to ``state``; the next exit wired to RETURN leads to ``then`` (a state, or DONE)."""

    state: str
    then: str | _Mark


Target = str | _Mark | Call
Groups = tuple[tuple[str, ...], ...]  # of states, each for one pass


@dataclass(frozen=True)
class State:
    """A state: its kernel, the stream of each argument (by default of the same name), and its wires."""

    name: str
    kernel: Kernel
    exits: Mapping[str, Target]
    streams: Mapping[str, str] = field(default_factory=dict)

    def stream_of(self, argument: str) -> str:
        """The stream of an argument."""
        return self.streams.get(argument, argument)

    def gathers(self) -> tuple[str, ...]:
        """Streams gathered from."""
        return self._accessed[0]

    def reads(self) -> tuple[str, ...]:
        """Streams loaded for a call."""
        return self._accessed[1]

    def writes(self) -> tuple[str, ...]:
        """Streams stored after a call."""
        return self._accessed[2]

    @cached_property
    def _accessed(self) -> tuple[tuple[str, ...], ...]:
        """Names of the streams gathered, read, written; cached, as linking asks thousands of times."""
        arguments = self.kernel.arguments
        return (
            tuple(self.stream_of(a.name) for a in self.kernel.gathered),
            tuple(self.stream_of(a.name) for a in arguments if a.access.reads),
            tuple(self.stream_of(a.name) for a in arguments if a.access.writes),
        )


@dataclass
class Program:
    """States wired together.

    streams : name -> record (or `ModuleState`). inputs : streams filled by the host. results : the program's output.
    start   : where every ray begins.
    groups  : fusion name -> tuples of states for one pass; ``"->shade"`` stands for the states called with the return
    state "shade", once calls are inlined (`raystream.stream.compile.link`).
    gpu_groups : in place of those of the same name for GPUs, where a traversal keeps the registers to itself.
    order   : of all states in an iteration of a single pass; by default the linker's.
    resumes : its inputs, as modified by an interrupted run, are valid inputs of a run that completes it.
    limit   : integer uniform, from 1 on, up to which a run brings every ray: after runs to lesser values it does the
    rest, with the same results.
    stacked : streams of a stack's levels: a state reads them only after a write, by a count in the kernels that the
    wires do not show.

    Raises WiringError for a missing or extra wire, an unknown or unreachable state, a mismatched record, a stream read
    before written, a call inside a call, or a RETURN without a call; the message names program and state.
    """

    name: str
    streams: Mapping[str, Record | ModuleState]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    states: tuple[State, ...]
    start: str | Call
    groups: Mapping[str, Groups] = field(default_factory=dict)
    gpu_groups: Mapping[str, Groups] = field(default_factory=dict)
    resumes: bool = False
    limit: str = ""
    order: tuple[str, ...] = ()
    stacked: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.by_name = {s.name: s for s in self.states}
        self._numbers = {s.name: index for index, s in enumerate(self.states, 1)}
        if len(self.by_name) != len(self.states):
            raise self._fault("", "two states of one name")
        for stream in self.streams:
            if stream in RESERVED:
                raise self._fault("", f"a stream is named '{stream}', as one of the machines' own", "rename it")
        for label, names in (("input", self.inputs), ("result", self.results), ("stacked", self.stacked)):
            for stream in names:
                if stream not in self.streams:
                    raise self._fault("", f"{label} '{stream}' is not among its streams")
        for state in self.states:
            self._check_streams(state)
            self._check_wires(state)
        self._check_target(None, self.start)
        for fusion, groups in (*self.groups.items(), *self.gpu_groups.items()):
            members = [name for group in groups for name in group]
            for name in members:
                if (bare := name.removeprefix("->")) not in self.by_name:
                    raise self._fault(
                        "", f"fusion '{fusion}' names an unknown state '{name}'", suggestion(bare, self.by_name)
                    )
                if members.count(name) > 1:
                    raise self._fault("", f"fusion '{fusion}' names state '{name}' twice")
        self.returns = self._returns()
        self._check_flow()

    def _fault(self, state: str, what: str, hint: str = "") -> WiringError:
        return WiringError(f"program {self.name}" + (f", state {state}" if state else ""), what, hint)

    def _check_streams(self, state: State) -> None:
        arguments = {a.name: a for a in state.kernel.arguments}
        for extra in set(state.streams) - set(arguments):
            raise self._fault(state.name, f"kernel {state.kernel.name} has no argument '{extra}'")
        used: list[str] = []
        for name, argument in arguments.items():
            stream = state.stream_of(name)
            if stream not in self.streams:
                raise self._fault(state.name, f"no stream '{stream}' for argument '{name}'")
            record = self.streams[stream]
            if record != argument.record:
                takes = f"argument '{name}' takes {argument.record.name}"
                raise self._fault(state.name, f"{takes}, stream '{stream}' holds {record.name}")
            if stream in used:
                raise self._fault(state.name, f"stream '{stream}' serves two arguments")
            used.append(stream)

    def _check_wires(self, state: State) -> None:
        wired, exits = set(state.exits), set(state.kernel.exits)
        if exits - wired:
            raise self._fault(state.name, f"exit '{min(exits - wired)}' of kernel {state.kernel.name} is not wired")
        if wired - exits:
            raise self._fault(state.name, f"kernel {state.kernel.name} has no exit '{min(wired - exits)}'")
        for target in state.exits.values():
            self._check_target(state, target)

    def _check_target(self, state: State | None, target: Target) -> None:
        where = state.name if state else "start"
        names = [target.state, target.then] if isinstance(target, Call) else [target]
        for name in names:
            if isinstance(name, str) and name not in self.by_name:
                raise self._fault(where, f"leads to an unknown state '{name}'", suggestion(name, self.by_name))
        if isinstance(target, Call) and target.then is RETURN:
            raise self._fault(where, "a call must name a state to come back to, or DONE")

    def calls(self) -> Iterable[Call]:
        """Every call that is wired, the start's first."""
        if isinstance(self.start, Call):
            yield self.start
        for state in self.states:
            yield from (t for t in state.exits.values() if isinstance(t, Call))

    def subroutine(self, entry: str) -> set[str]:
        """States of the subroutine from ``entry`` to its RETURNs; raises WiringError for a call inside it."""
        visited: set[str] = set()
        pending = [entry]
        while pending:
            name = pending.pop()
            if name in visited:
                continue
            visited.add(name)
            for target in self.by_name[name].exits.values():
                if isinstance(target, Call):
                    raise self._fault(name, f"calls '{target.state}' inside a call", "one return state is kept per ray")
                if isinstance(target, str):
                    pending.append(target)
        return visited

    def _returns(self) -> dict[str, list[str | _Mark]]:
        """By name of each state with an exit to RETURN, the targets of the calls that it may return from."""
        targets: dict[str, list[str | _Mark]] = {}
        for call in self.calls():
            for name in self.subroutine(call.state):
                if RETURN in self.by_name[name].exits.values():
                    targets.setdefault(name, [])
                    if call.then not in targets[name]:
                        targets[name].append(call.then)
        for state in self.states:
            if RETURN in state.exits.values() and state.name not in targets:
                raise self._fault(state.name, "an exit returns without a call", "wire a Call to this part")
        return targets

    def successors(self, name: str) -> tuple[str, ...]:
        """The possible next states of a ray, returns included."""
        return self._successors[name]

    @cached_property
    def _successors(self) -> dict[str, tuple[str, ...]]:
        return {
            state.name: tuple(dict.fromkeys(t for exit_ in state.exits for t in self.successors_by(state.name, exit_)))
            for state in self.states
        }

    def successors_by(self, name: str, exit_: str) -> tuple[str, ...]:
        """The possible next states of a ray by one exit of a state."""
        target = self.by_name[name].exits[exit_]
        targets: list[str | _Mark] = self.returns[name] if target is RETURN else [entry_state(target)]
        return tuple(t for t in targets if isinstance(t, str))

    def _transitions(self, name: str, caller: str | _Mark | None) -> Iterable[tuple[str | _Mark, str | _Mark | None]]:
        """Possible (target, return state) after state ``name``, entered with return state ``caller`` or None."""
        for target in self.by_name[name].exits.values():
            if isinstance(target, Call):
                yield target.state, target.then
            elif target is not RETURN:
                yield target, caller
            elif caller is not None:
                yield caller, None
            else:
                raise self._fault(name, "an exit returns, but a ray may arrive without a call", "wire a Call")

    def _check_flow(self) -> None:
        """Forward dataflow: streams surely written on arrival at a state must include all that it reads.

        Each call is followed to its own return, so that requirements of one caller do not burden another.
        """
        first: tuple[str | _Mark, str | _Mark | None] = (
            (self.start.state, self.start.then) if isinstance(self.start, Call) else (self.start, None)
        )
        written = {first: set(self.inputs)}  # on arrival, by (state, return state)
        pending = [first]
        while pending:
            state_name, caller = pending.pop()
            written_after = written[state_name, caller] | set(self.by_name[str(state_name)].writes())
            for target in self._transitions(str(state_name), caller):
                previous = written.get(target)
                current = written_after if previous is None else previous & written_after
                if current != previous:
                    written[target] = current
                    if target[0] is not DONE:
                        pending.append(target)
        for state in self.states:
            arrivals = [streams for (name, _), streams in written.items() if name == state.name]
            if not arrivals:
                raise self._fault(state.name, "cannot be reached")
            for stream in [*state.reads(), *state.gathers()]:
                if stream not in self.stacked and any(stream not in streams for streams in arrivals):
                    raise self._fault(state.name, f"reads stream '{stream}', which is not written on every path to it")
        finished = [streams for (name, _), streams in written.items() if name is DONE]
        if not finished:
            raise self._fault("", "no exit leads to DONE")
        for stream in self.results:
            if any(stream not in streams for streams in finished):
                raise self._fault("", f"result '{stream}' is not written on every path to DONE")

    def number(self, target: str | _Mark) -> int:
        """The number of a state in the state stream: 0 is DONE, then the program's order."""
        return 0 if target is DONE else self._numbers[str(target)]

    @property
    def cut_number(self) -> int:
        """The state number of a ray whose pass ended early; no step serves it."""
        return len(self.states) + 1

    def looping_states(self) -> list[str]:
        """States with an exit back to themselves, in the program's order: those that `unroll` applies to."""
        return [s.name for s in self.states if s.name in s.exits.values()]


def entry_state(target: Target) -> str | _Mark:
    """The first state of a target: a call's, else the target itself."""
    return target.state if isinstance(target, Call) else target
