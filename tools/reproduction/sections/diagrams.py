"""Diagrams of the papers, from the programs' own tables and records."""

from __future__ import annotations

from raystream.base.paths import shaders
from raystream.cli.graph import drawings, graph

from ..context import Context
from ..drawings import by_hand, draw_pass, draw_records, draw_scene_memory, draw_stages, figures
from ..report import Figure, Listing, Parts, captioned, faults, section, told

WITHOUT = "Drawn with a structure over the scene; the paper has none, nor has preset 2003 in its scenes (--accel none)."
DRAWN_FROM = "Made from the program's table: raystream graph {} -o {}.svg."


def _program(name: str, title: str, more: str = "") -> Figure:
    caption = drawings()[name][1]
    note = f"{caption[0].upper()}{caption[1:]}. {DRAWN_FROM.format(name, name)} {more}".strip()
    return Figure(title, svg=graph(name), note=note, alt=f"the states of program {name} and the arrows between them")


def listing(title: str, name: str, note: str = "") -> Listing:
    """A shader's source, with its file's name."""
    text = (shaders() / name).read_text(encoding="utf-8").strip()
    return Listing(title, text, f"shaders/{name}. {note}".strip())


@section(
    "kernel_streams", paper="D 2.1, D 2.2, D 2.3, P2 2.1", title="Rays, kernels and the pipeline (figures 2.1 to 2.6)"
)
def kernel_streams(context: Context) -> Parts:
    """The smallest program: a kernel between streams."""
    yield told("kernel_streams")
    yield from figures("2.")
    yield _program("photon_emission", "One kernel between streams: photons leave the lights")
    yield captioned("pass", svg=draw_pass())


@section("ray_tracer_flow", paper="D 3.3, P2 3", title="The streaming ray tracer (figure 3.1)")
def ray_tracer_flow(context: Context) -> Parts:
    """The ray caster's kernels."""
    yield _program("cast", "Figure 3.1: the streaming ray tracer: eye rays, traversal, intersection, shading")
    yield _program("cast_instances", "The same over two levels of structures")


@section("intersector", paper="D 3.3.3, P2 3.1.3", title="The intersector (figure 3.2, P2 figure 5)")
def intersector(context: Context) -> Parts:
    """The kernel's source, and the test that it calls."""
    yield listing("The kernel: a triangle of the voxel's list, and what the ray needs next", "kernels/intersect.glsl")
    note = "A hit beyond the voxel is kept here, and the walk goes on until it has passed it; by the published text it "
    note += "is a miss, and the triangle is met again. tools/reproduction/simulators has both rules."
    yield listing("The test of Moeller and Trumbore", "accel/triangle_moller_trumbore.glsl", note)
    yield from faults("P2 fig. 5")


@section("memory_layout", paper="D 5.1.2, P2 3.1.3", title="A scene in texture memory (figure 5.1)")
def memory_layout(context: Context) -> Parts:
    """From voxels to lists to triangles, and records as they lie in texels."""
    yield captioned("scene_memory", svg=draw_scene_memory())
    yield captioned("records", svg=draw_records())


@section("data_flow", paper="D 3.3.4, P2 3.1.4", title="Flow of the four ray tracers (figure 3.3)", order=1)
def data_flow(context: Context) -> Parts:
    """Shadow caster, Whitted's tracer and path tracer; the ray caster is figure 3.1."""
    yield _program("shadow", "Shadow caster")
    yield _program("whitted", "Whitted's ray tracer")
    yield _program("path", "Path tracer, with light chosen at each surface and tested by a shadow ray")
    yield told("data_flow")


@section("flow_control", paper="D 4.1, D 4.2", title="A stream processor, and states of rays (figures 4.1 to 4.3)")
def flow_control(context: Context) -> Parts:
    """Section 4.1.2: a ray's state decides which pass it takes part in."""
    yield told("flow_control")
    yield from figures("4.")
    for number in (1, 2, 3):
        yield captioned(f"4.1.2_{number}", svg=by_hand(f"4.1.2_{number}"))
    yield _program("trace", "The loop over traversal and intersection: given rays to their hits")


@section("photon_flow", paper="D 6.2, P3 2", title="Photon mapping: the system (figure 6.1)")
def photon_flow(context: Context) -> Parts:
    """The programs of photon mapping in turn."""
    yield captioned("photon_stages", svg=draw_stages())
    yield _program("photon_trace", "Tracing photons, a frame for each bounce", WITHOUT)
    yield _program("photon_nearest", "Rays and the radiance estimate", WITHOUT)
