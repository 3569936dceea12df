"""The options of light transport: the program, its paths, its random numbers."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Help, Option, Scope, Value, of_part
from raystream.options.kinds import ON_OFF, choice, integer, number

PROGRAM = of_part(
    "picture",
    Option(
        "program",
        Value(values.read_word, "path", "NAME"),
        Help("the algorithm: a name, or a Python file of your own", shown="first"),
        Affects.PROGRAM,
        Scope(offered=("info", "page")),
    ),
)

PATHS = of_part(
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

CAMERA_RAYS = of_part(
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

ESTIMATE = of_part(
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
