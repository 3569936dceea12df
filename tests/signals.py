"""Processes that tests send signals to."""

from __future__ import annotations

import signal
from pathlib import Path


def heeding() -> None:
    """For ``preexec_fn``: heed signals that the tests' own process may have inherited as ignored, as under nohup."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def children(parent: int) -> dict[int, str]:
    """Command lines of a process's children by their numbers; of Linux."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if int((path / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found[int(path.name)] = (path / "cmdline").read_text()
        except OSError:
            continue
    return found
