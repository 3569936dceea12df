"""Files as a scene file names them: in another letter case, with folders of its author's machine."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from urllib.parse import unquote

from raystream.base.errors import ViewerError
from raystream.formats.files import check_regular, resolve_uri
from raystream.formats.text import decoded, readings

_MOST_ENTRIES = 1 << 16  # of a folder that are compared


def referenced_file(folder: Path, name: str, where: str) -> Path:
    """The regular file that a reference means, inside ``folder`` after resolving symbolic links.

    It is the first that is there of: the path as it stands, its tails from the longest to the bare name (absolute
    paths of another machine), each also in another letter case, Unicode form or encoding, and with %XX resolved.
    Raises ViewerError, that of the path as it stands.
    """
    name = unquoted(name).replace("\\", "/")
    try:
        return resolve_uri(folder, name, where, encoded=False)
    except ViewerError as error:
        for text in dict.fromkeys((*readings(name), unquote(name, errors="surrogateescape"))):
            parts = [part for part in text.split("/") if part not in ("", ".") and "\0" not in part]
            for first in range(len(parts)):
                path = _alike(folder, parts[first:])
                if path is not None:
                    check_regular(path, where)
                    return path
        raise error from None


def unquoted(name: str) -> str:
    """The name without quotes around it."""
    text = name.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else name


def _alike(folder: Path, parts: list[str]) -> Path | None:
    """The file at a relative path whose parts may differ in letter case or Unicode form; None without one, or outside
    the folder."""
    if ".." in parts:
        return None
    try:
        root = path = folder.resolve(strict=True)
        for part in parts:
            entry = part if (path / part).exists() else _entry(path, part)
            if entry is None:
                return None
            path = path / entry
        path = path.resolve(strict=True)
        return path if path.is_file() and path.is_relative_to(root) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _entry(folder: Path, name: str) -> str | None:
    """The first entry, by name, of a folder that is alike; not looked for in a huge one."""
    plain_name = _plain(name)
    with os.scandir(folder) as entries:
        alike = [
            entry.name
            for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)
            if _plain(entry.name) == plain_name
        ]
    return min(alike, default=None)


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", decoded(name.encode("utf-8", "surrogateescape"))).casefold()
