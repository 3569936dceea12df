"""Ctrl-C and SIGTERM: deferred while C code must not be interrupted, raised again where C code has dropped them, and
child processes that outlive neither."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import _exit as exit_process  # without the interpreter's own end
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from subprocess import Popen

# Windows lacks the last, by which a process ends with its terminal.
EXIT_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
KILL_TIMEOUT = 30.0  # seconds that a killed child may take; one that hangs in a device's driver never ends
UNWAITED = "raystream-unwaited"  # name of threads that `exit_now` does not wait for


class Terminated(KeyboardInterrupt):
    """Another signal that asks the process to end, as Ctrl-C does. code : its exit code. last : the exception of a
    handler, until it is known to have come through."""

    last: Terminated | None = None

    def __init__(self, signum: int) -> None:
        super().__init__()
        self.code = 128 + signum


def end_by_signals() -> None:
    """Have these signals end the process in one line while a command's modules are loaded, those apart that are
    ignored, as under nohup: there is nothing to tidy up yet, and imports drop exceptions, or end in tracebacks."""
    for signum in EXIT_SIGNALS:
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, _end_process)


def _end_process(signum: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"raystream: stopped\n")
    exit_process(128 + signum)


def terminate(signum: int, frame: FrameType | None) -> NoReturn:
    """A signal's handler: raises `Terminated`, which `raise_dropped` does once more."""
    Terminated.last = Terminated(signum)
    raise Terminated.last


def raise_dropped() -> None:
    """Raise a signal's exception once more, for loops that go on all the same: Python drops exceptions in finalizers
    and in calls from C code."""
    dropped, Terminated.last = Terminated.last, None
    if dropped is not None:
        raise dropped


@contextmanager
def suppress_interrupt() -> Iterator[None]:
    """End the block where a signal interrupts it, and go on behind it."""
    try:
        yield
    except KeyboardInterrupt:
        Terminated.last = None


def exit_now(code: int) -> None:
    """End the process where a thread of the name `UNWAITED` is at work: compiled C++ code in it would abort the
    process (``terminate called``) when the interpreter's own end stops that thread."""
    if any(thread.name == UNWAITED for thread in threading.enumerate()):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        exit_process(code)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer the handlers of `EXIT_SIGNALS`, such as raising KeyboardInterrupt, to the end of the block. Handlers run in
    the main thread alone; in another one nothing is deferred."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deferred_signals: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    for deferred in EXIT_SIGNALS:
        signum = int(deferred)
        handler = signal.getsignal(signum)
        if callable(handler):  # neither ignored nor the system's default
            handlers[signum] = handler
            signal.signal(signum, lambda signum, frame: deferred_signals.append((signum, frame)))
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
        for signum, frame in deferred_signals[:1]:
            handlers[signum](signum, frame)


@contextmanager
def child_process(command: list[str], **options: Any) -> Iterator[Popen[bytes]]:
    """A child process in a session of its own, so that Ctrl-C reaches this process alone; killed and waited for at the
    end of the block, however that comes. options : as of `subprocess.Popen`, whose pipes are closed, too."""
    import subprocess

    process: Popen[bytes] | None = None
    try:
        with interrupts_deferred():  # raised in the constructor, they would leave a child that nobody knows
            process = subprocess.Popen(command, start_new_session=True, **options)
        yield process
    finally:
        with interrupts_deferred():  # a second one
            if process is not None:
                process.kill()  # no effect after its end
                with suppress(subprocess.TimeoutExpired):
                    process.wait(KILL_TIMEOUT)
                    for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
                        with suppress(OSError):  # of bytes that the child did not take
                            pipe.close()
