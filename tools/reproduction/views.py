"""The five views of D fig. 5.2 as far as this project has them, and what their rays do, for the simulators.

The papers' scenes and cameras were not published; ours stand in for them with as many triangles and voxels. Grids,
walks and counts of a picture are made once in a process and shared by all sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from viewer.accel.grid.build import build
from viewer.base.errors import ViewerError
from viewer.scene.camera import Camera
from viewer.simulate.counts import PUBLISHED_KERNELS, NoCompiler, instructions, published_program, words
from viewer.simulate.machines import OTHER_PASSES, TWENTY
from viewer.simulate.rays import eye_rays
from viewer.simulate.schedule import Runs, Simulation
from viewer.simulate.walk import Space, walk

from .context import Context
from .model import Absent, AbsentError
from .published.chapter5 import KERNELS, TABLE_5_1

# D fig. 5.2: the bunny stands on a ground that makes the grid 98 x 64 x 163: of so many of its heights along x and z.
GROUND = 1.53, 2.55
BUNNY_AWAY, BUNNY_FOV = (1.28, 1.28, 0.14), 40.0  # heights of the bunny from the target; degrees


@dataclass(frozen=True)
class Source:
    """scene : built-in, or a file of the scene data; camera : of its cameras; grid : voxels of the least dimension."""

    scene: str
    camera: str
    grid: int


SOURCES = {
    "Soda Hall Outside": Source("building", "outside", 128),
    "Soda Hall Inside": Source("building", "inside", 128),
    "Forest Top Down": Source("forest", "top", 128),
    "Forest Inside": Source("forest", "inside", 128),
    "Bunny Ray Cast": Source("bunny.ply", "", 64),
}
FOREST_INSIDE = "Forest Inside"
BUNNY = "Bunny Ray Cast"


class Measured(NamedTuple):
    """A view: its grid, eye rays, what they do, the triangles they hit (-1: none) and how far away."""

    space: Space
    rays: NDArray
    runs: Runs
    triangle: NDArray[np.int32]
    distance: NDArray[np.float32]

    @property
    def shaded(self) -> float:
        """s, the share of the rays that hit."""
        return float((self.triangle >= 0).mean())


_made: WeakKeyDictionary[Context, dict[Any, Any]] = WeakKeyDictionary()


def _once(context: Context, key: Any, function: Callable[[], Any]) -> Any:
    found = _made.setdefault(context, {})
    if key not in found:
        found[key] = function()
    return found[key]


def size(context: Context) -> tuple[int, int]:
    """Of pictures: the papers' 1024 x 1024, or a small one."""
    return (128, 128) if context.quick else (1024, 1024)


def space(context: Context, name: str) -> Space:
    """The grid of a view's scene. Raises AbsentError where the scene is not there."""
    source = SOURCES[name]
    return _once(context, (source.scene, source.grid), lambda: _space(context, source))


def _space(context: Context, source: Source) -> Space:
    corners = _scene(context, source).flatten().corners()
    if source.scene == "bunny.ply":
        corners = np.concatenate([corners, _ground(corners)])
    return Space.of(build(corners, source.grid), corners)


def _scene(context: Context, source: Source) -> Any:
    try:
        return context.scene(source.scene)
    except ViewerError as error:
        raise AbsentError(f"the scene '{source.scene}'", str(error)) from None


def _ground(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """(2, 3, 3): the bunny's ground."""
    low, high = (corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0))
    middle, height = (low + high) / 2, high[1] - low[1]
    half = np.array([GROUND[0], 0.0, GROUND[1]]) * height / 2
    a, c = middle - half, middle + half
    a[1] = c[1] = low[1]
    b, d = np.array([c[0], low[1], a[2]]), np.array([a[0], low[1], c[2]])
    return np.array([[a, d, c], [a, c, b]], np.float32)


def camera(context: Context, name: str) -> Camera:
    """The camera of a view. Raises AbsentError."""
    source = SOURCES[name]
    if source.camera:
        cameras = {each.name: each for each in _scene(context, source).cameras}
        if source.camera not in cameras:
            raise AbsentError(name, f"the scene '{source.scene}' has no camera '{source.camera}'")
        return cameras[source.camera]
    box = space(context, name).corners.reshape(-1, 3)
    low, high = box.min(axis=0).astype(float), box.max(axis=0).astype(float)
    height = high[1] - low[1]
    target = (low + high) / 2 - [0.0, 0.2 * height, 0.0]
    away = np.array(BUNNY_AWAY) * height
    return Camera(tuple(target + away), tuple(target), fov=BUNNY_FOV, name="bunny")


def measured(context: Context, name: str, edge: int | None = None) -> Measured:
    """A view and what its eye rays do, in a picture of `size`, or of so many pixels along an edge."""
    wide, tall = size(context) if edge is None else (edge, edge)

    def make() -> Measured:
        context.progress(f"rays of {name}, {wide} x {tall}")
        where, rays = space(context, name), eye_rays(camera(context, name), (wide, tall))
        runs, state = walk(where, rays)
        return Measured(where, rays, runs, state.triangle.copy(), state.distance.copy())

    return _once(context, (name, wide, tall), make)


def there(context: Context) -> Iterator[str | Absent]:
    """The names of the views whose scenes are there, and what is to be said of the others."""
    for name, source in SOURCES.items():
        try:
            if source.scene.endswith(".ply"):
                context.file(source.scene)
            else:
                _scene(context, source)
        except AbsentError as error:
            yield Absent(name, error.part.why)
        else:
            yield name


def workload(context: Context, name: str) -> dict[str, Any]:
    """v, t, s and passes P of a view, kept."""
    wide, tall = size(context)

    def make() -> dict[str, Any]:
        view = measured(context, name)
        passes = Simulation(view.runs).play(TWENTY).passes + OTHER_PASSES
        rays = view.runs.rays
        v, t = float(view.runs.steps.sum() / rays), float(view.runs.tests.sum() / rays)
        return {"rays": rays, "v": v, "t": t, "s": view.shaded, "passes": passes}

    return context.keep(("workload", name, wide, tall), make)


# -- kernels -------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of table 5.1: see `reproduction.published.chapter5.Words`."""

    instructions: float
    read: float
    written: float
    random: float
    state_read: float = 0
    state_written: float = 0


def our_rows(context: Context) -> dict[str, dict[str, Row]] | None:
    """This project's table 5.1 of the ray caster's kernels, by machine; None without glslangValidator."""

    def make() -> dict[str, dict[str, list[float]]]:
        program = published_program("cast")
        counted = instructions(program)
        found: dict[str, dict[str, list[float]]] = {}
        for machine in TABLE_5_1:
            moved = words(program, machine)
            for kernel in KERNELS:
                for state in PUBLISHED_KERNELS[kernel].get("cast", ()):
                    each = counted[state]
                    number = each.all if machine == "SIMD" else each.branching
                    found.setdefault(machine, {})[kernel] = [number, *moved[state]]
        return found

    try:
        kept = context.keep("rows", make)
    except NoCompiler:
        return None
    return {machine: {name: Row(*row) for name, row in rows.items()} for machine, rows in kept.items()}
