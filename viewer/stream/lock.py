"""Locks that threads get in the order of their requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock, get_ident
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


class FairLock:
    """A reentrant lock for ``with``.

    It is handed to the thread that has waited longest. A rendering thread releases it between passes and requests it
    again at once: `threading.RLock` would prefer that thread forever.

    check : called before every wait; raises if waiting is futile.
    """

    def __init__(self, check: Callable[[], None] | None = None) -> None:
        self._check = check
        self._guard = Lock()  # of the fields below; held for a few instructions without allocation
        self._holder: int | None = None
        self._depth = 0
        self._waiting: deque[tuple[int, Lock]] = deque()

    def __enter__(self) -> None:
        if self._check is not None:
            self._check()
        thread = get_ident()
        if self._holder == thread:
            self._depth += 1
            return
        with self._guard:
            if self._holder is None:
                self._holder, self._depth = thread, 1
                return
        self._wait_for_turn(thread)

    @property
    def held(self) -> bool:
        """Whether this thread has it."""
        return self._holder == get_ident()

    @property
    def contended(self) -> bool:
        """Whether another thread waits for it."""
        return bool(self._waiting)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """For its holder: within the block other threads may have it, first those that wait. Afterwards it is held as
        often as before, whatever interrupts the wait for it."""
        depth, self._depth = self._depth, 1
        self._release()
        try:
            yield
        finally:
            interrupt: BaseException | None = None
            while not self.held:
                try:
                    self._wait_for_turn(get_ident())
                except BaseException as raised:  # Ctrl-C: take it first, as the enclosing blocks will release it
                    interrupt = raised
            self._depth = depth
            if interrupt is not None:
                raise interrupt

    def _wait_for_turn(self, thread: int) -> None:
        """Wait until the holder hands the lock to this thread."""
        ticket = thread, Lock()
        ticket[1].acquire()
        with self._guard:
            if self._holder is None:  # released since
                self._holder, self._depth = thread, 1
                return
            self._waiting.append(ticket)
        try:
            ticket[1].acquire()
        except BaseException:  # Ctrl-C
            with self._guard:
                granted = ticket not in self._waiting
                if not granted:
                    self._waiting.remove(ticket)
            if granted:
                self._release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        if self._depth > 1:
            self._depth -= 1
            return
        with self._guard:
            if not self._waiting:
                self._holder, self._depth = None, 0
                return
            self._holder, lock = self._waiting.popleft()
            self._depth = 1
            lock.release()


class Locked(Protocol):
    """An object with a lock."""

    @property
    def lock(self) -> FairLock:
        """Held while one of its `exclusive` methods runs."""


Owner = TypeVar("Owner", bound=Locked)


def exclusive(method: Callable[Concatenate[Owner, P], Result]) -> Callable[Concatenate[Owner, P], Result]:
    """Decorate a method to hold the object's lock while it runs: threads call it one at a time."""

    @wraps(method)
    def locked(self: Any, *arguments: P.args, **keywords: P.kwargs) -> Result:
        with self.lock:
            return method(self, *arguments, **keywords)

    return locked
