"""Ctrl-C while a program was compiled crashed in moderngl, which calls Python in between and ignores what that
raised."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import pytest

from raystream.base.interrupts import Terminated, interrupts_deferred, raise_dropped, terminate
from raystream.stream.compile.source import Source
from raystream.stream.gl.draw import tiles_source


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_a_program_is_made_whole_before_an_interrupt(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be inherited as ignored
    source, compile_, made = Source(), device.context.program, []
    source.add("#version 330 core\nout vec4 color;\nvoid main() { color = vec4(1.0); }", "test")

    def interrupted(**stages: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        made.append(compile_(**stages))
        return made[-1]

    monkeypatch.setattr(device.context, "program", interrupted, raising=False)
    try:
        with pytest.raises(KeyboardInterrupt):
            device.program(tiles_source(), source)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(made) == 1
    made[0].release()


def test_handlers_are_put_back_and_called_once() -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
    try:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
            assert calls == []
        assert calls == [signal.SIGTERM]
        signal.raise_signal(signal.SIGTERM)
        assert calls == [signal.SIGTERM] * 2
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_are_left_alone() -> None:
    found: list[bool] = []

    def inside() -> None:
        handler = signal.getsignal(signal.SIGINT)
        with interrupts_deferred():
            found.append(signal.getsignal(signal.SIGINT) is handler)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert found == [True]


def test_what_a_finalizer_drops_ends_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SIGTERM in the moment that a window appeared was lost."""

    class Dropped:
        def __del__(self) -> None:
            terminate(signal.SIGTERM, None)

    monkeypatch.setattr(Terminated, "last", None)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    raise_dropped()
    Dropped()  # Python drops what it raises
    with pytest.raises(Terminated) as raised:
        raise_dropped()
    assert raised.value.code == 128 + signal.SIGTERM
