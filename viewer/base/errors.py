"""The one exception that reaches a user: where, what is wrong, and what to do."""

from __future__ import annotations


class ViewerError(Exception):
    """A fault that the user can act on, told in one line.

    Parameters
    ----------
    where : the file, option or part that is at fault (``bunny.ply: face 12``).
    what  : what is wrong with it.
    hint  : what to do about it; may be empty.
    """

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        self.where, self.what, self.hint = str(where), str(what), str(hint)
        super().__init__(where, what, hint)

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}"
        if self.hint:
            line += f" ({self.hint})"
        line = " ".join(line.split())
        if line.isprintable():
            return line
        # Names come from files, and the line goes to terminals: control characters and broken encodings are escaped.
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class ShaderError(ViewerError):
    """A shader that does not assemble or compile; ``log`` is the driver's whole text, mapped to the source files."""

    def __init__(self, where: str, what: str, hint: str = "", log: str = "") -> None:
        super().__init__(where, what, hint)
        self.log = log


class DeviceError(ViewerError):
    """No OpenGL, or one that lacks what a program needs."""


class WiringError(ViewerError):
    """A record, kernel, module or program that does not fit together; found before any OpenGL call."""
