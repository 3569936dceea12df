"""Placement of prepared values (`raystream.stream.declare.kernel.PreparedValue`): after each state that writes their
stream, behind the exits from which a kernel uses them before the next write, and on load if one does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from raystream.stream.compile.link import LinkedProgram, Step
from raystream.stream.declare.kernel import PreparedValue
from raystream.stream.declare.program import State


@dataclass(frozen=True)
class Preparation:
    """A prepared value of a step.

    asks : by state name, the stream whose value it uses. writes : by state name, the streams to prepare after it, each
    with the exits behind which it is used; none: behind all. loads : the streams to prepare on load. copies : two
    streams, the second copied from the first by a state.
    """

    prepared: PreparedValue
    asks: dict[str, str] = field(default_factory=dict)
    writes: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    loads: tuple[str, ...] = ()
    copies: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams in use; a single one needs no copies."""
        copied = [stream for pair in self.copies.values() for stream in pair]
        return tuple(dict.fromkeys((*self.asks.values(), *copied)))

    def variable(self, stream: str) -> str:
        """The variable of a stream's prepared value."""
        return self.prepared.variable if len(self.streams) == 1 else f"{self.prepared.variable}_{stream}"

    def make(self, stream: str) -> str:
        """The statement that prepares a stream."""
        return f"{self.variable(stream)} = {self.prepared.function}(s_{stream});"

    def behind(self, state: str) -> list[str]:
        """The statements after a state's call."""
        moved = [f"{self.variable(to)} = {self.variable(of)};" for of, to in filter(None, [self.copies.get(state)])]
        for stream, exits in self.writes.get(state, {}).items():
            left = " || ".join(f"exit_code == EXIT_{name.upper()}" for name in exits)
            moved.append(f"if ({left}) {self.make(stream)}" if left else self.make(stream))
        return moved

    def take(self, state: str) -> str:
        """The statement before a state's call, possibly empty."""
        if state not in self.asks or len(self.streams) == 1:
            return ""
        return f"{self.prepared.variable} = {self.variable(self.asks[state])};"


def preparations(linked: LinkedProgram, step: Step) -> list[Preparation]:
    """Prepared values of all modules of a step, without unused ones."""
    modules = linked.modules_for(linked.kernels_of(step))
    candidates = (_preparation(linked, step, module.prepared) for module in modules if module.prepared)
    return [preparation for preparation in candidates if preparation.asks]


def _preparation(linked: LinkedProgram, step: Step, prepared: PreparedValue) -> Preparation:
    states = {name: linked.program.by_name[name] for name in step.states}
    asks = {name: stream for name, state in states.items() if (stream := _asked(linked, state, prepared))}
    moved = {
        name: (state.stream_of(of), state.stream_of(to))
        for name, state in states.items()
        for of, to in state.kernel.copies
        if linked.records[state.stream_of(of)].name == prepared.record
    }
    copies: dict[str, tuple[str, str]] = {}
    streams = set(asks.values())
    while more := {name: pair for name, pair in moved.items() if pair[1] in streams and name not in copies}:
        copies |= more  # of streams that are themselves copied from, too
        streams |= {of for of, _ in more.values()}
    used = {**{name: of for name, (of, _) in copies.items()}, **asks}
    writes: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, state in states.items():
        for stream in _written(state, prepared) if name not in copies else ():
            exits = tuple(
                exit_
                for exit_ in state.exits
                if stream in used.values()
                and _comes(linked, states, used, prepared, stream, linked.program.successors_by(name, exit_))
            )
            if exits:
                writes.setdefault(name, {})[stream] = exits if len(exits) < len(state.exits) else ()
    loads = tuple(
        s for s in step.loads if s in used.values() and _comes(linked, states, used, prepared, s, step.entries)
    )
    return Preparation(prepared, asks, writes, loads, copies)


def _asked(linked: LinkedProgram, state: State, prepared: PreparedValue) -> str:
    """The stream whose value a state's kernel uses: the first record of that name among its inputs."""
    if prepared.serves.isdisjoint(state.kernel.needs):
        return ""
    read = (state.stream_of(argument.name) for argument in state.kernel.own if argument.access.reads)
    return next((stream for stream in read if linked.records[stream].name == prepared.record), "")


def _written(state: State, prepared: PreparedValue) -> tuple[str, ...]:
    """The streams whose prepared value a state may change."""
    return tuple(dict.fromkeys(state.writes())) if prepared.kept.isdisjoint(state.kernel.needs) else ()


def _comes(
    linked: LinkedProgram,
    states: dict[str, State],
    asks: dict[str, str],
    prepared: PreparedValue,
    stream: str,
    ahead: Iterable[str],
) -> bool:
    """Whether one of the states ahead, or one behind these, asks about a stream before any of them writes it."""
    pending, visited = [name for name in ahead if name in states], set()
    while pending:
        name = pending.pop()
        if name in visited:
            continue
        visited.add(name)
        if asks.get(name) == stream:
            return True
        if stream not in _written(states[name], prepared):
            pending += [other for other in linked.program.successors(name) if other in states]
    return False
