"""Tables of TOML as frozen dataclasses: every field declares how its value is read; other keys are refused."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from raystream.base.errors import ViewerError
from raystream.options.declare import join_words, suggestion

Reader = Callable[[Any], Any]
Span = tuple[float, float]
Vector = tuple[float, float, float]
T = TypeVar("T")

LONGEST_ECHO = 60  # characters of a wrong value that a message repeats
LONGEST_TEXT = 4096  # bytes of a text in UTF-8; a name is shorter
LONGEST_NAME = 256
LARGEST = 1e6  # scene units, of places and sizes


class Refused(Exception):
    """A value that its field does not take. expected : in words. hint : the remedy."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(expected)
        self.expected, self.hint = expected, hint


def by(read: Reader) -> dict[str, Reader]:
    """The metadata of a field that has a key in the file, by the reader of its value."""
    return {"read": read}


def table(kind: type[T], where: str, data: Any) -> T:
    """A table as its dataclass. where : the file and the table, for messages.

    Raises ViewerError where there is no table, for an unknown or missing key, and a wrong value.
    """
    if not isinstance(data, dict):
        raise ViewerError(where, f"{echo(data)} is no table of keys and values")
    keys = {field.name: field for field in fields(kind) if field.metadata}  # type: ignore[arg-type]
    for key in data:
        if key not in keys:
            hint = suggestion(key[:LONGEST_ECHO], keys) or f"known: {', '.join(keys)}"
            raise ViewerError(where, f"unknown key {echo(key)}", hint)
    for name, field in keys.items():
        if name not in data and field.default is field.default_factory is MISSING:
            raise ViewerError(where, f"the key '{name}' is missing")
    values = {name: _read(keys[name].metadata["read"], f"{where}: {name}", value) for name, value in data.items()}
    return kind(**values)


def _read(read: Reader, where: str, value: Any) -> Any:
    try:
        return read(value)
    except Refused as error:
        raise ViewerError(where, f"{echo(value)}; expected {error.expected}", error.hint) from None


def echo(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value[: 2 * LONGEST_ECHO] if isinstance(value, str | list) else value)
    return text if len(text) <= LONGEST_ECHO else f"{text[: LONGEST_ECHO - 4]} ..."


# -- readers -----------------------------------------------------------------------------------------------------------


def number(low: float = -math.inf, high: float = math.inf, above: bool = False) -> Reader:
    """A number from ``low`` to ``high``; above : without ``low`` itself."""
    expected = "a number" + (f" {'above' if above else 'from'} {low:g}" if math.isfinite(low) else "")
    expected += f" to {high:g}" if math.isfinite(high) else ""

    def read(value: Any) -> float:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not abs(value) <= sys.float_info.max or not low <= value <= high or (above and value == low):
            raise Refused(expected)
        return float(value)

    return read


def whole(low: int, high: int) -> Reader:
    """A whole number."""

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(f"a whole number from {low:,} to {high:,}")
        return value

    return read


def span(element: Reader) -> Reader:
    """A range [low, high], or one value for both."""

    def read(value: Any) -> tuple[Any, Any]:
        pair = value if isinstance(value, list) else [value, value]
        if len(pair) != 2:
            raise Refused("one value, or a range [low, high]")
        low, high = (element(part) for part in pair)
        if low > high:
            raise Refused("a range [low, high]", "it is reversed")
        return low, high

    return read


def flag(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise Refused("true or false")
    return value


def text(most: int = LONGEST_TEXT) -> Reader:
    """A text that is not empty, of a limited number of bytes, without control characters."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise Refused("a text")
        if (size := len(value.encode("utf-8", "replace"))) > most:
            raise Refused(f"at most {most:,} bytes, not {size:,}")
        if not value.isprintable():
            raise Refused("a text without control characters")
        return value

    return read


def word(*words: str) -> Reader:
    """One of some words."""

    def read(value: Any) -> str:
        if value not in words:
            close = suggestion(value[:LONGEST_ECHO], words) if isinstance(value, str) else ""
            raise Refused(join_words(words), close)
        return str(value)

    return read


def items(element: Reader, least: int = 0, most: int = 1 << 16) -> Reader:
    """A list, as a tuple."""

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise Refused(f"a list of {least:,}{f' to {most:,}' if most > least else ''} values")
        return tuple(element(part) for part in value)

    return read


def distinct(element: Reader, least: int = 0) -> Reader:
    """A list without repetitions, as a tuple."""
    several = items(element, least)

    def read(value: Any) -> tuple[Any, ...]:
        values = several(value)
        if len(set(values)) < len(values):
            raise Refused("each value once")
        return values

    return read


def vector(element: Reader) -> Reader:
    """Three numbers."""
    return items(element, 3, 3)


def box(value: Any) -> tuple[Vector, Vector]:
    """The lowest and the highest corner of a box."""
    low, high = items(vector(number(-LARGEST, LARGEST)), 2, 2)(value)
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise Refused("two corners [[x, y, z], [x, y, z]]", "the first is to be the lower one along every axis")
    return low, high
