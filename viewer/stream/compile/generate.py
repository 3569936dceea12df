"""The generator of fragment programs: the only place that writes a ``main()`` for kernels.

A step (one state, a fused group, or all states) becomes: load streams; call kernels, each exit setting the next state,
in loops nested by `viewer.stream.compile.order`; store streams. Generated outputs are ``invariant``: compilers would
else contract and reassociate the same kernel differently in different programs, and bits would differ.

Counting is a separate program, drawn over the same rays before the step's. It runs the same kernels and adds up their
calls, so that the step itself is the same with and without counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from viewer.stream.compile.addresses import Addresses
from viewer.stream.compile.link import COUNTED_PER_TEXEL, LinkedProgram, Step
from viewer.stream.compile.memories import arena_glsl, cold_glsl, cold_tables, gather_glsl, memory_glsl, uniform_glsl
from viewer.stream.compile.order import Element, Loop
from viewer.stream.compile.prepare import Preparation, preparations
from viewer.stream.compile.source import VERSION, Source, read_shader
from viewer.stream.declare.kernel import Access, Module, Table
from viewer.stream.declare.program import DONE, RETURN, Call, State, Target
from viewer.stream.declare.record import Record


@dataclass(frozen=True)
class Form:
    """A machine's requirements of a generated program, besides the step itself.

    scheduled : the state comes from and goes to a stream (multipass); else it is a local variable (single pass).
    discards  : the program itself discards rays in other states (no mask).
    stores    : names of its output textures, where one pass cannot write all; empty: all.
    rounds    : outputs are rounded to the floats of the papers' day (``shaders/lib/stored.glsl``).
    counts    : numbers of the count textures that it updates, as its only outputs: kernel calls, and words fetched at
                random.
    """

    scheduled: bool
    discards: bool = False
    counts: tuple[int, ...] = ()
    stores: tuple[str, ...] = ()
    rounds: bool = False


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
    source.features |= {each.prepared.feature for each in prepared}
    _add_records(source, linked, step, form, modules)
    if form.counts:
        source.add("int random_words = 0;  // words fetched at random since the last kernel call", "counters")
    exits = sorted({e for state in linked.program.states for e in state.kernel.exits})
    for number, name in enumerate(exits):
        source.add(f"const int EXIT_{name.upper()} = {number};", f"exits of program {linked.program.name}")
    add_modules(source, modules, addresses, bool(form.counts))
    _add_interface(source, linked, step, form)
    for kernel in kernels:
        if kernel.copies:
            source.add(kernel.copy_glsl, f"kernel {kernel.name}")
            continue
        source.add(kernel.prototype(), f"prototype of kernel {kernel.name}")
        source.include(kernel.file)
    _add_states(source, linked, step)
    _add_main(source, linked, step, form, prepared)
    return source


def _add_records(source: Source, linked: LinkedProgram, step: Step, form: Form, modules: Sequence[Module]) -> None:
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


def add_modules(
    source: Source, modules: Sequence[Module], addresses: Addresses, counting: bool, loops: bool = True
) -> None:
    """The constants, uniforms, memories and functions of modules, providers before users. ``loops`` for fragment
    programs only."""
    if cold_tables(modules):
        source.add(arena_glsl(addresses.arena_row), "arena")
    source.features |= {feature for module in modules for feature in module.features}
    for module in modules:
        origin = f"module {module.name}"
        source.add_constants(module.constants, origin)
        for name, (kind, _) in module.uniforms.items():
            source.add(uniform_glsl(kind, name) if loops else f"uniform {kind} {name};", origin)
        for memory in module.memories:
            if isinstance(memory, Table) and not memory.hot:
                text = cold_glsl(memory, counting, loops)
            else:
                text = memory_glsl(memory, addresses.layout(memory), counting)
            source.add(text, f"memory {memory.name}")
        if module.text:
            source.add(module.text, origin)
        source.include(module.source)


def _textures(linked: LinkedProgram, streams: Sequence[str], form: Form) -> list[str]:
    """Names of the textures of these streams, and of the state, in the order of attachments and samplers."""
    names = ["state"] if form.scheduled else []
    return names + [f"{stream}_{k}" for stream in streams for k in range(linked.records[stream].texels)]


def inputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's input textures; its uniforms are ``in_<name>``."""
    return _textures(linked, list(dict.fromkeys((*step.loads, *step.gathers))), form)


def outputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the step's output textures, in the order of its colour attachments."""
    if form.counts:
        return [f"count_{k}" for k in form.counts]
    return [name for name in _textures(linked, step.stores, form) if not form.stores or name in form.stores]


def _add_interface(source: Source, linked: LinkedProgram, step: Step, form: Form) -> None:
    for name in inputs(linked, step, form):
        source.add(f"uniform sampler2D in_{name};", "streams")
    for location, name in enumerate(outputs(linked, step, form)):
        kind = f"vec{2 if name == 'state' else 4}"
        source.add(f"layout(location = {location}) out {kind} out_{name};\ninvariant out_{name};", "streams")
    if form.stores:
        for name in _textures(linked, step.stores, form):
            if name not in form.stores:
                source.add(f"{'vec2' if name == 'state' else 'vec4'} out_{name};  // another pass writes it", "streams")
    if form.rounds and not form.counts:
        source.include("lib/stored.glsl")
    if not form.scheduled:
        source.add(uniform_glsl("ivec2", "extent", "width of the streams, rays to run"), "extent")
    if _unrolls(step, form):
        about = "largest number of kernel calls, or iterations of the program, in this pass"
        source.add(uniform_glsl("int", "unroll", about), "unroll")
    for name in step.states:
        state = linked.program.by_name[name]
        for argument in state.kernel.gathered:
            stream = state.stream_of(argument.name)
            source.include("lib/texel_of.glsl")
            text = gather_glsl(argument.name, stream, linked.records[stream], bool(form.counts))
            first = text.splitlines()[0]
            if not any(line == first for line, _ in source.lines):
                source.add(text, f"gather {argument.name}")


def _unrolls(step: Step, form: Form) -> bool:
    return form.scheduled and (step.turns or not step.fused)


def state_constant(name: str) -> str:
    """The GLSL constant of a state; a copy's includes the state that it returns to."""
    return f"STATE_{name.upper().replace('@', '_RETURNING_TO_')}"


def _add_states(source: Source, linked: LinkedProgram, step: Step) -> None:
    """The constants of the states named in the program."""
    program = linked.program
    named: dict[str, None] = dict.fromkeys(step.states)
    for name in step.states:
        for target in program.by_name[name].exits.values():
            targets = (target.state, target.then) if isinstance(target, Call) else (target,)
            named |= dict.fromkeys(t for t in targets if isinstance(t, str))
    if not isinstance(program.start, str):
        named |= dict.fromkeys(t for t in (program.start.state, program.start.then) if isinstance(t, str))
    elif program.start not in named:
        named[program.start] = None
    origin = f"states of program {program.name}"
    source.add("const int STATE_DONE = 0;", origin)
    for name in sorted(named, key=program.number):
        source.add(f"const int {state_constant(name)} = {program.number(name)};", origin)


def _add_main(source: Source, linked: LinkedProgram, step: Step, form: Form, prepared: Sequence[Preparation]) -> None:
    program = linked.program
    add = lambda text, origin="main": source.add(text, origin)  # noqa: E731
    add("void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);")
    if form.scheduled:
        add("    vec2 states = texelFetch(in_state, at, 0).xy;\n    int state = int(states.x), caller = int(states.y);")
        # No early return: llvmpipe (Mesa 22.3) then gives wrong values to loops that test at their end. Masked lanes
        # may run along for their neighbours; their state lets them into no loop.
        if form.discards:
            others = " && ".join(f"state != {state_constant(s)}" for s in step.entries)
            add(f"    if ({others}) discard;")
    else:
        # Lanes beyond the last ray may run along for their neighbours: they are done.
        add("    bool mine = at.x < extent.x && at.y * extent.x + at.x < extent.y;")
        start = program.start if isinstance(program.start, str) else program.start.state
        then = DONE if isinstance(program.start, str) else program.start.then
        caller = "STATE_DONE" if then is DONE else state_constant(str(then))
        add(f"    int state = mine ? {state_constant(start)} : STATE_DONE, caller = {caller};")
    streams = dict.fromkeys(program.by_name[s].stream_of(a.name) for s in step.states for a in _own(program.by_name[s]))
    stores = () if form.counts else step.stores
    for stream in dict.fromkeys([*streams, *step.loads, *stores]):
        record = linked.records[stream]
        if stream in step.loads and record.fields:
            texels = ", ".join(f"texelFetch(in_{stream}_{k}, at, 0)" for k in range(record.texels))
            add(f"    {record.name} s_{stream} = unpack_{record.name}({texels});", f"load {stream}")
        else:
            add(f"    {record.name} s_{stream};", f"stream {stream}")
    for each in prepared:
        for stream in each.streams if len(each.streams) > 1 else ():
            add(f"    {each.prepared.type} {each.variable(stream)};", f"prepared {stream}")
        for stream in each.loads:
            add(f"    {each.make(stream)}", f"prepared {stream}")
    for k in form.counts:
        add(f"    vec4 count_{k} = vec4(0.0);", "counters")
    alone = step.order[0] if len(step.order) == 1 else None
    if isinstance(alone, str) and _unrolls(step, form):
        served, constant = program.by_name[alone], state_constant(alone)
        within, loops = f"state == {constant}", alone in served.exits.values()
        head, tail = f"if ({within}) {{", "}"
        if loops:
            add("    int turn = 0;", f"state {alone}")
            head, tail = _loop_lines(served, f"turn < unroll && {within}")
        add("    " + head, f"state {alone}")
        _add_call(source, linked, served, form, "        ", prepared)
        add(("        ++turn;\n    " if loops else "    ") + tail, f"state {alone}")
    else:
        for element in step.order:
            _add_element(source, linked, element, form, "    ", prepared, step.turns and form.scheduled)
    if not form.scheduled:
        add("    if (state != STATE_DONE) discard;  // ended by the driver: see Machine._again")
    elif not form.counts:
        if step.fused:  # ended early by the driver: see Machine._again
            inside = [s for s in step.states if not (step.turns and s in step.entries)]
            add(f"    if ({' || '.join(f'state == {state_constant(s)}' for s in inside)}) state = {program.cut};")
        add("    out_state = vec2(float(state), float(caller));")
    for stream in stores:
        record = linked.records[stream]
        if record.fields:
            texels = ", ".join(f"out_{stream}_{k}" for k in range(record.texels))
            add(f"    pack_{record.name}(s_{stream}, {texels});", f"store {stream}")
    if form.rounds and not form.counts:
        for name in outputs(linked, step, form):
            if name != "state":
                add(f"    out_{name} = stored(out_{name});", f"store {name}")
    for k in form.counts:
        add(f"    out_count_{k} = count_{k};", "counters")
    add("}")


def _own(state: State) -> Sequence:
    return state.kernel.own


def _add_element(
    source: Source,
    linked: LinkedProgram,
    element: Element,
    form: Form,
    indent: str,
    prepared: Sequence[Preparation],
    limited: bool = False,
) -> None:
    """A state with a loop while its exit leads back to it, or a loop of several states, iterations ``limited`` or
    not."""
    program = linked.program
    if isinstance(element, Loop):
        within = " || ".join(f"state == {state_constant(s)}" for s in element.states())
        if limited:
            source.add(f"{indent}int turn = 0;", "order of states")
        source.add(f"{indent}if ({within}) do {{", "order of states")
        for inner in (element.head, *element.body):
            _add_element(source, linked, inner, form, indent + "    ", prepared)
        again = f"++turn < unroll && ({within})" if limited else within
        source.add(f"{indent}}} while ({again});", "order of states")
        return
    state, within = program.by_name[element], f"state == {state_constant(element)}"
    loops = element in state.exits.values()
    head, tail = _loop_lines(state, within) if loops else (f"if ({within}) {{", "}")
    source.add(indent + head, f"state {element}")
    _add_call(source, linked, state, form, indent + "    ", prepared)
    source.add(indent + tail, f"state {element}")


def _loop_lines(state: State, within: str) -> tuple[str, str]:
    """Head and tail of a state's loop. Normally it tests at its end, one test fewer per ray. Where iterations have
    outputs without inputs it tests at its start: llvmpipe (Mesa 22.3) else takes the last iteration's outputs of all
    lanes, even for lanes that had left the loop."""
    if any(argument.access is Access.OUT for argument in state.kernel.own):
        return f"while ({within}) {{", "}"
    return f"if ({within}) do {{", f"}} while ({within});"


def _add_call(
    source: Source, linked: LinkedProgram, state: State, form: Form, indent: str, prepared: Sequence[Preparation]
) -> None:
    arguments = ", ".join(f"s_{state.stream_of(a.name)}" for a in state.kernel.own)
    lines = [taken for each in prepared if (taken := each.take(state.name))]
    lines.append(f"int exit_code = {state.kernel.name}({arguments});")
    lines += [line for each in prepared for line in each.behind(state.name)]
    if form.counts:
        texel, part = divmod(linked.count_of(state.name), COUNTED_PER_TEXEL)
        if texel in form.counts:
            swizzle = "xy" if part == 0 else "zw"
            lines.append(f"count_{texel}.{swizzle} += vec2(1.0, float(random_words));")
        lines.append("random_words = 0;")
    exits = [(e, t) for e, t in state.exits.items() if t != state.name]  # leading back: nothing changes
    for k, (name, target) in enumerate(exits):
        last = k == len(exits) - 1 and len(exits) == len(state.exits)
        condition = "" if last else f"if (exit_code == EXIT_{name.upper()}) "
        lines.append(("else " if k else "") + condition + f"{{ {_go(target)} }}")
    for line in lines:
        source.add(indent + line, f"state {state.name}")


def _go(target: Target) -> str:
    if target is RETURN:
        return "state = caller;"
    if isinstance(target, Call):
        then = "STATE_DONE" if target.then is DONE else state_constant(str(target.then))
        return f"state = {state_constant(target.state)}; caller = {then};"
    return f"state = {'STATE_DONE' if target is DONE else state_constant(str(target))};"
