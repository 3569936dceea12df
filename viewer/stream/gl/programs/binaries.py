"""Linked programs of a driver, kept in the user's cache folder for later processes."""

from __future__ import annotations

import hashlib
import os
import struct
from contextlib import suppress
from pathlib import Path

from raystream.base import cache_folder

MOST = 256 << 20  # bytes of all drivers' programs on disk; beyond, those not used for longest go first
SWEPT = 16 << 20  # bytes written by a process between two looks at the whole
_FORMAT, _SUFFIX = 1, ".program"
_HEADER = struct.Struct("<I")  # the driver's number of the binary's format


class Binaries:
    """The programs of one driver, by their sources.

    driver : all that tells its builds apart, as it refuses, or worse, does not refuse another one's. most : bytes on
    disk, of all drivers.
    """

    def __init__(self, driver: str, most: int = MOST) -> None:
        self.driver, self.most = driver, most
        self._unswept = SWEPT  # the first that is written sweeps

    def name(self, *parts: str) -> str:
        """The file of a program: its stages, their sources, its outputs."""
        content = "\0".join((str(_FORMAT), self.driver, *parts))
        return hashlib.sha256(content.encode()).hexdigest()[:40] + _SUFFIX

    def find(self, name: str) -> tuple[int, bytes] | None:
        """The binary's format and content; None if there is none, or it is damaged."""
        for path, content in cache_folder.find(self._folders(), name):
            if len(content) > _HEADER.size:
                with suppress(OSError):
                    os.utime(path)  # used last
                return _HEADER.unpack_from(content)[0], content[_HEADER.size :]
        return None

    def keep(self, name: str, form: int, binary: bytes) -> None:
        """Write or replace a binary, if the folder is writable."""
        path = cache_folder.keep(self._folders(), name, _HEADER.pack(form) + binary)
        self._unswept += len(binary)
        if path is not None and self._unswept >= SWEPT:
            self._unswept = 0
            self._sweep(path.parent)

    def _sweep(self, folder: Path) -> None:
        """Remove the files used least recently, those of killed writers too, until the rest is within the bound."""
        entries = []
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.endswith(_SUFFIX):
                    with suppress(OSError):  # another process sweeps
                        state = entry.stat()
                        entries.append((state.st_mtime_ns, state.st_size, entry.path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.most:
                return
            with suppress(OSError):
                os.unlink(path)
                total -= size

    @staticmethod
    def _folders() -> list[Path]:
        return cache_folder.folders("programs")
