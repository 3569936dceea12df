"""The generator of fragment programs: the only place that writes a ``main()`` for kernels.

A step (one state, a fused group, or all states) becomes: load streams; call kernels, each exit setting the next state,
in loops nested by `viewer.stream.compile.order`; store streams. Generated outputs are ``invariant``, because compilers
otherwise contract and reassociate the same kernel differently in different programs, and bits would differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from viewer.stream.compile.link import COUNTED_PER_TEXEL, LinkedProgram, Step
from viewer.stream.compile.order import Element, Loop
from viewer.stream.compile.source import Source, read_shader
from viewer.stream.declare.kernel import Module, Table, Texels, Volume
from viewer.stream.declare.program import DONE, RETURN, Call, State, Target
from viewer.stream.declare.record import Record

VERSION = "#version 330 core"


@dataclass(frozen=True)
class Layout:
    """Addressing of a memory: ``per_row`` records (a power of two) in a row of a 2-D texture, 0 in a buffer texture.

    channels : of a texel.
    """

    per_row: int
    channels: int


@dataclass(frozen=True)
class Form:
    """What a machine wants of a generated program, beside the step itself.

    scheduled : the state comes from and goes to a stream (multipass); else it is a local variable (single pass).
    discards  : rays in other states are discarded by the program itself (no mask).
    counting  : kernel calls and words fetched at random are added up per ray.
    """

    scheduled: bool
    discards: bool = False
    counting: bool = False


def memory_glsl(memory: Table | Volume | Texels, layout: Layout, counting: bool) -> str:
    """The sampler and ``fetch_<name>`` of a memory."""
    sampler, texture = f"memory_{memory.name}", "sampler2D"
    texels, at = 1, "ivec3 at"
    setup = ""
    if isinstance(memory, Texels):
        returns, value, at = "vec4", "{}", "int i"
        if layout.per_row:
            shift = layout.per_row.bit_length() - 1
            fetches = [f"texelFetch({sampler}, ivec2(i & {layout.per_row - 1}, i >> {shift}), 0)"]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, i)"]
    elif isinstance(memory, Volume):
        _, tall, wide = memory.data.shape
        returns, value = "float", "{}.x"
        if layout.per_row:
            texture, fetches = "sampler3D", [f"texelFetch({sampler}, at, 0)"]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, at.x + {wide} * (at.y + {tall} * at.z))"]
    else:
        returns, texels, at = memory.record.name, memory.record.texels, "int i"
        value = f"unpack_{returns}({{}})"
        if layout.per_row:
            shift = layout.per_row.bit_length() - 1
            setup = f"    ivec2 at = ivec2((i & {layout.per_row - 1}) * {texels}, i >> {shift});\n"
            fetches = [f"texelFetch({sampler}, at + ivec2({k}, 0), 0)" for k in range(texels)]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, i * {texels} + {k})" for k in range(texels)]
    if counting:
        words = 1 if isinstance(memory, Texels) else texels * layout.channels
        setup += f"    random_words += {words};\n"
    result = value.format(", ".join(fetches))
    return f"uniform {texture} {sampler};\n{returns} fetch_{memory.name}({at}) {{\n{setup}    return {result};\n}}"


def fragment(
    linked: LinkedProgram,
    step: Step,
    form: Form,
    layout_of: Callable[[Table | Volume | Texels], Layout],
    read: Callable[[str], str] = read_shader,
) -> Source:
    """The fragment program of a step."""
    source = Source(read)
    source.add(VERSION, "version")
    kernels = linked.kernels_of(step)
    modules = linked.modules_for(kernels)
    _add_records(source, linked, step, modules)
    if form.counting:
        source.add("int random_words = 0;  // words fetched from memories since the last kernel call", "counters")
    exits = sorted({e for state in linked.program.states for e in state.kernel.exits})
    for number, name in enumerate(exits):
        source.add(f"const int EXIT_{name.upper()} = {number};", f"exits of program {linked.program.name}")
    bases = joined_bases(
        linked.joined(step, int(form.scheduled), len(linked.count_textures(step) if form.counting else ()))
    )
    if bases:
        source.add("uniform samplerBuffer memory_joined;", "memories")
    for module in modules:
        add_module(source, module, layout_of, form.counting, bases)
    for kernel in kernels:
        source.add(kernel.prototype(), f"prototype of kernel {kernel.name}")
        source.include(kernel.file)
    _add_interface(source, linked, step, form)
    _add_main(source, linked, step, form, exits)
    return source


def _add_records(source: Source, linked: LinkedProgram, step: Step, modules: Sequence[Module]) -> None:
    records: list[Record] = []
    for name in step.states:
        state = linked.program.by_name[name]
        records += [linked.records[state.stream_of(a.name)] for a in state.kernel.arguments]
    for module in modules:
        records += [m.record for m in module.memories if isinstance(m, Table)]
        records += [*module.uses, *([module.module_state] if module.module_state else [])]
    for record in dict.fromkeys(records):
        for part in (record.glsl_struct(), record.glsl_unpack(), record.glsl_pack()):
            source.add(part, f"record {record.name}")


def joined_bases(tables: Sequence[Table]) -> dict[int, int]:
    """By a table's ``id``: the first texel of each in the texture that they share (`Bound.joined`)."""
    bases, texel = {}, 0
    for table in tables:
        bases[id(table)] = texel
        texel += table.record.texels * max(1, len(table.data))
    return bases


def joined_glsl(table: Table, base: int, counting: bool) -> str:
    """``fetch_<name>`` of a table that shares a texture, from a texel on."""
    record, texels = table.record.name, table.record.texels
    fetches = ", ".join(f"texelFetch(memory_joined, i * {texels} + {base + k})" for k in range(texels))
    setup = f"    random_words += {4 * texels};\n" if counting else ""
    return f"{record} fetch_{table.name}(int i) {{\n{setup}    return unpack_{record}({fetches});\n}}"


def add_module(
    source: Source,
    module: Module,
    layout_of: Callable[[Table | Volume | Texels], Layout],
    counting: bool,
    bases: Mapping[int, int] | None = None,
) -> None:
    """A module's constants, uniforms, memories and functions; ``bases`` of tables that share a texture."""
    origin = f"module {module.name}"
    for name, value in module.constants.items():
        source.add(f"const {'int' if isinstance(value, int) else 'float'} {name} = {value!r};", origin)
    for name, (kind, _) in module.uniforms.items():
        source.add(f"uniform {kind} {name};", origin)
    for memory in module.memories:
        if isinstance(memory, Table) and bases and id(memory) in bases:
            text = joined_glsl(memory, bases[id(memory)], counting)
        else:
            text = memory_glsl(memory, layout_of(memory), counting)
        source.add(text, f"memory {memory.name}")
    if module.text:
        source.add(module.text, origin)
    source.include(module.source)


def _textures(linked: LinkedProgram, step: Step, form: Form, streams: Sequence[str]) -> list[str]:
    """Names of the textures of these streams, and of the state and counts: the order of attachments and samplers."""
    names = ["state"] if form.scheduled else []
    names += [f"{stream}_{k}" for stream in streams for k in range(linked.records[stream].texels)]
    if form.counting:
        names += [f"count_{k}" for k in linked.count_textures(step)]
    return names


def inputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the textures that the step's program samples; its uniforms are ``in_<name>``."""
    names = _textures(linked, step, form, step.loads)
    return names if form.scheduled else [n for n in names if not n.startswith("count_")]


def outputs(linked: LinkedProgram, step: Step, form: Form) -> list[str]:
    """Names of the textures that the step's program writes, in the order of its colour attachments."""
    return _textures(linked, step, form, step.stores)


def _add_interface(source: Source, linked: LinkedProgram, step: Step, form: Form) -> None:
    for name in inputs(linked, step, form):
        source.add(f"uniform sampler2D in_{name};", "streams")
    for location, name in enumerate(outputs(linked, step, form)):
        source.add(
            f"layout(location = {location}) out vec{2 if name == 'state' else 4} out_{name};\ninvariant out_{name};",
            "streams",
        )
    if not form.scheduled:
        source.add("uniform ivec2 extent;  // width of the streams, rays to run", "extent")
    if _unrolls(step, form):
        source.add("uniform int unroll;  // most kernel calls in this pass", "unroll")


def _unrolls(step: Step, form: Form) -> bool:
    return form.scheduled and not step.fused


def _add_main(source: Source, linked: LinkedProgram, step: Step, form: Form, exits: Sequence[str]) -> None:
    program = linked.program
    add = lambda text, origin="main": source.add(text, origin)  # noqa: E731
    add("void main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);")
    if form.scheduled:
        add("    vec2 states = texelFetch(in_state, at, 0).xy;\n    int state = int(states.x), caller = int(states.y);")
        # Lanes that the mask has ended may run along for their neighbours, and where all enter alike the loops below do
        # not look at the state again: without a ray of their own they could loop for ever. Knowing the state saves a
        # fused walk a fifth of its time.
        if form.discards or len(step.entries) == 1:
            others = " && ".join(f"state != {program.number(s)}" for s in step.entries)
            add(f"    if ({others}) {'{ discard; return; }' if form.discards else 'return;'}")
    else:
        # Lanes beside the last ray may run along for their neighbours; with no ray of their own they could loop on.
        add("    if (at.x >= extent.x || at.y * extent.x + at.x >= extent.y) return;")
        state, caller = linked.start_numbers()
        add(f"    int state = {state}, caller = {caller};")
    streams = dict.fromkeys(
        program.by_name[s].stream_of(a.name) for s in step.states for a in program.by_name[s].kernel.arguments
    )
    for stream in dict.fromkeys([*streams, *step.loads, *step.stores]):
        record = linked.records[stream]
        if stream in step.loads and record.fields:
            texels = ", ".join(f"texelFetch(in_{stream}_{k}, at, 0)" for k in range(record.texels))
            add(f"    {record.name} s_{stream} = unpack_{record.name}({texels});", f"load {stream}")
        else:
            add(f"    {record.name} s_{stream};", f"stream {stream}")
    counted = linked.count_textures(step) if form.counting else []
    for k in counted:
        loaded = f"texelFetch(in_count_{k}, at, 0)" if form.scheduled else "vec4(0.0)"
        add(f"    vec4 count_{k} = {loaded};", "counters")
    alone = step.order[0] if len(step.order) == 1 else None
    if isinstance(alone, str) and _unrolls(step, form):
        state_of = program.by_name[alone]
        number = program.number(alone)
        if alone in state_of.exits.values():
            add(f"    for (int turn = 0; turn < unroll && state == {number}; ++turn) {{", f"state {alone}")
        else:
            add(f"    if (state == {number}) {{", f"state {alone}")
        _add_call(source, linked, state_of, form, "        ")
        add("    }", f"state {alone}")
    else:
        for element in step.order:
            _add_element(source, linked, element, form, "    ")
    if form.scheduled:
        if step.fused:  # cut short by the driver: see Machine._again
            inside = " || ".join(f"state == {program.number(s)}" for s in step.states)
            add(f"    if ({inside}) state = {program.cut};")
        add("    out_state = vec2(float(state), float(caller));")
    else:
        add("    if (state != 0) discard;  // cut short by the driver: see Machine._again")
    for stream in step.stores:
        record = linked.records[stream]
        if record.fields:
            texels = ", ".join(f"out_{stream}_{k}" for k in range(record.texels))
            add(f"    pack_{record.name}(s_{stream}, {texels});", f"store {stream}")
    for k in counted:
        add(f"    out_count_{k} = count_{k};", "counters")
    add("}")


def _add_element(source: Source, linked: LinkedProgram, element: Element, form: Form, indent: str) -> None:
    """A state, looping inside while its exit leads back, or a loop of several."""
    program = linked.program
    if isinstance(element, Loop):
        within = " || ".join(f"state == {program.number(s)}" for s in element.states())
        source.add(f"{indent}while ({within}) {{", "order of states")
        for inner in (element.head, *element.body):
            _add_element(source, linked, inner, form, indent + "    ")
        source.add(f"{indent}}}", "order of states")
        return
    state = program.by_name[element]
    word = "while" if element in state.exits.values() else "if"
    source.add(f"{indent}{word} (state == {program.number(element)}) {{", f"state {element}")
    _add_call(source, linked, state, form, indent + "    ")
    source.add(f"{indent}}}", f"state {element}")


def _add_call(source: Source, linked: LinkedProgram, state: State, form: Form, indent: str) -> None:
    arguments = ", ".join(f"s_{state.stream_of(a.name)}" for a in state.kernel.arguments)
    lines = [f"int leaves = {state.kernel.name}({arguments});"]
    if form.counting:
        texel, part = divmod(linked.count_of(state.name), COUNTED_PER_TEXEL)
        swizzle = "xy" if part == 0 else "zw"
        lines.append(f"count_{texel}.{swizzle} += vec2(1.0, float(random_words)); random_words = 0;")
    exits = [(e, t) for e, t in state.exits.items() if t != state.name]  # leading back: nothing changes
    for k, (name, target) in enumerate(exits):
        last = k == len(exits) - 1 and len(exits) == len(state.exits)
        condition = "" if last else f"if (leaves == EXIT_{name.upper()}) "
        lines.append(("else " if k else "") + condition + f"{{ {_go(linked, target)} }}")
    for line in lines:
        source.add(indent + line, f"state {state.name}")


def _go(linked: LinkedProgram, target: Target) -> str:
    if target is RETURN:
        return "state = caller;"
    if isinstance(target, Call):
        then = 0 if target.then is DONE else linked.program.number(target.then)
        return f"state = {linked.program.number(target.state)}; caller = {then};"
    return f"state = {linked.program.number(target)};"
