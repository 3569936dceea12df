"""STL, binary and ASCII."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from documents import SQUARE, TWO, ascii_stl, load_bytes, stl

from raystream.base.errors import ViewerError

CORNERS = SQUARE[TWO].reshape(-1, 3, 3)

read = partial(load_bytes, "mesh.stl")


@pytest.mark.parametrize("write", [stl, ascii_stl, lambda c: stl(c, b"solid but binary\nfacet normal")])
def test_round_trip(write, loops, tmp_path):
    corners = np.random.default_rng(1).normal(size=(50, 3, 3)).astype(np.float32)
    corners[20] = corners[10]
    mesh = read(tmp_path, write(corners)).meshes[0]
    assert np.array_equal(mesh.positions[mesh.triangles], corners)
    assert len(mesh.positions) == 49 * 3


def test_corners_are_welded(loops, tmp_path):
    mesh = read(tmp_path, stl(CORNERS)).meshes[0]
    assert mesh.positions.tolist() == SQUARE.tolist()
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.normals is None


def test_negative_zero_is_zero(loops, tmp_path):
    corners = CORNERS.copy()
    corners[1] = np.where(corners[1] == 0, -0.0, corners[1])
    assert len(read(tmp_path, stl(corners)).meshes[0].positions) == 4


def test_truncated_text(tmp_path):
    data = ascii_stl(CORNERS)
    assert "truncated" in read(tmp_path, data[: data.index(b"endsolid")]).warnings[0]
    with pytest.raises(ViewerError, match="three vertices"):
        read(tmp_path, data[: data.index(b"endloop")])


def test_truncated_binary(tmp_path):
    data = stl(CORNERS)
    for length in (10, 83, 84, len(data) - 1):
        with pytest.raises(ViewerError, match="truncated"):
            read(tmp_path, data[:length])
    assert "2 bytes after" in read(tmp_path, data + b"xx").warnings[0]
    with pytest.raises(ViewerError, match="4,294,967,295 triangles"):
        read(tmp_path, data[:80] + b"\xff" * 4 + data[84:])
