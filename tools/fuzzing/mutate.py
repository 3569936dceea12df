"""Mutations of files: of bytes, and of what they stand for, so that checks of the outer shell do not hide the rest."""

from __future__ import annotations

import contextlib
import json
import random
import struct
import zlib
from typing import Any

PIECES = (
    *(b"", b"\0", b"\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"-1", b"9999999999", b"nan"),
    *(b"1e999", b"1e38", b" ", b"\n", b"/", b"[", b"}", b"-", b".", b"\\\n", b"#", b"list", b"\x7f\x7f\xff\xff"),
    *(b"\x01\0\x80\x7f", b"f ", b"v ", b"endsolid", b'"', b",", b"\r", b"\0\0\xc0\x7f", b"0", b"4294967295"),
    *(b"\x01\0\0\0", b"\x10"),
)
ODD: tuple[Any, ...] = (
    *(None, True, False, [], {}, "", "x", 0, 1, 2, 3, -1, 5, 7, 1.5, -0.5, 1e-300, 1e308, 2**31, 2**53, 2**70),
    *([0], [1, 2], [1e308] * 3, [0, 0, 0, 0], [-1], "../a", "data:,", "SCALAR", "VEC4", "STEP", 5120, 5126, 1000),
    65536,
)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The file with a few faults of one of the kinds that suit it."""
    kinds = [_bytes, _bytes, _numbers]
    if data[:4] == b"glTF" or data[:1] == b"{":
        kinds += [_document] * 4
    elif data[:4] == b"\x89PNG":
        kinds += [_chunks] * 3
    elif data[:3] == b"ply" or data[:1] in b"#s":
        kinds += [_words] * 3
    return rng.choice(kinds)(data, rng)


def _bytes(data: bytes, rng: random.Random) -> bytes:
    """Up to four cuts, insertions, overwritten bytes or copies; often near the beginning, where headers are."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data) if rng.random() < 0.5 else min(len(data), 400))
        length = rng.choice((0, 1, 1, 2, 4, 30))
        piece = rng.choice(PIECES) if rng.random() < 0.6 else rng.randbytes(rng.randint(1, 4))
        if rng.random() < 0.3:
            start = rng.randint(0, len(data))
            piece, length = data[start : start + length], 0
        elif rng.random() < 0.5:
            length = len(piece)
        data = data[:at] + piece + data[at + length :]
    return data


def _numbers(data: bytes, rng: random.Random) -> bytes:
    """Little- or big-endian integers and floats overwritten by their extremes, or moved by a little."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["<H", "<I", "<i", "<Q", "<f", ">H", ">I", ">f", "B"])
        size = struct.calcsize(kind)
        at = rng.randint(0, max(0, len(out) - size))
        if len(out) < at + size:
            continue
        if kind[-1] == "f":
            value: float = rng.choice((0.0, -1.0, 1e38, -1e38, 1e-40, float("inf"), float("nan"), rng.gauss(0, 1e3)))
        else:
            old, most = struct.unpack_from(kind, out, at)[0], 256**size - 1
            value = rng.choice((0, 1, most, most >> 1, (most >> 1) + 1, old + 1, old - 1, old * 2, rng.getrandbits(16)))
            value = value & (most >> 1 if kind[-1] == "i" else most)
        struct.pack_into(kind, out, at, value)
    return bytes(out)


def _words(data: bytes, rng: random.Random) -> bytes:
    """Words of a text exchanged, doubled, left out; in a binary body, bytes."""
    words = data.split(b" ")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[at] = rng.choice(PIECES)
            case 1:
                words[at] = rng.choice(words)
            case 2:
                words.insert(at, rng.choice(words))
            case _:
                if len(words) > 1:
                    del words[at]
    return b" ".join(words)


def _document(data: bytes, rng: random.Random) -> bytes:
    """Members of a glTF document exchanged, left out or replaced; a .glb keeps lengths that are right."""
    binary = data[:4] == b"glTF"
    if binary:
        size = struct.unpack_from("<I", data, 12)[0]
        text, rest = data[20 : 20 + size], data[20 + size :]
    else:
        text, rest = data, b""
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        ways = _places(document)
        if not ways:
            break
        holder, key = rng.choice(ways)
        match rng.randrange(8):
            case 0:
                del holder[key]
            case 1:
                other, name = rng.choice(ways)
                holder[key] = json.loads(json.dumps(other[name]))
            case 2 if isinstance(holder[key], int) and not isinstance(holder[key], bool):
                holder[key] += rng.choice((-1, 1, 2, 4, 64))
            case 3 if isinstance(holder[key], list) and holder[key]:
                holder[key].append(json.loads(json.dumps(rng.choice(holder[key]))))
            case _:
                holder[key] = json.loads(json.dumps(rng.choice(ODD)))
    text = json.dumps(document).encode()
    if not binary:
        return text
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + rest
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def _places(value: Any) -> list[tuple[Any, Any]]:
    """(holder, key) of every member of a document."""
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        holder = pending.pop()
        items = list(holder.items() if isinstance(holder, dict) else enumerate(holder))
        places += [(holder, key) for key, _ in items]
        pending += [child for _, child in items if isinstance(child, (dict, list))]
    return places


def _chunks(data: bytes, rng: random.Random) -> bytes:
    """Bytes within a PNG's chunks, whose checksums are right."""
    at, parts = 8, []
    while at + 12 <= len(data):
        size = struct.unpack_from(">I", data, at)[0]
        parts.append([data[at + 4 : at + 8], data[at + 8 : at + 8 + size]])
        at += 12 + size
    for _ in range(rng.randint(1, 2)):
        chosen = rng.choice(parts)
        if chosen[0] == b"IDAT" and rng.random() < 0.7:
            chosen[1] = zlib.compress(_bytes(zlib.decompress(parts_data(parts)), rng))
        else:
            chosen[1] = _numbers(chosen[1], rng) if rng.random() < 0.5 else _bytes(chosen[1], rng)
        if rng.random() < 0.1:
            parts.insert(rng.randrange(len(parts)), list(rng.choice(parts)))
    out = data[:8]
    for kind, body in parts:
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return out


def parts_data(parts: list[list[bytes]]) -> bytes:
    """The first image data among a PNG's chunks that can be unpacked, or packed nothing."""
    for body in (body for kind, body in parts if kind == b"IDAT"):
        with contextlib.suppress(zlib.error):
            zlib.decompress(body)
            return body
    return zlib.compress(b"")
