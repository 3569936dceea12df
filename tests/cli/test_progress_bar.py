"""The bar on a terminal of the test's own: what is on it, when it comes, and that it leaves nothing behind."""

from __future__ import annotations

import io
import re
import sys

import pytest

from raystream.cli import progress
from raystream.cli.progress import TerminalProgress


class Terminal(io.StringIO):
    """A terminal that keeps what is written on it."""

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """Without the codes of colour and of the cursor."""
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", self.getvalue())


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error from now on, which pytest has in its hands between fixtures and tests."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    return made


def test_the_bar_shows_text_share_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, now = terminal_of(monkeypatch), [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with TerminalProgress(delay=1e6) as bar:
        bar(0.0, "sample 0 of 8")
        assert terminal.getvalue() == ""  # it waits
        bar._show()  # as the timer does
        assert sys.stderr is terminal, "the warnings of libraries go where they would without it"
        now[0] += 10.0
        bar(0.25, "sample 2 of 8")
        assert bar._bar is not None
        (task,) = bar._bar.tasks
        assert (task.description, task.completed, task.total) == ("sample 2 of 8", 0.25, 1.0)
        assert task.fields["left"] == "30 s left"
        bar._bar.refresh()
        assert "sample 2 of 8" in terminal.text and "30 s left" in terminal.text
        bar.note("a note")
        assert "a note\n" in terminal.text
        bar(None, "saving")
        assert (task.description, task.completed, task.fields["left"]) == ("saving", 0.0, "")
    assert terminal.getvalue().rstrip().endswith("\x1b[2K")  # its line is erased
    bar.note("afterwards")
    assert terminal.text.endswith("afterwards\n")


def test_it_comes_by_itself_and_only_for_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with TerminalProgress(delay=0.0) as bar:
        assert bar._timer is not None
        bar._timer.join()
        bar(0.5, "half")
        assert bar._bar is not None and bar._bar.tasks[0].completed == 0.5
    terminal.seek(0)
    terminal.truncate()
    with TerminalProgress(delay=1e6) as bar:
        bar(0.5, "half")
    bar._show()  # a timer that was about to
    assert terminal.getvalue() == "" and bar._bar is None


def test_none_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    for quiet, kind in ((True, "xterm"), (False, "dumb")):
        monkeypatch.setenv("TERM", kind)
        with TerminalProgress(quiet=quiet) as bar:
            bar(0.5, "half")
            assert bar._timer is None and not bar.enabled
            bar.note("a note")
    assert terminal.getvalue() == "a note\n" * 2


def test_lines_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no terminal: every ten seconds, and less often the longer it takes."""
    file, now = io.StringIO(), [100.0]
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with TerminalProgress() as lines, TerminalProgress(quiet=True) as none:
        for second in range(400):
            now[0] = 100.0 + second
            lines(second / 400 if second else None, "rendering")
            none(0.5, "not told")
    told = file.getvalue().splitlines()
    assert told[0] == "raystream: rendering, 2%, 6 min left" and len(told) == 22
    assert told[-1].startswith("raystream: rendering, 9")


def test_the_parts_of_a_work_have_one_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the share of all of them that is done; lines of their results stand above it, on standard output."""
    terminal = terminal_of(monkeypatch)
    with TerminalProgress(delay=1e6) as bar:
        bar._show()
        assert bar._bar is not None
        (task,) = bar._bar.tasks
        for number, name in enumerate(("a.glb", "b.glb")):
            bar.begin_part(number, 2, name)
            bar(0.9, "sample 9 of 10")
            assert (task.description, task.completed) == (f"{number + 1} of 2, {name}: sample 9 of 10", number / 2)
            bar.print_line(f"{name}: \x1b done")
    assert capsys.readouterr().out == "a.glb: \\x1b done\nb.glb: \\x1b done\n"
    assert "2 of 2, b.glb" in terminal.text


def test_notes_may_go_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    TerminalProgress(quiet=True, on_note=told.append).note("a \x1b note")
    assert told == ["a \\x1b note"] and capsys.readouterr() == ("", "")
