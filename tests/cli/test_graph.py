"""``raystream graph``."""

from __future__ import annotations

from pathlib import Path

import pytest

from raystream.cli.graph import graph
from raystream.cli.main import main


def test_writes_the_file_that_is_named(tmp_path):
    out = tmp_path / "x.svg"
    assert main(["graph", "cast", "-o", str(out)]) == 0
    assert out.read_text().startswith("<svg") and [each.name for each in tmp_path.iterdir()] == ["x.svg"]


def test_standard_output_and_a_name_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["graph", "photon", "-o", "-"]) == 0
    assert capsys.readouterr().out == graph("photon")
    assert main(["graph", "shadow"]) == 0
    assert Path("shadow.svg").read_text() == graph("shadow")


@pytest.mark.parametrize(
    "line, said",
    [
        (("photons",), "program 'photons': unknown (did you mean 'photon'? there are cast, "),
        (("cast", "-o", "x.png"), "x.png: a diagram is an SVG"),
        (("cast", "-o", "nowhere/x.svg"), "nowhere/x.svg: cannot be written: No such file"),
        ((), "graph: the program is missing (usage: raystream graph PROGRAM [-o OUT.svg])"),
        (("cast", "whitted"), "'whitted': one argument too many"),
    ],
)
def test_bad_input_is_one_line(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["graph", *line]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"raystream: error: {said}") and error.count("\n") == 1
