"""The options of light transport: the program, its paths, its random numbers, photon mapping."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Scope, Value, options_of_part
from raystream.options.values import ON_OFF, choice, integer, number

PROGRAM = options_of_part(
    "picture",
    Option(
        "program",
        Value(values.read_word, "path", "NAME"),
        Help("the algorithm: a name, or a Python file of your own", shown="first"),
        Affects.PROGRAM,
        Scope(offered=("info", "page")),
    ),
)

PATHS = options_of_part(
    "sampling",
    Option(
        "depth",
        integer(0, 1024),
        Help(
            "maximum path length in surface interactions; 0 is emission alone, 1 adds direct light",
            "the program's",
            shown="first",
            slider=(0, 32),
        ),
        Affects.UNIFORMS,
        Scope(offered=("page",), sampled=True),
    ),
    *(
        Option(name, ON_OFF, Help(text), Affects.UNIFORMS, Scope(offered=("page",), programs=programs))
        for name, text, programs in (
            ("shadows", "shadow rays", ("shadow", "whitted")),
            ("reflections", "mirror reflection", ("whitted", "photon")),
            ("refractions", "refraction by glass", ("whitted", "photon")),
        )
    ),
    Option(
        "min_intensity",
        number("X", 0, 1, 0.0, note="; 0: all are traced"),
        Help(
            "weight up to which, in every channel, reflected and refracted rays are not traced; biased: the picture"
            " gets a little too dark",
            shown="papers",
            zero="off",
        ),
        Affects.UNIFORMS,
        Scope(programs=("whitted", "photon"), added=True),
    ),
    Option(
        "light_samples",
        integer(1, 1024, 1),
        Help(
            "shadow rays of a surface: to lights chosen by power where photons bring the rest, else to what shines by"
            " its surface",
            slider=(1, 64),
        ),
        Affects.UNIFORMS,
        Scope(programs=("shadow", "whitted", "photon"), sampled=True, added=True),
    ),
)

CAMERA_RAYS = options_of_part(
    "picture",
    Option(
        "first_hits",
        choice("auto", "rays", "raster"),
        Help(
            "how first hits are found: by camera rays, or by rasterising triangles; auto rasterises in the shadow"
            " caster",
            shown="papers",
        ),
        Affects.MACHINE,
    ),
    Option(
        "eye_rays",
        choice("each", "shared"),
        Help(
            "camera rays of a pixel: one for each sample, or one through its centre whose first hit all samples share",
            shown="papers",
        ),
        Affects.PROGRAM,
        Scope(sampled=True, added=True),
    ),
    Option(
        "offsets",
        choice("auto", "pixel", "sample"),
        Help(
            "subpixel offsets of a sample: each pixel its own, or one for all pixels, as rasterised first hits need",
            shown="papers",
        ),
        Affects.UNIFORMS,
    ),
)

ESTIMATE = options_of_part(
    "sampling",
    Option(
        "strategy",
        choice("both", "lights", "bsdf"),
        Help("direct light sampling: of lights, of the BSDF, or of both by multiple importance sampling"),
        Affects.UNIFORMS,
        Scope(programs=("path",)),
    ),
    Option(
        "light_sampler",
        choice("auto", "power", "tree"),
        Help(
            "how one of the lights is chosen: by power alone, or down a light tree by what it may bring to the surface;"
            " auto: a tree where there are 3 lights and more"
        ),
        Affects.PROGRAM,
        Scope(programs=("path", "photon")),
    ),
    Option(
        "light_candidates",
        integer(1, 64, "auto"),
        Help(
            "points of lights of which a surface's shadow ray goes to one, by what they would bring (resampled"
            " importance sampling); auto: 8 where there are several lights, 2 with a light tree"
        ),
        Affects.PROGRAM,
        Scope(programs=("path",)),
    ),
    Option(
        "roulette",
        Value(
            values.read_roulette, "auto", "N|never|auto", "auto, never or a whole number from {low} to {high}", 1, 1024
        ),
        Help(
            "path length from which Russian roulette may end a path; unbiased; auto: 5, and never where --depth is"
            " given",
            slider=(0, 16),
            zero="never",
        ),
        Affects.UNIFORMS,
        Scope(programs=("path",)),
    ),
    Option(
        "clamp",
        number("RADIANCE", 0, 1e6, 0.0, note="; 0 clamps nothing"),
        Help(
            "largest component of a sample, against fireflies; biased: the picture gets a little too dark",
            slider=(0, 100),
            zero="off",
        ),
        Affects.UNIFORMS,
    ),
    Option(
        "sampler",
        choice("sobol", "zorder", "independent", "table"),
        Help(
            "random numbers: Owen-scrambled Sobol points with blue noise, points that neighbouring pixels share in"
            " z-order, a hash, or a table in a texture"
        ),
        Affects.PROGRAM,
        Scope(emission=True),
    ),
    Option(
        "seed", integer(0, 2**31 - 1, 0), Help("seed of the random numbers"), Affects.UNIFORMS, Scope(emission=True)
    ),
    sampled=True,
)


STENCIL_ROUTING = options_of_part(
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

PHOTONS = options_of_part(
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
            values.read_photon_filter,
            values.PhotonFilter(),
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
