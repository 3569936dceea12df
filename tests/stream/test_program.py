"""Kernels, programs and bound programs: every wiring fault and fault of a kernel's file is told, by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ShaderError, WiringError
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses
from raystream.stream.compile.source import Source, read_shader
from raystream.stream.declare.kernel import (
    GATHER,
    IN,
    INOUT,
    OUT,
    Kernel,
    Module,
    ModuleState,
    PreparedValue,
    Table,
    Volume,
    copying,
)
from raystream.stream.declare.program import DONE, RETURN, Call, Program, State
from raystream.stream.declare.record import Field, Record

A = Record("A", Field("x", "float"))
B = Record("B", Field("y", "vec4"), Field("z", "vec4"))
MAKE = Kernel("make", (IN("a", A), OUT("b", B)), ("go", "stop"))
USE = Kernel("use", (INOUT("b", B), IN("a", A)), ("again", "back"))
BIG = Record("Big", *(Field(f"f{k}", "vec4") for k in range(9)))
STATES = (State("make", MAKE, {"go": "use", "stop": DONE}), State("use", USE, {"again": "use", "back": DONE}))


def program(*states: State, **changed: object) -> Program:
    """A proper program of two states, with a part of it changed."""
    parts = {"streams": {"a": A, "b": B}, "inputs": ("a",), "results": ("b",), "start": "make"}
    return Program("toy", states=states or STATES, **(parts | changed))


MADE = STATES[0]


def making(exits: dict[str, Any], streams: dict[str, str] | None = None, kernel: Kernel = MAKE) -> State:
    """The first state, otherwise wired."""
    return State("make", kernel, exits, streams or {})


def using(exits: dict[str, Any], name: str = "use") -> State:
    """The second one."""
    return State(name, USE, exits)


ENDS = {"again": DONE, "back": DONE}
ONCE, LOOK = Kernel("make", (IN("a", A), OUT("c", A)), ("go",)), Kernel("look", (IN("a", A),), ("end",))
PICK = State("pick", Kernel("pick", (IN("a", A),), ("left", "right")), {"left": "make", "right": "use"})
FAULTS = {
    "exit not wired": ([making({"go": DONE})], {}, "state make", "exit 'stop'"),
    "extra exit": ([making({"go": DONE, "stop": DONE, "up": DONE})], {}, "state make", "no exit 'up'"),
    "unknown target": ([making({"go": "nowhere", "stop": DONE})], {}, "state make", "unknown state 'nowhere'"),
    "unknown target of a call": (
        [making({"go": Call("use", then="nowhere"), "stop": DONE}), STATES[1]],
        *({}, "state make", "unknown state 'nowhere'"),
    ),
    "unknown start": ([], {"start": "begin"}, "start", "unknown state 'begin'"),
    "two states of one name": ([MADE, MADE], {}, "toy", "two states of one name"),
    "unknown stream": ([making(MADE.exits, {"b": "c"}), STATES[1]], {}, "state make", "no stream 'c'"),
    "unknown argument": ([making(MADE.exits, {"q": "b"}), STATES[1]], {}, "state make", "no argument 'q'"),
    "unknown input": ([], {"inputs": ("a", "q")}, "toy", "input 'q'"),
    "unknown result": ([], {"results": ("q",)}, "toy", "result 'q'"),
    "record mismatch": ([making(MADE.exits, {"b": "a"}), STATES[1]], {}, "state make", "takes B, stream 'a' holds A"),
    "stream used twice": (
        [making({"go": DONE}, {"c": "a"}, ONCE)],
        *({"results": ()}, "state make", "stream 'a' serves two"),
    ),
    "read before written": ([], {"start": "use"}, "state make|state use", "cannot be reached|reads stream 'b'"),
    "read before written on one way": ([PICK, *STATES], {"start": "pick"}, "state use", "reads stream 'b'"),
    "result not written": ([State("look", LOOK, {"end": DONE})], {"start": "look"}, "toy", "result 'b'"),
    "return without a call": (
        [MADE, using({"again": "use", "back": RETURN})],
        *({}, "state use", "returns without a call"),
    ),
    "return also without a call": (
        [making({"go": Call("use", then=DONE), "stop": "use"}), using({"again": "use", "back": RETURN})],
        *({}, "state use", "arrive without a call"),
    ),
    "call inside a call": (
        [MADE, using({"again": Call("make", then=DONE), "back": RETURN})],
        *({"start": Call("make", then=DONE)}, "state use", "inside a call"),
    ),
    "call back to a return": (
        [making({"go": Call("use", then=RETURN), "stop": DONE}), STATES[1]],
        *({}, "state make", "must name a state"),
    ),
    "unreachable": ([*STATES, using(ENDS, "spare")], {}, "state spare", "cannot be reached"),
    "nothing after a call that never returns": (
        [making({"go": Call("use", then="after"), "stop": DONE}), STATES[1], using(ENDS, "after")],
        *({}, "state after", "cannot be reached"),
    ),
    "no end": ([making({"go": "make", "stop": "make"})], {}, "toy", "no exit leads to DONE"),
    "unknown state in a fusion": ([], {"groups": {"all": (("make", "sue"),)}}, "toy", "unknown state 'sue'"),
    "a state twice in a fusion": (
        [],
        *({"groups": {"all": (("make", "use"), ("use",))}}, "toy", "names state 'use' twice"),
    ),
    "a stream named as the machines' own": ([], {"streams": {"a": A, "b": B, "state": A}}, "toy", "named 'state'"),
}


def assert_refused(make: Callable[[], Any], name: str, where: str, what: str) -> None:
    """A wiring error of the program of this name; ``|`` parts words of which one is enough."""
    with pytest.raises(WiringError) as caught:
        make()
    assert name in caught.value.where
    assert any(part in caught.value.where for part in where.split("|")), caught.value
    assert any(part in caught.value.what for part in what.split("|")), caught.value


@pytest.mark.parametrize("fault", FAULTS)
def test_wiring_faults_name_program_and_state(fault):
    states, changed, where, what = FAULTS[fault]
    assert_refused(partial(program, *states, **changed), "toy", where, what)


def test_faults_of_a_kernel():
    with pytest.raises(WiringError, match=r"kernel k.*two arguments"):
        Kernel("k", (IN("a", A), OUT("a", B)), ("go",))
    with pytest.raises(WiringError, match=r"kernel k.*two exits"):
        Kernel("k", (IN("a", A),), ("go", "GO"))  # both are EXIT_GO
    with pytest.raises(WiringError, match=r"kernel k.*no exits"):
        Kernel("k", (IN("a", A),), ())
    with pytest.raises(WiringError, match=r"'go-on' is no name"):
        Kernel("k", (IN("a", A),), ("go-on",))


# -- with modules ----------------------------------------------------------------------------------------------------

KEEP = ModuleState("Memo")
MEMO = Record("Memo", Field("m", "vec3"))
ASK = Kernel("ask", (IN("a", A), OUT("memo", KEEP), OUT("b", B)), ("done",), needs=("answer",))
ASKING = Program(
    "asking", {"a": A, "memo": KEEP, "b": B}, ("a",), ("b", "memo"), (State("ask", ASK, {"done": DONE}),), "ask"
)
ORACLE = Module("oracle", ("answer",), "oracle.glsl", module_state=MEMO)


def _table(name: str, rows: int = 1, record: Record = A) -> Table:
    return Table(name, record, np.zeros(rows, record.dtype))


BOUND_FAULTS = {
    "nobody provides": ([replace(ORACLE, provides=())], "kernel ask", "no module provides answer"),
    "two provide": ([ORACLE, Module("seer", ("answer",), "s")], "asking", "answer is provided by oracle and seer"),
    "a need of a need": ([replace(ORACLE, needs=("dream",))], "module oracle", "no module provides dream"),
    "needs in a circle": (
        [replace(ORACLE, needs=("dream",)), Module("sleep", ("dream",), "s", needs=("answer",))],
        "asking",
        "oracle -> sleep -> oracle",
    ),
    "kept record missing": ([replace(ORACLE, module_state=None)], "asking", "'memo' holds Memo, which no module keeps"),
    "two keep": (
        [ORACLE, Module("diary", ("note",), "d", module_state=MEMO)],
        "asking",
        "two modules keep record Memo",
    ),
    "two records of one name": (
        [replace(ORACLE, uses=(Record("A", Field("x", "vec2")),))],
        "asking",
        "two records are named A",
    ),
    "two memories of one name": (
        [replace(ORACLE, memories=(_table("t"), Volume("t", np.zeros((1, 1, 1), np.float32))))],
        "asking",
        "two memories are named t",
    ),
    "two uniforms of one name": (
        [replace(ORACLE, uniforms={"k": ("float", 1.0)}, constants={"k": 2})],
        "asking",
        "named k",
    ),
}


@pytest.mark.parametrize("fault", BOUND_FAULTS)
def test_faults_of_modules_name_the_program(fault):
    modules, where, what = BOUND_FAULTS[fault]
    assert_refused(partial(LinkedProgram, ASKING, modules), "asking", where, what)


def test_too_many_attachments_name_the_step():
    grow = Kernel("grow", (IN("a", A), OUT("big", BIG)), ("done",))
    big = Program("big", {"a": A, "big": BIG}, ("a",), ("big",), (State("grow", grow, {"done": DONE}),), "grow")
    linked = LinkedProgram(big, [])
    for build in (lambda: linked.steps("none"), linked.single):
        with pytest.raises(WiringError, match=r"step (grow|big): needs (10|9) attachments, 8 are granted"):
            build()


def _needy(*memories) -> LinkedProgram:
    needy = Kernel("needy", (IN("a", A), OUT("b", B)), ("done",), needs=("fetch_all",))
    program = Program("needs", {"a": A, "b": B}, ("a",), ("b",), (State("needy", needy, {"done": DONE}),), "needy")
    return LinkedProgram(program, [Module("many", ("fetch_all",), "many.glsl", memories=memories)])


def _hot(count: int) -> list[Table]:
    return [replace(_table(f"h{k}"), hot=True) for k in range(count)]


def test_too_many_samplers_name_the_step():
    linked = _needy(*_hot(14))
    assert linked.sampler_count(linked.steps("none")[0]) == 16
    with pytest.raises(WiringError, match=r"step needy: needs 17 samplers, 16 are granted"):
        _needy(*_hot(15)).steps("none")
    _needy(*_hot(15)).single()  # reads no state


def test_a_group_beyond_the_limits_is_cut_and_says_so():
    wide = Record("Wide", *(Field(f"f{k}", "vec4") for k in range(5)))
    first = Kernel("first", (IN("a", A), OUT("b", wide)), ("go",))
    second = Kernel("second", (IN("a", A), OUT("c", wide)), ("done",))
    states = (State("first", first, {"go": "second"}), State("second", second, {"done": DONE}))
    streams = {"a": A, "b": wide, "c": wide}
    program = Program("wide", streams, ("a",), ("b", "c"), states, "first", groups={"both": (("first", "second"),)})
    linked = LinkedProgram(program, [])
    assert [step.name for step in linked.steps("both")] == ["first", "second"]
    (line,) = linked.limits
    assert (
        line
        == "program wide, step first+second: needs 11 attachments, 8 are granted; 'second' becomes a pass of its own"
    )


# -- gathered streams --------------------------------------------------------------------------------------------------


def _gathering(writes: str = "b", loop: bool = False) -> Program:
    """``write`` fills a stream; ``read`` gathers stream "b"."""
    write = Kernel("write", (IN("a", A), OUT("b", B)), ("go",))
    read = Kernel("read", (GATHER("table", B), IN("a", A), OUT("c", B)), ("again", "done"))
    states = (
        State("write", write, {"go": "read"}, {"b": writes}),
        State("read", read, {"again": "write" if loop else "read", "done": DONE}, {"table": "b"}),
    )
    streams = {"a": A, "b": B, "c": B, "other": B}
    return Program("gathering", streams, ("a", "b"), ("c",), states, "write", groups={"all": (("write", "read"),)})


def test_a_gathered_stream_is_no_argument_and_takes_samplers():
    linked = LinkedProgram(_gathering("other"), [])
    (step,) = linked.steps("all")
    assert step.gathers == ("b",) and step.loads == ("a",) and linked.sampler_count(step) == 1 + A.texels + B.texels
    assert linked.program.by_name["read"].kernel.prototype() == "int read(in A a, out B c);"


def test_no_step_gathers_what_it_writes():
    linked = LinkedProgram(_gathering(), [])
    assert len(linked.stages(linked.steps("none"))) == 2  # one behind the other: the stream is complete
    with pytest.raises(WiringError, match="step gathering: gathers from stream 'b', which it writes"):
        linked.single()
    linked.steps("all")
    assert "gathers from stream 'b', which it writes" in linked.limits[0]
    again = LinkedProgram(_gathering(loop=True), [])
    with pytest.raises(WiringError, match="loop of write: gathers from stream 'b'"):
        again.stages(again.steps("none"))


def test_programs_need_no_opengl():
    """The floors that wire must import, and find faults, where OpenGL is not to be had."""
    code = """
import sys
sys.modules["moderngl"] = None  # importing it raises ImportError
import raystream.stream.declare.record, raystream.stream.declare.kernel, raystream.stream.declare.program
import raystream.stream.compile.link, raystream.stream.compile.source, raystream.stream.compile.generate
import raystream.programs, raystream.kernels, raystream.accel.grid.grid, raystream.accel.primitives
import raystream.cameras.lens
from raystream.base.errors import WiringError
from raystream.stream.compile.link import LinkedProgram
raystream.programs.ray_cast(layers=True)
try:
    LinkedProgram(raystream.programs.trace(), [])
except WiringError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "program trace" in done.stdout


HIT, PROBE = Record("Hit", Field("t", "float")), Record("Probe", Field("sum", "vec4"))
WEIGH = Kernel("weigh_probe", (IN("hit", HIT), INOUT("probe", PROBE)), ("done",), needs=("bright",))
FILE = "kernels/weigh_probe.glsl"
BODY = "{\n    probe.sum += bright(hit.t);\n    return EXIT_DONE;\n}\n"
RIGHT = f"// A head: int weigh(in Hit hit) {{\nint weigh_probe(in Hit hit, inout Probe probe) {BODY}"
MODULES = [
    Module("lamp", ("bright",), "lamp.glsl"),
    Module("settings", ("settings",), "settings.glsl", uniforms={"strength": ("float", 1.0)}),
    Module("chance", ("draw",), "chance.glsl"),
]
FILES = {
    "lamp.glsl": "vec4 bright(float t) { return vec4(t); }\n",
    "settings.glsl": "",
    "chance.glsl": "float draw(int k) { return 0.5; }\n",
}
WHAT = "no function int weigh_probe(in Hit hit, inout Probe probe)"


def assembled(text: str, kernel: Kernel = WEIGH) -> Source:
    """The program of the kernel with this file."""
    states = (State("weigh", kernel, {"done": DONE}),)
    program = Program("toy", {"hit": HIT, "probe": PROBE}, ("hit", "probe"), ("probe",), states, "weigh")
    linked = LinkedProgram(program, MODULES)
    texts = {**FILES, kernel.file: text}

    def read(name: str) -> str:
        return texts[name] if name in texts else read_shader(name)

    return fragment(linked, linked.single(), Form(scheduled=False), PlannedAddresses(MAX_ROW_TEXELS), read)


def compiled(device, text: str, kernel: Kernel = WEIGH) -> ShaderError:
    """The error of the driver's compiler and linker."""
    vertex = Source()
    vertex.add("#version 330 core\nvoid main() { gl_Position = vec4(0.0); }", "vertex")
    with pytest.raises(ShaderError) as caught:
        device.program(vertex, assembled(text, kernel))
    return caught.value


SIGNATURES = {
    "another name": ("int weigh_prob(in Hit hit, inout Probe probe)", "it has int weigh_prob(in Hit, inout Probe)"),
    "another order": ("int weigh_probe(inout Probe probe, Hit hit)", "it has int weigh_probe(inout Probe, in Hit)"),
    "another access": ("int weigh_probe(in Hit hit, in Probe probe)", "it has int weigh_probe(in Hit, in Probe)"),
    "another result": ("void weigh_probe(in Hit hit, inout Probe probe)", "void weigh_probe(in Hit, inout Probe)"),
}


@pytest.mark.parametrize("fault", SIGNATURES)
def test_another_signature_is_named_with_the_declared_one(device, fault: str) -> None:
    head, hint = SIGNATURES[fault]
    error = compiled(device, f"// head\n\n{head} {BODY}")
    assert (error.where, error.what) == (f"{FILE}:3", WHAT) and hint in error.hint
    assert error.log


@pytest.mark.parametrize(("factor", "words"), [
    ("draw(3)", "calls draw (name draw in its needs)"), ("strength", "uses strength (name settings in its needs)"),
])  # fmt: skip
def test_what_is_missing_in_needs(device, factor: str, words: str) -> None:
    error = compiled(device, RIGHT.replace("bright(hit.t)", f"bright(hit.t) * {factor}"))
    assert str(error) == f"kernel weigh_probe: {words}"


def test_needs_of_a_file_elsewhere_are_checked_before_the_driver_s_turn() -> None:
    elsewhere = Kernel(WEIGH.name, WEIGH.arguments, WEIGH.exits, WEIGH.needs, source="/home/weigh_probe.glsl")
    wrong = RIGHT.replace("bright(hit.t)", "bright(draw(3))")
    assembled(RIGHT, elsewhere)
    assembled(f"float draw(int k) {{\n    return 1.0;\n}}\n{wrong}", elsewhere)  # its own
    assembled(RIGHT.replace("{\n    probe", "{\n    // draw(3)\n    probe"), elsewhere)
    with pytest.raises(WiringError, match=r"kernel weigh_probe: calls draw \(name draw in its needs\)"):
        assembled(wrong, elsewhere)


def test_a_need_that_is_misspelt() -> None:
    wrong = Kernel(WEIGH.name, WEIGH.arguments, WEIGH.exits, ("brigth",))
    with pytest.raises(WiringError, match=r"no module provides brigth \(did you mean 'bright'\? 'A module' in shaders"):
        assembled(RIGHT, wrong)


PLACE, LIGHT = Record("Place", Field("x", "float")), Record("Light", Field("y", "float"))
OWN = PreparedValue(
    "Place", "float", "find_own", "own_kept", "OWN", frozenset({"shine"}), preserved_by=frozenset({"turn"})
)
SHINING = Module("shining", ("shine",), "shine.glsl", uses=(PLACE,), prepared=OWN)
TURNING = Module("turning", ("turn",), "turn.glsl", uses=(PLACE,))
ARRIVE = Kernel("arrive", (OUT("place", PLACE),), ("done",))
TURN = Kernel("turn_it", (INOUT("place", PLACE),), ("done",), ("turn",))
MOVE = Kernel("move_it", (INOUT("place", PLACE),), ("done",))
COPY = copying("copy_it", ("place", "other", PLACE))
SHINE = Kernel("shine_it", (IN("place", PLACE), OUT("light", LIGHT)), ("again", "done"), ("shine",))


def chain(
    *kernels: Kernel, streams: dict[str, str] | None = None, inputs: tuple[str, ...] = (), results=("light",)
) -> LinkedProgram:
    """The kernels one after the other; the last comes back to the first, or ends. streams : of the last."""
    names = [f"s{number}" for number in range(len(kernels))]
    states = tuple(
        State(
            name,
            kernel,
            {exit_: after if exit_ == "done" else names[0] for exit_ in kernel.exits},
            (streams or {}) if after is DONE else {},
        )
        for name, kernel, after in zip(names, kernels, [*names[1:], DONE], strict=True)
    )
    program = Program("chain", {"place": PLACE, "other": PLACE, "light": LIGHT}, inputs, results, states, names[0])
    return LinkedProgram(program, [SHINING, TURNING])


def main_of(linked: LinkedProgram) -> str:
    text = fragment(linked, linked.single(), Form(scheduled=False), None, read=lambda name: f"// {name}").text
    return text[text.index("void main()") :]


def test_behind_the_last_that_writes_before_one_asks():
    text = main_of(chain(ARRIVE, MOVE, SHINE))
    assert text.count("own_kept = find_own(s_place);") == 1
    assert text.index("move_it(") < text.index("find_own(") < text.index("shine_it(")


def test_not_where_nothing_is_written_that_it_follows_from():
    text = main_of(chain(ARRIVE, TURN, SHINE))
    assert text.count("find_own(") == 1 and text.index("arrive(") < text.index("find_own(") < text.index("turn_it(")


def test_a_copy_is_taken_over():
    linked = chain(ARRIVE, COPY, SHINE, streams={"place": "other"})
    text = main_of(linked)
    assert text.count("find_own(") == 1 and "own_kept_place = find_own(s_place);" in text
    assert text.index("copy_it(") < text.index("own_kept_other = own_kept_place;")
    assert text.index("own_kept = own_kept_other;") < text.index("shine_it(")
