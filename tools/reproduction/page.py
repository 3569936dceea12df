"""The report as one HTML file: ``page.html.jinja`` filled with the sections, every picture inside it."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import cell
from PIL import Image

from . import report
from .kept import write_beside
from .report import ARITHMETIC, CLAIM, OWN, PAPERS, Absent, Cell, Check, Conclusion, Fault, Figure, Section, Table, Wish

MILLION = 1e6
WORDS = [name for name in report.GLOSSARY if re.fullmatch(r"[A-Z]{3,}", name)]  # abbreviations that are words of texts
SPLIT = 5  # columns with a published value beside, at most, where both have a column of their own
# Chapters of the dissertation by their subject.
CHAPTERS = {
    2: "Streams and kernels",
    3: "Ray tracing as kernels",
    4: "Graphics processors as stream processors",
    5: "Ray tracing on stream processors",
    6: "Photon mapping",
    7: "Memory and computation",
}
# Claims by which the answer at the top tells what was reproduced, each as a part of its sentence.
HEADLINES = {each.claim: each.headline for each in report.CLAIMS.values() if each.headline}
# Tables that stand in the main part, by section: the papers' own beside ours. The rest is the appendix.
MAIN = {
    "table_5_1": ("SIMD: of a call",),
    "cost_model": ("What a ray does",),
    "table_5_2": ("Passes with the oracle of 20 %",),
    "table_5_4": ("Passes of the loop",),
    "table_6_1": ("Table 6.1, fused",),
    "table_6_2": ("Instructions of one iteration, nothing unrolled",),
    "table_3": ("Relative to ray casting",),
    "thesis": ("Table 2: seconds a frame",),
    "adinetz": ("Frames a second",),
}
# Tables of many rows that stand in report.json alone: cameras, states, viewpoints.
IN_DATA = ("Cameras", "Least, median and greatest of the viewpoints", "What a ray does and costs, by resolution")
STATES = re.compile(r"Program \w+: all states")
KINDS = {
    **{Check: "check", Table: "table", Figure: "figure", Fault: "fault", report.Text: "text", Absent: "absent"},
    **{report.Listing: "listing", Conclusion: "conclusion", Wish: "wish"},
}
TALLIES = {
    CLAIM: "Claims of the papers, tested on our results",
    ARITHMETIC: "Arithmetic of the papers: their own numbers against each other",
    OWN: "Tests of ourselves: simulators, pictures, stand-ins, settings",
}
HEADS = {
    CLAIM: ("Claim of a paper", "Published", "Ours"),
    ARITHMETIC: ("Statement of a paper", "Printed", "By its own numbers"),
    OWN: ("Test of ours", "Expected", "Found"),
}
# Sections whose claims are judged by the papers' own model, not by what programs here take: kernels of table 5.1, and
# caches of figure 5.6, over what our rays do.
MODEL = "model"
MODELLED = ("cost_model", "unrolling", "cache", "table_3")
# Of claims by what judges them: title, and the verdict's head.
JUDGES = {
    CLAIM: ("Measured or counted: by what programs do here", "Here"),
    MODEL: (
        "Modelled: by the papers' kernels and caches (table 5.1, figure 5.6), over what our rays do",
        "By the model",
    ),
    ARITHMETIC: ("Of the papers' own numbers", "By these"),
}
VERDICTS = ("holds", "in part", "does not hold here", "shown beside")


class Block(list[Any]):
    """Parts of one kind that stand together: checks, faults or wishes."""

    def __init__(self, kind: str, parts: Iterable[Any]) -> None:
        super().__init__(parts)
        self.kind = kind


class Count(NamedTuple):
    """How many checks or cells agree, differ, or can only be shown beside."""

    passed: int
    failed: int
    beside: int

    @property
    def decided(self) -> int:
        """Those that can agree or differ."""
        return self.passed + self.failed


def counted(graded: Iterable[Check | Cell]) -> Count:
    """Count checks, or cells of tables, by what became of them."""
    marks = [each.passed if isinstance(each, Check) else each.agrees for each in graded]
    return Count(marks.count(True), marks.count(False), marks.count(None))


def by_kind(checks: Iterable[Check]) -> list[tuple[str, list[Check]]]:
    """Checks by their kind, in the order of the tallies; kinds without any are left out."""
    found = [(kind, [check for check in checks if check.kind == kind]) for kind in report.KINDS_OF_CHECKS]
    return [(kind, members) for kind, members in found if members]


def blocks(parts: Sequence[Any]) -> list[Any]:
    """Parts as they stand on the page: checks, faults and wishes that follow one another together; conclusions stand at
    the top."""
    found: list[Any] = []
    for part in parts:
        kind = {Check: "checks", Fault: "faults", Wish: "wishes"}.get(type(part))
        if kind is None:
            if not isinstance(part, Conclusion):
                found.append(part)
        elif found and isinstance(found[-1], Block) and found[-1].kind == kind:
            found[-1].append(part)
        else:
            found.append(Block(kind, [part]))
    return found


def reasons(table: Table, graded: bool = True) -> list[str]:
    """The reasons of its cells' grades, each once: the notes under it; or of those that have none."""
    cells = [value for row in table.rows for value in row if isinstance(value, Cell)]
    return list(dict.fromkeys(each.reason for each in cells if (each.agrees is not None) == graded))


def concluded(sections: Sequence[Section]) -> list[tuple[Section, Conclusion]]:
    """All conclusions by paper, each with its section."""
    found = [(section, each) for section in sections for each in section.conclusions()]
    return sorted(found, key=lambda pair: list(PAPERS).index(pair[1].paper.partition(" ")[0]))


def conclusions_by_judge(
    conclusions: Iterable[tuple[Section, Conclusion]],
) -> dict[str, list[tuple[Section, Conclusion]]]:
    """Claims by what judges them, as of `JUDGES`."""
    found: dict[str, list[tuple[Section, Conclusion]]] = {kind: [] for kind in JUDGES}
    for section, each in conclusions:
        modelled = each.kind == CLAIM and section.identifier in MODELLED
        found[MODEL if modelled else each.kind].append((section, each))
    return found


def verdict_counts(conclusions: Iterable[tuple[Section, Conclusion]]) -> list[tuple[str, list[int]]]:
    """Of each paper how many claims have each of `VERDICTS`, a claim of several under each that it names; and of all
    together, where a claim counts once."""
    marks = [({*re.findall(r"\b(?:D|P2|P3|T|A)\b", each.paper), "all"}, each.verdict) for _, each in conclusions]
    return [
        (name, [sum(name in papers and found == verdict for papers, found in marks) for verdict in VERDICTS])
        for name in PAPERS
    ]


def origin_lines(sections: Iterable[Section]) -> list[str]:
    """What the sections were made with, a line for each day and machine: loads and commits of a line together."""
    found: dict[str, tuple[dict[float, None], dict[str, None]]] = {}
    for line in dict.fromkeys(each for section in sections for each in section.made):
        machine, load, commit = line.rsplit(", ", 2)
        loads, commits = found.setdefault(machine, ({}, {}))
        commits[commit.removeprefix("commit ")] = None
        loads |= {float(each): None for each in re.findall(r"load to ([\d.]+)", load)}
    made = []
    for machine, (loads, commits) in sorted(found.items()):
        load = f"load to {max(loads):g}" if loads else "load not recorded"
        load = f"loads {min(loads):g} to {max(loads):g}" if len(loads) > 1 else load
        made.append(f"{machine}, {load}, commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}")
    return made


def groups(sections: Sequence[Section]) -> list[tuple[str, list[tuple[str, list[Section]]]]]:
    """Sections by paper and chapter, in their order: (short name, [(chapter, sections)])."""
    found: list[tuple[str, list[tuple[str, list[Section]]]]] = []
    for section in sections:
        name, _, rest = section.source.partition(" ")
        if not found or found[-1][0] != name:
            found.append((name, []))
        numbers = re.findall(r"\d+", rest.split(",")[0])
        chapter = ""
        if name == "D" and numbers:
            chapter = f"Chapter {numbers[0]}"
            if int(numbers[0]) in CHAPTERS:
                chapter += f": {CHAPTERS[int(numbers[0])]}"
        chapters = found[-1][1]
        if not chapters or chapters[-1][0] != chapter:
            chapters.append((chapter, []))
        chapters[-1][1].append(section)
    return found


def number(value: Any) -> str:
    """A value as it stands in a table: three digits of a fraction, thousands apart."""
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()
    match value:
        case None:
            return "\N{EN DASH}"
        case float() if not math.isfinite(value):
            return "\N{EN DASH}" if math.isnan(value) else "∞" if value > 0 else "-∞"
        case Cell():
            return number(value.ours)
        case list() | tuple():
            return ", ".join(map(number, value))
    if isinstance(value, float) and abs(value) >= MILLION:
        return f"{value / MILLION:,.3g} M" if abs(value) < 1000 * MILLION else f"{value / MILLION / 1000:,.3g} G"
    return cell(value)


def terms(text: str) -> Any:
    """A text as HTML, with what its abbreviations stand for."""
    from markupsafe import Markup, escape

    def explained(found: re.Match[str]) -> str:
        return f'<abbr title="{escape(report.GLOSSARY[found[0]])}">{found[0]}</abbr>'

    return Markup(re.sub(rf"\b({'|'.join(WORDS)})\b", explained, str(escape(text))))


def in_main(section: Section, part: Any) -> bool:
    """Whether a part stands in the main part, not in the appendix."""
    return isinstance(part, Table) and part.title in MAIN.get(section.identifier, ())


def in_data(part: Any) -> bool:
    """Whether a table stands in ``report.json`` alone."""
    return isinstance(part, Table) and (part.title in IN_DATA or STATES.fullmatch(part.title) is not None)


def answer(conclusions: Sequence[Conclusion]) -> tuple[str, str, str]:
    """The `HEADLINES` that hold, that hold in part, and that fail, as lists within a sentence."""
    headlines: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    for each in conclusions:
        if each.claim in HEADLINES:
            headlines[each.verdict].append(f"that {HEADLINES[each.claim]}")

    def listed(texts: Sequence[str]) -> str:
        return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)

    holds, part, fails, _ = (listed(headlines[verdict]) for verdict in VERDICTS)
    return holds, part, fails


def columns(table: Table) -> list[tuple[str, bool, bool]]:
    """Its columns, and of each whether published and ours stand in two columns of their own, and whether its values are
    numbers, or texts that begin like one."""
    beside = [any(isinstance(row[at], Cell) for row in table.rows) for at in range(len(table.columns))]
    split = sum(beside) <= SPLIT
    numbers = [all(_like_number(row[at]) for row in table.rows) for at in range(len(table.columns))]
    return [(name, split and two, like) for name, two, like in zip(table.columns, beside, numbers, strict=True)]


def _like_number(value: Any) -> bool:
    return not isinstance(value, str) or re.match(r"[-+(<>~]?\s*[\d.]|-?$", value) is not None


def inline(svg: str, prefix: str) -> str:
    """An SVG document as an element of the page: no prolog and metadata, and its ids apart from other figures'."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    root = re.search(r"<svg\b[^>]*>", svg)
    size = root and re.search(r'\bwidth="([\d.]+)[^"]*"[^>]*\bheight="([\d.]+)', root[0])
    if size and "viewBox" not in size.string:  # without one it would be cut off, not made smaller
        svg = svg.replace("<svg", f'<svg viewBox="0 0 {size[1]} {size[2]}"', 1)
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'href="#([^"]*)"', rf'href="#{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", svg)
    return svg.strip()


def data_address(data: bytes) -> str:
    """A picture's bytes as a ``data:`` address."""
    return f"data:image/{picture_format(data)};base64,{base64.b64encode(data).decode()}"


def picture_format(data: bytes) -> str:
    """``webp``, ``png`` or ``jpeg``, by how a file begins."""
    return "webp" if data[:4] == b"RIFF" else "png" if data[:4] == b"\x89PNG" else "jpeg"


def narrow(data: bytes) -> bool:
    """Whether a picture is one of those that stand side by side: not several in one."""
    width, height = Image.open(io.BytesIO(data)).size
    return bool(width < 1.6 * height)


def figure_file(section: Section, place: int) -> str:
    """The name of a figure's file beside the report: of the section's part of that place."""
    part = section.parts[place]
    assert isinstance(part, Figure)
    slug = re.sub(r"[^a-z0-9]+", "_", part.title.lower()).strip("_")[:48].strip("_")
    return f"{section.identifier}_{place}_{slug}.{'svg' if part.svg else picture_format(part.png)}"


def write(folder: Path, sections: Sequence[Section], facts: dict[str, Any], command: str, figures: bool = True) -> Path:
    """Write ``report.html``, ``report.json`` and, unless they are not asked for, the figures; the report's path.

    facts: the machine, the driver, versions and date. Raises ViewerError.
    """
    for section in sections if figures else ():
        for place, part in enumerate(section.parts):
            if isinstance(part, Figure):
                picture = part.svg.encode() if part.svg else part.png
                write_beside(folder / "figures" / figure_file(section, place), picture)
    data = {
        "facts": facts,
        "command": command,
        "tallies": {kind: count._asdict() for kind, count in tallies(sections).items()},
        "cells": counted(cell for section in sections for cell in section.cells())._asdict(),
        "conclusions": [
            {**_plain(each), "verdict": each.verdict, "section": section.identifier}
            for section, each in concluded(sections)
        ],
        "sections": [_plain(section) for section in sections],
    }
    write_beside(folder / "report.json", (json.dumps(data, indent=0, default=str) + "\n").encode())
    write_beside(folder / "report.html", page(sections, facts, command).encode())
    return folder / "report.html"


def tallies(sections: Sequence[Section]) -> dict[str, Count]:
    """How the checks of each kind came out. They are not to be added up."""
    checks = [check for section in sections for check in section.checks()]
    return {kind: counted(check for check in checks if check.kind == kind) for kind in report.KINDS_OF_CHECKS}


def page(sections: Sequence[Section], facts: dict[str, Any], command: str) -> str:
    """The HTML text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    plain = (number, columns, blocks, by_kind, reasons, narrow, counted, in_data, in_main, terms)
    environment.filters |= {each.__name__: each for each in plain}
    environment.filters |= {
        "kind": lambda part: part.kind if isinstance(part, Block) else KINDS[type(part)],
        "ungraded": partial(reasons, graded=False),
        "claims": lambda checks: [check for check in checks if check.kind == CLAIM],
        "inline": lambda svg, prefix: Markup(inline(svg, prefix)),
        "data": lambda data: Markup(data_address(data)),
    }
    environment.tests["cell"] = lambda value: isinstance(value, Cell)
    conclusions = concluded(sections)
    by_judge = conclusions_by_judge(conclusions)
    said = {kind: [each.verdict for _, each in members] for kind, members in by_judge.items()}
    faults = dict.fromkeys(part for section in sections for part in section.parts if isinstance(part, Fault))
    return environment.get_template("page.html.jinja").render(
        groups=groups(sections),
        sections=sections,
        facts=facts,
        command=command,
        style=Markup((Path(__file__).parent / "page.css").read_text(encoding="utf-8")),
        glossary=report.GLOSSARY,
        tallies=[(TALLIES[kind], count) for kind, count in tallies(sections).items()],
        kinds=TALLIES,
        check_heads=HEADS,
        cells=counted(cell for section in sections for cell in section.cells()),
        judged=[(*JUDGES[kind], members) for kind, members in by_judge.items() if members],
        verdict_rows=verdict_counts(conclusions),
        verdict_names=VERDICTS,
        claimed={verdict: said[CLAIM].count(verdict) for verdict in VERDICTS},
        modelled={verdict: said[MODEL].count(verdict) for verdict in VERDICTS},
        printed={verdict: said[ARITHMETIC].count(verdict) for verdict in VERDICTS},
        origins=origin_lines(sections),
        papers=PAPERS,
        answer=answer([each for _, each in conclusions]),
        bounds={"COUNT": f"{report.COUNT:.0%}", "COST": f"{report.COST:.0%}", "POINTS": f"{100 * report.POINTS:g}"},
        main=[(section, part) for section in sections for part in section.parts if in_main(section, part)],
        errors=[each for each in faults if each not in report.OMISSIONS],
        omissions=[each for each in faults if each in report.OMISSIONS],
        absent=[(section, part) for section in sections for part in section.parts if isinstance(part, Absent)],
    )


def _plain(value: Any) -> Any:
    """As JSON: figures by the names of their files."""
    if isinstance(value, Section):
        parts = []
        for place, part in enumerate(value.parts):
            entry = {"kind": KINDS[type(part)], **_plain(part)}
            if isinstance(part, Figure):
                entry = {**entry, "file": f"figures/{figure_file(value, place)}"}
                del entry["svg"], entry["png"]
            parts.append(entry)
        head = {name: getattr(value, name) for name in ("identifier", "title", "source")}
        return {**head, "made": list(value.made), "timing": value.timing, "parts": parts}
    if isinstance(value, (*KINDS, Cell)):
        return {name: _plain(each) for name, each in vars(value).items()}
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return ""
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
