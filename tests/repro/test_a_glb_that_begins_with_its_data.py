"""A GLB whose binary chunk stands before its JSON was read, though the format wants JSON first (glTF 2.0, 4.4.3)."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from raystream.formats import load
from tests.refusals import refusal


@pytest.mark.parametrize("first", [b"BIN\0", b"JUNK"])
def test_the_first_chunk_is_json(first: bytes, tmp_path: Path) -> None:
    text = b'{"asset": {"version": "2.0"}}   '
    chunks = [struct.pack("<I4s", len(data), kind) + data for kind, data in ((first, bytes(4)), (b"JSON", text))]
    for order, refused in ((chunks, True), (chunks[::-1], False)):
        body = b"".join(order)
        path = tmp_path / "a.glb"
        path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body)
        with refusal("the first chunk is not JSON" if refused else ""):
            assert load(path).triangle_count == 0
