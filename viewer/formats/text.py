"""Text files as bytes: their encodings, and numbers and lines in them, scanned by compiled loops."""

from __future__ import annotations

import codecs

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper

# 10^-400 .. 10^400: exact or nearest doubles in between, 0 and infinity beyond.
_POWERS_OF_TEN = np.array([float(f"1e{e}") for e in range(-400, 401)])
_ZERO_POWER = 400

# File size below which loops are not worth compiling.
SMALL = 1 << 14

# Windows-1252 with control characters in the places of its five holes: 256 characters.
_WESTERN = "".join(
    chr(byte) if byte in b"\x81\x8d\x8f\x90\x9d" else bytes((byte,)).decode("cp1252") for byte in range(256)
)
_ENCODINGS = ("cp932", "gb18030", "cp949", "big5", "cp1251", "cp437")
_WIDE_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def without_mark(data: bytes) -> bytes:
    """The text behind a byte order mark, UTF-16 as UTF-8; other bytes unchanged."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    for mark, encoding in _WIDE_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
    return data


def with_newlines(data: bytes) -> bytes:
    """The text with a newline for each line end of any system; byte offsets are unchanged."""
    if b"\r" not in data:
        return data
    return data.replace(b"\r\n", b" \n").replace(b"\r", b"\n")


def decoded(text: bytes) -> str:
    """The text as UTF-8, or if it is not, as Windows-1252, in which different bytes stay different."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(map(_WESTERN.__getitem__, text))


def other_readings(name: str) -> list[str]:
    """The names that a `decoded` one may have been before in other encodings, itself first."""
    names = [name]
    if not name.isascii() and all(character in _WESTERN for character in name):
        raw = bytes(map(_WESTERN.index, name))
        for encoding in _ENCODINGS:
            try:
                names.append(raw.decode(encoding))
            except UnicodeDecodeError:
                continue
    return list(dict.fromkeys(names))


@helper
def is_space(c):
    """Whether the byte is white space, newlines included."""
    return c == 32 or (c >= 9 and c <= 13)


@helper
def skip_blanks(data, at, end):
    """The next byte of the line that is neither blank nor carriage return; stops at the newline."""
    while at < end and is_space(data[at]) and data[at] != 10:
        at += 1
    return at


@helper
def skip_space(data, at, end):
    """The next byte that is not white space, newlines included."""
    while at < end and is_space(data[at]):
        at += 1
    return at


@helper
def skip_word(data, at, end):
    """The end of the word at ``at``."""
    while at < end and not is_space(data[at]):
        at += 1
    return at


@helper
def _sign(data, at, end):
    """(whether there is a minus at ``at``, the byte after a sign)."""
    if at < end and (data[at] == 45 or data[at] == 43):
        return data[at] == 45, at + 1
    return False, at


@helper
def _is_digit(c):
    return c >= 48 and c <= 57


@helper
def _mantissa(data, at, end, mantissa, digits):
    """The digits at ``at`` appended to a mantissa of ``digits`` significant ones: (both, digits passed over because 18
    are full, end)."""
    passed = 0
    while at < end and _is_digit(data[at]):
        if digits < 18:
            mantissa = mantissa * np.uint64(10) + np.uint64(data[at] - 48)
            if mantissa > 0:
                digits += 1
        else:
            passed += 1
        at += 1
    return mantissa, digits, passed, at


@helper
def _letters(data, at, end, word):
    """Number of bytes of the lower-case word matched at ``at`` in any case; 0 unless all."""
    if at + len(word) > end:
        return 0
    for k in range(len(word)):
        if (data[at + k] | 32) != word[k]:
            return 0
    return len(word)


_INF = np.frombuffer(b"inf", np.uint8).copy()
_INITY = np.frombuffer(b"inity", np.uint8).copy()
_NAN = np.frombuffer(b"nan", np.uint8).copy()


@helper
def _microsoft_special(data, at, end):
    """(value, end) of the '#INF', '#IND' or '#QNAN' that Microsoft's library writes behind '1.'."""
    at += 1
    value = np.inf if _letters(data, at, end, _INF) > 0 else np.nan
    while at < end and (((data[at] | 32) >= 97 and (data[at] | 32) <= 122) or _is_digit(data[at])):
        at += 1
    return value, at


@helper
def _skip_parentheses(data, at, end):
    """The end of the '(ind)' or '(snan)' behind a nan; ``at`` without one."""
    after = at
    if after < end and data[after] == 40:
        while after < end and data[after] != 41 and not is_space(data[after]):
            after += 1
        if after < end and data[after] == 41:
            return after + 1
    return at


@helper
def number(data, at, end):
    """(value, end of the number) of the decimal number at ``at``; (0, -1) without one.

    A number ends with its characters; the caller checks the rest. nan and inf in any case are numbers, and so are C
    libraries' other forms of them: nan(ind), 1.#IND, 1.#QNAN, 1.#INF. Up to 15
    digits with exponents within 22 give the nearest double (Clinger 1990); longer ones are within a few units of the
    last place, far below float32's.
    """
    negative, at = _sign(data, at, end)
    start = at
    mantissa, digits, exponent, at = _mantissa(data, at, end, np.uint64(0), 0)
    has_digits = at > start
    if at < end and data[at] == 46:
        start = at + 1
        mantissa, digits, passed, at = _mantissa(data, start, end, mantissa, digits)
        has_digits = has_digits or at > start
        exponent -= at - start - passed
        if has_digits and at == start and at < end and data[at] == 35:
            value, at = _microsoft_special(data, at, end)
            return (-value if negative else value), at
    if not has_digits:
        value = 0.0
        length = _letters(data, at, end, _INF)
        if length > 0:
            length += _letters(data, at + length, end, _INITY)
            value = np.inf
        else:
            length = _letters(data, at, end, _NAN)
            value = np.nan
        if length == 0 or (at > 0 and data[at - 1] == 46):
            return 0.0, -1
        return (-value if negative else value), _skip_parentheses(data, at + length, end)
    if at < end and (data[at] | 32) == 101:  # e
        minus, exponent_end = _sign(data, at + 1, end)
        power = 0
        start = exponent_end
        while exponent_end < end and _is_digit(data[exponent_end]):
            power = min(power * 10 + np.int64(data[exponent_end] - 48), 1000000)  # type: ignore[assignment]
            exponent_end += 1
        if exponent_end > start:
            exponent += -power if minus else power
            at = exponent_end
    value = np.float64(mantissa)
    if mantissa > 0 and exponent != 0:
        if exponent >= -22 and exponent < 0:
            value /= _POWERS_OF_TEN[_ZERO_POWER - exponent]
        else:
            # In two steps, where the power alone would overflow a double.
            step = min(max(exponent, -300), 300)
            remainder = min(max(exponent - step, -400), 400)
            value = value * _POWERS_OF_TEN[_ZERO_POWER + step] * _POWERS_OF_TEN[_ZERO_POWER + remainder]
    return (-value if negative else value), at


@helper
def integer(data, at, end):
    """(value, end) of the integer at ``at``, at most 18 digits; (0, -1) without one."""
    negative, at = _sign(data, at, end)
    value = 0
    first = at
    while at < end and _is_digit(data[at]):
        value = value * 10 + np.int64(data[at] - 48)  # type: ignore[assignment]
        at += 1
        if at - first > 18:
            return 0, -1
    if at == first:
        return 0, -1
    return (-value if negative else value), at


@helper
def at_word_end(data, at, end):
    """Whether white space or the file's end follows."""
    return at >= end or is_space(data[at])


@helper
def _rest_of_line(data, at, end):
    """(1 where more than blanks follows in the line, its end)."""
    at = skip_blanks(data, at, end)
    if at >= end or data[at] == 10:
        return 0, at
    while at < end and data[at] != 10:
        at += 1
    return 1, at


def table(data, at, values, by_lines):
    """White-space separated numbers into values (rows, columns) float64: the end, the bad row or -1, and the count of
    rows behind which their line goes on, passed over if ``by_lines``."""
    end = len(data)
    longer = 0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            at = skip_space(data, at, end)
            value, after = number(data, at, end)
            if after < 0 or not at_word_end(data, after, end):
                return at, row, longer
            values[row, column] = value
            at = after
        if by_lines:
            more, at = _rest_of_line(data, at, end)
            longer += more
    return at, -1, longer


DONE, BAD_ROW, ARRAY_FULL = range(3)


def lists(data, at, row, kinds, chosen, lengths, values, filled, by_lines, longer):
    """Rows of numbers with lists among them, from a given row on.

    kinds (P,) bool: list properties; chosen: the property to keep. Written: lengths (rows,) int64; values float64,
    concatenated, ``filled`` of them. by_lines, longer : as in `table`. Returns (filled, end, row, DONE, BAD for a bad
    row, or FULL where values has no room for this one: continue with a longer array, longer).
    """
    end = len(data)
    while row < len(lengths):
        start, filled_before = at, filled
        for p in range(len(kinds)):
            count = 1
            if kinds[p]:
                at = skip_space(data, at, end)
                count, after = integer(data, at, end)
                if after < 0 or count < 0 or not at_word_end(data, after, end):
                    return filled, at, row, BAD_ROW, longer
                at = after
            if p == chosen:
                lengths[row] = count
            for _ in range(count):
                at = skip_space(data, at, end)
                value, after = number(data, at, end)
                if after < 0 or not at_word_end(data, after, end):
                    return filled, at, row, BAD_ROW, longer
                at = after
                if p == chosen:
                    if filled == len(values):
                        return filled_before, start, row, ARRAY_FULL, longer
                    values[filled] = value
                    filled += 1
        if by_lines:
            more, at = _rest_of_line(data, at, end)
            longer += more
        row += 1
    return filled, at, row, DONE, longer


def doubled(rows: NDArray) -> NDArray:
    """The array with room for twice as many rows."""
    longer = np.empty((2 * len(rows), *rows.shape[1:]), rows.dtype)
    longer[: len(rows)] = rows
    return longer
