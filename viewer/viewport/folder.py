"""Folders as a choice of files shows them: the files that Raystream opens, and subfolders."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from raystream import formats
from raystream.formats.image.environment_maps import HIGH_RANGE

OPENED = (*formats.suffixes(), *HIGH_RANGE)  # endings of the files that are listed


@dataclass(frozen=True)
class Entry:
    """A name in a folder; a file's size in bytes (0 of a folder); when it was last written, as text in local time."""

    name: str
    is_folder: bool
    size: int
    date: str


@dataclass(frozen=True)
class Folder:
    """A folder, as once read: its folders, then its files, each by name. fault : why it cannot be read, or empty."""

    path: Path
    entries: tuple[Entry, ...] = ()
    fault: str = ""

    def matching(self, text: str) -> list[Entry]:
        """The entries whose names contain a text in any case; hidden ones where it begins as they do, with a dot."""
        substring = text.casefold()
        return [
            entry
            for entry in self.entries
            if substring in entry.name.casefold() and (substring.startswith(".") or not entry.name.startswith("."))
        ]


def read_folder(path: Path) -> Folder:
    """Entries of a folder: folders, scenes, and environments of high dynamic range; other files are left out."""
    entries = []
    try:
        with os.scandir(path) as listing:
            for item in listing:
                with suppress(OSError):  # a link in a circle, or a file that has just been removed
                    is_folder = item.is_dir()
                    if is_folder or (item.name.lower().endswith(OPENED) and item.is_file()):
                        facts = item.stat()
                        size = 0 if is_folder else facts.st_size
                        entries.append(Entry(item.name, is_folder, size, _date(facts.st_mtime)))
    except OSError as error:
        return Folder(path, fault=f"{path}: {error.strerror or error}")
    return Folder(path, tuple(sorted(entries, key=lambda e: (not e.is_folder, e.name.casefold(), e.name))))


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # beyond the years of the platform
        return ""


def start_folder(scene: str, recent: Sequence[str]) -> Path:
    """Where a choice begins: beside the open scene, where that is a file; else beside the last file opened whose folder
    is still there; else in the working folder."""
    files = (scene,) if os.path.isfile(scene) else recent
    folders = (os.path.dirname(os.path.abspath(file)) for file in files)
    return Path(next((folder for folder in folders if os.path.isdir(folder)), os.getcwd()))
