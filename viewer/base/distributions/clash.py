"""Other distributions with a package of our import name, which overwrite each other's files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

NAME, OURS = "viewer", "raystream"
ENTRIES = (b"viewer/__init__.py,", b"viewer.py,")  # as the RECORD of an installed distribution lists its files


def others(folders: Iterable[str] | None = None) -> list[str]:
    """Names and versions, ``"other 1.2"``, of the other distributions in these folders, or in ``sys.path``, that
    contain ``viewer``. Reads each one's list of files, as bytes: some ten milliseconds."""
    found: dict[str, None] = {}
    for folder in dict.fromkeys(sys.path if folders is None else folders):
        for record in Path(folder or ".").glob("*.dist-info/RECORD"):
            name, _, version = record.parent.name.removesuffix(".dist-info").partition("-")
            if name.lower() == OURS:
                continue
            with suppress(OSError):
                data = b"\n" + record.read_bytes()
                if any(b"\n" + entry in data for entry in ENTRIES):
                    found[f"{name} {version}".strip()] = None
    return list(found)


def remark(folders: Iterable[str] | None = None) -> str:
    """A one-line warning about such distributions; empty without any."""
    names = others(folders)
    if not names:
        return ""
    owns = "installs" if len(names) == 1 else "install"
    return f"{' and '.join(names)} {owns} a package '{NAME}', too: give {OURS} an environment of its own"
