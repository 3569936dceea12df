"""Every option, once: its name, type, unit, range, default and help.

The command line, the window's panels and the README's table are made from this table, and `check` is the one place
where a value is read, from a text of the command line or from a Python keyword. What higher floors register (the
programs, the layers) is not named here: its choices are handed in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from viewer.base.errors import ViewerError
from viewer.options import values
from viewer.options.values import LARGEST_SIDE, Option, PolicyChoice, Scope, Unroll, suggestion

# Samples per pixel where --spp does not say: alone, and where --time or --error is to end the picture.
FEW_SAMPLES, MOST_SAMPLES = 32, 65536

_TABLE = (
    Option(
        "output",
        values.read_file,
        None,
        "the picture",
        "OUT",
        values="a file name ending in .png (8 bit sRGB), .exr or .npz (float32 linear, with layers)",
        short="-o",
        scope="command",
    ),
    Option(
        "size",
        values.read_size,
        (512, 512),
        "width and height of the picture",
        "WxH",
        "pixels",
        1,
        LARGEST_SIDE,
        values="WIDTHxHEIGHT such as 640x480, each from {low} to {high} pixels",
        scope="render",
        default_text="512x512",
    ),
    Option(
        "spp",
        values.read_optional_integer,
        None,
        "samples per pixel, at most",
        "N",
        "samples",
        1,
        MOST_SAMPLES,
        scope="render",
        default_text=f"{FEW_SAMPLES}; with --time or --error {MOST_SAMPLES}",
    ),
    Option(
        "time",
        values.read_optional_closed_real,
        None,
        "stop adding samples after so long",
        "SECONDS",
        "seconds",
        0,
        1e7,
        values="a number of seconds from {low:g} to {high:g}",
        scope="render",
        default_text="none",
    ),
    Option(
        "error",
        values.read_optional_real,
        None,
        "stop adding samples at this estimated relative error of the picture",
        "SHARE",
        "",
        0,
        1,
        values="a number above {low:g} and below {high:g} such as 0.01",
        scope="render",
        default_text="none",
    ),
    Option(
        "resume",
        values.read_file,
        None,
        "go on from an EXR of the same picture, with the bits of an unbroken render",
        "FILE.exr",
        values="a file that was rendered with the same settings",
        scope="render",
        default_text="none",
    ),
    Option("program", values.read_word, "path", "what is computed", "NAME"),
    Option(
        "depth",
        values.read_optional_integer,
        None,
        "most surfaces that light comes over; 1 is light seen and direct light",
        "N",
        "surfaces",
        0,
        1024,
        default_text="5, of whitted 4",
    ),
    *(
        Option(name, values.read_on_off, True, what, "on|off", choices=("on", "off"), default_text="on")
        for name, what in (
            ("shadows", "whether lights cast shadows, in the programs shadow and whitted"),
            ("reflections", "whether surfaces reflect, in the program whitted"),
            ("refractions", "whether glass refracts, in the program whitted"),
        )
    ),
    Option(
        "first_hits",
        values.read_word,
        "auto",
        "how the first hits are found: by walking rays, or by drawing the triangles; auto draws for the shadow caster",
        "NAME",
        choices=("auto", "rays", "raster"),
    ),
    Option(
        "offsets",
        values.read_word,
        "auto",
        "samples off their pixels' centres: each pixel by its own, or all of a sample alike, as drawing needs it",
        "NAME",
        choices=("auto", "pixel", "sample"),
    ),
    Option(
        "strategy",
        values.read_word,
        "both",
        "how paths find light: by choosing lights, by the directions in which surfaces scatter, or both, weighed",
        "NAME",
        choices=("both", "lights", "bsdf"),
    ),
    Option(
        "roulette",
        values.read_optional_integer,
        None,
        "surfaces from which on chance may end a path; the mean stays the same",
        "N",
        "surfaces",
        1,
        1024,
        default_text="never",
    ),
    Option(
        "clamp",
        values.read_real,
        0.0,
        "cut samples that are brighter (fireflies), which makes the picture a little too dark",
        "RADIANCE",
        low=0,
        high=1e6,
        values="a number from {low:g} to {high:g}; 0 cuts nothing",
        default_text="0",
    ),
    Option(
        "sampler",
        values.read_word,
        "sobol",
        "where random numbers come from: scrambled Sobol points with blue noise, a hash, or a table",
        "NAME",
        choices=("sobol", "independent", "table"),
    ),
    Option(
        "seed",
        values.read_integer,
        0,
        "of the random numbers",
        "N",
        "",
        0,
        2**31 - 1,
        values="a whole number from {low} to {high}",
    ),
    Option(
        "machine",
        values.read_word,
        "multipass",
        "how the program runs: a kernel per pass, or everything in one generated pass",
        "NAME",
        choices=("multipass", "singlepass"),
    ),
    Option(
        "policy",
        values.read_policy,
        PolicyChoice(),
        "which state multipass serves next; of threshold, the share of rays that must wait for the intersection",
        "NAME",
        values="{choices}, or threshold=SHARE[,active|all] with 0 < SHARE <= 1",
        choices=("sweep", "naive", "threshold", "most-work"),
        default_text="sweep",
    ),
    Option(
        "unroll",
        values.read_unroll,
        Unroll(),
        "calls of a looping kernel in one pass of multipass; N,M in the program's order",
        "N|N,M|auto",
        "calls",
        1,
        65536,
        values="auto, a whole number, or one per looping kernel such as 4,2; each from {low} to {high}",
        default_text="auto",
    ),
    Option(
        "fuse",
        values.read_word,
        "ray",
        "states that multipass runs in one pass: none, or all that take a ray to its hit",
        "NAME",
        choices=("none", "ray", "surface"),
    ),
    Option(
        "mask",
        values.read_word,
        "depth",
        "how multipass keeps rays in other states from running",
        "NAME",
        choices=("depth", "kill", "none"),
    ),
    Option(
        "accel",
        values.read_word,
        "auto",
        "the acceleration structure; of two levels: over every distinct mesh one, and one over the instances of all; "
        "auto is bvh, of two levels where a scene of many instances would be too large without",
        "NAME",
        choices=("auto", "grid", "bvh", "two-level-grid", "two-level-bvh"),
        scope="prepare",
    ),
    Option(
        "top",
        values.read_word,
        "auto",
        "of two levels: the structure over the instances; auto is of the objects' kind",
        "NAME",
        choices=("auto", "bvh", "grid"),
        scope="prepare",
    ),
    Option(
        "build",
        values.read_word,
        "sah",
        "how a bvh is built: by the surface area heuristic, or by midpoints along x, y, z in turn",
        "NAME",
        choices=("sah", "midpoint"),
        scope="prepare",
    ),
    Option(
        "grid",
        values.read_integer_or_auto,
        "auto",
        "voxels along the scene's shortest side; auto weighs the cost",
        "N|auto",
        "voxels",
        1,
        1024,
        values="auto or a whole number from {low} to {high}",
        scope="prepare",
    ),
    Option(
        "intersection",
        values.read_word,
        "watertight",
        "the ray-triangle test",
        "NAME",
        choices=("watertight", "moller-trumbore", "planes"),
        scope="prepare",
    ),
    Option(
        "plane_slack",
        values.read_real,
        1.0,
        "of the intersection planes: the largest sum of two weights that is a hit; published 1.004",
        "SUM",
        low=1.0,
        high=1.1,
        values="a number from {low:g} to {high:g}",
        scope="prepare",
    ),
    Option(
        "traversal",
        values.read_word,
        "auto",
        "how rays walk: a bvh with a stack, by octants or by escape indices alone; a grid by a digital differential "
        "analyser, or in texel coordinates; the same hits",
        "NAME",
        choices=("auto", "stack", "octants", "escape", "dda", "adinetz"),
        scope="prepare",
    ),
    Option(
        "camera",
        values.read_camera,
        None,
        "where to look from: a camera of the scene, or origin, target and up",
        "CAMERA",
        values="the name of a camera, or 'ox,oy,oz tx,ty,tz [ux,uy,uz]'",
        default_text="the scene's first, or one that frames it",
    ),
    Option(
        "fov",
        values.read_optional_real,
        None,
        "vertical field of view",
        "DEGREES",
        "degrees",
        0,
        180,
        open_range=True,
        default_text="the camera's",
    ),
    Option(
        "aperture",
        values.read_optional_closed_real,
        None,
        "radius of the lens; 0 is a pinhole, which shows everything sharp",
        "RADIUS",
        "scene units",
        0,
        1e18,
        values="a number of scene units from {low:g} to {high:g}",
        default_text="the camera's",
    ),
    Option(
        "focus",
        values.read_optional_closed_real,
        None,
        "distance along the view that a lens shows sharp",
        "DISTANCE",
        "scene units",
        1e-18,
        1e18,
        values="a number of scene units from {low:g} to {high:g}",
        default_text="the camera's, or its target's",
    ),
    Option(
        "pixel_filter",
        values.read_word,
        "box",
        "how samples around a pixel count: all alike within it, or less far from its centre; or that point alone",
        "NAME",
        choices=("box", "tent", "gaussian", "point"),
    ),
    Option(
        "environment",
        values.read_environment,
        None,
        "what surrounds the scene: none, sky, a picture (.hdr, .exr, .png; a folder of six faces), or a radiance",
        "none|sky|FILE|R,G,B",
        high=1e30,
        values="none, sky, the name of a file or folder, or three numbers from 0 such as 1,1,1",
        default_text="the sky where nothing in the scene shines, else none",
    ),
    Option(
        "environment_rotation",
        values.read_real,
        0.0,
        "turns the environment about +Y, counter-clockwise seen from above",
        "DEGREES",
        "degrees",
        -360,
        360,
        values="a number of degrees from {low:g} to {high:g}",
        default_text="0",
    ),
    Option(
        "light",
        values.read_places,
        (),
        "moves a light, or an object that shines; may be given several times; of a directional light the way to it",
        "NAME=X,Y,Z",
        values="the name of a light and a point such as lamp=0,2,1.5",
        default_text="where they are",
        repeats=True,
    ),
    Option(
        "layers",
        values.read_names,
        (),
        "what the picture holds beside the colour",
        "NAMES",
        values="names with commas between them, of {choices}",
        scope="render",
        default_text="none",
    ),
    Option(
        "tonemap",
        values.read_word,
        "none",
        "how a PNG shows light that is brighter than white",
        "NAME",
        scope="command",
    ),
    Option(
        "exposure",
        values.read_real,
        0.0,
        "brightness of a PNG: each stop doubles it",
        "STOPS",
        "stops",
        -32,
        32,
        values="a number of stops from {low:g} to {high:g}",
        scope="command",
        default_text="0",
    ),
    Option(
        "stats",
        values.read_file,
        None,
        "write what was counted in every pass: calls, steps, tests, times",
        "FILE.json",
        values="a file name such as stats.json",
        scope="command",
        default_text="none",
    ),
    Option(
        "frames",
        values.read_frames,
        None,
        "render frames of motion: into files numbered by %04d in the name of -o, or into one .mp4 or .gif",
        "FIRST-LAST",
        values="two whole numbers such as 0-119, the first not after the last, up to {high}",
        high=values.LAST_FRAME,
        scope="command",
        default_text="none",
    ),
    Option(
        "fps",
        values.read_real,
        30.0,
        "frames in a second: frame n shows the animation at n / fps seconds",
        "N",
        low=0.01,
        high=1000,
        values="a number from {low:g} to {high:g}",
        scope="command",
        default_text="30",
    ),
    Option("turntable", values.read_switch, False, "in these frames the camera goes once around", scope="command"),
    Option(
        "moment",
        values.read_optional_closed_real,
        None,
        "one picture of the animation at this time",
        "SECONDS",
        low=0,
        high=1e6,
        values="a number of seconds from {low:g} to {high:g}",
        scope="command",
        default_text="as the file has it at rest",
    ),
    Option(
        "animation",
        values.read_optional_name,
        None,
        "which of the scene's animations plays",
        "NAME|N",
        values="a name, or a number from 0 in the file's order",
        scope="command",
        default_text="the scene's first",
    ),
    Option(
        "device",
        values.read_optional_integer,
        None,
        "the GPU by its number in 'raystream devices'",
        "N",
        "",
        0,
        255,
        default_text="the driver's",
    ),
    Option(
        "barrier",
        values.read_word,
        "auto",
        "off copies streams between passes even where the driver has a texture barrier",
        "NAME",
        choices=("auto", "off"),
    ),
    Option(
        "memory",
        values.read_word,
        "auto",
        "where scene data lies; texture takes 2-D and 3-D textures even where buffer textures are large enough",
        "NAME",
        choices=("auto", "texture"),
    ),
    Option(
        "preset",
        values.read_optional_word,
        None,
        "other defaults; 2002: the path tracer as it was published, 256 x 256, 64 samples, two bounces",
        "NAME",
        choices=("2002",),
        scope="command",
        default_text="none",
    ),
    Option("quiet", values.read_switch, False, "print nothing but errors", scope="command"),
    Option("debug", values.read_switch, False, "show the traceback of an error", scope="command"),
)

OPTIONS: dict[str, Option] = {entry.name: entry for entry in _TABLE}


def option(name: str) -> Option:
    """The option of that name; raises ViewerError for an unknown one, with the closest known."""
    try:
        return OPTIONS[name]
    except KeyError:
        raise ViewerError(f"option '{name}'", "unknown", suggestion(name, OPTIONS)) from None


def check(name: str, value: Any, choices: Collection[str] = ()) -> Any:
    """The checked value of an option, from a text of the command line or a Python value; a checked value stays itself.

    choices : the words that higher floors know, for ``program`` and ``layers``.

    Returns by name: size (width, height); policy `PolicyChoice`; unroll `Unroll`; grid int or ``"auto"``; layers a
    tuple of names, each once; camera the text or object as it is, or None; fov and device a number or None.
    Raises ViewerError that names the option, the value and what is expected.
    """
    found = option(name)
    if choices:
        found = with_choices(found, tuple(choices))
    return found.read(found, value)


def most_samples(spp: int | None, time: float | None, error: float | None) -> int:
    """At most how many samples of a pixel these checked values mean: without ``spp`` few, but where a time or an error
    is given, so many that these decide."""
    if spp is not None:
        return spp
    return FEW_SAMPLES if time is None and error is None else MOST_SAMPLES


@cache
def with_choices(given: Option, choices: tuple[str, ...]) -> Option:
    """The option with the words that a higher floor knows."""
    return replace(given, choices=choices)


def keywords(scope: Scope) -> list[str]:
    """The names of the options that the ``Renderer`` (scope ``renderer``), its ``render`` or
    `viewer.renderer.prepared.prepare` takes as keywords; the renderer takes those of ``prepare`` too."""
    scopes = (scope, "prepare") if scope == "renderer" else (scope,)
    return [name for name, found in OPTIONS.items() if found.scope in scopes]


def markdown_table(choices: Mapping[str, Collection[str]] | None = None) -> str:
    """The README's table of options, in Markdown; ``choices`` as in `check`, by option."""
    rows = ["| option | values | default | what it does |", "|---|---|---|---|"]
    for name, found in OPTIONS.items():
        if choices and name in choices:
            found = with_choices(found, tuple(choices[name]))
        typed = f"`{found.short}`, " if found.short else ""
        typed += f"`{found.flag} {found.metavar}`" if found.metavar else f"`{found.flag}`"
        expected = found.expected()
        cells = [typed, expected, found.default_words(), found.help]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(markdown_table())
