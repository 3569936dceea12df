"""Faults of kernels' own files, named by kernel and file where the driver names neither."""

from __future__ import annotations

from functools import partial

import pytest

from raystream.base.errors import ShaderError, WiringError
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses
from raystream.stream.compile.source import Source, read_shader
from raystream.stream.declare.kernel import IN, INOUT, Kernel, Module
from raystream.stream.declare.program import DONE, Program, State
from raystream.stream.declare.record import Field, Record

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


def test_a_file_without_a_function() -> None:
    error = assembled("// int weigh_probe(in Hit hit, inout Probe probe) {\n").error("GLSL", "error: unresolved")
    assert (error.where, error.what, error.hint) == (FILE, WHAT, "")


@pytest.mark.parametrize(
    "head",
    [
        "int weigh_probe(in Hit hit, inout Probe probe)",
        "int weigh_probe(Hit a,\n    inout Probe probe)\n",
        "int weigh_probe(const in Hit hit, inout Probe probe)",
    ],
)
def test_other_errors_stay_the_driver_s(head: str) -> None:
    error = assembled(f"{head} {BODY}").error("GLSL", "error: too many registers")
    assert (error.where, error.what) == ("GLSL", "too many registers")


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


def test_a_state_that_is_misspelt() -> None:
    states = (State("weigh", WEIGH, {"done": "wiegh"}),)
    make = partial(Program, "toy", {"hit": HIT, "probe": PROBE}, ("hit", "probe"), ("probe",), states, "weigh")
    with pytest.raises(WiringError, match=r"unknown state 'wiegh' \(did you mean 'weigh'\?\)"):
        make()


def test_candidates_are_told_in_the_line(device) -> None:
    error = compiled(device, RIGHT.replace("bright(hit.t)", "bright(hit)"))
    assert error.where == f"{FILE}:3" and "candidates are: vec4 bright(float) in `" in error.what
    made = assembled(RIGHT)
    number = next(number for number, (line, _) in enumerate(made.lines, 1) if "probe.sum" in line)
    alone = made.error("GLSL", f"0:{number}(2): error: no matching function for call to `f(int)'; candidates are:\n")
    assert alone.what.startswith("error: no matching function for call to `f(int)' in `probe.sum")
