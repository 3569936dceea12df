"""Mutated bytes of a small valid file of each format: loaded, or refused with a ViewerError; nothing else."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from documents import MTL, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from viewer.base.errors import ViewerError
from viewer.formats import load

PIECES = [
    b"",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"-1",
    b"9999999999",
    b"nan",
    b"1e999",
    b" ",
    b"\n",
    b"/",
    b"[",
    b"}",
]
PIECES += [b"-", b".", b"\\\n", b"#", b"list", b"\x7f\x7f\xff\xff", b"f ", b"v ", b"endsolid", b'"', b",", b"\r"]


@st.composite
def mutations(draw, data: bytes) -> bytes:
    """Up to four cuts, insertions, overwritten bytes or copies."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 1, 1, 2, 4, 30]))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
        if draw(st.booleans()):
            start = draw(st.integers(0, len(data)))
            piece = data[start : start + length]
            length = 0
        data = data[:at] + piece + data[at + length :]
    return data


@pytest.mark.parametrize("name", samples())
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_mutated(name, data):
    content = data.draw(mutations(samples()[name]))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "colors.mtl").write_bytes(data.draw(mutations(MTL)) if name.endswith(".obj") else b"")
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            load(path).flatten()
        except ViewerError as error:
            assert "\n" not in str(error)
