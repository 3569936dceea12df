"""What is refused, beside what is not."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from raystream.base.errors import ViewerError


def refusal(words: str) -> AbstractContextManager[Any]:
    """A `ViewerError` in whose line the pattern is found; where it is empty, none."""
    return pytest.raises(ViewerError, match=words) if words else nullcontext()
