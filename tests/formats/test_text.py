"""Numbers and lines of text, against Python's own reading of them."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from raystream.base.jit import run
from raystream.formats.text import decoded, number, other_readings, with_newlines, without_mark


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
