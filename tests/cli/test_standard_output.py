"""``-o -``: a PNG on standard output and nothing else there."""

from __future__ import annotations

import os

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
