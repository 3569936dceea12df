"""The sections by their names: ``@section`` registers the function that makes one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .context import Context
from .model import Parts
from .texts import table

Make = Callable[[Context], Parts]


class Paper(NamedTuple):
    """A paper: as headings name it, and in full."""

    name: str
    full: str


# By their short names, in the report's order.
PAPERS = {key: Paper(*texts) for key, *texts in table("published/papers")[1:]}


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

    Parameters
    ----------
    identifier : a short name, by which ``--only`` finds it: ``table_5_2``.
    paper      : the places in the papers, comma between, the first the one it is sorted by: ``D 5.2.1, P2 3.2``; a
                 place begins with a name of `PAPERS`.
    title      : of the section; without one the first line of the function's docstring, less its full stop.
    quick      : whether ``--quick`` makes it; ``context.quick`` then asks for small sizes.
    timed      : whether seconds of a clock are among its results (`timed.keep`).
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
