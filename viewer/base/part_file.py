"""Part files, written beside their target and renamed to it, and clean-up after killed processes.

A part's name follows from its target's, so that the next writer finds it. A writer keeps its part locked: an unlocked
part belongs to a killed process, on whatever machine.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

from raystream.base.errors import ViewerError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

STANDARD_OUTPUT = "-"  # in place of a file's name
MAX_WRITERS = 8  # concurrent writers of one target whose parts are found again


class PartFile:
    """An unfinished file: its ``path``, and the lock that marks its writer alive."""

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path, self._lock = path, lock

    def end(self) -> None:
        """Remove the part unless it was renamed to its target."""
        if self._lock is None:
            self.path.unlink(missing_ok=True)
            return
        lock, self._lock = self._lock, None
        try:
            if _refers_to(self.path, lock):  # another writer may own the name by now
                self.path.unlink(missing_ok=True)
        finally:
            os.close(lock)


def begin(target: Path) -> PartFile:
    """Create the empty part file of a target: in its folder, with the permissions of an ordinary new file. Removes
    parts of dead writers for the same target. To be followed by `PartFile.end`. Raises OSError."""
    if fcntl is None:
        return _create(_name(target, os.urandom(6).hex()))
    part_file: PartFile | None = None
    for index in range(MAX_WRITERS):
        path = _name(target, str(index))
        if os.path.lexists(path):
            _remove_if_dead(path)
        if part_file is None:
            with suppress(FileExistsError):
                part_file = _create(path)
    return part_file or _create(_name(target, os.urandom(6).hex()))


def _name(target: Path, suffix: str) -> Path:
    digest = blake2b(os.fsencode(target.name), digest_size=8).hexdigest()  # the target's name may be of maximal length
    return target.with_name(f".raystream-{digest}-{suffix}.part")


def _create(path: Path) -> PartFile:
    """Create and lock a part file. Raises FileExistsError if it exists, or if another process removes it as a dead
    writer's."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        if fcntl is None:
            raise OSError("no locks here")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return PartFile(path, descriptor)
        error: OSError | None = FileExistsError(str(path))
    except BlockingIOError:
        error = FileExistsError(str(path))
    except OSError:  # a file system without locks cannot tell dead writers
        error = None
    os.close(descriptor)
    if error is not None:
        raise error
    return PartFile(path, None)


def _remove_if_dead(path: Path) -> None:
    """Remove a part file that no process has locked."""
    assert fcntl is not None
    with suppress(OSError):  # another writer's, or removed meanwhile
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _refers_to(path, descriptor):
                path.unlink()
        finally:
            os.close(descriptor)


def _refers_to(path: Path, descriptor: int) -> bool:
    """Whether the path still refers to the open file."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


# -- text files written whole or not at all ----------------------------------------------------------------------------


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
    """Write a text to a part file and rename it to ``path``; on any exception the old file stays. A FIFO or device is
    written to directly. Raises ViewerError as `check_path` does."""
    if is_stream(path):
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
        except OSError as error:
            raise ViewerError(path, f"cannot be written: {error.strerror}") from None
        return
    target = Path(os.path.realpath(path))
    try:
        part = begin(target)
    except OSError as error:
        raise ViewerError(path, f"cannot be written: {error.strerror}") from None
    try:
        part.path.write_text(text + "\n", encoding="utf-8")
        os.replace(part.path, target)
    except OSError as error:
        raise ViewerError(path, f"cannot be written: {error.strerror}") from None
    finally:
        part.end()
