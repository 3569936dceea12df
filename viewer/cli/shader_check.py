"""Assembles fragment programs of every program, machine and fusion; compiles and, where it is installed, validates
each with glslangValidator."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from viewer.accel.bvh import tree as bvh
from viewer.accel.grid import grid
from viewer.accel.triangles import TESTS
from viewer.accel.two_level.top import TOPS
from viewer.base.errors import ShaderError
from viewer.kernels.photons import MAPS
from viewer.options.table import OPTIONS
from viewer.photons.routing import routing_sources
from viewer.photons.sort import sort_sources
from viewer.programs import DISPERSIVE, LEVELS, PICTURES, photon_frame, trace
from viewer.renderer.renderer import Renderer
from viewer.scene.light import KINDS as LIGHTS
from viewer.scene.light import Light
from viewer.scene.material import KINDS, TEXTURE_FIELDS, Material
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Image, Texture
from viewer.stream.compile.generate import Form, fragment
from viewer.stream.compile.source import Source
from viewer.stream.declare.program import Program
from viewer.stream.gl.device import Device, shared_device
from viewer.stream.gl.draw import tiles_source
from viewer.stream.machines.count import EDGE, census_sources
from viewer.stream.machines.mask import stream_sources

VALIDATOR = "glslangValidator"
# Every module of structures and triangle tests is in one of these.
_RECIPES: tuple[dict[str, Any], ...] = (
    *({"accel": "bvh", "intersection": test} for test in TESTS),
    *({"accel": "bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
    {"accel": "none"},
    *({"accel": "grid", "traversal": traversal} for traversal in grid.TRAVERSALS),
    *({"accel": f"two-level-{inner}", "top": top} for inner in TOPS for top in TOPS),
    *({"accel": "two-level-bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
)
_TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def check_shaders(report: Callable[[str], None] = print, device: Device | None = None) -> int:
    """Check all shaders; ``report`` gets a line for each program. Returns the number of failures."""
    device = device or shared_device()
    validator = shutil.which(VALIDATOR)
    failures = checked = 0
    seen: set[str] = set()
    for name, source in _sources(device):
        if source.text in seen:
            continue
        seen.add(source.text)
        checked += 1
        try:
            with device.current():
                device.program(tiles_source(), source).release()
            if validator:
                _validate(validator, source)
        except ShaderError as error:
            failures += 1
            report(f"{name}: {error}")
            for line in error.log.splitlines():
                report(f"    {line}")
        else:
            report(f"{name}: ok, {len(source.lines)} lines")
    how = f"compiled by {device.name}"
    how += f" and validated by {VALIDATOR}" if validator else f" ({VALIDATOR} is not installed, so not validated by it)"
    report(f"{checked} programs {how}, {failures} failed")
    return failures


def _sources(device: Device) -> Iterator[tuple[str, Source]]:
    """Name and source of fragment programs in which every module, kernel and form occurs, though not in every company:
    all structures under the ray caster, all programs over a scene with everything, all that can be exchanged there."""
    plain = Scene.from_triangles(*_TRIANGLE)
    for number, recipe in enumerate(_RECIPES):
        renderer = Renderer(plain, program="cast", device=device, **recipe)
        traversal, mark = LEVELS[renderer.structure.levels], " ".join(recipe.values())
        for program in (PICTURES["cast"](traversal), trace(traversal)):
            yield from _all_forms(renderer, program, mark, every=number == 0)
    lamp = Material("lamp", emission=(1, 1, 1))
    quadrics = Scene([*plain.meshes, Quadric.sphere()], [Instance(0), Instance(1)], [lamp])
    for accel, test in (*(("bvh", test) for test in TESTS), ("two-level-bvh", "watertight")):
        renderer = Renderer(quadrics, accel=accel, intersection=test, program="whitted", device=device)
        for program in (renderer.program(), photon_frame(LEVELS[renderer.structure.levels], True)):
            yield from _single(renderer, program, f"quadrics, {accel}, {test}")
    rich = everything()
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(rich, accel=accel, environment="sky", device=device)
        traversal = LEVELS[renderer.structure.levels]
        yield from _all_forms(renderer, PICTURES["cast"](traversal, layers=True), accel)
        for make in PICTURES.values():
            yield from _all_forms(renderer, make(traversal), accel, every=accel == "bvh")
            yield from _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
        yield from _all_forms(renderer, PICTURES["photon"](traversal, kind="stencil"), f"{accel}, stencil routing")
        for kind in MAPS:
            program = PICTURES["photon"](traversal, kind=kind, gather=True)
            yield from _all_forms(renderer, program, f"{accel}, final gather, {kind}", every=False)
        for first in (True, False):
            yield from _all_forms(renderer, photon_frame(traversal, first), accel)
    renderer = Renderer(everything(dispersion=1.0), accel="bvh", environment="sky", device=device)
    traversal = LEVELS[renderer.structure.levels]
    for name in sorted(DISPERSIVE):
        yield from _all_forms(renderer, PICTURES[name](traversal, dispersion=True), "dispersion")
    gathering = PICTURES["photon"](traversal, gather=True, dispersion=True)
    yield from _all_forms(renderer, gathering, "dispersion, final gather", every=False)
    for first in (True, False):
        yield from _all_forms(renderer, photon_frame(traversal, first, dispersion=True), "dispersion")
    for name, source in (*sort_sources(), *routing_sources()):
        yield f"photon map: {name}", source
    for sampler in OPTIONS["sampler"].choices:
        for environment in ("none", "sky"):
            renderer = Renderer(rich, sampler=sampler, environment=environment, device=device)
            mark = f"sampler {sampler}, environment {environment}"
            yield from _single(renderer, renderer.program(), mark)


def everything(dispersion: float = 0.0, layers: bool = False) -> Scene:
    """A scene with every kind of surface and of light, and textures; its glass has that ``dispersion``. layers :
    of glTF's materials, too, with a second set of texture coordinates."""
    scene = Scene.from_triangles(*_TRIANGLE)
    scene.meshes[0] = replace(scene.meshes[0], uvs=np.eye(3, 2, dtype=np.float32))
    scene.textures = [Texture(Image(np.full((2, 2, 4), 128, np.uint8)))]
    scene.materials = [Material(kind, kind=kind, texture=0, dispersion=dispersion) for kind in KINDS]
    scene.materials += [layered()] if layers else []
    scene.materials += [Material("even", emission=(1, 1, 1)), Material("spots", emission=(1, 1, 1), emission_texture=0)]
    if layers:
        scene.textures.append(Texture(scene.textures[0].image, uv_set=1))
        scene.materials[-3].normal_texture = 1
    scene.instances = [Instance(0, material=number) for number in range(len(scene.materials))]
    scene.lights = [Light(kind) for kind in LIGHTS]  # type: ignore[arg-type]  # they are its kinds
    return scene


def layered() -> Material:
    """A material of glTF's with all that there is."""
    names = dict.fromkeys(TEXTURE_FIELDS, 0)
    return Material(
        "layered",
        (1.0, 1.0, 1.0, 0.5),
        kind="principled",
        metallic=0.5,
        specular_factor=0.5,
        transmission=0.5,
        thickness=1.0,
        attenuation_distance=1.0,
        anisotropy=0.5,
        clearcoat=0.5,
        iridescence=0.5,
        sheen_color=(0.5, 0.5, 0.5),
        diffuse_transmission=0.5,
        alpha_mode="blend",
        **names,  # type: ignore[arg-type]  # they are numbers
    )


def _single(renderer: Renderer, program: Program, mark: str, counting: bool = False) -> Iterator[tuple[str, Source]]:
    """The one pass of the single-pass machine, and what counts its kernel calls."""
    linked = renderer.bind(program, False)
    step, form = linked.single(), Form(scheduled=False)
    yield f"{program.name} single pass ({mark})", fragment(linked, step, form, renderer.resources)
    for part in linked.count_parts(step) if counting else ():
        source = fragment(linked, step, replace(form, counts=part), renderer.resources)
        yield f"{program.name} single pass ({mark}, counts {part[0]} to {part[-1]})", source


def _all_forms(renderer: Renderer, program: Program, mark: str, every: bool = False) -> Iterator[tuple[str, Source]]:
    """The passes of both machines and all fusions; with ``every`` those that count, and those without a mask, too."""
    yield from _single(renderer, program, mark, counting=every)
    for fuse in ("none", *program.groups):
        linked = renderer.bind(program, fuse == "none")
        steps = linked.steps(fuse)
        for step in steps:
            for discards in (False, True) if every else (False,):
                marks = [mark, *(["without mask"] if discards else [])]
                form, name = Form(True, discards), f"{program.name} {fuse}/{step.name} ({', '.join(marks)}"
                yield f"{name})", fragment(linked, step, form, renderer.resources)
                for part in linked.count_parts(step) if every else ():
                    source = fragment(linked, step, replace(form, counts=part), renderer.resources)
                    yield f"{name}, counts {part[0]} to {part[-1]})", source
        for name, source in stream_sources(linked, steps):
            yield f"{program.name} {fuse}: {name}", source
        for number, source in enumerate(census_sources(linked, steps, EDGE)):
            yield f"{program.name} {fuse}: census {number}", source


def _validate(validator: str, source: Source) -> None:
    """Raises ShaderError with what the validator says."""
    done = subprocess.run(
        [validator, "--stdin", "-S", "frag"], input=source.text, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        log = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("stdin"))
        raise source.error(VALIDATOR, log)
