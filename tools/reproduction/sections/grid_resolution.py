"""The resolution of the grid: steps against tests, and the cost that the model gives (D 5.2.1)."""

from __future__ import annotations

from typing import Any

from raystream.accel.grid.build import build
from reproduction.simulators.machines import INTERSECT, OTHER_PASSES, SETUP, STEP, TWENTY, Workload, cost
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.schedule import Simulation
from reproduction.simulators.walk import Space, walk

from .. import measured, plots
from ..context import Context
from ..published.chapter5 import TABLE_5_1
from ..report import COUNT, Figure, Parts, Table, captioned, section, tabled, told

EDGE, QUICK_EDGE = 256, 64  # pixels along a picture
SHARES = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1)  # of the published voxels along the shortest side
# Finer ones that fit: a grid has 134 M voxels and 16.8 M list entries at most.
FINER = {"building": (3 / 2,), "forest": (5 / 4,), "bunny.ply": (3 / 2, 2)}


@section("grid_resolution", paper="D 5.2.1, P2 4.1", title="The grid's resolution: steps against tests", order=2)
def make(context: Context) -> Parts:
    """v, t and the predicted cost over the resolution, for the five views."""
    edge = QUICK_EDGE if context.quick else EDGE
    found: dict[str, dict[int, Any]] = {}
    for name in (yield from measured.there(context)):
        if context.quick and name != measured.BUNNY:
            continue
        found[name] = {}
        for voxels in resolutions(name, context.quick):
            key = ("resolution", name, voxels, edge)
            found[name][voxels] = context.keep(key, lambda name=name, n=voxels: at(context, name, n, edge))
    if not found:
        return
    yield told("grid_resolution", balance=_balance(found))
    yield _table(found, edge)
    yield _figure(found)


def resolutions(name: str, quick: bool = False) -> list[int]:
    """Voxels along the shortest side, coarsest first."""
    view = measured.SOURCES[name]
    shares = SHARES[3:] if quick else (*SHARES, *FINER[view.scene])
    return [round(share * view.grid) for share in shares]


def at(context: Context, name: str, voxels: int, edge: int) -> dict[str, Any]:
    """What eye rays do in a grid: v, t, s, P, its resolution and the megabytes of voxels and lists."""
    view = measured.SOURCES[name]
    corners = view.load(context).flatten().corners()
    space = Space.of(build(corners, voxels), corners)
    runs, state = walk(space, eye_rays(measured.camera(context, name), (edge, edge)))
    return {
        "grid": " x ".join(str(each) for each in space.resolution.tolist()),
        "v": float(runs.steps.mean()),
        "t": float(runs.tests.mean()),
        "s": float((state.triangle >= 0).mean()),
        "P": Simulation(runs).play(TWENTY).passes + OTHER_PASSES,
        "megabytes": 4e-6 * (len(space.pointers) + len(space.lists)),
    }


def predicted(found: dict[str, Any]) -> dict[str, float]:
    """Of a ray by the model: instructions of both machines, bytes of SIMD, and instructions of SIMD's traversal over
    those of its intersection."""
    rays = Workload(1, found["v"], found["t"], found["s"], found["P"])
    simd = cost(rays, TABLE_5_1["SIMD"])
    mimd = cost(Workload(1, found["v"], found["t"], found["s"]), TABLE_5_1["MIMD"], state=0.0)
    loop = simd.instructions[SETUP] + simd.instructions[STEP]
    return {
        "SIMD": simd.total_instructions,
        "bytes": simd.total_bytes,
        "MIMD": mimd.total_instructions,
        "ratio": loop / simd.instructions[INTERSECT],
    }


def _balance(found: dict[str, dict[int, dict[str, Any]]]) -> str:
    """Where the least cost lies, as a sentence."""
    inside, finest = [], 0
    for each in found.values():
        ratios = [(predicted(at_)["SIMD"], predicted(at_)["ratio"]) for at_ in each.values()]
        least = min(ratios)
        if least == ratios[-1]:
            finest += 1  # a finer grid, which was not tried, may be cheaper still
        else:
            inside.append(least[1])
    text = f"SIMD's instructions are fewest at the finest grid tried in {finest} of {len(found)} views"
    if inside:
        text += f"; in the others where traversal takes {min(inside):.1f} to {max(inside):.1f} times those of "
        text += "intersection: the rule of equal times finds about the cheapest grid"
    return f"{text}."


def _table(found: dict[str, dict[int, dict[str, Any]]], edge: int) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, each in found.items():
        costs = {voxels: predicted(at_) for voxels, at_ in each.items()}
        least = {
            key: min(costs, key={n: row[key] for n, row in costs.items()}.__getitem__)
            for key in ("SIMD", "bytes", "MIMD")
        }
        for voxels, at_ in each.items():
            numbers = costs[voxels]
            marks = ", ".join(key for key, n in least.items() if n == voxels)
            shown = (f"{numbers[each]:,.0f}" for each in ("SIMD", "bytes", "MIMD"))
            published = "the published one" if voxels == measured.SOURCES[name].grid else ""
            size = format(at_["megabytes"], ".0f" if at_["megabytes"] >= 10 else ".1f")
            work = f"{at_['v']:.1f}", f"{at_['t']:.1f}", at_["P"]
            worked = (*work, *shown, f"{numbers['ratio']:.2f} : 1", size)
            rows.append((name, at_["grid"], *worked, "; ".join(filter(None, (published, marks and f"least {marks}")))))
    return tabled("what_a_ray_does_and", rows, edge=edge)


def _figure(found: dict[str, dict[int, dict[str, Any]]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.4, ncols=3)
    for color, (name, each) in zip(plots.COLORS, found.items(), strict=False):
        voxels, costs = list(each), [predicted(at_) for at_ in each.values()]
        axes[0].plot(voxels, [at_["v"] for at_ in each.values()], marker=".", color=color, label=name)
        axes[0].plot(voxels, [at_["t"] for at_ in each.values()], marker=".", color=color, linestyle="--")
        axes[1].plot(voxels, [one["ratio"] for one in costs], marker=".", color=color)
        axes[2].plot(voxels, [one["SIMD"] for one in costs], marker=".", color=color)
        axes[2].plot(voxels, [one["MIMD"] for one in costs], marker=".", color=color, linestyle="--")
    axes[1].axhspan(1 - COUNT, 1 + COUNT, color="0.9", zorder=0)
    for axis, title in zip(
        axes,
        ("a ray: v (whole), t (dashed)", "traversal over intersection", "instructions a ray: SIMD, MIMD (dashed)"),
        strict=True,
    ):
        ticks = sorted({n for each in found.values() for n in each if n & (n - 1) == 0})
        plots.powers_of_two(axis, ticks, yscale="log", xlabel="voxels along the shortest side")
        axis.set_title(title, fontsize=9)
    axes[0].legend(fontsize=7)
    return captioned("grid_resolution", svg=plots.svg(figure))
