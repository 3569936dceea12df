"""The exception for users: place, fault, remedy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

# An option as typed, with or without a value; not part of a path or file name.
_OPTION = re.compile(r"(?<![\w./\\-])--([a-z]+(?:-[a-z]+)*)(?![\w./\\-])")


def keywords(text: str) -> str:
    """A text with its command-line options (``--pixel-filter``) as Python keywords (``pixel_filter``)."""
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


def printable(text: str) -> str:
    """The text with control characters and broken encodings escaped: names come from files, and go to terminals."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class ViewerError(Exception):
    """An error that the user can act on, in one line.

    Options are written as typed, ``--depth 5``: `typed` is the line for the command line, `str` the one for Python,
    with ``depth=5``.

    Parameters
    ----------
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
        return self._line(self.where)

    def __str__(self) -> str:
        option = _OPTION.match(self.where)
        value = self.where[option.end() :].strip() if option else ""
        return keywords(self._line(f"{self.where[: option.end()]}={value}" if option and value else self.where))

    def _render_traceback_(self) -> list[str]:
        """Shown in a notebook: the line alone."""
        return [f"{type(self).__name__}: {self}"]

    def _line(self, where: str) -> str:
        line = f"{where}: {self.what}" + (f" ({self.hint})" if self.hint else "")
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
    """What the command line tells as a note: an omission in a file, an option without use, a picture that is dark."""


def warn(notes: Iterable[str]) -> None:
    """Warn of each note, with options as Python's keywords, at the line outside of this package that asked."""
    lines = list(notes)
    if not lines:
        return
    from inspect import currentframe

    level, frame = 1, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("viewer", "raystream"):
        level, frame = level + 1, frame.f_back
    for note in lines:
        warnings.warn(keywords(note), ViewerWarning, stacklevel=level)


class WiringError(ViewerError):
    """A record, kernel, module or program that does not fit together; raised before any OpenGL call."""
