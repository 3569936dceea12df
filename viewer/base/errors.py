"""The exception for users: place, fault, remedy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable

# An option as typed, with the next word, which may be its value; not part of a path or file name, nor of a `command`.
_OPTION = re.compile(
    r"`[^`]*`|(?<![\w./\\-])(?P<flag>--[a-z]+(?:-[a-z]+)*)(?![\w./\\-])"
    r"(?: (?P<word>'[^']*'|(?!--|[`'(])\S*[^\s'(),;:.]))?"
)
# How Python writes an option, by its flag: from what follows it, and whether that is its value for certain. The table
# of options fills it; others are the command line's alone.
KEYWORDS: dict[str, Callable[[str, bool], str]] = {}


def keywords(text: str) -> str:
    """A text with its command-line options (``--pixel-filter box``) as Python keywords (``pixel_filter='box'``).
    The command line's own options, and commands in backquotes, stay as typed."""
    return _OPTION.sub(lambda match: _keyword(match["flag"], match["word"] or "", False) or match[0], text)


def _keyword(flag: str | None, following: str, value: bool) -> str:
    """An option in Python; empty for one of the command line alone."""
    return KEYWORDS[flag](following, value) if flag in KEYWORDS else ""


LONGEST_WORD, LONGEST_TEXT = 256, 2000  # characters of what a line of a message repeats
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def brief(text: str) -> str:
    """The text with long words cut, and cut itself where it is long: names and lists of them come from files."""
    text = _LONG_WORD.sub(lambda match: f"{match[0][:LONGEST_WORD]}...", text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ..."


def printable(text: str) -> str:
    """The text with control characters and broken encodings escaped: names come from files, and go to terminals."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def duration(seconds: float) -> str:
    """``8 s``, ``12 min`` or ``3 h 20 min``."""
    minutes = round(seconds / 60)
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class ViewerError(Exception):
    """An error that the user can act on, in one line.

    Options are written as typed, ``--depth 5``: `typed` is the line for the command line, `str` the one for Python,
    with ``depth=5``, see `keywords`.

    Parameters ----------
    where : the file, option or part (``bunny.ply: face 12``).
    what  : the fault.
    hint  : the remedy; may be empty.
    """

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        self.where, self.what, self.hint = str(where), str(what), str(hint)
        super().__init__(where, what, hint)

    @property
    def typed(self) -> str:
        """The line, with options as typed on the command line."""
        return self._line(self.where, self.what, self.hint)

    def __str__(self) -> str:
        flag, _, value = self.where.partition(" ")
        where = _keyword(flag, value.strip(), True) or keywords(self.where)
        return self._line(where, keywords(self.what), keywords(self.hint))

    def _render_traceback_(self) -> list[str]:
        """Shown in a notebook: the line alone."""
        return [f"{type(self).__name__}: {self}"]

    @staticmethod
    def _line(where: str, what: str, hint: str) -> str:
        line = f"{brief(where)}: {brief(what)}" + (f" ({brief(hint)})" if hint else "")
        return printable(" ".join(line.split()))


class ShaderError(ViewerError):
    """A shader that does not assemble or compile; ``log`` is the driver's whole log, mapped to the source files."""

    def __init__(self, where: str, what: str, hint: str = "", log: str = "") -> None:
        super().__init__(where, what, hint)
        self.log = log


class DeviceError(ViewerError):
    """No OpenGL, or one without a required feature."""


class DriverWarning(UserWarning):
    """Resumed samples of another driver: statistics hold, bits do not."""


class ViewerWarning(UserWarning):
    """A note of the command line: an omission in a file, an option without use, a picture that is dark."""


def warn(notes: Iterable[str]) -> None:
    """Warn of each note, with options as Python's keywords, at the line outside of this package that asked."""
    lines = list(notes)
    level = stack_level() if lines else 1
    for note in lines:
        warnings.warn(keywords(note), ViewerWarning, stacklevel=level)


def stack_level() -> int:
    """The ``stacklevel`` of `warnings.warn`, called by the caller of this, for the line outside of this package that
    asked."""
    from inspect import currentframe

    level, frame = 0, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "raystream":
        level, frame = level + 1, frame.f_back
    return level


class WiringError(ViewerError):
    """A record, kernel, module or program that does not fit together; raised before any OpenGL call."""
