"""Integers that are held as floats: ``lib/int_of.glsl`` at both ends of its range and beside them, the fields that may
use it, and the row numbers of tables beyond it."""

from __future__ import annotations

import glsl_call
import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.stream.compile.link import SMALL_TABLES, LinkedProgram
from raystream.stream.compile.memories import layout
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import LARGEST_INTEGER, ROWS, SMALL, Field, Record
from raystream.stream.gl.resources import Resources
from raystream.stream.selftest import machines

ROW = Record("Row", Field("next", "int", within=ROWS))


def edges(most: int) -> np.ndarray:
    """(N,) both ends of a range and the integers beside them, 0, powers of two and those beside, and 1,000 others."""
    powers = 2 ** np.arange(int(most).bit_length())
    near = np.concatenate([[0, most, most - 1, most - 2], powers, powers - 1, powers[1:] + 1])
    both = np.concatenate([near, -near, np.random.default_rng(5).integers(-most, most + 1, 1000)])
    return both[np.abs(both) <= most]


@pytest.mark.parametrize(
    ("function", "features", "most"),
    [
        ("int_of", (), SMALL),
        ("int_of", ("GPU_FORM",), LARGEST_INTEGER),
        ("row_of", (SMALL_TABLES,), SMALL),
        ("row_of", (), LARGEST_INTEGER),
    ],
)
def test_every_integer_of_the_range_is_exact(device, function, features, most):
    module = Module("features", (), "lib/int_of.glsl", features=frozenset(features))
    text = f"""float twice_of(float x) {{
    ivec2 two = {function}(vec2(x, -x));
    ivec3 three = {function}(vec3(x, -x, x));
    ivec4 four = {function}(vec4(-x, x, -x, x));
    bool same = two.y == -two.x && three == two.xyx && four == two.yxyx;
    return same ? float({function}(x)) : 0.5;
}}"""
    convert = glsl_call.Function(device, "float twice_of(float x)", [], [module], text=text)
    values = edges(most)
    (result,) = convert(values.astype(np.float32))
    np.testing.assert_array_equal(result, values)


def test_beyond_its_range_the_bits_are_another_integer(device):
    """Why fields declare their range: the first number beyond is rounded to the next but one."""
    convert = glsl_call.Function(device, "int int_of(float x)", ["lib/int_of.glsl"])
    beyond = np.array([SMALL + 1, -SMALL - 3], np.float32)
    (result,) = convert(beyond)
    assert (result != beyond).all()


@pytest.mark.parametrize(
    ("within", "function"), [(ROWS, "row_of"), (SMALL, "int_of"), (100, "int_of"), (SMALL + 1, "int")]
)
def test_a_field_is_converted_by_its_range(within, function):
    record = Record("Numbers", Field("number", "int", within=within))
    assert f"r.number = {function}(t0.x);" in record.glsl_unpack()


def test_integers_beyond_the_range_of_their_field_are_refused():
    record = Record("Numbers", Field("number", "int", within=100))
    values = np.zeros(3, record.dtype)
    values["number"] = 100, -100, 0
    np.testing.assert_array_equal(record.unpack(record.pack(values))["number"], values["number"])
    values["number"][1] = -101
    with pytest.raises(ViewerError, match="integer -101 is beyond 100"):
        record.pack(values)


class Rows:
    """Rows of a table of which nothing but their number is looked at."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count


@pytest.mark.parametrize(("count", "small"), [(SMALL, True), (SMALL + 1, False)])
def test_row_numbers_of_large_tables_are_converted_whole(count, small):
    module = Module("weights", ("weight_of",), "", (Table("weights", ROW, Rows(count)),))
    assert (SMALL_TABLES in LinkedProgram(machines.PROGRAM, [module]).features) == small
    assert layout(16384, module.memories[0], 1 << 27).large != small


def test_a_table_that_outgrows_the_range_needs_another_program(device):
    few, many = (Table("rows", ROW, np.zeros(count, ROW.dtype)) for count in (SMALL, SMALL + 1))
    with device.current():
        resources = Resources(device)
        assert not resources.exchangeable(few, many) and resources.exchangeable(
            few, Table("rows", ROW, few.data.copy())
        )


def test_a_large_table_is_read_right_to_its_last_row(device):
    """A chain of rows, from the last one on, whose numbers are odd beyond 2^22."""
    count = SMALL + 1002
    data = np.zeros(count, ROW.dtype)
    data["next"] = count - 1 - np.arange(count)
    module = Module("rows", ("next_row",), "lib/int_of.glsl", (Table("rows", ROW, data),))
    follow = glsl_call.Function(
        device, "int next_row(int row)", [], [module], text="int next_row(int row) { return fetch_rows(row).next; }"
    )
    rows = np.arange(1000)
    (result,) = follow(rows)
    np.testing.assert_array_equal(result, count - 1 - rows)
