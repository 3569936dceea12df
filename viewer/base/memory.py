"""Memory: how much is available to this process, the return of free memory to the system, and memory by pages."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_READ_AND_WRITE, _PRIVATE_ANONYMOUS, _MAY_MOVE = 0x3, 0x22, 0x1  # of mmap and mremap
MIN_FROZEN_OBJECTS = 100_000  # from which on new objects are excluded from the next collection, which would take 15 ms
_UNLIMITED = 1 << 60  # about the value of control groups without a limit


def available(root: Path = Path("/")) -> int | None:
    """Bytes available without swapping; None if the system does not report it. root : root folder of Linux's ``proc``
    and ``sys``."""
    if sys.platform == "win32":
        return _available_on_windows()
    limits = [*_machine_limits(root), *_control_group_limits(root), *_address_space_limits()]
    return max(0, min(limits)) if limits else None


def give_back() -> None:
    """Return the free pages of the C library's heap to the system. glibc returns those at a heap's end alone; the
    others, of large arrays and of drivers' compilers, would stay with the process. Takes about 5 ms for 100 MiB; other
    C libraries have no such call."""
    if sys.platform.startswith("linux"):
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


@contextmanager
def uncollected() -> Iterator[None]:
    """A context without garbage collection, for code that makes objects by the hundred thousand, all of which stay.
    Where they are very many, they are made old at once, and frozen ones with them, so that the next collections of
    young objects skip them."""
    was_enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > MIN_FROZEN_OBJECTS:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Pages:
    """Zeroed memory from Linux, which allocates each page when it is first written; freed by `release`, or with the
    object.

    size : bytes. address : of the first. Raises MemoryError.
    """

    def __init__(self, size: int) -> None:
        self._library = ctypes.CDLL(None)
        self.size = size
        self.address = self._mapped("mmap", None, size, _READ_AND_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        self._free = self._finalizer()

    def _finalizer(self) -> weakref.finalize:
        free = weakref.finalize(
            self, self._library["munmap"], ctypes.c_void_p(self.address), ctypes.c_size_t(self.size)
        )
        free.atexit = False
        return free

    def _mapped(self, name: str, *arguments: int | None) -> int:
        """The address that a function of the C library returns. Raises MemoryError."""
        function = self._library[name]  # each `CDLL` has its own: its types are not shared
        function.restype = ctypes.c_void_p
        address = function(*(None if argument is None else ctypes.c_size_t(argument) for argument in arguments))
        if address is None or address == ctypes.c_void_p(-1).value:
            raise MemoryError
        return int(address)

    def grow(self, size: int) -> None:
        """Grow to ``size`` bytes, with the same content, perhaps at another address; the old one is invalid then."""
        self.address, self.size = self._mapped("mremap", self.address, self.size, size, _MAY_MOVE), size
        self._free.detach()
        self._free = self._finalizer()

    def release(self) -> None:
        """Free the memory; further calls have no effect."""
        self._free()


def _machine_limits(root: Path) -> Iterator[int]:
    """Free memory and reclaimable caches; all memory where these are not reported."""
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
            return
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return


def _control_group_limits(root: Path) -> Iterator[int]:
    """Memory left by the limits of this process's control groups and their ancestors, versions 2 and 1."""
    for line in _lines(root / "proc/self/cgroup"):
        controllers, path = line.split(":", 2)[1:]
        if controllers == "":
            base, limit, used, idle = "", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            base, limit, used = "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            idle = "total_inactive_file"
        else:
            continue
        top = root / "sys/fs/cgroup" / base
        group = top / path.strip("/")
        for folder in (group, *group.parents):
            limit_bytes, current = _number(folder / limit), _number(folder / used)
            if limit_bytes is not None and current is not None and limit_bytes < _UNLIMITED:
                stat = dict(entry.split()[:2] for entry in _lines(folder / "memory.stat"))
                yield limit_bytes - current + int(stat.get(idle, 0))  # cached files make room
            if folder == top:
                break


def _address_space_limits() -> Iterator[int]:
    """Memory left by ``ulimit -v``."""
    import resource

    limit_bytes = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = next(iter(_lines(Path("/proc/self/statm"))), "").split()
    if limit_bytes != resource.RLIM_INFINITY and pages:
        yield limit_bytes - int(pages[0]) * resource.getpagesize()


def _available_on_windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):  # MEMORYSTATUSEX
        _fields_ = [  # as ctypes wants it
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            *((name, ctypes.c_uint64) for name in ("total", "free", "total_page", "free_page")),
            *((name, ctypes.c_uint64) for name in ("total_virtual", "free_virtual", "free_extended")),
        ]

    status = Status(length=ctypes.sizeof(Status))
    succeeded = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return int(status.free) if succeeded else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else None
