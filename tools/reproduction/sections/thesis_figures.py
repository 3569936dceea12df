"""Figures of T 6 to 6.4: structure, vectors, arrays, kernels and their layers; and what colours of vertices cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from raystream.scene.builtin import build as builtin
from reproduction.simulators.whitted.back_ends import Emulation, Processor
from reproduction.simulators.whitted.model import SETTINGS, Model, Traced, build
from reproduction.simulators.whitted.probes import ANGLE, INDEX, directions

from .. import timed
from ..context import Context
from ..drawings import by_hand, draw_vectors, figures
from ..report import OWN, POINTS, Check, Parts, captioned, concluded, section, tabled
from ..shown import webp
from ..thesis_back_ends import DEPTH, FRAME, SKY, Draw, drawn, fragments, going_around, pixels, prepared
from .thesis import model as scene_of
from .thesis import of_scenes

EDGE, QUICK = 192, 48
LONG = 4.0  # seconds a case of the vertices' colours
ANGLE_BOUND = 1e-5  # radians; float32
# The thesis's arrays, and which of ours hold the same.
ARRAYS = {
    "S, the trees": ("top_boxes", "top_links", "boxes", "links", "instances", "roots"),
    "T, triangles": ("corners", "numbers", "faces"),
    "T, positions, normals, colours, coordinates": ("vertices",),
    "M, materials": ("materials", "applied"),
    "TexInfo, TexCoord": ("layers", "kinds"),
    "Tex": ("texels",),
}


@section(
    "thesis_figures",
    paper="T 6, T 6.2, T 6.4",
    title="Structure, vectors and kernels (figures 6-1 to 6-16)",
    order=1,
    timed=True,
)
def make(context: Context) -> Parts:
    """Drawn from what the back ends run."""
    yield from figures("6-")
    yield from _vectors()
    yield from _arrays(context)
    yield captioned("opencl_kernels", svg=by_hand("opencl_kernels"))
    yield from _layers(context)
    yield from _colors(context)


def _vectors() -> Parts:
    yield captioned("vectors", svg=draw_vectors(), index=INDEX)
    turn = np.radians(ANGLE)
    (_, reflected), (_, refracted) = directions(ANGLE)
    wanted = np.array([np.sin(turn), np.cos(turn), 0.0])
    sine = np.sin(turn) / INDEX
    bent = np.array([sine, -np.sqrt(1 - sine**2), 0.0])
    rows = {
        "reflected, (6.8) with its sign mended": (reflected, wanted),
        "refracted, Snell's law (6.30)": (refracted, bent),
    }
    for what, (found, expected) in rows.items():
        off = float(np.abs(found - expected).max())
        text = ", ".join(f"{each:.4f}" for each in expected[:2])
        shown = ", ".join(f"{each:.4f}" for each in found[:2])
        within = off < ANGLE_BOUND
        yield Check(OWN, f"{what}: direction at {ANGLE:g} degrees", text, shown, within, bound=f"to {ANGLE_BOUND:g}")
    rays = len(directions(ANGLE, inside=True))
    what, why = "beyond the critical angle only the reflected ray goes on: rays", "light that leaves glass is refracted"
    yield Check(OWN, what, 1, rays, rays == 1, why)


def _arrays(context: Context) -> Parts:
    """Figure 6-15, by their sizes."""
    columns = yield from of_scenes(context, "arrays", lambda file: _sizes(context, file))
    rows = [
        (own, ", ".join(ARRAYS[own]), *(f"{sizes[k] / 1024:,.1f}" for sizes in columns.values()))
        for k, own in enumerate(ARRAYS)
    ]
    yield tabled("figure_6_15_the_arrays", rows, columns=("of the thesis", "here", *columns), own=("here", *columns))


def _sizes(context: Context, file: str) -> list[int]:
    made: Model = build(scene_of(context, file)[0])
    return [sum(getattr(made, each).nbytes for each in names) for names in ARRAYS.values()]


def _layers(context: Context) -> Parts:
    """What each level of rays adds."""
    edge = QUICK if context.quick else EDGE
    made = context.keep(("layers", edge), lambda: _layered(edge))
    yield captioned("layers", png=made["picture"], depth=DEPTH, rays=", ".join(f"{each:,}" for each in made["rays"]))


def _layered(edge: int) -> dict[str, Any]:
    scene, size = prepared(builtin("sphere")), (edge, edge)
    traced = Traced.of(scene, SKY, DEPTH)
    sums = [pixels(Processor(replace(traced, depth=k)), scene.camera(), size) for k in range(DEPTH + 1)]
    layers = [sums[0], *(after - before for before, after in pairwise(sums))]
    shown = [np.rint(255 * np.clip(each, 0, 1) ** (1 / 2.2)).astype(np.uint8) for each in layers]
    rays = Emulation(traced).render(scene.camera(), size).rays
    return {"picture": webp(*shown), "rays": rays}


def _colors(context: Context) -> Parts:
    """Colours of vertices against one of the material."""
    edge = QUICK if context.quick else EDGE
    made = timed.keep(context, ("vertex colours", edge), lambda: colored(context, edge), warm_up=False)
    rows, costs = [], {}
    for end in ("CPU", "emulation", "singlepass"):
        without, with_ = (made[f"{end}, {each}"].parts[FRAME] for each in ("without", "with"))
        costs[end] = with_.median / without.median - 1
        rows.append((end, without.text(), with_.text(), f"{costs[end]:+.1%}"))
    yield tabled("cost_of_colours_of_vertices", rows, edge=edge)
    text = ", ".join(f"{end} {each:+.1%}" for end, each in costs.items())
    text = f"seconds with them, against a material's colour: {text}"
    yield concluded("vertex_colours", [each <= POINTS for each in costs.values()], text)


@contextmanager
def colored(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Back ends with and without colours of vertices."""
    scene = prepared(builtin("sphere"))
    plain = replace(scene, meshes=[replace(each, colors=None) for each in scene.meshes])
    draws: dict[str, Draw] = {}
    with timed.Releasing() as held:
        for name, each in {"with": scene, "without": plain}.items():
            traced = Traced.of(each, SKY, DEPTH)
            renderer = held.own(fragments(context, each, machine="singlepass", **SETTINGS))
            draws[f"CPU, {name}"] = partial(pixels, Processor(traced))
            draws[f"emulation, {name}"] = partial(pixels, Emulation(traced))
            draws[f"singlepass, {name}"] = partial(drawn, renderer)
        yield going_around(draws, scene, scene.camera(), (edge, edge), (0.1 if context.quick else LONG) / timed.RUNS)
