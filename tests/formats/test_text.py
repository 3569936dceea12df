"""Numbers and lines of text, against Python's own reading of them."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from raystream.base.jit import run
from raystream.formats import text as reading
from raystream.formats.text import decoded, integer, number, other_readings, table, with_newlines, without_mark


def parse(text: str, small: bool = True) -> tuple[float, int]:
    data = np.frombuffer(text.encode(), np.uint8)
    return run(_number_once, data, small=small)


def _number_once(data):
    return number(data, 0, len(data))


@given(st.floats(width=32, allow_nan=False))
@settings(max_examples=300, deadline=None)
@example(1e-45)
@example(3.4028234663852886e38)
def test_float32_survives_text(value):
    """Nine digits tell every float32 apart, and they come back to the bit."""
    for text in (f"{value:.9g}", repr(value), f"{value:.8e}"):
        found, end = parse(text)
        assert end == len(text)
        assert struct.pack("f", np.float32(found)) == struct.pack("f", value)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300, deadline=None)
@example(5e-324)
@example(1.7976931348623157e308)
def test_float64_is_near(value):
    found, _ = parse(repr(value))
    # 18 digits are cut, and up to two products rounded
    assert found == pytest.approx(value, rel=4e-15, abs=1e-322)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("+1.", 1),
        ("-.5", -0.5),
        ("1e3", 1000),
        ("1E+03", 1000),
        ("0x1", 0),
        ("00012", 12),
        ("1e99999", math.inf),
    ]
    + [("1e-99999", 0), ("-inf", -math.inf), ("Infinity", math.inf), ("0e999", 0), ("1" * 400, math.inf)]
    + [("0." + "0" * 400 + "1", 0), ("9007199254740993", 9007199254740992), ("5e", 5), ("1e+", 1)],
)
def test_special_cases(text, value):
    assert parse(text)[0] == value
    assert parse(text, small=False)[0] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5000000000000000000000000", 0.5),
        ("0.00000000000000000025", 2.5e-19),
        ("12.50000000000000000000", 12.5),
        ("12500000000000000000000", 1.25e22),
        ("12500000000000000000000.0", 1.25e22),
        ("1250000000000000000000.0000e-20", 12.5),
        ("1.25000000000000000000000e2", 125.0),
        ("-0.12500000000000000000000E+1", -1.25),
        ("000000000000000000000.5", 0.5),
    ],
)
def test_digits_beyond_the_eighteenth_count_as_places(text, value):
    """Before and behind the point, with an exponent, too; zeros before the first of another value are none of them."""
    assert parse(text) == (value, len(text))


def test_nan():
    assert math.isnan(parse("nan")[0])
    assert math.isnan(parse("-NaN")[0])


@pytest.mark.parametrize("text", ["", "-", ".", "+.", "e5", "x", "-.e1", ".nan", ".inf", "#1"])
def test_what_is_no_number(text):
    assert parse(text)[1] == -1


def test_integers():
    def whole(text: str):
        return integer(np.frombuffer(text.encode(), np.uint8), 0, len(text))

    assert whole("-12/") == (-12, 3)
    assert whole("123456789012345678")[0] == 123456789012345678
    for text in ("", "-", "x", "1234567890123456789"):
        assert whole(text)[1] == -1


@pytest.mark.parametrize("small", [True, False], ids=["plain", "compiled"])
def test_table_says_which_row_is_wrong(small):
    good = np.frombuffer(b" 1 2\r\n3\t4\n5 6", np.uint8)
    values = np.empty((3, 2))
    for by_lines in (False, True):
        values[:] = 0
        assert run(table, good, 0, values, by_lines, small=small) == (len(good), -1, 0)
        assert values.tolist() == [[1, 2], [3, 4], [5, 6]]
    for text in (b"1 2 3 x 5 6", b"1 2 3", b"1 2 3 4x 5 6"):
        assert run(table, np.frombuffer(text, np.uint8), 0, values, False, small=small)[1] == 1
    longer = np.frombuffer(b"1 2 9\n3\n4 8 x\n5 6", np.uint8)
    assert run(table, longer, 0, values, True, small=small) == (len(longer), -1, 2)
    assert values.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    "text", ["nan", "-nan", "nan(ind)", "-nan(snan)", "-1.#IND", "1.#QNAN", "1.#IND00", "1.#J", "NaN"]
)
def test_forms_of_no_number(text):
    value, end = parse(text)
    assert math.isnan(value) and end == len(text)


@pytest.mark.parametrize(("text", "value"), [("1.#INF", math.inf), ("-1.#INF00", -math.inf)])
def test_forms_of_infinity(text, value):
    assert parse(text) == (value, len(text))


def test_readings_of_names():
    """Different bytes stay different; the other encodings are there to look for files."""
    assert decoded("Wände".encode()) == decoded("Wände".encode("latin-1")) == "Wände"
    red, blue = (decoded(word.encode("cp932")) for word in ("赤", "青"))
    assert red != blue and "赤" in other_readings(red) and other_readings("Wande") == ["Wande"]
    assert "стена" in other_readings(decoded("стена".encode("cp1251")))


def test_marks_and_line_ends():
    for mark, encoding in (("\ufeff", "utf-8"), ("\ufeff", "utf-16-le"), ("\ufeff", "utf-16-be"), ("", "utf-8")):
        assert without_mark((mark + "v ä").encode(encoding)) == "v ä".encode()
    assert with_newlines(b"a\rb\r\nc\nd") == b"a\nb \nc\nd"


def _bytes(words: str) -> np.ndarray:
    return np.frombuffer(words.encode(), np.uint8)


@pytest.mark.parametrize(
    ("function", "words", "expected"),
    [
        (reading.skip_blanks, " \t\r\v\fx", 5),
        (reading.skip_blanks, "  \nx", 2),
        (reading.skip_blanks, "   ", 3),
        (reading.skip_space, " \n\r\tx", 4),
        (reading.skip_space, " \n", 2),
        (reading.skip_word, "ab cd", 2),
        (reading.skip_word, "ab\ncd", 2),
        (reading.skip_word, "abcd", 4),
        (reading.skip_word, "\x0eb\x1f", 3),
    ],
)
def test_passing_over(function, words: str, expected: int) -> None:
    assert function(_bytes(words), 0, len(words)) == expected


@pytest.mark.parametrize(
    ("byte", "space"), [(8, False), (9, True), (13, True), (14, False), (31, False), (32, True), (33, False)]
)
def test_white_space(byte: int, space: bool) -> None:
    assert reading.is_space(byte) == space and reading.at_word_end(np.uint8([byte]), 0, 1) == space
    assert reading.at_word_end(np.uint8([byte]), 1, 1)


@pytest.mark.parametrize("exponent", [*range(-24, 24), 37, -37, -45])
def test_every_power_of_ten(exponent: int) -> None:
    for digits in ("1", "-7", "123456789012345", "9.75", "+0.625"):
        words = f"{digits}e{exponent}"
        value, end = reading.number(_bytes(words), 0, len(words))
        assert end == len(words) and value == pytest.approx(float(words), rel=4e-16)
        if abs(exponent) <= 7:
            assert value == float(words)


@pytest.mark.parametrize("small", [True, False], ids=["plain", "compiled"])
def test_numbers_and_lists_of_rows(small: bool) -> None:
    """Properties in any order; the room ends at a row's first number, its last one, or nowhere."""
    data = _bytes("7 2 10 11 8\n5 0 6\n4 1 12 3\n")
    kinds = np.array([False, True, False])
    for wanted, counts, kept in ((0, [1, 1, 1], [7, 5, 4]), (1, [2, 0, 1], [10, 11, 12]), (2, [1, 1, 1], [8, 6, 3])):
        lengths, values = np.zeros(3, np.int64), np.zeros(3)
        found = run(reading.lists, data, 0, 0, kinds, wanted, lengths, values, 0, False, 0, small=small)
        assert found == (3, len(data) - 1, 3, reading.DONE, 0)
        assert lengths.tolist() == counts and values.tolist() == kept
        for room in range(3):
            values = np.zeros(room)
            filled, at, row, state, _ = run(
                reading.lists, data, 0, 0, kinds, wanted, lengths, values, 0, False, 0, small=small
            )
            first = next(k for k in range(3) if sum(counts[: k + 1]) > room)
            assert (filled, row, state) == (sum(counts[:first]), first, reading.ARRAY_FULL)
            assert at == (0, 11, 17)[first] and values[:filled].tolist() == kept[:filled]
    lengths, values = np.zeros(3, np.int64), np.zeros(9)
    for words, row in (
        ("7 x 1", 0),
        ("7 -1 1", 0),
        ("7 1.5 1 1", 0),
        ("7 0 1 7 2 1 1", 1),
        ("7 0 1x", 0),
        ("7 1 2", 0),
    ):
        found = run(reading.lists, _bytes(words), 0, 0, kinds, 1, lengths, values, 0, False, 0, small=small)
        assert found[2:] == (row, reading.BAD_ROW, 0)
    rows = reading.doubled(np.arange(6).reshape(3, 2))
    assert rows.shape == (6, 2) and rows[:3].tolist() == [[0, 1], [2, 3], [4, 5]]
