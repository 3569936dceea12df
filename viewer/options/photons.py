"""The options of photon mapping."""

from __future__ import annotations

from raystream.options import named_values, values
from raystream.options.declare import Affects, Help, Option, Scope, Value, of_part
from raystream.options.kinds import choice, integer, number

STENCIL_ROUTING = of_part(
    "photons",
    Option(
        "footprint",
        integer(1, 16, 4, metavar="M"),
        Help(
            "texels along the edge of a cell's footprint in stencil routing: its square is the most photons of a cell",
            shown="papers",
        ),
        Affects.UNIFORMS,
        Scope(added=True),
    ),
    Option(
        "redistribution",
        choice("count", "power", "none"),
        Help(
            "what photons of a full cell get of those that found no place in stencil routing: by count, right for"
            " photons of about one power; by power, exact in every channel; or none",
            shown="papers",
        ),
        Affects.UNIFORMS,
        Scope(added=True),
    ),
    Option(
        "photon_points",
        choice("fetch", "read-back"),
        Help(
            "points of stencil routing: fetched from the stream of photons by the vertex program, or made by the host"
            " of photons that it reads back, as published; the same map",
            shown="papers",
        ),
        Affects.MACHINE,
    ),
    unless=("photon_map", ("sort",)),
)

PHOTONS = of_part(
    "photons",
    Option(
        "photons",
        integer(1, 1 << 21, 1 << 15),  # whose places at the default number of surfaces are exact floats
        Help("photons that leave the lights for a photon map"),
        Affects.UNIFORMS,
        Scope(emission=True),
    ),
    Option(
        "caustic_photons",
        integer(0, 1 << 21, 1 << 14, note="; 0: those of --photons bring them"),
        Help("photons aimed at mirrors and glass, which alone bring caustics then; none where nothing is specular"),
        Affects.UNIFORMS,
        Scope(emission=True),
    ),
    Option(
        "photon_bounces",
        integer(1, 64, 6),
        Help("most surfaces that a photon comes to"),
        Affects.UNIFORMS,
        Scope(emission=True),
    ),
    Option(
        "estimate",
        choice("progressive", "nearest", "published"),
        Help(
            "radiance estimate: progressive, with new photons and a smaller radius for every sample, or of the nearest"
            " photons of one map: all of their sphere, or as the 2003 paper's search ends"
        ),
        Affects.UNIFORMS,
    ),
    Option(
        "nearest",
        integer(1, 1 << 16, 50),
        Help("photons that an estimate of the nearest asks for"),
        Affects.UNIFORMS,
        Scope(unless=("estimate", ("progressive",))),
    ),
    Option(
        "photon_radius",
        number("R", 0, 1e18, 0.0, note="; 0 chooses one"),
        Help(
            "greatest radius of an estimate, scene units; without, pixels decide, or a share of the scene",
            zero="automatic",
        ),
        Affects.UNIFORMS,
    ),
    Option(
        "photon_map",
        choice("sort", "stencil"),
        Help(
            "how photons come to their cells: by a bitonic merge sort, or by stencil routing, which keeps so many of a"
            " cell as its footprint has texels",
            shown="papers",
        ),
        Affects.PROGRAM,
        Scope(added=True),
    ),
    Option(
        "photon_grid",
        Value(
            values.read_cells,
            None,
            "XxYxZ",
            "three whole numbers such as 250x1x250, each from {low} to {high}, or auto",
            1,
            1 << 16,
        ),
        Help(
            "cells of the photon map along x, y and z, where one map serves all samples",
            "cubes, 40 along the scene's longest side",
        ),
        Affects.UNIFORMS,
        Scope(unless=("estimate", ("progressive",)), added=True),
    ),
    *STENCIL_ROUTING,
    Option(
        "final_gather",
        integer(0, 1024, 0),
        Help("rays of a final gather: photons are looked up where they arrive, caustics still at the surface itself"),
        Affects.UNIFORMS,
        Scope(added=True),
    ),
    Option(
        "photon_filter",
        Value(
            named_values.read_photon_filter,
            named_values.PhotonFilter(),
            "NAME",
            "{choices}; cone=K with 1 <= K <= 1e6 is as wide as K radii",
            choices=("constant", "cone", "epanechnikov"),
        ),
        Help("how an estimate weighs photons by their distance: alike, by a cone, or by 1 less the distance squared"),
        Affects.UNIFORMS,
        Scope(added=True),
    ),
    programs=("photon",),
    sampled=True,
)
