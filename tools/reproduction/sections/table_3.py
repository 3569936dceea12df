"""Table 3 of P2: shadow casting, Whitted and path tracing relative to ray casting, by counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.simulators.machines import COLOR, EYE, WORD
from reproduction.simulators.rays import eye_rays, places, reflected_rays, scattered_rays, shadow_rays
from reproduction.simulators.walk import Space, walk

from .. import measured, plots, report
from ..context import Context
from ..published.chapter5 import TABLE_3, TABLE_3_RAYS_DERIVED, TABLE_5_1, VIEWS
from ..report import COST, OWN, Check, Figure, Parts, Table, beside, captioned, listed, near, section, tabled, told

SAMPLES = 64
BOUND = "the view is fitted, and the light; directions scattered at random and other grids' borders remain"
LIT = "the light, whose place is not published, was sought for it"
HITS = "the rays that s gives, derived from the printed 0.82, and traced here with ours"
PIECE = 1 << 14  # pixels whose scattered rays are traced at once
RAY = ("Traverse: Setup",)
# Of the light, from the middle of the grid's box: not published, but sought so that shadow rays cost what is printed.
# Degrees over the horizon, heights of the box, and where it stands seen from above: x, z.
ELEVATION, DISTANCE, TOWARDS = 15.0, 10.0, (0.43, 0.9)
ELEVATIONS, DISTANCES = (5.0, 15.0, 30.0, 60.0, 90.0), (2.0, 10.0)  # tried beside, at this many pixels a side
VARIED, QUICK_VARIED = 256, 64
LIGHTS = range(1, 9)


@section("table_3", paper="P2 4.3, D 3.3", title="Cost of shadows, reflections and paths (table 3 of P2)")
def make(context: Context) -> Parts:
    """Rays, instructions and bytes of the MIMD machine, from what each type of ray does on the bunny."""
    edge = measured.size(context)[0]
    calls = context.keep(("rays", edge), lambda: _calls(context, edge))
    some = QUICK_VARIED if context.quick else VARIED
    tried = context.keep(("varied", some), lambda: varied(context, some))
    found = programs(calls)
    cast = found["Ray Caster"]
    rows: list[tuple[Any, ...]] = []
    rays = {}
    for name, printed in TABLE_3.items():
        own = found[name]
        ratio = [own[key] / cast[key] for key in ("instructions", "bytes")]
        rays[name] = own["Traverse: Setup"] / cast["Traverse: Setup"]
        reason = why(name, calls, tried)
        cells = [near(theirs, ours, COST, BOUND, reason, ".2f") for theirs, ours in zip(printed, ratio, strict=True)]
        if name == "Shadow Caster":
            cells[0] = beside(printed[0], f"{ratio[0]:.2f}", LIT)
        rows.append((name, *cells, beside(f"{TABLE_3_RAYS_DERIVED[name]:.2f}", f"{rays[name]:.2f}", HITS)))
    checks = [*arithmetic(), *_ours(rays, calls["eye"]["hit"] / calls["eye"]["rays"], calls)]
    light: dict[str, Any] = {"elevation": ELEVATION, "distance": DISTANCE}
    sizes: dict[str, Any] = {"edge": edge, "edge_of_paths": edge // 4, "samples": SAMPLES}
    yield tabled("relative_to_ray_casting", rows, checks, heads={"rays": ("derived", "ours")}, **light, **sizes)
    yield told("table_3")
    yield _tried(tried)
    yield _by_lights(calls)
    yield from _conclusions(rows)


def _conclusions(rows: Sequence[Sequence[Any]]) -> Iterator[report.Conclusion]:
    """Of both columns. The light is placed so that shadow casting costs its printed instructions: these decide
    nothing."""
    shadow, *others = rows
    fitted = f"; the light is placed so that shadow casting costs the printed {shadow[1].published}"
    for claim, cells, more in (
        ("table_3_instructions", [row[1] for row in others], fitted),
        ("table_3_bytes", [row[2] for row in rows], ""),
    ):
        yield report.concluded(
            claim, [cell.agrees for cell in cells], f"here {listed(cell.ours for cell in cells)}{more}"
        )


def _by_lights(calls: Mapping[str, Mapping[str, float]]) -> Figure:
    """Whitted's tracer by the number of lights."""
    cast = programs(calls)["Ray Caster"]
    curves: dict[str, list[float]] = {"rays": [], "instructions": [], "bytes": []}
    for lights in LIGHTS:
        shadow = {key: lights * value for key, value in calls["shadow"].items()}
        found = programs({**calls, "shadow": shadow})["Whitted Ray Tracer"]
        for what, each in curves.items():
            key = RAY[0] if what == "rays" else what
            each.append(found[key] / cast[key])
    figure, axes = plots.figure(6.0, 3.2)
    for what, each in curves.items():
        axes.plot(LIGHTS, each, marker=".", label=what)
    axes.plot(LIGHTS, [lights + 2 for lights in LIGHTS], linestyle="--", color="0.5", label="L + 2")
    axes.set(xticks=LIGHTS, xlabel="lights, L", ylabel="times the ray caster's")
    axes.legend()
    return captioned("by_lights", svg=plots.svg(figure))


def arithmetic() -> list[Check]:
    """The rays that explain the published instructions, from s of the bunny alone."""
    s = VIEWS[measured.BUNNY].s
    rays = {"Shadow Caster": s, "Whitted Ray Tracer": 1 + 2 * s, "Path Tracer": SAMPLES * 256**2 / 1024**2 * s}
    checks = []
    for name, ours in rays.items():
        published = TABLE_3[name][0]
        passed = f"{ours:.2f}" == f"{TABLE_3_RAYS_DERIVED[name]:.2f}" and abs(published / ours - 1) < 0.05
        what = f"{name}: rays by s = {s} explain the printed instructions to five percent"
        checks.append(Check(report.ARITHMETIC, what, published, f"{ours:.2f}", passed, bound="the rest is shading"))
    return checks


def printed_work() -> dict[str, tuple[float, float]]:
    """(v, t) of a secondary ray of the shadow caster and of the path tracer, by the printed instructions and bandwidth
    together: two equations, of the MIMD kernels of table 5.1 and v, t, s of the bunny. No ray of the path tracer is
    shaded but its eye rays."""
    view, rows = VIEWS[measured.BUNNY], TABLE_5_1["MIMD"]
    step, test = rows["Traverse: Step"], rows["Intersect"]

    def fixed(*kernels: tuple[str, float]) -> NDArray:
        """Instructions and bytes of kernels, each so many times."""
        each = [(rows[name], times) for name, times in kernels]
        words = sum(times * (row.read + row.written + row.random) for row, times in each)
        return np.array([sum(times * row.instructions for row, times in each), WORD * words])

    loop = np.array([[step.instructions, test.instructions], [WORD * step.random, WORD * test.random]])
    eye = fixed(("Generate Eye Ray", 1), ("Traverse: Setup", 1)) + loop @ [view.v, view.t]
    color = fixed(("Shade: Color", view.s))
    found = {}
    for name, rays, before, kernels in (
        ("Shadow Caster", view.s, 0.0, (("Traverse: Setup", 1), ("Shade: Shadow", 1), ("Shade: Color", 1))),
        ("Path Tracer", SAMPLES * view.s / 16, (eye + color) / 16, (("Traverse: Setup", 1), ("Shade: Path", 1))),
    ):
        each = (np.array(TABLE_3[name]) * (eye + color) - before) / rays - fixed(*kernels)
        v, t = np.linalg.solve(loop, each)
        found[name] = (float(v), float(t))
    return found


def why(name: str, calls: Mapping[str, Mapping[str, float]], tried: Mapping[str, Any]) -> str:
    """What was tried of a program's cost, and what remains."""
    kind = {"Shadow Caster": "shadow", "Path Tracer": "scattered"}.get(name, "reflected")
    own = calls[kind]["steps"] / calls[kind]["rays"], calls[kind]["tests"] / calls[kind]["rays"]
    remains = f"a secondary ray pierces {own[0]:.0f} voxels and tests {own[1]:.0f} triangles here"
    printed = printed_work().get(name)
    if printed is not None:
        remains += f", and {printed[0]:.0f} and {printed[1]:.0f} by the two printed numbers together"
    if name == "Path Tracer":
        both = "{:.2f} and {:.2f}".format(*tried["uniform"])
        return f"scattered evenly over the hemisphere, not by the cosine, it is {both}; {remains}"
    ratios = [row["bytes"][name] for row in tried["lights"]]
    nearest = tried["nearest"]["bytes"][name]
    return (
        f"by the light's place it is {min(ratios):.2f} to {max(ratios):.2f}, and {nearest:.2f} with shadow rays to "
        f"their nearest hit; {remains}"
    )


def _tried(tried: Mapping[str, Any]) -> Table:
    found = {"light at {elevation:g} degrees, {distance:g} heights away".format(**row): row for row in tried["lights"]}
    found["the light of the table, shadow rays to their nearest hit"] = tried["nearest"]
    numbers = [(name, what) for name in ("Shadow Caster", "Whitted Ray Tracer") for what in ("instructions", "bytes")]
    rows = [(varied, *(f"{each[what][name]:.2f}" for name, what in numbers)) for varied, each in found.items()]
    columns = ("varied", "Shadow Caster: instructions", "bytes", "Whitted: instructions", "bytes ")
    return tabled("what_decides_the_cost_of", rows, columns=columns, even=tried["uniform"], cosine=tried["cosine"])


def _ours(rays: Mapping[str, float], s: float, calls: Mapping[str, Mapping[str, float]]) -> list[Check]:
    path = calls["path eye"]
    expected = {
        "Shadow Caster": s,
        "Whitted Ray Tracer": 1 + 2 * s,
        "Path Tracer": (path["rays"] + SAMPLES * path["hit"]) / calls["eye"]["rays"],
    }
    why, checks = "the path tracer's eye rays, 1/16 of the ray caster's, are counted", []
    for name, value in expected.items():
        what = f"{name}: rays that our simulators trace are those that s = {s:.2f} gives"
        near = abs(rays[name] - value) < 5e-4
        checks.append(Check(OWN, what, f"{value:.3f}", f"{rays[name]:.3f}", near, why))
    return checks


def programs(calls: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Calls of every kernel, instructions and bytes by program, from rays, hits, steps and tests by type of ray."""
    eye, shadow, reflected = calls["eye"], calls["shadow"], calls["reflected"]
    path, scattered = calls["path eye"], calls["scattered"]
    both = {"Shade: Shadow": shadow["rays"], "Shade: Reflected": reflected["rays"]}
    mirrored, colored = eye["hit"] + reflected["hit"], path["hit"] + scattered["hit"]
    made = {
        "Ray Caster": _sum([eye], {EYE: eye["rays"], COLOR: eye["hit"]}),
        "Shadow Caster": _sum([shadow], {"Shade: Shadow": shadow["rays"], COLOR: shadow["rays"]}),
        "Whitted Ray Tracer": _sum([eye, shadow, reflected], {EYE: eye["rays"], **both, COLOR: mirrored}),
        "Path Tracer": _sum([path, scattered], {EYE: path["rays"], "Shade: Path": scattered["rays"], COLOR: colored}),
    }
    for each in made.values():
        rows = [(TABLE_5_1["MIMD"][name], number) for name, number in each.items()]
        each["instructions"] = sum(row.instructions * number for row, number in rows)
        each["bytes"] = sum(WORD * (row.read + row.written + row.random) * number for row, number in rows)
    return made


def _sum(types: list[Mapping[str, float]], others: dict[str, float]) -> dict[str, float]:
    steps, tests, rays = (sum(each[key] for each in types) for key in ("steps", "tests", "rays"))
    return {**others, "Traverse: Setup": rays, "Traverse: Step": steps, "Intersect": tests}


# -- rays ----------------------------------------------------------------------------------------------------------


def light_at(space: Space, elevation: float, distance: float) -> NDArray[np.float64]:
    """Place of the light: degrees over the horizon, heights of the box from its middle."""
    low, high = space.box[0].astype(float), space.box[1].astype(float)
    angle, flat = np.radians(elevation), np.array(TOWARDS) / np.linalg.norm(TOWARDS)
    towards = np.array([np.cos(angle) * flat[0], np.sin(angle), np.cos(angle) * flat[1]])
    return (low + high) / 2 + distance * (high[1] - low[1]) * towards


def varied(context: Context, edge: int) -> dict[str, Any]:
    """Costs relative to ray casting with other lights, nearest hits, and other directions."""
    context.progress("table 3: other lights and directions")
    calls, space = _calls(context, edge), measured.space(context, measured.BUNNY)
    camera = measured.camera(context, measured.BUNNY)
    _, hits = _traced(space, eye_rays(camera, (edge, edge)))
    lights = []
    for elevation in ELEVATIONS:
        for distance in DISTANCES:
            shadow, _ = _traced(space, shadow_rays(hits[1], light_at(space, elevation, distance))[0])
            found = relative({**calls, "shadow": shadow})
            lights.append({"elevation": elevation, "distance": distance, **found})
    rays = shadow_rays(hits[1], light_at(space, ELEVATION, DISTANCE))[0]
    rays["any_hit"] = 0
    nearest = relative({**calls, "shadow": _traced(space, rays)[0]})
    even = relative({**calls, "scattered": _calls(context, edge, even=True)["scattered"]})
    path = [[each[what]["Path Tracer"] for what in ("instructions", "bytes")] for each in (relative(calls), even)]
    return {"lights": lights, "nearest": nearest, "cosine": path[0], "uniform": path[1]}


def relative(calls: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Instructions and bytes of programs over those of the ray caster."""
    found = programs(calls)
    cast = found["Ray Caster"]
    return {what: {name: found[name][what] / cast[what] for name in TABLE_3} for what in ("instructions", "bytes")}


def _calls(context: Context, edge: int, even: bool = False) -> dict[str, Any]:
    """By type of ray: how many, of which hit, steps and tests. even : directions scattered evenly over the hemisphere,
    else by the cosine."""
    context.progress("table 3: rays of the bunny")
    space, camera = measured.space(context, measured.BUNNY), measured.camera(context, measured.BUNNY)
    found: dict[str, Any] = {}
    found["eye"], hits = _traced(space, eye_rays(camera, (edge, edge)))
    found["shadow"], _ = _traced(space, shadow_rays(hits[1], light_at(space, ELEVATION, DISTANCE))[0])
    found["reflected"], _ = _traced(space, reflected_rays(*hits))
    found["path eye"], (_, at, normal) = _traced(space, eye_rays(camera, (edge // 4, edge // 4)))
    rng, total = np.random.default_rng(2002), dict.fromkeys(("rays", "hit", "steps", "tests"), 0)
    for first in range(0, len(at), PIECE):
        piece = slice(first, first + PIECE)
        each, _ = _traced(space, scattered_rays(at[piece], normal[piece], SAMPLES, rng, even).ravel())
        total = {key: value + each[key] for key, value in total.items()}
    found["scattered"] = total
    return found


def _traced(space: Space, rays: NDArray) -> tuple[dict[str, int], tuple[NDArray, NDArray, NDArray]]:
    runs, state = walk(space, rays)
    hit = state.triangle >= 0
    numbers = {"rays": len(rays), "hit": int(hit.sum())}
    numbers |= {"steps": int(runs.steps.sum()), "tests": int(runs.tests.sum())}
    return numbers, (rays[hit], *places(rays[hit], state.distance[hit], state.triangle[hit], space.corners))
