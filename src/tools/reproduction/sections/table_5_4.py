"""Table 5.4 of D: passes for each type of ray, every type to its end before the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from viewer.accel.grid.build import build
from viewer.scene.scene import Scene
from viewer.simulate.machines import TWENTY
from viewer.simulate.rays import eye_rays, places, reflected_rays, shadow_rays
from viewer.simulate.schedule import Runs, Simulation
from viewer.simulate.walk import Space, walk

from ..context import Context
from ..model import Cell, Check, Part, Table
from ..published.chapter5 import TABLE_5_4
from ..registry import section

SIZE, QUICK = 256, 64
# Voxels along the shortest side; published are the passes alone.
GRID: dict[str, int | str] = {"Cornell Box": 8, "Quake3": "auto"}
TEAPOTAHEDRON = 8
SCENES = {
    "Cornell Box": "cornell",
    "Teapotahedron, E S R": "teapotahedron",
    "Teapotahedron, E R": "teapotahedron",
    "Quake3": "chapel.bsp",
}


@section("table_5_4", paper="D 5.3, D table 5.4", title="Passes for each type of ray (table 5.4)")
def make(context: Context) -> Iterator[Part]:
    """Simulated from what the rays of each type do."""
    edge = QUICK if context.quick else SIZE
    rows, checks = [], []
    for name, published in TABLE_5_4.items():
        scene = context.scene(SCENES[name])
        types = context.keep((name, edge), lambda scene=scene, name=name: passes(scene, name, edge))
        walked, tested = (sum(each[kind] for each in types.values()) for kind in ("traversal", "intersection"))
        each = "; ".join(f"{kind} {row['traversal']} + {row['intersection']}" for kind, row in types.items())
        rows.append(
            (name, published.rays, Cell(published.traversal, walked), Cell(published.intersection, tested), each)
        )
        checks.append(
            Check(
                f"{name}: shade and set-up run once for each type of ray",
                "once",
                f"{len(types)} types, once each",
                None,
                why="by the way the simulation runs, as there: each type of ray to its end before the next",
            )
        )
    yield Table(
        "Passes of the loop",
        ("scene", "rays", "traversal", "intersection", "by type of ray: traversal + intersection"),
        rows,
        note=f"{edge} x {edge} pixels, published 256 x 256; E eye, S shadow, R reflected rays of one level. "
        "Intersection once 20 % of the active rays wait. Hybrid: first hits are drawn, shadow rays alone are traced. "
        "Voxels along the shortest side: 8 in the Cornell box, 8 in the teapotahedron; the papers name none. The "
        "Quake3 level is our own.",
        checks=checks,
    )


def passes(scene: Scene, name: str, edge: int) -> dict[str, dict[str, Any]]:
    """Of each type of ray by its letter: rays, and passes of traversal and intersection."""
    flat = scene.flatten()
    corners = flat.corners()
    space = Space.of(build(corners, GRID.get(name, TEAPOTAHEDRON)), corners)
    rays = eye_rays(scene.camera(), (edge, edge))
    runs, state = walk(space, rays)
    found = {"E": _counted(runs)} if TABLE_5_4[name].rays.startswith("E") else {}
    hit = np.flatnonzero(state.triangle >= 0)
    at, normal = places(rays[hit], state.distance[hit], state.triangle[hit], corners)
    if "S" in TABLE_5_4[name].rays:
        found["S"] = _counted(walk(space, shadow_rays(at, _lights(scene)).reshape(-1))[0])
    if "R" in TABLE_5_4[name].rays:
        mirrors = [k for k, each in enumerate(scene.materials) if each.kind == "mirror" or each.reflectivity > 0]
        mirrors = mirrors or list(range(len(scene.materials)))
        shines = np.isin(flat.materials[state.triangle[hit]], mirrors)
        found["R"] = _counted(walk(space, reflected_rays(rays[hit][shines], at[shines], normal[shines]))[0])
    return found


def _lights(scene: Scene) -> list[Any]:
    """Places of lights: points, or the middle of what shines."""
    points = [light.position for light in scene.lights if light.kind != "directional"]
    if points:
        return points
    flat = scene.flatten()
    shining = np.array([any(material.emission) for material in scene.materials])[flat.materials]
    return [flat.corners()[shining].reshape(-1, 3).mean(axis=0) - [0.0, 1.0, 0.0]]


def _counted(runs: Runs) -> dict[str, Any]:
    walked, tested = Simulation(runs).play(TWENTY).by_kernel
    return {"rays": runs.rays, "traversal": int(walked), "intersection": int(tested)}
