"""Ctrl-C and SIGTERM deferred while C code must not be interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

HELD = signal.SIGINT, signal.SIGTERM


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer the handlers of `HELD`, such as raising KeyboardInterrupt, to the end of the block.

    Handlers run in the main thread alone; in another one nothing is deferred.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    for held in HELD:
        number = int(held)
        handler = signal.getsignal(number)
        if callable(handler):  # neither ignored nor the system's default
            handlers[number] = handler
            signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in came[:1]:
            handlers[number](number, frame)
