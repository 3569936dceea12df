"""Counts of kernels: instructions and words (table 5.1; table 1 of P2), on the Radeon 9700 Pro (table 5.3), and of
photon mapping (table 6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from raystream.stream.analysis.instructions import Instructions
from raystream.stream.analysis.spirv import NoCompiler
from raystream.stream.declare.limits import LIMITS
from reproduction.simulators.counts import MACHINES, PUBLISHED_KERNELS, listed_sort, photon_instructions

from .. import counted, report
from ..context import Context
from ..counted import STEP_BY_AXIS, Counts, all_words, as_described, of_kernel, program, program_of, words_of
from ..published.chapter5 import HARDWARE, RATES, TABLE_5_1, TABLE_5_3
from ..published.chapter6 import ESTIMATE_OVERHEAD, HAND_CODED_SORT, LEAST_PER_TEXTURE, TABLE_6_2, InstructionsRow
from ..report import COUNT, NOT_HERE, POINTS, Cell, Check, Parts, about, beside, checked, faults, near, tabled, worded
from ..report import table as read

WALK = ("Traverse: Setup", "Traverse: Step", "Intersect")
GRADED = ("Generate Eye Ray", *WALK)  # which do the same work in both
# By kernel, why ours differs, and what remains of it as it is described.
DIFFERS = {kernel: differs for kernel, differs, _ in read("sections/kernels")}
REMAINS = {kernel: remains for kernel, _, remains in read("sections/kernels")}
Plain = Mapping[str, Instructions]


@report.section(
    "table_5_1", paper="D table 5.1, P2 table 1", title="Kernels: instructions and words (table 5.1)", order=1
)
def table_5_1(context: Context) -> Parts:
    """Both machines' columns beside ours, and all states of four programs."""
    counts, absent = counted.counted(context)
    if absent is not None:
        yield absent
    plain = as_described(context) if counts else {}
    for machine in MACHINES:
        rows: list[tuple[Any, ...]] = []
        for kernel, theirs in TABLE_5_1[machine].items():
            mine, name = of_kernel(kernel, counts), program_of(kernel)
            number = "-" if mine is None else mine.several if machine == "SIMD" else mine.branching
            both = zip(theirs[1:], words_of(kernel, machine), strict=True)
            cells = [beside(a, b, worded("other_records")) for a, b in both]
            states = f"{name}: {', '.join(PUBLISHED_KERNELS[kernel][name])}"
            cell = instructions_cell(kernel, theirs.instructions, number, plain)
            rows.append((kernel, states, cell, *(cells if machine == "SIMD" else cells[:3])))
        checks = _simd_checks(counts) if machine == "SIMD" else _mimd_checks(counts)
        yield tabled(f"{machine.lower()}_of_a_call", rows, list(checks))
    if plain:
        yield described(plain)
    yield report.told("table_5_1")
    if counts:
        printed = {kernel: TABLE_5_1["SIMD"][kernel].instructions for kernel in GRADED}
        ours = {kernel: _several(counts, kernel) for kernel in GRADED}
        figures = (f"{kernel.split(': ')[-1].lower()} {ours[kernel]} for {printed[kernel]}" for kernel in GRADED)
        close = [about(printed[kernel], ours[kernel], COUNT) for kernel in GRADED]
        yield report.concluded("kernels_short", close, ", ".join(figures))
    for name in counted.PROGRAMS:
        yield _states(name, counts.get(name, {}))
    yield from faults("table 5.1", "P2 table 1")


def instructions_cell(kernel: str, theirs: float, number: Any, plain: Plain) -> Cell:
    """Graded for the kernels of eye rays and of the walk, which do the same work in both."""
    if number == "-":
        return beside(theirs, number, NOT_HERE)
    reason = DIFFERS[kernel] + (worded("as_described", plain=plain[kernel]) if kernel in plain else "")
    if kernel in GRADED:
        return near(theirs, number, COUNT, worded("quarter"), reason)
    return beside(theirs, number, reason)


def described(plain: Plain) -> report.Table:
    """The kernels written as the papers describe them, beside the printed numbers."""
    rows = []
    for kernel, theirs in TABLE_5_1["SIMD"].items():
        pairs = (
            (TABLE_5_1["MIMD"][kernel].instructions, plain[kernel].arithmetic),
            (theirs.instructions, plain[kernel].all),
        )
        why = "the same work, by our rules", REMAINS[kernel]
        rows.append((kernel, *(near(float(printed), own, COUNT, *why) for printed, own in pairs)))
    return tabled("the_kernels_as_the_papers", rows)


def _several(counts: Counts, kernel: str) -> int:
    """Instructions of ours on the SIMD machine."""
    mine = of_kernel(kernel, counts)
    assert mine is not None
    return mine.several


def _simd_checks(counts: Counts) -> Iterator[Check]:
    step, test = words_of("Traverse: Step", "SIMD"), words_of("Intersect", "SIMD")
    yield checked("step_words", step.random == 1, ours=step.random)
    yield checked("test_words", abs(test.random - 10) <= 1, ours=test.random)
    for kernel in GRADED if counts else ():
        ours, theirs = _several(counts, kernel), TABLE_5_1["SIMD"][kernel].instructions
        texts = {"kernel": kernel, "why": DIFFERS[kernel], "bound": worded("quarter")}
        yield checked("kernel_quarter", about(theirs, ours, COUNT), theirs=theirs, ours=ours, **texts)
    over = sum(row.written > 8 for row in TABLE_5_1["SIMD"].values())
    yield checked(
        "words_written", None, over=over, setup=words_of("Traverse: Setup", "SIMD").written, step=step.written
    )


def _mimd_checks(counts: Counts) -> Iterator[Check]:
    stream = sum(sum(words_of(kernel, "MIMD")[:2]) for kernel in WALK)
    yield checked("stream_words", stream == 0, stream=stream)
    if counts:
        each = [of_kernel(kernel, counts) for kernel in TABLE_5_1["MIMD"]]
        fewer = sum(one is not None and one.branching <= one.several for one in each)
        yield checked("mimd_fewer", fewer == len(each), all=len(each), fewer=fewer)


def _states(name: str, counts: dict[str, Instructions]) -> report.Table:
    used, padded, single = all_words(name, "SIMD"), all_words(name, "SIMD", True), all_words(name, "MIMD")
    rows = []
    for state in used:
        parts = ("all", "arithmetic", "textures", "addresses", "flow", "branching")
        each = [getattr(counts[state], part) if state in counts else "-" for part in parts]
        words = (f"{a:g} ({b:g})" for a, b in zip(used[state][:3], padded[state][:3], strict=True))
        rows.append((state, *each, *words, single[state].read, single[state].written))
    return tabled("program_name_all_states", rows, name=name)


@report.section("table_5_3", paper="D table 5.3", title="Kernels on the Radeon 9700 Pro (table 5.3)", order=3)
def table_5_3(context: Context) -> Parts:
    """Instructions with fetches and addresses; RGBA float textures of streams, state and scene."""
    counts, absent = counted.counted(context)
    if absent is not None:
        yield absent
    plain = as_described(context) if counts else {}
    rows: list[tuple[Any, ...]] = []
    checks, most = [], LIMITS["2004"].outputs
    for kernel, theirs in TABLE_5_3.items():
        name = program_of(kernel)
        linked, states = program(name), PUBLISHED_KERNELS[kernel][name]
        steps = [step for step in linked.steps("none") if step.name in states]
        read = [linked.sampler_count(step) for step in steps]
        written = [linked.attachment_count(step) for step in steps]
        number = sum(counts[name][state].all for state in states) if counts else "-"
        textures = ((theirs.read, read), (theirs.written, written))
        cells = (beside(a, b[0] if len(b) == 1 else " + ".join(map(str, b)), worded("textures")) for a, b in textures)
        passes = sum(-(-count // most) for count in written)
        rows.append(
            (kernel, ", ".join(states), radeon_cell(kernel, theirs.instructions, number, plain), *cells, passes)
        )
        if counts and kernel in GRADED:
            texts = {"kernel": kernel, "why": _tried(kernel, plain), "bound": worded("alike")}
            close = about(theirs.instructions, float(number), COUNT)
            checks.append(checked("kernel_quarter", close, theirs=theirs.instructions, ours=number, **texts))
    grades = [check.passed for check in checks]
    theirs_most = max(row.written for row in TABLE_5_3.values())
    checks.append(checked("outputs", theirs_most == most, theirs=theirs_most, ours=most))
    instructions = TABLE_5_1["MIMD"]["Intersect"].instructions
    for name, rate in (("ray-triangle tests (P2)", 2e9), ("ray-triangle tests at 8 G (P2)", 8e9)):
        said, found = RATES[name], rate / instructions
        assert isinstance(said, float)
        numbers = {"rate": rate / 1e9, "instructions": instructions, "said": said, "found": float(f"{found:.3g}")}
        checks.append(checked("tests_a_second", abs(found / said - 1) < 0.01, name=name, **numbers))
    peak, found = RATES["ray-triangle tests, peak (D)"], HARDWARE["Radeon 9700 Pro (D)"]["instructions"] / 59
    assert isinstance(peak, float)
    checks.append(checked("peak", about(peak, found, COUNT), peak=peak, found=float(f"{found:.3g}")))
    yield tabled("of_a_pass", rows, checks)
    if grades:
        of = f"{sum(map(bool, grades))} of the {len(grades)} kernels compared"
        yield report.concluded("kernels_fit", grades, f"{of} are within a quarter of the printed number")
    yield from faults("D 5.3")


def radeon_cell(kernel: str, theirs: int, number: Any, plain: Plain) -> Cell:
    """Of table 5.3, graded as of `instructions_cell`."""
    if number == "-":
        return beside(theirs, number, NOT_HERE)
    if kernel in GRADED:
        return near(theirs, number, COUNT, worded("alike"), _tried(kernel, plain))
    return beside(theirs, number, worded("other_kernel", more=f"; {_tried(kernel, plain)}" if kernel in plain else ""))


def _tried(kernel: str, plain: Plain) -> str:
    """What was tried of a kernel, where it differs."""
    if not plain:
        return NOT_HERE.partition(": ")[2]
    if kernel != "Traverse: Step":
        return worded("as_papers_describe", plain=plain[kernel])
    return worded("step_by_axis", plain=plain[kernel], by_axis=plain[STEP_BY_AXIS])


# -- photon mapping ----------------------------------------------------------------------------------------------------

# Claims, what the statements of their checks have, and the kernel of which it is a share.
CLAIMS = {
    "routing_addresses": ("routing: share", "Stencil Routing"),
    "search_addresses": ("search: share", "Binary Search"),
    "estimate_overhead": ("overhead", ""),
    "twenty_operations": ("for each fetch", ""),
}
RULES = "another set of instructions, with integers, and several outputs in place of packing"


@report.section(
    "table_6_2", paper="D table 6.2, P3 table 2", title="Kernels of photon mapping: instructions (table 6.2)"
)
def table_6_2(context: Context) -> Parts:
    """One iteration of each; the estimates are three kernels here."""
    ours: dict[str, dict[str, int]] = {}
    listed: dict[str, int] = {}

    def parts(found: Instructions) -> dict[str, int]:
        return {part: getattr(found, part) for part in InstructionsRow._fields}

    try:
        ours = context.keep(
            "photon kernels", lambda: {name: parts(each) for name, each in photon_instructions(context.device).items()}
        )
        listed = context.keep("listed sort", lambda: parts(listed_sort()))
    except NoCompiler as error:
        yield report.Absent("instructions of ours", str(error))
    rows: list[tuple[Any, ...]] = []
    for name, theirs in TABLE_6_2.items():
        mine = {part: ours.get(name, {}).get(part, "-") for part in InstructionsRow._fields}
        cells = (beside(old, mine[part], NOT_HERE if not ours else RULES) for part, old in theirs._asdict().items())
        rows.append((name, *cells))
    rows += [
        (f"of it {name}", *map(report.unprinted, mine.values())) for name, mine in ours.items() if name not in TABLE_6_2
    ]
    claims = list(_photon_claims())
    checks = [*claims, *(_photon_checks(ours, listed) if ours and listed else ())]
    yield tabled("instructions_of_one_iteration", rows, checks, hand_coded_sort=HAND_CODED_SORT)
    for claim, (words, kernel) in CLAIMS.items():
        found = [check for check in claims if words in check.what]
        figure = f"by table 6.2 {', '.join(str(check.ours) for check in found)}"
        if kernel in ours:
            figure += f"; here {ours[kernel]['addresses'] / ours[kernel]['all']:.0%}, with integers"
        yield report.concluded(claim, found, figure)
    yield from faults("D 6.3.2")


def _photon_claims() -> Iterator[Check]:
    """What the text says of the table, by the table's own numbers."""
    route, search = (TABLE_6_2[name].addresses / TABLE_6_2[name].all for name in ("Stencil Routing", "Binary Search"))
    yield checked("routing_addresses", 0.59 <= route < 0.6, share=route)
    yield checked("search_addresses", 0.72 < search < 0.73, share=search)
    for kind in ("sort", "stencil"):
        row = TABLE_6_2[f"Rad. Estimate ({kind})"]
        share = (row.addresses + row.packing) / row.all
        within = ESTIMATE_OVERHEAD[0] - POINTS <= share <= ESTIMATE_OVERHEAD[1] + POINTS
        yield checked("estimate_overhead", within, kind=kind, share=share, points=POINTS)
    for name, row in TABLE_6_2.items():
        if row.textures:
            each = (row.all - row.textures) / row.textures
            enough = each >= LEAST_PER_TEXTURE
            why = "" if enough else "the text does not hold for its own table"
            yield checked("operations_a_fetch", enough, name=name, least=LEAST_PER_TEXTURE, each=each, why=why)


def _photon_checks(ours: Mapping[str, Mapping[str, int]], listed: Mapping[str, int]) -> Iterator[Check]:
    sort, hand, cg = ours["Bitonic Sort"]["all"], HAND_CODED_SORT, TABLE_6_2["Bitonic Sort"].all
    texts = {"times": sort / hand, "of_cg": sort / cg, "cg": cg}
    yield checked("hand_coded", about(hand, sort, COUNT), hand=hand, sort=sort, count=COUNT, **texts)
    theirs, own = TABLE_6_2["Bitonic Sort"].addresses, listed["addresses"]
    yield checked("listed_addresses", about(theirs, own, COUNT), theirs=theirs, ours=own, count=COUNT)
    for name in ("Bitonic Sort", "Binary Search"):
        mine, theirs = ours[name]["addresses"], TABLE_6_2[name].addresses
        close = about(theirs, mine, COUNT)
        yield checked("addresses", close, name=name, theirs=theirs, ours=mine, listed=listed, count=COUNT)
    whole = sum(ours[f"Rad. Estimate ({kind})"]["packing"] for kind in ("sort", "stencil"))
    yield checked("packing", whole == 0, whole=whole)
