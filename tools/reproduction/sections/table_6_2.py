"""Table 6.2: instructions of the kernels of photon mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raystream.stream.analysis.instructions import Instructions
from raystream.stream.analysis.spirv import NoCompiler
from reproduction.simulators.counts import listed_sort, photon_instructions

from ..context import Context
from ..published.chapter6_instructions import ESTIMATE_OVERHEAD, HAND_CODED_SORT, LEAST_PER_TEXTURE, TABLE_6_2, Row
from ..report import (
    ARITHMETIC,
    CLAIM,
    COUNT,
    NOT_HERE,
    OWN,
    POINTS,
    Absent,
    Cell,
    Check,
    Parts,
    about,
    beside,
    concluded,
    faults,
    section,
    tabled,
    unprinted,
)


@section("table_6_2", paper="D table 6.2, P3 table 2", title="Kernels of photon mapping: instructions (table 6.2)")
def table_6_2(context: Context) -> Parts:
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
    claims = list(_claims())
    checks = [*claims, *_ours(ours, listed)]
    yield tabled("instructions_of_one_iteration", rows, checks, hand_coded_sort=HAND_CODED_SORT)
    for claim, (words, kernel) in CLAIMS.items():
        found = [check for check in claims if words in check.what]
        figure = ", ".join(str(check.ours) for check in found)
        yield concluded(claim, found, f"by table 6.2 {figure}{_share(ours.get(kernel))}")
    yield from faults("D 6.3.2")


def _counted(context: Context) -> dict[str, dict[str, int]]:
    found = photon_instructions(context.device)
    return {name: _parts(each) for name, each in found.items()}


def _parts(found: Instructions) -> dict[str, int]:
    return {part: getattr(found, part) for part in Row._fields}


# Claims, what the statements of their checks have, and the kernel of which it is a share.
CLAIMS = {
    "routing_addresses": ("routing: share", "Stencil Routing"),
    "search_addresses": ("search: share", "Binary Search"),
    "estimate_overhead": ("overhead", ""),
    "twenty_operations": ("for each fetch", ""),
}
RULES = "another set of instructions, with integers, and several outputs in place of packing"


def _cell(theirs: int, mine: Any) -> Cell:
    return beside(theirs, mine, NOT_HERE if mine == "-" else RULES)


def _share(kernel: dict[str, int] | None) -> str:
    """The same of our kernel, where it is a share of one."""
    return "" if kernel is None else f"; here {kernel['addresses'] / kernel['all']:.0%}, with integers"


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
