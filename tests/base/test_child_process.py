"""A child process ends with the block that it serves, also where Ctrl-C comes while it starts or is killed."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from raystream.base import interrupts
from raystream.base.interrupts import child_process
from tests.signals import ctrl_c, gone, starts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")

ENDLESS = [sys.executable, "-c", "import time; time.sleep(1000)"]


def test_a_child_ends_with_its_block() -> None:
    with starts() as made:
        with child_process(ENDLESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.poll() is None and child.stdin is not None and child.stdout is not None
            child.stdin.write(b"never read")
        assert made == [child] and gone(child) and child.returncode == -signal.SIGKILL
        assert child.stdin.closed and child.stdout.closed
        with child_process([sys.executable, "-c", "raise SystemExit(3)"]) as child:
            assert child.wait() == 3
        with pytest.raises(FileNotFoundError), child_process(["no such program"]):
            raise AssertionError


def test_ctrl_c_while_a_child_starts() -> None:
    with starts(ctrl_c) as made:
        with pytest.raises(KeyboardInterrupt), child_process(ENDLESS):
            raise AssertionError
        assert len(made) == 1 and gone(made[0])


def test_a_second_ctrl_c_while_a_child_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = subprocess.Popen.kill

    def killed(self: subprocess.Popen[bytes]) -> None:
        ctrl_c()
        kill(self)

    with starts() as made:
        with monkeypatch.context() as patch:
            patch.setattr(subprocess.Popen, "kill", killed)
            with pytest.raises(KeyboardInterrupt), child_process(ENDLESS):
                raise KeyboardInterrupt
        assert len(made) == 1 and gone(made[0])


def test_a_child_that_cannot_be_killed_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that hangs in a driver. To close its pipes would wait for it."""
    monkeypatch.setattr(interrupts, "KILL_TIMEOUT", 0.01)
    with starts():
        with monkeypatch.context() as patch:
            patch.setattr(subprocess.Popen, "kill", lambda self: None)
            with child_process(ENDLESS, stdout=subprocess.PIPE) as child:
                pass
        assert child.poll() is None and child.stdout is not None and not child.stdout.closed
        child.kill()
        child.stdout.close()
