"""A program with the modules that provide what its kernels need: the last checks before OpenGL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from viewer.errors import WiringError
from viewer.stream.kernel import Kept, Kernel, Module, Table, Texels, Volume
from viewer.stream.order import Element, Loop, flatten, weak_topological_order
from viewer.stream.program import DONE, Program, entry_state
from viewer.stream.record import Record

MOST_ATTACHMENTS = 8  # what OpenGL 3.3 grants
MOST_SAMPLERS = 16


@dataclass(frozen=True)
class Step:
    """States that run in one pass: one, a fused group, or (single pass) all. ``order`` nests their loops.

    entries : states of it that a ray may come in. loads, stores : streams read before and written after, in the
    program's order of streams.
    """

    name: str
    states: tuple[str, ...]
    order: tuple[Element, ...]
    entries: tuple[str, ...]
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    fused: bool


@dataclass
class Bound:
    """A program, its modules, and the records that its streams really hold.

    Raises WiringError for a function that nobody provides or two modules provide, a kept record that no module keeps or
    two keep, modules that need each other in a circle, two records or memories of one name, and a step beyond the
    attachments or samplers of OpenGL 3.3; the message names the step.
    """

    program: Program
    modules: Sequence[Module]
    records: dict[str, Record] = field(init=False)

    def __post_init__(self) -> None:
        self.providers: dict[str, Module] = {}
        kept: dict[str, Record] = {}
        for module in self.modules:
            for function in module.provides:
                if function in self.providers:
                    raise WiringError(
                        f"program {self.program.name}",
                        f"function {function} is provided by {self.providers[function].name} and {module.name}",
                    )
                self.providers[function] = module
            if module.keeps is not None:
                if module.keeps.name in kept:
                    raise WiringError(f"program {self.program.name}", f"two modules keep record {module.keeps.name}")
                kept[module.keeps.name] = module.keeps
        self.records = {}
        for stream, record in self.program.streams.items():
            if isinstance(record, Kept) and record.name not in kept:
                raise WiringError(
                    f"program {self.program.name}", f"stream '{stream}' holds {record.name}, which no module keeps"
                )
            self.records[stream] = kept[record.name] if isinstance(record, Kept) else record
        self._check_names(self.modules_for([state.kernel for state in self.program.states]))

    def _check_names(self, modules: Sequence[Module]) -> None:
        """Raises where two different things would have one name in GLSL."""
        memories = [memory for module in modules for memory in module.memories]
        records = [*self.records.values(), *(m.record for m in memories if isinstance(m, Table))]
        records += [record for module in modules for record in module.uses]
        globals_ = [name for module in modules for name in (*module.uniforms, *module.constants)]
        for what, names in (
            ("records", [record.name for record in dict.fromkeys(records)]),
            ("memories", [memory.name for memory in memories]),
            ("uniforms or constants", globals_),
        ):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise WiringError(f"program {self.program.name}", f"two {what} are named {twice}", "rename one")

    def modules_for(self, kernels: Sequence[Kernel]) -> list[Module]:
        """The modules that the kernels need, needs of needs included, providers before users."""
        out: list[Module] = []
        asking: list[Module] = []

        def require(function: str, by: str) -> None:
            module = self.providers.get(function)
            if module is None:
                raise WiringError(f"program {self.program.name}, {by}", f"no module provides {function}")
            if any(module is known for known in out):
                return
            if any(module is other for other in asking):
                circle = " -> ".join(m.name for m in [*asking, module])
                raise WiringError(f"program {self.program.name}", f"modules need each other: {circle}")
            asking.append(module)
            for need in module.needs:
                require(need, f"module {module.name}")
            out.append(asking.pop())

        for kernel in kernels:
            for need in kernel.needs:
                require(need, f"kernel {kernel.name}")
        return out

    def kernels_of(self, step: Step) -> list[Kernel]:
        """The step's kernels, each once."""
        out: list[Kernel] = []
        for name in step.states:
            kernel = self.program.by_name[name].kernel
            if kernel not in out:
                out.append(kernel)
        return out

    def memories_of(self, step: Step) -> list[Table | Volume | Texels]:
        """The memories that the step's modules bring."""
        return [memory for module in self.modules_for(self.kernels_of(step)) for memory in module.memories]

    def step(self, name: str, states: Sequence[str], whole: bool = False) -> Step:
        """The pass that runs ``states``; ``whole`` when it is the single pass: program inputs in, results out."""
        program = self.program
        start = entry_state(program.start)
        inside = [s for s in states]
        entered = [s for s in inside if s == start or any(s in program.successors(o) for o in self._others(inside))]
        order = weak_topological_order(inside, program.successors, entered[0] if entered else inside[0])
        touched = [program.by_name[s] for s in inside]
        if whole:
            loads, stores = list(program.inputs), list(program.results)
        else:
            writes = {stream for s in touched for stream in s.writes()}
            needed = self._read_before_written(inside, entered)
            live = set(program.results)
            for other in self._others(inside):
                live |= set(program.by_name[other].reads())
            live |= needed  # what it loads when a ray comes again
            loads = [s for s in program.streams if s in needed]
            stores = [s for s in program.streams if s in writes & live]
            # A stream that some ways through the group leave unwritten must go out as it came in.
            loads = [s for s in program.streams if s in loads or (s in stores and len(inside) > 1)]
        entries = (*inside,) if len(inside) == 1 else (*entered,)
        return Step(name, tuple(flatten(order)), order, entries, tuple(loads), tuple(stores), len(inside) > 1)

    def _others(self, inside: Sequence[str]) -> list[str]:
        return [s.name for s in self.program.states if s.name not in inside]

    def _read_before_written(self, inside: Sequence[str], entered: Sequence[str]) -> set[str]:
        """Streams that some way through a group, from one of its entries, reads before it writes them: liveness."""
        live: dict[str, set[str]] = {name: set() for name in inside}
        grows = True
        while grows:
            grows = False
            for name in reversed(inside):
                state = self.program.by_name[name]
                after = {stream for other in self.program.successors(name) if other in live for stream in live[other]}
                found = set(state.reads()) | (after - set(state.writes()))
                grows |= found != live[name]
                live[name] = found
        return {stream for name in entered for stream in live[name]}

    def check(self, step: Step, state_textures: int = 1, count_textures: int = 0) -> None:
        """Raises WiringError where a step is beyond what every OpenGL 3.3 grants, or parts a module from its locals."""
        for module in self.modules_for(self.kernels_of(step)):
            crossing = [s for s in (*step.loads, *step.stores) if self.records[s] is module.keeps]
            if module.local and crossing:
                raise WiringError(
                    f"program {self.program.name}, step {step.name}",
                    f"{module.name} has locals, which end with the pass, and '{crossing[0]}' goes on to another",
                    "fuse the states that walk, or take a walk without a stack",
                )
        attachments = state_textures + count_textures + sum(self.records[s].texels for s in step.stores)
        samplers = sum(self.records[s].texels for s in step.loads)
        samplers += state_textures + count_textures if state_textures else 0  # a single pass reads neither
        samplers += sum(m.record.texels > 0 if isinstance(m, Table) else 1 for m in self.memories_of(step))
        for what, number, most in (
            ("attachments", attachments, MOST_ATTACHMENTS),
            ("samplers", samplers, MOST_SAMPLERS),
        ):
            if number > most:
                raise WiringError(
                    f"program {self.program.name}, step {step.name}",
                    f"needs {number} {what}, OpenGL 3.3 grants {most}",
                    "split the kernel, or fuse fewer states" + (", or do not count" if count_textures else ""),
                )

    def steps(self, fuse: str) -> list[Step]:
        """The passes of a multipass machine under a fusion ('none', or a group of the program), in its order."""
        groups = (
            {} if fuse == "none" else {name: group for group in self.program.groups.get(fuse, ()) for name in group}
        )
        out: list[Step] = []
        done: set[str] = set()
        for state in self.program.states:
            if state.name in done:
                continue
            group = groups.get(state.name, (state.name,))
            done |= set(group)
            step = self.step("+".join(group), group)
            self.check(step)
            out.append(step)
        return out

    def single(self) -> Step:
        """The one pass of the single-pass machine."""
        step = self.step(self.program.name, [s.name for s in self.program.states], whole=True)
        self.check(step, state_textures=0)
        return step

    def stages(self, steps: Sequence[Step]) -> list[list[Step]]:
        """Steps grouped by the loops that tie them, in topological order: a stage is served until no ray is in it."""
        of_state = {state: step for step in steps for state in step.states}

        def successors(name: str) -> list[str]:
            step = by_name[name]
            out = []
            for state in step.states:
                out += [of_state[s].name for s in self.program.successors(state)]
            return out

        by_name = {step.name: step for step in steps}
        start = entry_state(self.program.start)
        assert isinstance(start, str)
        order = weak_topological_order([s.name for s in steps], successors, of_state[start].name)
        return [[by_name[n] for n in (e.states() if isinstance(e, Loop) else [e])] for e in order]

    def start_numbers(self) -> tuple[int, int]:
        """(state, return state) that every ray begins with."""
        start = self.program.start
        if isinstance(start, str):
            return self.program.number(start), 0
        return self.program.number(start.state), self.program.number(start.then) if start.then is not DONE else 0
