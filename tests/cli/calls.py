"""Calls of the command, in this process and in one of its own."""

from __future__ import annotations

import subprocess
import sys

from raystream.cli import main as cli

PATIENCE = 600.0  # seconds, against hanging alone


def run(*arguments, code=0):
    """Run the command in this process and hold it to the exit code."""
    assert cli.main(arguments) == code


def error_line(capsys):
    """The one line on standard error."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("raystream: error: ")
    return err.removeprefix("raystream: error: ").rstrip()


def process(*arguments, **settings):
    """The command as a process of its own."""
    command = [sys.executable, "-P", "-m", "raystream", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **settings)
