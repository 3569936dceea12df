"""Standard output that is closed, or whose encoding knows few characters, was called a bug of raystream."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells are POSIX")

FILES = """
import os, sys
from raystream.cli import main
main._open_standard_files()
with open("made", "w") as file:
    print(file.fileno(), file=sys.stderr)
os.write(1, b"what a library prints")
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "würfel.obj"
    path.write_text("o Würfel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    return path


def shell(line: str, folder: Path, *arguments: object, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and error of a line of bash in which $0 is Python, and $1, $2 ... are the arguments."""
    command = ["bash", "-c", line, sys.executable, *map(str, arguments)]
    every = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=every, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_closed_output_is_told(model: Path, tmp_path: Path) -> None:
    line = "raystream: error: standard output: is closed (give it a file or a terminal)\n"
    assert shell('"$0" -m raystream info "$1" >&-', tmp_path, model) == (2, "", line)


def test_a_reader_that_reads_nothing(model: Path, tmp_path: Path) -> None:
    line = '"$0" -m raystream info "$1" | head -0; exit ${PIPESTATUS[0]}'
    assert shell(line, tmp_path, model) == (141, "", "")


def test_an_encoding_of_few_characters(model: Path, tmp_path: Path) -> None:
    code, out, err = shell('"$0" -m raystream info "$1"', tmp_path, model, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "") and out.startswith("w\\xfcrfel")


def test_a_file_takes_no_place_of_a_closed_one(tmp_path: Path) -> None:
    code, _, number = shell('"$0" -c "$1" <&- >&-', tmp_path, FILES)
    assert code == 0 and int(number) > 2
    assert (tmp_path / "made").read_text() == ""


def test_without_standard_error_the_exit_code_tells(tmp_path: Path) -> None:
    assert shell('"$0" -m raystream info nope.obj 2>&-', tmp_path) == (2, "", "")
