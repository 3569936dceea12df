"""Ctrl-C in a command's first third of a second, while its modules were loaded, showed a traceback; in the first
seconds of a cluster's processes it showed theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from signals import heeding

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")

# The command as pip writes it, and with a signal at the start of its n-th import.
COMMAND = """
import sys
from raystream.__main__ import entry
if __name__ == "__main__":
    sys.exit(entry())
"""
SCRIPT = (
    """
import os, sys
name, count = sys.argv.pop(1), int(sys.argv.pop(1))
class Interrupting:
    def find_spec(self, *given):
        global count
        count -= 1
        if count == 0:
            os.kill(os.getpid(), getattr(__import__("_signal"), name))
sys.meta_path.insert(0, Interrupting())
"""
    + COMMAND
)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools" / "editable")])}


def _stopped(folder: Path, name: str, count: int, *start: str) -> tuple[int, str]:
    (folder / "raystream").write_text(SCRIPT)
    command = [sys.executable, *start, str(folder / "raystream"), name, str(count), "info", "cornell"]
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, preexec_fn=heeding, check=False
    )
    assert done.stdout == "" or done.returncode == 0
    return done.returncode, done.stderr


@pytest.mark.parametrize("count", [4, 5, 8, 15, 30, 60, 100, 200, 350, 450])
def test_ctrl_c_while_modules_are_loaded(tmp_path: Path, count: int) -> None:
    """Before, the package itself is found, and its first line."""
    assert _stopped(tmp_path, "SIGINT", count) in [(130, "raystream: stopped\n"), (-signal.SIGINT, "")]


@pytest.mark.parametrize("count", [60, 150])
def test_sigterm_while_modules_are_loaded(tmp_path: Path, count: int) -> None:
    assert _stopped(tmp_path, "SIGTERM", count) == (143, "raystream: stopped\n")


def test_a_library_keeps_its_handler(tmp_path: Path) -> None:
    """Only the command's own process is told how to end."""
    (tmp_path / "script.py").write_text("import signal, raystream\nprint(signal.getsignal(signal.SIGINT).__name__)\n")
    command = [sys.executable, "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=_environment(), capture_output=True, text=True, preexec_fn=heeding, check=True
    )
    assert done.stdout == "default_int_handler\n"
