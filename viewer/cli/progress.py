"""A progress bar on the terminal for work that takes over a second; a line now and then where there is no terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from raystream.base.errors import duration, printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

DELAY = 1.0  # seconds of work before a bar is worth its place
WINDOW = 30.0  # seconds whose pace tells the time left
LEAST = 1.0  # seconds before it tells anything
INTERVAL, SHARE = 10.0, 0.1  # between lines in a file: seconds, or this share of those passed where that is more
BAR = 24  # columns; a text of samples and noise, the bar, time spent and time left fit 80


class TimeLeft:
    """How long work will still take, at the pace of its last `WINDOW` seconds."""

    def __init__(self) -> None:
        self._history: deque[tuple[float, float]] = deque()  # (seconds, fraction)

    def add(self, now: float, fraction: float | None) -> None:
        """At ``now`` seconds this fraction is done; None, or less than before: other work has begun."""
        if fraction is None or (self._history and fraction < self._history[-1][1]):
            self._history.clear()
        if fraction is None:
            return
        self._history.append((now, fraction))
        while len(self._history) > 2 and now - self._history[1][0] >= WINDOW:
            self._history.popleft()

    def seconds(self) -> float | None:
        """Seconds left at the last share; None where nothing can be told yet."""
        if not self._history:
            return None
        (start_time, start), (now, fraction) = self._history[0], self._history[-1]
        if now - start_time < LEAST or fraction <= start:
            return None
        return (1 - fraction) * (now - start_time) / (fraction - start)


class TerminalProgress:
    """A context in which calls ``progress(fraction, text)`` show a bar on standard error, with the time that is left,
    erased at the end. Where standard error is no terminal they print a line, every ten seconds at most.

    fraction : of the work, in [0, 1]; None where it is not known.
    quiet    : show nothing.
    on_note  : takes notes in place of standard error.
    """

    def __init__(self, quiet: bool = False, delay: float = DELAY, on_note: Callable[[str], None] | None = None) -> None:
        self.enabled = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._plain = not quiet and not self.enabled
        self._start_time = self._last_line = time.monotonic()
        self._delay, self._on_note = delay, on_note
        self._part: tuple[int, int, str] | None = None
        self._lock = threading.Lock()
        self._state: tuple[float | None, str] = (None, "")
        self._time_left = TimeLeft()
        self._timer: threading.Timer | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._closed = False

    def __enter__(self) -> TerminalProgress:
        if self.enabled:
            # A timer, since one long step may report nothing in its first seconds.
            self._timer = threading.Timer(self._delay, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, fraction: float | None, text: str) -> None:
        if not (self.enabled or self._plain):
            return
        now = time.monotonic()
        if self._part is not None:
            index, count, name = self._part
            fraction, text = index / count, f"{index + 1} of {count}, {name}: {text}"
        with self._lock:
            text = printable(text)
            self._state = (fraction, text)
            self._time_left.add(now, fraction)
            if self.enabled:
                self._update()
            elif now - self._last_line >= max(INTERVAL, SHARE * (now - self._start_time)):
                self._last_line = now
                percentage = "" if fraction is None else f", {fraction:.0%}"
                remaining = f", {self._remaining()}" if self._remaining() else ""
                print(f"raystream: {text}{percentage}{remaining}", file=sys.stderr, flush=True)

    def begin_part(self, index: int, count: int, name: str) -> None:
        """The work that follows is one of ``count`` parts, that of an ``index`` from 0 on: shares are of all parts."""
        self._part = index, count, name

    def print_line(self, line: str) -> None:
        """Print a line on standard output, above the bar where one is shown."""
        with self._lock:
            bar = None if self._closed else self._bar
            if bar is not None:
                bar.stop()
            print(printable(line), flush=True)
            if bar is not None:
                bar.start()

    def note(self, line: str) -> None:
        """Print a line on standard error, above the bar where one is shown."""
        line = printable(line)
        if self._on_note is not None:
            self._on_note(line)
            return
        with self._lock:
            if self._bar is not None and not self._closed:
                self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
            else:
                print(line, file=sys.stderr)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._closed:
                return
            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=BAR),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=Console(file=sys.stderr),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                refresh_per_second=5,
            )
            self._task = self._bar.add_task("", total=None, left="")
            self._update()
            self._bar.start()

    def _update(self) -> None:
        if self._bar is None or self._task is None:
            return
        fraction, text = self._state
        # rich keeps the old total where None is given, so an unknown fraction shows as an empty bar.
        self._bar.update(self._task, description=text, total=1.0, completed=fraction or 0.0, left=self._remaining())

    def _remaining(self) -> str:
        seconds = self._time_left.seconds()
        return "" if seconds is None else f"{duration(seconds)} left"
