"""The ``main()`` of a generated fragment program: streams in, kernels by state, streams out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raystream.stream.compile.form import Form, outputs, unrolls
from raystream.stream.compile.link import COUNTED_PER_TEXEL, LinkedProgram, Step
from raystream.stream.compile.order import Element, StateLoop
from raystream.stream.compile.prepare import Preparation
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Access
from raystream.stream.declare.program import DONE, RETURN, Call, State, Target, entry_state

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
        self.late = {} if self.form.software else self._late()

    def lines(self) -> Iterator[Line]:
        yield "void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);", "main"
        yield from self._state()
        yield from self._loads()
        yield from self._states()
        yield from self._stores()
        yield "}", "main"

    def _state(self) -> Iterator[Line]:
        """Its state, and that to which it returns."""
        if self.form.scheduled:
            if self.form.software:
                yield "    vec2 place = gl_FragCoord.xy / vec2(textureSize(in_state, 0));", "main"
            yield f"    vec2 states = {self._own('state')}.xy;", "main"
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

    def _loads(self) -> Iterator[Line]:
        """The streams, loaded where they are read before they are written; prepared values; counters."""
        states = (self.program.by_name[name] for name in self.step.states)
        kernel_state = {state.stream_of(a.name): None for state in states for a in state.kernel.own}
        for stream in dict.fromkeys([*kernel_state, *self.step.loads, *self.stores]):
            record = self.linked.records[stream]
            if stream in self.step.loads and stream not in self.late and record.fields:
                yield f"    {record.name} s_{stream} = {self._loaded(stream)};", f"load {stream}"
            else:
                zero = "" if self.form.software else f" = {record.glsl_zero()}"
                yield f"    {record.name} s_{stream}{zero};", f"stream {stream}"
        for preparation in self.prepared:
            for stream in preparation.streams if len(preparation.streams) > 1 else ():
                yield f"    {preparation.prepared.type} {preparation.variable(stream)};", f"prepared {stream}"
            for stream in preparation.loads:
                yield f"    {preparation.make(stream)}", f"prepared {stream}"
        for k in self.form.counts:
            yield f"    vec4 count_{k} = vec4(0.0);", "counters"

    def _loaded(self, stream: str) -> str:
        record = self.linked.records[stream]
        texels = ", ".join(self._own(f"{stream}_{k}") for k in range(record.texels))
        return f"unpack_{record.name}({texels})"

    def _own(self, name: str) -> str:
        """The texel of a ray. On llvmpipe a nearest sample takes two thirds of the time of texelFetch."""
        if self.form.scheduled and self.form.software:
            return f"textureLod(in_{name}, place, 0.0)"
        return f"texelFetch(in_{name}, at, 0)"

    def _late(self) -> dict[str, Element]:
        """The streams that are loaded behind the first element of the order, each with the one that is the first to
        touch it."""
        first: dict[str, Element] = {}
        for element in self.step.order:
            for name in element.states() if isinstance(element, StateLoop) else [element]:
                state = self.program.by_name[name]
                for stream in (*state.reads(), *state.writes()):
                    first.setdefault(stream, element)
        early = {stream for preparation in self.prepared for stream in preparation.loads}
        return {s: e for s, e in first.items() if s in self.step.loads and s not in early and e != self.step.order[0]}

    def _states(self) -> Iterator[Line]:
        """The kernels of the step's states, in their order."""
        single = self.step.order[0] if len(self.step.order) == 1 else None
        if not isinstance(single, str) or not unrolls(self.step, self.form):
            for element in self.step.order:
                for stream in (
                    s for s, first in self.late.items() if first == element and self.linked.records[s].fields
                ):
                    yield f"    s_{stream} = {self._loaded(stream)};", f"load {stream}"
                yield from self._element(element, "    ", self.step.turns and self.form.scheduled)
            return
        served, within = self.program.by_name[single], f"state == {state_constant(single)}"
        loops = single in served.exits.values()
        head, tail = f"if ({within}) {{", "}"
        if loops:
            yield "    int iteration = 0;", f"state {single}"
            head, tail = self._loop_lines(served, f"iteration < unroll && {within}")
        yield "    " + head, f"state {single}"
        yield from self._call(served, "        ")
        yield ("        ++iteration;\n    " if loops else "    ") + tail, f"state {single}"

    def _stores(self) -> Iterator[Line]:
        """The end of ``main``: the next state, and the records, packed into the colour attachments."""
        step, form = self.step, self.form
        if not form.scheduled:
            yield "    if (state != STATE_DONE) discard;  // ended by the driver: see Machine._retry", "main"
        elif not form.counts:
            if step.fused:  # ended early by the driver: see Machine._retry
                inside = [s for s in step.states if not (step.turns and s in step.entries)]
                yield f"    if ({self._within(inside)}) state = {self.program.cut};", "main"
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

    def _element(self, element: Element, indent: str, limited: bool = False) -> Iterator[Line]:
        """A state with a loop while its exit leads back to it, or a loop of several states, iterations ``limited`` or
        not."""
        for stream in self.dead.get(element, ()):  # so that it takes no registers up to here
            yield f"{indent}s_{stream} = {self.linked.records[stream].glsl_zero()};", f"stream {stream}"
        if isinstance(element, StateLoop):
            within = self._within(element.states())
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
                yield from self._element(inner, indent + "    ")
            yield indent + tail, "order of states"
            return
        state, within = self.program.by_name[element], f"state == {state_constant(element)}"
        loops = element in state.exits.values()
        head, tail = self._loop_lines(state, within) if loops else (f"if ({within}) {{", "}")
        yield indent + head, f"state {element}"
        yield from self._call(state, indent + "    ")
        yield indent + tail, f"state {element}"

    def _within(self, states: Sequence[str]) -> str:
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
        if not self.form.software or any(argument.access is Access.OUT for argument in state.kernel.own):
            return f"while ({within}) {{", "}"
        return f"if ({within}) do {{", f"}} while ({within});"

    def _call(self, state: State, indent: str) -> Iterator[Line]:
        """The call of a state's kernel, and the next state by its exit."""
        arguments = ", ".join(f"s_{state.stream_of(a.name)}" for a in state.kernel.own)
        lines = [taken for preparation in self.prepared if (taken := preparation.take(state.name))]
        lines.append(f"int exit_code = {state.kernel.name}({arguments});")
        lines += [line for preparation in self.prepared for line in preparation.behind(state.name)]
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
            lines.append(("else " if k else "") + condition + f"{{ {_go(target)} }}")
        for line in lines:
            yield indent + line, f"state {state.name}"


def _go(target: Target) -> str:
    if target is RETURN:
        return "state = caller;"
    if isinstance(target, Call):
        return f"state = {_constant(target.state)}; caller = {_constant(target.then)};"
    return f"state = {_constant(target)};"


def _constant(target: Target) -> str:
    return "STATE_DONE" if target is DONE else state_constant(str(target))


def dead_streams(linked: LinkedProgram, step: Step) -> dict[Element, tuple[str, ...]]:
    """For each element of the step's order the streams that it writes, and that no ray needs when the pass comes to
    it. A compiler sees a ray in the second state that was not in the first, and keeps a stream in registers from the
    pass's beginning; by the exits of states there is no such ray."""
    program, dead = linked.program, {}
    for element, states in _present(linked, step).items():
        live = {stream for state in states for stream in (linked.live[state] if state else program.results)}
        inside = element.states() if isinstance(element, StateLoop) else [element]
        written = {stream for state in inside for stream in program.by_name[state].writes()}
        dead[element] = tuple(s for s in program.streams if s in written - live)
    return dead


def _present(linked: LinkedProgram, step: Step) -> dict[Element, set[str]]:
    """For each element the states in which rays may be when the pass comes to it; an empty name for those done."""
    program = linked.program
    present: dict[Element, set[str]] = {}

    def after(element: Element, states: set[str]) -> set[str]:
        present[element] = present.get(element, set()) | states
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
    return present
