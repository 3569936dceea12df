"""Processes that tests send signals to."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


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


@contextmanager
def starts(then: Callable[[], None] = lambda: None) -> Iterator[list[subprocess.Popen[Any]]]:
    """The children that `subprocess.Popen` starts in the block; ``then`` is called amid its constructor, after the real
    start. Ctrl-C raises meanwhile, though it may have been inherited as ignored; none of them is left."""
    made: list[subprocess.Popen[Any]] = []
    start = subprocess.Popen.__init__

    def started(self: Any, *arguments: Any, **options: Any) -> None:
        start(self, *arguments, **options)
        made.append(self)
        then()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess.Popen, "__init__", started)
            yield made
    finally:
        signal.signal(signal.SIGINT, before)
        for each in made:
            each.kill()
            each.wait()


def ctrl_c() -> None:
    """Comes to this process."""
    signal.raise_signal(signal.SIGINT)


def gone(child: subprocess.Popen[Any]) -> bool:
    """Whether it has ended, and was waited for."""
    if child.returncode is None:
        return False
    try:
        os.kill(child.pid, 0)
    except ProcessLookupError:
        return True
    return False
