"""One `update` for every change: the picture of a renderer made anew, and no more work than the change asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pictures import of_two_kinds

import raystream
from raystream import Renderer, Scene
from raystream.base.errors import ViewerError
from raystream.cli.shader_check import everything
from raystream.options.declare import Affects
from raystream.options.table import OPTIONS
from raystream.options.tracing import PHOTONS
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import NAMES
from raystream.scene.camera import Camera
from raystream.scene.environment import ConstantEnvironment, sky
from raystream.scene.light import Light

SHOWN = {"size": (24, 16), "spp": 2}
OPTIONS_HERE = {"machine": "singlepass", "camera": "1.6,1,4 1.6,1,0"}


def side_by_side() -> Scene:
    """A triangle of every kind of surface, none before another, above a large one."""
    scene = everything()
    for number, instance in enumerate(scene.instances):
        instance.transform[:3, 3] = 1.1 * (number % 3), 1.1 * (number // 3), 0.0
    floor = np.array([[12, 0, 0, -5], [0, 0, 1, -0.2], [0, -12, 0, 6], [0, 0, 0, 1]], np.float64)
    scene.instances.append(replace(scene.instances[0], transform=floor))
    return scene


def rendered(device: Any, scene: Scene) -> Renderer:
    made = Renderer(scene, device=device, environment="sky", **OPTIONS_HERE)
    made.render(**SHOWN)
    return made


@pytest.fixture
def renderer(device: Any, builds: list[str]) -> Iterator[Renderer]:
    made = rendered(device, side_by_side())
    builds.clear()
    yield made
    made.release()


@pytest.fixture
def simple(device: Any, builds: list[str]) -> Iterator[Renderer]:
    """For tests that compile several programs, none of which is about kinds of surfaces."""
    made = rendered(device, of_two_kinds(side_by_side()))
    builds.clear()
    yield made
    made.release()


@pytest.fixture(scope="module")
def kept(device: Any) -> Iterator[Renderer]:
    """For tests of single changes, each of which takes its own back."""
    made = rendered(device, side_by_side())
    yield made
    made.release()


@pytest.fixture(scope="module")
def kept_simple(device: Any) -> Iterator[Renderer]:
    """For changes that fail, and leave it as it was."""
    made = rendered(device, of_two_kinds(side_by_side()))
    yield made
    made.release()


def assert_as_made_anew(renderer: Renderer, **more: Any) -> np.ndarray:
    """Its picture, which has the bits of another renderer's of the same scene by the same settings."""
    other = Renderer(renderer.scene, renderer.settings, device=renderer.device, **more)
    picture = renderer.render(**SHOWN).linear
    np.testing.assert_array_equal(picture, other.render(**SHOWN).linear)
    other.release()
    return picture


# -- what the host alone uses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fuse", ["none", "ray"])
def test_policy_and_unroll_keep_the_machine(device: Any, builds: list[str], fuse: str) -> None:
    renderer = Renderer(raystream.load("balls"), device=device, program="cast", fuse=fuse)
    before = renderer.render((32, 24), stats=True)
    machines, compiled = list(renderer.gpu_scene.machines.values()), device.compiled
    builds.clear()
    assert renderer.update(policy="threshold=0.3", unroll=1) == Affects.NOTHING
    after = renderer.render((32, 24), stats=True)
    assert list(renderer.gpu_scene.machines.values()) == machines and device.compiled == compiled and not builds
    np.testing.assert_array_equal(after.linear, before.linear)
    fresh = Renderer(renderer.scene, renderer.settings, device=device).render((32, 24), stats=True)
    assert after.stats.kernel_passes == fresh.stats.kernel_passes  # it is at work
    assert fuse == "ray" or after.stats.kernel_passes > before.stats.kernel_passes
    renderer.release()


# -- uniforms ----------------------------------------------------------------------------------------------------------

UNIFORMS = {
    "depth": 0,
    "strategy": "bsdf",
    "roulette": 1,
    "clamp": 0.25,
    "seed": 5,
    "offsets": "sample",
    "pixel_filter": "gaussian",
    "camera": Camera((0.5, 0.6, 3.0), (1.3, 0.8, 0.0)),
    "fov": 30.0,
    "aperture": 0.3,
    "focus": 2.0,
    "environment_rotation": 40.0,
    "shadows": False,
    "reflections": False,
    "refractions": False,
    "min_intensity": 0.2,
    "photons": 77,
    "caustic_photons": 55,
    "photon_bounces": 3,
    "estimate": "nearest",
    "nearest": 9,
    "photon_radius": 0.5,
    "photon_grid": (3, 2, 4),
    "footprint": 5,
    "redistribution": "power",
    "light_samples": 3,
    "photon_filter": "cone",
    "final_gather": 3,
}


def test_every_uniform_is_tried_here() -> None:
    assert set(UNIFORMS) == {name for name in NAMES if OPTIONS[name].affects == Affects.UNIFORMS}


@pytest.mark.parametrize(("name", "value"), UNIFORMS.items(), ids=lambda v: str(v)[:20])
def test_uniforms_compile_nothing(kept: Renderer, builds: list[str], name: str, value: Any) -> None:
    renderer = kept
    before, compiled, prepared = renderer.render(**SHOWN).linear, renderer.device.compiled, renderer.prepared
    assert renderer.update(**{name: value}) == Affects.UNIFORMS
    picture = renderer.render(**SHOWN).linear
    assert renderer.device.compiled == compiled and not builds
    assert renderer.prepared.structure is prepared.structure
    np.testing.assert_array_equal(assert_as_made_anew(renderer), picture)
    quiet = {"shadows", "reflections", "refractions", "min_intensity", "light_samples"}  # Whitted's
    quiet |= {"focus", *(option.name for option in PHOTONS)}  # a pinhole's, photon mapping's
    assert (name in quiet) == np.array_equal(picture, before)
    builds.clear()
    renderer.update(**{name: OPTIONS_HERE.get(name, OPTIONS[name].value.default)})
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, before)
    assert not builds


def test_the_program_and_back_again(simple: Renderer, builds: list[str]) -> None:
    before = simple.render(**SHOWN).linear
    for program in ("whitted", "cast", "shadow"):
        assert simple.update(program=program) == Affects.PROGRAM
        assert_as_made_anew(simple)
    compiled = simple.device.compiled
    simple.update(program="path")
    np.testing.assert_array_equal(simple.render(**SHOWN).linear, before)
    assert simple.device.compiled == compiled  # its machine is kept
    assert simple.update(sampler="independent") == Affects.PROGRAM
    assert_as_made_anew(simple)


# -- light -------------------------------------------------------------------------------------------------------------


def test_other_kinds_of_lights_are_compiled(simple: Renderer) -> None:
    for lights in ([], [Light("point", position=(0.0, 1.0, 1.0))], simple.scene.lights):
        simple.update(replace(simple.scene, lights=lights))
        assert_as_made_anew(simple)


def test_lights_are_placed_by_an_option_and_put_back(renderer: Renderer, builds: list[str]) -> None:
    before, name = renderer.render(**SHOWN).linear, renderer.scene.lights[0].name
    given = renderer.scene
    renderer.update(light={name: (0.5, 1.0, 2.0)})
    other = Renderer(given, renderer.settings, device=renderer.device)
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, other.render(**SHOWN).linear)
    assert not np.array_equal(renderer.render(**SHOWN).linear, before)
    builds.clear()
    renderer.update(light=())
    assert renderer.scene is given and not builds
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, before)


def test_environments(simple: Renderer, builds: list[str]) -> None:
    compiled, held = simple.device.compiled, len(simple.gpu_scene.resources.bytes())
    before = simple.render(**SHOWN).linear
    for environment in (sky(128), ConstantEnvironment((0.5, 1.0, 2.0)), "none", (0.1, 0.2, 0.3), "sky"):
        assert simple.update(environment=environment) == Affects.LIGHTING
        simple.render(**SHOWN)
    assert not builds and len(simple.gpu_scene.resources.bytes()) == held
    np.testing.assert_array_equal(simple.render(**SHOWN).linear, before)
    compiled = simple.device.compiled
    for degrees in (30.0, 90.0, -20.0):
        simple.update(environment_rotation=degrees)
        simple.render(**SHOWN)
    assert simple.device.compiled == compiled and not builds
    assert_as_made_anew(simple)
    assert simple.update(sun=(20.0, -30.0)) == Affects.LIGHTING
    assert_as_made_anew(simple)


def test_the_sky_comes_where_no_light_is_left(device: Any) -> None:
    scene = raystream.load("cornell")
    renderer = Renderer(scene, device=device, machine="singlepass")
    lit = renderer.render(**SHOWN).linear
    dark = replace(scene, materials=[replace(each, emission=(0.0, 0.0, 0.0)) for each in scene.materials])
    renderer.update(dark)
    assert renderer.prepared.lighting.environment.name == "sky" and "sky" in renderer.notes[0]
    assert_as_made_anew(renderer)
    renderer.update(scene)
    assert renderer.prepared.lighting.environment.name == "none" and not renderer.notes
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, lit)
    renderer.release()


# -- what moves --------------------------------------------------------------------------------------------------------


def test_a_scene_as_a_whole(device: Any, builds: list[str]) -> None:
    """Another one, prepared by somebody else, and back: nothing is left behind on the device."""
    scenes = [raystream.load("cornell"), raystream.load("balls")]
    renderer = Renderer(scenes[0], device=device, machine="singlepass")
    first = renderer.render(**SHOWN).linear
    held = renderer.gpu_scene.resources.bytes()
    ahead = prepare(scenes[1], renderer.settings)
    builds.clear()
    for _ in renderer.gpu_scene.upload(renderer.settings, ahead):
        pass
    renderer.update(ahead)
    assert not builds and renderer.prepared.structure is ahead.structure
    assert renderer.camera == Renderer(scenes[1], device=device).camera
    assert_as_made_anew(renderer)
    renderer.update(scenes[0])
    np.testing.assert_array_equal(renderer.render(**SHOWN).linear, first)
    assert renderer.gpu_scene.resources.bytes() == held
    renderer.release()


@pytest.mark.parametrize("accel", ["grid", "two-level-grid"])
def test_another_structure(simple: Renderer, builds: list[str], accel: str) -> None:
    textures = next(module for module in simple.prepared.shading if module.name == "textures")
    (texels,) = (simple.gpu_scene.resources.get(memory) for memory in textures.memories if memory.name == "texels")
    assert simple.update(accel=accel, grid=6) == Affects.STRUCTURE
    assert len(builds) == 1
    assert_as_made_anew(simple)
    assert simple.gpu_scene.resources.get(texels.source) is texels  # pictures stay where they are


# -- failure -----------------------------------------------------------------------------------------------------------


def far_away(scene: Scene) -> Scene:
    matrix = np.eye(4)
    matrix[0, 3] = 1e19
    return replace(scene, instances=[replace(scene.instances[0], transform=matrix), *scene.instances[1:]])


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
@pytest.mark.parametrize(
    "change",
    [
        {"traversal": "dda", "seed": 3},
        {"environment": "missing.hdr", "exposure": 1},
        {"environment": "missing.hdr", "depth": 2},
        {"light": {"nobody": (0, 0, 0)}, "fov": 20},
        {"camera": "nobody", "accel": "grid"},
        {"memory": "texture", "seed": 1},
        {"scene": far_away, "program": "cast"},
        {"scene": lambda scene: replace(scene, materials=[replace(scene.materials[0], texture=99)]), "seed": 2},
    ],
    ids=lambda change: str(next(iter(change))),
)
def test_a_failed_update_changes_nothing(kept_simple: Renderer, accel: str, change: dict[str, Any]) -> None:
    simple = kept_simple
    simple.update(accel=accel)
    before = simple.render(**SHOWN).linear
    held = simple.settings, simple.scene, simple.prepared, simple.camera, simple.gpu_scene.resources.bytes()
    given = dict(change)
    scene = given.pop("scene", lambda scene: None)(simple.scene)
    with pytest.raises(ViewerError):
        simple.update(scene, **given)
    now = simple.settings, simple.scene, simple.prepared, simple.camera, simple.gpu_scene.resources.bytes()
    assert all(one is other or one == other for one, other in zip(now, held, strict=True))
    np.testing.assert_array_equal(simple.render(**SHOWN).linear, before)
