"""Headers of Draco and KTX, references and members of JSON, by tables."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest

from raystream.base.errors import ViewerError
from raystream.formats import _OTHERS, load, recognise, suffixes
from raystream.formats.files import MAX_FILE_BYTES, check_regular, decode_data_uri, read_file, short, uri_fault
from raystream.formats.gltf import decoders
from raystream.formats.gltf.decoders import draco_size
from raystream.formats.gltf.json import JsonObject, JsonObjects, parse

HEAD = b"DRACO" + bytes((2, 2, 1))


def size_of(data: bytes, attributes: int = 1) -> int:
    named = {f"A{k}": k for k in range(attributes)}
    return draco_size(JsonObject({"attributes": named}, "a.gltf: it"), data)


def metadata(entries: list[tuple[bytes, bytes]], *below: tuple[bytes, bytes]) -> bytes:
    data = bytes((len(entries),))
    for name, value in entries:
        data += bytes((len(name),)) + name + bytes((len(value),)) + value
    data += bytes((len(below),))
    for name, part_ in below:
        data += bytes((len(name),)) + name + part_
    return data


@pytest.mark.parametrize("attributes", [0, 1, 3])
def test_sizes_of_draco(attributes: int) -> None:
    """64 bytes for a face, 16 for a vertex and attribute; numbers of seven bits a byte, the lowest first."""
    sequential = HEAD + bytes((0, 0, 0))
    edgebreaker = HEAD + bytes((1, 0, 0))
    each = 16 * attributes
    assert size_of(sequential + bytes((5, 7)), attributes) == 5 * 64 + 7 * each
    assert size_of(sequential + bytes((0x80 | 5, 2, 0x80, 0x80, 1)), attributes) == 261 * 64 + (1 << 14) * each
    # The coding, vertices, faces, attributes, symbols, and vertices that splits add.
    assert size_of(edgebreaker + bytes((9, 7, 5, 1, 4, 3)), attributes) == 5 * 64 + (7 + 3) * each
    told = metadata([(b"name", b"x" * 100), (b"", b"")], (b"sub", metadata([(b"a", b"b")])))
    marked = HEAD + bytes((0, 0, 0x80)) + bytes((2, 1)) + metadata([]) + bytes((2,)) + told + told
    assert size_of(marked + bytes((5, 7)), attributes) == 5 * 64 + 7 * each


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"DRACP" + bytes(20), "it does not begin with 'DRACO'"),
        (b"DRACO" + bytes((2, 1, 1, 0)) + bytes(9), "version 2.1 of the bitstream"),
        (b"DRACO" + bytes((1, 2, 1, 0)) + bytes(9), "version 1.2 of the bitstream"),
        (b"DRACO" + bytes((2, 2, 0, 0)) + bytes(9), "geometry of kind 0, encoded by method 0"),
        (b"DRACO" + bytes((2, 2, 1, 2)) + bytes(9), "geometry of kind 1, encoded by method 2"),
        (HEAD + bytes((0, 0, 0, 5)), "it is cut off"),
        (HEAD + bytes((0, 0, 0)) + b"\xff" * 5 + b"\0", "a number is too long"),
        (HEAD + bytes((0, 0, 0x80, 0)) + bytes((0, 1, 0)) * 40, "metadata are nested too deeply"),
        (b"DRA", "it is cut off"),
    ],
)
def test_draco_that_is_damaged(data: bytes, words: str) -> None:
    with pytest.raises(ViewerError, match=f"holds no mesh of Draco: {words}"):
        size_of(data)


def ktx(
    width: int = 8, height: int = 4, levels: int = 1, more: tuple[int, int, int] = (0, 0, 1), **change: Any
) -> bytes:
    """A file of UASTC levels, its sizes as the specification has them."""
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<2I", 0, 1) + struct.pack("<6I", width, height, *more, levels)
    head = head.ljust(80, b"\0")
    count = max(levels, 1)
    sizes = [16 * -(-max(width >> k, 1) // 4) * -(-max(height >> k, 1) // 4) for k in range(count)]
    at, index = 80 + 24 * count, b""
    for k, size in enumerate(sizes):
        index += struct.pack("<3Q", at + change.get("shift", 0), size, size + change.get("grow", 0) * (k == count - 1))
        at += size
    return head + index + bytes(at - 80 - 24 * count)


@pytest.mark.parametrize(
    ("width", "height", "levels"), [(8, 4, 1), (5, 3, 1), (8, 4, 4), (1, 1, 1), (16, 16, 0), (7, 9, 3)]
)
def test_headers_of_ktx(width: int, height: int, levels: int) -> None:
    found = decoders.basis_header(ktx(width, height, levels), "a")
    assert (found.width, found.height, found.decoder, found.texel, found.scales) == (width, height, 8, 4, True)
    count = max(levels, 1)
    assert found.least == 2 ** (count - 1) and found.hint == f"use a smaller image: {count} levels are stored"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ktx()[:79], "79 bytes, shorter than the header"),
        (ktx()[:80], "1 levels, but no index"),
        (ktx()[:103], "1 levels, but no index"),
        (ktx(0), "0 x 4 x 0 texels"),
        (ktx(8, 0), "8 x 0 x 0 texels"),
        (ktx(more=(1, 0, 1)), "8 x 4 x 1 texels in 0 layers of 1 faces"),
        (ktx(more=(0, 1, 1)), "in 1 layers of 1 faces"),
        (ktx(more=(0, 0, 6)), "in 0 layers of 6 faces"),
        (ktx(levels=33), "33 levels, but no index"),
        (ktx(shift=1), "level 0 takes bytes 105 .. 137 of 136"),
        (ktx(grow=1), "level 0 takes bytes 104 .. 136 of 136, and 33 later"),
        (ktx(levels=4, grow=1), "level 3 takes bytes"),
        (ktx()[:-1], "level 0 takes bytes 104 .. 136 of 135"),
    ],
)
def test_ktx_that_is_damaged(data: bytes, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        decoders.basis_header(data, "a")
    assert decoders.is_basis(ktx()) and not decoders.is_basis(b"x" + ktx()) and not decoders.is_basis(ktx()[:11])


@pytest.mark.parametrize(("most", "length"), [(None, 10), (0, 0), (3, 3), (10, 10), (11, 10)])
def test_first_bytes_of_files(most: int | None, length: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(10)))
    assert read_file(path, max_bytes=most) == bytes(range(length)) and check_regular(path) == 10
    assert MAX_FILE_BYTES == 8 << 30


@pytest.mark.parametrize(
    ("value", "most", "shown"),
    [
        ("a" * 58, 60, repr("a" * 58)),
        ("a" * 59, 60, "'" + "a" * 56 + "..."),
        (b"ab", 60, "b'ab'"),
        (12345, 5, "12345"),
        (123456, 5, "12..."),
        (10**5000, 60, "a huge number"),
        (None, 60, "None"),
    ],
    ids=range(7),
)
def test_short_texts(value: Any, most: int, shown: str) -> None:
    assert short(value, most) == shown


@pytest.mark.parametrize(
    ("uri", "fault"),
    [
        ("a.b/c", ""),
        ("a..b", ""),
        ("...", ""),
        ("a/..b/c..", ""),
        ("%41", ""),
        ("1:a", ""),
        ("é:x", ""),
        ("a-b.c+d:x", "names a scheme"),
    ],
)
def test_faults_of_references(uri: str, fault: str) -> None:
    assert uri_fault(uri).startswith(fault) and bool(uri_fault(uri)) == bool(fault)


@pytest.mark.parametrize(
    ("uri", "data"),
    [
        ("data:,a%00b,c", b"a\0b,c"),
        ("data:x;BASE64,QUI=", b"AB"),
        ("data:;charset=utf-8;base64,", b""),
        ("data:;base64x,QUI=", b"QUI="),
        ("data:,", b""),
    ],
)
def test_data_in_references(uri: str, data: bytes) -> None:
    assert decode_data_uri(uri, "a") == data


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


SOME = {
    "i": 3,
    "f": 3.0,
    "h": 3.5,
    "b": True,
    "t": "x",
    "n": None,
    "l": [1, 2.5],
    "o": {"p": 1},
    "big": 2**53,
    "m": [{}, 5],
}


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda o: o.integer("i"), 3),
        (lambda o: o.integer("f"), 3),
        (lambda o: o.integer("none", 7), 7),
        (lambda o: o.integer("i", low=3, high=3), 3),
        (lambda o: o.integer("big"), 2**53),
        (lambda o: o.index("i", 4, "thing"), 3),
        (lambda o: o.index("none", 4, "thing", None), None),
        (lambda o: o.index("none", 4, "thing", -1), -1),
        (lambda o: o.number("i"), 3.0),
        (lambda o: o.number("h"), 3.5),
        (lambda o: o.number("none", 1.5), 1.5),
        (lambda o: o.numbers("l", 2), (1.0, 2.5)),
        (lambda o: o.numbers("none", 2, "default"), "default"),
        (lambda o: o.text("t"), "x"),
        (lambda o: o.flag("b"), True),
        (lambda o: o.child("o").data, {"p": 1}),
        (lambda o: o.child("none").data, {}),
        (lambda o: o.array("l"), [1, 2.5]),
        (lambda o: o.array("none"), []),
        (lambda o: len(o.objects("m")), 2),
        (lambda o: o.objects("m")[0].where, "a.gltf: it.m[0]"),
        (lambda o: o.extension("x"), None),
        (lambda o: "i" in o and "none" not in o, True),
        (lambda o: o.path("i"), "a.gltf: it.i"),
        (lambda o: parse(b"{}", "a.gltf").path("i"), "a.gltf: i"),
        (lambda o: parse(b'\xef\xbb\xbf{"extensions": {"x": {"y": 1}}}', "a").extension("x").data, {"y": 1}),
    ],
)
def test_members_of_json(call: Any, result: Any) -> None:
    assert call(JsonObject(SOME, "a.gltf: it")) == result


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda o: o.integer("h"), "h: expected an integer, got 3.5"),
        (lambda o: o.integer("b"), "b: expected an integer, got True"),
        (lambda o: o.integer("none"), "none: is missing; expected an integer"),
        (lambda o: o.integer("i", low=4), "i: 3 is not in 4 .."),
        (lambda o: o.integer("i", high=2), "i: 3 is not in 0 .. 2"),
        (lambda o: o.index("i", 3, "thing"), "i: names thing 3 of 3"),
        (lambda o: o.number("b"), "b: expected a number, got True"),
        (lambda o: o.number("n"), "n: is missing; expected a number"),
        (lambda o: o.numbers("l", 3), r"l: expected 3 numbers, got \[1, 2.5\]"),
        (lambda o: o.numbers("i", 1), "i: expected 1 numbers, got 3"),
        (lambda o: o.text("i"), "i: expected a string, got 3"),
        (lambda o: o.flag("i"), "i: expected true or false, got 3"),
        (lambda o: o.child("l"), "l: expected an object"),
        (lambda o: o.array("o"), "o: expected an array"),
        (lambda o: list(o.objects("m")), r"m\[1\]: expected an object, got 5"),
        (lambda o: o.indices("l", 2, "thing"), r"l\[1\]: expected an integer, got 2.5"),
        (lambda o: o.indices("l", 1, "thing"), r"l\[0\]: names thing 1 of 1"),
        (lambda o: o.texts("l"), r"l\[0\]: expected a string, got 1"),
        (lambda o: JsonObjects([3], "a: l")[0], r"a: l\[0\]: expected an object, got 3"),
    ],
)
def test_members_that_are_wrong(call: Any, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        call(JsonObject(SOME, "a.gltf: it"))
