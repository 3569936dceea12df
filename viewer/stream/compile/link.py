"""A program linked with modules that provide its kernels' functions: the last checks before OpenGL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from raystream.base.errors import WiringError
from raystream.options.declare import suggestion
from raystream.stream.declare.kernel import Kernel, Module, ModuleState, Table, Texels, Volume
from raystream.stream.declare.program import DONE, RETURN, Call, Groups, Program, State, Target, entry_state
from raystream.stream.declare.record import SMALL, Record

# -- the order in which to serve states: a weak topological order of the state graph -----------------------------------
# The order (F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993) nests the graph's loops:
# ``eye enter (traverse intersect) shade`` runs eye and enter once, alternates traverse and intersect until no ray
# is left between them, then shades. It gives a single pass its loops, and a multipass machine the states that
# compete for the next pass.


@dataclass(frozen=True)
class StateLoop:
    """States that a ray may enter again: ``head`` first, then ``body`` (states and inner loops)."""

    head: str
    body: tuple[str | StateLoop, ...]

    def states(self) -> list[str]:
        """All its states."""
        return [self.head, *flatten(self.body)]


Element = str | StateLoop


def flatten(elements: Sequence[Element]) -> list[str]:
    """The states of nested elements, in order."""
    states: list[str] = []
    for element in elements:
        states += element.states() if isinstance(element, StateLoop) else [element]
    return states


def innermost(elements: Sequence[Element], states: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of states in the order of ``elements``: each loop without inner loops is one group, every other state a
    group by itself. Only the groups whose first state is among ``states``."""
    groups: list[tuple[str, ...]] = []
    for element in elements:
        if isinstance(element, StateLoop) and any(isinstance(inner, StateLoop) for inner in element.body):
            groups += innermost([element.head, *element.body], states)
        else:
            groups.append(tuple(flatten([element])))
    return [group for group in groups if group[0] in states]


def weak_topological_order(
    states: Sequence[str],
    successors: Callable[[str], Sequence[str]],
    start: str | None,
    heads: tuple[str, ...] = (),
    rank: Sequence[str] = (),
) -> tuple[Element, ...]:
    """Nested order of ``states`` (edges to others are ignored). A state that only loops on itself is a plain element.

    Components are in topological order; ties follow the given order of ``states``. ``start`` is where rays begin;
    ``heads`` are those of enclosing loops, further entries. ``rank`` orders the states of a loop, head first,
    regardless of edges; a state reached too late waits for the next iteration.
    """
    inside = set(states)

    def edges(name: str) -> list[str]:
        return [s for s in successors(name) if s in inside and s != name]

    order: list[Element] = []
    components = _components(states, edges)
    while components:
        targets = {id(c): {t for name in c for t in edges(name)} for c in components}
        ready = [c for c in components if rank or not any(targets[id(o)] & set(c) for o in components if o is not c)]
        component = min(ready, key=lambda c: min(map((rank or states).index, c)))
        components.remove(component)
        if len(component) == 1:
            order.append(component[0])
            continue
        members = [s for s in states if s in component]
        outside = [*heads, *(s for s in states if s not in component)]
        entered = [s for s in members if s == start or any(s in successors(o) for o in outside)]
        head = min(members, key=rank.index) if rank else entered[0] if entered else members[0]
        body = [s for s in members if s != head]
        order.append(StateLoop(head, weak_topological_order(body, successors, None, (*heads, head), rank)))
    return tuple(order)


def _components(states: Sequence[str], edges: Callable[[str], list[str]]) -> list[list[str]]:
    """Strongly connected components; graphs here have a dozen nodes."""
    search = _Components(edges)
    for name in states:
        if name not in search.index:
            search.visit(name)
    return search.complete


class _Components:
    """Tarjan's search (1972) for strongly connected components. complete : those whose nodes are all visited."""

    def __init__(self, edges: Callable[[str], list[str]]) -> None:
        self.edges = edges
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.complete: list[list[str]] = []

    def visit(self, name: str) -> None:
        """Search from a node not visited yet."""
        index, low, stack = self.index, self.low, self.stack
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in self.edges(name):
            if target not in index:
                self.visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            start = stack.index(name)
            self.complete.append(stack[start:][::-1])
            del stack[start:]


# -- calls inlined: every call gets its own copy of the states it calls ------------------------------------------------
# This helps the single pass, where SIMD lanes run the code of all states in every iteration of a loop. An iteration
# that takes a ray through two calls costs twice as much as one with a single call.

RETURN_MARK = "@"  # between a state's own name and its copy's return state


def origin(name: str) -> str:
    """The name of the original of a copied state."""
    return name.partition(RETURN_MARK)[0]


def inlined(program: Program) -> Program:
    """The program with a copy of a call's states for each return state, named ``traverse@shade``.

    A program with a single call site changes in names alone. The results are the same.
    """
    copies: dict[tuple[str, Target], None] = {}

    def resolve(target: Target, back: Target | None) -> Target:
        """The target among the copies; back : return target of the exit's copy, None outside of calls."""
        if isinstance(target, Call):
            return copy(target.state, target.then)
        if target is RETURN:
            assert back is not None
            return back
        return target if back is None or not isinstance(target, str) else copy(target, back)

    def copy(name: str, back: Target) -> str:
        """The name of the copy of a called state that returns to ``back``; the copy is noted."""
        copies.setdefault((name, back))
        return f"{name}{RETURN_MARK}{back}"

    if not any(True for _ in program.calls()):
        return program
    called = {name for call in program.calls() for name in program.subroutine(call.state)}
    start = resolve(program.start, None)
    assert isinstance(start, str)
    states = []
    for state in program.states:
        if state.name not in called:
            exits = {name: resolve(target, None) for name, target in state.exits.items()}
            states.append(State(state.name, state.kernel, exits, state.streams))
    resolved: set[tuple[str, Target]] = set()
    while len(resolved) < len(copies):
        for name, back in [key for key in copies if key not in resolved]:
            resolved.add((name, back))
            state = program.by_name[name]
            exits = {exit_: resolve(target, back) for exit_, target in state.exits.items()}
            states.append(State(f"{name}{RETURN_MARK}{back}", state.kernel, exits, state.streams))
    names = [state.name for state in states]

    def expanded(entry: str) -> list[str]:
        """The states of an entry of the order: a state, or after ``->`` the states called with that return."""
        if not entry.startswith("->"):
            return [entry]
        return [name for name in names if name.endswith(RETURN_MARK + entry.removeprefix("->"))]

    def copied(group: tuple[str, ...]) -> list[tuple[str, ...]]:
        """A fused group, once for each return state if it holds called states."""
        backs = dict.fromkeys(back for name, back in copies if name in group) or (None,)
        groups = []
        for back in backs:
            names_of = ([f"{name}{RETURN_MARK}{back}"] if name in called else expanded(name) for name in group)
            groups.append(tuple(name for names in names_of for name in names))
        return groups

    def all_copied(fusions: Mapping[str, Groups]) -> dict[str, Groups]:
        return {fusion: tuple(c for group in groups for c in copied(group)) for fusion, groups in fusions.items()}

    index = {state.name: k for k, state in enumerate(program.states)}
    states.sort(key=lambda state: index[origin(state.name)])
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


# -- a program linked with modules that provide its kernels' functions -------------------------------------------------

MAX_ATTACHMENTS = 8  # guaranteed by OpenGL 3.3
MAX_SAMPLERS = 16
SMALL_TABLES = "SMALL_TABLES"  # feature: row numbers are small integers
COUNTED_PER_TEXEL = 2  # states whose (calls, random words) share a texel of the count textures


@dataclass(frozen=True)
class Step:
    """States of one pass: one, a fused group, or (single pass) all. ``order`` nests their loops.

    entries : states in which rays may enter. loads, stores : streams read before and written after, in the program's
    order of streams. gathers : streams read at any index. iterates : it holds the whole program, and a pass takes a
    ray through a limited number of iterations of its loop.
    """

    name: str
    states: tuple[str, ...]
    order: tuple[Element, ...]
    entries: tuple[str, ...]
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    fused: bool
    gathers: tuple[str, ...] = ()
    iterates: bool = False


@dataclass
class LinkedProgram:
    """A program, its modules, and the actual records of its streams.

    Raises WiringError, with the step, for a function with no provider or two; a module record kept by no module or two;
    a circular need among modules; two records or memories of one name; a step beyond the attachments or samplers of
    OpenGL 3.3.
    """

    program: Program
    modules: Sequence[Module]
    original: Program | None = None  # before calls were inlined
    records: dict[str, Record] = field(init=False)
    features: set[str] = field(default_factory=set, init=False)  # of the scene: the same for all steps
    limits: list[str] = field(default_factory=list, init=False)  # notes on groups shortened for OpenGL 3.3

    def __post_init__(self) -> None:
        self.providers: dict[str, Module] = {}
        module_records: dict[str, Record] = {}
        for module in self.modules:
            for function in module.provides:
                if function in self.providers:
                    raise WiringError(
                        f"program {self.program.name}",
                        f"function {function} is provided by {self.providers[function].name} and {module.name}",
                    )
                self.providers[function] = module
            if module.module_state is not None:
                if module.module_state.name in module_records:
                    raise WiringError(
                        f"program {self.program.name}", f"two modules keep record {module.module_state.name}"
                    )
                module_records[module.module_state.name] = module.module_state
        self.records = {}
        for stream, record in self.program.streams.items():
            if isinstance(record, ModuleState) and record.name not in module_records:
                raise WiringError(
                    f"program {self.program.name}", f"stream '{stream}' holds {record.name}, which no module keeps"
                )
            self.records[stream] = module_records[record.name] if isinstance(record, ModuleState) else record
        used = self.modules_for([state.kernel for state in self.program.states])
        self.features = {feature for module in used for feature in module.features}
        tables = [memory for module in used for memory in module.memories if isinstance(memory, Table)]
        if all(len(table.data) <= SMALL for table in tables):
            self.features.add(SMALL_TABLES)
        self._check_names(used)

    def _check_names(self, modules: Sequence[Module]) -> None:
        """Raises where two different things share a name in GLSL."""
        memories = [memory for module in modules for memory in module.memories]
        records = [*self.records.values(), *(m.record for m in memories if isinstance(m, Table))]
        records += [record for module in modules for record in module.uses]
        globals_ = [name for module in modules for name in (*module.uniforms, *module.constants)]
        for label, names in (
            ("records", [record.name for record in dict.fromkeys(records)]),
            ("memories", [memory.name for memory in memories]),
            ("uniforms or constants", globals_),
        ):
            duplicate = next((name for name in names if names.count(name) > 1), None)
            if duplicate is not None:
                raise WiringError(f"program {self.program.name}", f"two {label} are named {duplicate}", "rename one")

    def inlined(self) -> LinkedProgram:
        """The same program with calls inlined (`inlined`)."""
        return LinkedProgram(inlined(self.program), self.modules, self.counted)

    @property
    def counted(self) -> Program:
        """The program whose states are counted."""
        return self.original or self.program

    def count_of(self, state: str) -> int:
        """Counter index, from 0, of a state or of the original of a copy."""
        return self.counted.number(origin(state)) - 1

    def count_textures(self, step: Step) -> list[int]:
        """The count textures updated by a step."""
        return sorted({self.count_of(state) // COUNTED_PER_TEXEL for state in step.states})

    def count_parts(self, step: Step) -> list[tuple[int, ...]]:
        """The count textures of a step in groups for one pass each."""
        indices = self.count_textures(step)
        return [tuple(indices[k : k + MAX_ATTACHMENTS]) for k in range(0, len(indices), MAX_ATTACHMENTS)]

    def modules_for(self, kernels: Sequence[Kernel]) -> list[Module]:
        """The modules that the kernels need, directly or through others, providers before users."""
        modules: list[Module] = []
        for kernel in kernels:
            for need in kernel.needs:
                self._require(need, f"kernel {kernel.name}", modules, [])
        return modules

    def _require(self, function: str, user: str, modules: list[Module], pending: list[Module]) -> None:
        """Append the function's module to ``modules`` behind those that it needs; ``pending`` : those that need it,
        directly or through others. user : the kernel or module that needs it, for messages.

        A method, since a local function that calls itself is a cycle: it would keep the scene's tables until Python
        looks for garbage.
        """
        module = self.providers.get(function)
        if module is None:
            raise WiringError(
                f"program {self.program.name}, {user}", f"no module provides {function}", self._near(function)
            )
        if any(module is required for required in modules):
            return
        if any(module is other for other in pending):
            circle = " -> ".join(m.name for m in [*pending, module])
            raise WiringError(f"program {self.program.name}", f"modules need each other: {circle}")
        for need in module.needs:
            self._require(need, f"module {module.name}", modules, [*pending, module])
        modules.append(module)

    def _near(self, function: str) -> str:
        """A hint for a function that no module provides."""
        listed = "'A module' in shaders/README.md tells where modules are listed"
        return " ".join(filter(None, (suggestion(function, self.providers), listed)))

    def kernels_of(self, step: Step) -> list[Kernel]:
        """The step's kernels, each once."""
        kernels: list[Kernel] = []
        for name in step.states:
            kernel = self.program.by_name[name].kernel
            if kernel not in kernels:
                kernels.append(kernel)
        return kernels

    def memories_of(self, step: Step) -> list[Table | Volume | Texels]:
        """The memories of the step's modules."""
        return [memory for module in self.modules_for(self.kernels_of(step)) for memory in module.memories]

    def step(self, name: str, states: Sequence[str], single: bool = False) -> Step:
        """The pass that runs ``states``; ``single`` when it is the only pass: program inputs in, results out."""
        program = self.program
        start = entry_state(program.start)
        inside = list(states)
        entered = [s for s in inside if s == start or any(s in program.successors(o) for o in self._others(inside))]
        rank = program.order if set(program.order) == set(inside) else ()
        order = weak_topological_order(inside, program.successors, entered[0] if entered else inside[0], rank=rank)
        iterates = not single and len(inside) == len(program.states) > 1 and len(order) == 1
        if iterates:  # where an iteration ends, the next pass begins
            entered += [s for s in self._reentered(order[0]) if s not in entered]
        members = [program.by_name[s] for s in inside]
        if single:
            read = {stream for s in members for stream in s.reads()}
            loads = [s for s in program.inputs if s in read or s in program.results]
            stores = list(program.results)
        else:
            writes = {stream for s in members for stream in s.writes()}
            following = {s for name in inside for s in program.successors(name) if s not in inside}
            # A stack filled and emptied within the pass lives in its local variables.
            local = set() if iterates else self._emptied(inside, following)
            inputs = self._read_before_written(inside, entered) - local
            live = set(program.results)
            if iterates or len(inside) == 1:  # a pass may end with the ray where it was
                live |= inputs
            for other in following:
                live |= self.live[other] - local
            loads = [s for s in program.streams if s in inputs]
            stores = [s for s in program.streams if s in writes & live]
            # A stream not written on every path through the group must pass through unchanged.
            if len(inside) > 1:
                sure = set() if iterates else self._always_written(inside, entered)
                loads = [s for s in program.streams if s in loads or (s in stores and s not in sure)]
        entries = (*inside,) if len(inside) == 1 else (*entered,)
        gathers = tuple(dict.fromkeys(stream for state in members for stream in state.gathers()))
        return Step(
            name, tuple(flatten(order)), order, entries, tuple(loads), tuple(stores), len(inside) > 1, gathers, iterates
        )

    def _emptied(self, inside: Sequence[str], after: set[str]) -> set[str]:
        """The stacks that a group fills and that are empty where rays leave it for the states ``after`` it: all their
        users are in the group, and no ray returns to them before it begins anew."""
        stacks = {stream for stream in self.program.stacked if self._users[stream] <= set(inside)}
        if not stacks:
            return stacks
        start = entry_state(self.program.start)
        reached, pending = set(after), [name for name in after if name != start]
        while pending:
            for name in self.program.successors(pending.pop()):
                if name not in reached:
                    reached.add(name)
                    if name != start:  # a ray that starts anew has empty stacks
                        pending.append(name)
        return {stream for stream in stacks if self._users[stream].isdisjoint(reached)}

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        """The states that read or write each stack."""
        states = self.program.states
        return {
            stream: {s.name for s in states if stream in (*s.reads(), *s.writes())} for stream in self.program.stacked
        }

    def _reentered(self, loop: Element) -> list[str]:
        """The states of a loop reached from a later one in its order: possible states of a ray after an iteration."""
        if isinstance(loop, str):
            return []
        position = {name: k for k, element in enumerate((loop.head, *loop.body)) for name in flatten([element])}
        edges = [(name, target) for name in position for target in self.program.successors(name) if target in position]
        return list(dict.fromkeys(target for name, target in edges if position[target] < position[name]))

    @cached_property
    def live(self) -> dict[str, set[str]]:
        """For each state, the streams read by it or a later one before being written: liveness."""
        live: dict[str, set[str]] = {state.name: set() for state in self.program.states}
        grows = True
        while grows:
            grows = False
            for state in reversed(self.program.states):
                after = {s for other in self.program.successors(state.name) for s in live[other]}
                if DONE in [*state.exits.values(), *self.program.returns.get(state.name, ())]:
                    after |= set(self.program.results)
                needed = set(state.reads()) | (after - set(state.writes()))
                grows |= needed != live[state.name]
                live[state.name] = needed
        return live

    def _others(self, inside: Sequence[str]) -> list[str]:
        return [s.name for s in self.program.states if s.name not in inside]

    def _read_before_written(self, inside: Sequence[str], entered: Sequence[str]) -> set[str]:
        """Streams read before written on some path through a group from one of its entries: liveness."""
        live: dict[str, set[str]] = {name: set() for name in inside}
        grows = True
        while grows:
            grows = False
            for name in reversed(inside):
                state = self.program.by_name[name]
                after = {stream for other in self.program.successors(name) if other in live for stream in live[other]}
                needed = set(state.reads()) | (after - set(state.writes()))
                grows |= needed != live[name]
                live[name] = needed
        return {stream for name in entered for stream in live[name]}

    def sampler_count(self, step: Step, scheduled: bool = True) -> int:
        """Number of input textures of a step. scheduled : whether the ray's state comes from a stream."""
        count = int(scheduled) + sum(self.records[s].texels for s in (*step.loads, *step.gathers))
        memories = self.memories_of(step)
        count += sum(not isinstance(m, Table) or m.hot for m in memories)
        return count + any(isinstance(m, Table) and not m.hot for m in memories)

    def attachment_count(self, step: Step, scheduled: bool = True) -> int:
        """Number of output textures of a step."""
        return int(scheduled) + sum(self.records[s].texels for s in step.stores)

    def _always_written(self, inside: Sequence[str], entered: Sequence[str]) -> set[str]:
        """Streams written on every path through a group, from one of its entries to beyond."""
        written: dict[str, set[str]] = {name: set() for name in entered}  # on arrival at a state
        pending, on_leaving = list(entered), None
        while pending:
            name = pending.pop()
            written_after = written[name] | set(self.program.by_name[name].writes())
            targets = self.program.returns.get(name, []) + [*self.program.by_name[name].exits.values()]
            if DONE in targets or any(other not in inside for other in self.program.successors(name)):
                on_leaving = written_after if on_leaving is None else on_leaving & written_after
            for other in self.program.successors(name):
                if other in inside and written.get(other, set(self.records)) & written_after != written.get(other):
                    written[other] = written.get(other, set(self.records)) & written_after
                    pending.append(other)
        return on_leaving or set()

    def check(self, step: Step, scheduled: bool = True) -> None:
        """Raises WiringError for a step that exceeds OpenGL 3.3's guarantees, separates a module from its locals, or
        gathers from a stream that it writes."""
        where = f"program {self.program.name}, step {step.name}"
        for module in self.modules_for(self.kernels_of(step)):
            crossing = [s for s in (*step.loads, *step.stores) if self.records[s] is module.module_state]
            if module.local and crossing:
                raise WiringError(
                    where,
                    f"{module.name} has locals, which end with the pass, and '{crossing[0]}' goes on to another",
                    "fuse the traversal's states, or choose a traversal without a stack",
                )
        self._check_gathers(where, step.states)
        for label, count, limit in (
            ("attachments", self.attachment_count(step, scheduled), MAX_ATTACHMENTS),
            ("samplers", self.sampler_count(step, scheduled), MAX_SAMPLERS),
        ):
            if count > limit:
                hint = "split the kernel, or fuse fewer states"
                raise WiringError(where, f"needs {count} {label}, {limit} are granted", hint)

    def _check_gathers(self, where: str, states: Sequence[str]) -> None:
        """Raises where one of these states gathers from a stream that one of them writes, or two gather under one name
        from two streams."""
        members = [self.program.by_name[name] for name in states]
        written = {stream for state in members for stream in state.writes()}
        sources: dict[str, str] = {}
        for state in members:
            for argument in state.kernel.gathered:
                stream = state.stream_of(argument.name)
                if stream in written:
                    hint = "gather in a step of its own, outside of the loop that writes it"
                    raise WiringError(where, f"gathers from stream '{stream}', which it writes", hint)
                if sources.setdefault(argument.name, stream) != stream:
                    what = f"'{argument.name}' gathers from '{sources[argument.name]}' and from '{stream}'"
                    raise WiringError(where, what, "fuse fewer states")

    def steps(self, fuse: str, software: bool = True) -> list[Step]:
        """The passes of a multipass machine under a fusion ('none', or groups of the program), in its order; software :
        of `raystream.stream.compile.generate.Form`.

        A group that needs more textures than OpenGL 3.3 guarantees is shortened, with a note in `limits`.
        """
        fusions = self.program.groups if software else {**self.program.groups, **self.program.gpu_groups}
        groups = {name: group for group in (fusions.get(fuse, ()) if fuse != "none" else ()) for name in group}
        steps: list[Step] = []
        served: set[str] = set()
        for state in self.program.states:
            while state.name not in served:  # a shortened group may have lost the state itself
                group = tuple(name for name in groups.get(state.name, (state.name,)) if name not in served)
                step = self._widest(group)
                served |= set(step.states)
                steps.append(step)
        return steps

    def _widest(self, group: tuple[str, ...]) -> Step:
        """The pass of the longest prefix of the group that the texture limits allow."""
        while True:
            step = self.step("+".join(group), group)
            try:
                self.check(step)
            except WiringError as error:
                if len(group) == 1:
                    raise
                note = f"{error.where}: {error.what}; '{group[-1]}' becomes a pass of its own"
                if note not in self.limits:
                    self.limits.append(note)
                group = group[:-1]
                continue
            return step

    def single(self) -> Step:
        """The one pass of the single-pass machine."""
        step = self.step(self.program.name, [s.name for s in self.program.states], single=True)
        self.check(step, scheduled=False)
        return step

    def stages(self, steps: Sequence[Step]) -> list[list[Step]]:
        """Steps grouped by their loops, in topological order: a stage is served until no ray is left in it."""
        by_name = {step.name: step for step in steps}
        stages = [[by_name[name] for name in flatten([element])] for element in self.order(steps)]
        for stage in stages:  # the policy orders the passes of a stage
            self._check_gathers(
                f"program {self.program.name}, loop of {stage[0].name}", [s for step in stage for s in step.states]
            )
        return stages

    def order(self, steps: Sequence[Step]) -> tuple[Element, ...]:
        """Names of steps, nested by their loops."""
        successors, start = self.step_successors(steps), entry_state(self.program.start)
        first = next(step.name for step in steps if start in step.states)
        return weak_topological_order([step.name for step in steps], successors.__getitem__, first)

    def step_successors(self, steps: Sequence[Step]) -> dict[str, list[str]]:
        """The steps that a ray served by each may wait for next, by name."""
        of_state = {state: step.name for step in steps for state in step.states}
        return {
            step.name: list(dict.fromkeys(of_state[s] for name in step.states for s in self.program.successors(name)))
            for step in steps
        }

    def start_indices(self) -> tuple[int, int]:
        """Initial (state, return state) of every ray."""
        start = self.program.start
        if isinstance(start, str):
            return self.program.number(start), 0
        return self.program.number(start.state), self.program.number(start.then) if start.then is not DONE else 0
