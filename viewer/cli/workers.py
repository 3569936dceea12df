"""Pictures by several processes side by side: tasks and answers are pickled, over pipes."""

from __future__ import annotations

import os
import pickle
import pkgutil
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from raystream.base.interrupts import child_process
from raystream.base.start import SAFE_PATH, python_command

CODE = "from raystream.cli.workers import serve_tasks; serve_tasks()"
Result = tuple[list[str], Any, str]  # notes, result, fault


def results(tasks: Sequence[Namespace], count: int, renderer: str) -> Iterator[Result]:
    """The answers of ``count`` processes to the tasks, in the order of completion. One that dies is the fault of
    its task, and another one takes its place.

    renderer : of each process, a class by its module and name, that has a method ``render`` as
    `raystream.cli.rendering.SceneRenderer` has.
    """
    pending: SimpleQueue[Namespace] = SimpleQueue()
    done: SimpleQueue[Result] = SimpleQueue()
    for task in tasks:
        pending.put(task)
    servers = [_TaskServer(pending, done, count, renderer) for _ in range(count)]
    try:
        for server in servers:
            server.start()
        for _ in tasks:
            yield done.get()
    finally:
        for server in servers:
            server.stop()


class _TaskServer(threading.Thread):
    """Gives a process of its own one task after the other."""

    def __init__(self, pending: SimpleQueue[Namespace], done: SimpleQueue[Result], count: int, renderer: str) -> None:
        super().__init__(daemon=True)
        self._pending, self._done, self._renderer, self._stopped = pending, done, renderer, False
        self._process: subprocess.Popen[bytes] | None = None
        threads = str(max(1, (os.cpu_count() or 1) // count))  # of the software driver and of compiled loops
        self._environment = {"LP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads, **os.environ, **SAFE_PATH}

    def run(self) -> None:
        """Until no task is left."""
        while not self._stopped:
            try:
                task = self._pending.get_nowait()
            except Empty:
                return
            self._serve(task)

    def _serve(self, task: Namespace) -> None:
        """A task by a new process, and those that follow while it lives."""
        command = python_command(CODE, self._renderer)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with child_process(command, env=self._environment, **pipes) as self._process:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None and stdout is not None
            while not self._stopped:
                try:
                    pickle.dump(task, stdin)
                    stdin.flush()
                    self._done.put(pickle.load(stdout))
                except (EOFError, OSError, pickle.UnpicklingError):
                    fault = f"{task.scene}: the process died that rendered it (exit code {self._process.wait()})"
                    self._done.put(([], "", fault))
                    return
                try:
                    task = self._pending.get_nowait()
                except Empty:
                    return

    def stop(self) -> None:
        """End it, with its process."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()
        if self.is_alive():
            self.join()


def serve_tasks() -> None:
    """A worker: answers the tasks that come by standard input, until it ends."""
    from raystream.cli.progress import TerminalProgress

    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers print to standard output, too
    renderer = pkgutil.resolve_name(sys.argv[1])()
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        notes: list[str] = []
        result, fault = renderer.render(task, TerminalProgress(quiet=True, on_note=notes.append))
        pickle.dump((notes, result, fault), replies)
        replies.flush()
