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

MAX_ECHO_LENGTH = 60  # characters of a wrong value that a message repeats
MAX_TEXT_BYTES = 4096  # bytes of a text in UTF-8; a name is shorter
MAX_NAME_BYTES = 256
MAX_COORDINATE = 1e6  # scene units, of places and sizes


class Refused(Exception):
    """A value that its field does not take. expected : in words. hint : the remedy."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(expected)
        self.expected, self.hint = expected, hint


def by(read: Reader) -> dict[str, Reader]:
    """Metadata of a dataclass field that is a key of the file; ``read`` checks and converts its value."""
    return {"read": read}


def table(kind: type[T], where: str, data: Any) -> T:
    """Convert a TOML table to the dataclass ``kind``. where : the file and the table, for messages. Raises ViewerError
    where ``data`` is no table, for an unknown or missing key, and a wrong value."""
    if not isinstance(data, dict):
        raise ViewerError(where, f"{echo(data)} is no table of keys and values")
    keys = {field.name: field for field in fields(kind) if field.metadata}  # type: ignore[arg-type]
    for key in data:
        if key not in keys:
            hint = suggestion(key[:MAX_ECHO_LENGTH], keys) or f"known: {', '.join(keys)}"
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
    """The value's text for a message, cut to `MAX_ECHO_LENGTH`."""
    text = repr(value[: 2 * MAX_ECHO_LENGTH] if isinstance(value, str | list) else value)
    return text if len(text) <= MAX_ECHO_LENGTH else f"{text[: MAX_ECHO_LENGTH - 4]} ..."


# -- readers -----------------------------------------------------------------------------------------------------------


def number(low: float = -math.inf, high: float = math.inf, above: bool = False) -> Reader:
    """Reads a number from ``low`` to ``high``; above : without ``low`` itself."""
    expected = "a number" + (f" {'above' if above else 'from'} {low:g}" if math.isfinite(low) else "")
    expected += f" to {high:g}" if math.isfinite(high) else ""

    def read(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not abs(value) <= sys.float_info.max:  # a NaN, too, compares False
            raise Refused(expected)
        if not low <= value <= high or (above and value == low):
            raise Refused(expected)
        return float(value)

    return read


def whole(low: int, high: int) -> Reader:
    """Reads a whole number from ``low`` to ``high``."""

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(f"a whole number from {low:,} to {high:,}")
        return value

    return read


def span(element: Reader) -> Reader:
    """Reads a range [low, high], or one value for both, as a pair of values by ``element``."""

    def read(value: Any) -> tuple[Any, Any]:
        pair = value if isinstance(value, list) else [value, value]
        if len(pair) != 2:
            raise Refused("one value, or a range [low, high]")
        low, high = (element(bound) for bound in pair)
        if low > high:
            raise Refused("a range [low, high]", "it is reversed")
        return low, high

    return read


def flag(value: Any) -> bool:
    """Reads true or false."""
    if not isinstance(value, bool):
        raise Refused("true or false")
    return value


def text(max_bytes: int = MAX_TEXT_BYTES) -> Reader:
    """Reads a text that is not empty, of at most ``max_bytes`` in UTF-8, without control characters."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise Refused("a text")
        if (size := len(value.encode("utf-8", "replace"))) > max_bytes:
            raise Refused(f"at most {max_bytes:,} bytes, not {size:,}")
        if not value.isprintable():
            raise Refused("a text without control characters")
        return value

    return read


def word(*words: str) -> Reader:
    """Reads one of some words."""

    def read(value: Any) -> str:
        if value not in words:
            close = suggestion(value[:MAX_ECHO_LENGTH], words) if isinstance(value, str) else ""
            raise Refused(join_words(words), close)
        return str(value)

    return read


def items(element: Reader, min_count: int = 0, max_count: int = 1 << 16) -> Reader:
    """Reads a list, as a tuple of its values by ``element``."""

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not min_count <= len(value) <= max_count:
            upper = f" to {max_count:,}" if max_count > min_count else ""
            raise Refused(f"a list of {min_count:,}{upper} values")
        return tuple(element(item) for item in value)

    return read


def distinct(element: Reader, min_count: int = 0) -> Reader:
    """Reads a list without repetitions, as a tuple."""
    read_items = items(element, min_count)

    def read(value: Any) -> tuple[Any, ...]:
        values = read_items(value)
        if len(set(values)) < len(values):
            raise Refused("each value once")
        return values

    return read


def vector(element: Reader) -> Reader:
    """Reads three numbers."""
    return items(element, 3, 3)


def box(value: Any) -> tuple[Vector, Vector]:
    """Reads a box as its lowest and its highest corner (x, y, z)."""
    low, high = items(vector(number(-MAX_COORDINATE, MAX_COORDINATE)), 2, 2)(value)
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise Refused("two corners [[x, y, z], [x, y, z]]", "the first is to be the lower one along every axis")
    return low, high
