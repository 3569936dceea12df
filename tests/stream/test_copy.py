"""Copies between row order and rectangles, both ways, against NumPy: odd sizes, and rectangles that reach outside."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.resources import Copies
from raystream.stream.gl.stream import Stream

RECORDS = {
    1: Record("One", Field("a", "float"), Field("b", "int")),
    3: Record("Three", Field("a", "vec4"), Field("b", "vec3"), Field("c", "int"), Field("d", "vec2")),
}
# Size of the picture and of the stream in row order, corner and size of the rectangle in the picture.
CASES = {
    "whole": ((7, 5), (7, 5), (0, 0), (7, 5)),
    "narrow stream": ((7, 5), (2, 19), (0, 0), (7, 5)),
    "inside": ((31, 17), (13, 6), (5, 9), (11, 7)),
    "a column": ((31, 17), (5, 4), (30, 0), (1, 17)),
    "a pixel": ((31, 17), (1, 1), (12, 8), (1, 1)),
    "left and above": ((31, 17), (13, 6), (-4, -3), (11, 7)),
    "right and below": ((31, 17), (13, 6), (26, 13), (11, 6)),
    "all around": ((5, 3), (9, 9), (-2, -3), (9, 9)),
    "beside": ((31, 17), (13, 6), (31, 2), (9, 8)),
    "more than the stream holds": ((31, 17), (10, 2), (5, 9), (11, 7)),
}


def random(record: Record, size: tuple[int, int], seed: int) -> NDArray:
    """(H, W) of random records."""
    numbers = np.random.default_rng(seed)
    array = np.zeros(size[::-1], record.dtype)
    for field in record.fields:
        array[field.name] = numbers.integers(-(2**20), 2**20, array[field.name].shape)
    return array


def pairs(case: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """(row, column) in the picture and in the stream of the records that a copy moves."""
    picture, rows, corner, size = CASES[case]
    found = []
    for number in range(min(size[0] * size[1], rows[0] * rows[1])):
        x, y = corner[0] + number % size[0], corner[1] + number // size[0]
        if 0 <= x < picture[0] and 0 <= y < picture[1]:
            found.append(((y, x), divmod(number, rows[0])))
    return found


@pytest.fixture(scope="module")
def copies(device) -> Copies:
    """One for all cases: programs are compiled once."""
    with device.current():
        return Copies(device)


@pytest.fixture(params=list(RECORDS))
def record(request) -> Record:
    """Of one texture or three."""
    return RECORDS[request.param]


def filled(device, record: Record, size: tuple[int, int], seed: int) -> tuple[Stream, NDArray]:
    """A stream, and what it holds."""
    stream, array = Stream(device, record, size), random(record, size, seed)
    stream.write(array)
    return stream, array


WAYS = [(case, "to_rows") for case in CASES] + [(case, "from_rows") for case in CASES if "more than" not in case]


@pytest.mark.parametrize(("case", "way"), WAYS)
def test_rectangles_in_row_order_and_back(device, copies, record, case, way):
    picture, rows, corner, size = CASES[case]
    back = way == "from_rows"
    source, given = filled(device, record, rows if back else picture, 1)
    target, expected = filled(device, record, picture if back else rows, 2)
    getattr(copies, way)(source, target, corner, size)
    for place, at in pairs(case):
        here, there = (at, place) if back else (place, at)
        expected[there] = given[here]
    np.testing.assert_array_equal(target.read(), expected)  # and all else as it was
    np.testing.assert_array_equal(source.read(), given)


def test_state_that_others_have_left_does_not_matter(device, copies):
    """Blending, a mask's depth test and another viewport."""
    import moderngl

    context, record = device.context, RECORDS[1]
    source, given = filled(device, record, (6, 4), 6)
    target, _ = filled(device, record, (6, 4), 7)
    target.framebuffer.viewport = (0, 0, 1, 1)
    context.enable(moderngl.BLEND | moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    context.blend_func = moderngl.ONE, moderngl.ONE
    context.depth_func = "=="
    copies.to_rows(source, target, (0, 0), (6, 4))
    context.disable(moderngl.BLEND | moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    np.testing.assert_array_equal(target.read(), given)
    assert target.framebuffer.viewport == (0, 0, 6, 4)
