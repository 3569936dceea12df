"""Reading files that may be hostile: regular files only, references only within the scene file's own folder,
and memory within a budget by the file's size.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from raystream.base.errors import ViewerError
from raystream.formats.text import decoded, other_readings

# An upper limit of this loader's memory.
MAX_FILE_BYTES = 8 << 30

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def check_regular(path: Path, where: str | None = None) -> int:
    """The size of a regular file in bytes; raises ViewerError for a missing file, a folder, a device or a pipe."""
    where = where or str(path)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ViewerError(where, "no such file", "check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise ViewerError(where, f"cannot be opened: {_reason(error)}") from None
    if stat.S_ISDIR(status.st_mode):
        raise ViewerError(where, "is a folder", "name a scene file in it")
    if not stat.S_ISREG(status.st_mode):
        raise ViewerError(where, "is a device, pipe or socket", "scenes are read from regular files")
    return status.st_size


def read_file(path: Path, where: str | None = None, max_bytes: int | None = None) -> bytes:
    """The bytes of a regular file, the first ``max_bytes`` of them where given. Raises ViewerError."""
    size = check_regular(path, where)
    where = where or str(path)
    if max_bytes is None and size > MAX_FILE_BYTES:
        raise ViewerError(
            where, f"{size:,} bytes, more than the {MAX_FILE_BYTES:,} that can be loaded", "split the scene"
        )
    try:
        # Non-blocking, in case the file has become a pipe since.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            return file.read(size if max_bytes is None else min(max_bytes, size))
    except OSError as error:
        raise ViewerError(where, f"cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def short(text: object, max_length: int = 60) -> str:
    """The text for a message: its ``repr``, cut after ``max_length`` characters."""
    try:
        text_ = repr(text)
    except ValueError:  # an integer of more digits than Python prints
        text_ = "a huge number"
    return text_ if len(text_) <= max_length else text_[: max_length - 3] + "..."


def uri_fault(uri: str) -> str:
    """The reason to refuse a reference: a scheme, an absolute path, ``..`` or a backslash, also percent-encoded.

    Returns "" for a plain relative path.
    """
    for text in (uri, unquote(uri, errors="replace")):
        if not text.strip():
            return "is empty"
        if "\0" in text:
            return "holds a zero byte"
        if "\\" in text:
            return "holds a backslash"
        if _SCHEME.match(text):
            return "names a scheme or drive; nothing is fetched from elsewhere"
        if text.startswith("/"):
            return "is an absolute path"
        if ".." in text.split("/"):
            return "climbs out of the scene's folder"
    return ""


def resolve_uri(folder: Path, uri: str, where: str, encoded: bool = True) -> Path:
    """The regular file of a relative reference, inside ``folder`` after resolving symbolic links.

    ``encoded``: the reference is a URI with %XX escapes. Raises ViewerError for everything else; opens nothing.
    """
    fault = uri_fault(uri)
    if fault:
        raise ViewerError(where, f"{short(uri)} {fault}", "only files in the scene file's own folder are read")
    name = unquote(uri, errors="surrogateescape") if encoded else uri
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
    except FileNotFoundError:
        raise ViewerError(where, f"file {short(uri)} not found", "it belongs in the scene file's folder") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: circular links
        raise ViewerError(where, f"file {short(uri)} cannot be opened: {_reason(error)}") from None
    if not path.is_relative_to(root):
        raise ViewerError(
            where, f"{short(uri)} leads out of the scene's folder by a link", "copy the file into the folder"
        )
    check_regular(path, where)
    return path


def decode_data_uri(uri: str, where: str) -> bytes:
    """The bytes of a ``data:`` URI (RFC 2397). Base64 may have blanks, line breaks and percent-encoding, and lack its
    padding (forgiving-base64 decode, WHATWG Infra). Raises ViewerError."""
    header, comma, body = uri.partition(",")
    if not comma:
        raise ViewerError(where, "data URI without a comma", "the file is damaged")
    if not header.lower().endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        digits = (unquote_to_bytes(body) if "%" in body else body.encode("ascii")).translate(None, b"\t\n\f\r ")
        digits = digits.rstrip(b"=")
        return base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ViewerError(where, f"data URI is not valid base64: {error}", "the file is damaged") from None


_BASE_BYTES = 1 << 30
_EMPTY_BYTES = 1 << 20
_BYTES_PER_FILE_BYTE = 16


class Budget:
    """Memory budget of a file: 1 GiB, and 16 times its data. Accessors of glTF without a buffer view have a budget of
    1 MiB and 16 times the data: in real files zeros accompany data."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.remaining, self.empty = _BASE_BYTES, _EMPTY_BYTES

    def grant(self, size: int) -> None:
        """Add bytes of the file to the budget."""
        self.remaining += _BYTES_PER_FILE_BYTE * size
        self.empty += _BYTES_PER_FILE_BYTE * size

    def charge(self, size: int, empty: bool = False) -> None:
        """Charge bytes before their allocation, ``empty`` for those without a buffer view; raises ViewerError beyond
        the budget."""
        self.remaining -= size
        self.empty -= size if empty else 0
        if self.remaining < 0 or self.empty < 0:
            raise ViewerError(
                self.where,
                "expands to far more data than it holds",
                "the same data are used too often, or are damaged",
            )


# -- files as a scene file names them: in another letter case, with folders of its author's machine --------------------

_MAX_ENTRIES = 1 << 16  # of a folder that are compared


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
        for text in dict.fromkeys((*other_readings(name), unquote(name, errors="surrogateescape"))):
            parts = [part for part in text.split("/") if part not in ("", ".") and "\0" not in part]
            for first in range(len(parts)):
                path = _find_loosely(folder, parts[first:])
                if path is not None:
                    check_regular(path, where)
                    return path
        raise error from None


def unquoted(name: str) -> str:
    """The name without quotes around it."""
    text = name.strip()
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'" else name


def _find_loosely(folder: Path, parts: list[str]) -> Path | None:
    """The file at a relative path whose parts may differ in letter case or Unicode form; None without one, or outside
    the folder."""
    if ".." in parts:
        return None
    try:
        root = path = folder.resolve(strict=True)
        for part in parts:
            entry = part if (path / part).exists() else _matching_entry(path, part)
            if entry is None:
                return None
            path = path / entry
        path = path.resolve(strict=True)
        return path if path.is_file() and path.is_relative_to(root) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _matching_entry(folder: Path, name: str) -> str | None:
    """The first entry, by name, of a folder that is alike; not looked for in a huge one."""
    normalized = _normalized_name(name)
    with os.scandir(folder) as entries:
        matches = [
            entry.name
            for entry, _ in zip(entries, range(_MAX_ENTRIES), strict=False)
            if _normalized_name(entry.name) == normalized
        ]
    return min(matches, default=None)


def _normalized_name(name: str) -> str:
    import unicodedata  # which takes time, and most files are named as they are

    return unicodedata.normalize("NFC", decoded(name.encode("utf-8", "surrogateescape"))).casefold()
