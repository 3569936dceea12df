"""``raystream dataset`` emptied a `manifest.jsonl` that was not its own, through a link, too, and took damaged records
for pictures: all but the first line's form went unchecked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.dataset.folder import open_folder
from raystream.dataset.picture import FinishedPicture

STAGE: Any = SimpleNamespace(digest="0123456789abcdef", recipe=SimpleNamespace(formats=(), pictures=4))
FOREIGN = {
    "records of another program": b'{"image": "a.png", "label": 3}\n{"image": "b.png", "label": 1}\n',
    "a text": b"shopping list: milk, bread",
    "one line without an end": b'{"image": "a.png"}',
    "blank lines": b"\n\n\n",
    "a head with more keys": b'{"recipe":"r","raystream":"1","author":"me"}\n',
    "a head of numbers": b'{"recipe":1,"raystream":2}\n',
    "bytes": bytes(range(256)),
    "a deep list": b"[" * 100_000 + b"\n",
    "a head behind a line": b'{"image": "a.png"}\n{"recipe":"0123456789abcdef","raystream":"1"}\n',
}


def _picture(number: int) -> FinishedPicture:
    record = {"number": number, "driver": "a driver", "coco": [{"kind": 0, "counts": "01", "box": [0, 1, 2, 3]}]}
    return FinishedPicture(number, {f"p/{number}.png": b"x" * (number + 1)}, record)


def _refused(folder: Path, what: str) -> None:
    with pytest.raises(ViewerError, match=what), open_folder(str(folder), STAGE):
        pass


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("neighbour", [False, True], ids=["alone", "with other files"])
def test_a_file_of_others_is_kept(tmp_path: Path, content: bytes, neighbour: bool) -> None:
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_bytes(content)
    if neighbour:
        (tmp_path / "a.png").write_bytes(b"picture")
    _refused(tmp_path, "holds other files")
    assert manifest.read_bytes() == content


def test_an_empty_file_beside_others_is_kept(tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").touch()
    (tmp_path / "a.png").write_bytes(b"picture")
    _refused(tmp_path, "holds other files")
    assert not (tmp_path / "manifest.jsonl").read_bytes()


@pytest.mark.parametrize("content", [None, b"", b'{"image": "a.png"}\n'], ids=["nothing", "empty", "records"])
def test_links_are_not_followed(tmp_path: Path, content: bytes | None) -> None:
    target, folder = tmp_path / "mine.jsonl", tmp_path / "d"
    folder.mkdir()
    if content is not None:
        target.write_bytes(content)
    (folder / "manifest.jsonl").symlink_to(target)
    _refused(folder, "holds other files")
    assert (folder / "manifest.jsonl").is_symlink()
    assert target.read_bytes() == content if content is not None else not target.exists()


def _written(folder: Path) -> tuple[Path, list[bytes]]:
    """The manifest of four pictures, and its lines."""
    with open_folder(str(folder), STAGE) as dataset:
        for number in range(4):
            dataset.add(_picture(number))
        dataset.finish()
    manifest = folder / "manifest.jsonl"
    return manifest, manifest.read_bytes().splitlines(keepends=True)


def _edited(line: bytes, **values: Any) -> bytes:
    return json.dumps({**json.loads(line), **values}, separators=(",", ":")).encode() + b"\n"


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "another number": lambda line: _edited(line, number=99),
    "a negative number": lambda line: _edited(line, number=-1),
    "true for a number": lambda line: _edited(line, number=True),
    "no driver": lambda line: _edited(line, driver=None),
    "files as a list": lambda line: _edited(line, files=["p/1.png"]),
    "no files": lambda line: _edited(line, files={}),
    "a record of another kind": lambda line: _edited(line, coco=5),
    "a kind that there is not": lambda line: _edited(line, coco=[{"kind": 7}]),
    "a list": lambda line: b"[1]\n",
    "no JSON": lambda line: b"\xff\xfe\n",
    "a deep list": lambda line: b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_damaged_record_is_made_again(tmp_path: Path, edit: Callable[[bytes], bytes]) -> None:
    """The others are kept, also those behind it."""
    folder = tmp_path / "d"
    manifest, lines = _written(folder)
    manifest.write_bytes(b"".join([*lines[:2], edit(lines[2]), *lines[3:]]))
    with open_folder(str(folder), STAGE) as dataset:
        assert dataset.done.keys() == {0, 2, 3}
        dataset.add(_picture(1))
        dataset.finish()
    assert manifest.read_bytes() == b"".join(lines)


def test_a_record_of_another_recipe_is_no_picture(tmp_path: Path) -> None:
    other = SimpleNamespace(digest="f" * 16, recipe=STAGE.recipe)
    manifest, lines = _written(tmp_path / "d")
    with open_folder(str(tmp_path / "e"), other) as dataset:
        dataset.add(_picture(0))
    foreign = (tmp_path / "e" / "manifest.jsonl").read_bytes().splitlines(keepends=True)[1]
    manifest.write_bytes(b"".join([lines[0], foreign, *lines[2:]]))
    with open_folder(str(tmp_path / "d"), STAGE) as dataset:
        assert dataset.done.keys() == {1, 2, 3}


def test_random_damage(tmp_path: Path) -> None:
    """800 times: what is left is whole, or the file is refused and kept."""
    draw, folder = random.Random(43), tmp_path / "d"
    manifest, lines = _written(folder)
    content, refused = b"".join(lines), 0
    whole = {json.loads(line)["number"]: json.loads(line) for line in lines[1:]}
    for _ in range(800):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.randint(0, 4)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 4)))
        manifest.write_bytes(damaged)
        try:
            with open_folder(str(folder), STAGE) as dataset:
                assert dataset.done.keys() <= {0, 1, 2, 3}
                for number, record in dataset.done.items():
                    assert record.items() <= whole[number].items()
        except ViewerError:
            refused += 1
            assert manifest.read_bytes() == damaged
    assert 20 < refused < 400  # where the head is hit
