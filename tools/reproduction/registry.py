"""The sections by their names: ``@section`` registers the function that makes one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .context import Context
from .model import Part

Make = Callable[[Context], Iterator[Part]]


@dataclass(frozen=True)
class Paper:
    """A paper: as headings name it, and in full."""

    name: str
    full: str


# By their short names, in the report's order.
PAPERS = {
    "D": Paper(
        "Ray Tracing on a Stream Processor",
        "D: T. J. Purcell, Ray Tracing on a Stream Processor, PhD dissertation, Stanford University, March 2004",
    ),
    "P2": Paper(
        "Ray Tracing on Programmable Graphics Hardware",
        "P2: T. J. Purcell, I. Buck, W. R. Mark, P. Hanrahan, Ray Tracing on Programmable Graphics Hardware, ACM "
        "Transactions on Graphics 21 (3), SIGGRAPH 2002, pages 703 to 712, doi 10.1145/566654.566640",
    ),
    "P3": Paper(
        "Photon Mapping on Programmable Graphics Hardware",
        "P3: T. J. Purcell, C. Donner, M. Cammarano, H. W. Jensen, P. Hanrahan, Photon Mapping on Programmable "
        "Graphics Hardware, Graphics Hardware 2003, pages 41 to 50, doi 10.2312/EGGH03/041-050",
    ),
    "T": Paper(
        "Whitted ray tracing by OpenCL and CUDA",
        "T: An OpenCL Ray Tracer development and comparison over CUDA, master's thesis, written at Fraunhofer IGD, "
        "Darmstadt, within the Maximus project; the copy that was available does not name its author or year",
    ),
    "A": Paper(
        "Implementing Classical Ray Tracing on GPU",
        "A: A. V. Adinetz, S. B. Berezin, Implementing Classical Ray Tracing on GPU: a Case Study of GPU Programming, "
        "Moscow State University, 2006",
    ),
    "all": Paper("All papers", "What concerns all five"),
}


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
