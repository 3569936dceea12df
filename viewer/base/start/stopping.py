"""Ctrl-C, SIGTERM and SIGHUP while a command's modules are loaded: there is nothing to tidy up yet, and imports drop
exceptions, or end in tracebacks."""

from __future__ import annotations

import os
import signal
from os import _exit as end_process  # without the interpreter's own end
from types import FrameType
from typing import NoReturn

from viewer.base.interrupts import HELD


def begin() -> None:
    """Have these signals end the process in one line, those apart that are ignored, as under nohup."""
    for number in HELD:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """A signal's handler: says that the command has stopped, and ends the process."""
    os.write(2, b"raystream: stopped\n")
    end_process(128 + number)
