"""Shader files that change on disk are seen here; the application compiles them anew."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from viewer import paths

EVERY = 0.5  # seconds between two looks

Stamp = tuple[int, int] | None  # time of change in nanoseconds, and bytes; None for a file that is not there


class Watch:
    """Looks at the files below ``shaders/`` that programs were made from."""

    def __init__(self) -> None:
        self._seen: dict[str, Stamp] = {}
        self._next = 0.0

    def changed(self, files: Iterable[str], now: float | None = None) -> list[str]:
        """Those that have changed since the last look, names as in ``files``; none when it is not yet time to look.

        A file seen for the first time has not changed.
        """
        now = time.monotonic() if now is None else now
        if now < self._next:
            return []
        self._next = now + EVERY
        folder, found = paths.shaders(), []
        for name in sorted(files):
            stamp = _stamp(folder / name)
            if self._seen.setdefault(name, stamp) != stamp:
                self._seen[name] = stamp
                found.append(name)
        return found


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
