"""``-o -``: a PNG on standard output and nothing else there."""

from __future__ import annotations

import os
import sys

import pytest

from raystream.cli import main as cli

# The ray caster has no use for --spp, which a note says.
SMALL = ("--size", "12x8", "--program", "cast", "--spp", "2", "--machine", "singlepass", "--exposure", "1")


@pytest.mark.usefixtures("device")
def test_the_picture_alone(tmp_path, monkeypatch, capfdbinary) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(("render", "cornell", "-o", "-", *SMALL)) == 0
    out, err = capfdbinary.readouterr()
    assert b"note: " in err and b"-: 12 x 8, 1 sample a pixel" in err and os.listdir() == []
    assert cli.main(("render", "cornell", "-o", "a.png", "--quiet", *SMALL)) == 0
    with open("a.png", "rb") as file:
        assert out == file.read()
    assert cli.main(("render", "cornell", "-o", "-", "--quiet", *SMALL)) == 0
    assert capfdbinary.readouterr() == (out, b"")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--layers", "depth"), "--output -: a PNG cannot hold the layers depth"),
        (("--frames", "0-3"), "--output -: is for one picture, and --frames for many"),
    ],
)
def test_what_does_not_fit(words, line, capsys) -> None:
    assert cli.main(("render", "cornell", "-o", "-", *words)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"raystream: error: {line}")


def test_a_terminal_gets_no_bytes(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert cli.main(("render", "cornell", "-o", "-")) == 2
    assert "--output -: standard output is a terminal (send it to a file" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(("render", "cornell", "-o", "-")) == 2
    assert "--output -: standard output is closed" in capsys.readouterr().err
