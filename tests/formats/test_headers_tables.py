"""Headers that are read before a library takes memory, by hand-made bytes: OpenEXR, Draco, KTX 2; and files and texts
of small formats."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viewer.base.errors import ViewerError
from viewer.formats import _OTHERS, load, recognise, suffixes
from viewer.formats.files import LARGEST_FILE, check_regular, decode_data_uri, read_file, short, uri_fault
from viewer.formats.gltf.decoders import basis
from viewer.formats.gltf.decoders.draco import decoded_size
from viewer.formats.gltf.json import JsonObject, JsonObjects, parse
from viewer.formats.image import exr
from viewer.formats.image.exr import ExrPart

# OpenEXR


def attribute(name: str, kind: str, data: bytes) -> bytes:
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<i", len(data)) + data


def channel(name: str, kind: int = 2, across: int = 1, down: int = 1) -> bytes:
    return name.encode() + b"\0" + struct.pack("<iiii", kind, 0, across, down)


RGB = channel("B") + channel("G") + channel("R") + b"\0"


def header(
    window: tuple[int, int, int, int] = (0, 0, 9, 4),
    compression: int = 3,
    channels: bytes = RGB,
    **more: tuple[str, bytes],
) -> bytes:
    found = attribute("channels", "chlist", channels) + attribute("compression", "compression", bytes((compression,)))
    found += attribute("dataWindow", "box2i", struct.pack("<4i", *window))
    return found + b"".join(attribute(name, *each) for name, each in more.items()) + b"\0"


def file(*headers: bytes, flags: int = 0, version: int = 2) -> bytes:
    end = b"\0" if flags & 0x1000 else b""
    return exr.MAGIC + struct.pack("<I", version | flags) + b"".join(headers) + end


TILES = ("tiledesc", struct.pack("<IIB", 4, 3, 0))


def test_a_header() -> None:
    more = {"owner": ("string", b"me"), "number": ("int", b"1234")}
    data = file(header((-3, 7, 6, 11), 4, channel("Z", 0, 2, 3) + channel("A", 1) + RGB, **more))
    (part,), start = exr.parts(data + b"rest", "a")
    assert start == len(data)
    assert (part.width, part.height, part.top, part.lines, part.compression, part.tile) == (10, 5, 7, 32, 4, None)
    assert part.channels == {"Z": (0, 3, 2), "A": (1, 1, 1), "B": (2, 1, 1), "G": (2, 1, 1), "R": (2, 1, 1)}
    assert part.texts == {"owner": "me"} and part.attributes["number"] == ("int", b"1234")
    assert part.pixel_bytes == 4 + 2 + 3 * 4 and part.chunks == 1


LINES = {0: 1, 1: 1, 2: 1, 3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256, 10: 256, 11: 32, 99: 1}


@pytest.mark.parametrize("compression", LINES)
def test_chunks_of_lines(compression: int) -> None:
    for height in (1, 15, 16, 17, 32, 33, 256, 257):
        (part,), _ = exr.parts(file(header((0, 0, 0, height - 1), compression)), "a")
        assert part.lines == LINES[compression] and part.chunks == -(-height // part.lines)


@pytest.mark.parametrize(("size", "chunks"), [((4, 3), 1), ((5, 3), 2), ((4, 4), 2), ((5, 4), 4), ((9, 7), 9)])
def test_chunks_of_tiles(size: tuple[int, int], chunks: int) -> None:
    (part,), _ = exr.parts(file(header((0, 0, size[0] - 1, size[1] - 1), tiles=TILES), flags=0x200), "a")
    assert part.tile == (4, 3) and part.chunks == chunks


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"x" + file(header())[1:], "is not an EXR picture"),
        (file(header(), version=1), "version 1"),
        (file(header(), version=3), "version 3"),
        (file(header(), flags=0x800), "holds deep pixels"),
        (file(header())[:7], "is cut short in its header"),
        (file(header())[:-1], "is cut short in its header|leaves the header"),
        (file(header((0, 0, -1, 0))), "0 x 1 pixels"),
        (file(header((0, 5, 0, 3))), "1 x -1 pixels"),
        (file(header(channels=channel("R", 3) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R", -1) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R", 1, 0) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R", 1, 1, 0) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R")[:-1])), "its list of channels is cut short"),
        (file(attribute("dataWindow", "box2i", bytes(16)) + b"\0"), "no compression"),
        (file(attribute("dataWindow", "box2f", bytes(16)) + b"\0"), "no dataWindow"),
        (file(attribute("dataWindow", "box2i", bytes(15)) + b"\0"), "no dataWindow"),
        (file(b"x" * 256 + b"\0"), "a name of more than 255 bytes"),
        (file(b"a\0b\0" + struct.pack("<i", -1) + b"\0"), "attribute 'a' has a length of -1"),
        (file(b"a\0b\0" + struct.pack("<i", 2) + b"\0"), "has a length of 2, which leaves the header"),
        (file(header(), flags=0x200), "no tiles"),
        (file(header(tiles=TILES, type=("string", b"tiledimage"))), "its type is b'tiledimage'"),
        (file(header(type=("string", b"deepscanline"))), "its type is b'deepscanline'"),
        (file(header(), flags=0x1000), "its type is b''"),
        (file(header(tiles=("tiledesc", struct.pack("<IIB", 0, 3, 0))), flags=0x200), "tiles without pixels"),
        (file(header(tiles=("tiledesc", struct.pack("<IIB", 4, 0, 0))), flags=0x200), "tiles without pixels"),
    ],
)
def test_headers_that_are_damaged(data: bytes, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        exr.parts(data, "a")


def test_names_of_255_bytes() -> None:
    (part,), _ = exr.parts(file(attribute("y" * 255, "int", b"1234") + header()), "a")
    assert part.attributes["y" * 255] == ("int", b"1234")


def test_files_of_several_parts() -> None:
    one = header((0, 0, 4, 4), type=("string", b"scanlineimage"), chunkCount=("int", struct.pack("<i", 9)))
    two = header((0, 0, 9, 9), type=("string", b"tiledimage\0"), tiles=TILES)
    data = file(one, two, flags=0x1000)
    found, start = exr.parts(data, "a")
    assert [(part.width, part.tile) for part in found] == [(5, None), (10, (4, 3))] and start == len(data)
    room = start + 8 * (9 + 12)  # the announced number of chunks where that is more
    exr.check(found, start, room, "a")
    with pytest.raises(ViewerError, match="its headers list more chunks"):
        exr.check(found, start, room - 1, "a")


def part(width: int, height: int, compression: int, lines: int = 1, tile: Any = None, **channels: tuple) -> ExrPart:
    return ExrPart({}, channels or {"R": (2, 1, 1)}, width, height, 0, lines, compression, tile)


@pytest.mark.parametrize(
    ("found", "length", "words"),
    [
        (part(100, 10, 0, 10), 4000, ""),
        (part(100, 10, 0, 10), 3999, "100 x 10 pixels in 3,999 bytes"),
        (part(64 * 25, 10, 1, 10), 1000, ""),
        (part(64 * 25, 10, 1, 10), 999, "pixels in 999 bytes"),
        *((part(1032, 250, kind, 250), 1000, "") for kind in (2, 3, 5)),
        *((part(1032, 250, kind, 250), 999, "pixels in 999 bytes") for kind in (2, 3, 5)),
        (part(1 << 20, 1 << 10, 9, 1), 1 << 20, ""),  # of lossy ones nothing is known
        (part(100, 10, 0, 10, R=(2, 2, 1)), 100, ""),  # nor where a channel has fewer samples
        (part(1 << 26, 1, 0), 1 << 30, ""),
        (part((1 << 26) + 1, 1, 0), 1 << 30, r"decodes 1 x 67108865 pixels at once"),
        (part(1 << 20, 64, 3, 64), 1 << 30, ""),
        (part(1 << 20, 65, 3, 65), 1 << 30, "decodes 65 x 1048576 pixels at once"),
        (part(1 << 20, 1 << 10, 3, 1, (1 << 13, 1 << 13)), 1 << 32, ""),
        (part(1 << 20, 1 << 10, 3, 1, ((1 << 13) + 1, 1 << 13)), 1 << 32, "pixels at once"),
        (part(1 << 26, 1, 0, R=(1, 1, 1), G=(1, 1, 1)), 1 << 30, ""),
        (part(1 << 26, 1, 0, R=(1, 1, 1), G=(2, 1, 1)), 1 << 30, "pixels at once"),
    ],
)
def test_pictures_that_a_file_cannot_hold(found: ExrPart, length: int, words: str) -> None:
    if words:
        with pytest.raises(ViewerError, match=words):
            exr.check([found], 0, length, "a")
    else:
        exr.check([found], 0, length, "a")


@pytest.mark.parametrize("kinds", [(np.float32, np.float16), (np.float16, np.uint32), (np.uint32, np.float32)])
def test_lines_of_channels(kinds: tuple[type, type], tmp_path: Path) -> None:
    """Halves and floats as float32, whole numbers as they are, in the order of their names as asked."""
    import OpenEXR

    first, second = (np.arange(12).reshape(4, 3) + 10 * k for k in range(2))
    channels = {"one": np.ascontiguousarray(first, kinds[0]), "two": np.ascontiguousarray(second, kinds[1])}
    path = str(tmp_path / "a.exr")
    with OpenEXR.File({"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}, channels) as made:
        made.write(path)
    data = Path(path).read_bytes()
    (found,), _ = exr.parts(data, "a")
    for source in (path, data):
        pixels = exr.ExrPixels(source, found, "a")
        for names, wanted in ((("two", "one"), (second, first)), (("one",), (first,))):
            for first_line, last in ((0, 4), (1, 3), (3, 4)):
                lines = pixels.lines(names, first_line, last)
                for line, values, kind in zip(lines, wanted, [kinds[n == "two"] for n in names], strict=True):
                    assert line.dtype == (np.uint32 if kind is np.uint32 else np.float32)
                    np.testing.assert_array_equal(line, values[first_line:last])
        pixels.close()


# Draco

HEAD = b"DRACO" + bytes((2, 2, 1))


def size_of(data: bytes, attributes: int = 1) -> int:
    named = {f"A{k}": k for k in range(attributes)}
    return decoded_size(JsonObject({"attributes": named}, "a.gltf: it"), data)


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


# KTX 2


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
    found = basis.header(ktx(width, height, levels), "a")
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
        basis.header(data, "a")
    assert basis.sniff(ktx()) and not basis.sniff(b"x" + ktx()) and not basis.sniff(ktx()[:11])


# Files


@pytest.mark.parametrize(("most", "length"), [(None, 10), (0, 0), (3, 3), (10, 10), (11, 10)])
def test_first_bytes_of_files(most: int | None, length: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(10)))
    assert read_file(path, most=most) == bytes(range(length)) and check_regular(path) == 10
    assert LARGEST_FILE == 8 << 30


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
        with pytest.raises(ViewerError, match=rf"holds {what} \(scenes are .gltf, .glb, .ply, .stl, .obj, .bsp\)"):
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


# JSON

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
        (lambda o: o.number("n"), "n: expected a number, got None"),
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
