"""The options of light transport: the program, its paths, its random numbers."""

from __future__ import annotations

from viewer.options import values
from viewer.options.declare import Affects, Option

TRACING = (
    Option("program", values.read_word, "path", "the algorithm", Affects.PROGRAM, "NAME"),
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
        default_text="5, of whitted and photon 4",
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
        )
        for name, text in (
            ("shadows", "shadow rays, in the programs shadow, whitted and photon"),
            ("reflections", "mirror reflection, in the programs whitted and photon"),
            ("refractions", "refraction by glass, in the programs whitted and photon"),
        )
    ),
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
        "offsets",
        values.read_word,
        "auto",
        "subpixel offsets of a sample: each pixel its own, or one for all pixels, as rasterised first hits need",
        Affects.UNIFORMS,
        "NAME",
        choices=("auto", "pixel", "sample"),
    ),
    Option(
        "strategy",
        values.read_word,
        "both",
        "direct light sampling: of lights, of the BSDF, or of both by multiple importance sampling",
        Affects.UNIFORMS,
        "NAME",
        choices=("both", "lights", "bsdf"),
    ),
    Option(
        "roulette",
        values.read_optional_integer,
        None,
        "path length from which Russian roulette may end a path; unbiased",
        Affects.UNIFORMS,
        "N",
        "surface interactions",
        1,
        1024,
        default_text="never",
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
    ),
    Option(
        "sampler",
        values.read_word,
        "sobol",
        "random numbers: Owen-scrambled Sobol points with blue noise, a hash, or a table in a texture",
        Affects.PROGRAM,
        "NAME",
        choices=("sobol", "independent", "table"),
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
    ),
)
