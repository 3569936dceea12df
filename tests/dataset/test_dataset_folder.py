"""A dataset's folder: the manifest through stops, and in order at the end."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.dataset.folder import open_folder
from raystream.dataset.picture import FinishedPicture

STAGE: Any = SimpleNamespace(digest="d", recipe=SimpleNamespace(formats=(), pictures=4))


def made(number: int) -> FinishedPicture:
    """A picture of one file."""
    return FinishedPicture(number, {f"p/{number}.png": b"x" * (number + 1)}, {"number": number})


def numbers(path: Path) -> list[int]:
    """Of the manifest's pictures, each line of which is whole."""
    head, *lines = (json.loads(line) for line in (path / "manifest.jsonl").read_text().splitlines())
    assert head["recipe"] == "d"
    return [line["number"] for line in lines]


def test_a_cut_line_is_taken_away(tmp_path: Path) -> None:
    """What is written after it can be read by the next process, too."""
    path = tmp_path / "d"
    with open_folder(str(path), STAGE) as folder:
        folder.add(made(2))
        folder.add(made(0))
    manifest = path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-9])
    for number, before in ((1, {2}), (3, {2, 1})):
        with open_folder(str(path), STAGE) as folder:
            assert folder.done.keys() == before
            folder.add(made(number))
    assert numbers(path) == [2, 1, 3]


def test_lines_are_in_order_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with open_folder(str(path), STAGE) as folder:
        for number in (2, 0, 1):
            folder.add(made(number))
        assert numbers(path) == [2, 0, 1]
        folder.finish()
    assert numbers(path) == [0, 1, 2]
    assert sorted(each.name for each in path.rglob("*") if each.is_file()) == [
        "0.png",
        "1.png",
        "2.png",
        "manifest.jsonl",
    ]


def test_a_head_that_is_cut_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.mkdir()
    (path / "manifest.jsonl").write_text('{"recipe"')
    with open_folder(str(path), STAGE) as folder:
        assert not folder.done
    assert numbers(path) == []


def test_a_recipe_may_change_until_there_is_a_picture(tmp_path: Path) -> None:
    path, other = tmp_path / "d", SimpleNamespace(digest="e", recipe=STAGE.recipe)
    for stage in (other, STAGE):
        with open_folder(str(path), stage) as folder:
            assert not folder.done
    assert numbers(path) == []
    with open_folder(str(path), STAGE) as folder:
        folder.add(made(0))
    with pytest.raises(ViewerError, match="another recipe"), open_folder(str(path), other):
        pass
    assert numbers(path) == [0]
