"""The limits of the hardware of the day: what fits, and what pictures they make."""

from __future__ import annotations

from typing import Any

import numpy as np

import raystream
from raystream.accel.grid.build import build
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.scene_update import address_counts
from raystream.scene.scene import Scene
from raystream.stream.declare.limits import LIMITS, rounded
from reproduction.simulators.counts import RECIPE
from reproduction.simulators.rays import OFFSET, eye_rays, places, shadow_rays
from reproduction.simulators.walk import Space, walk

from .. import report
from ..context import Context
from ..counted import PROGRAMS, counted, program
from ..published.chapter5 import BUNNY_VOXELS, LARGEST_INTEGERS, LARGEST_TEXTURE, LIMITS_PRINTED, TABLE_5_3, VIEWS
from ..report import ARITHMETIC, OWN, Cell, Check, Parts, Table, beside, captioned, exact, section, tabled, unprinted
from ..shown import webp

YEARS = tuple(LIMITS)
STEPWISE: dict[str, Any] = {**RECIPE, "fuse": "none", "unroll": 1}
# Scenes and voxels along the shortest side; the bunny's grid is that of D fig. 5.2.
SCENES = (("cornell", 16), ("teapotahedron", 12), ("bunny.ply", 64), ("forest.glb", 57))
QUICK = 2  # of them
REGISTERS = "what a driver makes of a program's variables is not told by OpenGL"
SIZE, QUICK_SIZE = 256, 64
TRIANGLES = VIEWS["Forest Inside"].triangles
ROUNDED = 1e-5  # of a channel between 0 and 1, at the median
PICTURED = ("cast", "shadow")
LEAVING_EDGE, LEAVING_GRID = 128, 8  # of shadow rays that leave their surface
BOUNDS = (22, 20, 18, 17, 16)  # they start off it by the coordinates over 2 to this power


@section("limits", paper="D 5.4.1, D 2.3, P2 2.2", title="Limits of the day: --limits 2002 and 2004", order=4)
def limits(context: Context) -> Parts:
    """What they are, what no longer fits into them, and pictures of what does."""
    yield _table()
    yield from _scenes(context)
    yield _kernels(context)
    for name in PICTURED:
        yield from _pictures(context, name)
    yield report.concluded(
        "too_few_texels",
        [LARGEST_INTEGERS < BUNNY_VOXELS, LARGEST_INTEGERS < TRIANGLES],
        f"{LARGEST_INTEGERS:,} texels; the bunny's published grid has {BUNNY_VOXELS:,} voxels, the forest "
        f"{TRIANGLES:,} triangles",
    )


def _table() -> Table:
    named = ("floats", "integers", "outputs", "states", "texture", "samplers", "instructions", "fetches")
    rows: list[tuple[Any, ...]] = [(what, *(_limit(year, what) for year in YEARS)) for what in named]
    rows.append(("registers", unprinted("-"), beside("16 or 32", "-", REGISTERS)))
    whole = np.arange(4 * LARGEST_INTEGERS, dtype=np.float32)
    first = int(np.argmin(rounded(whole) == whole))  # the first that is not itself
    texels, most = LARGEST_TEXTURE[0] * LARGEST_TEXTURE[1], LARGEST_INTEGERS
    longest = max(row.instructions for row in TABLE_5_3.values())
    board = int(LIMITS_PRINTED["2004"]["instructions"])
    what, digits = "first whole number that our s16e7 does not hold", "the emulated format keeps other digits"
    checks = [Check(OWN, what, most + 1, first, first == most + 1, digits)]
    what = "texels of 256 x 512: as many as an address of 24-bit floats tells apart (D 5.4.1)"
    why = "a texture of as many texels as there are addresses"
    checks.append(Check(ARITHMETIC, what, f"{most:,}", f"{texels:,}", texels == most, why))
    what = "voxels of the bunny's published grid, 98 x 64 x 163, are more than an address tells apart"
    more = most < BUNNY_VOXELS
    checks.append(Check(ARITHMETIC, what, f"> {most:,}", f"{BUNNY_VOXELS:,}", more, "fewer would fit"))
    what, why = "the longest published kernel (table 5.3) fits into the board's instructions", "a longer one would not"
    checks.append(Check(ARITHMETIC, what, f"<= {board}", longest, longest <= board, f"{why} have run"))
    years: dict[str, Any] = {f"about_{year}": LIMITS[year].about for year in YEARS}
    return tabled("what_they_are", rows, checks, columns=("", *YEARS), **years)


def _limit(year: str, what: str) -> Cell:
    ours = getattr(LIMITS[year], what)
    return exact(LIMITS_PRINTED[year][what], ours) if what in LIMITS_PRINTED[year] else unprinted(ours)


def _scenes(context: Context) -> Parts:
    rows: list[tuple[Any, ...]] = []
    absent = []
    for name, grid in SCENES[: QUICK if context.quick else None]:
        try:
            found = context.keep(("sizes", name, grid), lambda name=name, grid=grid: _sizes(context, name, grid))
        except report.AbsentError as error:
            absent.append(error.part)
            continue
        held = {word: n for word, n in found.items() if word != "grid"}
        columns = [held.get(word, 0) for word in ("triangles", "vertices", "voxels", "entries of the voxels' lists")]
        many = ([word for word, n in held.items() if n > LIMITS[year].integers] for year in YEARS)
        fits = [", ".join(each) or "fits" for each in many]
        rows.append((name, found["grid"], *columns, *fits))
    heads = ("scene", "grid", "triangles", "vertices", "voxels", "list entries", *(f"too many for {y}" for y in YEARS))
    yield tabled("scenes", rows, columns=heads)
    yield from absent


def _sizes(context: Context, name: str, grid: int) -> dict[str, Any]:
    settings = Settings(**STEPWISE).replace(program="cast", grid=grid)
    prepared = prepare(context.scene(name), settings)
    resolution = " x ".join(str(int(n)) for n in prepared.structure.built.resolution)
    return {"grid": resolution, **{word: n for n, word, _ in address_counts(prepared, settings, LIMITS["2004"])}}


def _kernels(context: Context) -> Table:
    counts, _ = counted(context)
    rows: list[tuple[Any, ...]] = []
    day, over = LIMITS["2004"], 0
    for name in PROGRAMS:
        linked = program(name)
        for step in linked.steps("none"):
            written = linked.attachment_count(step)
            passes = [-(-written // LIMITS[year].outputs) for year in YEARS]
            found = counts.get(name, {}).get(step.name)
            told: tuple[Any, ...] = ("-", "-", "-", "-")
            if found is not None:
                arithmetic = found.all - found.textures
                long = arithmetic > day.instructions or found.levels > day.fetches
                over += long
                told = (arithmetic, found.textures, found.levels, "too long" if long else "fits")
            rows.append((f"{name}: {step.name}", linked.sampler_count(step), written, *passes, *told))
    return tabled("kernels", rows, instructions=day.instructions, fetches=day.fetches, over=over)


def _leaving(context: Context) -> str:
    """Rays that a rounded origin darkens, by how far they start off their surface."""
    found = context.keep(("leaving", LEAVING_EDGE), lambda: darkened(raystream.load("cornell"), LEAVING_EDGE))
    shares = ", ".join(f"{share:.1%} for 2^-{power}" for power, share in found.items())
    return f"simulated, rays that start off it by a share of the coordinates lose the light by 24 bits in {shares}"


def darkened(scene: Scene, edge: int) -> dict[str, float]:
    """Of shadow rays that reach a point below the Cornell box's light, the share that does no longer once origins and
    directions are rounded to s16e7; by how far off their surface they start, of `BOUNDS`."""
    corners = scene.flatten().corners()
    space = Space.of(build(corners, LEAVING_GRID), corners)
    eye = eye_rays(scene.camera(), (edge, edge))
    state = walk(space, eye)[1]
    hit = state.triangle >= 0
    at, normal = places(eye[hit], state.distance[hit], state.triangle[hit], corners)
    low, high = corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0)
    light = np.array([(low[0] + high[0]) / 2, low[1] + 0.95 * (high[1] - low[1]), (low[2] + high[2]) / 2], np.float64)
    clear = walk(space, shadow_rays(at, light)[0])[1].triangle < 0
    off = normal * np.maximum(np.abs(at).max(axis=1, keepdims=True), 1.0)
    found = {}
    for power in BOUNDS:
        rays = shadow_rays(at + (2.0**-power - OFFSET) * off, light)[0]
        for each in ("origin", "direction"):
            rays[each] = rounded(rays[each])
        found[str(power)] = float((walk(space, rays)[1].triangle[clear] >= 0).mean())
    return found


def _pictures(context: Context, name: str) -> Parts:
    edge = QUICK_SIZE if context.quick else SIZE

    def render() -> dict[str, Any]:
        linear, shown = {}, {}
        for year in ("none", *YEARS):
            options: dict[str, Any] = {**STEPWISE, "program": name, "grid": 16, "limits": year}
            renderer = raystream.Renderer(raystream.load("cornell"), **options)
            picture = renderer.render((edge, edge), spp=1)
            linear[year], shown[year] = np.asarray(picture.linear, np.float32), picture.srgb8()
            renderer.release()
        whole, day = linear["none"], linear["2004"]
        return {
            "means": {year: float(each.mean()) for year, each in linear.items()},
            "same": bool(np.array_equal(whole, linear["2002"])),
            "differ": float((whole != day).any(axis=-1).mean()),
            "dark": float(((day.sum(axis=-1) < 0.5 * whole.sum(axis=-1)) & (whole.sum(axis=-1) > 0)).mean()),
            "median": float(np.median(np.abs(whole - day))),
            "picture": webp(shown["none"], shown["2004"]),
        }

    made = context.keep(("pictures", name, edge), render)
    same, differ, dark, median = (made[each] for each in ("same", "differ", "dark", "median"))
    what = f"{name} under 2002 (passes of two outputs, 32 bits): the same bits"
    bits = "24-bit floats round what passes hand on"
    checks = [
        Check(OWN, what, "yes", "yes" if same else "no", same, "another picture"),
        Check(OWN, f"{name} under 2004: pixels that differ", "> 0", f"{differ:.1%}", differ > 0, bound=bits),
    ]
    what = f"{name} under 2004: median difference of a channel"
    why = "a float of 16 bits of mantissa is exact to 7.6e-6; a few passes round"
    checks.append(Check(OWN, what, f"< {ROUNDED:g}", f"{median:.1e}", median < ROUNDED, why))
    what = f"{name} under 2004: pixels that lose half of their light"
    why = f"shadow rays leave their surface by a bound of 32 bits: {_leaving(context)}"
    checks.append(Check(OWN, what, "no paper says", f"{dark:.1%}", None, why))
    rows = [(year, f"{made['means'][year]:.6f}") for year in ("none", *YEARS)]
    yield tabled("cornell_box_name_edge_x", rows, checks, name=name, edge=edge)
    yield captioned("limits", png=made["picture"], name=name)
