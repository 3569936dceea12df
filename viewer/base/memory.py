"""Available memory of this process (of the machine, of its control groups, and by its own limit), its return, and pages
of it that others may use."""

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
MANY = 100_000  # objects that a search for garbage takes about 15 ms to go through
_UNLIMITED = 1 << 60  # about the value of control groups without a limit


def available(root: Path = Path("/")) -> int | None:
    """Bytes available without swapping; None if the system does not report it.

    root : root folder of Linux's ``proc`` and ``sys``.
    """
    if sys.platform == "win32":
        return _windows()
    limits = [*_machine(root), *_groups(root), *_address_space()]
    return max(0, min(limits)) if limits else None


def give_back() -> None:
    """Return the free pages of the C library's heap to the system.

    glibc returns those at a heap's end alone; the others, of large arrays and of drivers' compilers, would stay with
    the process. Takes about 5 ms for 100 MiB; other C libraries have no such call.
    """
    if sys.platform.startswith("linux"):
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cycles of garbage in this process meanwhile: where objects come by the hundred thousand and all
    stay, each search goes through them in vain. Nor does the next one go through those that came, where they are very
    many: they count as old at once, which a full search alone goes through; and frozen ones with them."""
    on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if on:
            if gc.get_count()[0] > MANY:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Pages:
    """Zeros in memory of this process, by Linux, a page of which is taken once it is written; freed by `release`, or
    once nothing holds them.

    size : bytes. address : of the first. Raises MemoryError.
    """

    def __init__(self, size: int) -> None:
        self._library = ctypes.CDLL(None)
        self.size = size
        self.address = self._mapped("mmap", None, size, _READ_AND_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        self._free = self._freeing()

    def _freeing(self) -> weakref.finalize:
        free = weakref.finalize(
            self, self._library["munmap"], ctypes.c_void_p(self.address), ctypes.c_size_t(self.size)
        )
        free.atexit = False
        return free

    def _mapped(self, name: str, *arguments: int | None) -> int:
        function = self._library[name]  # another one for each `CDLL`: its types are no one else's
        function.restype = ctypes.c_void_p
        address = function(*(None if argument is None else ctypes.c_size_t(argument) for argument in arguments))
        if address is None or address == ctypes.c_void_p(-1).value:
            raise MemoryError
        return int(address)

    def grow(self, size: int) -> None:
        """To more bytes, with the same content, perhaps at another address: nothing may use the old one any more."""
        self.address, self.size = self._mapped("mremap", self.address, self.size, size, _MAY_MOVE), size
        self._free.detach()
        self._free = self._freeing()

    def release(self) -> None:
        """Free them; a second time nothing happens."""
        self._free()


def _machine(root: Path) -> Iterator[int]:
    """Free memory and reclaimable caches; all memory where these are not reported."""
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
            return
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return


def _groups(root: Path) -> Iterator[int]:
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
            most, current = _number(folder / limit), _number(folder / used)
            if most is not None and current is not None and most < _UNLIMITED:
                stat = dict(entry.split()[:2] for entry in _lines(folder / "memory.stat"))
                yield most - current + int(stat.get(idle, 0))  # cached files make room
            if folder == top:
                break


def _address_space() -> Iterator[int]:
    """Memory left by ``ulimit -v``."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = next(iter(_lines(Path("/proc/self/statm"))), "").split()
    if most != resource.RLIM_INFINITY and pages:
        yield most - int(pages[0]) * resource.getpagesize()


def _windows() -> int | None:
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
