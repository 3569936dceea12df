"""The texture cache of D 5.2.3 and P2 4.1 to 4.3, and figure 5.6: traces of the simulated machines (eye rays, shadows,
reflections) through caches, bytes with them over bytes without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.simulators import references
from reproduction.simulators.machines import EYE, INTERSECT, OTHER_PASSES, STEP
from reproduction.simulators.rays import eye_rays, places, reflected_rays, shadow_rays
from reproduction.simulators.references import LISTS, STREAM, STRUCTURES, TRIANGLES, Cache, Layout, Traffic, play_all
from reproduction.simulators.walk import BEYOND, Space, walk

from .. import measured, plots, report
from ..context import Context
from ..published.chapter5 import CACHE, TABLE_5_1, TRIANGLE_HITS
from ..report import LITTLE, MUCH, POINTS, Check, Parts, checked, concluded, listed, percent, section, tabled, worded

EDGE = 1024  # of the papers' pictures
QUICK_ROWS, TILED_ROWS = 8, 128  # rows of a picture that are traced: quick, and of tiles; else all
LIGHTS = 3
SETUP_PASSES = OTHER_PASSES - 2  # less those of eye rays and of shading
BOUNCES = 2
MACHINES = ("SIMD", "MIMD")
# Sets of a direct-mapped cache of 48-byte lines, and other shapes of 64 kB.
SHAPES: dict[str, dict[str, Any]] = {
    "1365 lines": {},
    "1024 lines": {"sets": 1024},
    "2048 lines": {"sets": 2048},
    "4 ways": {"ways": 4},
    "64-byte lines": {"line": 64},
}
# Tried where figures differ: pixels a side, and by how much normals are turned, and where lights are: heights above the
# forest's middle, in those of its box.
TOP, COARSER, FINER, OFF, REASON_ROWS = "Forest Top Down", (1024, 512), (1024, 4096), (0.03, 0.1), 128
HEIGHT, HEIGHTS = 1.5, (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
WAYS = (1, 4)  # of the cache: lines of one set push each other out, or do not
BY_LIGHT = "a light after the other"  # the order of shadow rays
RULES = ("kept", "a miss")  # hits beyond the voxel: ours, and the published rule
PARTS = {"state": "state", "stream": "stream data", "structures": "data structures"}
HALF = 0.005  # of a printed percent
# Claims, and words of the statements of their checks.
CLAIMS = {
    "cache_little": "SIMD gains little",
    "triangle_hits": "hits of triangle data",
    "shadow_gain": "Shadow: MIMD",
    "reflect_nothing": "Reflect: MIMD",
    "simd_nothing": "SIMD has no gain",
}
NOTHING: Mapping[str, float] = MappingProxyType({})
Group = Sequence[NDArray]  # rays of one type each, as the SIMD machine runs them: each to its end before the next
Pixels = tuple[NDArray, NDArray]  # rays, and the numbers of their pixels
Row = dict[str, Any]  # of `play`


@section("cache", paper="D 5.2.3, P2 4.1, P2 4.2, P2 4.3, P2 5.3", title="Texture cache (figure 5.6; P2 9)")
def make(context: Context) -> Parts:
    """References of both machines in raster order, played through caches."""
    rows = QUICK_ROWS if context.quick else EDGE
    some = min(rows, REASON_ROWS)
    found = yield from measured.of_views(
        context, "eye rays", (EDGE, rows), lambda context, name: eye_traces(context, name, rows)
    )
    for kind, rays in (("Shadow", shadow), ("Reflect", reflect)):
        found[kind] = context.keep((kind, EDGE, rows), lambda rays=rays: secondary(context, rays, rows))
    found["Shadow"][BY_LIGHT] = context.keep(("Shadow", BY_LIGHT, EDGE, rows), lambda: by_light(context, rows))
    reasons = context.keep(("reasons", EDGE, some), lambda: try_reasons(context, some))
    turns = context.keep(("Reflect tried", EDGE, some), lambda: try_reflect(context, some))
    pairs = [(name, row, machine, row[machine]) for name, row in found.items() for machine in MACHINES]
    lines = []
    for name, row, machine, kept in pairs:
        parts = [percent(kept[kind][1] / max(1, kept[kind][0]), ".0f") for kind in ("stream", "structures")]
        total, missed = (percent(1 + gain(row, machine, rule), ".0f") for rule in RULES)
        moved = bytes_of(row, machine)
        state = percent(moved["state"][0] / max(1, sum(moved[kind][0] for kind in PARTS)), ".0f")
        hits = map(percent, kept["triangle hits"])
        lines.append([name, machine, f"{kept['references'] / 1e6:.1f}", total, missed, state, *parts, *hits])
    said = list(checks(found, reasons))
    yield tabled("64_kb_direct_mapped_1", lines, said, which=which(rows))
    for claim, words in CLAIMS.items():
        if of := [check for check in said if words in check.what]:
            figure = "; ".join(str(check.ours) + check.what.partition("MIMD bytes")[2] for check in of)
            yield concluded(claim, of, f"published {of[0].published}, here {figure}")
    tried = [
        [f"Shadow, lights at {height:g} heights of the forest, {ways} way{'s' if ways > 1 else ''}", reason]
        for height in HEIGHTS
        for ways in WAYS
        for reason in [percent(reasons[f"Shadow, {height:g}, {ways}"], "+.0f")]
    ]
    tried += [[f"Reflect, {name}", percent(each, "+.0f")] for name, each in turns.items()]
    tried += [[f"Reflect, {edge} pixels a side", percent(reasons[f"Reflect, {edge}"], "+.0f")] for edge in COARSER]
    for off in (0.0, *OFF):
        turned = f"normals turned by {off:g}" if off else "normals as they are"
        tried.append([f"Reflect, first bounce, {turned}", percent(reasons[f"first bounce, {off:g}"], "+.0f")])
    for edge in FINER:
        pixels = f"{reasons[f'pixels, {edge}']:.1f} neighbouring pixels to a triangle"
        above = f"{percent(reasons[f'above, {edge}'])} hits of triangles"
        tried.append([f"{TOP}, {edge} pixels a side, {pixels}", above])
    yield tabled("what_decides_what_the_cache", tried, which=which(some).rstrip(","))
    yield report.captioned("cache", svg=_bars(found))
    lines = []
    for name, _, machine, kept in pairs:
        apart = (kept["stream"][0] + kept["structures apart"]) / (kept["stream"][0] + kept["structures"][0])
        shares = (*(kept["shapes"][shape] for shape in SHAPES), apart)
        lines.append([name, machine, *(percent(each, ".0f") for each in shares)])
    yield tabled("other_caches", lines, columns=("view", "machine", *SHAPES, "structures alone"))
    rows = QUICK_ROWS if context.quick else TILED_ROWS
    orders = context.keep(("tiles", EDGE, rows), lambda: tiles(context, rows))
    whole, tile = orders[0][3], next(line[3] for line in orders if line[0] == "tiles of 8 x 8")
    check = checked("tiles_in_cache", tile < whole, tile=tile, whole=whole)
    lines = [[name, passes, *(percent(each, ".0f") for each in shares)] for name, passes, *shares in orders]
    yield tabled("tiles_in_cache", lines, [check], rows=rows, share=rows / EDGE)
    yield concluded("tiles_in_cache", [check], f"bytes, written back: {check.ours}")


def which(rows: int) -> str:
    """Of a picture's rows."""
    return "all rows" if rows == EDGE else f"{rows} rows over the picture, {rows / EDGE:.1%} of it,"


def gain(row: Row, machine: str, rule: str = RULES[0]) -> float:
    """Change of the bytes by the cache, states among them: -0.35 is a third less. rule : of `RULES`."""
    without, with_ = (sum(bytes_of(row, machine, rule)[kind][k] for kind in PARTS) for k in (0, 1))
    return with_ / max(1, without) - 1


def bytes_of(row: Row, machine: str, rule: str = RULES[0]) -> dict[str, list[int]]:
    """Without and with the cache, by `PARTS`; states pass by it."""
    kept = row[machine] if rule == RULES[0] else row[machine]["missed"]
    return {**{kind: kept[kind] for kind in ("stream", "structures")}, "state": [kept["state"]] * 2}


def checks(found: Mapping[str, Row], reasons: Mapping[str, float] = NOTHING) -> Iterator[Check]:
    """What the text claims. reasons : of `try_reasons`, for what differs."""
    least, finest = TRIANGLE_HITS[0], FINER[-1]
    for name, row in found.items():
        if name not in measured.SOURCES:
            continue
        hits = [row[machine]["triangle hits"][1] for machine in MACHINES]
        few = worded("few_pixels", pixels=row["pixels to a triangle"])
        if name == TOP and reasons:
            texts = {"pixels": reasons[f"pixels, {finest}"], "hits": reasons[f"above, {finest}"]}
            few += worded("fine_pixels", edge=finest, **texts)
        few += worded("lines_outlast") if hits[1] >= least - HALF else ""
        yield checked("triangle_hits", min(hits) >= least - HALF, name=name, hits=hits, least=least, few=few, half=HALF)
        simd, mimd = ([gain(row, machine, rule) for rule in RULES] for machine in MACHINES)
        as_said = simd[0] >= -LITTLE and mimd[0] <= -MUCH  # more bytes than without are no benefit either
        yield checked("simd_little", as_said, name=name, simd=simd, mimd=mimd, few=few, little=LITTLE, much=MUCH)
    for kind, theirs in (("Shadow", CACHE["MIMD shadow"]), ("Reflect", CACHE["MIMD reflect"])):
        if kind in found:
            row = found[kind]
            why, order = why_secondary(kind, row, reasons), ", a pixel's three rays in turn" * (kind == "Shadow")
            rule = f"; with hits beyond the voxel as misses {percent(gain(row, 'MIMD', RULES[1]), '+.0f')}"
            yield _gained(f"{kind}: MIMD bytes{order}", gain(row, "MIMD"), theirs, why, rule)
            if kind == "Shadow":
                yield _gained(f"Shadow: MIMD bytes, {BY_LIGHT}", row[BY_LIGHT], theirs, why)
            moved = bytes_of(row, "SIMD")
            parts = listed(f"{part} {percent(moved[part][1] / max(1, moved[part][0]), '.0f')}" for part in moved)
            why = f"with the cache, of the bytes without it: {parts}"
            yield _gained(f"{kind}: SIMD has no gain", gain(row, "SIMD"), 0.0, why, " either way")


def _gained(what: str, ours: float, theirs: float, why: str, more: str = "") -> Check:
    shown = {name: percent(each, "+.0f") if each else "0 %" for name, each in (("theirs", theirs), ("ours", ours))}
    return checked(
        "bytes_gained", report.at_points(theirs, ours), what=what, why=why, points=POINTS, more=more, **shown
    )


def why_secondary(kind: str, row: Row, reasons: Mapping[str, float]) -> str:
    """What was tried, in a sentence."""
    if not reasons:
        return worded("tried_with_forest")
    if kind == "Shadow":
        others = [reasons[f"Shadow, {height:g}, {WAYS[0]}"] for height in HEIGHTS if height != HEIGHT]
        one, more = (row["MIMD"]["shapes"][shape] - 1 for shape in ("1365 lines", "4 ways"))
        ends = {"heights": (HEIGHTS[0], HEIGHTS[-1]), "most": max(others), "least": min(others)}
        return worded("why_shadow", one=one, more=more, **ends)
    turned, first = ([reasons[f"first bounce, {off:g}"] for off in offs] for offs in (OFF, (0.0,)))
    return worded("why_reflect", off=OFF, turned=turned, first=first[0])


def _bars(found: Mapping[str, Row]) -> str:
    figure, axes = plots.figure(9.0, 3.4, ncols=2, sharey=True)
    names, width = list(found), 0.36
    for axis, machine in zip(axes, MACHINES, strict=True):
        for rule, shift in zip(RULES, (-width / 2, width / 2), strict=True):
            moved = [bytes_of(found[name], machine, rule) for name in names]
            whole = np.array([max(1, sum(each[kind][0] for kind in PARTS)) for each in moved])
            stacks = {label: np.array([each[kind][1] for each in moved]) / whole for kind, label in PARTS.items()}
            plots.stacked(axis, np.arange(len(names)) + shift, width, stacks, rule == RULES[0])
        axis.axhline(1.0, color="0.4", linestyle="--", linewidth=0.8, label="without cache")
        axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 2) for name in names], fontsize=7)
        axis.set_title(machine, fontsize=9)
    axes[0].set_ylabel("bytes with the cache over bytes without")
    axes[1].legend(fontsize=7)
    return plots.svg(figure)


# -- traces ------------------------------------------------------------------------------------------------------------


def spread(context: Context, name: str, rows: int, edge: int = EDGE) -> tuple[Space, NDArray]:
    """The grid of a view and the eye rays of so many rows evenly over its picture, one after the other."""
    chosen = (np.arange(rows) * edge + edge // 2) // rows
    return measured.space(context, name), eye_rays(measured.camera(context, name), (edge, edge), chosen)


def play(space: Space, groups: dict[str, Group], traffic: Callable[[str], Traffic]) -> Row:
    """By machine: bytes and hits of traces of groups of rays, one after the other; by shape of the cache the ratio; and
    ``missed``, bytes by the published rule, by which a hit beyond the voxel is none.

    The layout is that of the largest group. Triangles alone: a cache that nothing else passes through. States pass by
    the cache: a byte for each ray in each pass, and a byte for each call that writes one; a machine of one pass has
    none.
    """
    made: Row = {}
    for machine in MACHINES:
        shapes = {name: Cache(**shape) for name, shape in SHAPES.items()}
        alone, split, own = Cache(kinds=[TRIANGLES]), Cache(kinds=STRUCTURES), groups[machine]
        layout, kernels = Layout.of(space, max(len(rays) for rays in own)), traffic(machine)

        def passed(
            caches: Sequence[Cache], beyond: str, machine: str = machine, own: Group = own,
            layout: Layout = layout, kernels: Traffic = kernels,
        ) -> int:  # fmt: skip
            return sum(_trace(caches, machine, space, rays, kernels, layout, beyond) for rays in own)

        main = published = shapes["1365 lines"]
        states = others = passed([*shapes.values(), alone, split], "kept")
        if not all(rule_is_one(space, rays) for rays in own):
            published = Cache()
            others = passed([published], "missed")
        by_rule = [
            {
                "stream": [each.bytes_without(STREAM), each.bytes_with(STREAM)],
                "structures": [each.bytes_without(STRUCTURES), each.bytes_with(STRUCTURES)],
                "state": _states(each, machine, own, kernels, read),
            }
            for each, read in ((main, states), (published, others))
        ]
        made[machine] = {
            "references": main.references(),
            "stream": by_rule[0]["stream"],
            "structures": by_rule[0]["structures"],
            "triangle hits": [main.hit_rate([TRIANGLES]), alone.hit_rate()],
            "state": by_rule[0]["state"],
            "missed": by_rule[1],
            "structures apart": split.bytes_with(),
            "shapes": {name: cache.ratio() for name, cache in shapes.items()},
        }
    return made


def rule_is_one(space: Space, rays: NDArray) -> bool:
    """Whether rays (N,) step and test alike whether a hit beyond the voxel is kept or missed. Rays to their nearest hit
    do: either way they go on to the voxel of the hit. Shadow rays end with a hit that is kept."""
    if not rays["any_hit"].any():
        return True
    kept, missed = (walk(space, rays, beyond)[0] for beyond in BEYOND)
    return np.array_equal(kept.start, missed.start) and np.array_equal(kept.length, missed.length)


def _trace(
    caches: Sequence[Cache], machine: str, space: Space, rays: NDArray, traffic: Traffic, layout: Layout, beyond: str
) -> int:
    """A trace through caches; states that rays had in passes, as a machine of several reads them: rays times passes."""
    if machine == "MIMD":
        play_all(caches, references.mimd_references(space, rays, traffic, layout=layout, beyond=beyond))
        return 0
    passes = [0, 0]
    play_all(caches, references.simd_references(space, rays, traffic, layout=layout, passes=passes, beyond=beyond))
    return len(rays) * (sum(passes) + SETUP_PASSES + traffic.eye + traffic.shade)


def _states(cache: Cache, machine: str, groups: Group, traffic: Traffic, read: int) -> int:
    """Bytes of states: read in passes, and written by calls, which the cache has counted by what each fetches first."""
    calls = {EYE: sum(map(len, groups)) * traffic.eye}
    calls |= {STEP: cache.references([references.VOXELS]), INTERSECT: cache.references([LISTS])}
    rows = TABLE_5_1[machine]
    return read + sum(int(rows[name].state_written) * number for name, number in calls.items())


def eye_traces(context: Context, name: str, rows: int) -> Row:
    """Of the eye rays of a view."""
    context.progress(f"cache: {name}")
    space, rays = spread(context, name, rows)
    made = play(space, {machine: [rays] for machine in MACHINES}, lambda machine: Traffic(TABLE_5_1[machine]))
    return {**made, "pixels to a triangle": _pixels(space, rays, rows)}


def _pixels(space: Space, rays: NDArray, rows: int) -> float:
    """Neighbouring pixels of a row that see one triangle, on average of those that see any."""
    seen = walk(space, rays)[1].triangle.reshape(rows, -1)
    begins = np.ones(seen.shape, bool)
    begins[:, 1:] = np.diff(seen, axis=1) != 0
    return float((seen >= 0).sum() / max(1, (begins & (seen >= 0)).sum()))


def secondary(context: Context, rays: Callable[[Space, NDArray], dict[str, Group]], rows: int) -> Row:
    """Of rays from what the eye sees within the forest."""
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    return play(space, rays(space, eye), lambda machine: Traffic(TABLE_5_1[machine], eye=False, shade=False))


def _hits(space: Space, rays: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The rays that hit, where, and the face normals there."""
    _, state = walk(space, rays)
    hit = state.triangle >= 0
    return (rays[hit], *places(rays[hit], state.distance[hit], state.triangle[hit], space.corners))


def shadow(space: Space, eye: NDArray) -> dict[str, Group]:
    """Three shadow rays for each hit: a light after the other (SIMD), a pixel after the other (MIMD)."""
    rays = shadow_rays(_hits(space, eye)[1], lights(space))
    return {"SIMD": list(rays), "MIMD": [np.ascontiguousarray(rays.T).ravel()]}


def by_light(context: Context, rows: int) -> float:
    """Change of the bytes of the MIMD machine with the shadow rays to one light behind all those to another."""
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    return gained(space, shadow(space, eye)["SIMD"])


def lights(space: Space, height: float = HEIGHT) -> NDArray:
    """(3, 3): as many point lights above the scene's box, around its middle."""
    low, high = space.box[0].astype(float), space.box[1].astype(float)
    angles, size = np.arange(LIGHTS) * 2 * np.pi / LIGHTS, high - low
    around = np.stack([np.cos(angles), np.zeros(LIGHTS), np.sin(angles)], 1)
    return (low + high) / 2 + 0.3 * size * around + [0.0, height * size[1], 0.0]


def reflect(space: Space, eye: NDArray) -> dict[str, Group]:
    """Two bounces of mirrors, each to its end before the next."""
    groups, rays = [], eye
    for _ in range(BOUNCES):
        rays = reflected_rays(*_hits(space, rays))
        groups.append(rays)
    return {"SIMD": groups, "MIMD": groups}


def try_reflect(context: Context, rows: int) -> dict[str, float]:
    """Of the MIMD machine, change of the bytes of reflected rays: a bounce after the other, a pixel's two bounces in
    turn, and with a shadow ray to one light at each hit, in turn, too."""
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    parts, lit, rays, numbers = list[Pixels](), list[Pixels](), eye, np.arange(len(eye))
    for bounce in range(BOUNCES + 1):
        numbers = numbers[walk(space, rays)[1].triangle >= 0]
        before, at, normal = _hits(space, rays)
        if bounce:
            lit.append((shadow_rays(at, lights(space)[:1])[0], numbers))
        if bounce < BOUNCES:
            rays = reflected_rays(before, at, normal)
            parts.append((rays, numbers))
    return {
        "a bounce after the other": gained(space, [each for each, _ in parts]),
        "a pixel's bounces in turn": gained(space, [_in_turn(parts)]),
        "the same, with the light's shadow ray of each hit": gained(space, [_in_turn(parts, lit)]),
    }


def _in_turn(*kinds: Sequence[Pixels]) -> NDArray:
    """Rays pixel by pixel; within one by bounce, and by the order of ``kinds``."""
    parts = [part for bounce in zip(*kinds, strict=True) for part in bounce]
    pixels = np.concatenate([numbers for _, numbers in parts])
    return np.concatenate([rays for rays, _ in parts])[np.argsort(pixels, kind="stable")]


def try_reasons(context: Context, rows: int) -> dict[str, float]:
    """Of the MIMD machine, by what is varied: change of the bytes; of the forest from above, hits of triangles alone
    and pixels to a triangle."""
    found: dict[str, float] = {}
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    before, at, normal = _hits(space, eye)
    for height in HEIGHTS:
        turns = np.ascontiguousarray(shadow_rays(at, lights(space, height)).T).ravel()
        caches = [Cache(ways=ways) for ways in WAYS]
        _mimd(space, [turns], caches)
        found |= {f"Shadow, {height:g}, {ways}": each.ratio() - 1 for ways, each in zip(WAYS, caches, strict=True)}
    for edge in COARSER:
        _, fewer = spread(context, measured.FOREST_INSIDE, rows, edge)
        found[f"Reflect, {edge}"] = gained(space, reflect(space, fewer)["MIMD"])
    rng = np.random.default_rng(2002)
    for off in (0.0, *OFF):
        turned = normal + off * rng.normal(size=normal.shape)
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        found[f"first bounce, {off:g}"] = gained(space, [reflected_rays(before, at, turned)])
    for edge in FINER:
        few = max(1, rows * EDGE // edge)
        space, eye = spread(context, TOP, few, edge)
        triangles = Cache(kinds=[TRIANGLES])
        _mimd(space, [eye], [triangles], eye=True)
        found |= {f"above, {edge}": triangles.hit_rate(), f"pixels, {edge}": _pixels(space, eye, few)}
    return found


def gained(space: Space, groups: Group) -> float:
    """Change of the bytes of the MIMD machine by a cache."""
    cache = Cache()
    _mimd(space, groups, [cache])
    return cache.ratio() - 1


def _mimd(space: Space, groups: Group, caches: Sequence[Cache], eye: bool = False) -> None:
    layout, traffic = Layout.of(space, max(map(len, groups))), Traffic(TABLE_5_1["MIMD"], eye=eye, shade=eye)
    for rays in groups:
        play_all(caches, references.mimd_references(space, rays, traffic, layout=layout))


def tiles(context: Context, rows: int) -> list[list[Any]]:
    """Tiles rendered to completion, and reflected rays in an order of their own: its name, passes of a tile, and bytes
    written through, written back, and with a cache of its own for streams, of those without."""
    chosen, camera = (EDGE - rows) // 2 + np.arange(rows), measured.camera(context, measured.FOREST_INSIDE)
    space, eye = measured.space(context, measured.FOREST_INSIDE), eye_rays(camera, (EDGE, EDGE), chosen)
    lines: list[list[Any]] = []

    def add(name: str, count: Callable[[], int], trace: Any) -> None:
        half = 32 * 1024
        apart = Cache(half, kinds=STRUCTURES), Cache(half, kinds=STREAM, write_back=True)
        through, back = Cache(), Cache(write_back=True)
        play_all([through, back, *apart], trace)
        split = sum(each.bytes_with() for each in apart) / through.bytes_without()
        lines.append([name, count(), through.ratio(), back.ratio(), split])

    for edge in (0, 64, 32, 16, 8):
        if edge <= rows:
            parts, passes = references.tiles_of((EDGE, rows), edge) if edge else None, list[int]()
            name, many = f"tiles of {edge} x {edge}" if edge else f"all {rows} rows", len(parts) if parts else 1
            trace = references.simd_references(space, eye, Traffic(TABLE_5_1["SIMD"]), tiles=parts, passes=passes)
            add(name, partial(_a_tile, passes, many), trace)
    rays = reflect(space, eye)["MIMD"][0]
    for name, each in (("as they come", rays), ("by direction and origin", _ordered(rays))):
        traffic = Traffic(TABLE_5_1["MIMD"], eye=False, shade=False)
        add(f"reflected rays {name}", lambda: 1, references.mimd_references(space, each, traffic))
    return lines


def _a_tile(passes: Sequence[int], many: int) -> int:
    """Passes of one of so many tiles."""
    return round(sum(passes) / many)


def _ordered(rays: NDArray) -> NDArray:
    """Rays by the octant of their direction and where they start."""
    octant = ((rays["direction"] > 0) * [1, 2, 4]).sum(axis=1)
    low = rays["origin"].min(axis=0)
    cell = ((rays["origin"] - low) / np.maximum(np.ptp(rays["origin"], axis=0), 1e-30) * 63).astype(np.int64)
    code = sum(((cell[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(6) for axis in range(3))
    return rays[np.lexsort((code, octant))]
