"""The surroundings of sections in their tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reproduction.context import Context


@pytest.fixture
def context(device: Any, tmp_path: Path) -> Context:
    """Of a report of small sizes, on the tests' device."""
    from reproduction.context import Context

    made = Context(tmp_path / "report", quick=True)
    made.__dict__["device"] = device
    return made
