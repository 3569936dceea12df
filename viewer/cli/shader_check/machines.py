"""The fragment programs of the machines, for every structure, program, fusion and form of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import grid
from raystream.accel.primitives import TESTS
from raystream.accel.two_level.top import TOPS
from raystream.cameras.lens import KINDS as CAMERAS
from raystream.cli.shader_check.scenes import TRIANGLE, UNLIT, everything, layered, moving, with_quadric
from raystream.kernels.photons import MAPS, SEARCHES
from raystream.options.table import OPTIONS
from raystream.programs import (
    IN_BOX,
    LEVELS,
    PICTURES,
    backdrop_weight,
    eye_hits,
    feature_buffers,
    light_layers,
    photon_emission,
    photon_frame,
    programs_with,
    trace,
    visibility,
)
from raystream.renderer.renderer import Renderer
from raystream.scene.exposure import moving_camera
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.source import Source
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import Device
from raystream.stream.machines.common import EDGE
from raystream.stream.machines.count import census_sources
from raystream.stream.machines.mask import stream_sources
from raystream.stream.machines.multipass import copy_source

Sources = Iterator[tuple[str, Source]]  # fragment programs by name
Jobs = Iterator[Sources]  # each of which is assembled as it is looked at

# Every module of structures and triangle tests is in one of these.
RECIPES: tuple[dict[str, Any], ...] = (
    *({"accel": "bvh", "intersection": test} for test in TESTS),
    *({"accel": "bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
    {"accel": "none"},
    *({"accel": "grid", "traversal": traversal} for traversal in grid.TRAVERSALS),
    *({"accel": f"two-level-{inner}", "top": top} for inner in TOPS for top in TOPS),
    *({"accel": "two-level-bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
)
# Programs over layered surfaces, by options.
LAYERED: tuple[dict[str, Any], ...] = (
    *({"program": name} for name in programs_with(lambda each: "volumes" in each.parameters)),
    {"program": "photon", "photon_map": "stencil", "estimate": "nearest"},
    {"program": "photon", "final_gather": 1},
)


def jobs(device: Device) -> Jobs:
    """The machines' fragment programs, in jobs: all structures under the ray caster, all programs over a scene with
    everything, all that can be exchanged there."""
    plain = Scene.from_triangles(*TRIANGLE)
    for index, recipe in enumerate(RECIPES):
        renderer = Renderer(plain, program="cast", device=device, **recipe)
        traversal, mark = LEVELS[renderer.prepared.structure.levels], " ".join(recipe.values())
        for program in (PICTURES["cast"](traversal), trace(traversal)):
            yield _all_forms(renderer, program, mark, every=index == 0)
        if renderer.prepared.structure.tests_box:
            yield _all_forms(renderer, PICTURES["cast"](IN_BOX), f"{mark}, box")
    quadrics = with_quadric(plain)
    for accel, test in (*(("bvh", test) for test in TESTS), ("two-level-bvh", "watertight")):
        renderer = Renderer(quadrics, accel=accel, intersection=test, program="whitted", device=device)
        for program in (
            renderer.program(),
            photon_emission(),
            photon_frame(LEVELS[renderer.prepared.structure.levels]),
        ):
            yield _single(renderer, program, f"quadrics, {accel}, {test}")
    rich = everything()
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(rich, accel=accel, environment="sky", device=device)
        traversal = LEVELS[renderer.prepared.structure.levels]
        yield _all_forms(renderer, PICTURES["cast"](traversal, layers=True), accel)
        for make in PICTURES.values():
            yield _all_forms(renderer, make(traversal), accel, every=accel == "bvh")
            yield _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
        for kind, search in product(MAPS, SEARCHES):
            mark = f"{accel}, {kind}, {search}"
            yield _all_forms(renderer, PICTURES["photon"](traversal, kind=kind, search=search), mark)
            program = PICTURES["photon"](traversal, kind=kind, search=search, gather=True)
            yield _all_forms(renderer, program, f"{mark}, final gather", every=False)
        yield _all_forms(renderer, photon_frame(traversal), accel)
        beside = (eye_hits(traversal), feature_buffers(traversal), light_layers(traversal), photon_emission())
        for program in (*beside, visibility(traversal)):
            yield _all_forms(renderer, program, accel, every=accel == "bvh")
        yield from _backdrops(rich, accel, device)
    renderer = Renderer(everything(dispersion=1.0), accel="bvh", environment="sky", device=device)
    traversal = LEVELS[renderer.prepared.structure.levels]
    for make in PICTURES.values():
        if "dispersion" in make.parameters:
            yield _all_forms(renderer, make(traversal, dispersion=True), "dispersion")
    yield _all_forms(renderer, light_layers(traversal, dispersion=True), "dispersion", every=False)
    gathering = PICTURES["photon"](traversal, gather=True, dispersion=True)
    yield _all_forms(renderer, gathering, "dispersion, final gather", every=False)
    yield _all_forms(renderer, photon_frame(traversal, dispersion=True), "dispersion")
    yield from _layered(device)
    yield from _moving(device)
    yield from _projections(device)
    for sampler in OPTIONS["sampler"].value.choices:
        for environment in ("none", "sky"):
            renderer = Renderer(rich, sampler=sampler, environment=environment, device=device)
            mark = f"sampler {sampler}, environment {environment}"
            yield _single(renderer, renderer.program(), mark)


def _backdrops(scene: Scene, accel: str, device: Device) -> Jobs:
    """Programs before backdrops, and over a floor."""
    for background in ("1,1,1", "blur=20", "environment"):
        renderer = Renderer(
            scene, accel=accel, environment="sky", background=background, ground="shadow", device=device
        )
        traversal, mark = LEVELS[renderer.prepared.structure.levels], f"{accel}, {background}"
        for kind in ("plain", "floor"):
            traced = light_layers(traversal, backdrop=kind, traced=True)
            for program in (backdrop_weight(traversal, kind), feature_buffers(traversal, kind), traced):
                yield _single(renderer, program, f"{mark}, {kind}")
            yield _all_forms(renderer, light_layers(traversal, backdrop=kind), f"{mark}, {kind}", every=False)
        for make in PICTURES.values():
            if "backdrop" in make.parameters:
                yield _all_forms(renderer, make(traversal, backdrop="floor"), mark, every=False)


def _layered(device: Device) -> Jobs:
    """Programs over glTF's materials: beside the other kinds, alone, and with factors alone."""
    rich = everything(layers=True)
    for settings in LAYERED:
        renderer = Renderer(rich, accel="bvh", environment="sky", device=device, **settings)
        yield _all_forms(renderer, renderer.program(), f"layers {' '.join(map(str, settings.values()))}")
    traversal = LEVELS[renderer.prepared.structure.levels]
    shown = renderer.prepared
    frame = photon_frame(traversal, shown.dispersive, shown.absorbing, shown.nested)
    yield _all_forms(renderer, frame, "layers")
    yield _all_forms(renderer, feature_buffers(traversal, blended=True), "layers")
    light, _ = renderer.gpu_scene.light_layers(renderer.settings.replace(program="path"))
    yield _all_forms(renderer, light, "layers")
    factors = replace(layered(), **dict.fromkeys(TEXTURE_FIELDS))  # type: ignore[arg-type]  # none
    for mark, chosen in (("alone", rich.materials[-3]), ("factors", factors), ("unlit", Material(**UNLIT))):
        scene = replace(rich, materials=[chosen], instances=[Instance(0, material=0)])
        renderer = Renderer(scene, accel="two-level-bvh", environment="sky", device=device, program="path")
        yield _all_forms(renderer, renderer.program(), f"layers {mark}")
    # Where gathering rays go the way of all others, volumes nested and not.
    single_object = replace(rich, materials=[rich.materials[-3]], instances=[Instance(0, material=0)])
    for mark, scene in (("with others", rich), ("alone", single_object)):
        single: dict[str, Any] = {"program": "photon", "final_gather": 1, "machine": "singlepass"}
        renderer = Renderer(scene, accel="bvh", environment="sky", device=device, **single)
        yield _single(renderer, renderer.program(), f"layers {mark}, final gather")


def _moving(device: Device) -> Jobs:
    """Programs of scenes that move while the shutter is open."""
    for accel, test in (("two-level-bvh", "watertight"), ("two-level-bvh", "moller-trumbore"), ("bvh", "watertight")):
        scene = moving(quadrics=accel != "bvh")
        renderer = Renderer(scene, accel=accel, intersection=test, environment="sky", device=device)
        traversal, mark = LEVELS[renderer.prepared.structure.levels], f"moving, {accel}, {test}"
        other_programs = feature_buffers(traversal), photon_emission(), photon_frame(traversal), trace(traversal)
        for program in (
            *(make(traversal, **make.arguments(moving=True)) for make in PICTURES.values()),
            *other_programs,
        ):
            yield _single(renderer, program, mark)
            if accel != "bvh" and test == "watertight" and program.name == "whitted":
                yield _all_forms(renderer, program, mark, every=False)


def _projections(device: Device) -> Jobs:
    """Cameras of every projection, standing still and moving while the shutter is open."""
    scene = replace(Scene.from_triangles(*TRIANGLE), materials=[Material(texture=0)])
    scene.textures = [Texture(Image(np.full((4, 4, 4), 128, np.uint8)))]
    for kind, camera in CAMERAS.items():
        for mark, variant in (("", camera), (", moving", moving_camera([camera, replace(camera, fov=50.0)]))):
            renderer = Renderer(scene, camera=variant, environment="sky", device=device)
            traversal = LEVELS[renderer.prepared.structure.levels]
            for program in (renderer.program(), feature_buffers(traversal), eye_hits(traversal)):
                yield _single(renderer, program, f"{kind}{mark}")
            cast = Renderer(scene, camera=variant, environment="sky", program="cast", device=device)
            yield _single(cast, cast.program(), f"{kind}{mark}")


def jobs_of(name: str, device: Device) -> Jobs:
    """Those of one program of pictures, over scenes with everything that it can tell apart."""
    make, rich = PICTURES[name], everything()
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(rich, accel=accel, environment="sky", program=name, device=device)
        traversal = LEVELS[renderer.prepared.structure.levels]
        yield _all_forms(renderer, make(traversal), accel, every=accel == "bvh")
        yield _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
    for mark, scene in (
        ("layers", everything(layers=True)),
        ("dispersion", everything(dispersion=1.0)),
        ("moving", moving()),
    ):
        renderer = Renderer(scene, environment="sky", program=name, device=device)
        yield _all_forms(renderer, renderer.program(), mark)
    renderer = Renderer(rich, environment="sky", background="1,1,1", ground="shadow", program=name, device=device)
    yield _all_forms(renderer, renderer.program(), "floor")
    if "kind" in make.parameters:
        renderer = Renderer(rich, accel="bvh", environment="sky", program=name, device=device)
        for kind, search, gather in product(MAPS, SEARCHES, (False, True)):
            program = make(LEVELS[renderer.prepared.structure.levels], kind=kind, search=search, gather=gather)
            yield _all_forms(renderer, program, f"{kind}, {search}{', final gather' if gather else ''}")


def _single(renderer: Renderer, program: Program, mark: str, counting: bool = False) -> Iterator[tuple[str, Source]]:
    """The one pass of the single-pass machine, and the program that counts its kernel calls."""
    linked = renderer.gpu_scene.bind(program, renderer.settings, False)
    step, form = linked.single(), Form(False, software=renderer.device.software_form)
    yield f"{program.name} single pass ({mark})", fragment(linked, step, form, renderer.gpu_scene.resources)
    for part in linked.count_parts(step) if counting else ():
        source = fragment(linked, step, replace(form, counts=part), renderer.gpu_scene.resources)
        yield f"{program.name} single pass ({mark}, counts {part[0]} to {part[-1]})", source


def _all_forms(renderer: Renderer, program: Program, mark: str, every: bool = False) -> Iterator[tuple[str, Source]]:
    """The passes of both machines and all fusions; with ``every`` those that count, and those without a mask, too."""
    yield from _single(renderer, program, mark, counting=every)
    for fuse in ("none", *program.groups):
        linked = renderer.gpu_scene.bind(program, renderer.settings, fuse == "none")
        steps = linked.steps(fuse, renderer.device.software_form)
        for step in steps:
            for discards in (False, True) if every else (False,):
                marks = [mark, *(["without mask"] if discards else [])]
                form = Form(True, discards, software=renderer.device.software_form)
                name = f"{program.name} {fuse}/{step.name} ({', '.join(marks)}"
                yield f"{name})", fragment(linked, step, form, renderer.gpu_scene.resources)
                yield f"{name}, copied back)", copy_source(linked, step, form)
                for part in linked.count_parts(step) if every else ():
                    source = fragment(linked, step, replace(form, counts=part), renderer.gpu_scene.resources)
                    yield f"{name}, counts {part[0]} to {part[-1]})", source
        for name, source in stream_sources(linked, steps):
            yield f"{program.name} {fuse}: {name}", source
        for index, source in enumerate(census_sources(linked, steps, EDGE)):
            yield f"{program.name} {fuse}: census {index}", source
