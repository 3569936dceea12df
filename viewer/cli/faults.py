"""Exceptions in one line, with the exit code that each ends a command with."""

from __future__ import annotations

from viewer.base.errors import ViewerError

FAULT, USER_ERROR = 1, 2


def explained(error: BaseException) -> tuple[int, str]:
    """Exit code and line for an exception."""
    if isinstance(error, ViewerError):
        return USER_ERROR, error.typed
    if isinstance(error, MemoryError):
        return USER_ERROR, "not enough memory (choose a smaller scene or --size)"
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
        return USER_ERROR, what
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return FAULT, f"{text} (this is a bug in raystream; --debug shows where, `raystream doctor` what the driver does)"
