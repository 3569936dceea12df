"""A killed process left its unfinished file beside the picture for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from raystream.base import part_file
from raystream.film.files import image

pytest.importorskip("fcntl")

WRITER = """
import os, sys
from pathlib import Path
from raystream.base import part_file
parts = []
for name in sys.argv[1:]:
    part = part_file.begin(Path(name))
    part.path.write_bytes(b"half")
    parts.append(part)
print("begun", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""
PICTURE = np.ones((2, 3, 3), np.float32)


def writer(*targets: Path) -> subprocess.Popen[str]:
    """A process with an unfinished file for each target, which is killed at the first line that it is given."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, *map(str, targets)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    return child


def parts(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def test_the_next_writer_of_the_same_file_removes_what_dead_ones_left(tmp_path: Path) -> None:
    target, other, live = tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.png"
    dead, alive = writer(target, target, other), writer(target, live)
    assert len(parts(tmp_path)) == 5
    dead.communicate("die\n")
    foreign = tmp_path / ".raystream-0123456789ab.part"
    foreign.write_bytes(b"of another program")

    image.save(target, PICTURE)
    left = parts(tmp_path)
    assert len(left) == 4  # b.png's, the living writer's two, and the foreign one
    assert foreign.name in left and target.is_file()
    image.check_path(other)  # before rendering
    assert len(parts(tmp_path)) == 3
    alive.communicate("die\n")
    part_file.write(str(live), "text")
    image.save(target, PICTURE)
    assert parts(tmp_path) == [foreign.name]


def test_a_living_writer_keeps_its_part_whoever_else_writes(tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    first, second = part_file.begin(target), part_file.begin(target)  # as two threads
    first.path.write_bytes(b"first")
    image.save(target, PICTURE)
    assert parts(tmp_path) == sorted([first.path.name, second.path.name]) and first.path.read_bytes() == b"first"
    os.replace(first.path, target)
    third = part_file.begin(target)
    assert third.path == first.path  # the name is free
    first.end()
    assert third.path.exists() and target.read_bytes() == b"first"
    second.end()
    third.end()
    assert os.listdir(tmp_path) == ["a.png"]


def test_many_writers_of_one_target(tmp_path: Path) -> None:
    made = [part_file.begin(tmp_path / "a.png") for _ in range(part_file.MAX_WRITERS + 3)]
    assert len({part.path for part in made}) == len(made)
    for part in made:
        part.end()
    assert not os.listdir(tmp_path)


def test_where_files_cannot_be_locked_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = writer(tmp_path / "a.png")
    dead.communicate("die\n")

    def refuse(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(part_file.fcntl, "flock", refuse)
    left = parts(tmp_path)
    image.save(tmp_path / "a.png", PICTURE)
    assert parts(tmp_path) == left and (tmp_path / "a.png").is_file()
