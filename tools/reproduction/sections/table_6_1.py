"""D table 6.1, P3 table 1: seconds of photon mapping by stage, and why routing does here what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .. import photon_cases, timed
from ..context import Context
from ..photon_cases import FAST, MAPS, PASSES, STAGES, VISITS, WAYS, calls
from ..published.chapter6 import GPU, MACHINE, ROUTED, TABLE_6_1, TOTALS
from ..report import (
    ARITHMETIC,
    CLAIM,
    LITTLE,
    MOST,
    OTHER_DEVICE,
    Check,
    Conclusion,
    Parts,
    beside,
    concluded,
    listed,
    section,
    tabled,
)
from ..timed import Spread, Timed

# A picture by passes takes up to minutes; one run of the longest.
UNFUSED_RUNS = {"GLASS BALL": 2, "RING": 2, "CORNELL BOX": 1}
GPU_2003 = f"{OTHER_DEVICE} than the {GPU} of 2003, and the geometry of the scenes is not published"
CLOCK = (
    "another machine: its passes make as many calls as rays need; the verdict is by passes of the published one "
    "(section Visual convergence of GLASS BALL)"
)
SUMS = "the printed stages add up to another number"
BUILDS = ("sort", "stencil", "read-back")
HEADS = ("scene", *STAGES, "total")
NOTES = {
    FAST: "This project's machine: passes of several states, loops within a pass. "
    f"Published: {GPU}, {MACHINE}; trace rays is eye and shadow rays; totals stand in D alone.",
    PASSES: "Near the published configuration: every state a pass of its own, tiles of 16 x 16 whose rays wait. But a "
    "pass makes as many calls of a loop as its rays need, since with one call, as published, a picture takes minutes; "
    "section 6.3.3 has that by counts. Two runs, CORNELL BOX one.",
}


def names(context: Context) -> tuple[str, ...]:
    """The scenes: with ``--quick`` the first."""
    return tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)


@section("table_6_1", paper="D 6.3.1, P3 3.1", title="Seconds by stage (table 6.1)", order=1, timed=True)
def table_6_1(context: Context) -> Parts:
    """Both maps, the scenes with the published settings, by the fast machine and by the published passes."""
    checks: list[Check] = []
    built = {name: _built(context, name) for name in names(context)}
    for way in WAYS:
        rows = []
        for name in names(context):
            found = _stages(context, name, way)
            rows += [_row(name, number, kind, found[kind]) for number, kind in enumerate(MAPS)]
            if way == FAST:
                rays = [found[kind].parts["trace rays"] for kind in MAPS]
                calm = timed.alike(f"{name}: rays, the same work, take the same time by either map", *rays)
                claims = _claims(context, name, found, built[name])
                checks += [*_sums(name), *(claims if calm.passed is not False else map(_disturbed, claims)), calm]
        small = " An eighth of the width and height with few photons." if context.quick else ""
        texts: dict[str, Any] = {"way": way, "machine": NOTES[way], "small": small}
        yield tabled("table_6_1_way", rows, checks if way == FAST else (), columns=HEADS, **texts)
    grids = {name: [found[way].parts["build grid"].text() for way in BUILDS] for name, found in built.items()}
    yield tabled("building_the_map", [(name, *seconds) for name, seconds in grids.items()])
    yield from _shares(context)
    built_slower = [check for check in checks if "builds slower" in check.what]
    figures = (
        f"{check.what.split(':')[0]} {check.ours} for {check.published}"
        + (" (runs overlap: not decided)" if check.passed is None else "")
        for check in built_slower
    )
    yield concluded("routing_slower", built_slower, "; ".join(figures))


def _shares(context: Context) -> Iterator[Conclusion]:
    """What rays and the estimate take of all stages, by the map that is sorted."""
    rays, estimate = (STAGES.index(each) for each in ("trace rays", "radiance estimate"))
    printed = [[each / sum(row.sort) for each in row.sort] for row in TABLE_6_1.values()]
    ours: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for way, by_scene in ours.items():
        for name in names(context):
            medians = [_stages(context, name, way)["sort"].parts[stage].median for stage in STAGES]
            by_scene.append([each / sum(medians) for each in medians])
    for place, claim, holds in (
        (estimate, "mostly_estimate", lambda share: share > MOST),
        (rays, "little_rays", lambda share: share <= LITTLE),
    ):
        here = "; ".join(f"{way} {listed((each[place] for each in by), '.0%')}" for way, by in ours.items())
        theirs = listed((each[place] for each in printed), ".0%")
        text = f"of the stages' seconds of {', '.join(names(context))}: here {here}; by table 6.1 {theirs}"
        yield concluded(claim, [holds(each[place]) for by in ours.values() for each in by], text)


def _built(context: Context, name: str) -> dict[str, Timed]:
    return timed.keep(context, ("build", name), lambda: photon_cases.builds(name, context.device, context.quick))


def _stages(context: Context, name: str, way: str) -> dict[str, Timed]:
    """Of a scene by either map, seconds of its stages; a picture by passes takes up to minutes."""
    runs = timed.RUNS if way == FAST else UNFUSED_RUNS[name]
    return timed.keep(
        context,
        (way, name),
        lambda: photon_cases.stages(name, context.device, context.quick, way),
        runs,
        warm_up=False,  # the cases have compiled
    )


def total(found: Timed) -> Spread:
    """Of all stages, in every run."""
    return Spread(tuple(map(sum, zip(*(found.parts[stage].values for stage in STAGES), strict=True))))


def _row(name: str, number: int, kind: str, found: Timed) -> tuple[Any, ...]:
    published = getattr(TABLE_6_1[name], kind)
    cells = [beside(old, found.parts[stage].text(), GPU_2003) for stage, old in zip(STAGES, published, strict=True)]
    return f"{name} by {kind}", *cells, beside(TOTALS[name][number], total(found).text(), GPU_2003)


def _sums(name: str) -> Iterator[Check]:
    for number, kind in enumerate(MAPS):
        whole, theirs = sum(getattr(TABLE_6_1[name], kind)), TOTALS[name][number]
        what = f"{name} by {kind}: the published stages add up to the total"
        yield Check(ARITHMETIC, what, theirs, round(whole, 1), abs(whole - theirs) < 0.05, SUMS)


def _disturbed(check: Check) -> Check:
    why = "the machine was disturbed, as the same rays took longer by one map than by the other"
    return replace(check, passed=None, why=why)


def _claims(context: Context, name: str, found: Mapping[str, Timed], built: Mapping[str, Timed]) -> Iterator[Check]:
    theirs = TABLE_6_1[name]
    sort, fetch, back = (built[way].parts["build grid"] for way in BUILDS)
    what = f"{name}: stencil routing, photons read back as published, builds slower than the sort"
    why = f"where the vertex program fetches the photons it is {fetch.text()} s. The sort is a pass for every step, "
    why += "routing one draw of points"
    slower = back.slower(sort)
    why = "the runs of both overlap; " + why if slower is None else why
    both = f"{theirs.stencil[1]} to {theirs.sort[1]} s", f"{back.text()} to {sort.text()} s"
    yield Check(CLAIM, what, *both, slower, why)
    estimate = [found[kind].parts["radiance estimate"].median for kind in MAPS]
    share, printed = estimate[1] / max(estimate[0], 1e-9), theirs.stencil[3] / theirs.sort[3]
    visits = context.keep(("visits", name), lambda: _visits(context, name))
    what = f"{name}: stencil routing makes the estimate shorter, as a share of that by sort"
    why = f"{CLOCK}; {_why(visits)}"
    yield Check(CLAIM, what, f"{printed:.2f} (derived)", f"{share:.2f}", None, why)


def _visits(context: Context, name: str) -> dict[str, dict[str, int]]:
    """Calls of the estimate's kernels in a picture, by map."""
    found = {}
    for kind in MAPS:
        renderer, size = photon_cases.renderer_of(name, context.device, context.quick, photon_map=kind)
        found[kind] = {state: int(each.sum()) for state, each in calls(renderer, size).items()}
        renderer.release()
    return found


def _why(visits: Mapping[str, Mapping[str, int]]) -> str:
    """Of an estimate that routing makes no shorter: what the search comes to by each map."""
    sort, stencil = (sum(visits[kind].values()) for kind in MAPS)
    cells, photons = (f"{visits['sort'][state]:,} and {visits['stencil'][state]:,}" for state in VISITS)
    return (
        f"the searches look into {cells} cells, and at {photons} photons, by sort and by routing: {stencil / sort:.3f} "
        f"of the calls. {visits['sort']['cell'] / sort:.0%} are for cells, which both maps have alike, and only where "
        f"a cell has more than m^2 = {ROUTED} photons does routing keep fewer. Each of its photons is fetched from a "
        "footprint and scaled, by more instructions than an entry of our list takes (table 6.2). The paper prints 193 "
        "instructions for 202, which does not explain it either"
    )
