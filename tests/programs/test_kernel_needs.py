"""The house's kernels name the functions of modules that they call: a pass of each alone compiles, too."""

from __future__ import annotations

import pytest

from raystream.cli.shader_check import everything
from raystream.programs import LEVELS, PICTURES, light_layers, visibility
from raystream.renderer.inputs.prepared import PreparedScene, prepare
from raystream.renderer.inputs.settings import Settings
from raystream.stream.compile.generate import Form, check_needs, fragment
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses

PROGRAMS = {
    **{name: program.make for name, program in PICTURES.items()},
    "light layers": light_layers,
    "sorted paths": lambda levels: light_layers(levels, traced=True),
    "visibility": lambda levels: visibility(levels, True, True),
}


@pytest.fixture(scope="module")
def prepared() -> PreparedScene:
    return prepare(everything(0.1, layers=True), Settings(environment="sky"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_needs_are_named(name: str, prepared: PreparedScene) -> None:
    program = PROGRAMS[name](LEVELS[prepared.structure.levels])
    linked = LinkedProgram(program, prepared.modules(False, True, "sobol")).inlined()
    step = linked.single()
    source = fragment(linked, step, Form(scheduled=False), PlannedAddresses(MAX_ROW_TEXELS))
    kernels = [kernel for kernel in linked.kernels_of(step) if kernel.file]
    for kernel in kernels:
        check_needs(source, linked, kernel)
    assert kernels
