"""Types of ray: shadow casting, Whitted and path tracing relative to ray casting (table 3 of P2), by counts; and passes
for each type, every type to its end before the next (table 5.4 of D)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import build
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.simulators.machines import COLOR, EYE, TWENTY, WORD, by_type
from reproduction.simulators.rays import eye_rays, places, rays_between, reflected_rays, scattered_rays, shadow_rays
from reproduction.simulators.schedule import LOOP, trace_machine
from reproduction.simulators.walk import Space, walk

from .. import measured, plots, report
from ..context import Context
from ..published.chapter5 import TABLE_3, TABLE_3_RAYS_DERIVED, TABLE_5_1, TABLE_5_4, VIEWS
from ..report import COST, COUNT, Cell, Check, Parts, beside, checked, concluded, near, section, tabled, told, worded
from ..shown import Shot, sheet

SAMPLES = 64
PIECE = 1 << 14  # pixels whose scattered rays are traced at once
SETUP, STEP, TEST = "Traverse: Setup", "Traverse: Step", "Intersect"
# Of the light, from the middle of the grid's box: not published, but sought so that shadow rays cost what is printed.
# Degrees over the horizon, heights of the box, and where it stands seen from above: x, z.
ELEVATION, DISTANCE, TOWARDS = 15.0, 10.0, (0.43, 0.9)
ELEVATIONS, DISTANCES = (5.0, 15.0, 30.0, 60.0, 90.0), (2.0, 10.0)  # tried beside, at this many pixels a side
VARIED, QUICK_VARIED = 256, 64
LIGHTS = range(1, 9)
NUMBERS = ("instructions", "bytes")
Calls = Mapping[str, Mapping[str, float]]  # rays, hits, steps and tests by type of ray


@section("table_3", paper="P2 4.3, D 3.3", title="Cost of shadows, reflections and paths (table 3 of P2)")
def table_3(context: Context) -> Parts:
    """Rays, instructions and bytes of the MIMD machine, from what each type of ray does on the bunny."""
    edge, some = measured.size(context)[0], QUICK_VARIED if context.quick else VARIED
    calls = context.keep(("rays", edge), lambda: _calls(context, edge))
    tried = context.keep(("varied", some), lambda: varied(context, some))
    found, ratios = programs(calls), relative(calls)
    rays = {name: found[name][SETUP] / found["Ray Caster"][SETUP] for name in TABLE_3}
    rows: list[tuple[Any, ...]] = []
    for name, printed in TABLE_3.items():
        ours, why = [ratios[key][name] for key in NUMBERS], cost_reason(name, calls, tried)
        pairs = zip(printed, ours, strict=True)
        cells = [near(one, other, COST, worded("view_fitted"), why, ".2f") for one, other in pairs]
        if name == "Shadow Caster":
            cells[0] = beside(printed[0], f"{ours[0]:.2f}", worded("light_sought"))
        hits = beside(f"{TABLE_3_RAYS_DERIVED[name]:.2f}", f"{rays[name]:.2f}", worded("rays_of_hits"))
        rows.append((name, *cells, hits))
    checks = list(ray_checks(rays, calls))
    texts: dict[str, Any] = {"elevation": ELEVATION, "distance": DISTANCE, "edge": edge, "edge_of_paths": edge // 4}
    heads = {"rays": ("derived", "ours")}
    yield tabled("relative_to_ray_casting", rows, checks, heads=heads, samples=SAMPLES, **texts)
    yield told("table_3")
    by = {"light at {elevation:g} degrees, {distance:g} heights away".format(**row): row for row in tried["lights"]}
    by["the light of the table, shadow rays to their nearest hit"] = tried["nearest"]
    numbers = [(name, what) for name in ("Shadow Caster", "Whitted Ray Tracer") for what in NUMBERS]
    lines = [(changed, *(f"{each[what][name]:.2f}" for name, what in numbers)) for changed, each in by.items()]
    columns = ("varied", "Shadow Caster: instructions", "bytes", "Whitted: instructions", "bytes ")
    yield tabled("what_decides_the_cost_of", lines, columns=columns, even=tried["uniform"], cosine=tried["cosine"])
    yield report.captioned("by_lights", svg=_by_lights(calls))
    # The light is placed so that shadow casting costs its printed instructions: these decide nothing.
    shadow, *others = rows
    fixed = f"; the light is placed so that shadow casting costs the printed {shadow[1].published}"
    for claim, cells, more in (
        ("table_3_instructions", [row[1] for row in others], fixed),
        ("table_3_bytes", [row[2] for row in rows], ""),
    ):
        yield concluded(
            claim, [cell.agrees for cell in cells], f"here {report.listed(cell.ours for cell in cells)}{more}"
        )


def _by_lights(calls: Calls) -> str:
    """Whitted's tracer by the number of lights."""
    curves: dict[str, list[float]] = {"rays": [], "instructions": [], "bytes": []}
    for lights in LIGHTS:
        found = programs({**calls, "shadow": {key: lights * value for key, value in calls["shadow"].items()}})
        for what, each in curves.items():
            key = SETUP if what == "rays" else what
            each.append(found["Whitted Ray Tracer"][key] / found["Ray Caster"][key])
    figure, axes = plots.figure(6.0, 3.2)
    for what, each in curves.items():
        axes.plot(LIGHTS, each, marker=".", label=what)
    axes.plot(LIGHTS, [lights + 2 for lights in LIGHTS], linestyle="--", color="0.5", label="L + 2")
    axes.set(xticks=LIGHTS, xlabel="lights, L", ylabel="times the ray caster's")
    axes.legend()
    return plots.svg(figure)


def ray_checks(rays: Mapping[str, float], calls: Calls) -> Iterator[Check]:
    """The rays that explain the published instructions, from s of the bunny alone; and those that we trace."""
    s, path, eye = VIEWS[measured.BUNNY].s, calls["path eye"], calls["eye"]
    printed = {"Shadow Caster": s, "Whitted Ray Tracer": 1 + 2 * s, "Path Tracer": SAMPLES * 256**2 / 1024**2 * s}
    for name, ours in printed.items():
        theirs = TABLE_3[name][0]
        same = f"{ours:.2f}" == f"{TABLE_3_RAYS_DERIVED[name]:.2f}" and abs(theirs / ours - 1) < 0.05
        yield checked("rays_explain", same, name=name, s=s, theirs=theirs, ours=ours)
    s = eye["hit"] / eye["rays"]
    traced = (s, 1 + 2 * s, (path["rays"] + SAMPLES * path["hit"]) / eye["rays"])
    for name, value in zip(printed, traced, strict=True):
        yield checked("rays_traced", abs(rays[name] - value) < 5e-4, name=name, s=s, theirs=value, ours=rays[name])


def printed_work() -> dict[str, tuple[float, float]]:
    """(v, t) of a secondary ray of the shadow caster and of the path tracer, by the printed instructions and bandwidth
    together: two equations, of the MIMD kernels of table 5.1 and v, t, s of the bunny. No ray of the path tracer is
    shaded but its eye rays."""
    view, rows = VIEWS[measured.BUNNY], TABLE_5_1["MIMD"]
    step, test = rows[STEP], rows[TEST]

    def fixed(*kernels: tuple[str, float]) -> NDArray:
        """Instructions and bytes of kernels, each so many times."""
        each = [(rows[name], times) for name, times in kernels]
        words = sum(times * (row.read + row.written + row.random) for row, times in each)
        return np.array([sum(times * row.instructions for row, times in each), WORD * words])

    loop = np.array([[step.instructions, test.instructions], [WORD * step.random, WORD * test.random]])
    eye = fixed((EYE, 1), (SETUP, 1)) + loop @ [view.v, view.t]
    color = fixed((COLOR, view.s))
    found = {}
    for name, rays, before, kernels in (
        ("Shadow Caster", view.s, 0.0, ((SETUP, 1), ("Shade: Shadow", 1), (COLOR, 1))),
        ("Path Tracer", SAMPLES * view.s / 16, (eye + color) / 16, ((SETUP, 1), ("Shade: Path", 1))),
    ):
        v, t = np.linalg.solve(loop, (np.array(TABLE_3[name]) * (eye + color) - before) / rays - fixed(*kernels))
        found[name] = (float(v), float(t))
    return found


def cost_reason(name: str, calls: Calls, tried: Mapping[str, Any]) -> str:
    """What was tried of a program's cost, and what remains."""
    own = calls[{"Shadow Caster": "shadow", "Path Tracer": "scattered"}.get(name, "reflected")]
    remains = worded("secondary_work", steps=own["steps"] / own["rays"], tests=own["tests"] / own["rays"])
    if name in (printed := printed_work()):
        remains += worded("printed_work", printed=printed[name])
    if name == "Path Tracer":
        return worded("tried_evenly", both=tried["uniform"], remains=remains)
    ratios, nearest = [row["bytes"][name] for row in tried["lights"]], tried["nearest"]["bytes"][name]
    return worded("tried_lights", least=min(ratios), most=max(ratios), nearest=nearest, remains=remains)


def programs(calls: Calls) -> dict[str, dict[str, float]]:
    """Calls of every kernel, instructions and bytes by program, from rays, hits, steps and tests by type of ray."""
    eye, shadow, reflected, path, scattered = (
        calls[k] for k in ("eye", "shadow", "reflected", "path eye", "scattered")
    )
    both = {"Shade: Shadow": shadow["rays"], "Shade: Reflected": reflected["rays"]}
    made = {}
    for name, types, others in (
        ("Ray Caster", [eye], {EYE: eye["rays"], COLOR: eye["hit"]}),
        ("Shadow Caster", [shadow], {"Shade: Shadow": shadow["rays"], COLOR: shadow["rays"]}),
        (
            "Whitted Ray Tracer",
            [eye, shadow, reflected],
            {EYE: eye["rays"], **both, COLOR: eye["hit"] + reflected["hit"]},
        ),
        (
            "Path Tracer",
            [path, scattered],
            {EYE: path["rays"], "Shade: Path": scattered["rays"], COLOR: path["hit"] + scattered["hit"]},
        ),
    ):
        steps, tests, rays = (sum(each[key] for each in types) for key in ("steps", "tests", "rays"))
        made[name] = each = {**others, SETUP: rays, STEP: steps, TEST: tests}
        rows = [(TABLE_5_1["MIMD"][kernel], number) for kernel, number in each.items()]
        each["instructions"] = sum(row.instructions * number for row, number in rows)
        each["bytes"] = sum(WORD * (row.read + row.written + row.random) * number for row, number in rows)
    return made


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
    _, hits = _traced(space, eye_rays(measured.camera(context, measured.BUNNY), (edge, edge)))
    lights = []
    for elevation in ELEVATIONS:
        for distance in DISTANCES:
            shadow, _ = _traced(space, shadow_rays(hits[1], light_at(space, elevation, distance))[0])
            lights.append({"elevation": elevation, "distance": distance, **relative({**calls, "shadow": shadow})})
    rays = shadow_rays(hits[1], light_at(space, ELEVATION, DISTANCE))[0]
    rays["any_hit"] = 0
    nearest = relative({**calls, "shadow": _traced(space, rays)[0]})
    even = relative({**calls, "scattered": _calls(context, edge, even=True)["scattered"]})
    path = [[each[what]["Path Tracer"] for what in NUMBERS] for each in (relative(calls), even)]
    return {"lights": lights, "nearest": nearest, "cosine": path[0], "uniform": path[1]}


def relative(calls: Calls) -> dict[str, dict[str, float]]:
    """Instructions and bytes of programs over those of the ray caster."""
    found = programs(calls)
    return {what: {name: found[name][what] / found["Ray Caster"][what] for name in TABLE_3} for what in NUMBERS}


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


# -- passes for each type of ray ---------------------------------------------------------------------------------------

SIZE, QUICK = 256, 64
DEVICE_EDGE = 32  # where the device runs it too
SLACK = 0.01
# Voxels along the shortest side; published are the passes alone.
GRID: dict[str, int | str] = {"Cornell Box": 8, "Quake3": "auto"}
TEAPOTAHEDRON = 8
CAST = {"program": "cast", "accel": "grid"}
# Tried where passes differ: voxels along an edge, and where the Cornell box is seen from, each with what it looks at.
GRIDS, VARIED_EDGE = (5, 6, 7, 8, 10, 12), 64
VIEWPOINTS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]] | None] = {
    "as the scene has it": None,
    "nearer": ((278.0, 273.0, -450.0), (278.0, 250.0, 280.0)),
    "from the left": ((60.0, 300.0, -600.0), (300.0, 230.0, 280.0)),
    "from above": ((400.0, 540.0, -550.0), (278.0, 150.0, 300.0)),
    "within": ((278.0, 300.0, 20.0), (278.0, 150.0, 400.0)),
}
SHORT = 1e-3  # of the way to a light
SCENES = {
    "Cornell Box": "cornell",
    "Teapotahedron, E S R": "teapotahedron",
    "Teapotahedron, E R": "teapotahedron",
    "Quake3": "chapel.bsp",
}
Tried = Mapping[str, Mapping[str, Sequence[int]]]  # passes of traversal and of intersection by grid and viewpoint


@section("table_5_4", paper="D 5.3, D table 5.4", title="Passes for each type of ray (table 5.4, figure 5.7)")
def table_5_4(context: Context) -> Parts:
    """Simulated from what the rays of each type do, and run on the device."""
    edge = QUICK if context.quick else SIZE
    tried = context.keep(("by view", VARIED_EDGE), lambda: by_view(context.scene(SCENES["Cornell Box"])))
    rows: list[tuple[Any, ...]] = []
    scenes: dict[str, tuple[Any, ...]] = {}
    figures, checks = [], list[Check]()
    for name, published in TABLE_5_4.items():
        file = SCENES[name]
        found = context.keep((name, edge), lambda file=file, name=name: passes(context.scene(file), name, edge))
        types, theirs = found["types"], (published.traversal, published.intersection)
        ours = [sum(each[kind] for each in types.values()) for kind in (1, 2)]
        cells = [_cell(file, *both, tried, kind) for kind, both in enumerate(zip(theirs, ours, strict=True))]
        each = "; ".join(f"{kind} {row[1]} + {row[2]}" for kind, row in types.items())
        a_second = beside(f"{published.fps * sum(theirs):,.0f}", "-", worded("other_machine"))
        rows.append((name, published.rays, *cells, a_second, each))
        if file not in scenes:
            scenes[file] = (
                file,
                f"{found['triangles']:,}",
                report.sides(found["grid"]),
                f"{math.prod(found['grid']):,}",
            )
            shot = Shot(lambda file=file: (context.scene(file), None), (edge, edge), 1, CAST)
            seen = sheet(context, ("view", file), shot)
            figures.append(report.Figure(file, png=seen, note="The viewpoint of the table.", alt=name))
        checks += _on_device(context, name)
    yield tabled("passes_of_the_loop", rows, checks, heads={"passes a second": ("derived", "ours")}, edge=edge)
    lines = [
        (grid, *(f"{a} + {b}" for a, b in views.values()))
        for grid, views in sorted(tried.items(), key=lambda each: int(each[0]))
    ]
    columns = ("voxels along an edge", *VIEWPOINTS)
    yield tabled("the_cornell_box_by_grid", lines, columns=columns, varied_edge=VARIED_EDGE)
    devices = [check for check in checks if check.kind == report.CLAIM]
    held = sum(check.passed is True for check in devices)
    yield concluded("types_in_turn", devices, worded("types_in_turn", passed=held, all=len(devices)))
    yield tabled("the_scenes", list(scenes.values()))
    yield from figures


def by_view(scene: Scene) -> dict[str, dict[str, list[int]]]:
    """Passes of traversal and intersection of the Cornell box's shadow rays, by grid and viewpoint."""
    found: dict[str, dict[str, list[int]]] = {}
    for grid in GRIDS:
        for view, place in VIEWPOINTS.items():
            camera = scene.camera() if place is None else Camera(*place, fov=60.0)
            space, rays = traced(scene, "Cornell Box", VARIED_EDGE, grid, camera)
            found.setdefault(str(grid), {})[view] = list(by_type(space, {"S": [rays["S"]]})["S"])
    return found


def passes_reason(tried: Tried, kind: int) -> str:
    """What was tried of a number of passes. kind : 0 of traversal, 1 of intersection."""
    every = {(grid, view): passes for grid, views in tried.items() for view, passes in views.items()}
    one = [passes[kind] for passes in tried[str(GRID["Cornell Box"])].values()]
    each = [passes[kind] for passes in every.values()]
    theirs = TABLE_5_4["Cornell Box"].traversal, TABLE_5_4["Cornell Box"].intersection
    both = sum(all(report.about(b, a, COUNT) for a, b in zip(passes, theirs, strict=True)) for passes in every.values())
    off = {at: max(abs(a / b - 1) for a, b in zip(passes, theirs, strict=True)) for at, passes in every.items()}
    best = min(off, key=off.__getitem__)
    ends = {"one": (min(one), max(one)), "each": (min(each), max(each)), "grids": (GRIDS[0], GRIDS[-1])}
    return worded("passes_tried", both=both, all=len(every), best=best, nearest=every[best], **ends)


def _cell(file: str, theirs: int, ours: int, tried: Tried, kind: int) -> Cell:
    """Graded for the Cornell box, which is known; the other scenes are stand-ins."""
    if file != "cornell":
        return beside(theirs, ours, report.OTHER_SCENE)
    return near(theirs, ours, COUNT, worded("whole_voxels"), passes_reason(tried, kind))


def passes(scene: Scene, name: str, edge: int) -> dict[str, Any]:
    """Of each type of ray by its letter: rays, and passes of traversal and intersection; and the grid."""
    space, rays = traced(scene, name, edge)
    found = by_type(space, {kind: [each] for kind, each in rays.items()})
    types = {kind: [len(rays[kind]), *found[kind]] for kind in rays}
    return {"types": types, "grid": [int(n) for n in space.resolution], "triangles": scene.triangle_count}


def traced(
    scene: Scene, name: str, edge: int, grid: int | None = None, camera: Camera | None = None
) -> tuple[Space, dict[str, NDArray]]:
    """The scene's grid, and the rays of each type. grid, camera : in place of the table's."""
    flat, kinds = scene.flatten(), TABLE_5_4[name].rays
    corners = flat.corners()
    space = Space.of(build(corners, grid or GRID.get(name, TEAPOTAHEDRON)), corners)
    eye = eye_rays(camera or scene.camera(), (edge, edge))
    _, state = walk(space, eye)
    rays = {"E": eye} if kinds.startswith("E") else {}
    hit = np.flatnonzero(state.triangle >= 0)
    at, normal = places(eye[hit], state.distance[hit], state.triangle[hit], corners)
    if "S" in kinds:
        rays["S"] = _to_lights(scene, at)
    if "R" in kinds:
        mirrors = [k for k, each in enumerate(scene.materials) if each.kind == "mirror" or each.reflectivity > 0]
        shines = np.isin(flat.materials[state.triangle[hit]], mirrors or list(range(len(scene.materials))))
        rays["R"] = reflected_rays(eye[hit][shines], at[shines], normal[shines])
    return space, rays


def _on_device(context: Context, name: str) -> Iterator[Check]:
    """Passes of the multipass machine on this device, each type of ray to its end before the next."""
    edge = DEVICE_EDGE
    found = context.keep(("device", name, edge), lambda: device_passes(context, name, edge))
    kinds = found["setup"]
    theirs, ours = (report.by_name(each) for each in (dict.fromkeys(kinds, 1), kinds))
    same: dict[str, Any] = {"name": name, "edge": edge, "slack": 100 * SLACK}
    yield checked("setup_once", set(kinds.values()) == {1}, theirs=theirs, ours=ours, **same)
    apart = max(abs(a - b) for a, b in zip(found["device"], found["simulated"], strict=True))
    most = max(1, round(SLACK * sum(found["simulated"])))
    yield checked("device_passes", apart <= most, found=found, **same)


def device_passes(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Passes of set-up by type of ray, and of traversal and intersection, run and simulated."""
    scene = context.scene(SCENES[name])
    space, rays = traced(scene, name, edge)
    grid: dict[str, Any] = {"grid": GRID.get(name, TEAPOTAHEDRON), "intersection": "moller-trumbore", **CAST}
    renderer = Renderer(scene, device=context.device, machine="multipass", **grid)
    ran: dict[str, Counter[str]] = {}
    with renderer.device.current():
        for kind, each in rays.items():
            machine = trace_machine(renderer, _whole_rows(each), TWENTY, 1)
            machine.finish()
            ran[kind] = Counter(every.step for every in machine.stats.passes)
            machine.release()
    renderer.release()
    found = by_type(space, {kind: [_whole_rows(each)] for kind, each in rays.items()})
    return {
        "setup": {kind: counted["setup"] for kind, counted in ran.items()},
        "device": [sum(counted[step] for counted in ran.values()) for step in LOOP],
        "simulated": [sum(each[k] for each in found.values()) for k in (0, 1)],
    }


def _whole_rows(rays: NDArray) -> NDArray:
    """As the machine's stream has them: its last row filled with the first rays again."""
    columns = min(256, len(rays))
    return np.resize(rays, -(-len(rays) // columns) * columns)


def _to_lights(scene: Scene, at: NDArray) -> NDArray:
    """Shadow rays of places (N, 3): to each point light, or to a random point of what shines, as soft shadows were."""
    points = [light.position for light in scene.lights if light.kind != "directional"]
    if points:
        return shadow_rays(at, points).reshape(-1)
    flat, rng = scene.flatten(), np.random.default_rng(2004)
    shining = np.array([any(material.emission) for material in scene.materials])[flat.materials]
    a, b, c = flat.corners()[shining].astype(np.float64).swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(areas), len(at), p=areas / areas.sum())
    u, v = rng.random((2, len(at), 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    target = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    target += SHORT * (at - target)  # the light itself is no occluder
    return rays_between(at, target)
