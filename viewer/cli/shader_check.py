"""``raystream check-shaders``: assembles and compiles the programs of every machine and fusion and of all that is drawn
beside them; where it is installed, glslangValidator validates each."""

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

from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import grid
from raystream.accel.primitives import TESTS
from raystream.accel.two_level.top import TOPS
from raystream.base import paths
from raystream.base.errors import ShaderError
from raystream.cameras.lens import KINDS as CAMERAS
from raystream.denoise.reconstruction import reconstruction_sources
from raystream.denoise.upsampling import upsampling_sources
from raystream.film.device_film import error_source, half_source, pixels_source
from raystream.kernels.photons import MAPS, SEARCHES
from raystream.options.table import OPTIONS
from raystream.photons.grid import FEEDBACK_OUTPUTS, compaction_sources, routed_sources, routing_sources, sort_sources
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
from raystream.renderer.device.deformer import deform_sources
from raystream.renderer.device.first_hits import raster_sources
from raystream.renderer.device.grid_build import grid_sources
from raystream.renderer.preview import gbuffer
from raystream.renderer.preview.gbuffer import gbuffer_sources
from raystream.renderer.preview.motion import posed_motion_sources
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.exposure import moving_camera
from raystream.scene.geometry.normals import with_normals
from raystream.scene.light import KINDS as LIGHTS
from raystream.scene.light import Light
from raystream.scene.material import KINDS, TEXTURE_FIELDS, ClassicMaterial, ClassicTexture, Material
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import MAX_ATTACHMENTS
from raystream.stream.compile.memories import tables_of
from raystream.stream.compile.source import Source
from raystream.stream.declare.program import Program
from raystream.stream.gl.device import EXACT, WITHOUT_PRECISE, Device, probe_sources, shared_device
from raystream.stream.gl.draw import tiles_source
from raystream.stream.gl.passes import interleaved_records_source, pass_sources, record_rows_source
from raystream.stream.gl.resources import FORMS, Resources
from raystream.stream.gl.resources import copy_source as rectangle_source
from raystream.stream.machines.common import TILE_EDGE, selection_source
from raystream.stream.machines.mask import census_sources, stream_sources
from raystream.stream.machines.multipass import copy_source, snapshot_source
from raystream.stream.raster import raster_source
from raystream.stream.selftest import machines as self_test
from raystream.stream.selftest.fallbacks import trust
from raystream.viewport.debug_views.photons import point_sources, wire_sources
from raystream.viewport.picture_texture import running_source

VALIDATOR = "glslangValidator"
_EXTENSION = re.compile(r"^#extension (\w+) : require$", re.MULTILINE)


def check_shaders(
    report: Callable[[str], None] = print,
    device: Device | None = None,
    program: str | None = None,
    progress: Callable[[float | None, str], None] | None = None,
) -> int:
    """Check all shaders, or those of one ``program`` of pictures; returns the number of failures.

    report : gets a line for each program, and one for each file that is in none. progress : called with the share that
    is done and a text.
    """
    device = device or shared_device()
    trust(device)
    with device.current():
        all_jobs = jobs(device) if program is None else jobs_of(program, device)
        check = _Check(device, report)
        for index, job in enumerate(all_jobs):
            for name, stages in job:
                if progress is not None:
                    progress(index / len(all_jobs), f"shader {check.checked + 1}, {name}")
                check.add(name, stages)
    return check.end(whole=program is None)


class _Check:
    """Programs that are checked one after the other, each once."""

    def __init__(self, device: Device, report: Callable[[str], None]) -> None:
        self.device, self.report, self._validator = device, report, shutil.which(VALIDATOR)
        self.checked = self.failures = self.left_out = 0
        self._checked_texts: set[tuple[str, ...]] = set()
        self._validated: set[str] = set()
        self._files: set[str] = set()

    def add(self, name: str, stages: Stages) -> None:
        """Compile and validate a program, unless one of the same texts has been."""
        texts = tuple(source.text for source in stages.values())
        if texts in self._checked_texts:
            return
        self._checked_texts.add(texts)
        self.checked += 1
        self._files.update(*(source.files for source in stages.values()))
        if missing := _missing_extension(self.device, stages):
            self.left_out += 1
            self.report(f"{name}: left out, needs {missing}, which this driver has not")
            return
        try:
            _compile(self.device, stages)
            for stage, source in stages.items() if self._validator else ():
                if source.text not in self._validated:
                    self._validated.add(source.text)
                    _validate(str(self._validator), stage, source)
        except ShaderError as error:
            self.failures += 1
            self.report(f"{name}: {error}")
            for line in error.log.splitlines():
                self.report(f"    {line}")
        else:
            self.report(f"{name}: ok, {sum(len(source.lines) for source in stages.values())} lines")

    def end(self, whole: bool) -> int:
        """Report the sums, and for a ``whole`` check the files that are in no program; returns the number of
        failures."""
        files = (str(file.relative_to(paths.shaders())) for file in Path(paths.shaders()).rglob("*.glsl"))
        for file in sorted(set(files) - self._files) if whole else ():
            self.report(f"{file}: in no program")
        checks = f"compiled by {self.device.name}"
        absent = f" ({VALIDATOR} is not installed, so not validated by it)"
        checks += f" and validated by {VALIDATOR}" if self._validator else absent
        left_out = f", {self.left_out} left out" if self.left_out else ""
        self.report(f"{self.checked - self.left_out} programs {checks}, {self.failures} failed{left_out}")
        return self.failures


def _missing_extension(device: Device, stages: Stages) -> str:
    """The first extension that a program requires and the driver has not; machines then go another way."""
    required = (name for source in stages.values() for name in _EXTENSION.findall(source.text))
    return next((name for name in required if name not in device.extensions), "")


def _compile(device: Device, stages: Stages) -> None:
    """Raises ShaderError with the driver's log."""
    if "geom" in stages:
        device.feedback_program(stages["vert"], stages["geom"], FEEDBACK_OUTPUTS).release()
    else:
        device.program(stages["vert"], stages["frag"]).release()


def _validate(validator: str, stage: str, source: Source) -> None:
    """Raises ShaderError with the validator's log. stage : vert, geom or frag."""
    if EXACT in source.files:  # it has GL_ARB_gpu_shader5, but no `precise` before GLSL 4.00
        source = source.defining(WITHOUT_PRECISE)
    done = subprocess.run(
        [validator, "--stdin", "-S", stage], input=source.text, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        log = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("stdin"))
        raise source.error(VALIDATOR, log)


# -- passes, in jobs: those of the machines, and those beside them -----------------------------------------------------

Stages = dict[str, Source]  # of a program, by stage: vert, frag, geom
Sources = Iterator[tuple[str, Source]]  # fragment programs by name
Job = Iterator[tuple[str, Stages]]  # programs by name, assembled as they are looked at


def jobs(device: Device) -> list[Job]:
    """Programs in which every module, kernel and form occurs, though not in every combination. The device's context
    must be current."""
    plain = (*machine_jobs(device), _drawn_over_streams(), _deforming(device), _self_test(device))
    return [*map(_over_tiles, plain), _draws(device)]


def jobs_of(name: str, device: Device) -> list[Job]:
    """The checks of one program of pictures, by its name."""
    return [*map(_over_tiles, machine_jobs_of(name, device))]


def _over_tiles(sources: Sources) -> Job:
    """Fragment programs with the vertex program of tiles."""
    return ((name, _tiled(source)) for name, source in sources)


def _tiled(source: Source) -> Stages:
    return {"vert": tiles_source(), "frag": source}


def _draws(device: Device) -> Job:
    """Programs that draw triangles, points and lines."""
    triangle, samplers = Scene.from_triangles(*TRIANGLE), OPTIONS["sampler"].value.choices
    for test in TESTS:
        renderer = Renderer(triangle, intersection=test, device=device)
        for sampler in samplers if test == "watertight" else samplers[:1]:
            stages = raster_sources(renderer.prepared, renderer.gpu_scene.resources, sampler)
            yield f"first hits drawn ({test}, {sampler})", _drawn(stages)
    vertex = raster_source("visible_vertex")
    yield "visibility buffer", _drawn((vertex, raster_source("visible_fragment")))
    yield "first picture", _drawn([raster_source(f"headlight_{stage}") for stage in ("vertex", "fragment")])
    rich = replace(everything(layers=True), materials=[layered()], instances=[Instance(0, material=0)])
    for label, scene in (("triangle", triangle), ("opacity", rich), ("quadric", with_quadric(triangle))):
        for accel in ("bvh", "two-level-bvh"):
            renderer = Renderer(scene, accel=accel, environment="sky", device=device)
            sources = gbuffer_sources(renderer.prepared, renderer.gpu_scene.resources)
            yield f"G-buffer ({label}, {accel})", _tiled(sources["gbuffer"])
            if "tested" in sources:
                yield f"visibility buffer, tested ({label}, {accel})", _drawn((vertex, sources["tested"]))
    for name, stages in routed_sources():
        yield f"photon map: {name}", _drawn(stages)
    yield "photon map: compaction", dict(zip(("vert", "geom"), compaction_sources(), strict=True))
    yield "window: photons", _drawn(point_sources())
    yield "window: cells of photons", _drawn(wire_sources())
    yield "device: array stores", _drawn(probe_sources())


def _drawn(stages: Sequence[Source]) -> Stages:
    """The sources of a vertex and a fragment program."""
    return dict(zip(("vert", "frag"), stages, strict=True))


def _drawn_over_streams() -> Sources:
    """Fragment programs that are drawn over streams, but are no kernels."""
    yield "first picture: background", raster_source("headlight_background")
    for name, source in (*sort_sources(), *routing_sources()):
        yield f"photon map: {name}", source
    for name, source in grid_sources():
        yield f"grid on the device: {name}", source
    for form in FORMS:
        for texels in (1, MAX_ATTACHMENTS):
            yield f"copy: {form}, {texels} textures", rectangle_source(form, texels)
    yield "copy: states", snapshot_source()
    yield "choice of rays", selection_source()
    yield "film: error", error_source()
    yield "film: half", half_source()
    yield "film: pixels", pixels_source()
    for name, source in reconstruction_sources():
        yield f"denoiser: {name}", source
    for name, source in upsampling_sources():
        yield f"upsampling: {name}", source
    for name, source in pass_sources("raster", gbuffer.PASSES):
        yield f"G-buffer: {name}", source
    for name in ("place", "resize"):
        yield f"window: {name}", Source.of_file(f"film/{name}.glsl")
    for smooth_up in (0, 1):
        yield f"window: show, smooth_up = {smooth_up}", Source.of_file("film/show.glsl", smooth_up=smooth_up)
    yield "window: running estimate", running_source()


def _deforming(device: Device) -> Sources:
    """The passes over a mesh with all that deforms, and those that bring records together."""
    plain = Scene.from_triangles(*TRIANGLE)
    rest_mesh = replace(
        with_normals(plain.meshes[0]),
        tangents=np.ones((3, 4), np.float32),
        colors=np.ones((3, 4), np.float32),
        materials=np.zeros(1, np.int32),
    )
    target = MorphTarget(np.ones((3, 3), np.float32), colors=np.ones((3, 4), np.float32))
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32)
    deformation = Deformation(joints, weights, (target,), faceted=True)
    mesh = DeformedMesh(rest_mesh, deformation, MeshPose(np.eye(4)[None], np.ones(1)))
    image = Image(np.full((2, 2, 4), 128, np.uint8))
    scene = replace(plain, meshes=[mesh], materials=[layered()], textures=[Texture(image)])
    renderer = Renderer(scene, device=device)
    tables = tables_of([*renderer.prepared.modules(False), *renderer.prepared.modules(True)])
    deforming = renderer.prepared.structure.deforming
    assert deforming is not None
    for name, source in deform_sources(deforming, tables, renderer.gpu_scene.resources):
        yield f"deform: {name}", source
    for name, source in posed_motion_sources(renderer.prepared, renderer.gpu_scene.resources):
        yield f"posed motion: {name}", source
    for texels in (1, MAX_ATTACHMENTS):
        yield f"rows of {texels} texels", record_rows_source(texels)
        yield f"interleaved rows of {texels} texels", interleaved_records_source(texels)


def _self_test(device: Device) -> Sources:
    """The machines' self-test, by its passes."""
    linked, resources = self_test.linked(), Resources(device)
    single, several = (Form(scheduled, software=device.software_form) for scheduled in (False, True))
    yield "self-test single pass", fragment(linked, linked.single(), single, resources)
    for fuse in self_test.FUSIONS:
        for step in linked.steps(fuse, device.software_form):
            yield f"self-test {fuse}/{step.name}", fragment(linked, step, several, resources)


# -- fragment programs of the machines, for every structure, program, fusion and form of a scene -----------------------

Jobs = Iterator[Sources]  # each of which is assembled as it is looked at

# Every module of structures and triangle tests is in one of these.
RECIPES: tuple[dict[str, Any], ...] = (
    *({"accel": "bvh", "intersection": test} for test in TESTS),
    *({"accel": "bvh", "traversal": traversal} for traversal in bvh.TRAVERSALS),
    {"accel": "none"},
    {"accel": "octree"},
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


def machine_jobs(device: Device) -> Jobs:
    """The machines' fragment programs, in jobs: all structures under the ray caster, all programs over a scene with
    everything, all that can be exchanged there."""
    plain = Scene.from_triangles(*TRIANGLE)
    for index, recipe in enumerate(RECIPES):
        renderer = Renderer(plain, program="cast", device=device, **recipe)
        traversal, label = LEVELS[renderer.prepared.structure.levels], " ".join(recipe.values())
        for program in (PICTURES["cast"](traversal), trace(traversal)):
            yield _all_forms(renderer, program, label, exhaustive=index == 0)
        if renderer.prepared.structure.tests_box:
            yield _all_forms(renderer, PICTURES["cast"](IN_BOX), f"{label}, box")
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
            yield _all_forms(renderer, make(traversal), accel, exhaustive=accel == "bvh")
            yield _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
        for kind, search in product(MAPS, SEARCHES):
            label = f"{accel}, {kind}, {search}"
            yield _all_forms(renderer, PICTURES["photon"](traversal, kind=kind, search=search), label)
            program = PICTURES["photon"](traversal, kind=kind, search=search, gather=True)
            yield _all_forms(renderer, program, f"{label}, final gather")
        yield _all_forms(renderer, photon_frame(traversal), accel)
        beside = (eye_hits(traversal), feature_buffers(traversal), light_layers(traversal), photon_emission())
        for program in (*beside, visibility(traversal)):
            yield _all_forms(renderer, program, accel, exhaustive=accel == "bvh")
        yield from _backdrops(rich, accel, device)
    renderer = Renderer(everything(dispersion=1.0), accel="bvh", environment="sky", device=device)
    traversal = LEVELS[renderer.prepared.structure.levels]
    for make in PICTURES.values():
        if "dispersion" in make.parameters:
            yield _all_forms(renderer, make(traversal, dispersion=True), "dispersion")
    yield _all_forms(renderer, light_layers(traversal, dispersion=True), "dispersion")
    gathering = PICTURES["photon"](traversal, gather=True, dispersion=True)
    yield _all_forms(renderer, gathering, "dispersion, final gather")
    yield _all_forms(renderer, photon_frame(traversal, dispersion=True), "dispersion")
    yield from _layered(device)
    yield from _moving(device)
    yield from _projections(device)
    for sampler in OPTIONS["sampler"].value.choices:
        for environment in ("none", "sky"):
            renderer = Renderer(rich, sampler=sampler, environment=environment, device=device)
            label = f"sampler {sampler}, environment {environment}"
            yield _single(renderer, renderer.program(), label)


def _backdrops(scene: Scene, accel: str, device: Device) -> Jobs:
    """Programs before backdrops, and over a floor."""
    for background in ("1,1,1", "blur=20", "environment"):
        renderer = Renderer(
            scene, accel=accel, environment="sky", background=background, ground="shadow", device=device
        )
        traversal, label = LEVELS[renderer.prepared.structure.levels], f"{accel}, {background}"
        for kind in ("plain", "floor"):
            traced = light_layers(traversal, backdrop=kind, traced=True)
            for program in (backdrop_weight(traversal, kind), feature_buffers(traversal, kind), traced):
                yield _single(renderer, program, f"{label}, {kind}")
            yield _all_forms(renderer, light_layers(traversal, backdrop=kind), f"{label}, {kind}")
        for make in PICTURES.values():
            if "backdrop" in make.parameters:
                yield _all_forms(renderer, make(traversal, backdrop="floor"), label)


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
    for label, chosen in (("alone", rich.materials[-3]), ("factors", factors), ("unlit", Material(**UNLIT))):
        scene = replace(rich, materials=[chosen], instances=[Instance(0, material=0)])
        renderer = Renderer(scene, accel="two-level-bvh", environment="sky", device=device, program="path")
        yield _all_forms(renderer, renderer.program(), f"layers {label}")
    # Where gathering rays go the way of all others, volumes nested and not.
    single_object = replace(rich, materials=[rich.materials[-3]], instances=[Instance(0, material=0)])
    for label, scene in (("with others", rich), ("alone", single_object)):
        single: dict[str, Any] = {"program": "photon", "final_gather": 1, "machine": "singlepass"}
        renderer = Renderer(scene, accel="bvh", environment="sky", device=device, **single)
        yield _single(renderer, renderer.program(), f"layers {label}, final gather")


def _moving(device: Device) -> Jobs:
    """Programs of scenes that move while the shutter is open."""
    for accel, test in (("two-level-bvh", "watertight"), ("two-level-bvh", "moller-trumbore"), ("bvh", "watertight")):
        scene = moving(quadrics=accel != "bvh")
        renderer = Renderer(scene, accel=accel, intersection=test, environment="sky", device=device)
        traversal, label = LEVELS[renderer.prepared.structure.levels], f"moving, {accel}, {test}"
        other_programs = feature_buffers(traversal), photon_emission(), photon_frame(traversal), trace(traversal)
        for program in (
            *(make(traversal, **make.arguments(moving=True)) for make in PICTURES.values()),
            *other_programs,
        ):
            yield _single(renderer, program, label)
            if accel != "bvh" and test == "watertight" and program.name == "whitted":
                yield _all_forms(renderer, program, label)


def _projections(device: Device) -> Jobs:
    """Cameras of every projection, standing still and moving while the shutter is open."""
    scene = replace(Scene.from_triangles(*TRIANGLE), materials=[Material(texture=0)])
    scene.textures = [Texture(Image(np.full((4, 4, 4), 128, np.uint8)))]
    for kind, camera in CAMERAS.items():
        for label, variant in (("", camera), (", moving", moving_camera([camera, replace(camera, fov=50.0)]))):
            renderer = Renderer(scene, camera=variant, environment="sky", device=device)
            traversal = LEVELS[renderer.prepared.structure.levels]
            for program in (renderer.program(), feature_buffers(traversal), eye_hits(traversal)):
                yield _single(renderer, program, f"{kind}{label}")
            cast = Renderer(scene, camera=variant, environment="sky", program="cast", device=device)
            yield _single(cast, cast.program(), f"{kind}{label}")


def machine_jobs_of(name: str, device: Device) -> Jobs:
    """Those of one program of pictures, over scenes with everything that it can tell apart."""
    make, rich = PICTURES[name], everything()
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(rich, accel=accel, environment="sky", program=name, device=device)
        traversal = LEVELS[renderer.prepared.structure.levels]
        yield _all_forms(renderer, make(traversal), accel, exhaustive=accel == "bvh")
        yield _single(renderer, make(traversal, first_hits="raster"), f"{accel} raster")
    for label, scene in (
        ("layers", everything(layers=True)),
        ("dispersion", everything(dispersion=1.0)),
        ("moving", moving()),
    ):
        renderer = Renderer(scene, environment="sky", program=name, device=device)
        yield _all_forms(renderer, renderer.program(), label)
    renderer = Renderer(rich, environment="sky", background="1,1,1", ground="shadow", program=name, device=device)
    yield _all_forms(renderer, renderer.program(), "floor")
    if "kind" in make.parameters:
        renderer = Renderer(rich, accel="bvh", environment="sky", program=name, device=device)
        for kind, search, gather in product(MAPS, SEARCHES, (False, True)):
            program = make(LEVELS[renderer.prepared.structure.levels], kind=kind, search=search, gather=gather)
            yield _all_forms(renderer, program, f"{kind}, {search}{', final gather' if gather else ''}")


def _single(renderer: Renderer, program: Program, label: str, counting: bool = False) -> Sources:
    """The one pass of the single-pass machine, and the program that counts its kernel calls."""
    linked = renderer.gpu_scene.bind(program, renderer.settings, False)
    step, form = linked.single(), Form(False, software=renderer.device.software_form)
    yield f"{program.name} single pass ({label})", fragment(linked, step, form, renderer.gpu_scene.resources)
    for counts in linked.count_parts(step) if counting else ():
        source = fragment(linked, step, replace(form, counts=counts), renderer.gpu_scene.resources)
        yield f"{program.name} single pass ({label}, counts {counts[0]} to {counts[-1]})", source


def _all_forms(renderer: Renderer, program: Program, label: str, exhaustive: bool = False) -> Sources:
    """The passes of both machines and all fusions; exhaustive : also those that count, and those without a mask."""
    yield from _single(renderer, program, label, counting=exhaustive)
    for fuse in ("none", *program.groups):
        linked = renderer.gpu_scene.bind(program, renderer.settings, fuse == "none")
        steps = linked.steps(fuse, renderer.device.software_form)
        for step in steps:
            for discards in (False, True) if exhaustive else (False,):
                labels = [label, *(["without mask"] if discards else [])]
                form = Form(True, discards, software=renderer.device.software_form)
                name = f"{program.name} {fuse}/{step.name} ({', '.join(labels)}"
                yield f"{name})", fragment(linked, step, form, renderer.gpu_scene.resources)
                yield f"{name}, copied back)", copy_source(linked, step, form)
                for counts in linked.count_parts(step) if exhaustive else ():
                    source = fragment(linked, step, replace(form, counts=counts), renderer.gpu_scene.resources)
                    yield f"{name}, counts {counts[0]} to {counts[-1]})", source
        for name, source in stream_sources(linked, steps):
            yield f"{program.name} {fuse}: {name}", source
        for index, source in enumerate(census_sources(linked, steps, TILE_EDGE)):
            yield f"{program.name} {fuse}: census {index}", source


# -- scenes that shaders are assembled for: every kind of surface, light and motion, on a triangle ---------------------

UNLIT: dict[str, Any] = {"kind": "principled", "unlit": True}
TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def moving(quadrics: bool = False) -> Scene:
    """A scene with `everything` in motion: instances, a mesh, lights and the camera; quadrics : a ball, too."""
    scene = everything(layers=True)
    motion = np.stack([np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0])])
    rest_mesh = with_normals(scene.meshes[0])
    rest_mesh.tangents = np.tile(np.array([1, 0, 0, 1], np.float32), (3, 1))
    leaning = np.eye(4)
    leaning[1, 0] = 1.0
    poses = MeshPose(joints=np.eye(4)[None]), MeshPose(joints=leaning[None])
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32)
    bending = DeformedMesh(rest_mesh, Deformation(joints, weights), poses[0], poses)
    scene.meshes = [rest_mesh, bending, *([Quadric.sphere()] if quadrics else [])]
    scene.instances = [replace(instance, motion=motion) for instance in scene.instances]
    scene.instances += [Instance(index, material=0, motion=motion) for index in range(1, len(scene.meshes))]
    scene.lights = [replace(light, motion=(light, replace(light, position=(1, 0, 0)))) for light in scene.lights]
    scene.cameras = [moving_camera([Camera((0, 0, z), (0, 0, 0)) for z in (4.0, 5.0)])]
    return scene


def everything(dispersion: float = 0.0, layers: bool = False) -> Scene:
    """A scene with every kind of surface and of light, and textures; its glass has that ``dispersion``. layers :
    of glTF's materials, too, with a second set of texture coordinates."""
    scene = Scene.from_triangles(*TRIANGLE)
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
    scene.instances = [Instance(0, material=index) for index in range(len(scene.materials))]
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


def with_quadric(scene: Scene) -> Scene:
    """The scene's mesh and a ball, both of which shine."""
    return Scene([*scene.meshes, Quadric.sphere()], [Instance(0), Instance(1)], [Material("lamp", emission=(1, 1, 1))])
