"""What a section is made of: plain frozen data that the template draws and that kept files hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A value of a table with the published one beside it.

    agrees : whether they agree; None where that is not to be decided.
    """

    published: Any
    ours: Any
    agrees: bool | None = None


@dataclass(frozen=True)
class Check:
    """A statement of a paper and what became of it.

    passed : None where it can only be shown beside (other scenes, other machines); why: the reason of what differs,
    or of what can only be shown.
    """

    what: str
    published: Any
    ours: Any
    passed: bool | None
    why: str = ""

    def __post_init__(self) -> None:
        if self.passed is not None:
            object.__setattr__(self, "passed", bool(self.passed))  # NumPy's is neither True nor False


@dataclass(frozen=True)
class Table:
    """A table. rows: a sequence of values or `Cell` for each row, as long as ``columns``; the first names the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    checks: Sequence[Check] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row of {len(row)} for {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Figure:
    """A picture: a whole ``<svg>`` document as text, or the bytes of a PNG or JPEG file; one of the two.

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


Part = Check | Table | Figure | Fault | Text | Listing | Absent


@dataclass(frozen=True)
class Section:
    """A section of the report. source: the places in the papers, ``D 5.2.1, P2 3.2``; a stretch of the first paper."""

    identifier: str
    title: str
    source: str
    parts: Sequence[Part]

    def checks(self) -> list[Check]:
        """All checks, those of tables included."""
        found: list[Check] = []
        for part in self.parts:
            if isinstance(part, Check):
                found.append(part)
            elif isinstance(part, Table):
                found += part.checks
        return found


class AbsentError(Exception):
    """Raised by a section where a scene or tool is not there: what then is left out, and why."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.part = Absent(what, why)


KINDS: dict[str, type] = {each.__name__: each for each in (Cell, Check, Table, Figure, Fault, Text, Listing, Absent)}
