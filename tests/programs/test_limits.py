"""Every step of every program is within what each OpenGL 3.3 grants, and as small as compilers need it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inlined import copies, lines
from numpy.typing import NDArray

from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import grid
from raystream.accel.two_level.top import TOPS
from raystream.cli.shader_check import LAYERED, everything
from raystream.lighting.sampler import SAMPLERS
from raystream.programs import LEVELS, PICTURES, trace
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin import build
from raystream.scene.scene import Scene
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import MAX_ATTACHMENTS, MAX_SAMPLERS, LinkedProgram
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses

RECIPES = [
    *({"accel": "bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
    *({"accel": "grid", "traversal": traversal} for traversal in grid.TRAVERSALS),
    *({"accel": f"two-level-{kind}", "top": top} for kind in ("bvh", "grid") for top in TOPS),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: " ".join(recipe.values()))
def test_steps_are_within_the_limits(recipe):
    prepared = prepare(everything(), Settings(environment="sky", **recipe))
    traversal = LEVELS[prepared.structure.levels]
    programs = [make(traversal, first_hits=hits) for make in PICTURES.values() for hits in ("rays", "raster")]
    for hits in ("rays", "raster"):
        programs += [PICTURES["photon"](traversal, first_hits=hits, kind="stencil", gather=g) for g in (False, True)]
    # With the sampler that reads from most textures, programs come nearest to the limit.
    most = max(SAMPLERS, key=lambda name: len(SAMPLERS[name]().memories))
    samplers = SAMPLERS if recipe == RECIPES[0] else (most,)
    programs += [PICTURES["cast"](traversal, layers=True), PICTURES["whitted"](traversal, depth=8), trace(traversal)]
    for program in programs:
        for sampler in samplers:
            for fuse in ("none", "ray", "surface"):
                stepwise = fuse == "none"
                if stepwise and recipe.get("traversal") == "stack":
                    continue  # its locals end with a pass
                linked = LinkedProgram(program, prepared.modules(stepwise, "film" in program.inputs, sampler))
                linked = linked if stepwise else linked.inlined()
                steps = linked.steps(fuse)
                assert linked.limits == []
                for step in steps:
                    assert (
                        linked.attachment_count(step) <= MAX_ATTACHMENTS and linked.sampler_count(step) <= MAX_SAMPLERS
                    )
            linked.single()


@pytest.mark.parametrize("chosen", LAYERED, ids=lambda chosen: " ".join(map(str, chosen.values())))
def test_programs_over_all_there_is_are_within_the_limits(chosen, device):
    """As the renderer makes them for a scene with every kind of surface, light and texture: nested volumes, too."""
    renderer = Renderer(everything(layers=True), accel="bvh", environment="sky", device=device, **chosen)
    program = renderer.program()
    for fuse in ("none", *program.groups):
        linked = renderer.gpu_scene.bind(program, renderer.settings, fuse == "none")
        for step in linked.steps(fuse):
            assert linked.attachment_count(step) <= MAX_ATTACHMENTS and linked.sampler_count(step) <= MAX_SAMPLERS
    renderer.gpu_scene.bind(program, renderer.settings, False).single()


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
