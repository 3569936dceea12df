"""The errors found in the papers."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..model import Fault, Part, Text
from ..published.faults import FAULTS
from ..registry import section


@section("faults", paper="all", title="Errors and inconsistencies of the papers", order=9)
def faults(context: Context) -> Iterator[Part]:
    """All that were found, by paper and place."""
    yield Text(
        "What cannot be as it is printed, by the papers' own numbers or by trying it; and what was taken in its place."
    )
    for where, said, right, _ in FAULTS:
        yield Fault(where, said, right)
