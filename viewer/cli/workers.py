"""Pictures one after the other by one renderer, and by several processes side by side: tasks and answers are pickled,
over pipes."""

from __future__ import annotations

import os
import pickle
import pkgutil
import subprocess
import sys
import threading
import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError
from raystream.base.interrupts import child_process
from raystream.base.isolation import SAFE_PATH, python
from raystream.cli import rendering
from raystream.cli.commands import explained

if TYPE_CHECKING:
    from raystream.cli.progress import TerminalProgress
    from raystream.renderer.renderer import Renderer

CODE = "from raystream.cli.workers import work; work()"
RENDERINGS = "raystream.cli.workers:Renderings"
Answer = tuple[list[str], Any, str]  # notes, what is made, fault


def answers(tasks: Sequence[Namespace], count: int, maker: str = RENDERINGS) -> Iterator[Answer]:
    """The answers of ``count`` processes to the tasks, in the order of completion. One that dies is the fault of
    its task, and another one takes its place.

    maker : of each process, a class by its module and name, that has a method ``render`` as `Renderings` has.
    """
    pending: SimpleQueue[Namespace] = SimpleQueue()
    done: SimpleQueue[Answer] = SimpleQueue()
    for task in tasks:
        pending.put(task)
    serving = [_Server(pending, done, count, maker) for _ in range(count)]
    try:
        for server in serving:
            server.start()
        for _ in tasks:
            yield done.get()
    finally:
        for server in serving:
            server.stop()


class Renderings:
    """Pictures one after the other by one renderer: device and compiled programs stay."""

    def __init__(self) -> None:
        self._renderer: Renderer | None = None

    def render(self, task: Namespace, progress: TerminalProgress) -> tuple[str | int, str]:
        """The line of a picture that is written, and empty; or the exit code, and the fault."""
        try:
            done = rendering.rendered(task, progress, self._renderer)
        except Exception as error:
            if task.debug:
                traceback.print_exc()
            if not isinstance(error, ViewerError):  # after which the renderer is as it was
                self._renderer = None
            code, fault = explained(error)
            return code, fault if fault.startswith(task.scene) else f"{task.scene}: {fault}"
        self._renderer = done.renderer
        return done.line, ""


class _Server(threading.Thread):
    """Gives a process of its own one task after the other."""

    def __init__(self, pending: SimpleQueue[Namespace], done: SimpleQueue[Answer], count: int, maker: str) -> None:
        super().__init__(daemon=True)
        self._pending, self._done, self._maker, self._stopped = pending, done, maker, False
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
        command = python(CODE, self._maker)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with child_process(command, env=self._environment, **pipes) as self._process:
            to, back = self._process.stdin, self._process.stdout
            assert to is not None and back is not None
            while not self._stopped:
                try:
                    pickle.dump(task, to)
                    to.flush()
                    self._done.put(pickle.load(back))
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


def work() -> None:
    """Of a worker: answer the tasks that come by standard input, until it ends."""
    from raystream.cli.progress import TerminalProgress

    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # drivers print to standard output, too
    maker = pkgutil.resolve_name(sys.argv[1])()
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        notes: list[str] = []
        result, fault = maker.render(task, TerminalProgress(quiet=True, on_note=notes.append))
        pickle.dump((notes, result, fault), replies)
        replies.flush()
