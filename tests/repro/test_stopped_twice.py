"""A second Ctrl-C, or SIGTERM, in the interpreter's own end brought a traceback and another exit code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from signals import heeding

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

SCRIPT = """
import atexit, os, signal, sys
from raystream.cli import main

first, second = (getattr(signal, name) for name in sys.argv[1:])
atexit.register(lambda: os.kill(os.getpid(), second))  # in the interpreter's end
main._dispatch = lambda arguments: os.kill(os.getpid(), first)
main.entry()
"""


@pytest.mark.parametrize(
    ("first", "second", "code"), [("SIGINT", "SIGINT", 130), ("SIGTERM", "SIGINT", 143), ("SIGHUP", "SIGTERM", 129)]
)
def test_the_first_signal_tells_the_end(first: str, second: str, code: int) -> None:
    command = [sys.executable, "-c", SCRIPT, first, second]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=heeding, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "raystream: stopped\n")


def test_signals_that_are_ignored_stay_so() -> None:
    """As under nohup."""
    script = 'trap \'\' HUP INT; exec "$0" -c "$1" SIGHUP SIGINT'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, SCRIPT.replace("main.entry", "print(1); main.entry")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1\n" and "stopped" not in done.stderr
