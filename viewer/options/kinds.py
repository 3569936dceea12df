"""Common kinds of values of options, each in place of a whole `Value`."""

from __future__ import annotations

from typing import Literal

from raystream.options import values
from raystream.options.declare import Value

SWITCH = Value(values.read_switch, False)
ON_OFF = Value(values.read_on_off, True, "on|off", choices=("on", "off"))


def choice(*words: str, metavar: str = "NAME") -> Value:
    """One of these words; the first is the default."""
    return Value(values.read_word, words[0], metavar, choices=words)


def optional_choice(*words: str) -> Value:
    """One of these words, or none."""
    return Value(values.read_optional_word, None, "NAME", choices=words)


def integer(
    low: int, high: int, default: int | Literal["auto"] | None = None, metavar: str = "N", note: str = ""
) -> Value:
    """A whole number; None: or none; ``auto``: or that. note : follows the range in words."""
    expected = "a whole number from {low} to {high}" + note
    if default == "auto":
        return Value(values.read_integer_or_auto, default, f"{metavar}|auto", f"auto or {expected}", low, high)
    read = values.read_optional_integer if default is None else values.read_integer
    return Value(read, default, metavar, expected, low, high)


def number(
    metavar: str, low: float, high: float, default: float | None = None, unit: str = "", note: str = ""
) -> Value:
    """A number, ends of the range included; None: or none. unit : in words. note : follows the range in words."""
    expected = f"a number{f' of {unit}' if unit else ''} from {{low:g}} to {{high:g}}{note}"
    read = values.read_optional_closed_real if default is None else values.read_real
    return Value(read, default, metavar, expected, low, high)


def file(metavar: str, expected: str = "", default: str | None = None) -> Value:
    """A file's name, or none."""
    return Value(values.read_file, default, metavar, expected)
