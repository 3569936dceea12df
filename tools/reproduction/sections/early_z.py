"""Early depth tests by blocks of pixels: how much of a pass runs in vain (D 5.4.2)."""

from __future__ import annotations

from typing import Any

from reproduction.simulators.early_z import EDGES, blocks
from reproduction.simulators.machines import TWENTY
from reproduction.simulators.schedule import Simulation

from .. import measured, plots
from ..context import Context
from ..report import OWN, Check, Figure, Parts, Table, captioned, section, tabled, told

EDGE, QUICK_EDGE = 512, 96  # pixels along a picture
PUBLISHED = 4  # pixels along the smallest block of the boards of the day


@section("early_z", paper="D 5.4.2, D 4.1.2", title="Early depth tests by blocks of 4 x 4 pixels", order=7)
def make(context: Context) -> Parts:
    """The share of the fragments that a pass runs, by the size of the blocks that the test leaves out."""
    edge = QUICK_EDGE if context.quick else EDGE
    found = yield from measured.of_views(
        context, "early z", (edge,), lambda context, name: counted(context, name, edge)
    )
    yield told("early_z", published=PUBLISHED)
    yield _table(found, edge)
    yield _figure(found)


def counted(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Of a view: passes, those of the other simulation, and shares of the fragments by edge of a block."""
    runs = measured.eye(context, name, edge).runs
    each = blocks(runs, edge)
    other = Simulation(runs).play(TWENTY)
    return {
        "passes": each.passes,
        "run": {str(size): share for size, share in each.run.items()},
        "expected": [other.passes, other.active_share(runs.rays)],
    }


def _table(found: dict[str, dict[str, Any]], edge: int) -> Table:
    rows, checks = [], []
    for name, each in found.items():
        run = {int(size): share for size, share in each["run"].items()}
        rows.append((name, *(f"{100 * run[size]:.1f} %" for size in EDGES), f"{run[PUBLISHED] / run[1]:.1f}"))
        passes, active = each["expected"]
        same = passes == each["passes"] and abs(active - run[1]) < 1e-9
        what = f"{name}: passes and active rays, by two simulations"
        ours, why = f"{each['passes']} passes, {100 * run[1]:.2f} %", "one of the simulations is wrong"
        checks.append(Check(OWN, what, f"{passes} passes, {100 * active:.2f} %", ours, same, why))
    return tabled("fragments_that_a_pass_of", rows, checks, edge=edge)


def _figure(found: dict[str, dict[str, Any]]) -> Figure:
    figure, axes = plots.figure(6.6, 3.2)
    for name, each in found.items():
        axes.plot(EDGES, [100 * each["run"][str(size)] for size in EDGES], marker=".", label=name)
    axes.axvline(PUBLISHED, color="0.6", linestyle="--", linewidth=0.8)
    plots.powers_of_two(axes, EDGES, "{0} x {0}", xlabel="pixels of a block", ylabel="fragments that run, % of all")
    axes.set_ylim(bottom=0)
    axes.legend()
    return captioned("early_z", svg=plots.svg(figure))
