"""The proof that the report's checks can fail: of each check and graded cell a change of its inputs that turns it over.

Inputs are the stored measurements, the papers' printed numbers, and what sections compute while the page is made. One
value of them is changed, or one alike in all views or runs, by more and more until it does; the section is made again,
and the grade compared.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple
from unittest.mock import MagicMock, patch

import numpy as np

from . import page, plots, run
from .context import Context
from .kept import write_beside
from .report import ARITHMETIC, CLAIM, OWN, Cell, Registered, Section, Table
from .stored import Measurements

MEASURED, PRINTED, COMPUTED = "measured", "printed", "computed"
ANY, VALUE = "*", "="  # any step; between a unit's key and the path in its value
CELL = "cell"  # beside the kinds of checks
PACKAGE = f"{__package__}."
Steps = tuple[str, ...]
FILE = "proof.json"
COLUMNS = ("tally", "check or cell", "input", "changed where", "by", "from", "to", "what it says then")
# From small changes to large ones, whatever is changed; down first, as no share is more than one.
SMALL, LARGE = (0.9, 1.1, 0.8, 1.25), (0.67, 1.5, 0.6, 0.5, 2, 0.3, 3, 0.1, 10, 0.01, 100, 0, 1000, -1)
FACTORS = tuple(tuple(f"x {each:g}" for each in factors) for factors in (SMALL, LARGE))
CHANGES = ("not", *FACTORS[0], "- 1", "+ 1", *FACTORS[1], "turn", "drop")
PROBES = ("not", "x 2", "x 0", "x -1", "+ 1", "turn", "drop")  # whether an input matters at all
STARS = 3  # `ANY` in a place at most
OURS = ("raystream.", ".simulators.", "_drawings")  # modules whose constants are settings of what is computed
MOST = 300  # values of a result; more are no numbers but programs and scenes
LAYOUT = ("report", "plots", "context", "shown", "kept", "timed", "page")
Places = dict[Steps, Any]  # of inputs, with the value of each


class Grade(NamedTuple):
    """What became of a check or cell. name : as on the page; said : published and ours; ratio : of the first numbers
    of the two, 1 without any."""

    kind: str
    name: str
    agrees: bool | None
    said: str
    ratio: float = 1.0


class Break(NamedTuple):
    """A change of an input. source : `MEASURED`, `PRINTED` by a paper or `COMPUTED` while the page is made.

    place : of what is measured a unit's key, `VALUE` and the path in its value; else a module, the name of a constant
    or function, and the path in it or in its result. `ANY` stands for every step there. change : a factor (``x 2``),
    ``+ 1``, ``- 1``, ``not``; of several values ``turn``, each in the place of the one before, and ``drop``, without
    the first. Of a text its first number is changed.
    """

    source: str
    place: Steps
    change: str


def grades(section: Section) -> list[Grade]:
    """Of its checks, then of its cells, in their order."""
    found = [Grade(each.kind, each.what, each.passed, *_said(each)) for each in section.checks()]
    for table in (part for part in section.parts if isinstance(part, Table)):
        for row in table.rows:
            for column, value in zip(table.columns, row, strict=True):
                if isinstance(value, Cell):
                    name = f"{table.title}: {row[0]}, {column.strip()}"
                    found.append(Grade(CELL, name, value.agrees, *_said(value)))
    return found


def _said(value: Any) -> tuple[str, float]:
    both = [_NUMBER.search(str(each).replace(",", "")) for each in (value.published, value.ours)]
    one, two = (float(each[0]) if each else 1.0 for each in both)
    return f"{page.number(value.published)} / {page.number(value.ours)}", one / two if one and two else 1.0


def turned(before: Sequence[Grade], after: Sequence[Grade]) -> list[int]:
    """Places of grades that agreed and differ, or the reverse; those that are not there any more are none."""
    if len(before) != len(after):
        return []
    both = enumerate(zip(before, after, strict=True))
    return [place for place, (one, two) in both if one.kind == two.kind and {one.agrees, two.agrees} == {True, False}]


# -- changes ---------------------------------------------------------------------------------------------------------


def steps(value: Any) -> dict[Any, Any]:
    """The values within a value by what leads to them; none in a leaf."""
    match value:
        case dict():
            return value
        case list() | tuple() if not hasattr(value, "_fields"):
            return dict(enumerate(value))
        case tuple():
            return value._asdict()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
    return {}


def leaves(value: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Paths of numbers, flags, texts and arrays in a value, and those of what holds several."""
    several = isinstance(value, dict | list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if (several and len(value) > 1) or isinstance(value, bool | int | float | str | np.generic):
        yield path, value
    for step, each in steps(value).items():
        yield from leaves(each, (*path, str(step)))


_NUMBER = re.compile(r"\d+(\.\d+)?")


def changed(value: Any, path: Steps, change: str) -> Any:
    """A value with another one at the path; itself where the change does nothing there."""
    if not path:
        return other(value, change)
    found = {}
    for step, each in steps(value).items():
        new = changed(each, path[1:], change) if path[0] in (ANY, str(step)) else each
        if new is not each:
            found[step] = new
    if not found:
        return value
    match value:
        case dict():
            return {**value, **found}
        case list() | tuple() if not hasattr(value, "_fields"):
            return type(value)(found.get(place, each) for place, each in enumerate(value))
        case tuple():
            return value._replace(**found)  # type: ignore[attr-defined]
    return dataclasses.replace(value, **found)  # type: ignore[type-var]


def other(value: Any, change: str) -> Any:
    """A leaf changed; itself where the change is none of it."""
    match value:
        case bool() | np.bool_():
            return not value if change == "not" else value
        case str():
            return _other_text(value, change)
        case dict():
            shifted = [*list(value.values())[1:], *list(value.values())[:1]]
            turned_ = dict(zip(value, shifted, strict=True))
            return {"turn": turned_, "drop": dict(list(value.items())[1:])}.get(change, value)
        case list() | tuple() if not hasattr(value, "_fields"):
            return {"turn": type(value)([*value[1:], *value[:1]]), "drop": value[1:]}.get(change, value)
        case np.ndarray() if change in ("turn", "drop") and value.ndim:
            return np.roll(value, -1) if change == "turn" else value[1:]
        case int() | float() | np.integer() | np.floating() | np.ndarray():
            return _other_number(value, change)
    return value


def _other_text(value: str, change: str) -> str:
    number = _NUMBER.search(value)
    if number is None:
        return f"not {value}" if change == "not" else value
    new = _other_number(float(number[0]) if "." in number[0] else int(number[0]), change)
    return value if str(new) == number[0] else _NUMBER.sub(str(new), value, count=1)


def _other_number(value: Any, change: str) -> Any:
    how, _, by = change.partition(" ")
    if not by or (isinstance(value, np.ndarray) and value.dtype.kind not in "iuf"):
        return value
    new = value * float(by) if how == "x" else value + float(f"{how}{by}")
    if isinstance(value, int | np.integer):
        new = round(new)
    elif isinstance(value, np.ndarray):
        new = np.asarray(new).astype(value.dtype)
    return value if np.array_equal(new, value) else new


# -- a section of changed inputs -------------------------------------------------------------------------------------


class Changed(Context):
    """A report's context from stored measurements of which some are changed; ``seen`` is what was taken of them."""

    def __init__(self, stored: Measurements, made: Break | None = None) -> None:
        super().__init__(Path(), stored=stored)
        self._break = made if made is not None and made.source == MEASURED else None
        self.seen: list[tuple[Steps, Any]] = []

    def keep(self, key: Any, function: Callable[[], Any], timing: bool = False) -> Any:
        """What is stored, changed."""
        value = super().keep(key, function, timing)
        unit = tuple(map(str, key if isinstance(key, list | tuple) else [key]))
        self.seen.append((unit, value))
        if self._break is None:
            return value
        place = self._break.place
        at = place.index(VALUE)
        ours = at == len(unit) and all(each in (ANY, step) for each, step in zip(place, unit, strict=False))
        return changed(value, place[at + 1 :], self._break.change) if ours else value


def _no_plot(*_: Any, nrows: int = 1, ncols: int = 1, **__: Any) -> tuple[Any, Any]:
    """Stands for a figure and axes that nobody looks at."""
    axes = np.empty((nrows, ncols), object)
    axes.fill(MagicMock())
    return MagicMock(), axes.squeeze() if axes.size > 1 else MagicMock()


@contextmanager
def broken(made: Break | None) -> Iterator[None]:
    """No plots; and what is printed or computed is changed, under every name that the report's modules have for it."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(plots, "figure", _no_plot))
        stack.enter_context(patch.object(plots, "svg", lambda figure: "<svg/>"))
        if made is not None and made.source != MEASURED:
            home, name, *path = made.place
            # A module of the report is named without the package.
            old = getattr(sys.modules.get(PACKAGE + home) or sys.modules[home], name)

            def result(*arguments: Any, **named: Any) -> Any:
                return changed(old(*arguments, **named), tuple(path), made.change)

            new = result if callable(old) else changed(old, tuple(path), made.change)
            for module in [each for title, each in list(sys.modules.items()) if title.startswith(PACKAGE)]:
                for own, value in list(vars(module).items()):
                    # A number alone is no proof that it is the same one.
                    if value is old and (own == name or not isinstance(old, int | float | str)):
                        stack.enter_context(patch.object(module, own, new))
        yield


def made_with(registered: Registered, stored: Measurements, made: Break | None = None) -> list[Grade]:
    """The grades of a section, its inputs changed; none where it cannot be made of them."""
    try:
        with broken(made):
            return grades(run.make(Changed(stored, made), registered))
    except Exception:  # nonsense went in: whatever it raises, no check has failed
        if made is None:
            raise
        return []


# -- the search ------------------------------------------------------------------------------------------------------


class Proof(NamedTuple):
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

    def short(value: Any) -> str:
        several = isinstance(value, dict | list | tuple) or getattr(value, "ndim", 0) > 0
        return f"{len(value)} values" if several else page.number(value)[:40]

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
                found[k] = Proof(before[k].kind, before[k].name, made, short(old), short(new), then)
            left -= set(found)
    left = {k for k, each in enumerate(before) if each.agrees is not None} - set(found)
    return [found[k] for k in sorted(found)], [before[k] for k in sorted(left)]


def _matters(registered: Registered, stored: Measurements, made: Break, value: Any, before: Sequence[Grade]) -> bool:
    """Whether a grade has anything of the input, which has this value."""
    changes = [each for each in PROBES if other(value, each) is not value]
    return any(made_with(registered, stored, made._replace(change=each)) != before for each in changes)


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

# -- the list --------------------------------------------------------------------------------------------------------


def prove(folder: Path, wanted: Sequence[Registered], stored: Measurements, tell: run.Tell) -> dict[str, list[Grade]]:
    """Write the list of a report's folder: proofs of these sections anew, those of others as they were; by section the
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
    """The list of proofs by section, each in a line as `COLUMNS` name it, which `read` reads. Raises ViewerError."""
    lines = [json.dumps({"columns": COLUMNS})[:-1]]
    for name in (each.identifier for each in run.chosen() if found.get(each.identifier)):
        rows = ",\n".join(json.dumps([*each[:2], *each.made, *each[3:]]) for each in found[name])
        lines.append(f"{json.dumps(name)}: [\n{rows}]")
    write_beside(path, (",\n".join(lines) + "}\n").encode())


def read(path: Path) -> Iterator[tuple[str, Proof]]:
    """The proofs of a list, each with its section's name."""
    for section, rows in json.loads(path.read_text(encoding="utf-8")).items():
        for kind, name, source, place, change, *rest in rows if section != "columns" else ():
            yield section, Proof(kind, name, Break(source, tuple(place), change), *rest)
