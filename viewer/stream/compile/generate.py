"""The generator of fragment programs: the only place that writes a ``main()`` for kernels.

A step (one state, a fused group, or all states) becomes: load streams; call kernels, each exit setting the next state,
in loops nested by `raystream.stream.compile.link`; store streams. Generated outputs are ``invariant``: compilers would
else contract and reassociate the same kernel differently in different programs, and bits would differ.

Counting is a separate program, drawn over the same rays before the step's. It runs the same kernels and adds up their
calls, so that the step itself is the same with and without counting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from raystream.base.errors import ShaderError, WiringError
from raystream.stream.compile.link import COUNTED_PER_TEXEL, Element, LinkedProgram, StateLoop, Step
from raystream.stream.compile.memories import (
    Addresses,
    arena_glsl,
    cold_glsl,
    cold_tables,
    gather_glsl,
    memory_glsl,
    uniform_glsl,
)
from raystream.stream.compile.source import VERSION, Origin, Source, blank_comments, read_shader
from raystream.stream.declare.kernel import Access, Kernel, Module, PreparedValue, Table
from raystream.stream.declare.program import DONE, RETURN, Call, State, Target, entry_state
from raystream.stream.declare.record import Record

# -- the form of a generated program: a machine's requirements, and the textures that it reads and writes --------------


@dataclass(frozen=True)
class Form:
    """A machine's requirements of a generated program, besides the step itself.

    scheduled : the state comes from and goes to a stream (multipass); else it is a local variable (single pass).
    discards  : the program itself discards rays in other states (no mask).
    stores    : names of its output textures, where one pass cannot write all; empty: all.
    rounds    : outputs are rounded to the floats of the papers' day (``shaders/lib/stored.glsl``).
    software  : for a driver that rasterises on the CPU, which spills anyway, and reads uniforms slowly; else for a GPU,
                whose registers are few.
    counts    : numbers of the count textures that it updates, as its only outputs: kernel calls, and words fetched at
                random.
    """

    scheduled: bool
    discards: bool = False
    counts: tuple[int, ...] = ()
    stores: tuple[str, ...] = ()
    rounds: bool = False
    software: bool = True


def textures(linked: LinkedProgram, streams: Sequence[str], form: Form) -> list[str]:
    """Names of the textures of these streams, and of the state, in the order of attachments and samplers."""
    names = ["state"] if form.scheduled else []
    return names + [f"{stream}_{k}" for stream in streams for k in range(linked.records[stream].texels)]


def inputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's input textures; its uniforms are ``in_<name>``."""
    return textures(linked, list(dict.fromkeys((*step.loads, *step.gathers))), form)


def outputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's output textures, in the order of its colour attachments."""
    if form.counts:
        return [f"count_{k}" for k in form.counts]
    return [name for name in textures(linked, step.stores, form) if not form.stores or name in form.stores]


def has_unroll_limit(step: Step, form: Form) -> bool:
    """Whether the uniform ``unroll`` limits a pass: its kernel calls, or its iterations of the whole program."""
    return form.scheduled and (step.iterates or not step.fused)


# -- placement of prepared values (`raystream.stream.declare.kernel.PreparedValue`) ------------------------------------
# After each state that writes their stream, behind the exits from which a kernel uses them before the next write,
# and on load if one does.


@dataclass(frozen=True)
class Preparation:
    """A prepared value of a step.

    used : by state name, the stream whose value its kernel uses. writes : by state name, the streams to prepare after
    its call, each with the exits behind which it is used; none: behind all. loads : the streams to prepare on load.
    copies : by name of a state that copies streams, (source, copy).
    """

    prepared: PreparedValue
    used: dict[str, str] = field(default_factory=dict)
    writes: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    loads: tuple[str, ...] = ()
    copies: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams in use; a single one needs no copies."""
        copied = [stream for pair in self.copies.values() for stream in pair]
        return tuple(dict.fromkeys((*self.used.values(), *copied)))

    def variable(self, stream: str) -> str:
        """The variable of a stream's prepared value."""
        return self.prepared.variable if len(self.streams) == 1 else f"{self.prepared.variable}_{stream}"

    def statement(self, stream: str) -> str:
        """The statement that prepares a stream."""
        return f"{self.variable(stream)} = {self.prepared.function}(s_{stream});"

    def statements_after(self, state: str) -> list[str]:
        """The statements after a state's call."""
        statements = []
        if state in self.copies:
            source, copy = self.copies[state]
            statements.append(f"{self.variable(copy)} = {self.variable(source)};")
        for stream, exits in self.writes.get(state, {}).items():
            condition = " || ".join(f"exit_code == EXIT_{name.upper()}" for name in exits)
            statements.append(f"if ({condition}) {self.statement(stream)}" if condition else self.statement(stream))
        return statements

    def statement_before(self, state: str) -> str:
        """The statement before a state's call, possibly empty."""
        if state not in self.used or len(self.streams) == 1:
            return ""
        return f"{self.prepared.variable} = {self.variable(self.used[state])};"


def preparations(linked: LinkedProgram, step: Step) -> list[Preparation]:
    """Prepared values of all modules of a step, without unused ones."""
    modules = linked.modules_for(linked.kernels_of(step))
    candidates = (_preparation(linked, step, module.prepared) for module in modules if module.prepared)
    return [preparation for preparation in candidates if preparation.used]


def _preparation(linked: LinkedProgram, step: Step, prepared: PreparedValue) -> Preparation:
    """Where a step computes a prepared value: after which calls and exits, and for which streams on load."""
    states = {name: linked.program.by_name[name] for name in step.states}
    used = {name: stream for name, state in states.items() if (stream := _used_stream(linked, state, prepared))}
    candidates = {
        name: (state.stream_of(source), state.stream_of(copy))
        for name, state in states.items()
        for source, copy in state.kernel.copies
        if linked.records[state.stream_of(source)].name == prepared.record
    }
    # A state that copies one stream to another is one of the copies where the value of the other is used.
    copies: dict[str, tuple[str, str]] = {}
    streams = set(used.values())
    while more := {name: pair for name, pair in candidates.items() if pair[1] in streams and name not in copies}:
        copies |= more  # of streams that are themselves copied from, too
        streams |= {source for source, _ in more.values()}
    read = {**{name: source for name, (source, _) in copies.items()}, **used}
    writes: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, state in states.items():
        for stream in _changed_streams(state, prepared) if name not in copies else ():
            exits = tuple(
                exit_
                for exit_ in state.exits
                if _read_before_write(linked, states, read, prepared, stream, linked.program.successors_by(name, exit_))
            )
            if exits:
                writes.setdefault(name, {})[stream] = exits if len(exits) < len(state.exits) else ()
    loads = tuple(s for s in step.loads if _read_before_write(linked, states, read, prepared, s, step.entries))
    return Preparation(prepared, used, writes, loads, copies)


def _used_stream(linked: LinkedProgram, state: State, prepared: PreparedValue) -> str:
    """The first input stream of a state that has the prepared value's record; empty where its kernel needs nothing that
    the value serves."""
    if prepared.serves.isdisjoint(state.kernel.needs):
        return ""
    read = (state.stream_of(argument.name) for argument in state.kernel.glsl_arguments if argument.access.reads)
    return next((stream for stream in read if linked.records[stream].name == prepared.record), "")


def _changed_streams(state: State, prepared: PreparedValue) -> tuple[str, ...]:
    """The streams whose prepared value a state may change."""
    return tuple(dict.fromkeys(state.writes())) if prepared.preserved_by.isdisjoint(state.kernel.needs) else ()


def _read_before_write(
    linked: LinkedProgram,
    states: dict[str, State],
    read: dict[str, str],
    prepared: PreparedValue,
    stream: str,
    entries: Iterable[str],
) -> bool:
    """Whether a ray that enters one of ``entries`` may come to a state that reads the prepared value of ``stream``
    before one writes the stream. read : by state name, the stream whose prepared value it reads."""
    pending, visited = [name for name in entries if name in states], set()
    while pending:
        name = pending.pop()
        if name in visited:
            continue
        visited.add(name)
        if read.get(name) == stream:
            return True
        if stream not in _changed_streams(states[name], prepared):
            pending += [successor for successor in linked.program.successors(name) if successor in states]
    return False


# -- the ``main()`` of a generated fragment program: streams in, kernels by state, streams out -------------------------

Line = tuple[str, str]  # of GLSL, and where it is from


def state_constant(name: str) -> str:
    """The GLSL constant of a state; a copy's includes the state that it returns to."""
    return f"STATE_{name.upper().replace('@', '_RETURNING_TO_')}"


def add_main(source: Source, linked: LinkedProgram, step: Step, form: Form, prepared: Sequence[Preparation]) -> None:
    """Append the ``main()`` of a step."""
    for text, origin in _Main(linked, step, form, prepared).lines():
        source.add(text, origin)


@dataclass
class _Main:
    linked: LinkedProgram
    step: Step
    form: Form
    prepared: Sequence[Preparation]

    def __post_init__(self) -> None:
        self.program = self.linked.program
        self.stores = () if self.form.counts else self.step.stores
        self.calls = any(True for _ in self.program.calls())
        # For a GPU: registers that a stream takes only where rays may need it.
        self.dead = {} if self.form.software else dead_streams(self.linked, self.step)
        self.late = {} if self.form.software else self._first_uses()

    def lines(self) -> Iterator[Line]:
        yield "void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);", "main"
        yield from self._state_lines()
        yield from self._load_lines()
        yield from self._call_lines()
        yield from self._store_lines()
        yield "}", "main"

    def _state_lines(self) -> Iterator[Line]:
        """The declarations of ``state``, the ray's, and of ``caller``, the one that it returns to."""
        if self.form.scheduled:
            if self.form.software:
                yield "    vec2 place = gl_FragCoord.xy / vec2(textureSize(in_state, 0));", "main"
            yield f"    vec2 states = {self._texel('state')}.xy;", "main"
            yield f"    int state = int_of(states.x){', caller = int_of(states.y)' if self.calls else ''};", "main"
            # No early return: llvmpipe (Mesa 22.3) then gives wrong values to loops that test at their end. Masked
            # lanes may run along for their neighbours; their state lets them into no loop.
            if self.form.discards:
                others = " && ".join(f"state != {state_constant(s)}" for s in self.step.entries)
                yield f"    if ({others}) discard;", "main"
            return
        # Lanes beyond the last ray may run along for their neighbours: they are done.
        yield "    bool mine = at.x < extent.x && at.y * extent.x + at.x < extent.y;", "main"
        start = self.program.start
        entry, then = (start, DONE) if isinstance(start, str) else (start.state, start.then)
        caller = f", caller = {_constant(then)}" if self.calls else ""
        yield f"    int state = mine ? {_constant(entry)} : STATE_DONE{caller};", "main"

    def _load_lines(self) -> Iterator[Line]:
        """The streams, loaded where they are read before they are written; prepared values; counters."""
        states = (self.program.by_name[name] for name in self.step.states)
        kernel_state = {state.stream_of(a.name): None for state in states for a in state.kernel.glsl_arguments}
        for stream in dict.fromkeys([*kernel_state, *self.step.loads, *self.stores]):
            record = self.linked.records[stream]
            if stream in self.step.loads and stream not in self.late and record.fields:
                yield f"    {record.name} s_{stream} = {self._unpacked(stream)};", f"load {stream}"
            else:
                zero = "" if self.form.software else f" = {record.glsl_zero()}"
                yield f"    {record.name} s_{stream}{zero};", f"stream {stream}"
        for preparation in self.prepared:
            for stream in preparation.streams if len(preparation.streams) > 1 else ():
                yield f"    {preparation.prepared.type} {preparation.variable(stream)};", f"prepared {stream}"
            for stream in preparation.loads:
                yield f"    {preparation.statement(stream)}", f"prepared {stream}"
        for k in self.form.counts:
            yield f"    vec4 count_{k} = vec4(0.0);", "counters"

    def _unpacked(self, stream: str) -> str:
        """The expression of the ray's record in a stream."""
        record = self.linked.records[stream]
        texels = ", ".join(self._texel(f"{stream}_{k}") for k in range(record.texels))
        return f"unpack_{record.name}({texels})"

    def _texel(self, name: str) -> str:
        """The ray's texel in an input texture; on llvmpipe a nearest sample takes 2 / 3 of texelFetch's time."""
        if self.form.scheduled and self.form.software:
            return f"textureLod(in_{name}, place, 0.0)"
        return f"texelFetch(in_{name}, at, 0)"

    def _first_uses(self) -> dict[str, Element]:
        """The streams that are loaded later, each with the element of the order that uses it first."""
        first: dict[str, Element] = {}
        for element in self.step.order:
            for name in element.states() if isinstance(element, StateLoop) else [element]:
                state = self.program.by_name[name]
                for stream in (*state.reads(), *state.writes()):
                    first.setdefault(stream, element)
        early = {stream for preparation in self.prepared for stream in preparation.loads}
        late = (s for s, element in first.items() if s not in early and element != self.step.order[0])
        return {stream: first[stream] for stream in late if stream in self.step.loads}

    def _call_lines(self) -> Iterator[Line]:
        """The kernels of the step's states, in their order."""
        single = self.step.order[0] if len(self.step.order) == 1 else None
        if not isinstance(single, str) or not has_unroll_limit(self.step, self.form):
            for element in self.step.order:
                for stream, first_use in self.late.items():
                    if first_use == element and self.linked.records[stream].fields:
                        yield f"    s_{stream} = {self._unpacked(stream)};", f"load {stream}"
                yield from self._element_lines(element, "    ", self.step.iterates and self.form.scheduled)
            return
        served, within = self.program.by_name[single], f"state == {state_constant(single)}"
        loops = single in served.exits.values()
        head, tail = f"if ({within}) {{", "}"
        if loops:
            yield "    int iteration = 0;", f"state {single}"
            head, tail = self._loop_lines(served, f"iteration < unroll && {within}")
        yield "    " + head, f"state {single}"
        yield from self._kernel_lines(served, "        ")
        yield ("        ++iteration;\n    " if loops else "    ") + tail, f"state {single}"

    def _store_lines(self) -> Iterator[Line]:
        """The end of ``main``: the next state, and the records, packed into the colour attachments."""
        step, form = self.step, self.form
        if not form.scheduled:
            yield "    if (state != STATE_DONE) discard;  // ended by the driver: see Machine._retry", "main"
        elif not form.counts:
            if step.fused:  # ended early by the driver: see Machine._retry
                inside = [s for s in step.states if not (step.iterates and s in step.entries)]
                yield f"    if ({self._in_any_state(inside)}) state = {self.program.cut_number};", "main"
            yield f"    out_state = vec2(float(state), {'float(caller)' if self.calls else '0.0'});", "main"
        for stream in self.stores:
            record = self.linked.records[stream]
            if record.fields:
                texels = ", ".join(f"out_{stream}_{k}" for k in range(record.texels))
                yield f"    pack_{record.name}(s_{stream}, {texels});", f"store {stream}"
        if form.rounds and not form.counts:
            for name in outputs(self.linked, step, form):
                if name != "state":
                    yield f"    out_{name} = stored(out_{name});", f"store {name}"
        for k in form.counts:
            yield f"    out_count_{k} = count_{k};", "counters"

    def _element_lines(self, element: Element, indent: str, limited: bool = False) -> Iterator[Line]:
        """A state with a loop while its exit leads back to it, or a loop of several states, iterations ``limited`` or
        not."""
        for stream in self.dead.get(element, ()):  # so that it takes no registers up to here
            yield f"{indent}s_{stream} = {self.linked.records[stream].glsl_zero()};", f"stream {stream}"
        if isinstance(element, StateLoop):
            within = self._in_any_state(element.states())
            if limited:
                yield f"{indent}int iteration = 0;", "order of states"
            if self.form.software:
                again = f"++iteration < unroll && ({within})" if limited else within
                head, tail = f"if ({within}) do {{", f"}} while ({again});"
            else:  # behind an `if` what was loaded would keep its registers for rays that pass by
                again = f"iteration++ < unroll && ({within})" if limited else within
                head, tail = f"while ({again}) {{", "}"
            yield indent + head, "order of states"
            for inner in (element.head, *element.body):
                yield from self._element_lines(inner, indent + "    ")
            yield indent + tail, "order of states"
            return
        state, within = self.program.by_name[element], f"state == {state_constant(element)}"
        loops = element in state.exits.values()
        head, tail = self._loop_lines(state, within) if loops else (f"if ({within}) {{", "}")
        yield indent + head, f"state {element}"
        yield from self._kernel_lines(state, indent + "    ")
        yield indent + tail, f"state {element}"

    def _in_any_state(self, states: Sequence[str]) -> str:
        """The test whether a ray is in one of these states."""
        ordered = sorted(states, key=self.program.number)
        first, last = self.program.number(ordered[0]), self.program.number(ordered[-1])
        if last - first == len(ordered) - 1 > 1:
            return f"state >= {state_constant(ordered[0])} && state <= {state_constant(ordered[-1])}"
        return " || ".join(f"state == {state_constant(s)}" for s in states)

    def _loop_lines(self, state: State, within: str) -> tuple[str, str]:
        """Head and tail of a state's loop. Normally it tests at its end, one test fewer per ray. Where iterations have
        outputs without inputs it tests at its start: llvmpipe (Mesa 22.3) else takes the last iteration's outputs of
        all lanes, even for lanes that had left the loop."""
        if not self.form.software or any(argument.access is Access.OUT for argument in state.kernel.glsl_arguments):
            return f"while ({within}) {{", "}"
        return f"if ({within}) do {{", f"}} while ({within});"

    def _kernel_lines(self, state: State, indent: str) -> Iterator[Line]:
        """The call of a state's kernel, and the next state by its exit."""
        arguments = ", ".join(f"s_{state.stream_of(a.name)}" for a in state.kernel.glsl_arguments)
        lines = [taken for preparation in self.prepared if (taken := preparation.statement_before(state.name))]
        lines.append(f"int exit_code = {state.kernel.name}({arguments});")
        lines += [line for preparation in self.prepared for line in preparation.statements_after(state.name)]
        if self.form.counts:
            texel, part = divmod(self.linked.count_of(state.name), COUNTED_PER_TEXEL)
            if texel in self.form.counts:
                swizzle = "xy" if part == 0 else "zw"
                lines.append(f"count_{texel}.{swizzle} += vec2(1.0, float(random_words));")
            lines.append("random_words = 0;")
        exits = [(e, t) for e, t in state.exits.items() if t != state.name]  # leading back: nothing changes
        for k, (name, target) in enumerate(exits):
            last = k == len(exits) - 1 and len(exits) == len(state.exits)
            condition = "" if last else f"if (exit_code == EXIT_{name.upper()}) "
            lines.append(("else " if k else "") + condition + f"{{ {_transition_glsl(target)} }}")
        for line in lines:
            yield indent + line, f"state {state.name}"


def _transition_glsl(target: Target) -> str:
    """The statements that send a ray to a target."""
    if target is RETURN:
        return "state = caller;"
    if isinstance(target, Call):
        return f"state = {_constant(target.state)}; caller = {_constant(target.then)};"
    return f"state = {_constant(target)};"


def _constant(target: Target) -> str:
    """The GLSL constant of a state, or of DONE."""
    return "STATE_DONE" if target is DONE else state_constant(str(target))


def dead_streams(linked: LinkedProgram, step: Step) -> dict[Element, tuple[str, ...]]:
    """For each element of the step's order the streams that it writes and that no ray needs on arrival. A compiler
    cannot know from the exits that every ray in the second state was in the first: without a value assigned to it, such
    a stream would be kept in registers from the pass's beginning."""
    program, dead = linked.program, {}
    for element, states in _arrivals(linked, step).items():
        live = {stream for state in states for stream in (linked.live[state] if state else program.results)}
        members = element.states() if isinstance(element, StateLoop) else [element]
        written = {stream for state in members for stream in program.by_name[state].writes()}
        dead[element] = tuple(s for s in program.streams if s in written - live)
    return dead


def _arrivals(linked: LinkedProgram, step: Step) -> dict[Element, set[str]]:
    """For each element the states in which rays may be on arrival at it; an empty name for finished rays."""
    program = linked.program
    arrivals: dict[Element, set[str]] = {}

    def pass_element(element: Element, states: set[str]) -> set[str]:
        """The possible states behind an element, of those before it; notes the latter in ``arrivals``."""
        arrivals[element] = arrivals.get(element, set()) | states
        if isinstance(element, StateLoop):
            previous: set[str] = set()
            while previous != states:
                previous, current = states, states
                for inner in (element.head, *element.body):
                    current = pass_element(inner, current)
                states = previous | current
            limited = step.iterates and element in step.order
            return states if limited else states - set(element.states())
        if element not in states:
            return states
        targets = [*program.by_name[element].exits.values(), *program.returns.get(element, ())]
        done = {""} if DONE in [entry_state(target) for target in targets] else set()
        return (states - {element}) | {s for s in program.successors(element) if s != element} | done

    states = {*step.entries}
    for element in step.order:
        states = pass_element(element, states)
    return arrivals


# -- faults of a kernel's own source that a driver's message does not name ---------------------------------------------
# Another signature than the declared one, and a function of a module that the kernel calls without naming it in
# ``needs``.

_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(")
_DEFINITION = re.compile(r"^\s*(\w+)\s+(\w+)\s*\(([^()]*)\)\s*\{", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PARAMETER = re.compile(r"(?:const\s+)?(?:(in|out|inout)\s+)?(\w+)")

Function = tuple[str, str, tuple[tuple[str, str], ...]]  # result, name, (access, type) of each parameter


def check_needs(source: Source, linked: LinkedProgram, kernel: Kernel, log: str = "") -> None:
    """Raises WiringError where a kernel calls a module's function, or a driver's ``log`` names a uniform or constant of
    a module, that the kernel does not need. source : with the kernel's file."""
    text, _ = _kernel_text(source, kernel)
    words = set(_CALL.findall(text)) - {definition[2] for definition in _DEFINITION.finditer(text)}
    foreign = words & linked.providers.keys()
    logged = set(_WORD.findall(text)) & set(_WORD.findall(log)) if log else set()
    if not foreign and not logged:
        return
    declared_modules = {id(module) for module in linked.modules_for([kernel])}
    needs = {name: name for name in foreign if id(linked.providers[name]) not in declared_modules}
    for module in linked.modules if logged else ():
        if id(module) not in declared_modules and module.provides:
            names = (*module.uniforms, *module.constants)
            needs |= {name: module.provides[0] for name in names if name in logged}
    for name, need in sorted(needs.items()):
        verb = "calls" if name in words else "uses"
        raise WiringError(f"kernel {kernel.name}", f"{verb} {name}", f"name {need} in its needs")


def diagnosis(linked: LinkedProgram, kernels: Sequence[Kernel], source: Source, log: str) -> ShaderError | None:
    """The fault of one of the kernels of a program that does not compile or link; None where it is another one."""
    for kernel in (kernel for kernel in kernels if kernel.file):
        signature_error = _wrong_signature(source, kernel)
        if signature_error is not None:
            return signature_error
        try:
            check_needs(source, linked, kernel, log)
        except WiringError as error:
            return ShaderError(error.where, error.what, error.hint)
    return None


def _kernel_text(source: Source, kernel: Kernel) -> tuple[str, list[Origin]]:
    """The text of a kernel's own file as it is in a program, without comments, and the origin of each line."""
    lines = [(line, origin) for line, origin in source.lines if origin.file == kernel.file]
    return blank_comments("\n".join(line for line, _ in lines)), [origin for _, origin in lines]


def _wrong_signature(source: Source, kernel: Kernel) -> ShaderError | None:
    """The error for a file without the function that its declaration asks for."""
    text, origins = _kernel_text(source, kernel)
    declared = kernel.prototype().removesuffix(";")
    expected = _parse_signature(*re.findall(r"(\w+) (\w+)\((.*)\)", declared)[0])
    defined = [(match.start(2), _parse_signature(*match.groups())) for match in _DEFINITION.finditer(text)]
    if any(function == expected for _, function in defined):
        return None
    where, detail = kernel.file, ""
    for start, function in sorted(defined, key=lambda definition: definition[1][1] == kernel.name):
        if function[0] == "int" or function[1] == kernel.name:
            where, detail = str(origins[text.count("\n", 0, start)]), f"it has {_signature_text(function)}"
    return ShaderError(where, f"no function {declared}", detail)


def _parse_signature(result: str, name: str, parameters: str) -> Function:
    """A function's result type, name and parameters, from their texts in GLSL."""
    matches = (_PARAMETER.match(parameter.strip()) for parameter in parameters.split(","))
    return result, name, tuple((match[1] or "in", match[2]) for match in matches if match and match[2] != "void")


def _signature_text(function: Function) -> str:
    result, name, parameters = function
    return f"{result} {name}({', '.join(' '.join(parameter) for parameter in parameters)})"


# -- the generator of fragment programs --------------------------------------------------------------------------------

# Features of the form for GPUs.
GPU_FORM = "GPU_FORM"
REMATERIALISED = "REMATERIALISED"  # what would be alive for long is derived where it is used
MAX_USES = 2  # states that may derive a prepared value themselves
BIT_FUNCTIONS = "#extension GL_ARB_gpu_shader5 : enable"


def fragment(
    linked: LinkedProgram,
    step: Step,
    form: Form,
    addresses: Addresses,
    read: Callable[[str], str] = read_shader,
) -> Source:
    """The fragment program of a step."""
    source = Source(read, features=set(linked.features))
    source.add(VERSION, "version")
    kernels = linked.kernels_of(step)
    modules = linked.modules_for(kernels)
    prepared = preparations(linked, step)
    source.features |= {preparation.prepared.feature for preparation in prepared}
    if not form.software:
        source.add(BIT_FUNCTIONS, "version")
        source.features |= {
            GPU_FORM,
            *({REMATERIALISED} if all(_is_cheap(linked, value) for value in prepared) else ()),
        }
    source.include("lib/int_of.glsl")
    _add_records(source, linked, step, form, modules)
    if form.counts:
        source.add("int random_words = 0;  // words fetched at random since the last kernel call", "counters")
    exits = sorted({e for state in linked.program.states for e in state.kernel.exits})
    for index, name in enumerate(exits):
        source.add(f"const int EXIT_{name.upper()} = {index};", f"exits of program {linked.program.name}")
    add_modules(source, modules, addresses, bool(form.counts), form.software)
    _add_interface(source, linked, step, form)
    for kernel in kernels:
        if kernel.copies:
            source.add(kernel.copy_glsl, f"kernel {kernel.name}")
            continue
        source.add(kernel.prototype(), f"prototype of kernel {kernel.name}")
        source.include(kernel.file)
        if kernel.source:  # of a plug-in: no test has seen it
            check_needs(source, linked, kernel)
    source.diagnose = partial(diagnosis, linked, kernels)
    _add_states(source, linked, step)
    add_main(source, linked, step, form, prepared)
    return source


def _is_cheap(linked: LinkedProgram, preparation: Preparation) -> bool:
    """Whether deriving a value at each use costs little: few states use it, and none in a loop of its own."""
    users = [linked.program.by_name[name] for name in preparation.used]
    return len(users) <= MAX_USES and not any(state.name in state.exits.values() for state in users)


def _add_records(source: Source, linked: LinkedProgram, step: Step, form: Form, modules: Sequence[Module]) -> None:
    """Append the records of the step's streams and modules, with `unpack` and `pack` where needed."""
    records: list[Record] = []
    for name in step.states:
        state = linked.program.by_name[name]
        records += [linked.records[state.stream_of(a.name)] for a in state.kernel.arguments]
    fetched = [m.record for module in modules for m in module.memories if isinstance(m, Table)]
    records += fetched
    for module in modules:
        records += [*module.uses, *([module.module_state] if module.module_state else [])]
    loaded = {*fetched, *(linked.records[s] for s in (*step.loads, *step.gathers))}
    stored = set() if form.counts else {linked.records[s] for s in step.stores}
    for record in dict.fromkeys(records):
        source.add_record(record, unpack=record in loaded, pack=record in stored)


def add_modules(source: Source, modules: Sequence[Module], addresses: Addresses, counting: bool, once: bool) -> None:
    """The constants, uniforms, memories and functions of modules, providers before users. once : as of
    `uniform_glsl`."""
    if cold_tables(modules):
        source.add(arena_glsl(addresses.arena_row), "arena")
    source.features |= {feature for module in modules for feature in module.features}
    for module in modules:
        origin = f"module {module.name}"
        source.add_constants(module.constants, origin)
        for name, (type_, _) in module.uniforms.items():
            source.add(uniform_glsl(type_, name, once=once), origin)
        for memory in module.memories:
            if isinstance(memory, Table) and not memory.hot:
                text = cold_glsl(memory, counting, once)
            else:
                text = memory_glsl(memory, addresses.layout(memory), counting)
            source.add(text, f"memory {memory.name}")
        if module.text:
            source.add(module.text, origin)
        source.include(module.source)


def _add_interface(source: Source, linked: LinkedProgram, step: Step, form: Form) -> None:
    """Append the declarations of input textures, outputs, the machine's uniforms, and the functions that gather."""
    for name in inputs(linked, step, form):
        source.add(f"uniform sampler2D in_{name};", "streams")
    for location, name in enumerate(outputs(linked, step, form)):
        kind = f"vec{2 if name == 'state' else 4}"
        source.add(f"layout(location = {location}) out {kind} out_{name};\ninvariant out_{name};", "streams")
    if form.stores:
        for name in textures(linked, step.stores, form):
            if name not in form.stores:
                source.add(f"{'vec2' if name == 'state' else 'vec4'} out_{name};  // another pass writes it", "streams")
    if form.rounds and not form.counts:
        source.include("lib/stored.glsl")
    if not form.scheduled:
        about = "width of the streams, rays to run"
        source.add(uniform_glsl("ivec2", "extent", about, form.software), "extent")
    if has_unroll_limit(step, form):
        about = "largest number of kernel calls, or iterations of the program, in this pass"
        source.add(uniform_glsl("int", "unroll", about, form.software), "unroll")
    for name in step.states:
        state = linked.program.by_name[name]
        for argument in state.kernel.gathered:
            stream = state.stream_of(argument.name)
            source.include("lib/texel_of.glsl")
            text = gather_glsl(argument.name, stream, linked.records[stream], bool(form.counts))
            first = text.splitlines()[0]
            if not any(line == first for line, _ in source.lines):
                source.add(text, f"gather {argument.name}")


def _add_states(source: Source, linked: LinkedProgram, step: Step) -> None:
    """The constants of the states named in the program."""
    program = linked.program
    state_names: dict[str, None] = dict.fromkeys(step.states)
    for name in step.states:
        for target in program.by_name[name].exits.values():
            targets = (target.state, target.then) if isinstance(target, Call) else (target,)
            state_names |= dict.fromkeys(t for t in targets if isinstance(t, str))
    if not isinstance(program.start, str):
        state_names |= dict.fromkeys(t for t in (program.start.state, program.start.then) if isinstance(t, str))
    elif program.start not in state_names:
        state_names[program.start] = None
    origin = f"states of program {program.name}"
    source.add("const int STATE_DONE = 0;", origin)
    for name in sorted(state_names, key=program.number):
        source.add(f"const int {state_constant(name)} = {program.number(name)};", origin)
