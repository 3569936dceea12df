"""Text files written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from raystream.base import part_file
from raystream.base.errors import ViewerError


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether the path, links resolved, is a FIFO or a character device: written to directly, never replaced."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def check_path(path: str) -> None:
    """Check before any work that a file can be written to ``path``. Raises ViewerError with the reason."""
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise ViewerError(path, "cannot be written: permission denied", "choose another file")
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ViewerError(path, "is a folder", "give a file name")
    if not os.path.isdir(folder):
        raise ViewerError(path, f"there is no folder {folder}", "make it first")
    if not os.access(folder, os.W_OK):
        raise ViewerError(path, "cannot be written: permission denied", "choose another folder")


def write(path: str, text: str) -> None:
    """Write beside the file and rename; on any exception the old one stays. A FIFO or a device is written to directly.

    Raises ViewerError as `check_path` does.
    """
    if is_stream(path):
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        except OSError as error:
            raise ViewerError(path, f"cannot be written: {error.strerror}") from None
        return
    target = Path(os.path.realpath(path))
    try:
        part = part_file.begin(target)
    except OSError as error:
        raise ViewerError(path, f"cannot be written: {error.strerror}") from None
    try:
        part.path.write_text(text + "\n", encoding="utf-8")
        os.replace(part.path, target)
    except OSError as error:
        raise ViewerError(path, f"cannot be written: {error.strerror}") from None
    finally:
        part.end()
