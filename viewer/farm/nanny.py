"""A process on this machine that is started again where it dies before it works."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from distributed import Nanny
from distributed.core import Status

from raystream.base.start import SAFE_PATH

MAX_DEATHS = 5  # in a row, at its start
ENDED = (Status.closing, Status.closed, Status.closing_gracefully)


class _StartScope(threading.local):
    """While it is entered, processes that this thread starts ignore Ctrl-C, and find no code in the current folder.
    dask puts the environment that a process is to start with into this process, and leaves it there; here it, and the
    thread's signal mask, are as before when the last of several starts ends."""

    def __init__(self) -> None:
        self.depth = 0
        self.environment: dict[str, str | None] = {}
        self.mask: set[int] = set()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        if self.depth == 0:
            self.environment = {name: os.environ.get(name) for name in SAFE_PATH}
            if hasattr(signal, "pthread_sigmask"):  # of this thread and those that it starts, and so of the processes
                resource_tracker.ensure_running()  # its start ends with the signal let through again
                self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if self.depth == 0:
                if hasattr(signal, "pthread_sigmask"):
                    signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)
                for name, value in self.environment.items():
                    if value is None:
                        os.environ.pop(name, None)
                    else:
                        os.environ[name] = value


_start_scope = _StartScope()


class PersistentNanny(Nanny):
    """A nanny that does not give up when its process is killed while it starts, and whose process takes no Ctrl-C from
    its first moment: a terminal sends that to all processes, and the one that asked for the picture ends the others.

    given_up : set after `MAX_DEATHS`.
    """

    def __init__(self, *arguments: Any, given_up: threading.Event, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._given_up = given_up
        self.pre_spawn_env |= SAFE_PATH

    async def instantiate(self) -> Status:
        """Start the process as `Nanny.instantiate` does, up to `MAX_DEATHS` times."""
        with _start_scope():
            for _ in range(MAX_DEATHS):
                try:
                    status = await super().instantiate()
                except Exception:  # of the process that has died, whatever dask makes of it
                    status = Status.failed
                if status == Status.running or self.status in ENDED:
                    return status
        self._given_up.set()
        return Status.failed
