"""Which reader takes a file, and what is said about files that none can read."""

from __future__ import annotations

import os

import pytest
from documents import Document, samples

from raystream.base.errors import ViewerError
from raystream.formats import load, suffixes
from raystream.formats.files import decode_data_uri, resolve_uri, uri_fault


@pytest.mark.parametrize("name", samples())
def test_content_decides_whatever_the_name(name, tmp_path):
    path = tmp_path / "scene without ending"
    path.write_bytes(samples()[name])
    assert load(path).triangle_count > 0
    named = tmp_path / name.upper()
    named.write_bytes(samples()[name])
    assert load(str(named)).triangle_count == load(path).triangle_count


def test_a_known_ending_must_match_the_content(tmp_path):
    path = tmp_path / "mesh.ply"
    path.write_bytes(samples()["binary.stl"])
    with pytest.raises(ViewerError, match=r"named .ply but holds STL"):
        load(path)


@pytest.mark.parametrize("suffix", [*suffixes(), ".xyz", ""])
@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 200, b"\x89PNG\r\n\x1a\n", bytes(range(256)) * 9])
def test_other_content_is_refused_under_every_name(content, suffix, tmp_path):
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    try:
        scene = load(path)
    except ViewerError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
    else:
        assert suffix == ".stl"  # no triangles, and bytes after them
        assert content == b"\0" * 200
        assert scene.triangle_count == 0


def test_empty_stl_is_a_scene_without_triangles(tmp_path):
    path = tmp_path / "none.stl"
    path.write_bytes(b"nothing".ljust(84, b"\0"))
    assert "no triangles" in load(path).warnings[-1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: None, "no such file"),
        (lambda p: p.mkdir(), "is a folder"),
        (lambda p: os.mkfifo(p), "device, pipe or socket"),
        (lambda p: p.symlink_to(p), "cannot be opened"),
        (lambda p: p.symlink_to("/dev/zero"), "device, pipe or socket"),
        (lambda p: p.write_bytes(b""), "empty"),
    ],
)
def test_what_is_no_file(make, words, tmp_path):
    path = tmp_path / "scene.glb"
    make(path)
    with pytest.raises(ViewerError, match=words):
        load(path)


@pytest.mark.parametrize("name", ["a\0b.glb", "x" * 5000 + ".ply"])
def test_impossible_names(name):
    with pytest.raises(ViewerError, match="cannot be opened"):
        load(name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path):
    path = Document().write(tmp_path)
    path.chmod(0)
    with pytest.raises(ViewerError, match="permission"):
        load(path)


def test_references_into_the_own_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("plain.bin", "with space & ü.bin", "sub/deep.bin", "100%.bin"):
        (tmp_path / name).write_bytes(b"x")
    for uri in ("plain.bin", "./plain.bin", "with%20space%20&%20%C3%BC.bin", "with space & ü.bin", "sub/deep.bin"):
        assert uri_fault(uri) == ""
        assert resolve_uri(tmp_path, uri, "scene").read_bytes() == b"x"
    assert resolve_uri(tmp_path, "100%.bin", "scene", encoded=False).read_bytes() == b"x"


def test_data_uris():
    assert decode_data_uri("data:;base64,QUI=", "x") == b"AB"
    assert decode_data_uri("data:text/plain,a%20b", "x") == b"a b"
    for body in ("QUI=", "QUI", "Q\nU I =\r\n", "QUI%3D", "Q%0AUI", "\tQUI\f"):  # as browsers read it
        assert decode_data_uri(f"data:;base64,{body}", "x") == b"AB", body
    for uri in ("data:;base64", "data:;base64,QUI=x", "data:;base64,Q", "data:;base64,QU-_", "data:;base64,é==="):
        with pytest.raises(ViewerError):
            decode_data_uri(uri, "x")
