"""A section of the report made of inputs of which one is changed, and what became of its checks and graded cells."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from . import page, plots, run
from .context import Context
from .model import Cell, Section, Table
from .registry import Registered
from .stored import Measurements

MEASURED, PRINTED, COMPUTED = "measured", "printed", "computed"
ANY, VALUE = "*", "="  # any step; between a unit's key and the path in its value
CELL = "cell"  # beside the kinds of checks
PACKAGE = f"{__package__}."
Steps = tuple[str, ...]


@dataclass(frozen=True)
class Grade:
    """What became of a check or cell. name : as on the page; said : published and ours; ratio : of the first numbers
    of the two, 1 without any."""

    kind: str
    name: str
    agrees: bool | None
    said: str
    ratio: float = 1.0


@dataclass(frozen=True)
class Break:
    """A change of an input.

    source : `MEASURED`, `PRINTED` by a paper or `COMPUTED` while the page is made.
    place  : of what is measured a unit's key, `VALUE` and the path in its value; else a module, the name of a constant
             or function, and the path in it or in its result. `ANY` stands for every step there.
    change : a factor (``x 2``), ``+ 1``, ``- 1``, ``not``; of several values ``turn``, each in the place of the one
             before, and ``drop``, without the first. Of a text its first number is changed.
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


class _Nothing:
    """Stands for axes and artists of a plot that nobody looks at."""

    def __getattr__(self, name: str) -> _Nothing:
        return self

    def __call__(self, *_: Any, **__: Any) -> _Nothing:
        return self

    def __getitem__(self, name: Any) -> _Nothing:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def _no_plot(*_: Any, nrows: int = 1, ncols: int = 1, **__: Any) -> tuple[Any, Any]:
    axes = np.empty((nrows, ncols), object)
    axes.fill(_Nothing())
    return _Nothing(), axes.squeeze() if axes.size > 1 else _Nothing()


def modules() -> list[ModuleType]:
    """The report's."""
    return [each for name, each in list(sys.modules.items()) if name.startswith(PACKAGE)]


def module_of(name: str) -> ModuleType:
    """By its name, as a `Break` has it: the report's without the package."""
    return sys.modules.get(PACKAGE + name) or sys.modules[name]


@contextmanager
def broken(made: Break | None) -> Iterator[None]:
    """No plots; and what is printed or computed is changed, under every name that the report's modules have for it."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(plots, "figure", _no_plot))
        stack.enter_context(patch.object(plots, "svg", lambda figure: "<svg/>"))
        if made is not None and made.source != MEASURED:
            home, name, *path = made.place
            old = getattr(module_of(home), name)
            new = _function(old, tuple(path), made.change) if callable(old) else changed(old, tuple(path), made.change)
            for module in modules():
                for own, value in list(vars(module).items()):
                    # A number alone is no proof that it is the same one.
                    if value is old and (own == name or not isinstance(old, int | float | str)):
                        stack.enter_context(patch.object(module, own, new))
        yield


def _function(old: Callable[..., Any], path: Steps, change: str) -> Callable[..., Any]:
    return lambda *arguments, **named: changed(old(*arguments, **named), path, change)


def made_with(registered: Registered, stored: Measurements, made: Break | None = None) -> list[Grade]:
    """The grades of a section, its inputs changed; none where it cannot be made of them."""
    try:
        with broken(made):
            return grades(run.make(Changed(stored, made), registered))
    except Exception:  # nonsense went in: whatever it raises, no check has failed
        if made is None:
            raise
        return []
