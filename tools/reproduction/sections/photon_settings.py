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
from raystream.renderer.photon_map import MAX_RADIUS_SHARE
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.caustics import PUBLISHED

from .. import timed
from ..context import Context
from ..photon_cases import STAGES, renderer_of
from ..photon_pictures import POINTS, ends, greatest_radius, published
from ..published.chapter6 import INTERACTIVE, SETTINGS, STENCIL_EDGES, TABLE_6_1, WINDOWS
from ..report import (
    ALL,
    ARITHMETIC,
    CLAIM,
    OTHER_DEVICE,
    OWN,
    ROUND_NUMBER,
    Check,
    Parts,
    about,
    beside,
    concluded,
    described,
    exact,
    faults,
    near,
    section,
    tabled,
    told,
)

# Photons depend on chance and on geometry that is not published; "stored" is printed in thousands.
SENT = "as many photons are sent as store about the number printed in thousands"
MAP = STAGES[:2]  # tracing photons, building their map
MOVED = 0.02  # of what moves, scene units
MOVES = {"light": "the lamp", "geometry": "the ball", "camera": "the eye: photons and map are kept"}
NAMES = {"light": "lamp", "geometry": "ball"}  # of instances
FOOTPRINT = 4  # m of stencil routing here
SAMPLERS = {name: preset("2003", each.scene)["sampler"] for name, each in TABLE_6_1.items()}


def _chosen(context: Context) -> dict[str, str]:
    """What each scene has its own value of, of what the papers leave open."""
    sent, reach = [], []
    for name, each in TABLE_6_1.items():
        settings, scene = PUBLISHED[each.scene], context.scene(each.scene)
        sent.append(f"{name} {settings['photons']:,} + {settings['caustic_photons']:,}")
        low, high = np.asarray(scene.bounds(ground=False), float)
        reach.append(f"{name} {greatest_radius(scene):.3g} (longest side {float(np.max(high - low)):.3g})")
    share = str(Fraction(MAX_RADIUS_SHARE).limit_denominator(1000))
    return {"sent": ", ".join(sent), "share": share, "reach": ", ".join(reach)}


@section("photon_settings", paper="D 6.3.1, P3 3.1", title="The three scenes and their settings (section 6.3.1)")
def photon_settings(context: Context) -> Parts:
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
        photons = beside(theirs.stored, None, "not counted with --quick")
        if stored is not None:
            photons = near(theirs.stored, stored, ROUND_NUMBER, SENT)
        rows.append((name, *cells, photons))
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
    note = "" if not context.quick else "Photons are counted without --quick."
    yield tabled("settings_of_the_preset_2003", rows, checks, note=note)
    own = {name: OPTIONS[name].value.default for name in ("sampler", "photon_bounces")}
    samplers = " or ".join(dict.fromkeys(SAMPLERS.values()))
    yield tabled("what_the_papers_say_of", described("photons_told", samplers=samplers, **own))
    yield tabled("what_the_papers_leave_open", described("photons_open", **own, **_chosen(context)))
    yield from faults("D 6.3.1")


def _by(value: Any) -> Any:
    return " x ".join(map(str, value)) if isinstance(value, tuple) else value


def _stored(context: Context, name: str) -> int:
    renderer, (width, height) = renderer_of(name, context.device, False)
    renderer.render((width // 8, height // 8), spp=1)
    stored = int(renderer.photon_map.stored)
    renderer.release()
    return stored


@section("search_end", paper="D 6.2.3, P3 2.3", title="How the search for photons ends", order=4)
def search_end(context: Context) -> Parts:
    """The published end of the search, beside one that goes on until no nearer photon can come."""
    scale = 8 if context.quick else 2
    names = tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)
    found = {name: context.keep(("ends", name, scale), lambda name=name: _ends(name, scale)) for name in names}
    yield told("search_end")
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
    yield tabled("light_of_the_photons_by", rows, [*checks, alike], points=POINTS, scale=scale, light=2 / np.pi)
    lights = ", ".join(f"{each['lit']:.2f}" for each in found.values())
    yield concluded(
        "all_in_sphere",
        checks,
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
def interactive(context: Context) -> Parts:
    """Photons, map and picture anew, in windows of both sizes."""
    rows, made = [], []
    for paper, edge in WINDOWS.items():
        edge = edge // 4 if context.quick else edge
        found = timed.keep(context, ("interactive", edge), lambda edge=edge: _anew(context, edge))["anew"]
        made.append(found.median)
        rows.append((f"{paper}, {edge} x {edge}", beside(INTERACTIVE, found.wall.text(), OTHER_DEVICE)))
    small = " A quarter of that, with few photons." if context.quick else ""
    yield tabled("glass_ball_from_a_moved", rows, device=context.device_name, small=small)
    yield from _moves(context)
    yield concluded(
        "moved_live", [None], f"here {', '.join(f'{each:.3g} s' for each in made)} on {context.device_name}, of today"
    )


def _moves(context: Context) -> Parts:
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
    yield tabled("glass_ball_edge_x_edge", rows, checks, edge=edge)


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
