"""STL, binary and ASCII. Equal corners become one vertex; facet normals and attributes are ignored."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.formats.files import check_regular, read_file
from raystream.formats.stl.loops import FULL, scan_facets
from raystream.formats.text import SMALL, grown, with_newlines, without_mark
from raystream.scene.geometry.centre import centred
from raystream.scene.geometry.weld import weld
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

NAME = "STL"

_HEADER = 84
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("attribute", "<u2")])
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
        len(head) >= _HEADER and check_regular(path) == _HEADER + _FACET.itemsize * _count(head)
    )


def read(path: Path) -> Scene:
    """The scene of one mesh. Raises ViewerError for truncated or malformed files."""
    data = read_file(path)
    warnings: list[str] = []
    # Binary files may begin with 'solid' too: decided by size, and by the zeros of their header.
    exact = len(data) >= _HEADER and len(data) == _HEADER + _FACET.itemsize * _count(data)
    if not exact:
        data = without_mark(data)
    if not exact and b"\0" not in data[:_HEADER] and data[:4096].lstrip()[:5].lower() == b"solid":
        near, place = centred(_read_ascii(with_newlines(data), path, warnings))
    else:
        near, place = centred(_read_binary(data, path, warnings))
    positions, triangles = _weld(near)
    mesh = Mesh(positions, triangles, name=path.stem)
    return Scene([mesh], [Instance(0, place)], [Material()], name=path.stem, warnings=warnings)


def _count(data: bytes) -> int:
    return int.from_bytes(data[80:84], "little")


def _read_binary(data: bytes, path: Path, warnings: list[str]) -> NDArray[np.float32]:
    if len(data) < _HEADER:
        raise ViewerError(str(path), f"{len(data)} bytes, too short for STL", "the file is truncated or not STL")
    count = _count(data)
    needed = _HEADER + _FACET.itemsize * count
    if len(data) < needed:
        raise ViewerError(
            str(path),
            f"says {count:,} triangles, which take {needed:,} bytes, but has {len(data):,}",
            "the file is truncated or not STL",
        )
    if len(data) > needed:
        warnings.append(f"{len(data) - needed:,} bytes after the last triangle were left out")
    return np.frombuffer(data, _FACET, count, _HEADER)["corners"].reshape(-1, 3)


def _read_ascii(data: bytes, path: Path, warnings: list[str]) -> NDArray[np.float64]:
    corners, text = np.empty((1024, 3)), np.frombuffer(data, np.uint8)
    at, count, in_facet, closed = 0, 0, -1, False
    while True:
        count, in_facet, closed, fault, at = run(
            scan_facets, text, at, corners, count, in_facet, closed, small=len(data) < SMALL
        )
        if fault != FULL:
            break
        corners = grown(corners)
    if fault:
        raise ViewerError(f"{path}: line {data.count(10, 0, at) + 1}", _FAULTS[fault], "the file is damaged")
    if not closed:
        warnings.append("no 'endsolid': the file may be truncated")
    return corners[:count]


def _weld(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vertices by first appearance, and triangles: corners of equal bits share a vertex."""
    if not len(corners):
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
    corners = np.require(corners, np.float32, ["C"])
    number, first = weld(corners.view(np.uint32), small=len(corners) < SMALL)
    return corners[first], number.reshape(-1, 3)
