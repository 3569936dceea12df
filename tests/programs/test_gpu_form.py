"""Programs in the form for GPUs give the bits of those for software rasterisers, and keep what rays need alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import places
import pytest

from raystream.formats.named import load
from raystream.programs import LEVELS, PICTURES
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.compile.generate import Form, dead_streams, fragment
from raystream.stream.compile.link import Element, LinkedProgram, StateLoop
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses
from raystream.stream.gl.device import Device

SIZE = (20, 12)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "path, surface": ("cornell", {"program": "path", "machine": "multipass", "fuse": "surface"}),
    "path, ray": ("cornell", {"program": "path", "machine": "multipass", "fuse": "ray"}),
    "path, single pass, two levels": (
        "glass_ball",
        {"program": "path", "machine": "singlepass", "accel": "two-level-bvh"},
    ),
    "whitted, single pass": ("balls", {"program": "whitted", "machine": "singlepass"}),
    "cast, one kernel a pass": ("teapotahedron", {"program": "cast", "machine": "multipass", "fuse": "none"}),
}

SLOW: dict[str, tuple[str, dict[str, Any]]] = {
    f"{program}, {machine}, {fuse}, {scene}": (scene, {"program": program, "machine": machine, "fuse": fuse})
    for program in PICTURES
    for machine, fuse in (("singlepass", "none"), ("multipass", "none"), ("multipass", "ray"), ("multipass", "surface"))
    for scene in ("cornell", "prism", "glass_ball", "hall")
}


def rendered(scene: str, options: dict[str, Any], device: Any) -> np.ndarray:
    return places.picture(scene, SIZE, 3, device=device, denoise="none", **options).linear


@pytest.mark.parametrize("case", CASES)
def test_bits_are_those_of_the_other_form(case: str, device: Device, gpu: Device) -> None:
    np.testing.assert_array_equal(rendered(*CASES[case], gpu), rendered(*CASES[case], device))


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW)
def test_bits_of_every_program(case: str, device: Device, gpu: Device) -> None:
    np.testing.assert_array_equal(rendered(*SLOW[case], gpu), rendered(*SLOW[case], device))


# -- what a pass keeps -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def linked() -> LinkedProgram:
    """Path tracing of the Cornell box, calls inlined."""
    prepared = prepare(load("cornell"), Settings(program="path"))
    return LinkedProgram(PICTURES["path"](), prepared.modules(False, True, "sobol")).inlined()


def test_streams_die_where_no_ray_needs_them(linked: LinkedProgram) -> None:
    (step,) = (each for each in linked.steps("surface") if each.iterates)
    dead = dead_streams(linked, step)
    (loop,) = step.order
    assert isinstance(loop, StateLoop)
    assert "film" not in {stream for streams in dead.values() for stream in streams}  # a result: always needed
    assert dead[loop.head] == ("hit", "traversal", "setup") == dead["setup@resolve"]
    assert "interaction" in dead["arrive"] and "pending" in dead["light"]
    assert "ray" in dead["scatter"] and "ray" not in dead["begin"]  # others wait there with theirs
    assert not dead["resolve"] and not dead["finish"]


def loops(elements: Sequence[Element]) -> Iterator[StateLoop]:
    """The loops among nested elements, inner ones too."""
    for element in elements:
        if isinstance(element, StateLoop):
            yield element
            yield from loops(element.body)


@pytest.mark.parametrize("software", [True, False])
def test_loops_serve_their_states(software: bool) -> None:
    """A loop's condition, a range of numbers or a list, holds in its own states alone."""
    prepared = prepare(load("cornell"), Settings(program="path", accel="two-level-bvh"))
    program = PICTURES["path"](LEVELS[prepared.structure.levels])
    linked = LinkedProgram(program, prepared.modules(False, True, "sobol")).inlined()
    step = linked.single()
    text = fragment(linked, step, Form(False, software=software), PlannedAddresses(MAX_ROW_TEXELS)).text
    numbers = {name: int(n) for name, n in re.findall(r"const int (STATE_\w+) = (\d+);", text)}
    found = set()
    for condition in re.findall(r"while \((state [^\n]*)\)(?:;| \{)$", text, re.MULTILINE):
        python = condition.replace("||", "or").replace("&&", "and")
        found.add(frozenset(n for n in numbers.values() if eval(python, {**numbers, "state": n})))
    expected = {frozenset(linked.program.number(s) for s in loop.states()) for loop in loops(step.order)}
    assert len(expected) > 3 and expected <= found and all(len(each) == 1 for each in found - expected)


# -- passes on GPUs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["path", "whitted"])
def test_on_gpus_traversal_is_apart_from_what_needs_modules(program: str) -> None:
    """A pass that traverses holds besides only what calls no function of a module: materials, textures, lights."""
    prepared = prepare(load("cornell"), Settings(program=program))
    linked = LinkedProgram(PICTURES[program](), prepared.modules(False, True, "sobol")).inlined()
    traversing = [
        s for s in linked.steps("ray", software=False) if any(name.startswith("traverse@") for name in s.states)
    ]
    assert [s.states[-1] for s in traversing] == ["intersect@arrive", "resolve"]
    beside = {name for step in traversing for name in step.states if "@" not in name}
    assert not any(linked.program.by_name[name].kernel.needs for name in beside)
    arriving = next(step for step in linked.steps("ray") if "traverse@arrive" in step.states)
    assert "arrive" in arriving.states  # of CPUs, where a pass costs more than registers


def test_rematerialised_where_few_states_ask() -> None:
    """Layers are derived at each use by a path, whose light and scattering ask once each; by Whitted's tracer, which
    asks for every light, once."""
    scene = Scene([], [], [Material("coated", kind="principled", clearcoat=0.5)])
    found = {}
    for program in ("path", "whitted"):
        prepared = prepare(scene, Settings(program=program))
        linked = LinkedProgram(PICTURES[program](), prepared.modules(False, True, "sobol")).inlined()
        for software in (True, False):
            text = fragment(
                linked, linked.single(), Form(False, software=software), PlannedAddresses(MAX_ROW_TEXELS)
            ).text
            found[program, software] = "principled_seen_of(at, principled_kept.material, wo)" in text
    assert [key for key, derived in found.items() if derived] == [("path", False)]


def layered_by_lamps() -> Scene:
    """A coated, fibrous surface with a base colour of bilinear texels, and a roughness of nearest ones, below lamps
    enough for a light tree."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    mesh = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), uvs=np.float32([[0, 2], [2, 2], [2, 0], [0, 0]]))
    texels = np.random.default_rng(5).integers(40, 255, (2, 4, 4, 4)).astype(np.uint8)
    textures = [Texture(Image(texels[0])), Texture(Image(texels[1]), nearest=True, content="data")]
    layers = {"clearcoat": 0.6, "clearcoat_roughness": 0.3, "sheen_color": (0.4, 0.2, 0.1), "transmission": 0.3}
    maps = {"texture": 0, "metallic_roughness_texture": 1}
    surface = Material("layered", kind="principled", roughness=0.8, metallic=0.4, **layers, **maps)
    lamp = Material("lamp", (0.0, 0.0, 0.0, 1.0), kind="lambert", emission=(4.0, 3.0, 2.0), double_sided=True)
    placed = [Instance(0, material=0)]
    for k in range(6):
        matrix = np.diag([0.1 + 0.02 * k, 0.1, 1.0, 1.0])
        matrix[:3, 3] = 1.5 * np.cos(k), 1.5 * np.sin(k), 0.5 + 0.1 * k
        placed.append(Instance(0, matrix, 1))
    return Scene([mesh], placed, [surface, lamp], [Camera((0.3, 0.2, 2.5), (0, 0, 0), fov=45.0)], textures=textures)


def layered(device: Device, **options: str) -> np.ndarray:
    options |= {"denoise": "none", "light_sampler": "tree"}
    return places.picture(layered_by_lamps(), SIZE, 3, device=device, **options).linear


@pytest.mark.parametrize("fuse", ["ray", "surface"])
@pytest.mark.parametrize("program", ["path", "whitted"])
def test_bits_of_layers_textures_and_a_light_tree(program: str, fuse: str, device: Device, gpu: Device) -> None:
    found = layered(gpu, program=program, fuse=fuse)
    np.testing.assert_array_equal(found, layered(device, program=program, fuse=fuse))
    assert np.unique(found).size > 100
