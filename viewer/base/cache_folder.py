"""Files in the user's cache folder, each with its checksum: a damaged one is as good as none."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER = "RAYSTREAM_CACHE_DIR"


def folders(name: str) -> list[Path]:
    """Folders of the cache of that name: ``RAYSTREAM_CACHE_DIR``, or the user's cache folder, or if that is not
    writable, as without a home, a private folder among the temporary ones. The last one is written to."""
    if os.environ.get(FOLDER):
        return [Path(os.environ[FOLDER])]
    from platformdirs import user_cache_path

    path = user_cache_path("raystream", appauthor=False) / name
    fallback = None if _writable(path) else _temporary()
    return [path] if fallback is None else [path, fallback]


def _writable(path: Path) -> bool:
    existing = next((candidate for candidate in (path, *path.parents) if os.path.lexists(candidate)), path)
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _temporary() -> Path | None:
    """A temporary folder that no other user can have written machine code to; None without one."""
    if not hasattr(os, "getuid"):
        return None
    import tempfile

    path = Path(tempfile.gettempdir()) / f"raystream-{os.getuid()}"
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        status = path.lstat()
    except OSError:
        return None
    is_private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return path if is_private else None


def find(folders: list[Path], file: str) -> Iterator[tuple[Path, bytes]]:
    """The undamaged files of that name in these folders, each with its content."""
    for folder in folders:
        with suppress(OSError):
            checksum, _, content = (folder / file).read_bytes().partition(b"\n")
            if checksum == hashlib.sha256(content).hexdigest().encode():
                yield folder / file, content


def keep(folders: list[Path], file: str, content: bytes) -> Path | None:
    """Write a file, or replace it, if the folder is writable; its path."""
    import tempfile  # which brings random numbers along

    with suppress(OSError):
        path = folders[-1]
        path.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path, suffix=Path(file).suffix)
        try:
            with open(descriptor, "wb") as opened:
                opened.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
            os.replace(temporary, path / file)  # atomic among concurrent writers
        except OSError:
            os.unlink(temporary)
            raise
        return path / file
    return None
