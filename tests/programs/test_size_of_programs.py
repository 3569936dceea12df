"""The largest generated programs stay as small as compilers need them. Time goes by what is there once all calls are
inlined, about 0.6 ms a line of it on llvmpipe; when each texture of a material was looked up by code of its own, with
code for each of its texels, path tracing came to 13,400 lines."""

from __future__ import annotations

import pytest
from inlined import copies, lines

from viewer.cli.shader_check import everything
from viewer.programs import PICTURES
from viewer.renderer.prepared import prepare
from viewer.renderer.settings import Settings
from viewer.stream.compile.addresses import WIDEST, PlannedAddresses
from viewer.stream.compile.generate import Form, fragment
from viewer.stream.compile.link import LinkedProgram


def test_copies_are_those_of_calls():
    text = "float a(float x) {\n    return x;\n}\nfloat b() {\n    return a(1.0) + a(2.0);\n}\n"
    text += "void main() {\n    b();\n}\n"
    assert copies(text) == {"main": 1, "b": 1, "a": 2} and lines(text) == 4


@pytest.mark.parametrize(
    ("name", "form", "most"),
    [
        ("path", {}, 6000),
        ("whitted", {}, 6500),
        ("photon", {"apart": True}, 7000),
        ("photon", {"apart": True, "gather": True}, 12500),
    ],
)
def test_all_that_there_is_in_one_pass(name, form, most):
    prepared = prepare(everything(layers=True), Settings(environment="sky"))
    linked = LinkedProgram(PICTURES[name](volumes=True, **form), prepared.modules(False, True, "sobol")).inlined()
    text = fragment(linked, linked.single(), Form(scheduled=False), PlannedAddresses(WIDEST)).text
    found = copies(text)
    assert lines(text) <= most
    # One for all textures of a material, and those of base colour, emission and opacity, and of classic colours.
    assert found["texture_lookup"] <= found["principled_at"] + 7 + found["classic_color"]
    assert (
        found["texel_at"] == found["texture_lookup"] and found["iridescent_fresnel"] <= 2 * found["principled_layers"]
    )
