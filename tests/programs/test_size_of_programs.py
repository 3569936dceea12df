"""The largest generated programs stay as small as compilers need them. Time goes by what is there once all calls are
inlined, about 0.6 ms a line of it on llvmpipe; when each texture of a material was looked up by code of its own, with
code for each of its texels, path tracing came to 13,400 lines, and when each function of a material found its layers
anew, to 5,700."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inlined import copies, lines
from numpy.typing import NDArray

from raystream.cli.shader_check import everything
from raystream.programs import LEVELS, PICTURES
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.scene.builtin import build
from raystream.scene.scene import Scene
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses


def test_copies_are_those_of_calls():
    text = "float a(float x) {\n    return x;\n}\nfloat b() {\n    return a(1.0) + a(2.0);\n}\n"
    text += "void main() {\n    b();\n}\n"
    assert copies(text) == {"main": 1, "b": 1, "a": 2} and lines(text) == 4


def everything_of(dispersion: bool = False, nested: bool = False) -> Scene:
    """Every kind of surface and light; volumes reach into other things where they are ``nested``."""
    found = everything(0.1 if dispersion else 0.0, layers=True)
    if dispersion:
        found.materials = [replace(m, dispersion=0.5) if m.name == "layered" else m for m in found.materials]
    if not nested:
        found.instances = [replace(each, transform=_moved(3.0 * k)) for k, each in enumerate(found.instances)]
    return found


def _moved(along: float) -> NDArray[np.float64]:
    transform = np.eye(4)
    transform[0, 3] = along
    return transform


@pytest.mark.parametrize(
    ("name", "form", "most"),
    [
        ("path", {}, 3950),
        ("path", {"dispersion": True}, 4650),
        ("whitted", {}, 3260),
        ("photon", {"apart": True}, 3900),
        ("photon", {"apart": True, "gather": True}, 7300),
        ("photon", {"apart": True, "gather": True, "together": True}, 4950),
        ("photon", {"apart": True, "gather": True, "together": True, "nested": True}, 5150),
    ],
)
def test_all_that_there_is_in_one_pass(name, form, most):
    scene = everything_of("dispersion" in form, "nested" in form)
    prepared = prepare(scene, Settings(environment="sky"))
    assert prepared.nested == ("nested" in form)
    linked = LinkedProgram(PICTURES[name](volumes=True, **form), prepared.modules(False, True, "sobol")).inlined()
    text = fragment(linked, linked.single(), Form(scheduled=False), PlannedAddresses(MAX_ROW_TEXELS)).text
    found = copies(text)
    assert lines(text) <= most
    # The layers of a surface, once wherever there is another: of gathering rays, too, unless they arrive as all do.
    surfaces = 2 if "gather" in form and "together" not in form else 1
    assert found["principled_at"] == found["principled_layers"] == surfaces
    # One for all textures of a material, and those of base colour, emission and opacity, and of classic colours.
    assert found["texture_lookup"] <= found["principled_at"] + 7 + found["classic_color"]
    assert found["texel_at"] == found["texture_lookup"]
    assert found["iridescent_fresnel"] == surfaces + found["principled_facet"]
    assert found["tangents_at"] == found["interaction_at"]


@pytest.mark.parametrize("layered", [False, True])
def test_on_gpus_layered_surfaces_are_reached_in_a_pass_of_their_own(layered):
    """By Intel's compiler for Gen 9 such a pass has 7,254 instructions, and spills (tools/bench.py gpu)."""
    prepared = prepare(build("cornell"), Settings())
    program = PICTURES["path"](LEVELS[prepared.structure.levels], layered=layered)
    linked = LinkedProgram(program, prepared.modules(False, True, "sobol")).inlined()
    for software in (True, False):
        passes = [set(step.states) for step in linked.steps("surface", software)]
        whole = any({"arrive", "light", "scatter"} <= states for states in passes)
        assert whole == (software or not layered)
        assert any({"light", "scatter"} <= states for states in passes)
