"""Table 5.4 of D: passes for each type of ray, every type to its end before the next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import build
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.simulators.machines import TWENTY, by_type
from reproduction.simulators.rays import eye_rays, places, rays_between, reflected_rays, shadow_rays
from reproduction.simulators.schedule import LOOP, trace_machine
from reproduction.simulators.walk import Space, walk

from .. import report
from ..context import Context
from ..published.chapter5 import TABLE_5_4
from ..report import CLAIM, COUNT, OWN, Cell, Check, Figure, Parts, Table, about, beside, near, section, tabled
from ..shown import Shot, sheet

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
WARMUP_RUNS = "frames are timed here on another machine than the one whose passes are counted"
SHORT = 1e-3  # of the way to a light
SCENES = {
    "Cornell Box": "cornell",
    "Teapotahedron, E S R": "teapotahedron",
    "Teapotahedron, E R": "teapotahedron",
    "Quake3": "chapel.bsp",
}


@section("table_5_4", paper="D 5.3, D table 5.4", title="Passes for each type of ray (table 5.4, figure 5.7)")
def make(context: Context) -> Parts:
    """Simulated from what the rays of each type do, and run on the device."""
    edge = QUICK if context.quick else SIZE
    tried = context.keep(("by view", VARIED_EDGE), lambda: by_view(context.scene(SCENES["Cornell Box"])))
    rows: list[tuple[Any, ...]] = []
    scenes: list[tuple[Any, ...]] = []
    figures = []
    checks: list[Check] = []
    for name, published in TABLE_5_4.items():
        file = SCENES[name]
        found = context.keep((name, edge), lambda file=file, name=name: passes(context.scene(file), name, edge))
        types, theirs = found["types"], (published.traversal, published.intersection)
        ours = (sum(each[kind] for each in types.values()) for kind in (1, 2))
        cells = [_cell(name, *both, tried, kind) for kind, both in enumerate(zip(theirs, ours, strict=True))]
        each = "; ".join(f"{kind} {row[1]} + {row[2]}" for kind, row in types.items())
        a_second = beside(f"{published.fps * sum(theirs):,.0f}", "-", WARMUP_RUNS)
        rows.append((name, published.rays, *cells, a_second, each))
        if file not in [each[0] for each in scenes]:
            scenes.append((file, f"{found['triangles']:,}", *_voxels(found["grid"])))
            shot = Shot(lambda file=file: (context.scene(file), None), (edge, edge), 1, CAST)
            seen = sheet(context, ("view", file), shot)
            figures.append(Figure(file, png=seen, note="The viewpoint of the table.", alt=name))
        checks += _on_device(context, name)
    yield tabled("passes_of_the_loop", rows, checks, heads={"passes a second": ("derived", "ours")}, edge=edge)
    yield _by_view(tried)
    devices = [check for check in checks if check.kind == CLAIM]
    yield report.concluded(
        "types_in_turn",
        devices,
        f"{sum(check.passed is True for check in devices)} of {len(devices)} scenes on this device; these runs end "
        "with the hits of a type of ray, all of which one pass then shades",
    )
    yield tabled("the_scenes", scenes)
    yield from figures


def by_view(scene: Scene) -> dict[str, dict[str, list[int]]]:
    """Passes of traversal and intersection of the Cornell box's shadow rays, by grid and viewpoint."""
    found: dict[str, dict[str, list[int]]] = {}
    for grid in GRIDS:
        found[str(grid)] = {}
        for view, place in VIEWPOINTS.items():
            camera = scene.camera() if place is None else Camera(*place, fov=60.0)
            space, rays = traced(scene, "Cornell Box", VARIED_EDGE, grid, camera)
            found[str(grid)][view] = list(by_type(space, {"S": [rays["S"]]})["S"])
    return found


def _by_view(tried: Mapping[str, Mapping[str, list[int]]]) -> Table:
    rows = [
        (grid, *(f"{a} + {b}" for a, b in views.values()))
        for grid, views in sorted(tried.items(), key=lambda each: int(each[0]))
    ]
    return tabled(
        "the_cornell_box_by_grid", rows, columns=("voxels along an edge", *VIEWPOINTS), varied_edge=VARIED_EDGE
    )


def why(tried: Mapping[str, Mapping[str, list[int]]], kind: int) -> str:
    """What was tried of a number of passes. kind : 0 of traversal, 1 of intersection."""
    every = [passes for views in tried.values() for passes in views.values()]
    one = [passes[kind] for passes in tried[str(GRID["Cornell Box"])].values()]
    published = TABLE_5_4["Cornell Box"]
    theirs = published.traversal, published.intersection
    near_both = sum(all(about(b, a, COUNT) for a, b in zip(each, theirs, strict=True)) for each in every)
    off = {
        (grid, view): max(abs(a / b - 1) for a, b in zip(passes, theirs, strict=True))
        for grid, views in tried.items()
        for view, passes in views.items()
    }
    grid, view = min(off, key=off.__getitem__)
    nearest = " + ".join(map(str, tried[grid][view]))
    return (
        f"by viewpoint it is {min(one)} to {max(one)} in this grid, and {min(each[kind] for each in every)} to "
        f"{max(each[kind] for each in every)} in grids of {GRIDS[0]} to {GRIDS[-1]} voxels along an edge; both numbers "
        f"are near the printed ones in {near_both} of these {len(every)}, nearest in one of {grid}, {view}: {nearest}"
    )


def _cell(name: str, theirs: int, ours: int, tried: Mapping[str, Mapping[str, list[int]]], kind: int) -> Cell:
    """Graded for the Cornell box, which is known; the other scenes are stand-ins."""
    if SCENES[name] != "cornell":
        return beside(theirs, ours, report.OTHER_SCENE)
    return near(theirs, ours, COUNT, "voxels along an edge are a whole number, and not published", why(tried, kind))


def _voxels(grid: list[int]) -> tuple[str, str]:
    return " x ".join(map(str, grid)), f"{math.prod(grid):,}"


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
    flat = scene.flatten()
    corners = flat.corners()
    space = Space.of(build(corners, grid or GRID.get(name, TEAPOTAHEDRON)), corners)
    eye = eye_rays(camera or scene.camera(), (edge, edge))
    _, state = walk(space, eye)
    rays = {"E": eye} if TABLE_5_4[name].rays.startswith("E") else {}
    hit = np.flatnonzero(state.triangle >= 0)
    at, normal = places(eye[hit], state.distance[hit], state.triangle[hit], corners)
    if "S" in TABLE_5_4[name].rays:
        rays["S"] = _to_lights(scene, at)
    if "R" in TABLE_5_4[name].rays:
        mirrors = [k for k, each in enumerate(scene.materials) if each.kind == "mirror" or each.reflectivity > 0]
        mirrors = mirrors or list(range(len(scene.materials)))
        shines = np.isin(flat.materials[state.triangle[hit]], mirrors)
        rays["R"] = reflected_rays(eye[hit][shines], at[shines], normal[shines])
    return space, rays


def _on_device(context: Context, name: str) -> Iterator[Check]:
    """Passes of the multipass machine on this device, each type of ray to its end before the next."""
    edge = DEVICE_EDGE
    found = context.keep(("device", name, edge), lambda: device_passes(context, name, edge))
    kinds = found["setup"]
    once_each = dict.fromkeys(kinds, 1)
    printed, own = (", ".join(f"{kind} {n}" for kind, n in each.items()) for each in (once_each, kinds))
    what, once = f"{name}: set-up runs once for each type of ray, on this device", set(kinds.values()) == {1}
    bound = f"{edge} x {edge} pixels; each type to its end before the next, as published"
    yield Check(CLAIM, what, printed, own, once, bound=bound)
    apart = max(abs(a - b) for a, b in zip(found["device"], found["simulated"], strict=True))
    most = max(1, round(SLACK * sum(found["simulated"])))
    what = f"{name}: passes on this device, and simulated: traversal, intersection"
    ours = "{}, {}; simulated {}, {}".format(*found["device"], *found["simulated"])
    bound = (
        f"{edge} x {edge} pixels; to {100 * SLACK:g} %: a compiler that fuses products may send a ray through other "
    )
    yield Check(OWN, what, "", ours, apart <= most, bound=f"{bound}voxels")


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
