"""Headers of OpenEXR that are read before a library takes memory, by hand-made bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from exr_bytes import attribute

from raystream.base.errors import ViewerError
from raystream.formats.image import exr
from raystream.formats.image.exr import ExrPart
from tests.refusals import refusal


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
        (file(header(), flags=0x800), "holds deep pixels"),
        (file(header())[:7], "is cut short in its header"),
        (file(header())[:-1], "is cut short in its header|leaves the header"),
        (file(header((0, 0, -1, 0))), "0 x 1 pixels"),
        (file(header(channels=channel("R", 3) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R", 1, 0) + b"\0")), "channel b'R' of an unknown kind"),
        (file(header(channels=channel("R")[:-1])), "its list of channels is cut short"),
        (file(attribute("dataWindow", "box2i", bytes(16)) + b"\0"), "no compression"),
        (file(attribute("dataWindow", "box2i", bytes(15)) + b"\0"), "no dataWindow"),
        (file(b"x" * 256 + b"\0"), "a name of more than 255 bytes"),
        (file(b"a\0b\0" + struct.pack("<i", -1) + b"\0"), "attribute 'a' has a length of -1"),
        (file(b"a\0b\0" + struct.pack("<i", 2) + b"\0"), "has a length of 2, which leaves the header"),
        (file(header(), flags=0x200), "no tiles"),
        (file(header(tiles=TILES, type=("string", b"tiledimage"))), "its type is b'tiledimage'"),
        (file(header(), flags=0x1000), "its type is b''"),
        (file(header(tiles=("tiledesc", struct.pack("<IIB", 0, 3, 0))), flags=0x200), "tiles without pixels"),
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
    return ExrPart({}, channels or {"R": (2, 1, 1)}, width, height, 0, lines, compression, tile, 0, (0, 0, 0, 0))


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
        (part(1 << 20, 65, 3, 65), 1 << 30, "decodes 65 x 1048576 pixels at once"),
        (part(1 << 20, 1 << 10, 3, 1, (1 << 13, 1 << 13)), 1 << 32, ""),
        (part(1 << 20, 1 << 10, 3, 1, ((1 << 13) + 1, 1 << 13)), 1 << 32, "pixels at once"),
        (part(1 << 26, 1, 0, R=(1, 1, 1), G=(2, 1, 1)), 1 << 30, "pixels at once"),
    ],
)
def test_pictures_that_a_file_cannot_hold(found: ExrPart, length: int, words: str) -> None:
    with refusal(words):
        exr.check([found], 0, length, "a")
