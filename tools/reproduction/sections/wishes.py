"""What the authors wished for, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..model import Part, Text, Wish
from ..published.wishes import WISHES
from ..registry import section


@section("wishes", paper="all", title="The authors' wishes, and what became of them", order=5)
def wishes(context: Context) -> Iterator[Part]:
    """Each wish of each paper."""
    yield Text(
        "What the papers wish for in hardware and name as future work, what the field made of it, and what is here. "
        "Authors, titles, years and venues of the papers that are named were checked against public bibliographies."
    )
    for each in WISHES:
        yield Wish(*each)
