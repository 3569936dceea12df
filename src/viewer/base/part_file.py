"""Files that are written beside their target and then take its name; and what killed processes have left of them.

A part's name follows from its target's, so that the next writer finds it. A writer locks its part for as long as it
has it: one that is not locked is of a process that was killed, whatever machine it ran on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MOST = 8  # writers of one target at the same time whose parts are found again


class Part:
    """An unfinished file: its ``path``, and the lock that says that its writer lives."""

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path, self._lock = path, lock

    def end(self) -> None:
        """It has its target's name, or is of no use: remove what still has its own."""
        if self._lock is None:
            self.path.unlink(missing_ok=True)
            return
        lock, self._lock = self._lock, None
        try:
            if _is(self.path, lock):  # another writer may have the name by now
                self.path.unlink(missing_ok=True)
        finally:
            os.close(lock)


def begin(target: Path) -> Part:
    """Create the empty file that will become the target: in its folder, with the rights of an ordinary new file.

    Removes those for the same target whose writers are dead. To be followed by `Part.end`. Raises OSError.
    """
    if fcntl is None:
        return _create(_name(target, os.urandom(6).hex()))
    made: Part | None = None
    for number in range(MOST):
        path = _name(target, str(number))
        if os.path.lexists(path):
            _remove_if_dead(path)
        if made is None:
            with suppress(FileExistsError):
                made = _create(path)
    return made or _create(_name(target, os.urandom(6).hex()))


def _name(target: Path, which: str) -> Path:
    digest = blake2b(os.fsencode(target.name), digest_size=8).hexdigest()  # the name itself may be as long as may be
    return target.with_name(f".raystream-{digest}-{which}.part")


def _create(path: Path) -> Part:
    """Raises FileExistsError where it is there, or another process that takes it for a dead one's removes it."""
    made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        if fcntl is None:
            raise OSError("no locks here")
        fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(made).st_nlink:
            return Part(path, made)
        error: OSError | None = FileExistsError(str(path))
    except BlockingIOError:
        error = FileExistsError(str(path))
    except OSError:  # a file system without locks, on which nobody can tell dead from alive
        error = None
    os.close(made)
    if error is not None:
        raise error
    return Part(path, None)


def _remove_if_dead(path: Path) -> None:
    assert fcntl is not None
    with suppress(OSError):  # somebody else's, or gone meanwhile
        found = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(path, found):
                path.unlink()
        finally:
            os.close(found)


def _is(path: Path, descriptor: int) -> bool:
    """Whether the path still leads to the open file."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
