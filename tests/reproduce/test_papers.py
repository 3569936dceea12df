"""What the report cites of the papers stands where it says: sections, captions, claims and printed numbers, looked up
in the papers' texts, which lie beside the scene data (``papers`` in it) and are no part of the project."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from benchmarks.scenes import shared
from reproduction import run
from reproduction.context import Context
from reproduction.published import adinetz, chapter5, chapter6, thesis
from reproduction.report import CLAIMS, FAULTS, WISHES, Conclusion, Fault, Figure, Listing, Section, Table, Wish
from reproduction.stored import Measurements

COMMITTED = Path(__file__).parents[2] / "tools" / "results" / "reproduction"
FILES = {"D": "000_*.txt", "P3": "001_*.txt", "P2": "002_*.txt", "T": "003_*.txt", "A": "004_*.txt"}
# Headings: a number of up to three parts before a title. D has "Chapter 5"; the numbers of lists, and of what is cited,
# are none of them.
HEADING = re.compile(r"^#* *\**(?:Chapter )?([1-9]\d?(?:\.\d+)*)\**\.?(?: +([A-Z].{2,90}))?$")
PLACE = re.compile(
    r"\b(D|P2|P3|T|A) (?:(tables?|figs?\.|figures?|algorithms?) )?(abstract|\(?\d+(?:[.-]\d+)*\)?)(?![\d/])",
    re.IGNORECASE,
)
CAPTION = re.compile(r"^\**(Figure|Table|Algorithm) (\d+(?:[.-]\d+)?)[.:]\** (.*)$")
SIGNS = str.maketrans(
    {
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        **dict.fromkeys("$*`\\{}", ""),
    }
)
NEAR = 3000  # characters of a table on either side of its caption


def plain(text: str) -> str:
    """In small letters, blanks one by one, and without what the texts' makers marked."""
    text = text.replace(r"\mathrm{\ s}", "s").replace("\N{LEFT SINGLE QUOTATION MARK}", "'")
    text = re.sub(r"(\d),(\d+ (?:s|fps))\b", r"\1.\2", text)  # the thesis's decimals
    text = (
        text.replace(r"\times", "x").replace("\N{MULTIPLICATION SIGN}", "x").translate(str.maketrans("", "", "$*`\\{}"))
    )
    text = text.replace("\N{EN DASH}", "-").replace("\N{EM DASH}", "-").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return re.sub(r"\s+", " ", text).lower()


@functools.cache
def lines(paper: str) -> Sequence[str]:
    folder = shared() / "papers"
    files = sorted(folder.glob(FILES[paper]))
    if not files:
        pytest.skip(f"papers: not in {folder}")
    return files[0].read_text(encoding="utf-8").splitlines()


@functools.cache
def sections(paper: str) -> dict[str, str]:
    """The text of each section by its number, without those below it; and the abstract's."""
    by_number: dict[str, list[str]] = {}
    at = ""
    for line in lines(paper):
        heading = HEADING.match(line)
        title = heading and (heading[2] or line.lstrip("# ").startswith("Chapter"))
        if re.match(r"^#* *abstract$", line, re.IGNORECASE):
            at = "abstract"
        elif heading and title and "\t" not in line and (line.startswith("#") or paper in ("P3", "T")):
            if heading[1] not in by_number:
                at = heading[1]
        elif re.match(r"^#* *(\d\.? )?(contents|references|bibliography|acknowledge?ments)$", line, re.IGNORECASE):
            at = ""
        by_number.setdefault(at, []).append(line)
    return {number: plain("\n".join(each)) for number, each in by_number.items() if number}


@functools.cache
def captions(paper: str) -> dict[tuple[str, str], str]:
    by_number = {}
    for line in lines(paper):
        caption = CAPTION.match(line)
        if caption and "\t" not in line:
            by_number.setdefault((caption[1].lower(), caption[2]), plain(caption[3]))
    return by_number


def text_at(paper: str, kind: str, number: str) -> str:
    """Of a section and those below it, or around a caption or equation; empty where there is none."""
    if number.startswith("("):
        return _around(paper, rf"equation {re.escape(number[1:-1])}\b")
    if not kind:
        own = sections(paper)
        return " ".join(text for name, text in own.items() if name == number or name.startswith(f"{number}."))
    full = {"f": "figure", "t": "table", "a": "algorithm"}[kind[0].lower()]
    return _around(paper, rf"{full} {re.escape(number)}[.:]") if (full, number) in captions(paper) else ""


def _around(paper: str, pattern: str) -> str:
    whole = plain("\n".join(lines(paper)))
    return " ".join(whole[max(0, each.start() - NEAR) : each.end() + NEAR] for each in re.finditer(pattern, whole))


def places(text: str) -> list[tuple[str, str, str]]:
    """``D 5.2.1, fig. 5.6, P2 4.1`` as (paper, kind, number); what has no paper of its own is of the one before."""
    triples: list[tuple[str, str, str]] = []
    for part in text.split(", "):
        named = PLACE.match(part) or (triples and PLACE.match(f"{triples[-1][0]} {part}"))
        if named:
            triples.append((named[1], named[2] or "", named[3].lower()))
    return triples


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[Section]:
    context = Context(tmp_path_factory.mktemp("report"), stored=Measurements.read(COMMITTED))
    return [run.make(context, registered) for registered in run.chosen()]


def parts(report: Iterable[Section], kind: type) -> Iterator[tuple[Section, object]]:
    for section in report:
        yield from ((section, part) for part in section.parts if isinstance(part, kind))


def test_every_place_that_is_named_is_in_the_paper(report: list[Section]) -> None:
    said = [section.source for section in report]
    said += [part.paper for _, part in parts(report, Conclusion)]
    said += [part.where for kind in (Fault, Wish) for _, part in parts(report, kind)]
    named = {each for text in said for each in places(text)}
    named |= {each for text in said for each in PLACE.findall(json.dumps(text))}
    assert len(named) > 80
    missing = [each for each in sorted(named) if not text_at(*each)]
    assert not missing


@pytest.mark.parametrize("kind", [Conclusion, Fault, Wish], ids=["claims", "errors", "wishes"])
def test_what_a_paper_says_stands_at_each_place_that_is_named(kind: type, report: list[Section]) -> None:
    """A few words or numbers of each are looked up; what has none fails."""
    name, said, known = {
        Conclusion: ("paper", "claim", {each.claim: each.words for each in CLAIMS.values()}),
        Fault: ("where", "said", {fault.said: words for fault, words in FAULTS.items()}),
        Wish: ("where", "wish", {wish: words for _, wish, *_, words in WISHES}),
    }[kind]
    wrong = []
    statements = {(getattr(part, said), getattr(part, name)) for _, part in parts(report, kind)}
    for statement, where in sorted(statements):
        words = known.get(statement)
        if words is None:
            wrong.append(f"nothing to look up: {statement}")
            continue
        looked_up = places(where)
        if not looked_up:
            wrong.append(f"no place: {where}: {statement}")
        wrong += [
            f"{paper} {what} {number}: {statement}"
            for paper, what, number in looked_up
            if not re.search(words, text_at(paper, what, number))
        ]
    assert not wrong, "\n".join(wrong)
    assert not set(known) - {statement for statement, _ in statements}


def test_figures_and_tables_have_their_captions(report: list[Section]) -> None:
    """What bears a number shows what the caption names: a word of five letters or more is common to both."""
    wrong = []
    for section in report:
        paper = section.source.partition(" ")[0]
        for part in section.parts:
            if not isinstance(part, Figure | Table | Listing):
                continue
            match = re.match(r"(?:(P2|P3) )?(Figure|Table) (\d+(?:[.-]\d+)?)\b:?(.*)", part.title)
            if match is None:
                wrong += [f"{part.title}: {each}" for each in re.findall(r"figures? \d[^ ]*", part.title)]
                continue
            caption = captions(match[1] or paper).get((match[2].lower(), match[3]))
            words = plain(f"{match[4]} {part.note} {getattr(part, 'alt', '')}")
            stems = {each[:5] for each in re.findall(r"[a-z]{5,}", caption or "")}
            if not stems & {each[:5] for each in re.findall(r"[a-z]{5,}", words)}:
                wrong.append(f"{part.title}: {caption}")
    assert not wrong, "\n".join(wrong)


def test_a_section_of_figures_is_of_the_place_where_they_stand(report: list[Section]) -> None:
    """Those of its title, by the first paper that it names: its first place has their captions, or speaks of them."""
    wrong = []
    for section in report:
        looked_up, word = places(section.source), ""
        own = [each for each in looked_up if each[0] == looked_up[0][0]]
        title = re.sub(r"[^(]*(\([^;()]*)?.*", r"\1", section.title)
        for named, number in re.findall(r"(figure|table|algorithm)?s? ?(\d+[.-]\d+)", title if own else ""):
            word = named or word
            mention = rf"{word}s? (?:[\d., -]+(?:and )?)?{re.escape(number)}\b"
            if word and not any(re.search(mention, text_at(*each)) for each in own):
                wrong.append(f"{section.identifier}: {section.source} has no {word} {number}")
    assert not wrong, "\n".join(wrong)


# -- numbers -----------------------------------------------------------------------------------------------------------


def row(*values: object) -> str:
    """Numbers of a row in their order, with nothing but blanks and units between."""
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return r"(?<![\d.])" + r"0*\s*(?:fps|s|%)?\s+".join(re.escape(each) for each in shown) + r"0*(?![\d.]*\d)"


def printed() -> Iterator[tuple[str, str, str]]:
    """Of each printed row its paper, table, and what is looked up there."""
    for kernel, simd in chapter5.TABLE_5_1["SIMD"].items():
        numbers = (*simd, *chapter5.TABLE_5_1["MIMD"][kernel][:4])
        for where in (("D", "table 5.1"), ("P2", "table 1")):
            yield *where, rf"{kernel.rpartition(': ')[2].lower()} {row(*numbers)}"
    for name, view in chapter5.VIEWS.items():
        yield "P2", "fig. 6", row(view.v, view.t, f"{view.s:.2f}")
        passes = chapter5.TABLE_5_2[name]
        yield "P2", "table 2", f"{name.lower()} " + row(*passes[:-1], passes.efficiency)
        longest = (passes.max_steps, passes.max_tests, passes.total)
        yield "D", "table 5.2", f"{name.lower()} " + row(*longest, f"{100 * passes.efficiency:.1f}%")
    for kernel, textures in chapter5.TABLE_5_3.items():
        yield "D", "table 5.3", rf"{kernel.rpartition(': ')[2].lower()} {row(*textures)}"
    frames = list(chapter5.TABLE_5_4.values())
    yield "D", "table 5.4", "frame rate " + row(*(f"{each.fps:.1f}" for each in frames))
    yield "D", "table 5.4", "traversals " + row(*(each.traversal for each in frames))
    yield "D", "table 5.4", "intersections " + row(*(each.intersection for each in frames))
    for name, numbers in chapter5.TABLE_3.items():
        yield "P2", "table 3", f"{name.lower()} " + row(*(f"{each:.2f}" for each in numbers))
    for name, scene in chapter6.TABLE_6_1.items():
        for seconds, total in zip((scene.sort, scene.stencil), chapter6.TOTALS[name], strict=True):
            yield "D", "table 6.1", f"{name.lower()} " + row(*(f"{each:.1f}" for each in (*seconds, total)))
    for name, kernel in chapter6.TABLE_6_2.items():
        for where in (("D", "table 6.2"), ("P3", "table 2")):
            yield *where, f"{name.partition(' (')[0].lower()} {row(*kernel)}"
    for name in thesis.SECONDS:
        yield "T", "table 2", f"{name.lower()} " + row(*thesis.SECONDS[name])
        yield "T", "table 3", f"{name.lower()} " + row(*(f"{each:.1f}" for each in thesis.RATES[name]))
    for scene, entry in adinetz.TABLE.items():
        if entry.triangles is not None:
            yield "A", "table 1", f"{scene.lower()} " + row(entry.triangles, entry.instances, entry.lights)
            yield "A", "table 2", f"{scene.lower()} " + row(f"{entry.fps:g}")
    yield "D", "5.3", r"peak rate of 100m .*peak rate of 114m .*peak rate of 20m .*around 120m intersections"
    yield "D", "5.3", r"300k and 4m rays.*800k and 7\.1m rays/s on a 2\.5 ghz.*1\.8m and 2\.3m"
    yield "D", "5.2.2", r"2\.5g 4-way simd instructions/s .* 12 gb/s"
    yield "D", "5.2.3", r"64 kb direct-mapped texture cache with a 48-byte line"
    yield "D", "5.4.1", r"s16e7 24-bit .*131,072 unique .* 256x512 texture"
    yield "D", "5.4.2", r"in 4x4 pixel blocks and larger"
    yield "D", "2.3", r"64 or 1024 instructions.* 16 or 32 registers .*four levels of dependent"
    yield "P2", "2.2", r"1 or 2 floating point rgba \(4-vectors\).*8-bit stencil"
    yield "P2", "4.2", r"2g instructions/s .*8gb/s"
    yield "P2", "5.2", r"20m intersections/s.*114m .*56m ray-triangle .*8g instructions/s.*222m ray-triangle"
    for name, settings in chapter6.SETTINGS.items():
        size, grid = (" ?x ?".join(map(str, each)) for each in (settings.size, settings.grid))
        words = (
            rf"{name.lower()} scene was rendered at {size} pixels using a {grid} grid with {settings.stored:,} photons"
        )
        for where in (("D", "6.3.1"), ("P3", "3.1")):
            yield *where, rf"{words} stored.*? {settings.nearest} (photons )?(were )?sought"
    yield "D", "6.3.3", r"16 x 16 points .* 104 seconds to 52\.4 seconds.* 102 seconds down to 14\.9"
    yield "D", "6.3.2", r"only 19 instructions instead of the 52"
    yield "D", "fig. 7.1", r"at 35% per year through 1986 and then at 55% per year.* at 7% per year"
    for speeds in thesis.BANDWIDTH.values():
        for speed in speeds.values():
            yield "T", "fig. 8-1", row(f"{speed:.1f}")


@pytest.mark.parametrize("paper", FILES)
def test_every_printed_row_stands_in_its_table(paper: str) -> None:
    rows = [(where, words) for of, where, words in printed() if of == paper]
    missing = []
    for where, words in rows:
        ((_, kind, number),) = places(f"{paper} {where}")
        if not re.search(words, re.sub(r"\| ?|\t", " ", text_at(paper, kind, number))):
            missing.append(f"{where}: {words}")
    assert rows
    assert not missing, "\n".join(missing)
