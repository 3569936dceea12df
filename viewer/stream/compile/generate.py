"""The generator of fragment programs: the only place that writes a ``main()`` for kernels.

A step (one state, a fused group, or all states) becomes: load streams; call kernels, each exit setting the next state,
in loops nested by `raystream.stream.compile.order`; store streams. Generated outputs are ``invariant``: compilers would
else contract and reassociate the same kernel differently in different programs, and bits would differ.

Counting is a separate program, drawn over the same rays before the step's. It runs the same kernels and adds up their
calls, so that the step itself is the same with and without counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from raystream.stream.compile.addresses import Addresses
from raystream.stream.compile.body import add_main, state_constant
from raystream.stream.compile.diagnose import check_needs, diagnosis
from raystream.stream.compile.form import Form, inputs, outputs, textures, unrolls
from raystream.stream.compile.link import LinkedProgram, Step
from raystream.stream.compile.memories import arena_glsl, cold_glsl, cold_tables, gather_glsl, memory_glsl, uniform_glsl
from raystream.stream.compile.prepare import Preparation, preparations
from raystream.stream.compile.source import VERSION, Source, read_shader
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.program import Call
from raystream.stream.declare.record import Record

# Features of the form for GPUs.
GPU_FORM = "GPU_FORM"
REMATERIALISED = "REMATERIALISED"  # what would be alive for long is derived where it is used
MOST_USES = 2  # by states, of what is derived at each
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
            *({REMATERIALISED} if all(_seldom(linked, value) for value in prepared) else ()),
        }
    source.include("lib/int_of.glsl")
    _add_records(source, linked, step, form, modules)
    if form.counts:
        source.add("int random_words = 0;  // words fetched at random since the last kernel call", "counters")
    exits = sorted({e for state in linked.program.states for e in state.kernel.exits})
    for number, name in enumerate(exits):
        source.add(f"const int EXIT_{name.upper()} = {number};", f"exits of program {linked.program.name}")
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


def _seldom(linked: LinkedProgram, preparation: Preparation) -> bool:
    """Whether deriving once more costs little: few states ask, each once."""
    asking = [linked.program.by_name[name] for name in preparation.asks]
    return len(asking) <= MOST_USES and not any(state.name in state.exits.values() for state in asking)


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


def add_modules(source: Source, modules: Sequence[Module], addresses: Addresses, counting: bool, once: bool) -> None:
    """The constants, uniforms, memories and functions of modules, providers before users. once : as of
    `uniform_glsl`."""
    if cold_tables(modules):
        source.add(arena_glsl(addresses.arena_row), "arena")
    source.features |= {feature for module in modules for feature in module.features}
    for module in modules:
        origin = f"module {module.name}"
        source.add_constants(module.constants, origin)
        for name, (kind, _) in module.uniforms.items():
            source.add(uniform_glsl(kind, name, once=once), origin)
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
    if unrolls(step, form):
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
