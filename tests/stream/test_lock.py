"""Locks that threads get in the order in which they ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from raystream.stream.lock import FairLock, exclusive

PATIENCE = 600.0  # seconds, after which a thread that should have ended hangs


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def until_waiting(lock: FairLock, number: int) -> None:
    while len(lock._waiting) < number:
        time.sleep(1e-4)


def test_threads_get_it_in_the_order_in_which_they_ask() -> None:
    lock, order = FairLock(), []

    def ask(number: int) -> None:
        with lock:
            order.append(number)

    with lock:
        threads = []
        for number in range(3):
            threads.append(started(lambda number=number: ask(number)))
            until_waiting(lock, number + 1)
    with lock:  # given back and asked for again at once
        order.append(3)
    ended(*threads)
    assert order == [0, 1, 2, 3]


def test_an_exception_gives_it_back() -> None:
    class Thing:
        lock = FairLock()

        @exclusive
        def fail(self, what: str) -> None:
            """Says why."""
            raise OSError(what)

    assert Thing.fail.__doc__ == "Says why."
    with pytest.raises(OSError, match="no more"):
        Thing().fail("no more")
    ended(started(lambda: Thing.lock.__enter__()))


def test_its_holder_lends_it_and_holds_it_as_often_afterwards() -> None:
    lock, order = FairLock(), []

    def ask() -> None:
        with lock:
            order.append("other")

    with lock, lock:
        assert lock.held and not lock.contended
        other = started(ask)
        until_waiting(lock, 1)
        assert lock.contended
        with lock.lent():
            ended(other)
            order.append("lent")
            assert not lock.held
        order.append("mine")
        assert lock.held and lock._depth == 2
    assert order == ["other", "lent", "mine"] and lock._holder is None


def test_it_is_held_again_after_an_error_and_after_a_wait() -> None:
    lock, free = FairLock(), threading.Event()

    def hold() -> None:
        with lock:
            free.wait(PATIENCE)

    with lock:
        with pytest.raises(OSError, match="enough"), lock.lent():
            holder = started(hold)
            while lock._holder is None:
                time.sleep(1e-4)
            threading.Timer(0.05, free.set).start()
            raise OSError("enough")
        assert lock.held and lock._depth == 1
    ended(holder)
    assert lock._holder is None
