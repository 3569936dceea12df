"""What a section is made of: plain frozen data that the template draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What a check says something about; the three are never added up.
CLAIM = "claim"  # of a paper, tested on results of this project
ARITHMETIC = "arithmetic"  # of a paper: its own numbers against each other
OWN = "own"  # this project's: the simulators, the pictures, the stand-ins
KINDS_OF_CHECKS = (CLAIM, ARITHMETIC, OWN)
NOT_EXAMINED = "why: not examined"
OURS = ("all columns",)  # of `Table.own`: a table in which no published value stands


@dataclass(frozen=True)
class Cell:
    """A value of a table with one beside it, and its grade.

    published : as printed, or what `Table.heads` calls it.
    agrees    : True within a bound, False beyond it, None where the two stand beside each other without a grade.
    reason    : the bound and why it is that; what was measured of the difference, or `NOT_EXAMINED`; or what parts the
                two. Never empty.
    """

    published: Any
    ours: Any
    agrees: bool | None
    reason: str

    def __post_init__(self) -> None:
        _grade(self, "agrees", f"{self.published} / {self.ours}")


@dataclass(frozen=True)
class Check:
    """A statement and what became of it.

    kind   : `CLAIM`, `ARITHMETIC` or `OWN`.
    passed : None where it can only be shown beside (other scenes, other machines).
    why    : the reason of what differs, tested, or `NOT_EXAMINED`; or why it can only be shown. Nothing of what passes.
    bound  : how near the two have to be where it is not equality, and why; or what else was compared.
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

    paper  : the places, ``D 5.2.1, P2 4.1``.
    grades : of the results that it was tested on, each whether it holds; None where nothing decides.
    figure : the numbers, published and ours. kind : `ARITHMETIC` where it is of the paper's own numbers alone.
    """

    paper: str
    claim: str
    grades: Sequence[bool | None]
    figure: str
    kind: str = CLAIM

    @property
    def verdict(self) -> str:
        """``holds``, ``in part``, ``does not hold here``, or ``shown beside`` where nothing decides."""
        decided = [bool(each) for each in self.grades if each is not None]
        if not decided:
            return "shown beside"
        return "holds" if all(decided) else "in part" if any(decided) else "does not hold here"

    @property
    def counts(self) -> str:
        """Of the results that decide, how many hold: ``3 of 5``; nothing of a single one."""
        decided = [bool(each) for each in self.grades if each is not None]
        return f"{sum(decided)} of {len(decided)}" if len(decided) > 1 else ""


@dataclass(frozen=True)
class Table:
    """A table. rows: a sequence of values or `Cell` for each row, as long as ``columns``; the first names the row.

    heads : of columns of two values what they are called, where these are not ``published`` and ``ours``: what follows
    from printed numbers but is not printed is ``derived``.
    own : columns of plain values, which no paper prints: what a row is, settings, measurements of this project alone;
    `OURS` where all are. In every other column each value that is there is a `Cell`, with its grade.
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
        if not set(self.heads) <= set(self.columns):
            raise ValueError(f"{self.title}: no columns {sorted(set(self.heads) - set(self.columns))}")
        unknown = set(self.own) - set(self.columns) - set(OURS)
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
    """A picture: a whole ``<svg>`` document as text, or the bytes of a PNG, JPEG or WebP file; one of the two.

    alt : what is to be seen, for readers who cannot.
    """

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
    """A section of the report.

    source : the places in the papers, ``D 5.2.1, P2 3.2``; a stretch of the first paper. made : of its results, when,
    where and from which sources. timing : how its seconds were measured, and how quiet the machine was; empty without.
    """

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
            if isinstance(part, Check):
                found.append(part)
            elif isinstance(part, Table):
                found += part.checks
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
