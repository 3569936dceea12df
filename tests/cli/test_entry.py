"""The process around the command: its signals, its standard files, its exit code."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator

import pytest

from raystream.base.errors import ViewerError
from raystream.cli import main as cli
from raystream.cli.commands import USER_ERROR

ENDING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A process whose signals are as a shell leaves them, and put back afterwards."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    with warnings.catch_warnings():
        yield monkeypatch
    for number, handler in before.items():
        signal.signal(number, handler)


def ended(code: int) -> None:
    with pytest.raises(SystemExit) as end:
        cli.entry()
    assert end.value.code == code
    # A second one does not interrupt the interpreter's end.
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in ENDING)


@pytest.mark.skipif(len(ENDING) < 3, reason="Windows has no SIGHUP")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (getattr(signal, "SIGHUP", 1), 129)])
def test_signals_that_end_it(process, capsys, number, code) -> None:
    process.setattr(cli, "_dispatch", lambda arguments: os.kill(os.getpid(), number))
    ended(code)
    assert capsys.readouterr().err == "raystream: stopped\n"


@pytest.mark.skipif(len(ENDING) < 3, reason="Windows has no SIGHUP")
def test_nohup_is_respected(process) -> None:
    """Ignored from outside, a signal stays so."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    seen = []
    process.setattr(cli, "main", lambda: seen.append(signal.getsignal(signal.SIGHUP)) or 0)
    ended(0)
    assert seen == [signal.SIG_IGN]


def test_a_fault_is_shown_where_it_happened(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def fault(arguments: list[str]) -> int:
        raise ViewerError("here", "is wrong") if "wrong" in arguments else ZeroDivisionError("division by zero")

    monkeypatch.setattr(cli, "_dispatch", fault)
    assert cli.main(["--debug"]) == cli.FAULT
    err = capsys.readouterr().err
    assert "Traceback" in err and "in fault" in err
    assert err.endswith(
        "raystream: error: ZeroDivisionError: division by zero (this is a bug in raystream; --debug shows where, "
        "`raystream doctor` what the driver does)\n"
    )
    assert cli.main(["wrong"]) == USER_ERROR
    assert capsys.readouterr().err == "raystream: error: here: is wrong\n"


def test_without_arguments_on_a_display_it_is_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(cli, "_has_display", lambda: True)
    monkeypatch.setattr(cli.commands, "view", lambda arguments: seen.append(arguments.scene))
    assert cli.main([]) == cli.DONE and seen == [cli.FIRST_SCENE]
