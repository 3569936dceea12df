"""The errors found in the papers."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..model import Part
from ..registry import section
from ..statements import faults, told


@section("faults", paper="all", title="Errors and inconsistencies of the papers", order=9)
def all_faults(context: Context) -> Iterator[Part]:
    """All that were found, by paper and place."""
    yield told("faults")
    yield from faults()
