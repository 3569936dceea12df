"""What the papers say, their claims, errors, wishes and abbreviations, from tables in ``published``; the texts of our
paragraphs, figures and tables, from tables in ``sections``; and the parts of sections that are made of them.

Of each claim, error and wish the last column is a few words or numbers by which it is looked up at the places that it
names: a regular expression, in small letters (``tests/reproduce/test_papers.py``). Authors, titles, years and venues of
papers among the wishes were checked against public bibliographies in November 2026; dates of extensions and products
are their specifications' and makers'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .model import OURS, Check, Conclusion, Fault, Figure, Table, Text
from .texts import table

ALONE = "own: "


class Claim(NamedTuple):
    """A claim in a sentence. kind : of `model.KINDS_OF_CHECKS`; headline : the claim as a part of the sentence that
    tells what was reproduced, at the top of the report, or empty."""

    kind: str
    places: str
    claim: str
    headline: str
    words: str


CLAIMS = {name: Claim(*rest) for name, *rest in table("published/claims")[1:]}
FAULTS = {Fault(where, said, right): words for _, where, said, right, words in table("published/faults")[1:]}
# Of them what is no error but something left out: of a rule, a condition, a figure that is promised.
OMISSIONS = {Fault(*texts) for kind, *texts, _ in table("published/faults")[1:] if kind == "omission"}
WISHES = table("published/wishes")[1:]  # where, wish, what became of it in the field, what this project does, words
PARAGRAPHS = {key: text for key, text in table("sections/paragraphs")[1:]}
FIGURES = {key: texts for key, *texts in table("sections/figures")[1:]}  # title, note and what is to be seen
TABLES = {key: texts for key, *texts in table("sections/tables")[1:]}  # title, columns (see `tabled`) and note
METHODS = table("sections/methods")[1:]
GLOSSARY = {abbreviation: meaning for abbreviation, meaning in table("published/glossary")[1:]}


def concluded(name: str, results: Sequence[Check | bool | None], figure: str) -> Conclusion:
    """What became of the claim of that name, by results that decide it, or the checks of them."""
    claim = CLAIMS[name]
    grades = [each.passed if isinstance(each, Check) else each for each in results]
    return Conclusion(claim.places, claim.claim, grades, figure, claim.kind)


def told(key: str, /, **values: Any) -> Text:
    """The paragraph of that name. values : that it has in braces."""
    return Text(PARAGRAPHS[key].format(**values))


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


def described(name: str, **values: Any) -> list[tuple[str, str, str]]:
    """Of a method what it is, what the papers say of it and what is here. values : that these have in braces."""
    each = (rest for which, *rest in METHODS if which == name)
    return [(what, papers.format(**values), here.format(**values)) for what, papers, here in each]


def faults(*places: str) -> list[Fault]:
    """The papers' errors at places that contain one of these words; all without any."""
    return [fault for fault in FAULTS if not places or any(place in fault.where for place in places)]
