"""The table of A, its figures 1, 4, 5 and 6, its test of a triangle, what moves, its packets of four rays, and paths
that a least intensity ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream import Picture, Renderer
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
from ..report import Figure, Parts, beside, captioned, checked, concluded, listed, section, tabled, worded
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
FRAME = 0.04  # seconds between two frames of what moves
MOVING = "Balls-1"
MOVES = f"{MOVING}, as it moves"
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
GAIN = 0.10  # of the conditional
SHARE = 0.005  # of the pixels that the planes may show another way: along edges
PACKET = 4


@section(
    "adinetz", paper="A 5", title="Classical ray tracing of seven scenes (table, figures 1, 4, 5 and 6)", timed=True
)
def seven_scenes(context: Context) -> Parts:
    """Stand-ins of the same counts, in two levels."""
    edge = SIZE // 8 if context.quick else SIZE
    rows: list[tuple[Any, ...]] = []
    checks = []
    made = timed.keep(context, ("fps", edge), lambda: pictures(context, edge))
    fps = {name: each.wall.of(lambda seconds: 1 / seconds) for name, each in made.items()}
    why = f"{report.OTHER_DEVICE} than the published {DEVICE}; a stand-in of the same counts"
    for name, entry in TABLE.items():
        shown = {**SETTINGS, "environment": "sky"}
        shot = Shot(lambda entry=entry: (context.scene(entry.scene), None), (edge, edge), 1, shown)
        note = f"To be seen: {SHOWS[name]}. " if name in SHOWS else ""
        note += "The scene is a stand-in of our own, under a sky."
        title = f"Figure {FIGURES[name]}: {name}" if name in FIGURES else name
        yield Figure(title, png=sheet(context, name, shot), note=note, alt=entry.scene)
        counts = tuple(context.keep(("counts", name), lambda entry=entry: _counts(context.scene(entry.scene))))
        if entry.triangles is not None:
            theirs = (entry.triangles, entry.instances, entry.lights)
            texts = {"theirs": listed(theirs, ","), "ours": listed(counts, ",")}
            checks.append(checked("stand_in_counts", counts == theirs, name=name, **texts))
        each = (*(f"{number:,}" for number in counts),)
        rows.append((MOVES if name == MOVING else name, *each, beside(entry.fps, fps[rows_name(name)].text(), why)))
        if name == MOVING:
            rows.append((f"{name}, at rest", *each, beside("", fps[name].text(), report.NOT_PRINTED)))
    frame: dict[str, Any] = {"edge": edge, "slack": PUBLISHED_SLACK, "frame": FRAME}
    yield tabled("classical_frames", rows, checks, device=context.device_name, theirs=DEVICE, **frame)
    method = {"interface": INTERFACE, "texture": TEXTURE, "block": BLOCK, "depth": SETTINGS["depth"]}
    yield tabled("the_method_published_and_here", report.described("classical", **method))
    least, most = (end(each.median for each in fps.values()) for end in (min, max))
    yield concluded("frame_rates", [None], f"here {least:.3g} to {most:.3g} on {context.device_name}")
    slower = made[MOVES].median / made[MOVING].median - 1
    text = f"{MOVING}: {slower:+.0%} of a frame's seconds on {context.device_name}"
    yield concluded("moving", [slower <= report.LITTLE], text)
    note = "Ours addresses blocks through a table of tiles, and steps once a voxel's triangles are tested."
    yield listing("Figure 2: our traversal of the grid", "accel/grid_adinetz.glsl", note)
    note = "Ours scales the planes of the sides by 1 / h."
    yield listing("Figure 3: our ray-triangle intersection by planes", "accel/triangle_planes.glsl", note)
    yield captioned("grids_in_texture", svg=draw_texture())
    yield captioned("loops_of_pass", svg=by_hand("loops_of_pass"))
    yield from _tests(context, edge)
    yield from four_rays(context)


def rows_name(name: str) -> str:
    """The case that a scene's published rate stands beside."""
    return MOVES if name == MOVING else name


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
            renderer = held.own(Renderer(scene, device=context.device, **SETTINGS))
            made[name] = partial(_picture, renderer, scene, edge, count(1) if name == MOVES else None)
        yield made


def _picture(renderer: Renderer, scene: Scene, edge: int, times: Iterator[int] | None) -> None:
    """times : of the frames of what moves, in `FRAME`."""
    if times is not None:
        posed = scene.posed(FRAME * next(times))
        pairs = enumerate(zip(scene.instances, posed.instances, strict=True))
        moved = [number for number, (one, now) in pairs if (one.transform != now.transform).any()]
        renderer.move({number: posed.instances[number].transform for number in moved})
    renderer.render((edge, edge), spp=1)


def _tests(context: Context, edge: int) -> Parts:
    """A 4.3: the planes, and the condition around the sides."""
    names = ("Knife",) if context.quick else ("Knife", MOVING, "Palace")
    rows, gains, checks = [], [], []
    for name in names:
        differ = context.keep(("differ", name, edge), lambda name=name: differ_by_test(context, name, edge))
        made = timed.keep(context, ("tests", name, edge), lambda name=name: tested(context, name, edge))
        rows += [(f"{name}, {each}", made[each].wall.text(), f"{100 * differ[each]:.3f} %") for each in TESTS]
        gains.append(made["planes"].median / made[CONDITION].median - 1)
        share = differ[SLACKLESS]
        checks.append(checked("planes_watertight", share <= SHARE, name=name, share=share, all=SHARE))
    yield tabled("the_triangle_s_test", rows, checks, edge=edge, published_slack=PUBLISHED_SLACK)
    texts = {"gains": listed(gains, "+.1%"), "names": listed(names), "points": report.POINTS}
    text = worded("conditional", device=context.device_name, theirs=DEVICE, **texts)
    yield concluded("conditional", [report.at_points(GAIN, each) for each in gains], text)


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


def four_rays(context: Context) -> Parts:
    """The wish for four rays at once, simulated."""
    edge, rows = 64 if context.quick else SIZE, []
    saved: dict[str, list[float]] = {}
    for name in ("Knife", "Palace") if context.quick else TABLE:
        found = context.keep(("packets", name, edge), lambda name=name: packets(context.scene(TABLE[name].scene), edge))
        for kind, (one, four) in found.items():
            fetched, own = four[0] / one[0], four[1] / max(one[1], 1)
            rows.append((f"{name}, {kind}", f"{one[2]:,}", *(f"{each:.2f}" for each in (fetched, own, 4 * fetched))))
            saved.setdefault(kind, []).append(fetched)
    eye, mirrored = (sum(each) / len(each) for each in saved.values())
    least, most = (end(each for values in saved.values() for each in values) for end in (min, max))
    within = least >= 1 / PACKET and most <= 1
    share = checked("packets_fetch", within, bound=1 / PACKET, least=least, most=most)
    yield tabled("packets_of_four_rays_relative", rows, [share], edge=edge, eye=eye, mirrored=mirrored)


def packets(scene: Scene, edge: int) -> dict[str, list[list[int]]]:
    """Boxes and triangles fetched, and rays, of single rays and of packets: of eye rays, and of those mirrored."""
    flat = scene.flatten()
    structure, corners = hierarchy(scene, flat), flat.corners()
    eye = blocks(eye_rays(scene.camera(), (edge, edge)), edge, edge)
    found = traffic(structure, _rows(eye), 1)
    hit = found.face >= 0
    at, normal = places(eye[hit], found.distance[hit], found.face[hit], corners)
    mirrored = np.zeros((len(eye), ROW - 1), np.float32)
    mirrored[:, 3], mirrored[:, 6] = 1.0, -1.0  # those without a hit take no part
    mirrored[hit] = _rows(reflected_rays(eye[hit], at, normal))
    made = {}
    for kind, rays in {"eye rays": _rows(eye), "mirrored rays": mirrored}.items():
        each = [traffic(structure, rays, size) for size in (1, PACKET)]
        made[kind] = [[one.boxes, one.triangles, one.rays] for one in each]
    return made


def _rows(rays: Any) -> Any:
    return np.concatenate([rays["origin"], rays["direction"], rays["t_max"][:, None]], axis=1).astype(np.float32)


# -- A 2: paths that a least intensity ends ----------------------------------------------------------------------------

# Two stand-ins of A's; and glass, of which each surface has two children.
SCENES = {"SR71A": TABLE["SR71A"].scene, "PalmPC": TABLE["PalmPC"].scene, "Glass ball of P3": "glass_ball"}
DEEP, LESS_DEEP = 16, 12  # the greatest depths: of rays that a least intensity is to end first
VISIBLE = 1 / 256  # a step of 8 bits
LEAST = (VISIBLE, 4 * VISIBLE, 16 * VISIBLE)  # weights


@section("min_intensity", paper="A 2", title="Paths that a least intensity ends (section 2)")
def min_intensity(context: Context) -> Parts:
    """Reflected and refracted rays with and without, and how far the pictures differ."""
    edge, rows = SIZE // 8 if context.quick else SIZE // 2, list[tuple[Any, ...]]()
    saved, ended, other, beyond = [], [], 0, 0
    for name, scene in SCENES.items():
        found = context.keep(("rays", name, edge), lambda scene=scene: rays(context, scene, edge))
        everything, visible = found["0"]["rays"], found[f"{VISIBLE:g}"]
        for least in (0.0, *LEAST):
            each = found[f"{least:g}"]
            what = f"{name}, 1 / {1 / least:g}" if least else f"{name}, none"
            off = (f"{255 * each['most']:.0f}", f"{255 * each['mean']:.3f}") if least else (None, None)
            rows.append((what, f"{each['rays']:,}", f"{1 - each['rays'] / everything:.1%}", *off))
            other += each["other"]
        saved.append(f"{1 - visible['rays'] / everything:.0%} of {name}")
        ended.append(visible["rays"] == visible["less deep"])
        beyond += visible["rays"] - visible["less deep"]
    yield tabled(
        "rays_with_a_least_intensity", rows, [checked("bits_kept", other == 0, other=other)], edge=edge, deep=DEEP
    )
    texts = {"least": 1 / VISIBLE, "depth": LESS_DEEP, "beyond": beyond, "saved": listed(saved)}
    yield concluded("ends_early", ended, worded("ends_early", **texts))


def rays(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Of each least weight (``"0"``: none) the reflected and refracted rays, also with `LESS_DEEP` surfaces; the
    largest and the mean difference of the display's values from the picture of all rays; and pixels that are others
    though every ray was traced."""
    results: dict[str, Any] = {}
    with Releasing() as held:
        settings = {**SETTINGS, "depth": DEEP}
        renderer = held.own(Renderer(context.scene(name), device=context.device, **settings))

        def picture(least: float, depth: int) -> Picture:
            renderer.update(min_intensity=least, depth=depth)
            return renderer.render((edge, edge), spp=1, stats=True)

        whole = picture(0.0, DEEP)
        for least in (0.0, *LEAST):
            each = picture(least, DEEP)
            off = np.abs(displayed(each) - displayed(whole))
            traced = each.stats.calls["arrive"] == whole.stats.calls["arrive"]
            differ = (np.asarray(each.linear) != np.asarray(whole.linear)).any(axis=2)
            counts = {"rays": spawned(each), "less deep": spawned(picture(least, LESS_DEEP))}
            differences = {"most": float(off.max()), "mean": float(off.mean()), "other": int((differ & traced).sum())}
            results[f"{least:g}"] = {**counts, **differences}
    return results


def displayed(picture: Picture) -> NDArray[np.float32]:
    """A picture as it is displayed, 0 to 1."""
    return picture.srgb8(exposure=0.0, tonemap="none").astype(np.float32) / np.float32(255)


def spawned(picture: Picture) -> int:
    """The reflected and refracted rays of a counted picture: those that arrive, less the camera's."""
    calls = picture.stats.kernels
    return calls["arrive"].calls - calls["root"].calls
