"""Traces of the simulated machines through texture caches, for figure 5.6: eye rays, shadows and reflections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.simulators.cache import Cache, play_all
from reproduction.simulators.cost import EYE, INTERSECT, STEP
from reproduction.simulators.machines import OTHER_PASSES
from reproduction.simulators.rays import eye_rays, places, reflected_rays, shadow_rays
from reproduction.simulators.references import (
    LISTS,
    STREAM,
    STRUCTURES,
    TRIANGLES,
    VOXELS,
    Layout,
    Traffic,
    mimd_references,
    simd_references,
    tiles_of,
)
from reproduction.simulators.walk import BEYOND, Space, walk

from . import measured
from .context import Context
from .published.chapter5 import TABLE_5_1

EDGE = 1024  # of the papers' pictures
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
# Tried where figures differ: pixels a side, and by how much normals are turned, and where lights are.
TOP, COARSER, FINER, OFF, REASON_ROWS = "Forest Top Down", (1024, 512), (1024, 4096), (0.03, 0.1), 128
HEIGHT, HEIGHTS = (
    1.5,
    (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0),
)  # of the lights above the forest's middle, in heights of its box
WAYS = (1, 4)  # of the cache: lines of one set push each other out, or do not
Group = Sequence[NDArray]  # rays of one type each, as the SIMD machine runs them: each to its end before the next


def middle(context: Context, name: str, rows: int) -> tuple[Space, NDArray]:
    """The grid of a view and the eye rays of the middle rows of its picture of 1024 x 1024."""
    chosen = (EDGE - rows) // 2 + np.arange(rows)
    return measured.space(context, name), eye_rays(measured.camera(context, name), (EDGE, EDGE), chosen)


def spread(context: Context, name: str, rows: int, edge: int = EDGE) -> tuple[Space, NDArray]:
    """The same of so many rows evenly over its picture, of other sizes too: one after the other, as all of them are."""
    chosen = (np.arange(rows) * edge + edge // 2) // rows
    return measured.space(context, name), eye_rays(measured.camera(context, name), (edge, edge), chosen)


def play(space: Space, groups: dict[str, Group], traffic: Callable[[str], Traffic]) -> dict[str, Any]:
    """By machine: bytes and hits of traces of groups of rays, one after the other; by shape of the cache the ratio; and
    ``missed``, bytes by the published rule, by which a hit beyond the voxel is none.

    The layout is that of the largest group. Triangles alone: a cache that nothing else passes through. States pass by
    the cache: a byte for each ray in each pass, and a byte for each call that writes one; a machine of one pass has
    none.
    """
    made: dict[str, Any] = {}
    for machine in MACHINES:
        shapes = {name: Cache(**shape) for name, shape in SHAPES.items()}
        alone, split = Cache(kinds=[TRIANGLES]), Cache(kinds=STRUCTURES)
        layout = Layout.of(space, max(len(rays) for rays in groups[machine]))
        main, passed = shapes["1365 lines"], 0
        for rays in groups[machine]:
            passed += _trace([*shapes.values(), alone, split], machine, space, rays, traffic(machine), layout)
        published, others = main, passed
        if not all(rule_is_one(space, rays) for rays in groups[machine]):
            published, others = Cache(), 0
            for rays in groups[machine]:
                others += _trace([published], machine, space, rays, traffic(machine), layout, "missed")
        made[machine] = {
            "references": main.references(),
            "stream": [main.bytes_without(STREAM), main.bytes_with(STREAM)],
            "structures": [main.bytes_without(STRUCTURES), main.bytes_with(STRUCTURES)],
            "triangle hits": [main.hit_rate([TRIANGLES]), alone.hit_rate()],
            "state": _states(main, machine, groups[machine], traffic(machine), passed),
            "missed": {
                "stream": [published.bytes_without(STREAM), published.bytes_with(STREAM)],
                "structures": [published.bytes_without(STRUCTURES), published.bytes_with(STRUCTURES)],
                "state": _states(published, machine, groups[machine], traffic(machine), others),
            },
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
    caches: Sequence[Cache],
    machine: str,
    space: Space,
    rays: NDArray,
    traffic: Traffic,
    layout: Layout,
    beyond: str = "kept",
) -> int:
    """A trace through caches; states that rays had in passes, as a machine of several reads them: rays times passes."""
    if machine == "MIMD":
        play_all(caches, mimd_references(space, rays, traffic, layout=layout, beyond=beyond))
        return 0
    passes = [0, 0]
    play_all(caches, simd_references(space, rays, traffic, layout=layout, passes=passes, beyond=beyond))
    others = SETUP_PASSES + traffic.eye + traffic.shade
    return len(rays) * (sum(passes) + others)


def _states(cache: Cache, machine: str, groups: Group, traffic: Traffic, read: int) -> int:
    """Bytes of states: read in passes, and written by calls, which the cache has counted by what each fetches first."""
    rays = sum(map(len, groups))
    calls = {EYE: rays * traffic.eye, STEP: cache.references([VOXELS]), INTERSECT: cache.references([LISTS])}
    rows = TABLE_5_1[machine]
    return read + sum(int(rows[name].state_written) * number for name, number in calls.items())


def eye_traces(context: Context, name: str, rows: int) -> dict[str, Any]:
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


def secondary(context: Context, rays: Callable[[Space, NDArray], dict[str, Group]], rows: int) -> dict[str, Any]:
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    return play(space, rays(space, eye), lambda machine: Traffic(TABLE_5_1[machine], eye=False, shade=False))


def _hits(space: Space, rays: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The rays that hit, where, and the face normals there."""
    _, state = walk(space, rays)
    hit = state.triangle >= 0
    return (rays[hit], *places(rays[hit], state.distance[hit], state.triangle[hit], space.corners))


def shadow(space: Space, eye: NDArray) -> dict[str, Group]:
    """Three shadow rays for each hit: a light after the other (SIMD), a pixel after the other (MIMD)."""
    _, at, _ = _hits(space, eye)
    rays = shadow_rays(at, lights(space))
    return {"SIMD": list(rays), "MIMD": [np.ascontiguousarray(rays.T).ravel()]}


def by_light(context: Context, rows: int) -> float:
    """Change of the bytes of the MIMD machine with the shadow rays to one light behind all those to another."""
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    return _gain(space, shadow(space, eye)["SIMD"])


def lights(space: Space, height: float = HEIGHT) -> NDArray:
    """(3, 3): as many point lights above the scene's box, around its middle."""
    low, high = space.box[0].astype(float), space.box[1].astype(float)
    angles = np.arange(LIGHTS) * 2 * np.pi / LIGHTS
    middle, size = (low + high) / 2, high - low
    around = np.stack([np.cos(angles), np.zeros(LIGHTS), np.sin(angles)], 1)
    return middle + 0.3 * size * around + [0.0, height * size[1], 0.0]


def reflect(space: Space, eye: NDArray) -> dict[str, Group]:
    """Two bounces of mirrors, each to its end before the next."""
    groups, rays = [], eye
    for _ in range(BOUNCES):
        before, at, normal = _hits(space, rays)
        rays = reflected_rays(before, at, normal)
        groups.append(rays)
    return {"SIMD": groups, "MIMD": groups}


def try_reflect(context: Context, rows: int) -> dict[str, float]:
    """Of the MIMD machine, change of the bytes of reflected rays: a bounce after the other, a pixel's two bounces in
    turn, and with a shadow ray to one light at each hit, in turn, too."""
    space, eye = spread(context, measured.FOREST_INSIDE, rows)
    parts: list[tuple[NDArray, NDArray]] = []  # rays, and the numbers of their pixels
    lit: list[tuple[NDArray, NDArray]] = []
    rays, numbers = eye, np.arange(len(eye))
    for bounce in range(BOUNCES + 1):
        hit = walk(space, rays)[1].triangle >= 0
        before, at, normal = _hits(space, rays)
        numbers = numbers[hit]
        if bounce:
            lit.append((shadow_rays(at, lights(space)[:1])[0], numbers))
        if bounce < BOUNCES:
            rays = reflected_rays(before, at, normal)
            parts.append((rays, numbers))
    return {
        "a bounce after the other": _gain(space, [each for each, _ in parts]),
        "a pixel's bounces in turn": _gain(space, [_in_turn(parts)]),
        "the same, with the light's shadow ray of each hit": _gain(space, [_in_turn(parts, lit)]),
    }


def _in_turn(*kinds: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
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
        found[f"Reflect, {edge}"] = _gain(space, reflect(space, fewer)["MIMD"])
    rng = np.random.default_rng(2002)
    for off in (0.0, *OFF):
        turned = normal + off * rng.normal(size=normal.shape)
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        found[f"first bounce, {off:g}"] = _gain(space, [reflected_rays(before, at, turned)])
    for edge in FINER:
        few = max(1, rows * EDGE // edge)
        space, eye = spread(context, TOP, few, edge)
        triangles = Cache(kinds=[TRIANGLES])
        _mimd(space, [eye], [triangles], eye=True)
        found[f"above, {edge}"] = triangles.hit_rate()
        found[f"pixels, {edge}"] = _pixels(space, eye, few)
    return found


def _gain(space: Space, groups: Group) -> float:
    cache = Cache()
    _mimd(space, groups, [cache])
    return cache.ratio() - 1


def _mimd(space: Space, groups: Group, caches: Sequence[Cache], eye: bool = False) -> None:
    layout, traffic = Layout.of(space, max(map(len, groups))), Traffic(TABLE_5_1["MIMD"], eye=eye, shade=eye)
    for rays in groups:
        play_all(caches, mimd_references(space, rays, traffic, layout=layout))


def tiles(context: Context, rows: int) -> list[list[Any]]:
    space, eye = middle(context, measured.FOREST_INSIDE, rows)
    traffic = Traffic(TABLE_5_1["SIMD"])
    lines: list[list[Any]] = []
    for edge in (0, 64, 32, 16, 8):
        if edge > rows:
            continue
        tiles = tiles_of((EDGE, rows), edge) if edge else None
        passes: list[int] = []
        caches = _three()
        play_all(caches, simd_references(space, eye, traffic, tiles=tiles, passes=passes))
        name = f"tiles of {edge} x {edge}" if edge else f"all {rows} rows"
        lines.append([name, round(sum(passes) / (1 if tiles is None else len(tiles))), *_ratios(caches)])
    for label, rays in _orders(reflect(space, eye)["MIMD"][0]).items():
        caches = _three()
        play_all(caches, mimd_references(space, rays, Traffic(TABLE_5_1["MIMD"], eye=False, shade=False)))
        lines.append([label, 1, *_ratios(caches)])
    return lines


def _three() -> list[Cache]:
    half = 32 * 1024
    apart = Cache(half, kinds=STRUCTURES), Cache(half, kinds=STREAM, write_back=True)
    return [Cache(), Cache(write_back=True), *apart]


def _ratios(caches: Sequence[Cache]) -> list[float]:
    through, back, *apart = caches
    return [through.ratio(), back.ratio(), sum(c.bytes_with() for c in apart) / through.bytes_without()]


def _orders(rays: NDArray) -> dict[str, NDArray]:
    """Reflected rays as they come, and by the octant of their direction and where they start."""
    octant = ((rays["direction"] > 0) * [1, 2, 4]).sum(axis=1)
    low = rays["origin"].min(axis=0)
    cell = ((rays["origin"] - low) / np.maximum(np.ptp(rays["origin"], axis=0), 1e-30) * 63).astype(np.int64)
    code = sum(((cell[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(6) for axis in range(3))
    order = np.lexsort((code, octant))
    return {"reflected rays as they come": rays, "reflected rays by direction and origin": rays[order]}
