"""What a report is made of: parts of sections, as plain frozen data that the template draws; the grades of values; the
papers' statements and our texts, from tables in ``published`` and ``sections``; and the sections by their names.

A table lies beside the sources, a row a line, tabs between cells, the head first. Of each claim, error and wish the
last column is a few words or numbers by which it is looked up at the places that it names: a regular expression, in
small letters (``tests/reproduce/test_papers.py``). Authors, titles, years and venues of papers among the wishes were
checked against public bibliographies in November 2026; dates of extensions and products are their makers'.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# What a check says something about; the three are never added up.
CLAIM = "claim"  # of a paper, tested on results of this project
ARITHMETIC = "arithmetic"  # of a paper: its own numbers against each other
OWN = "own"  # this project's: the simulators, the pictures, the stand-ins
KINDS_OF_CHECKS = (CLAIM, ARITHMETIC, OWN)
NOT_EXAMINED = "why: not examined"
OURS = ("all columns",)  # of `Table.own`: a table in which no published value stands


# -- parts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A value of a table with one beside it, and its grade.

    published : as printed, or what `Table.heads` calls it. agrees : True within a bound, False beyond it, None where
    the two stand beside each other without a grade. reason : the bound and why it is that; what was measured of the
    difference, or `NOT_EXAMINED`; or what parts the two. Never empty.
    """

    published: Any
    ours: Any
    agrees: bool | None
    reason: str

    def __post_init__(self) -> None:
        _grade(self, "agrees", f"{self.published} / {self.ours}")


@dataclass(frozen=True)
class Check:
    """A statement and what became of it. kind : `CLAIM`, `ARITHMETIC` or `OWN`.

    passed : None where it can only be shown beside (other scenes, other machines). why : the reason of what differs,
    tested, or `NOT_EXAMINED`; or why it can only be shown. Nothing of what passes. bound : how near the two have to be
    where it is not equality, and why; or what else was compared.
    """

    kind: str
    what: str
    published: Any
    ours: Any
    passed: bool | None
    why: str = ""
    bound: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS_OF_CHECKS:
            raise ValueError(f"{self.what}: no kind of check: {self.kind!r}")
        _grade(self, "passed", self.what, "said", needed=not self.passed)

    @property
    def said(self) -> str:
        """What stands under it: its bound, and where it does not pass the reason."""
        return "; ".join(each for each in (self.bound, "" if self.passed else self.why) if each.strip())


def _grade(value: Cell | Check, name: str, what: str, reason: str = "reason", needed: bool = True) -> None:
    """A grade is true, false or undecided, and has its reason."""
    found = getattr(value, name)
    if found is not None:
        object.__setattr__(value, name, bool(found))  # NumPy's is neither True nor False
    if needed and not getattr(value, reason).strip():
        raise ValueError(f"{what}: a grade without a reason")


@dataclass(frozen=True)
class Conclusion:
    """A claim of a paper in one sentence, and what became of it here.

    paper : the places, ``D 5.2.1, P2 4.1``. grades : of the results that it was tested on, each whether it holds; None
    where nothing decides. figure : the numbers, published and ours. kind : `ARITHMETIC` where it is of the paper's own
    numbers alone.
    """

    paper: str
    claim: str
    grades: Sequence[bool | None]
    figure: str
    kind: str = CLAIM

    @property
    def _decided(self) -> list[bool]:
        return [bool(each) for each in self.grades if each is not None]

    @property
    def verdict(self) -> str:
        """``holds``, ``in part``, ``does not hold here``, or ``shown beside`` where nothing decides."""
        decided = self._decided
        if not decided:
            return "shown beside"
        return "holds" if all(decided) else "in part" if any(decided) else "does not hold here"

    @property
    def counts(self) -> str:
        """Of the results that decide, how many hold: ``3 of 5``; nothing of a single one."""
        return f"{sum(self._decided)} of {len(self._decided)}" if len(self._decided) > 1 else ""


@dataclass(frozen=True)
class Table:
    """A table. rows : a sequence of values or `Cell` for each row, as long as ``columns``; the first names the row.

    heads : of columns of two values what they are called, where these are not ``published`` and ``ours``: what follows
    from printed numbers but is not printed is ``derived``. own : columns of plain values, which no paper prints: what a
    row is, settings, measurements of this project alone; `OURS` where all are. In every other column each value that is
    there is a `Cell`, with its grade.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    checks: Sequence[Check] = ()
    heads: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    own: Sequence[str] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} for {len(self.columns)} columns: {row}")
        unknown = (set(self.heads) | (set(self.own) - set(OURS))) - set(self.columns)
        if unknown:
            raise ValueError(f"{self.title}: no columns {sorted(unknown)}")

    @property
    def alone(self) -> bool:
        """Whether no published value stands in it."""
        return tuple(self.own) == OURS

    def ungraded(self) -> list[tuple[Any, str]]:
        """Rows and columns of values that have no grade though their column is not of this project alone, and of cells
        in columns that are."""
        own = set(self.columns) if self.alone else {self.columns[0], *self.own}
        return [
            (row[0], name)
            for row in self.rows
            for name, value in zip(self.columns, row, strict=True)
            if value is not None and isinstance(value, Cell) == (name in own)
        ]


@dataclass(frozen=True)
class Figure:
    """A picture: a whole ``<svg>`` document as text, or the bytes of a PNG, JPEG or WebP file; one of the two. alt :
    what is to be seen, for readers who cannot."""

    title: str
    svg: str = ""
    png: bytes = b""
    note: str = ""
    alt: str = ""

    def __post_init__(self) -> None:
        if bool(self.svg) == bool(self.png):
            raise ValueError(f"{self.title}: a figure has either an SVG or a PNG")


@dataclass(frozen=True)
class Fault:
    """An error found in a paper. where: ``D 6.4.3``; said: what stands there; right: what is right, and why."""

    where: str
    said: str
    right: str


@dataclass(frozen=True)
class Text:
    """A paragraph, plain text."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Source text, as it stands in the program."""

    title: str
    text: str
    note: str = ""


@dataclass(frozen=True)
class Absent:
    """What is left out, and why: which scene or tool is not there, and what to do about it."""

    what: str
    why: str


@dataclass(frozen=True)
class Wish:
    """A wish of a paper: where, what, what became of it in the field with its source, and what this project does."""

    where: str
    wish: str
    field: str
    here: str


Part = Check | Conclusion | Table | Figure | Fault | Text | Listing | Absent | Wish
Parts = Iterator[Part]


@dataclass(frozen=True)
class Section:
    """A section of the report. source : the places in the papers, ``D 5.2.1, P2 3.2``; a stretch of the first paper.
    made : of its results, when, where and from which sources. timing : how its seconds were measured, and how quiet
    the machine was; empty without."""

    identifier: str
    title: str
    source: str
    parts: Sequence[Part]
    made: Sequence[str] = ()
    timing: str = ""

    def checks(self) -> list[Check]:
        """All checks, those of tables included."""
        found: list[Check] = []
        for part in self.parts:
            found += [part] if isinstance(part, Check) else part.checks if isinstance(part, Table) else []
        return found

    def cells(self) -> list[Cell]:
        """The cells of its tables that have a value beside."""
        tables = [part for part in self.parts if isinstance(part, Table)]
        return [value for table in tables for row in table.rows for value in row if isinstance(value, Cell)]

    def conclusions(self) -> list[Conclusion]:
        """What it says of the papers' claims."""
        return [part for part in self.parts if isinstance(part, Conclusion)]


class AbsentError(Exception):
    """Raised by a section where a scene or tool is not there: what then is left out, and why."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.part = Absent(what, why)


# -- grades: how near two values have to be, by their kind -------------------------------------------------------------

# A share of the published value, but for shares of a whole, which are set against each other in points.
COUNT = 0.25  # instructions, passes, ratios and gains: the same work, written down independently or of another scene
COST = 0.10  # relative to ray casting, by the papers' own kernels
ROUND_NUMBER = 0.05  # of triangles and photons, printed in thousands or to two digits
ABOUT = 0.02  # "about 100,000"
FEWEST = 0.01  # of passes: what the best found may need less, as thresholds are tried in steps
ALL = 0.01  # what "all" may leave out
POINTS = 0.05  # of a share: the texts' are round, "half", "60 %", "about 10 %"
BY_EYE = 0.10  # of a share: what two eyes may differ by
LITTLE, MUCH, MOST = 0.10, 0.25, 0.50  # of a share that has no number
TWICE = 2.0  # "comparable", by the factor that the papers give structures
# Why two values stand beside each other without a grade, said once.
OTHER_SCENE = "a stand-in, as the published scene and camera are not available"
FITTED = "fitted to it, as the published scene and camera are not available"
LONGEST = "a stand-in, fitted in v, t and s; the longest rays, which set the passes, are its own"
OTHER_DEVICE = "another device"
NOT_HERE = "nothing was counted here"
NOT_RUN = "the published device is not available, and nothing of ours stands for it"
NOT_PRINTED = "ours alone, no paper prints it"


def about(published: float, ours: float, bound: float) -> bool:
    """Whether ours is within a share of the published value."""
    return abs(ours - published) <= bound * abs(published)


def at_points(published: float, ours: float, bound: float = POINTS) -> bool:
    """Whether two shares of a whole are within so much of each other."""
    return abs(ours - published) <= bound


def saves(published: float, ours: float) -> bool:
    """Whether a change is the published fall, or a greater one: what saves more than was said is no failure."""
    return ours <= published + POINTS


def between(least: float, most: float, ours: float) -> bool:
    """Whether a value lies between two that are printed to two digits: 10.5 does in 6 to 10, 303 in 200 to 300."""
    low, high = (0.5 * 10 ** (math.floor(math.log10(each)) - 1) for each in (least, most))
    return least - low <= ours <= most + high


def exact(published: Any, ours: Any, otherwise: str = NOT_EXAMINED) -> Cell:
    """A cell that agrees where the two are equal."""
    same = published == ours
    return Cell(published, ours, same, "agrees: equal" if same else f"differs: {otherwise}")


def near(
    published: float, ours: float, share: float, because: str, otherwise: str = NOT_EXAMINED, shown: str = ""
) -> Cell:
    """A cell that agrees within a share of the published value. because : why that bound. otherwise : what was measured
    of the difference, or that it was not examined. shown : a format of ours, ``.2f``."""
    agrees = about(published, ours, share)
    reason = f"agrees to {share:.0%}: {because}" if agrees else f"differs by more than {share:.0%}: {otherwise}"
    return Cell(published, format(ours, shown) if shown else ours, agrees, reason)


def beside(published: Any, ours: Any, why: str) -> Cell:
    """A cell whose two values stand beside each other, without a grade. why : what parts them."""
    return Cell(published, ours, None, why)


def unprinted(ours: Any) -> Cell:
    """A cell of a column with published values, for which none is printed."""
    return Cell(None, ours, None, NOT_PRINTED)


# -- statements and texts, from tables ---------------------------------------------------------------------------------


class _Formatter(string.Formatter):
    """``format`` with shares as percents, ``{share:+.1 %}`` is ``+12.3 %``, or points, ``{share:.0p}`` is ``12``."""

    def format_field(self, value: Any, spec: str) -> str:
        if spec.endswith((" %", "p")):
            return format(100 * value, spec.removesuffix(" %").removesuffix("p") + "f") + " %" * spec.endswith(" %")
        return str(format(value, spec))

    def value(self, text: str, values: Mapping[str, Any]) -> Any:
        """The text with the values in braces; of a text that is one of them, or is behind ``=``, the value."""
        if "{" not in text:
            return json.loads(text[1:].lower()) if text.startswith("=") else text
        if re.fullmatch(r"\{[\w.\[\]]+\}", text):
            return self.get_field(text[1:-1], (), values)[0]
        return self.vformat(text, (), values)


filled = _Formatter().value


def table(path: str, head: bool = False) -> list[list[str]]:
    """The rows of a table, by its path in this package without the ending (``published/claims``), and its head."""
    text = (Path(__file__).parent / f"{path}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[0 if head else 1 :]]


def listed(values: Iterable[Any], shown: str = "") -> str:
    """Values with commas between, each in a format: ``1.5, 2``."""
    return ", ".join(format(each, shown) for each in values)


def by_name(values: Mapping[str, Any], shown: str = "") -> str:
    """The same with their names: ``Sphere 1.5, Bunny 2``."""
    return ", ".join(f"{name} {format(each, shown)}" for name, each in values.items())


def sides(values: Iterable[Any]) -> str:
    """A resolution or size: ``250 x 1 x 250``."""
    return " x ".join(map(str, values))


def percent(share: float, shown: str = ".1f") -> str:
    """A share of a whole: ``12.3 %``."""
    return f"{format(100 * share, shown)} %"


class Paper(NamedTuple):
    """A paper: as headings name it, and in full."""

    name: str
    full: str


class Claim(NamedTuple):
    """A claim in a sentence. kind : of `KINDS_OF_CHECKS`; headline : the claim as a part of the sentence that tells
    what was reproduced, at the top of the report, or empty."""

    kind: str
    places: str
    claim: str
    headline: str
    words: str


PAPERS = {key: Paper(*texts) for key, *texts in table("published/papers")}  # by short names, in the report's order
CLAIMS = {name: Claim(*rest) for name, *rest in table("published/claims")}
FAULTS = {Fault(where, said, right): words for _, where, said, right, words in table("published/faults")}
# Of them what is no error but something left out: of a rule, a condition, a figure that is promised.
OMISSIONS = {Fault(*texts) for kind, *texts, _ in table("published/faults") if kind == "omission"}
WISHES = table("published/wishes")  # where, wish, what became of it in the field, what this project does, words
GLOSSARY = {abbreviation: meaning for abbreviation, meaning in table("published/glossary")}
PARAGRAPHS = {key: text for key, text in table("sections/paragraphs")}
FIGURES = {key: texts for key, *texts in table("sections/figures")}  # title, note and what is to be seen
TABLES = {key: texts for key, *texts in table("sections/tables")}  # title, columns (see `tabled`) and note
CHECKS = {key: texts for key, *texts in table("sections/checks")}  # as of `Check`, less `passed`
METHODS = table("sections/methods")
ALONE = "own: "


def concluded(name: str, results: Sequence[Check | bool | None], figure: str) -> Conclusion:
    """What became of the claim of that name, by results that decide it, or the checks of them."""
    claim = CLAIMS[name]
    grades = [each.passed if isinstance(each, Check) else each for each in results]
    return Conclusion(claim.places, claim.claim, grades, figure, claim.kind)


def checked(key: str, passed: bool | None, /, **values: Any) -> Check:
    """The check of that name. values : that its texts have in braces; those of the format's own: see `filled`."""
    kind, what, published, ours, why, bound = (filled(text, values) for text in CHECKS[key])
    return Check(kind, what, published, ours, passed, why, bound)


def worded(key: str, /, **values: Any) -> str:
    """The text of that name. values : that it has in braces."""
    return str(filled(PARAGRAPHS[key], values))


def told(key: str, /, **values: Any) -> Text:
    """The paragraph of that name. values : that it has in braces."""
    return Text(worded(key, **values))


def captioned(key: str, /, svg: str = "", png: bytes = b"", **values: Any) -> Figure:
    """The figure of that name, with its title and note. values : that these have in braces."""
    title, note, alt = (str(filled(text, values)) for text in FIGURES[key])
    return Figure(title, svg, png, note, alt)


def tabled(
    key: str,
    rows: Sequence[Sequence[Any]],
    /,
    checks: Sequence[Check] = (),
    columns: Sequence[str] = (),
    own: Sequence[str] = (),
    heads: Mapping[str, tuple[str, str]] | None = None,
    note: str = "",
    **values: Any,
) -> Table:
    """The table of that name, of rows, with its title, columns and note. values : that these have in braces.

    Columns stand between bars. Those of this project alone bear a star; ``own:`` before all says that all are.
    columns, own : where they go by what is measured. note : goes on from the one of the name.
    """
    title, names, text = (str(filled(each, values)) for each in TABLES[key])
    stars = [each for each in names.removeprefix(ALONE).split(" | ") if each] if names else []
    own = OURS if names.startswith(ALONE) else own or [each.rstrip("*") for each in stars if each.endswith("*")]
    return Table(title, columns or [each.rstrip("*") for each in stars], rows, text + note, checks, heads or {}, own)


def described(name: str, **values: Any) -> list[tuple[str, str, str]]:
    """Of a method what it is, what the papers say of it and what is here. values : that these have in braces."""
    each = (rest for which, *rest in METHODS if which == name)
    return [(what, papers.format(**values), here.format(**values)) for what, papers, here in each]


def faults(*places: str) -> list[Fault]:
    """The papers' errors at places that contain one of these words; all without any."""
    return [fault for fault in FAULTS if not places or any(place in fault.where for place in places)]


# -- sections by their names -------------------------------------------------------------------------------------------

Make = Callable[[Any], Parts]  # of a `context.Context`


@dataclass(frozen=True)
class Registered:
    """A section that can be made. quick: whether ``--quick`` makes it too; order: among those of the same place; timed:
    whether ``--timed`` chooses it."""

    identifier: str
    title: str
    paper: str
    quick: bool
    order: int
    make: Make
    timed: bool = False

    def place(self) -> tuple[int, tuple[int, ...], int, str]:
        """Sorts by paper, chapter and section: of ``D 5.2.1, P2 3.2`` by D 5.2.1."""
        name, _, rest = self.paper.partition(" ")
        numbers = tuple(int(each) for each in re.findall(r"\d+", rest.split(",")[0]))
        return list(PAPERS).index(name), numbers or (99,), self.order, self.identifier


SECTIONS: dict[str, Registered] = {}


def section(
    identifier: str, *, paper: str, title: str = "", quick: bool = True, order: int = 0, timed: bool = False
) -> Callable[[Make], Make]:
    """Register ``make(context)``, which yields the section's parts.

    identifier : a short name, by which ``--only`` finds it: ``table_5_2``. paper : the places in the papers, comma
    between, the first the one it is sorted by: ``D 5.2.1, P2 3.2``; a place begins with a name of `PAPERS`. title : of
    the section; without one the first line of the function's docstring, less its full stop. quick : whether ``--quick``
    makes it; ``context.quick`` then asks for small sizes. timed : whether seconds of a clock are among its results.
    """

    def register(make: Make) -> Make:
        if not re.fullmatch(r"[a-z0-9_]+", identifier) or identifier in SECTIONS:
            raise ValueError(f"section {identifier!r}: a name of its own in a-z, 0-9 and _")
        if paper.split(" ")[0] not in PAPERS:
            raise ValueError(f"section {identifier!r}: {paper!r} names none of {', '.join(PAPERS)}")
        line = title or (make.__doc__ or "").strip().splitlines()[0].rstrip(".")
        SECTIONS[identifier] = Registered(identifier, line, paper, quick, order, make, timed)
        return make

    return register
