"""The stand-ins of D fig. 5.2: what was sought, and the search again."""

from __future__ import annotations

from typing import Any

from .. import measured
from ..context import Context
from ..published.chapter5 import VIEWS
from ..report import FITTED, OWN, Check, Parts, beside, section, tabled
from ..stand_ins import AGREES, CLOSE, EDGE, FIRST, ROUNDS, error, search


@section("stand_ins", paper="D 5.2.1, P2 4.1", title="Stand-ins: how their cameras were found", quick=False, order=-1)
def make(context: Context) -> Parts:
    """Each search once more, beside the camera that the views state."""
    rows: list[tuple[Any, ...]] = []
    checks, sought = [], []
    for name in (yield from measured.there(context)):
        published, view = VIEWS[name], measured.SOURCES[name]
        kept = measured.workload(context, name)
        cells = [beside(f"{getattr(published, each):g}", f"{kept[each]:.2f}", FITTED) for each in ("v", "t", "s")]
        rows.append((name, *cells, view.stand_in))
        found = context.keep(("search", name, view.seed), lambda name=name: again(context, name))
        apart = "the same" if found["same"] else "another"
        work = ", ".join(f"{each:.2f}" for each in found["work"])
        what, near = f"{name}: the search again, {found['tried']} cameras: v, t, s", error(found["work"], published)
        why = "the search depends on the order of the machine's sums"
        checks.append(Check(OWN, what, f"to {AGREES:.0%}", f"{apart} camera: {work}", near <= AGREES, why))
        for number, (low, high), value in zip(view.numbers, view.ranges, view.values, strict=True):
            sought.append((name, number, f"{low:g} to {high:g}", value))
    wide, tall = measured.size(context)
    yield tabled("eye_rays_of_the_stand", rows, checks, wide=wide, tall=tall)
    yield tabled("cameras", sought, first=FIRST, rounds=ROUNDS, edge=EDGE, close=CLOSE)


def again(context: Context, name: str) -> dict[str, Any]:
    """What the search of a view finds here."""
    view, scene = measured.SOURCES[name], measured.SOURCES[name].load(context)
    context.progress(f"search: {name}")
    found = search(
        measured.space(context, name), VIEWS[name], lambda values: view.look(scene, values), view.ranges, view.seed
    )
    same = [f"{value:.3f}" for value in found.values] == [f"{value:.3f}" for value in view.values]
    return {"work": found.work.tolist(), "tried": found.tried, "same": same}
