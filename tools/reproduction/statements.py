"""What the papers say, claims, errors, wishes and abbreviations, and the texts of our figures and tables: tables in
``published``, with tabs between columns; and the parts of sections that are made of them.

Of each claim, error and wish the last column is a few words or numbers by which it is looked up at the places that it
names: a regular expression, in small letters (``tests/reproduce/test_papers.py``). Authors, titles, years and venues of
papers among the wishes were checked against public bibliographies in November 2026; dates of extensions and products
are their specifications' and makers'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .model import OURS, Check, Conclusion, Fault, Figure, Table

ALONE = "own: "


class Claim(NamedTuple):
    """A claim in a sentence. kind : of `model.KINDS_OF_CHECKS`; headline : the claim as a part of the sentence that
    tells what was reproduced, at the top of the report, or empty."""

    kind: str
    places: str
    claim: str
    headline: str
    words: str


def rows(name: str) -> list[list[str]]:
    """The rows of a table, below its head."""
    text = (Path(__file__).parent / "published" / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


CLAIMS = {name: Claim(*rest) for name, *rest in rows("claims")}
FAULTS = {Fault(where, said, right): words for where, said, right, words in rows("faults")}
WISHES = rows("wishes")  # where, wish, what became of it in the field, what this project does, words
FIGURES = {key: texts for key, *texts in rows("figures")}  # title, note and what is to be seen
TABLES = {key: texts for key, *texts in rows("tables")}  # title, columns (see `tabled`) and note
GLOSSARY = {abbreviation: meaning for abbreviation, meaning in rows("glossary")}


def concluded(name: str, results: Sequence[Check | bool | None], figure: str) -> Conclusion:
    """What became of the claim of that name, by results that decide it, or the checks of them."""
    claim = CLAIMS[name]
    grades = [each.passed if isinstance(each, Check) else each for each in results]
    return Conclusion(claim.places, claim.claim, grades, figure, claim.kind)


def captioned(key: str, /, svg: str = "", png: bytes = b"", **values: Any) -> Figure:
    """The figure of that name, with its title and note. values : that these have in braces."""
    title, note, alt = (text.format(**values) for text in FIGURES[key])
    return Figure(title, svg, png, note, alt)


def tabled(
    key: str,
    lines: Sequence[Sequence[Any]],
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
    title, named, text = (each.format(**values) for each in TABLES[key])
    alone = named.startswith(ALONE)
    stars = [each for each in named.removeprefix(ALONE).split(" | ") if each] if named else []
    own = OURS if alone else own or [each.rstrip("*") for each in stars if each.endswith("*")]
    return Table(title, columns or [each.rstrip("*") for each in stars], lines, text + note, checks, heads or {}, own)


def faults(*places: str) -> list[Fault]:
    """The papers' errors at places that contain one of these words; all without any."""
    return [fault for fault in FAULTS if not places or any(place in fault.where for place in places)]
