"""The options of light transport: the program, its paths, its random numbers."""

from __future__ import annotations

from raystream.options import values
from raystream.options.declare import Affects, Option, of_part

PROGRAM = of_part(
    "program",
    Option(
        "program",
        values.read_word,
        "path",
        "the algorithm: a name, or a Python file of your own",
        Affects.PROGRAM,
        "NAME",
        informs=True,
        remote=True,
    ),
)

PATHS = of_part(
    "sampling",
    Option(
        "depth",
        values.read_optional_integer,
        None,
        "maximum path length in surface interactions; 0 is emission alone, 1 adds direct light",
        Affects.UNIFORMS,
        "N",
        "surface interactions",
        0,
        1024,
        default_text="the program's",
        sampled=True,
        slider=(0, 32),
        remote=True,
    ),
    *(
        Option(
            name,
            values.read_on_off,
            True,
            text,
            Affects.UNIFORMS,
            "on|off",
            choices=("on", "off"),
            default_text="on",
            programs=programs,
            remote=True,
        )
        for name, text, programs in (
            ("shadows", "shadow rays", ("shadow", "whitted")),
            ("reflections", "mirror reflection", ("whitted", "photon")),
            ("refractions", "refraction by glass", ("whitted", "photon")),
        )
    ),
    Option(
        "light_samples",
        values.read_integer,
        1,
        "shadow rays of a surface: to lights chosen by power where photons bring the rest, else to what shines by its"
        " surface",
        Affects.UNIFORMS,
        "N",
        "shadow rays",
        1,
        1024,
        sampled=True,
        programs=("shadow", "whitted", "photon"),
        slider=(1, 64),
        added=True,
    ),
)

CAMERA_RAYS = of_part(
    "camera rays",
    Option(
        "first_hits",
        values.read_word,
        "auto",
        "how first hits are found: by camera rays, or by rasterising triangles; auto rasterises in the shadow caster",
        Affects.MACHINE,
        "NAME",
        choices=("auto", "rays", "raster"),
    ),
    Option(
        "eye_rays",
        values.read_word,
        "each",
        "camera rays of a pixel: one for each sample, or one through its centre whose first hit all samples share",
        Affects.PROGRAM,
        "NAME",
        choices=("each", "shared"),
        sampled=True,
        added=True,
    ),
    Option(
        "offsets",
        values.read_word,
        "auto",
        "subpixel offsets of a sample: each pixel its own, or one for all pixels, as rasterised first hits need",
        Affects.UNIFORMS,
        "NAME",
        choices=("auto", "pixel", "sample"),
    ),
)

ESTIMATE = of_part(
    "sampling",
    Option(
        "strategy",
        values.read_word,
        "both",
        "direct light sampling: of lights, of the BSDF, or of both by multiple importance sampling",
        Affects.UNIFORMS,
        "NAME",
        choices=("both", "lights", "bsdf"),
        programs=("path",),
    ),
    Option(
        "light_sampler",
        values.read_word,
        "auto",
        "how one of the lights is chosen: by power alone, or down a light tree by what it may bring to the surface;"
        " auto: a tree where there are 3 lights and more",
        Affects.PROGRAM,
        "NAME",
        choices=("auto", "power", "tree"),
        programs=("path", "photon"),
    ),
    Option(
        "light_candidates",
        values.read_integer_or_auto,
        "auto",
        "points of lights of which a surface's shadow ray goes to one, by what they would bring (resampled importance"
        " sampling); auto: 8 where there are several lights, 2 with a light tree",
        Affects.PROGRAM,
        "N|auto",
        "",
        1,
        64,
        values="auto or a whole number from {low} to {high}",
        programs=("path",),
    ),
    Option(
        "roulette",
        values.read_roulette,
        "auto",
        "path length from which Russian roulette may end a path; unbiased; auto: 5, and never where --depth is given",
        Affects.UNIFORMS,
        "N|never|auto",
        "surface interactions",
        1,
        1024,
        values="auto, never or a whole number from {low} to {high}",
        programs=("path",),
        slider=(0, 16),
        zero="never",
    ),
    Option(
        "clamp",
        values.read_real,
        0.0,
        "largest component of a sample, against fireflies; biased: the picture gets a little too dark",
        Affects.UNIFORMS,
        "RADIANCE",
        low=0,
        high=1e6,
        values="a number from {low:g} to {high:g}; 0 clamps nothing",
        default_text="0",
        slider=(0, 100),
        zero="off",
    ),
    Option(
        "sampler",
        values.read_word,
        "sobol",
        "random numbers: Owen-scrambled Sobol points with blue noise, points that neighbouring pixels share in z-order,"
        " a hash, or a table in a texture",
        Affects.PROGRAM,
        "NAME",
        choices=("sobol", "zorder", "independent", "table"),
        emission=True,
    ),
    Option(
        "seed",
        values.read_integer,
        0,
        "seed of the random numbers",
        Affects.UNIFORMS,
        "N",
        "",
        0,
        2**31 - 1,
        values="a whole number from {low} to {high}",
        emission=True,
    ),
    sampled=True,
)
