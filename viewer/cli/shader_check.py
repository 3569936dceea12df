"""Assembles the programs of every machine and fusion, and of all that is drawn beside; compiles and, where it is
installed, validates each with glslangValidator."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from viewer.accel.bvh import tree as bvh
from viewer.accel.grid import grid
from viewer.accel.triangles import TESTS
from viewer.accel.two_level.top import TOPS
from viewer.base import paths
from viewer.base.errors import ShaderError
from viewer.cameras.projected import KINDS as CAMERAS
from viewer.denoise.filter import wavelet_sources
from viewer.denoise.irradiance_cache import cache_point_sources
from viewer.denoise.regression import regression_sources
from viewer.denoise.upsampling import upsampling_sources
from viewer.film.device_film import pixels_source
from viewer.film.error.film_error import error_source, half_source
from viewer.kernels.photons import MAPS, SEARCHES
from viewer.options.table import OPTIONS
from viewer.photons.keep import OUTPUTS, keep_sources
from viewer.photons.routing import routed_sources, routing_sources
from viewer.photons.sort import sort_sources
from viewer.programs import (
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
from viewer.renderer.device.deform_passes import deform_sources
from viewer.renderer.device.grid_build import grid_sources
from viewer.renderer.device.rasterized import raster_sources
from viewer.renderer.preview.gbuffer_raster import gbuffer_sources
from viewer.renderer.preview.posed_motion import posed_motion_sources
from viewer.renderer.preview.presenter import presenter_sources
from viewer.renderer.renderer import Renderer
from viewer.scene.camera import Camera
from viewer.scene.classic import ClassicMaterial, ClassicTexture
from viewer.scene.deform.deformation import Deformation, MeshPose, MorphTarget
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.exposure.exposure import moving_camera
from viewer.scene.geometry.normals import with_normals
from viewer.scene.light import KINDS as LIGHTS
from viewer.scene.light import Light
from viewer.scene.material import KINDS, TEXTURE_FIELDS, Material
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Image, Texture
from viewer.stream.compile.form import Form
from viewer.stream.compile.generate import fragment
from viewer.stream.compile.link import MOST_ATTACHMENTS
from viewer.stream.compile.memories import tables_of
from viewer.stream.compile.source import Source
from viewer.stream.declare.program import Program
from viewer.stream.gl.copy import FORMS
from viewer.stream.gl.copy import copy_source as rectangle_source
from viewer.stream.gl.device import Device, shared_device
from viewer.stream.gl.draw import tiles_source
from viewer.stream.gl.probe import probe_sources
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.rows import interleaved_source, rows_source
from viewer.stream.machines.choice import choice_source
from viewer.stream.machines.copies import copy_source, snapshot_source
from viewer.stream.machines.count import census_sources
from viewer.stream.machines.mask import stream_sources
from viewer.stream.machines.options import EDGE
from viewer.stream.raster.visible import raster_source
from viewer.stream.selftest import program as self_test
from viewer.stream.selftest.ways import trust
from viewer.viewport.display.photons import point_sources, wire_sources
from viewer.viewport.display.picture_texture import film_source, running_source

Parts = dict[str, Source]  # of a program, by stage: vert, frag, geom

VALIDATOR = "glslangValidator"
_EXTENSION = re.compile(r"^#extension (\w+) : require$", re.MULTILINE)
# Every module of structures and triangle tests is in one of these.
_RECIPES: tuple[dict[str, Any], ...] = (
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
UNLIT: dict[str, Any] = {"kind": "principled", "unlit": True}
_TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def check_shaders(report: Callable[[str], None] = print, device: Device | None = None) -> int:
    """Check all shaders; ``report`` gets a line for each program, and one for each file that is in none. Returns the
    number of failures."""
    device = device or shared_device()
    trust(device)
    with device.current():
        return _check(report, device)


def _check(report: Callable[[str], None], device: Device) -> int:
    validator = shutil.which(VALIDATOR)
    failures = checked = left_out = 0
    seen: set[tuple[str, ...]] = set()
    validated: set[str] = set()
    unused = {str(file.relative_to(paths.shaders())) for file in Path(paths.shaders()).rglob("*.glsl")}
    for name, parts in programs(device):
        texts = tuple(source.text for source in parts.values())
        if texts in seen:
            continue
        seen.add(texts)
        checked += 1
        unused.difference_update(*(source.files for source in parts.values()))
        if missing := _missing(device, parts):
            left_out += 1
            report(f"{name}: left out, needs {missing}, which this driver has not")
            continue
        try:
            _compile(device, parts)
            for stage, source in parts.items() if validator else ():
                if source.text not in validated:
                    validated.add(source.text)
                    _validate(str(validator), stage, source)
        except ShaderError as error:
            failures += 1
            report(f"{name}: {error}")
            for line in error.log.splitlines():
                report(f"    {line}")
        else:
            report(f"{name}: ok, {sum(len(source.lines) for source in parts.values())} lines")
    for file in sorted(unused):
        report(f"{file}: in no program")
    how = f"compiled by {device.name}"
    how += f" and validated by {VALIDATOR}" if validator else f" ({VALIDATOR} is not installed, so not validated by it)"
    report(f"{checked - left_out} programs {how}, {failures} failed{f', {left_out} left out' if left_out else ''}")
    return failures


def _missing(device: Device, parts: Parts) -> str:
    """The first extension that a program requires and the driver has not; machines then go another way."""
    required = (name for source in parts.values() for name in _EXTENSION.findall(source.text))
    return next((name for name in required if name not in device.extensions), "")


def _compile(device: Device, parts: Parts) -> None:
    """Raises ShaderError with what the driver says."""
    if "geom" in parts:
        device.feedback_program(parts["vert"], parts["geom"], OUTPUTS).release()
    else:
        device.program(parts["vert"], parts["frag"]).release()


def programs(device: Device) -> Iterator[tuple[str, Parts]]:
    """Name and sources by stage (vert, frag, geom) of programs in which every module, kernel and form occurs, though
    not in every company. The device's context must be current."""
    tiles = tiles_source()
    for name, source in _sources(device):
        yield name, {"vert": tiles, "frag": source}
    for name, source in (*_drawn_over_streams(), *_deforming(device), *_self_test(device)):
        yield name, {"vert": tiles, "frag": source}
    triangle, samplers = Scene.from_triangles(*_TRIANGLE), OPTIONS["sampler"].choices
    for test in TESTS:
        renderer = Renderer(triangle, intersection=test, device=device)
        for sampler in samplers if test == "watertight" else samplers[:1]:
            parts = raster_sources(renderer.prepared, renderer.resources, sampler)
            yield f"first hits drawn ({test}, {sampler})", _drawn(parts)
    vertex = raster_source("visible_vertex")
    yield "visibility buffer", _drawn((vertex, raster_source("visible_fragment")))
    yield "first picture", _drawn([raster_source(f"headlight_{stage}") for stage in ("vertex", "fragment")])
    rich = replace(everything(layers=True), materials=[layered()], instances=[Instance(0, material=0)])
    for mark, scene in (("triangle", triangle), ("opacity", rich), ("quadric", _with_quadric(triangle))):
        for accel in ("bvh", "two-level-bvh"):
            renderer = Renderer(scene, accel=accel, environment="sky", device=device)
            sources = gbuffer_sources(renderer.prepared, renderer.resources)
            yield f"G-buffer ({mark}, {accel})", {"vert": tiles, "frag": sources["gbuffer"]}
            if "tested" in sources:
                yield f"visibility buffer, tested ({mark}, {accel})", _drawn((vertex, sources["tested"]))
    for name, parts in routed_sources():
        yield f"photon map: {name}", _drawn(parts)
    yield "denoiser: cache_add", _drawn(cache_point_sources())
    yield "photon map: keep", dict(zip(("vert", "geom"), keep_sources(), strict=True))
    yield "window: photons", _drawn(point_sources())
    yield "window: cells of photons", _drawn(wire_sources())
    yield "window: panels", _drawn((film_source("panel_vertex"), film_source("panel_fragment")))
    yield "device: array stores", _drawn(probe_sources())


def _with_quadric(scene: Scene) -> Scene:
    """The scene's mesh and a ball, both of which shine."""
    return Scene([*scene.meshes, Quadric.sphere()], [Instance(0), Instance(1)], [Material("lamp", emission=(1, 1, 1))])


def _drawn(parts: Sequence[Source]) -> Parts:
    """Of a vertex and a fragment program."""
    return dict(zip(("vert", "frag"), parts, strict=True))


def _drawn_over_streams() -> Iterator[tuple[str, Source]]:
    """Fragment programs that are no kernels'."""
    for name, source in (*sort_sources(), *routing_sources()):
        yield f"photon map: {name}", source
    for name, source in grid_sources():
        yield f"grid on the device: {name}", source
    for form in FORMS:
        for texels in (1, MOST_ATTACHMENTS):
            yield f"copy: {form}, {texels} textures", rectangle_source(form, texels)
    yield "copy: states", snapshot_source()
    yield "choice of rays", choice_source()
    yield "film: error", error_source()
    yield "film: half", half_source()
    yield "film: pixels", pixels_source()
    for name, source in wavelet_sources():
        yield f"denoiser: {name}", source
    for name, source in (*regression_sources(), *upsampling_sources(), *presenter_sources()):
        yield f"upsampling: {name}", source
    for name in ("place", "resize"):
        yield f"window: {name}", film_source(name)
    for number in (0, 1):
        yield f"window: show, smooth_up = {number}", film_source("show", smooth_up=number)
    yield "window: running estimate", running_source()


def _deforming(device: Device) -> Iterator[tuple[str, Source]]:
    """The passes over a mesh with all that deforms, and those that bring records together."""
    plain = Scene.from_triangles(*_TRIANGLE)
    rest = replace(
        with_normals(plain.meshes[0]),
        tangents=np.ones((3, 4), np.float32),
        colors=np.ones((3, 4), np.float32),
        materials=np.zeros(1, np.int32),
    )
    target = MorphTarget(np.ones((3, 3), np.float32), colors=np.ones((3, 4), np.float32))
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32)
    deformation = Deformation(joints, weights, (target,), faceted=True)
    mesh = DeformedMesh(rest, deformation, MeshPose(np.eye(4)[None], np.ones(1)))
    image = Image(np.full((2, 2, 4), 128, np.uint8))
    scene = replace(plain, meshes=[mesh], materials=[layered()], textures=[Texture(image)])
    renderer = Renderer(scene, device=device)
    tables = tables_of([*renderer.prepared.modules(False), *renderer.prepared.modules(True)])
    deforming = renderer.structure.deforming
    assert deforming is not None
    for name, source in deform_sources(deforming, tables, renderer.resources):
        yield f"deform: {name}", source
    for name, source in posed_motion_sources(renderer.prepared, renderer.resources):
        yield f"posed motion: {name}", source
    for texels in (1, MOST_ATTACHMENTS):
        yield f"rows of {texels} texels", rows_source(texels)
        yield f"interleaved rows of {texels} texels", interleaved_source(texels)


def _self_test(device: Device) -> Iterator[tuple[str, Source]]:
    """The machines' self-test, by its passes."""
    linked, resources = self_test.linked(), Resources(device)
    single, several = (Form(scheduled, software=device.software_form) for scheduled in (False, True))
    yield "self-test single pass", fragment(linked, linked.single(), single, resources)
    for fuse in self_test.FUSIONS:
        for step in linked.steps(fuse, device.software_form):
            yield f"self-test {fuse}/{step.name}", fragment(linked, step, several, resources)


def _sources(device: Device) -> Iterator[tuple[str, Source]]:
    """Name and source of the machines' fragment programs: all structures under the ray caster, all programs over a
    scene with everything, all that can be exchanged there."""
    plain = Scene.from_triangles(*_TRIANGLE)
    for number, recipe in enumerate(_RECIPES):
        renderer = Renderer(plain, program="cast", device=device, **recipe)
        traversal, mark = LEVELS[renderer.structure.levels], " ".join(recipe.values())
        for program in (PICTURES["cast"](traversal), trace(traversal)):
            yield from _all_forms(renderer, program, mark, every=number == 0)
    quadrics = _with_quadric(plain)
    for accel, test in (*(("bvh", test) for test in TESTS), ("two-level-bvh", "watertight")):
        renderer = Renderer(quadrics, accel=accel, intersection=test, program="whitted", device=device)
        for program in (renderer.program(), photon_emission(), photon_frame(LEVELS[renderer.structure.levels])):
            yield from _single(renderer, program, f"quadrics, {accel}, {test}")
    rich = everything()
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(rich, accel=accel, environment="sky", device=device)
        traversal = LEVELS[renderer.structure.levels]
        yield from _all_forms(renderer, PICTURES["cast"](traversal, layers=True), accel)
        for make in PICTURES.values():
            yield from _all_forms(renderer, make(traversal), accel, every=accel == "bvh")
            yield from _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
        for kind, search in product(MAPS, SEARCHES):
            mark = f"{accel}, {kind}, {search}"
            yield from _all_forms(renderer, PICTURES["photon"](traversal, kind=kind, search=search), mark)
            program = PICTURES["photon"](traversal, kind=kind, search=search, gather=True)
            yield from _all_forms(renderer, program, f"{mark}, final gather", every=False)
        yield from _all_forms(renderer, photon_frame(traversal), accel)
        beside = (eye_hits(traversal), feature_buffers(traversal), light_layers(traversal), photon_emission())
        for program in (*beside, visibility(traversal)):
            yield from _all_forms(renderer, program, accel, every=accel == "bvh")
        yield from _backdrops(rich, accel, device)
    renderer = Renderer(everything(dispersion=1.0), accel="bvh", environment="sky", device=device)
    traversal = LEVELS[renderer.structure.levels]
    for make in PICTURES.values():
        if "dispersion" in make.parameters:
            yield from _all_forms(renderer, make(traversal, dispersion=True), "dispersion")
    yield from _all_forms(renderer, light_layers(traversal, dispersion=True), "dispersion", every=False)
    gathering = PICTURES["photon"](traversal, gather=True, dispersion=True)
    yield from _all_forms(renderer, gathering, "dispersion, final gather", every=False)
    yield from _all_forms(renderer, photon_frame(traversal, dispersion=True), "dispersion")
    yield from _layered(device)
    yield from _moving(device)
    yield from _projections(device)
    for sampler in OPTIONS["sampler"].choices:
        for environment in ("none", "sky"):
            renderer = Renderer(rich, sampler=sampler, environment=environment, device=device)
            mark = f"sampler {sampler}, environment {environment}"
            yield from _single(renderer, renderer.program(), mark)


def _backdrops(scene: Scene, accel: str, device: Device) -> Iterator[tuple[str, Source]]:
    """Programs before backdrops, and over a floor."""
    for background in ("1,1,1", "blur=20", "environment"):
        renderer = Renderer(
            scene, accel=accel, environment="sky", background=background, ground="shadow", device=device
        )
        traversal, mark = LEVELS[renderer.structure.levels], f"{accel}, {background}"
        for kind in ("plain", "floor"):
            for program in (backdrop_weight(traversal, kind), feature_buffers(traversal, kind)):
                yield from _single(renderer, program, f"{mark}, {kind}")
        for make in PICTURES.values():
            if "backdrop" in make.parameters:
                yield from _all_forms(renderer, make(traversal, backdrop="floor"), mark, every=False)


def _layered(device: Device) -> Iterator[tuple[str, Source]]:
    """Programs over glTF's materials: beside the other kinds, alone, and with factors alone."""
    rich = everything(layers=True)
    for settings in LAYERED:
        renderer = Renderer(rich, accel="bvh", environment="sky", device=device, **settings)
        yield from _all_forms(renderer, renderer.program(), f"layers {' '.join(map(str, settings.values()))}")
    traversal = LEVELS[renderer.structure.levels]
    shown = renderer.prepared
    frame = photon_frame(traversal, shown.dispersive, shown.absorbing, shown.nested)
    yield from _all_forms(renderer, frame, "layers")
    yield from _all_forms(renderer, feature_buffers(traversal), "layers")
    light, _ = renderer.gpu_scene.light_layers(renderer.settings.replace(program="path"))
    yield from _all_forms(renderer, light, "layers")
    factors = replace(layered(), **dict.fromkeys(TEXTURE_FIELDS))  # type: ignore[arg-type]  # none
    for mark, chosen in (("alone", rich.materials[-3]), ("factors", factors), ("unlit", Material(**UNLIT))):
        scene = replace(rich, materials=[chosen], instances=[Instance(0, material=0)])
        renderer = Renderer(scene, accel="two-level-bvh", environment="sky", device=device, program="path")
        yield from _all_forms(renderer, renderer.program(), f"layers {mark}")
    # Where gathering rays go the way of all others, volumes nested and not.
    alone = replace(rich, materials=[rich.materials[-3]], instances=[Instance(0, material=0)])
    for mark, scene in (("with others", rich), ("alone", alone)):
        single: dict[str, Any] = {"program": "photon", "final_gather": 1, "machine": "singlepass"}
        renderer = Renderer(scene, accel="bvh", environment="sky", device=device, **single)
        yield from _single(renderer, renderer.program(), f"layers {mark}, final gather")


def _moving(device: Device) -> Iterator[tuple[str, Source]]:
    """Programs of scenes that move while the shutter is open."""
    for accel, test in (("two-level-bvh", "watertight"), ("two-level-bvh", "moller-trumbore"), ("bvh", "watertight")):
        scene = moving(quadrics=accel != "bvh")
        renderer = Renderer(scene, accel=accel, intersection=test, environment="sky", device=device)
        traversal, mark = LEVELS[renderer.structure.levels], f"moving, {accel}, {test}"
        others = feature_buffers(traversal), photon_emission(), photon_frame(traversal), trace(traversal)
        for program in (*(make(traversal, **make.arguments(moving=True)) for make in PICTURES.values()), *others):
            yield from _single(renderer, program, mark)
            if accel != "bvh" and test == "watertight" and program.name == "whitted":
                yield from _all_forms(renderer, program, mark, every=False)


def _projections(device: Device) -> Iterator[tuple[str, Source]]:
    """Cameras of every projection, standing still and moving while the shutter is open."""
    scene = replace(Scene.from_triangles(*_TRIANGLE), materials=[Material(texture=0)])
    scene.textures = [Texture(Image(np.full((4, 4, 4), 128, np.uint8)))]
    for kind, camera in CAMERAS.items():
        for mark, each in (("", camera), (", moving", moving_camera([camera, replace(camera, fov=50.0)]))):
            renderer = Renderer(scene, camera=each, environment="sky", device=device)
            traversal = LEVELS[renderer.structure.levels]
            for program in (renderer.program(), feature_buffers(traversal), eye_hits(traversal)):
                yield from _single(renderer, program, f"{kind}{mark}")
            renderer.update(program="cast")
            yield from _single(renderer, renderer.program(), f"{kind}{mark}")


def moving(quadrics: bool = False) -> Scene:
    """A scene with `everything` in motion: instances, a mesh, lights and the camera; quadrics : a ball, too."""
    scene = everything(layers=True)
    motion = np.stack([np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0])])
    rest = with_normals(scene.meshes[0])
    rest.tangents = np.tile(np.array([1, 0, 0, 1], np.float32), (3, 1))
    leaning = np.eye(4)
    leaning[1, 0] = 1.0
    poses = MeshPose(joints=np.eye(4)[None]), MeshPose(joints=leaning[None])
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32)
    bending = DeformedMesh(rest, Deformation(joints, weights), poses[0], poses)
    scene.meshes = [rest, bending, *([Quadric.sphere()] if quadrics else [])]
    scene.instances = [replace(each, motion=motion) for each in scene.instances]
    scene.instances += [Instance(number, material=0, motion=motion) for number in range(1, len(scene.meshes))]
    scene.lights = [replace(each, motion=(each, replace(each, position=(1, 0, 0)))) for each in scene.lights]
    scene.cameras = [moving_camera([Camera((0, 0, place), (0, 0, 0)) for place in (4.0, 5.0)])]
    return scene


def everything(dispersion: float = 0.0, layers: bool = False) -> Scene:
    """A scene with every kind of surface and of light, and textures; its glass has that ``dispersion``. layers :
    of glTF's materials, too, with a second set of texture coordinates."""
    scene = Scene.from_triangles(*_TRIANGLE)
    scene.meshes[0] = replace(scene.meshes[0], uvs=np.eye(3, 2, dtype=np.float32))
    scene.textures = [Texture(Image(np.full((2, 2, 4), 128, np.uint8)))]
    scene.materials = [Material(kind, kind=kind, texture=0, dispersion=dispersion) for kind in KINDS]
    sheet = ClassicMaterial(transmittance=0.5, thickness=1.0, textures=(ClassicTexture(0, "blend"),))
    scene.materials[KINDS["classic"]].classic = sheet
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
    step, form = linked.single(), Form(False, software=renderer.device.software_form)
    yield f"{program.name} single pass ({mark})", fragment(linked, step, form, renderer.resources)
    for part in linked.count_parts(step) if counting else ():
        source = fragment(linked, step, replace(form, counts=part), renderer.resources)
        yield f"{program.name} single pass ({mark}, counts {part[0]} to {part[-1]})", source


def _all_forms(renderer: Renderer, program: Program, mark: str, every: bool = False) -> Iterator[tuple[str, Source]]:
    """The passes of both machines and all fusions; with ``every`` those that count, and those without a mask, too."""
    yield from _single(renderer, program, mark, counting=every)
    for fuse in ("none", *program.groups):
        linked = renderer.bind(program, fuse == "none")
        steps = linked.steps(fuse, renderer.device.software_form)
        for step in steps:
            for discards in (False, True) if every else (False,):
                marks = [mark, *(["without mask"] if discards else [])]
                form = Form(True, discards, software=renderer.device.software_form)
                name = f"{program.name} {fuse}/{step.name} ({', '.join(marks)}"
                yield f"{name})", fragment(linked, step, form, renderer.resources)
                yield f"{name}, copied back)", copy_source(linked, step, form)
                for part in linked.count_parts(step) if every else ():
                    source = fragment(linked, step, replace(form, counts=part), renderer.resources)
                    yield f"{name}, counts {part[0]} to {part[-1]})", source
        for name, source in stream_sources(linked, steps):
            yield f"{program.name} {fuse}: {name}", source
        for number, source in enumerate(census_sources(linked, steps, EDGE)):
            yield f"{program.name} {fuse}: census {number}", source


def _validate(validator: str, stage: str, source: Source) -> None:
    """Raises ShaderError with what the validator says. stage : vert, geom or frag."""
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source.text, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        log = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("stdin"))
        raise source.error(VALIDATOR, log)
