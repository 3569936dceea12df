"""The options of photon mapping."""

from __future__ import annotations

from viewer.options import values
from viewer.options.declare import Affects, Option

PHOTONS = (
    Option(
        "photons",
        values.read_integer,
        1 << 15,
        "photons that leave the lights for a photon map",
        Affects.UNIFORMS,
        "N",
        "photons",
        1,
        1 << 22,
    ),
    Option(
        "photon_bounces",
        values.read_integer,
        6,
        "most surfaces that a photon comes to",
        Affects.UNIFORMS,
        "N",
        "surfaces",
        1,
        64,
    ),
    Option(
        "estimate",
        values.read_word,
        "progressive",
        "radiance estimate: progressive, with new photons and a smaller radius for every sample, or of the nearest"
        " photons of one map: all of their sphere, or as the 2003 paper's search ends",
        Affects.UNIFORMS,
        "NAME",
        choices=("progressive", "nearest", "published"),
    ),
    Option(
        "nearest",
        values.read_integer,
        50,
        "photons that an estimate of the nearest asks for",
        Affects.UNIFORMS,
        "N",
        "photons",
        1,
        1 << 16,
    ),
    Option(
        "photon_radius",
        values.read_real,
        0.0,
        "greatest radius of an estimate, scene units; without, pixels decide, or a share of the scene",
        Affects.UNIFORMS,
        "R",
        "scene units",
        low=0,
        high=1e18,
        values="a number from {low:g} to {high:g}; 0 chooses one",
        default_text="0",
    ),
    Option(
        "photon_map",
        values.read_word,
        "sort",
        "how photons come to their cells: by a bitonic merge sort, or by stencil routing, which keeps so many of a cell"
        " as its footprint has texels",
        Affects.PROGRAM,
        "NAME",
        choices=("sort", "stencil"),
    ),
    Option(
        "photon_grid",
        values.read_cells,
        None,
        "cells of the photon map along x, y and z, where one map serves all samples",
        Affects.UNIFORMS,
        "XxYxZ",
        "cells",
        1,
        1 << 16,
        values="three whole numbers such as 250x1x250, each from {low} to {high}, or auto",
        default_text="cubes, 40 along the scene's longest side",
    ),
    Option(
        "footprint",
        values.read_integer,
        4,
        "texels along the edge of a cell's footprint in stencil routing: its square is the most photons of a cell",
        Affects.UNIFORMS,
        "M",
        "texels",
        1,
        16,
    ),
    Option(
        "redistribution",
        values.read_word,
        "count",
        "what photons of a full cell get of those that found no place in stencil routing: by count, right for photons"
        " of about one power; by power, exact in every channel; or none",
        Affects.UNIFORMS,
        "NAME",
        choices=("count", "power", "none"),
    ),
    Option(
        "photon_points",
        values.read_word,
        "fetch",
        "points of stencil routing: fetched from the stream of photons by the vertex program, or made by the host of"
        " photons that it reads back, as published; the same map",
        Affects.MACHINE,
        "NAME",
        choices=("fetch", "read-back"),
    ),
)
