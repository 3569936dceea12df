"""The table of A, its figures 1, 4, 5 and 6, its test of a triangle, what moves, and its packets of four rays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import numpy as np

import raystream
from raystream.accel.grid.blocks import BLOCK
from raystream.accel.primitives import PUBLISHED_SLACK
from raystream.scene.scene import Scene
from reproduction.simulators.packets import ROW, blocks, traffic
from reproduction.simulators.rays import eye_rays, places, reflected_rays
from reproduction.simulators.whitted.model import hierarchy

from .. import report, timed
from ..context import Context
from ..drawings import by_hand, draw_texture
from ..plane_tests import CONDITION, by_test, differing
from ..published.adinetz import DEVICE, FIGURES, INTERFACE, SIZE, TABLE, TEXTURE
from ..report import LITTLE, OWN, POINTS, Check, Figure, Parts, beside, captioned, concluded, listed, section, tabled
from ..shown import Shot, sheet
from ..timed import Case, Releasing
from .diagrams import listing

# Two levels of grids in one pass, shadows and reflections, triangles by planes, as published.
SETTINGS: dict[str, Any] = {
    "program": "whitted",
    "accel": "two-level-grid",
    "machine": "singlepass",
    "depth": 4,
    "intersection": "planes",
    "plane_slack": PUBLISHED_SLACK,
    "environment": "none",  # lit by their lamps alone
}
SHOWN = {**SETTINGS, "environment": "sky"}
FRAME = 0.04  # seconds between two frames of what moves
MOVING = "Balls-1"
MOVES = f"{MOVING}, as it moves"
WHY = f"{report.OTHER_DEVICE} than the published {DEVICE}; a stand-in of the same counts"
SLACKLESS = "planes, weights to 1"
TESTS = {
    "planes": SETTINGS,
    CONDITION: SETTINGS,
    SLACKLESS: {**SETTINGS, "plane_slack": 1.0},
    "watertight": {**SETTINGS, "intersection": "watertight"},
}
SHOWS = {
    "Balls-1": "the two balls in the middle mirror each other and the rest, also as they move",
    "Chair_wood": "the shadow of the chair's back, from a distant light",
}
METHOD = {"interface": INTERFACE, "texture": TEXTURE, "block": BLOCK, "depth": SETTINGS["depth"]}
GAIN = 0.10  # of the conditional
SHARE = 0.005  # of the pixels that the planes may show another way: along edges
PACKET = 4


@section(
    "adinetz", paper="A 5", title="Classical ray tracing of seven scenes (table, figures 1, 4, 5 and 6)", timed=True
)
def make(context: Context) -> Parts:
    """Stand-ins of the same counts, in two levels."""
    edge = SIZE // 8 if context.quick else SIZE
    rows, checks, rates = [], [], []
    made = timed.keep(context, ("fps", edge), lambda: pictures(context, edge))
    for name, entry in TABLE.items():
        shot = Shot(lambda entry=entry: (context.scene(entry.scene), None), (edge, edge), 1, SHOWN)
        figure = f"Figure {FIGURES[name]}: {name}" if name in FIGURES else name
        note = f"To be seen: {SHOWS[name]}. " if name in SHOWS else ""
        note += "The scene is a stand-in of our own, under a sky."
        yield Figure(figure, png=sheet(context, name, shot), note=note, alt=entry.scene)
        counts = tuple(context.keep(("counts", name), lambda entry=entry: _counts(context.scene(entry.scene))))
        shown = tuple(f"{each:,}" for each in counts)
        if entry.triangles is not None:
            theirs = (entry.triangles, entry.instances, entry.lights)
            what, same = f"{name}: triangles, instances, lights", counts == theirs
            printed, own = (listed(each, ",") for each in (theirs, counts))
            checks.append(Check(OWN, what, printed, own, same, "our stand-in has other counts"))
        fps = {each: made[each].wall.of(lambda seconds: 1 / seconds) for each in made if each.startswith(name)}
        rates += [each.median for each in fps.values()]
        if name == MOVING:
            rows.append((MOVES, *shown, beside(entry.fps, fps[MOVES].text(), WHY)))
            rows.append((f"{name}, at rest", *shown, beside("", fps[name].text(), report.NOT_PRINTED)))
        else:
            rows.append((name, *shown, beside(entry.fps, fps[name].text(), WHY)))
    frame: dict[str, Any] = {"edge": edge, "slack": PUBLISHED_SLACK, "frame": FRAME}
    yield tabled("classical_frames", rows, checks, device=context.device_name, theirs=DEVICE, **frame)
    yield tabled("the_method_published_and_here", report.described("classical", **METHOD))
    yield concluded("frame_rates", [None], f"here {min(rates):.3g} to {max(rates):.3g} on {context.device_name}")
    slower = made[MOVES].median / made[MOVING].median - 1
    yield concluded(
        "moving", [slower <= LITTLE], f"{MOVING}: {slower:+.0%} of a frame's seconds on {context.device_name}"
    )
    yield from _diagrams()
    yield from _tests(context, edge)
    yield from _packets(context)


def _counts(scene: Scene) -> list[int]:
    """Triangles, instances, lights."""
    return [scene.triangle_count, len(scene.instances), len(scene.lights)]


@contextmanager
def pictures(context: Context, edge: int, names: Iterable[str] = (*TABLE, MOVES)) -> Iterator[dict[str, Case]]:
    """Scenes ready to be rendered again; and the one that moves, each time `FRAME` later."""
    made: dict[str, Case] = {}
    with Releasing() as held:
        for name in names:
            scene = context.scene(TABLE[MOVING if name == MOVES else name].scene)
            renderer = held.own(raystream.Renderer(scene, device=context.device, **SETTINGS))
            times = count(1) if name == MOVES else None
            made[name] = partial(_picture, renderer, scene, edge, times)
        yield made


def _picture(renderer: raystream.Renderer, scene: Scene, edge: int, times: Iterator[int] | None) -> None:
    """times : of the frames of what moves, in `FRAME`."""
    if times is not None:
        posed = scene.posed(FRAME * next(times))
        pairs = enumerate(zip(scene.instances, posed.instances, strict=True))
        moved = [number for number, (one, now) in pairs if (one.transform != now.transform).any()]
        renderer.move({number: posed.instances[number].transform for number in moved})
    renderer.render((edge, edge), spp=1)


def _diagrams() -> Parts:
    """Figures 2 and 3, the listings, as ours have them; and what the text says of grids in a texture and of loops."""
    note = "Ours addresses blocks through a table of tiles, and steps once a voxel's triangles are tested."
    yield listing("Figure 2: our traversal of the grid", "accel/grid_adinetz.glsl", note)
    note = "Ours scales the planes of the sides by 1 / h."
    yield listing("Figure 3: our ray-triangle intersection by planes", "accel/triangle_planes.glsl", note)
    yield captioned("grids_in_texture", svg=draw_texture())
    yield captioned("loops_of_pass", svg=by_hand("loops_of_pass"))


def _tests(context: Context, edge: int) -> Parts:
    """A 4.3: the planes, and the condition around the sides."""
    names = ("Knife",) if context.quick else ("Knife", MOVING, "Palace")
    rows, gains, checks = [], [], []
    bound = f"in all but {SHARE:.1%} of the pixels: rounding along edges"
    for name in names:
        differ = context.keep(("differ", name, edge), lambda name=name: differ_by_test(context, name, edge))
        made = timed.keep(context, ("tests", name, edge), lambda name=name: tested(context, name, edge))
        for each in TESTS:
            rows.append((f"{name}, {each}", made[each].wall.text(), f"{100 * differ[each]:.3f} %"))
        gains.append(made["planes"].median / made[CONDITION].median - 1)
        what, share = f"{name}: the planes with weights to 1 show the picture of the watertight test", differ[SLACKLESS]
        ours = f"{100 * share:.3f} % of the pixels differ"
        checks.append(Check(OWN, what, "the same", ours, share <= SHARE, bound=bound))
    yield tabled("the_triangle_s_test", rows, checks, edge=edge, published_slack=PUBLISHED_SLACK)
    yield concluded(
        "conditional",
        [report.at_points(GAIN, each) for each in gains],
        f"{listed(gains, '+.1%')} for {', '.join(names)}, to {100 * POINTS:.0f} points; "
        f"on {context.device_name}; published on an {DEVICE}",
    )


@contextmanager
def tested(context: Context, name: str, edge: int) -> Iterator[dict[str, Case]]:
    """The scene by each of `TESTS`, ready to be rendered again."""
    with by_test(context, context.scene(TABLE[name].scene), (edge, edge), TESTS) as renderers:
        yield {each: partial(_picture, r, r.scene, edge, None) for each, r in renderers.items()}


def differ_by_test(context: Context, name: str, edge: int) -> dict[str, float]:
    """The share of pixels in which each of `TESTS` shows another picture than the watertight one."""
    size = (edge, edge)
    with by_test(context, context.scene(TABLE[name].scene), size, TESTS) as renderers:
        found = {each: np.array(renderer.render(size, spp=1).linear) for each, renderer in renderers.items()}
    return {each: differing(picture, found["watertight"]) for each, picture in found.items()}


def _packets(context: Context) -> Parts:
    """The wish for four rays at once, simulated."""
    edge = 64 if context.quick else SIZE
    rows = []
    saved: dict[str, list[float]] = {}
    for name in ("Knife", "Palace") if context.quick else TABLE:
        found = context.keep(("packets", name, edge), lambda name=name: packets(context.scene(TABLE[name].scene), edge))
        for kind, (one, four) in found.items():
            fetched, own = four[0] / one[0], four[1] / max(one[1], 1)
            rows.append((f"{name}, {kind}", f"{one[2]:,}", *(f"{each:.2f}" for each in (fetched, own, 4 * fetched))))
            saved.setdefault(kind, []).append(fetched)
    eye, mirrored = (sum(each) / len(each) for each in saved.values())
    least, most = (end(each for values in saved.values() for each in values) for end in (min, max))
    what = "a packet fetches no more boxes than its rays one by one, and no fewer than four on one way"
    within, why = least >= 1 / PACKET and most <= 1, "packets lose nodes, or enter some that no ray of theirs meets"
    share = Check(OWN, what, f"{1 / PACKET:g} to 1", f"{least:.2f} to {most:.2f}", within, why)
    yield tabled("packets_of_four_rays_relative", rows, [share], edge=edge, eye=eye, mirrored=mirrored)


def packets(scene: Scene, edge: int) -> dict[str, list[list[int]]]:
    """Boxes and triangles fetched, and rays, of single rays and of packets: of eye rays, and of those mirrored."""
    flat = scene.flatten()
    structure, corners = hierarchy(scene, flat), flat.corners()
    eye = blocks(eye_rays(scene.camera(), (edge, edge)), edge, edge)
    given = {"eye rays": _rows(eye)}
    found = traffic(structure, given["eye rays"], 1)
    hit = found.face >= 0
    at, normal = places(eye[hit], found.distance[hit], found.face[hit], corners)
    mirrored = np.zeros((len(eye), ROW - 1), np.float32)
    mirrored[:, 3], mirrored[:, 6] = 1.0, -1.0  # those without a hit take no part
    mirrored[hit] = _rows(reflected_rays(eye[hit], at, normal))
    given["mirrored rays"] = mirrored
    made = {}
    for kind, rays in given.items():
        each = [traffic(structure, rays, size) for size in (1, PACKET)]
        made[kind] = [[one.boxes, one.triangles, one.rays] for one in each]
    return made


def _rows(rays: Any) -> Any:
    return np.concatenate([rays["origin"], rays["direction"], rays["t_max"][:, None]], axis=1).astype(np.float32)
