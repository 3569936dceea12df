"""A newline or an escape sequence in a file's name reached the terminal as it was, where a caller forgot to escape it:
the progress bar and its notes escape every text themselves."""

from __future__ import annotations

from raystream.base.errors import ViewerError, printable
from raystream.cli.progress import TerminalProgress

NAME = "a\n\x1b[31mb\x9b.ply"


def test_notes_and_texts(capsys) -> None:
    with TerminalProgress(quiet=True) as progress:
        progress.note(f"note: {NAME}")
        progress.enabled = True
        progress(0.5, f"loading {NAME}")
        assert progress._state == (0.5, r"loading a\n\x1b[31mb\x9b.ply")
        progress.enabled = False
    assert capsys.readouterr().err == "note: a\\n\\x1b[31mb\\x9b.ply\n"


def test_errors() -> None:
    for text in (str(ViewerError(NAME, NAME, NAME)), ViewerError(NAME, NAME).typed, printable(NAME)):
        assert text.isprintable()
