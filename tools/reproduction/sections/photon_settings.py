"""D 6.3.1: settings of the three scenes, and what the papers leave open; how the search ends; moving lights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from raystream.cli.presets import preset
from raystream.options.table import OPTIONS
from raystream.renderer.device.tile_job import PICTURE
from raystream.renderer.photon_map import NEAREST_SHARE
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.caustics import PUBLISHED

from .. import timed
from ..context import Context
from ..counted import faults
from ..grades import ALL, OTHER_DEVICE, ROUND_NUMBER, about, beside, exact, near
from ..model import ARITHMETIC, CLAIM, OURS, OWN, Cell, Check, Conclusion, Part, Table, Text
from ..photon_cases import renderer_of
from ..photon_pictures import POINTS, ends, greatest_radius, published
from ..photon_stages import STAGES
from ..published.chapter6 import INTERACTIVE, SETTINGS, STENCIL_EDGES, TABLE_6_1, WINDOWS
from ..registry import section

# Photons depend on chance and on geometry that is not published; "stored" is printed in thousands.
SENT = "as many photons are sent as store about the number printed in thousands"
MAP = STAGES[:2]  # tracing photons, building their map
MOVED = 0.02  # of what moves, scene units
MOVES = {"light": "the lamp", "geometry": "the ball", "camera": "the eye: photons and map are kept"}
NAMES = {"light": "lamp", "geometry": "ball"}  # of instances
FOOTPRINT = 4  # m of stencil routing here
SAMPLERS = {name: preset("2003", each.scene)["sampler"] for name, each in TABLE_6_1.items()}
TOLD = (
    (
        "Random numbers for directions",
        "a texture",
        f"--sampler {' or '.join(dict.fromkeys(SAMPLERS.values()))} in figure 6.7 and in how the search ends; what is "
        f"timed or counted, and figure 6.8, have the program's own points, {OPTIONS['sampler'].value.default}",
    ),
    (
        "Structure over the scene",
        "none: a routine for each scene, of tests with its quadrics and polygons",
        "--accel none: every ray is tested against all of them; balls and rings are quadrics",
    ),
    ("Rays", "one from the eye a pixel; a pass gives the hits of one depth", "one from the eye a pixel"),
)
OPEN = (
    ("Bounces of a photon", "not given", f"--photon-bounces, {OPTIONS['photon_bounces'].value.default}"),
    ("Power, absorption", "not given", "alike at the lights; Russian roulette by albedo"),
    (
        "End of the search",
        "k counted, or the maximum radius; not whether nearer photons are still looked for",
        "--estimate published, our reading: after the shell of the k-th; --estimate nearest looks on",
    ),
    (
        "Normalisation",
        "not given, nor which radius where fewer than k are found",
        "Jensen's: BSDF times power over pi r^2. r is the distance of the farthest of the first k; where fewer are "
        "found it is the greatest radius, as all of its disc was searched (finish_estimate.glsl)",
    ),
    ("Photons straight from a light", "not said", "not stored, since shadow rays bring that light"),
    ("Geometry, materials, cameras, powers", "not given", "our own: glass_ball, ring, cornell_photons"),
    ("m of stencil routing", "16, in 1024 x 1024 for 65,536 cells", "--footprint 4, the one that gives 65,536 cells"),
)


def _chosen(context: Context) -> Iterator[tuple[str, str, str]]:
    """What the papers leave open and each scene has its own value of."""
    sent, reach = [], []
    for name, each in TABLE_6_1.items():
        settings, scene = PUBLISHED[each.scene], context.scene(each.scene)
        sent.append(f"{name} {settings['photons']:,} + {settings['caustic_photons']:,}")
        low, high = np.asarray(scene.bounds(ground=False), float)
        reach.append(f"{name} {greatest_radius(scene):.3g} (longest side {float(np.max(high - low)):.3g})")
    yield (
        "Photons that leave the lights",
        "stored ones alone are given",
        f"--photons + --caustic-photons, these aimed at mirrors and glass: {', '.join(sent)}; about as many are stored "
        "as published",
    )
    yield (
        "Greatest radius",
        "not given",
        f"--photon-radius; without one {Fraction(NEAREST_SHARE).limit_denominator(1000)} of the scene's diagonal: "
        f"{', '.join(reach)}",
    )


@section("photon_settings", paper="D 6.3.1, P3 3.1", title="The three scenes and their settings (section 6.3.1)")
def photon_settings(context: Context) -> Iterator[Part]:
    """The published settings beside those of the preset 2003."""
    rows, checks = [], []
    for name, theirs in SETTINGS.items():
        ours = PUBLISHED[TABLE_6_1[name].scene]
        scene = context.scene(TABLE_6_1[name].scene)
        stored = None
        if not context.quick:
            stored = context.keep(("stored", name), lambda name=name: _stored(context, name))
        light = "point" if any(each.kind == "point" for each in scene.lights) else "area"
        both = (
            (theirs.size, tuple(ours["size"])),
            (theirs.grid, tuple(ours["photon_grid"])),
            (theirs.nearest, ours["nearest"]),
            (theirs.light, light),
            (theirs.samples, ours["light_samples"]),
        )
        cells = [exact(_by(a), _by(b)) for a, b in both]
        rows.append((name, *cells, _photons(theirs.stored, stored)))
        same = all(a == b for a, b in both)
        what = f"{name}: size, grid, k, light and light samples are the published ones"
        checks.append(Check(OWN, what, "yes", "yes" if same else "no", same, "the preset has others"))
        number, most = int(np.prod(theirs.grid)), STENCIL_EDGES[1]
        what = f"{name}: cells of the grid in a stencil buffer of 1024 x 1024 with m = {FOOTPRINT}"
        fits, why = number <= most, "the grid has more cells than the buffer"
        checks.append(Check(ARITHMETIC, what, f"<= {most:,}", f"{number:,}", fits, why))
        if stored is not None:
            close = about(theirs.stored, stored, ROUND_NUMBER)
            checks.append(
                Check(
                    OWN, f"{name}: photons stored", theirs.stored, stored, close, bound=f"to {ROUND_NUMBER:.0%}: {SENT}"
                )
            )
    heads = ("scene", "pixels", "grid", "k", "light", "light samples", "photons stored")
    note = "" if not context.quick else "Photons are counted without --quick."
    yield Table("Settings, of the preset 2003", heads, rows, note, checks)
    yield Table(
        "What the papers say of the method without a number", ("what", "papers", "here"), TOLD, own=("papers", "here")
    )
    open_ = [*_chosen(context), *OPEN]
    yield Table("What the papers leave open", ("what", "papers", "here"), open_, own=("papers", "here"))
    yield from faults("D 6.3.1")


def _photons(theirs: int, ours: int | None) -> Cell:
    if ours is None:
        return beside(theirs, ours, "not counted with --quick")
    return near(theirs, ours, ROUND_NUMBER, SENT)


def _by(value: Any) -> Any:
    return " x ".join(map(str, value)) if isinstance(value, tuple) else value


def _stored(context: Context, name: str) -> int:
    renderer, (width, height) = renderer_of(name, context.device, False)
    renderer.render((width // 8, height // 8), spp=1)
    stored = int(renderer.photon_map.stored)
    renderer.release()
    return stored


@section("search_end", paper="D 6.2.3, P3 2.3", title="How the search for photons ends", order=4)
def search_end(context: Context) -> Iterator[Part]:
    """The published end of the search, beside one that goes on until no nearer photon can come."""
    scale = 8 if context.quick else 2
    names = tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)
    found = {name: context.keep(("ends", name, scale), lambda name=name: _ends(name, scale)) for name in names}
    yield Text(
        "The text has the search go on until k photons are counted or the maximum radius is reached, and says that it "
        "finds all photons in a sphere. Read to the word, it ends after the shell in which the k-th photon was "
        "counted (our reading, --estimate published). The other reading goes on until the next shell lies beyond the "
        "radius (--estimate nearest). The papers do not say which was run."
    )
    rows, checks = [], []
    for name, each in found.items():
        rows.append((name, f"{each['enough']:.1%}", f"{each['same']:.1%}", f"{each['lit']:.3f}"))
        what = f"{name}: pixels that have k photons near, and in which our reading finds the nearest"
        why = "it ends after the shell in which k are counted: nearer photons lie in cells not yet visited"
        claimed, share = "all: every photon in a sphere around the query", each["same"]
        checks.append(Check(CLAIM, what, claimed, f"{share:.1%}", share > 1 - ALL, why))
    few = [each["few"] for each in found.values()]
    what = "pixels that have fewer photons near: the same light by either search"
    bound = f"in {1 - ALL:.0%} of them: float32, and photons at the radius itself"
    alike = Check(OWN, what, "all", ", ".join(f"{each:.1%}" for each in few), min(few) > 1 - ALL, bound=bound)
    yield Table(
        "Light of the photons, by our reading and by all photons searched for the k nearest",
        ("scene", "pixels with k photons", "of these alike", "light"),
        rows,
        f"Diffuse surfaces that the eye sees directly, in up to {POINTS:,} pixels of a picture of 1 / {scale} of the "
        "published width and height; the second search is in NumPy, over the same photons and with the same greatest "
        "radius, within which k are there or not. Light: of the first over the second, in all pixels. Where k are "
        "there the first is too dark: cells make squares, the farthest photon lies near a corner, and the circle "
        f"through it, with pi / 2 of the square's area, has {2 / np.pi:.2f} of the light; less still where one cell "
        "holds k photons and the point lies near its edge.",
        [*checks, alike],
        own=OURS,
    )
    lights = ", ".join(f"{each['lit']:.2f}" for each in found.values())
    yield Conclusion(
        "D 6.2.3, P3 2.3",
        "The search over the grid finds all photons in a sphere around the query.",
        [check.passed for check in checks],
        f"by our reading of where it ends, in {', '.join(check.ours for check in checks)} of the pixels that have k "
        f"photons near, with {lights} of the light of all; a search that looks on until no nearer photon can come has "
        "it by its construction",
    )
    yield from faults("D 6.2.3")


def _ends(name: str, scale: int) -> dict[str, float]:
    """What `ends` finds of a scene of table 6.1."""
    renderer, (width, height), _ = published(TABLE_6_1[name].scene)
    try:
        return ends(renderer, (width // scale, height // scale))
    finally:
        renderer.release()


@section("interactive", paper="D 6.3.4, P3 3.4", title="Moving lights, geometry and camera", order=5, timed=True)
def interactive(context: Context) -> Iterator[Part]:
    """Photons, map and picture anew, in windows of both sizes."""
    rows, made = [], []
    for paper, edge in WINDOWS.items():
        edge = edge // 4 if context.quick else edge
        found = timed.keep(context, ("interactive", edge), lambda edge=edge: _anew(context, edge))["anew"]
        made.append(found.median)
        rows.append((f"{paper}, {edge} x {edge}", beside(INTERACTIVE, found.wall.text(), OTHER_DEVICE)))
    yield Table(
        "GLASS BALL: from a moved light to the converged picture",
        ("window", "seconds"),
        rows,
        note=f"Ours on {context.device_name}: the light moved, photons traced, map and picture made, one sample a "
        "pixel. The size is 160 x 160 in P3 and 256 x 256 in D, with the same time."
        + (" A quarter of that, with few photons." if context.quick else ""),
    )
    yield from _moves(context)
    yield Conclusion(
        "D 6.3.4, P3 3.4",
        "Light and geometry can be moved live: rebuilt and converged in one or two seconds.",
        [None],
        f"here {', '.join(f'{each:.3g} s' for each in made)} on {context.device_name}, of today",
    )


def _moves(context: Context) -> Iterator[Part]:
    """What is made anew after each kind of move, in the larger window."""
    edge = WINDOWS["D"] // 4 if context.quick else WINDOWS["D"]
    found = timed.keep(context, ("moved", edge), lambda: _after(context, edge))
    rows, checks = [], []
    for what, named in MOVES.items():
        stages = found[what].parts
        seconds = (stages[stage].text() if stage in stages else "0" for stage in (*MAP, PICTURE))
        rows.append((f"{what}: {named}", *seconds, found[what].wall.text()))
        traced, expected = MAP[0] in stages, what != "camera"
        words = {True: "traced again", False: "kept"}
        why = "photons depend on lights and geometry alone"
        checks.append(Check(OWN, f"{what} moved: photons", words[expected], words[traced], traced == expected, why))
    yield Table(
        f"GLASS BALL, {edge} x {edge}: seconds of the next picture, by what moved",
        ("moved", "photons", "map", "picture", "whole"),
        rows,
        note="Whole: by the clock, with what the host does between; programs are compiled before.",
        checks=checks,
        own=OURS,
    )


@contextmanager
def _after(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Pictures after a move to and fro, by what moves, with the seconds of their stages."""
    renderer, _ = renderer_of("GLASS BALL", context.device, context.quick)
    executor, sides = renderer.sampler.scene.executor, cycle((1.0, -1.0))

    def case(what: str) -> dict[str, float]:
        way = MOVED * next(sides)
        if what == "camera":
            x, y, z = renderer.camera.origin
            renderer.update(camera=replace(renderer.camera, origin=(x + way, y, z)))
        else:
            _move(renderer, way, NAMES[what])
        executor.times = {}
        renderer.render((edge, edge), spp=1)
        stages, executor.times = dict(executor.times), None
        return stages

    with timed.Releasing() as held:
        held.own(renderer)
        yield {what: partial(case, what) for what in MOVES}


@contextmanager
def _anew(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """From a lamp that moves to and fro to the picture."""
    renderer, _ = renderer_of("GLASS BALL", context.device, context.quick)
    sides = cycle((1.0, -1.0))

    def case() -> None:
        _move(renderer, MOVED * next(sides))
        renderer.render((edge, edge), spp=1)

    with timed.Releasing() as held:
        held.own(renderer)
        yield {"anew": case}


def _move(renderer: Renderer, way: float, name: str = "lamp") -> None:
    """An instance a little to the side."""
    scene = renderer.scene
    place = next(k for k, each in enumerate(scene.instances) if each.name == name)
    turned = np.array(scene.instances[place].transform, float)
    turned[0, 3] += way
    instances = [replace(each, transform=turned) if k == place else each for k, each in enumerate(scene.instances)]
    renderer.update(scene=replace(scene, instances=instances))
