"""What the eye rays of the five views do, for the simulators, and this project's rows of table 5.1.

Grids and walks of a picture are made once in a process and shared by all sections.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import build
from raystream.scene.camera import Camera
from raystream.stream.analysis.instructions import instructions
from raystream.stream.analysis.spirv import NoCompiler
from reproduction.published.chapter5 import VIEWS as PUBLISHED
from reproduction.published.chapter5 import KernelRow
from reproduction.simulators.counts import MACHINES, kernel_rows, published_program
from reproduction.simulators.machines import OTHER_PASSES, TWENTY
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.schedule import Runs, Simulation
from reproduction.simulators.walk import Space, walk

from . import stand_ins, views
from .context import Context
from .report import OWN, Absent, AbsentError, Check

FOREST_INSIDE = "Forest Inside"
BUNNY = "Bunny Ray Cast"
SOURCES = {view.name: view for view in views.VIEWS}


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
    edge = views.QUICK_SIZE if context.quick else views.SIZE
    return edge, edge


def space(context: Context, name: str) -> Space:
    """The grid of a view's scene. Raises AbsentError where the scene is not there."""
    view = SOURCES[name]

    def make() -> Space:
        corners = view.load(context).flatten().corners()
        return Space.of(build(corners, view.grid), corners)

    return _once(context, (view.scene, view.grid), make)


def camera(context: Context, name: str) -> Camera:
    """The camera of a view. Raises AbsentError."""
    view = SOURCES[name]
    return view.look(view.load(context))


def eye(context: Context, name: str, edge: int | None = None) -> Measured:
    """A view and what its eye rays do, in a picture of `size`, or of so many pixels along an edge."""
    wide, tall = size(context) if edge is None else (edge, edge)

    def make() -> Measured:
        context.progress(f"rays of {name}, {wide} x {tall}")
        where, rays = space(context, name), eye_rays(camera(context, name), (wide, tall))
        runs, state = walk(where, rays)
        return Measured(where, rays, runs, state.triangle.copy(), state.distance.copy())

    return _once(context, (name, wide, tall), make)


def agreement(context: Context, name: str) -> Check:
    """Whether v, t and s of a view are near to the published ones, a test of ours: its camera was sought for them."""
    found, published = workload(context, name), PUBLISHED[name]
    work = [float(found[each]) for each in ("v", "t", "s")]
    off = stand_ins.error(work, published)
    what = f"{name}: v, t and s, for which the camera was sought"
    theirs, ours = (
        " / ".join(f"{each:.4g}" for each in row) for row in ((published.v, published.t, published.s), work)
    )
    return Check(
        OWN, what, theirs, ours, off <= stand_ins.AGREES, bound=f"to {stand_ins.AGREES:.0%}; the largest: {off:.1%}"
    )


def there(context: Context) -> Generator[Absent, None, list[str]]:
    """The names of the views whose scenes are there; yields what is to be said of the others."""
    names = []
    for name, view in SOURCES.items():
        try:
            if context.stored is None:
                view.load(context)
        except AbsentError as error:
            yield Absent(name, error.part.why)
        else:
            names.append(name)
    return names


def of_views(
    context: Context, what: str, inputs: tuple[Any, ...], function: Callable[[Context, str], Any]
) -> Generator[Absent, None, dict[str, Any]]:
    """A function of each view that is there, kept under ``what``, its name and these inputs; yields what is to be said
    of the others."""
    names = yield from there(context)
    return {name: context.keep((what, name, *inputs), lambda name=name: function(context, name)) for name in names}


def workload(context: Context, name: str) -> dict[str, Any]:
    """v, t, s and passes P of a view, kept."""
    wide, tall = size(context)

    def make() -> dict[str, Any]:
        view = eye(context, name)
        passes = Simulation(view.runs).play(TWENTY).passes + OTHER_PASSES
        rays = view.runs.rays
        v, t = float(view.runs.steps.sum() / rays), float(view.runs.tests.sum() / rays)
        return {"rays": rays, "v": v, "t": t, "s": view.shaded, "passes": passes}

    return context.keep(("workload", name, wide, tall), make)


# -- kernels -------------------------------------------------------------------------------------------------------


def our_rows(context: Context) -> dict[str, dict[str, KernelRow]] | None:
    """This project's table 5.1 of the ray caster's kernels, by machine; None without glslangValidator."""

    def make() -> dict[str, dict[str, KernelRow]]:
        program = published_program("cast")
        counted = instructions(program)
        return {machine: kernel_rows(program, machine, counted) for machine in MACHINES}

    try:
        kept = context.keep("rows", make)
    except NoCompiler:
        return None
    return {machine: {name: KernelRow(*row) for name, row in rows.items()} for machine, rows in kept.items()}
