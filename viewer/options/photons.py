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
        "final_gather",
        values.read_integer,
        0,
        "rays of a final gather: photons are looked up where they arrive, caustics still at the surface itself",
        Affects.UNIFORMS,
        "N",
        "rays",
        0,
        1024,
    ),
    Option(
        "photon_filter",
        values.read_photon_filter,
        values.PhotonFilter(),
        "how an estimate weighs photons by their distance: alike, by a cone, or by 1 less the distance squared",
        Affects.UNIFORMS,
        "NAME",
        values="{choices}; cone=K with 1 <= K <= 1e6 is as wide as K radii",
        choices=("constant", "cone", "epanechnikov"),
    ),
)
