"""The errors found in the papers."""

from __future__ import annotations

from ..context import Context
from ..report import Parts, faults, section, told


@section("faults", paper="all", title="Errors and inconsistencies of the papers", order=9)
def all_faults(context: Context) -> Parts:
    """All that were found, by paper and place."""
    yield told("faults")
    yield from faults()
