"""Which reader takes a file, what is said about those that none can read, and why a reference is not opened."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from documents import SQUARE, TWO, Document, samples

from raystream.base.errors import ViewerError
from raystream.formats import _OTHERS, load, recognise, suffixes
from raystream.formats.files import (
    check_regular,
    decode_data_uri,
    read_file,
    resolve_uri,
    uri_fault,
)


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
    for uri, data in (
        ("data:text/plain,a%20b", b"a b"),
        ("data:,a%00b,c", b"a\0b,c"),
        ("data:x;BASE64,QUI=", b"AB"),
        ("data:;charset=utf-8;base64,", b""),
        ("data:;base64x,QUI=", b"QUI="),
    ):
        assert decode_data_uri(uri, "x") == data, uri
    for body in ("QUI=", "QUI", "Q\nU I =\r\n", "QUI%3D", "Q%0AUI", "\tQUI\f"):  # as browsers read it
        assert decode_data_uri(f"data:;base64,{body}", "x") == b"AB", body
    for uri in ("data:;base64", "data:;base64,QUI=x", "data:;base64,Q", "data:;base64,QU-_", "data:;base64,é==="):
        with pytest.raises(ViewerError):
            decode_data_uri(uri, "x")


CLIMBS = "climbs out of the scene's folder"
ABSOLUTE = "is an absolute path"
BACKSLASH = "holds a backslash"
SCHEME = "names a scheme or drive; nothing is fetched from elsewhere"
EMPTY, ZERO = "is empty", "holds a zero byte"

# References by the reason for which they are refused; those with % are URIs, and plain names of files in OBJ and MTL.
REASONS = {
    **dict.fromkeys(["../a", "b/../../a", "..", "b/..", "%2e%2e/a", "%2E%2E%2Fa", "b/%2e%2e/a"], CLIMBS),
    **dict.fromkeys(["/a", "//h/a", "%2fa", "/inner/a"], ABSOLUTE),
    **dict.fromkeys(["..\\a", "a%5c..%5cb", "b\\a", "\\a"], BACKSLASH),
    **dict.fromkeys(["http://h/a", "file:a", "C:/a", "c:a", "x-y+z.1:a", "http%3a//h/a"], SCHEME),
    **dict.fromkeys(["", " ", "%20"], EMPTY),
    **dict.fromkeys(["a\0b", "a%00b"], ZERO),
}


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    """A folder with a file outside and one inside."""
    folder = tmp_path / "inner"
    (folder / "b").mkdir(parents=True)
    for place in (tmp_path, folder):
        (place / "a").write_bytes(b"x" * 64)
    return folder


@pytest.mark.parametrize("uri", REASONS)
def test_every_reference_is_refused_by_its_own_check(uri: str, inner: Path) -> None:
    assert uri_fault(uri) == REASONS[uri]
    with pytest.raises(ViewerError) as refused:
        resolve_uri(inner, uri, "scene.gltf: images[0].uri")
    assert refused.value.what.endswith(REASONS[uri])
    assert refused.value.where == "scene.gltf: images[0].uri"


def test_what_a_link_or_a_device_is_refused_for(inner: Path) -> None:
    (inner / "out").symlink_to(inner.parent / "a")
    (inner / "null").symlink_to("/dev/null")
    for name, what in (
        ("out", "leads out of the scene's folder by a link"),
        ("null", "leads out of the scene's folder by a link"),
        ("b", "is a folder"),
        ("c", "file 'c' not found"),
    ):
        with pytest.raises(ViewerError) as refused:
            resolve_uri(inner, name, "scene")
        assert refused.value.what.endswith(what)


READ = [uri for uri, reason in REASONS.items() if reason in (CLIMBS, ABSOLUTE, SCHEME, BACKSLASH)]


@pytest.mark.parametrize("uri", READ)
def test_buffers_and_images_of_gltf(uri: str, inner: Path) -> None:
    doc = Document()
    doc.mesh({"POSITION": doc.accessor(SQUARE)}, doc.accessor(TWO), material=0)
    doc.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    doc.json["textures"], doc.json["images"] = [{"source": 0}], [{"uri": uri}]
    with pytest.raises(ViewerError) as refused:
        load(doc.write(inner, "scene.gltf"))
    assert refused.value.what.endswith(REASONS[uri]) and "images[0]" in refused.value.where
    doc.json["materials"] = [{}]
    text = doc.gltf()
    start = text.index(b'"uri": "data:')
    end = text.index(b'"', start + 8)
    path = inner / "outside.gltf"
    path.write_bytes(text[:start] + b'"uri": "' + uri.replace("\\", "\\\\").encode() + text[end:])
    with pytest.raises(ViewerError) as refused:
        load(path)
    assert refused.value.what.endswith(REASONS[uri]) and "buffers[0].uri" in refused.value.where


@pytest.mark.parametrize("name", [uri for uri in READ if "%" not in uri])
def test_libraries_and_pictures_of_obj(name: str, inner: Path) -> None:
    """A backslash is a slash, as exporters on Windows write them; no file of the name is in the folder, where it would
    be the one that is meant."""
    (inner / "a").unlink()
    reason = {"..\\a": CLIMBS, "b\\a": "not found", "\\a": ABSOLUTE}.get(name, REASONS[name])
    face = "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nf 1/1 2/1 3/1\n"
    (inner / "scene.obj").write_text(f"mtllib {name}\nusemtl m\n{face}")
    assert any(line.startswith("mtllib not read") and reason in line for line in load(inner / "scene.obj").warnings)
    (inner / "m.mtl").write_text(f"newmtl m\nmap_Kd {name}\n")
    (inner / "scene.obj").write_text(f"mtllib m.mtl\nusemtl m\n{face}")
    (warning,) = [line for line in load(inner / "scene.obj").warnings if "white instead" in line]
    assert reason in warning


@pytest.mark.parametrize(("most", "length"), [(None, 10), (0, 0), (3, 3), (10, 10), (11, 10)])
def test_first_bytes_of_files(most: int | None, length: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(10)))
    assert read_file(path, max_bytes=most) == bytes(range(length)) and check_regular(path) == 10


def test_references_without_a_fault() -> None:
    assert [uri_fault(uri) for uri in ("a.b/c", "a..b", "...", "a/..b/c..", "%41", "1:a", "é:x")] == [""] * 7


@pytest.mark.parametrize(("magic", "what"), _OTHERS, ids=[what for _, what in _OTHERS])
def test_files_of_other_kinds(magic: bytes, what: str, tmp_path: Path) -> None:
    for name in ("a.xyz", "a.obj"):
        path = tmp_path / name
        path.write_bytes(magic + b" and more\n")
        with pytest.raises(ViewerError, match=rf"holds {what} \(scenes are {re.escape(', '.join(suffixes()))}\)"):
            load(path)
    assert suffixes() == (".gltf", ".glb", ".ply", ".stl", ".obj", ".bsp")
    path.write_bytes(b"v 1 2 3\n")
    assert recognise(path).NAME == "OBJ"


@pytest.mark.parametrize("used", [True, False])
def test_vertices_that_are_not_finite(used: bool, tmp_path: Path) -> None:
    """Counted where a triangle uses them, whatever of them is not finite."""
    path = tmp_path / "a.obj"
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nv 0 inf inf\nf 1 2 3\n{'f 1 2 4' if used else ''}\n")
    told = ["1 vertex is not finite; the triangles there cannot be hit"]
    assert load(path).warnings == (told if used else [])
    path.write_text(path.read_text() + "f 1 2 5\n" * used)
    if used:
        assert load(path).warnings == ["2 vertices are not finite; the triangles there cannot be hit"]
