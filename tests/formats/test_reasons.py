"""Why a reference is not opened: the check that must refuse it, not another one behind that does so by chance.

On Linux a path that climbs out of the folder is also found by where it leads; where that is not so, or the file is not
there, the first check is the only one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import SQUARE, TWO, Document

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.files import resolve_uri, uri_fault

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
