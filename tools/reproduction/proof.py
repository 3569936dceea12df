"""The proof that the report's checks can fail: of each check and graded cell a change of its inputs that turns it over.

Inputs are the stored measurements, the papers' printed numbers, and what sections compute while the page is made. One
value of them is changed, or one alike in all views or runs, by more and more until it does; the section is made again,
and the grade compared.
"""

from __future__ import annotations

import html
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

from . import page, run
from .broken import (
    ANY,
    CELL,
    COMPUTED,
    MEASURED,
    PACKAGE,
    PRINTED,
    VALUE,
    Break,
    Changed,
    Grade,
    Steps,
    broken,
    leaves,
    made_with,
    other,
    turned,
)
from .kept import write_beside
from .model import ARITHMETIC, CLAIM, KINDS_OF_CHECKS, OWN
from .registry import Registered
from .stored import Measurements

FILE = "proof.html"
# From small changes to large ones, whatever is changed; down first, as no share is more than one.
SMALL, LARGE = (0.9, 1.1, 0.8, 1.25), (0.67, 1.5, 0.6, 0.5, 2, 0.3, 3, 0.1, 10, 0.01, 100, 0, 1000, -1)
FACTORS = tuple(tuple(f"x {each:g}" for each in factors) for factors in (SMALL, LARGE))
CHANGES = ("not", *FACTORS[0], "- 1", "+ 1", *FACTORS[1], "turn", "drop")
PROBES = ("not", "x 2", "x 0", "x -1", "+ 1", "turn", "drop")  # whether an input matters at all
STARS = 3  # `ANY` in a place at most
OURS = ("raystream.", ".simulators.", "_drawings")  # modules whose constants are settings of what is computed
MOST = 300  # values of a result; more are no numbers but programs and scenes
LAYOUT = ("model", "grades", "plots", "context", "registry", "shown", "kept", "timed", "stored", "page")
Places = dict[Steps, Any]  # of inputs, with the value of each


@dataclass(frozen=True)
class Proof:
    """A check or cell, the change that turns it over, the first value changed before and after, and what it says
    then."""

    kind: str
    name: str
    made: Break
    old: str
    new: str
    then: str


def search(registered: Registered, stored: Measurements) -> tuple[list[Proof], list[Grade]]:
    """Of a section the proofs, each by the first of `CHANGES` that does it, and what nothing turns over.

    Claims, tests and cells are turned over by what is measured, else computed, else printed; the papers' arithmetic by
    what is printed alone.
    """
    before = made_with(registered, stored)
    found: dict[int, Proof] = {}
    for source, values, kinds in PHASES:
        left = {k for k, each in enumerate(before) if each.agrees is not None and each.kind in kinds} - set(found)
        if not left:
            continue
        places = {
            place: value
            for place, value in values(registered, stored).items()
            if _matters(registered, stored, Break(source, place, ""), value, before)
        }
        fits = [ratio for k in sorted(left) if not before[k].agrees for ratio in (before[k].ratio, 1 / before[k].ratio)]
        changes = dict.fromkeys((*CHANGES, *(f"x {each:.6g}" for each in fits)))
        general = patterns(list(places), 0 if source == MEASURED else 2)
        for change, (place, first) in itertools.product(changes, general.items()):
            old = places[first]
            new = other(old, change)
            if not left or new is old:
                continue
            made = Break(source, place, change)
            after = made_with(registered, stored, made)
            for k in left.intersection(turned(before, after)):
                then = f"{'agrees' if after[k].agrees else 'differs'}: {after[k].said}"
                found[k] = Proof(before[k].kind, before[k].name, made, _short(old), _short(new), then)
            left -= set(found)
    left = {k for k, each in enumerate(before) if each.agrees is not None} - set(found)
    return [found[k] for k in sorted(found)], [before[k] for k in sorted(left)]


def _matters(registered: Registered, stored: Measurements, made: Break, value: Any, before: Sequence[Grade]) -> bool:
    """Whether a grade has anything of the input, which has this value."""
    changes = [each for each in PROBES if other(value, each) is not value]
    return any(made_with(registered, stored, replace(made, change=each)) != before for each in changes)


def patterns(places: Sequence[Steps], fixed: int) -> dict[Steps, Steps]:
    """Single places, then those with `ANY` for steps but the ``fixed`` first, which stand for several at once, each set
    of places once; of each its first single place."""
    groups: dict[Steps, list[int]] = {}
    for number, place in enumerate(places):
        free = [at for at, step in enumerate(place) if step != VALUE and at >= fixed]
        for chosen in itertools.chain(*(itertools.combinations(free, stars) for stars in range(1, STARS + 1))):
            general = tuple(ANY if at in chosen else step for at, step in enumerate(place))
            groups.setdefault(general, []).append(number)
    found: dict[tuple[int, ...], Steps] = {}
    for general, members in groups.items():
        if len(members) > 1:
            found.setdefault(tuple(members), general)
    return {**{each: each for each in places}, **{found[each]: places[each[0]] for each in sorted(found, key=len)}}


def _short(value: Any) -> str:
    several = isinstance(value, dict | list | tuple) or getattr(value, "ndim", 0) > 0
    return f"{len(value)} values" if several else page.number(value)[:40]


# -- inputs ----------------------------------------------------------------------------------------------------------


def _measured(registered: Registered, stored: Measurements) -> Places:
    """All that a section takes from the measurements."""
    context = Changed(stored)
    with broken(None):
        run.make(context, registered)
    return {(*unit, VALUE, *path): leaf for unit, value in context.seen for path, leaf in leaves(value)}


def _printed(registered: Registered, stored: Measurements) -> Places:
    """The papers' numbers that the section's module has, or those of the report that it imports from."""
    own = sys.modules[registered.make.__module__]
    names = {str(getattr(each, "__module__", None) or getattr(each, "__name__", "")) for each in vars(own).values()}
    return _constants([own, *(sys.modules[name] for name in names if name.startswith(PACKAGE))], ".published.")


def _computed(registered: Registered, stored: Measurements) -> Places:
    """What functions of other modules give that the section's module names, and the constants that it has of ours."""
    own = sys.modules[registered.make.__module__]
    found: Places = {}
    for name, value in list(vars(own).items()):
        home = getattr(value, "__module__", None) or ""
        plain = isinstance(value, FunctionType) or hasattr(value, "__wrapped__")
        if not plain or home == own.__name__ or home.rpartition(".")[2] in LAYOUT:
            continue

        def seen(*arguments: Any, _value: Any = value, _name: str = name, **named: Any) -> Any:
            made = _value(*arguments, **named)
            inner = list(itertools.islice(leaves(made), MOST + 1))
            for path, leaf in inner if len(inner) <= MOST else ():
                found.setdefault((own.__name__.removeprefix(PACKAGE), _name, *path), leaf)
            return made

        with broken(None), patch.object(own, name, seen):
            run.make(Changed(stored), registered)
    for homes in OURS:
        found |= _constants([own], homes)
    return found


def _constants(having: Sequence[ModuleType], homes: str) -> Places:
    """Of modules whose names contain ``homes``, those constants that others have."""
    names = {(name, id(value)) for module in having for name, value in vars(module).items() if name.isupper()}
    found: Places = {}
    for home in list(sys.modules.values()):
        title = str(getattr(home, "__name__", ""))
        if homes in title:
            for name, value in list(vars(home).items()):
                if (name, id(value)) in names:
                    names.remove((name, id(value)))
                    place = title.removeprefix(PACKAGE), name
                    found.update({(*place, *path): leaf for path, leaf in leaves(value)})
    return found


# What is changed for which grades, one after the other.
PHASES: tuple[tuple[str, Callable[[Registered, Measurements], Places], tuple[str, ...]], ...] = (
    (MEASURED, _measured, (CLAIM, OWN, CELL)),
    (PRINTED, _printed, (ARITHMETIC,)),
    (COMPUTED, _computed, (CLAIM, OWN, CELL)),
    (PRINTED, _printed, (CLAIM, OWN, CELL)),
)

# -- the page --------------------------------------------------------------------------------------------------------

HEADS = ("tally", "check, or cell of a table", "input", "changed where", "by", "from", "to", "what it says then")
INTRODUCTION = """Each check of <a href="report.html">the report</a>, and each graded cell of its tables, was made to
say the opposite once, by a change of one of its inputs: of a measurement, of a number that a paper prints, or of what
is computed while the page is made. A change that does it is listed; small ones are tried first, of values alone before
those of all of a kind alike, which * stands for. turn puts each value in the place of the one before, drop leaves out
the first. Made by
<code>python tools/reproduce.py --prove FOLDER</code>."""
STYLE = """body { font: 14px/1.4 sans-serif; margin: 2em } table { border-collapse: collapse }
td, th { text-align: left; vertical-align: top; padding: 2px 8px; border-bottom: 1px solid #dfe3e8 }
th { padding-top: 14px } td:nth-child(4) { color: #5d6875 }"""
SEPARATOR = " | "
_ROW, _SECTION = "<tr><td>", "<tr id="


def prove(folder: Path, wanted: Sequence[Registered], stored: Measurements, tell: run.Tell) -> dict[str, list[Grade]]:
    """Write the page of a report's folder: proofs of these sections anew, those of others as they were; by section the
    checks and cells that nothing turns over. Raises ViewerError."""
    found: dict[str, list[Proof]] = {}
    path = folder / FILE
    for section, each in read(path) if path.is_file() else ():
        found.setdefault(section, []).append(each)
    left = {}
    for number, registered in enumerate(wanted):
        tell(number / len(wanted), registered.identifier)
        found[registered.identifier], left[registered.identifier] = search(registered, stored)
        write(path, found)  # an interrupted run leaves what it has
    return {section: grades for section, grades in left.items() if grades}


def write(path: Path, found: Mapping[str, Sequence[Proof]]) -> None:
    """The page of proofs by section, which `read` reads. Raises ViewerError."""
    count = Counter(each.kind for proofs in found.values() for each in proofs)
    total = ", ".join(f"{count[kind]} {name}" for kind, name in _NAMES.items())
    lines = ['<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Proof of the report</title>']
    lines += [f"<style>{STYLE}</style>", "<h1>Proof that the checks can fail</h1>", f"<p>{INTRODUCTION}"]
    lines += [f"<p>{total}.", "<table>", "<tr>" + "".join(f"<th>{each}" for each in HEADS)]
    for registered in run.chosen():
        section, proofs = registered.identifier, found.get(registered.identifier, ())
        if proofs:
            title = f'<a href="report.html#{section}">{html.escape(registered.title)}</a>'
            lines.append(f'{_SECTION}"{section}"><th colspan="{len(HEADS)}">{title}')
        for each in proofs:
            where = each.made.source, SEPARATOR.join(each.made.place), each.made.change
            cells = (each.kind, each.name, *where, each.old, each.new, each.then)
            lines.append(_ROW + "<td>".join(html.escape(cell, quote=False) for cell in cells))
    write_beside(path, ("\n".join([*lines, "</table></html>"]) + "\n").encode())


_NAMES = dict(zip((*KINDS_OF_CHECKS, CELL), ("claims", "of arithmetic", "tests of ours", "cells"), strict=True))


def read(path: Path) -> Iterator[tuple[str, Proof]]:
    """The proofs of a page, each with its section's name."""
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_SECTION):
            section = line.split('"')[1]
        elif line.startswith(_ROW):
            kind, name, source, place, change, *rest = map(html.unescape, line.removeprefix(_ROW).split("<td>"))
            yield section, Proof(kind, name, Break(source, tuple(place.split(SEPARATOR)), change), *rest)
