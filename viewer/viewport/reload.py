"""Shader and program files that change on disk are seen here; the application reads them again."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from raystream.base import paths

EVERY = 0.5  # seconds between two looks

Stamp = tuple[int, int] | None  # time of change in nanoseconds, and bytes; None for a file that is not there


class Watch:
    """Looks at the files that programs were made from, below ``shaders/`` or by absolute paths."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}
        self._next_look = 0.0
        self._last_look = time.time_ns()

    def changed(self, files: Iterable[str], now: float | None = None) -> list[str]:
        """Those that have changed since the last look, names as in ``files``; none when it is not yet time to look.

        A file that is new among them has changed where that was after the last look.
        """
        now = time.monotonic() if now is None else now
        if now < self._next_look:
            return []
        self._next_look = now + EVERY
        looked, self._last_look = self._last_look, time.time_ns()
        folder, names = paths.shaders(), []
        for name in sorted(files):
            stamp = _stamp(folder / name)
            new = name not in self._stamps
            if stamp != self._stamps.get(name, stamp) or (new and stamp is not None and stamp[0] > looked):
                names.append(name)
            self._stamps[name] = stamp
        return names


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
