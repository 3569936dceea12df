"""Table 6.2: instructions of the kernels of photon mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raystream.stream.analysis.instructions import Instructions
from reproduction.simulators.counts import NoCompiler
from reproduction.simulators.counts.photons import listed_sort, photon_instructions

from ..context import Context
from ..counted import faults
from ..grades import COUNT, NOT_HERE, POINTS, about, beside, unprinted
from ..model import ARITHMETIC, CLAIM, OWN, Absent, Cell, Check, Conclusion, Part, Table
from ..published.chapter6_instructions import ESTIMATE_OVERHEAD, HAND_CODED_SORT, LEAST_PER_TEXTURE, TABLE_6_2, Row
from ..registry import section

HEADS = ("kernel", "Inst", "TEX", "Addr", "Pack")


@section("table_6_2", paper="D table 6.2, P3 table 2", title="Kernels of photon mapping: instructions (table 6.2)")
def table_6_2(context: Context) -> Iterator[Part]:
    """One iteration of each; the estimates are three kernels here."""
    ours: dict[str, dict[str, int]] = {}
    listed: dict[str, int] = {}
    try:
        ours = context.keep("photon kernels", lambda: _counted(context))
        listed = context.keep("listed sort", lambda: _parts(listed_sort()))
    except NoCompiler as error:
        yield Absent("instructions of ours", str(error))
    rows: list[tuple[Any, ...]] = []
    for name, theirs in TABLE_6_2.items():
        mine = ours.get(name, {})
        rows.append((name, *(_cell(old, mine.get(part, "-")) for part, old in theirs._asdict().items())))
    rows += [(f"of it {name}", *map(unprinted, mine.values())) for name, mine in ours.items() if name not in TABLE_6_2]
    note = (
        "Inst: all; TEX: texture fetches; Addr: for addresses; Pack: for packing. Published are what the Cg compiler "
        f"made; the sort written by hand had {HAND_CODED_SORT}. A pass of it compares n times, and reads two elements "
        "and writes one for each. Ours by the rules in "
        "viewer/stream/analysis/instructions.py. Nothing is packed here: several "
        "outputs take what one of 128 bits did then. Our estimates read the streams of three passes, hence more "
        "fetches; the stencil's photons are looked for in the map of counts, too. Our sort orders equal cells by "
        "photon, and has integers: what the published one does by mod and floor."
    )
    claims = list(_claims())
    yield Table("Instructions of one iteration, nothing unrolled", HEADS, rows, note, [*claims, *_ours(ours, listed)])
    for paper, claim, words in CONCLUSIONS:
        found = [check for check in claims if words in check.what]
        figure = ", ".join(str(check.ours) for check in found)
        own = _share(ours, words)
        yield Conclusion(paper, claim, [check.passed for check in found], f"by table 6.2 {figure}{own}", ARITHMETIC)
    yield from faults("D 6.3.2")


def _counted(context: Context) -> dict[str, dict[str, int]]:
    found = photon_instructions(context.device)
    return {name: _parts(each) for name, each in found.items()}


def _parts(found: Instructions) -> dict[str, int]:
    return {part: getattr(found, part) for part in Row._fields}


# Place, sentence, and what the checks of it have in their statements.
CONCLUSIONS = (
    ("D 6.4.1, P3 4.1", "Nearly 60 % of stencil routing is addresses.", "routing: share"),
    ("D 6.4.1, P3 4.1", "Over 72 % of binary search is addresses.", "search: share"),
    ("D 6.4.1, P3 4.1", "The estimates spend a third to a half on addresses and packing.", "overhead"),
    ("D 6.3.2, P3 3.2", "At least 20 arithmetic operations for every texture access.", "for each fetch"),
)
RULES = "another set of instructions, with integers, and several outputs in place of packing"


def _cell(theirs: int, mine: Any) -> Cell:
    return beside(theirs, mine, NOT_HERE if mine == "-" else RULES)


def _share(ours: dict[str, dict[str, int]], words: str) -> str:
    """The same of our kernels, where it is a share of one."""
    kernel = {"routing: share": "Stencil Routing", "search: share": "Binary Search"}.get(words)
    if kernel not in ours:
        return ""
    return f"; here {ours[kernel]['addresses'] / ours[kernel]['all']:.0%}, with integers"


def _claims() -> Iterator[Check]:
    """What the text says of the table, by the table's own numbers."""
    route, search = TABLE_6_2["Stencil Routing"], TABLE_6_2["Binary Search"]
    share = route.addresses / route.all
    why = "the table's own numbers say otherwise"
    yield Check(
        ARITHMETIC, "stencil routing: share of addresses", "nearly 60 %", f"{share:.1%}", 0.59 <= share < 0.6, why
    )
    share = search.addresses / search.all
    what = "binary search: share of addresses"
    yield Check(ARITHMETIC, what, "over 72 %", f"{share:.1%}", 0.72 < share < 0.73, why)
    for kind in ("sort", "stencil"):
        row = TABLE_6_2[f"Rad. Estimate ({kind})"]
        share = (row.addresses + row.packing) / row.all
        within = ESTIMATE_OVERHEAD[0] - POINTS <= share <= ESTIMATE_OVERHEAD[1] + POINTS
        why, bound = "neither a third nor a half", f"to {100 * POINTS:.0f} points"
        yield Check(ARITHMETIC, f"estimate ({kind}): overhead", "a third to a half", f"{share:.1%}", within, why, bound)
    for name, row in TABLE_6_2.items():
        if row.textures:
            each = (row.all - row.textures) / row.textures
            enough = each >= LEAST_PER_TEXTURE
            why = "" if enough else "the text does not hold for its own table"
            what = f"{name}: arithmetic instructions for each fetch"
            yield Check(ARITHMETIC, what, f"at least {LEAST_PER_TEXTURE}", f"{each:.3g}", enough, why)


def _addresses(listed: dict[str, int]) -> str:
    """Why our sort has fewer for addresses: by what the published listing has when it is counted alike."""
    return (
        f"the published listing, counted by our rules, has {listed['addresses']} of {listed['all']}: a place in one "
        "dimension and back, and the partner's side by mod; ours flips a bit of the texel's column or row"
    )


def _ours(ours: dict[str, dict[str, int]], listed: dict[str, int]) -> Iterator[Check]:
    if not ours or not listed:
        return
    sort, hand = ours["Bitonic Sort"]["all"], HAND_CODED_SORT
    close = about(hand, sort, COUNT)
    why = (
        f"ours, with integers, is {sort / hand:.2g} times the hand-coded kernel and "
        f"{sort / TABLE_6_2['Bitonic Sort'].all:.2g} of Cg's {TABLE_6_2['Bitonic Sort'].all}; it also orders equal "
        "cells by photon"
    )
    yield Check(CLAIM, "bitonic sort: instructions of the hand-coded kernel", hand, sort, close, why, f"to {COUNT:.0%}")
    theirs = TABLE_6_2["Bitonic Sort"].addresses
    within = about(theirs, listed["addresses"], COUNT)
    what = "Bitonic Sort: instructions of addresses, of the published listing by our rules"
    yield Check(CLAIM, what, theirs, listed["addresses"], within, bound=f"to {COUNT:.0%}: the same listing")
    for name in ("Bitonic Sort", "Binary Search"):
        mine, theirs = ours[name]["addresses"], TABLE_6_2[name].addresses
        within = about(theirs, mine, COUNT)
        why, bound = _addresses(listed), f"to {COUNT:.0%}: the same algorithm"
        yield Check(CLAIM, f"{name}: instructions of addresses", theirs, mine, within, why, bound)
    whole = sum(ours[f"Rad. Estimate ({kind})"]["packing"] for kind in ("sort", "stencil"))
    what = "instructions of packing in the estimates, with several outputs"
    yield Check(
        OWN, what, 0, whole, whole == 0, "the authors' wish: several outputs need no packing (published 41, 41)"
    )
