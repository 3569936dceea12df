"""Rows of a hot table that change in place, in every layout: they come to the device, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.stream.compile.memories import IN_BUFFER, Addressing
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.memory import Memory

WIDE = Record("Wide", Field("a", "vec4"), Field("b", "vec2"))  # two texels
COUNT = 37


def texels(memory: Memory) -> np.ndarray:
    """(rows, 8) float32 of what lies on the device."""
    held = memory.texture.buffer if memory.layout.per_row == IN_BUFFER else memory.texture
    return np.frombuffer(held.read(), np.float32).reshape(-1, 8)


@pytest.mark.parametrize("per_row", [IN_BUFFER, 1, 4, 16, 64])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 5), (0, COUNT), (15, 17), (COUNT - 1, COUNT), (4, 8)])
def test_the_rows_of_a_change_are_uploaded(device, per_row: int, first: int, last: int) -> None:
    if per_row == IN_BUFFER and not device.max_buffer:
        pytest.skip("this device has no buffer textures")
    table = Table("rows", WIDE, np.zeros(COUNT, WIDE.dtype), hot=True)
    table.data["a"] = np.arange(COUNT)[:, None] + [0, 0.25, 0.5, 0.75]
    memory = Memory(device, table, Addressing(per_row, 4))
    before = texels(memory)[:COUNT].copy()
    table.data["b"][first:last] = 7.0
    memory.update(first, last)
    after = texels(memory)
    changed = (after[:COUNT] != before).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(changed), np.arange(first, last))
    np.testing.assert_array_equal(after[first:last, 4:6], 7.0)
    np.testing.assert_array_equal(after[:COUNT, :4], table.data["a"])
    assert not after[COUNT:].any()  # the rest of the last row
    memory.release()
