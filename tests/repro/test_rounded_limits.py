"""Limits of whole numbers were told in six digits: 4.1943e+06 for 4194304, which is not accepted where it is typed."""

from __future__ import annotations

import pytest

from raystream.options.declare import Option
from raystream.options.table import OPTIONS

WHOLE = [option for option in OPTIONS.values() if "a whole number from" in option.expected()]


@pytest.mark.parametrize("option", WHOLE, ids=lambda option: option.name)
def test_whole_numbers_are_told_in_full(option: Option) -> None:
    assert f"from {option.value.low} to {option.value.high}" in option.expected()
