"""Text files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.base import part_file
from viewer.base.errors import ViewerError


def check_path(path: str) -> None:
    """Find out before any work whether a file can be written there. Raises ViewerError that says why not."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ViewerError(path, "is a folder", "give a file name")
    if not os.path.isdir(folder):
        raise ViewerError(path, f"there is no folder {folder}", "make it first")
    if not os.access(folder, os.W_OK):
        raise ViewerError(path, "cannot be written: permission denied", "choose another folder")


def write(path: str, text: str) -> None:
    """Write beside the file and rename; on any exception the old one stays. Raises ViewerError as `check_path` does."""
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
