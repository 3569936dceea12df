"""STL, binary and ASCII. Equal corners become one vertex; facet normals and attributes are ignored."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import helper, run
from raystream.formats.files import check_regular, read_file
from raystream.formats.text import (
    SMALL,
    at_word_end,
    doubled,
    number,
    skip_blanks,
    skip_space,
    skip_word,
    with_newlines,
    without_mark,
)
from raystream.scene.geometry.vertices import centred, weld
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

# -- the compiled scanner of ASCII -------------------------------------------------------------------------------------

_VERTEX, _FACET, _ENDFACET, _OUTER, _ENDLOOP, _SOLID, _ENDSOLID = (
    np.frombuffer(word, np.uint8).copy()
    for word in (b"vertex", b"facet", b"endfacet", b"outer", b"endloop", b"solid", b"endsolid")
)


@helper
def _is(data, at, after, word):
    if after - at != len(word):
        return False
    for k in range(len(word)):  # noqa: SIM110 (numba)
        if (data[at + k] | 32) != word[k]:
            return False
    return True


ARRAY_FULL = 5  # no fault


def scan_facets(data, at, corners, count, in_facet, closed):
    """The corners of all facets into corners (., 3) float64, from the beginning or where an array was full: (count,
    corners of the current facet or -1, whether the solid was closed, fault or 0 or FULL, its byte).

    data: (N,) uint8. Keywords in any case, one statement a line; text after 'solid', 'facet' and 'outer' is ignored.
    """
    end = len(data)
    while True:
        at = skip_space(data, at, end)
        if at >= end:
            break
        after = skip_word(data, at, end)
        if _is(data, at, after, _VERTEX):
            if in_facet < 0 or in_facet == 3:
                return count, in_facet, closed, 2, at
            if count == len(corners):
                return count, in_facet, closed, ARRAY_FULL, at
            for k in range(3):
                after = skip_blanks(data, after, end)
                value, ended = number(data, after, end)
                if ended < 0 or not at_word_end(data, ended, end):
                    return count, in_facet, closed, 4, at
                corners[count, k] = value
                after = ended
            count += 1
            in_facet += 1
            after = skip_blanks(data, after, end)
            if after < end and data[after] != 10:
                return count, in_facet, closed, 1, at
        elif _is(data, at, after, _FACET):
            if in_facet >= 0:
                return count, in_facet, closed, 2, at
            in_facet = 0
            closed = False
            while after < end and data[after] != 10 and data[after] != 13:
                after += 1
        elif _is(data, at, after, _ENDFACET):
            if in_facet != 3:
                return count, in_facet, closed, 2, at
            in_facet = -1
        elif _is(data, at, after, _OUTER) or _is(data, at, after, _SOLID) or _is(data, at, after, _ENDSOLID):
            if _is(data, at, after, _ENDSOLID):
                closed = True
            while after < end and data[after] != 10 and data[after] != 13:
                after += 1
        elif not _is(data, at, after, _ENDLOOP):
            return count, in_facet, closed, 3, at
        at = after
    if in_facet >= 0:
        return count, in_facet, closed, 2, end
    return count, in_facet, closed, 0, end


# -- the reader, binary and ASCII --------------------------------------------------------------------------------------

NAME = "STL"

_HEADER_BYTES = 84
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("attribute", "<u2")])
_ASCII = re.compile(rb"\s*solid\b[^\r\n]*[\r\n]\s*(facet|endsolid)\b", re.IGNORECASE)

_FAULTS = {
    1: "expected 'vertex x y z'",
    2: "a facet without exactly three vertices",
    3: "is not a statement of ASCII STL",
    4: "a coordinate is not a number",
}


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins like ASCII STL, or has exactly the size of a binary file with its count."""
    return bool(_ASCII.match(head)) or (
        len(head) >= _HEADER_BYTES and check_regular(path) == _HEADER_BYTES + _RECORD.itemsize * _count(head)
    )


def read(path: Path) -> Scene:
    """The scene of one mesh. Raises ViewerError for truncated or malformed files."""
    data = read_file(path)
    warnings: list[str] = []
    # Binary files may begin with 'solid' too: decided by size, and by the zeros of their header.
    is_exact_binary = len(data) >= _HEADER_BYTES and len(data) == _HEADER_BYTES + _RECORD.itemsize * _count(data)
    if not is_exact_binary:
        data = without_mark(data)
    if not is_exact_binary and b"\0" not in data[:_HEADER_BYTES] and data[:4096].lstrip()[:5].lower() == b"solid":
        corners, transform = centred(_read_ascii(with_newlines(data), path, warnings))
    else:
        corners, transform = centred(_read_binary(data, path, warnings))
    positions, triangles = _merge_corners(corners)
    mesh = Mesh(positions, triangles, name=path.stem)
    return Scene([mesh], [Instance(0, transform)], [Material()], name=path.stem, warnings=warnings)


def _count(data: bytes) -> int:
    return int.from_bytes(data[80:84], "little")


def _read_binary(data: bytes, path: Path, warnings: list[str]) -> NDArray[np.float32]:
    if len(data) < _HEADER_BYTES:
        raise ViewerError(str(path), f"{len(data)} bytes, too short for STL", "the file is truncated or not STL")
    count = _count(data)
    needed = _HEADER_BYTES + _RECORD.itemsize * count
    if len(data) < needed:
        raise ViewerError(
            str(path),
            f"says {count:,} triangles, which take {needed:,} bytes, but has {len(data):,}",
            "the file is truncated or not STL",
        )
    if len(data) > needed:
        warnings.append(f"{len(data) - needed:,} bytes after the last triangle were left out")
    return np.frombuffer(data, _RECORD, count, _HEADER_BYTES)["corners"].reshape(-1, 3)


def _read_ascii(data: bytes, path: Path, warnings: list[str]) -> NDArray[np.float64]:
    corners, text = np.empty((1024, 3)), np.frombuffer(data, np.uint8)
    at, count, in_facet, closed = 0, 0, -1, False
    while True:
        count, in_facet, closed, fault, at = run(
            scan_facets, text, at, corners, count, in_facet, closed, small=len(data) < SMALL
        )
        if fault != ARRAY_FULL:
            break
        corners = doubled(corners)
    if fault:
        raise ViewerError(f"{path}: line {data.count(10, 0, at) + 1}", _FAULTS[fault], "the file is damaged")
    if not closed:
        warnings.append("no 'endsolid': the file may be truncated")
    return corners[:count]


def _merge_corners(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vertices by first appearance, and triangles: corners of equal bits share a vertex."""
    if not len(corners):
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
    corners = np.require(corners, np.float32, ["C"])
    indices, first = weld(corners.view(np.uint32), small=len(corners) < SMALL)
    return corners[first], indices.reshape(-1, 3)
