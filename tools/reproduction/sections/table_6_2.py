"""Table 6.2: instructions of the kernels of photon mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.simulators.counts import NoCompiler
from reproduction.simulators.counts.photons import photon_instructions

from ..context import Context
from ..counted import faults
from ..model import Absent, Cell, Check, Part, Table
from ..published.chapter6_instructions import HAND_CODED_SORT, LEAST_PER_TEXTURE, TABLE_6_2, Row
from ..registry import section

HEADS = ("kernel", "Inst", "TEX", "Addr", "Pack")


@section("table_6_2", paper="D table 6.2, P3 table 2", title="Kernels of photon mapping: instructions (table 6.2)")
def table_6_2(context: Context) -> Iterator[Part]:
    """One iteration of each; the estimates are three kernels here."""
    ours: dict[str, dict[str, int]] = {}
    try:
        ours = context.keep("photon kernels", lambda: _counted(context))
    except NoCompiler as error:
        yield Absent("instructions of ours", str(error))
    rows: list[tuple[Any, ...]] = []
    for name, theirs in TABLE_6_2.items():
        mine = ours.get(name, {})
        rows.append((name, *(Cell(old, mine.get(part, "-")) for part, old in theirs._asdict().items())))
    rows += [(f"of it {name}", *mine.values()) for name, mine in ours.items() if name not in TABLE_6_2]
    note = (
        "Published / ours, by the rules in viewer/stream/analysis/instructions.py. Nothing is packed here: several "
        "outputs take what one of 128 bits did then. Our estimates read the streams of three passes, hence more "
        "fetches; the stencil's photons are looked for in the map of counts, too. Our sort orders equal cells by "
        "photon, and has integers: what the published one does by mod and floor."
    )
    yield Table("Instructions of one iteration, nothing unrolled", HEADS, rows, note, [*_claims(), *_ours(ours)])
    yield from faults("table 6.2")


def _counted(context: Context) -> dict[str, dict[str, int]]:
    found = photon_instructions(context.device)
    return {name: {part: getattr(each, part) for part in Row._fields} for name, each in found.items()}


def _claims() -> Iterator[Check]:
    """What the text says of the table, by the table's own numbers."""
    route, search = TABLE_6_2["Stencil Routing"], TABLE_6_2["Binary Search"]
    share = route.addresses / route.all
    yield Check("stencil routing: share of addresses", "nearly 60 %", f"{share:.1%}", 0.59 <= share < 0.6)
    share = search.addresses / search.all
    yield Check("binary search: share of addresses", "over 72 %", f"{share:.1%}", 0.72 < share < 0.73)
    for kind in ("sort", "stencil"):
        row = TABLE_6_2[f"Rad. Estimate ({kind})"]
        share = (row.addresses + row.packing) / row.all
        within = 1 / 3 <= share <= 1 / 2
        why = "" if within else "a little less than a third"
        yield Check(f"estimate ({kind}): overhead", "a third to a half", f"{share:.1%}", within or None, why)
    for name, row in TABLE_6_2.items():
        if row.textures:
            each = (row.all - row.textures) / row.textures
            enough = each >= LEAST_PER_TEXTURE
            why = "" if enough else "the text does not hold for its own table"
            what = f"{name}: arithmetic instructions for each fetch"
            yield Check(what, f"at least {LEAST_PER_TEXTURE}", f"{each:.3g}", enough or None, why)


# Sizes of lists are powers of two, and so of their columns and rows.
BY_BITS = "places are told by the bits of column and row: none is divided into these"


def _ours(ours: dict[str, dict[str, int]]) -> Iterator[Check]:
    if not ours:
        return
    sort, cg = ours["Bitonic Sort"]["all"], TABLE_6_2["Bitonic Sort"].all
    between = HAND_CODED_SORT <= sort <= cg
    yield Check("bitonic sort: between the hand-coded kernel and Cg's", f"{HAND_CODED_SORT} .. {cg}", sort, between)
    for name in ("Bitonic Sort", "Binary Search"):
        mine, theirs = ours[name]["addresses"], TABLE_6_2[name].addresses
        within = abs(mine - theirs) <= 0.25 * theirs
        why = "" if within else BY_BITS if mine < theirs else ""
        yield Check(f"{name}: instructions of addresses", theirs, mine, within or (None if why else False), why)
    whole = sum(ours[f"Rad. Estimate ({kind})"]["packing"] for kind in ("sort", "stencil"))
    yield Check("instructions of packing in the estimates, with several outputs", "41 + 41", whole, whole == 0)
