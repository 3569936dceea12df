"""Folders as a choice of files shows them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from raystream import formats
from raystream.viewport.folder import Folder, read_folder, start_folder


def names(found: Folder, text: str = "") -> list[str]:
    return [entry.name for entry in found.matching(text)]


def test_folders_come_first_and_other_files_are_left_out(tmp_path: Path) -> None:
    for name in ("b", "A", ".hidden"):
        (tmp_path / name).mkdir()
    for suffix in (*formats.suffixes(), ".hdr", ".pic", ".EXR", ".txt", ".png", ""):
        (tmp_path / f"file{suffix}").write_bytes(b"123")
    (tmp_path / "folder.glb").mkdir()
    (tmp_path / ".hidden.glb").touch()
    files = sorted([*(f"file{suffix}" for suffix in formats.suffixes()), "file.hdr", "file.pic", "file.EXR"])
    found = read_folder(tmp_path)
    assert names(found) == ["A", "b", "folder.glb", *sorted(files, key=str.casefold)]
    assert found.path == tmp_path and not found.fault
    assert {entry.size for entry in found.entries if not entry.is_folder and entry.name != ".hidden.glb"} == {3}


def test_names_are_filtered_in_any_case_and_hidden_ones_are_typed_with_their_dot(tmp_path: Path) -> None:
    for name in ("Bunny.ply", "rabbit.PLY", ".bunny.ply", "a.bunny.ply"):
        (tmp_path / name).touch()
    found = read_folder(tmp_path)
    assert names(found, "BUN") == ["a.bunny.ply", "Bunny.ply"]
    assert names(found, ".bun") == [".bunny.ply", "a.bunny.ply"]
    assert names(found, "c") == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of bytes, and pipes")
def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    """A pipe waits for ever; links go round, lead nowhere, or to a folder. A name may be no text."""
    os.mkfifo(tmp_path / "pipe.glb")
    (tmp_path / "round.glb").symlink_to("round.glb")
    (tmp_path / "nowhere.glb").symlink_to("nothing")
    (tmp_path / "link").symlink_to(tmp_path)
    with open(os.fsencode(tmp_path) + b"/\xff.ply", "wb"):
        pass
    assert names(read_folder(tmp_path)) == ["link", "\udcff.ply"]


def test_where_a_choice_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = tmp_path / "scenes" / "a.ply"
    scene.parent.mkdir()
    scene.touch()
    monkeypatch.chdir(tmp_path)
    gone = "/no/such/folder/b.ply"
    assert start_folder(str(scene), [gone]) == scene.parent
    assert start_folder("scenes/a.ply", []) == scene.parent
    assert start_folder("cornell", [gone, str(scene.with_name("removed.ply"))]) == scene.parent
    assert start_folder("cornell", [gone]) == tmp_path
