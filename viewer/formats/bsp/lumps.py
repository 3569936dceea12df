"""The lumps of a Quake III Arena level, IBSP version 46: bytes -> arrays, checked.

Source: id Software's ``qfiles.h`` (2005), and K. Proudfoot, *Unofficial Quake 3 Map Specs* (2000).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError

MAGIC, VERSION = b"IBSP", 46
PAGE = 128  # texels along a side of a lightmap
DAMAGED = "the level is damaged"
_TOKEN = re.compile(r'\s*(?:([{}])|"([^"]*)")')

TEXTURE = np.dtype([("name", "S64"), ("flags", "<i4"), ("contents", "<i4")])
MODEL = np.dtype([("box", "<f4", (2, 3)), ("face", "<i4"), ("faces", "<i4"), ("brush", "<i4"), ("brushes", "<i4")])
VERTEX = np.dtype(
    [("position", "<f4", 3), ("uv", "<f4", 2), ("light_uv", "<f4", 2), ("normal", "<f4", 3), ("color", "u1", 4)]
)
FACE = np.dtype(
    [
        *(
            (name, "<i4")
            for name in ("texture", "effect", "kind", "vertex", "vertices", "corner", "corners", "lightmap")
        ),
        ("light_start", "<i4", 2),
        ("light_size", "<i4", 2),
        ("light_origin", "<f4", 3),
        ("light_axes", "<f4", (2, 3)),
        ("normal", "<f4", 3),
        ("net", "<i4", 2),
    ]
)
POLYGON, PATCH, MESH, BILLBOARD = 1, 2, 3, 4  # kinds of faces

# In the file's order: a lump's name, and the bytes of an element; 1 for text and special layouts.
LUMPS = (
    *(("entities", 1), ("textures", 72), ("planes", 16), ("nodes", 36), ("leafs", 48), ("leaf faces", 4)),
    *(("leaf brushes", 4), ("models", 40), ("brushes", 12), ("brush sides", 8), ("vertices", 44), ("corners", 4)),
    *(("effects", 72), ("faces", 104), ("lightmaps", 3 * PAGE * PAGE), ("light volumes", 8), ("visibility", 1)),
)
HEADER = 8 + 8 * len(LUMPS)


def split(data: bytes, path: Path) -> dict[str, bytes]:
    """The bytes of each lump by name. Raises ViewerError for another version, and for a lump outside of the file or
    with a fractional number of elements."""
    if len(data) < HEADER:
        raise ViewerError(f"{path}: header", f"ends after {len(data)} of {HEADER} bytes", DAMAGED)
    version = int.from_bytes(data[4:8], "little")
    if version != VERSION:
        raise ViewerError(
            f"{path}: header", f"is a level of version {version}", f"version {VERSION} is read: Quake III"
        )
    table = np.frombuffer(data, "<i4", 2 * len(LUMPS), 8).reshape(-1, 2).tolist()
    lumps = {}
    for (name, size), (start, length) in zip(LUMPS, table, strict=True):
        where = f"{path}: lump {name}"
        if start < 0 or length < 0 or start + length > len(data):
            raise ViewerError(where, f"{length:,} bytes at {start:,} of a file of {len(data):,}", DAMAGED)
        if length % size:
            raise ViewerError(where, f"{length:,} bytes, not a multiple of the element's {size}", DAMAGED)
        lumps[name] = data[start : start + length]
    return lumps


def array(lumps: dict[str, bytes], name: str, dtype: np.dtype | str) -> NDArray:
    """The elements of a lump."""
    return np.frombuffer(lumps[name], dtype)


def join(lumps: dict[str, bytes]) -> bytes:
    """A level of these lumps, by name; missing ones are empty."""
    header, body, start = bytearray(MAGIC + VERSION.to_bytes(4, "little")), bytearray(), HEADER
    for name, _ in LUMPS:
        data = lumps.get(name, b"")
        header += start.to_bytes(4, "little") + len(data).to_bytes(4, "little")
        padded = data + b"\0" * (-len(data) % 4)
        body += padded
        start += len(padded)
    return bytes(header + body)


def entities_size(text: bytes) -> int:
    """Approximate memory of `entities` in bytes."""
    return 256 * text.count(b"{") + 64 * text.count(b'"') + 2 * len(text)


def entities(text: bytes, path: Path) -> list[dict[str, str]]:
    """Keys and values of every entity, ``{ "key" "value" ... }``. Raises ViewerError for any other form."""
    where, records = f"{path}: lump entities", []
    decoded = text.split(b"\0", 1)[0].decode("latin-1").rstrip()
    at = 0
    current: dict[str, str] | None = None
    key: str | None = None
    while at < len(decoded):
        token = _TOKEN.match(decoded, at)
        sign = "" if token is None else token[1]
        if token is None or (sign == "{") != (current is None) or (sign == "}" and key is not None):
            raise ViewerError(where, f'is not of the form {{ "key" "value" }} at byte {at:,}', DAMAGED)
        at = token.end()
        if sign == "{":
            current = {}
        elif current is not None and sign == "}":
            records.append(current)
            current = None
        elif current is not None and key is None:
            key = token[2]
        elif current is not None and key is not None:
            current[key], key = token[2], None
    if current is not None:
        raise ViewerError(where, "ends within an entity", DAMAGED)
    return records
