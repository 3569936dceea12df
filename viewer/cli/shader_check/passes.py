"""All programs, in jobs: those of the machines, and those of passes beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from raystream.accel.primitives import TESTS
from raystream.cli.shader_check import machines
from raystream.cli.shader_check.scenes import TRIANGLE, everything, layered, with_quadric
from raystream.denoise.reconstruction import reconstruction_sources
from raystream.denoise.upsampling import upsampling_sources
from raystream.film.device_film import error_source, half_source, pixels_source
from raystream.options.table import OPTIONS
from raystream.photons.grid import compaction_sources, routed_sources, routing_sources, sort_sources
from raystream.renderer.device.deformer import deform_sources
from raystream.renderer.device.first_hits import raster_sources
from raystream.renderer.device.grid_build import grid_sources
from raystream.renderer.preview import gbuffer
from raystream.renderer.preview.gbuffer import gbuffer_sources
from raystream.renderer.preview.motion import posed_motion_sources
from raystream.renderer.renderer import Renderer
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.geometry.normals import with_normals
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import MOST_ATTACHMENTS
from raystream.stream.compile.memories import tables_of
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device, probe_sources
from raystream.stream.gl.draw import tiles_source
from raystream.stream.gl.passes import interleaved_source, pass_sources, rows_source
from raystream.stream.gl.resources import FORMS, Resources
from raystream.stream.gl.resources import copy_source as rectangle_source
from raystream.stream.machines.common import choice_source
from raystream.stream.machines.multipass import snapshot_source
from raystream.stream.raster import raster_source
from raystream.stream.selftest import machines as self_test
from raystream.viewport.debug_views.photons import point_sources, wire_sources
from raystream.viewport.picture_texture import film_source, running_source

Parts = dict[str, Source]  # of a program, by stage: vert, frag, geom
Job = Iterator[tuple[str, Parts]]  # programs by name, assembled as they are looked at


def jobs(device: Device) -> list[Job]:
    """Programs in which every module, kernel and form occurs, though not in every company. The device's context must be
    current."""
    plain = (*machines.jobs(device), _drawn_over_streams(), _deforming(device), _self_test(device))
    return [*map(_over_tiles, plain), _draws(device)]


def jobs_of(name: str, device: Device) -> list[Job]:
    """Those of one program of pictures."""
    return [*map(_over_tiles, machines.jobs_of(name, device))]


def _over_tiles(sources: machines.Sources) -> Job:
    """Fragment programs with the vertex program of tiles."""
    return ((name, _tiled(source)) for name, source in sources)


def _tiled(source: Source) -> Parts:
    return {"vert": tiles_source(), "frag": source}


def _draws(device: Device) -> Job:
    """Programs that draw triangles, points and lines."""
    triangle, samplers = Scene.from_triangles(*TRIANGLE), OPTIONS["sampler"].value.choices
    for test in TESTS:
        renderer = Renderer(triangle, intersection=test, device=device)
        for sampler in samplers if test == "watertight" else samplers[:1]:
            parts = raster_sources(renderer.prepared, renderer.gpu_scene.resources, sampler)
            yield f"first hits drawn ({test}, {sampler})", _drawn(parts)
    vertex = raster_source("visible_vertex")
    yield "visibility buffer", _drawn((vertex, raster_source("visible_fragment")))
    yield "first picture", _drawn([raster_source(f"headlight_{stage}") for stage in ("vertex", "fragment")])
    rich = replace(everything(layers=True), materials=[layered()], instances=[Instance(0, material=0)])
    for mark, scene in (("triangle", triangle), ("opacity", rich), ("quadric", with_quadric(triangle))):
        for accel in ("bvh", "two-level-bvh"):
            renderer = Renderer(scene, accel=accel, environment="sky", device=device)
            sources = gbuffer_sources(renderer.prepared, renderer.gpu_scene.resources)
            yield f"G-buffer ({mark}, {accel})", _tiled(sources["gbuffer"])
            if "tested" in sources:
                yield f"visibility buffer, tested ({mark}, {accel})", _drawn((vertex, sources["tested"]))
    for name, parts in routed_sources():
        yield f"photon map: {name}", _drawn(parts)
    yield "photon map: compaction", dict(zip(("vert", "geom"), compaction_sources(), strict=True))
    yield "window: photons", _drawn(point_sources())
    yield "window: cells of photons", _drawn(wire_sources())
    yield "window: panels", _drawn((film_source("panel_vertex"), film_source("panel_fragment")))
    yield "device: array stores", _drawn(probe_sources())


def _drawn(parts: Sequence[Source]) -> Parts:
    """Of a vertex and a fragment program."""
    return dict(zip(("vert", "frag"), parts, strict=True))


def _drawn_over_streams() -> Iterator[tuple[str, Source]]:
    """Fragment programs that are no kernels'."""
    yield "first picture: background", raster_source("headlight_background")
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
    for name, source in reconstruction_sources():
        yield f"denoiser: {name}", source
    for name, source in upsampling_sources():
        yield f"upsampling: {name}", source
    for name, source in pass_sources("raster", gbuffer.PASSES):
        yield f"G-buffer: {name}", source
    for name in ("place", "resize"):
        yield f"window: {name}", film_source(name)
    for smooth_up in (0, 1):
        yield f"window: show, smooth_up = {smooth_up}", film_source("show", smooth_up=smooth_up)
    yield "window: running estimate", running_source()


def _deforming(device: Device) -> Iterator[tuple[str, Source]]:
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
