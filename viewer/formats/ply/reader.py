"""PLY, the Stanford polygon format (Turk 1994): ASCII and binary of both endians, any properties and elements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import read_file, short
from raystream.formats.ply.attributes import (
    Faces,
    colors_of,
    columns_of,
    faces_of,
    points_or_lines,
    textured,
    vertex_uvs,
    with_attributes,
)
from raystream.formats.ply.elements import DAMAGED, AsciiReader, BinaryReader, Lists
from raystream.formats.ply.header import Header, read_header
from raystream.formats.polygons import triangulate
from raystream.formats.text import decoded, without_mark
from raystream.scene.geometry.centre import centred
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.mesh import Mesh, quiet_nans
from raystream.scene.scene import Instance, Scene

NAME = "PLY"

NO_TRIANGLES = np.zeros((0, 3), np.int32)
_INDICES = ("vertex_indices", "vertex_index")


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with the line 'ply'."""
    return head[:3] == b"ply" and head[3:4] in (b"\n", b"\r", b" ", b"\t", b"")


def read(path: Path, lenient: bool = False, max_texture: int | None = None) -> Scene:
    """The scene of one mesh.

    Vertices: x, y, z; nx, ny, nz; colours; s, t or u, v. Faces with any number of corners are triangulated in the
    file's order, with colours, and with texture coordinates of corners; tristrips too. The pictures of `comment
    TextureFile` are textures. A file without faces is of points, or of the lines between them that element 'edge'
    names. See `raystream.formats.ply.attributes`. Raises ViewerError for malformed or truncated files.
    """
    data = without_mark(read_file(path))
    header = read_header(data, path)
    warnings: list[str] = []
    if header.unknown:
        first = short(header.unknown[0], 40)
        warnings.append(
            f"{len(header.unknown):,} lines of the header are no statements and left out, the first: {first}"
        )
    vertex, face, strips, edges = _read_elements(data, header, path, warnings)
    if vertex is None:
        raise ViewerError(str(path), "has no element 'vertex'", "it holds no geometry")
    if not all(name in vertex for name in "xyz"):
        raise ViewerError(f"{path}: element vertex", "lacks x, y or z", "it holds no geometry")
    # Of single floats alone nothing is lost by float32.
    single = all(vertex[name].dtype.itemsize == 4 and vertex[name].dtype.kind == "f" for name in "xyz")
    kind = np.float32 if single else np.float64
    positions, place = centred(np.stack([quiet_nans(vertex[name]).astype(kind) for name in "xyz"], axis=1))
    mesh = Mesh(positions, np.zeros((0, 3), np.int32), name=path.stem)
    mesh.colors, mesh.uvs = colors_of(vertex, header.types("vertex"), warnings), vertex_uvs(vertex, warnings)
    normals = columns_of(vertex, ("nx", "ny", "nz"))
    triangles = []
    cut = None
    if face is not None:
        cut = _cut_faces(face.corners, positions, path, warnings)
        # Where all are triangles their corners are the file's own.
        vertex_numbers = face.corners.values
        triangles.append((vertex_numbers.reshape(-1, 3) if cut is None else vertex_numbers[cut[0]]).astype(np.int32))
    if strips is not None:
        triangles.append(_cut_strips(strips, len(positions), path).astype(np.int32))
    faces = np.concatenate(triangles) if len(triangles) > 1 else triangles[0] if triangles else NO_TRIANGLES
    if not (face and len(face.corners.lengths)) and not (strips and len(strips.lengths)) and len(positions):
        mesh = points_or_lines(positions, edges, mesh.colors, path.stem)
        materials, _ = textured(mesh, [], path.parent, warnings, lenient, max_texture)
        return Scene([mesh], [Instance(0, place)], materials, name=path.stem, warnings=warnings)
    mesh.triangles, mesh.materials = faces, np.zeros(len(faces), np.int32)
    if face is not None and face.attributes:
        corners, polygon = _whole_triangles(face.corners) if cut is None else cut
        mesh, normals = with_attributes(mesh, normals, face, corners, polygon, warnings)
    if normals is not None:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals)
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; recomputed from their faces")
    names = [decoded(name) for name in header.textures]
    materials, textures = textured(mesh, names, path.parent, warnings, lenient, max_texture)
    return Scene([mesh], [Instance(0, place)], materials, name=path.stem, warnings=warnings, textures=textures)


def _read_elements(
    data: bytes, header: Header, path: Path, warnings: list[str]
) -> tuple[dict[str, NDArray] | None, Faces | None, Lists | None, dict[str, NDArray]]:
    """The vertices' columns, the faces, the lists of vertices of strips, and the columns of edges; later elements are
    not read."""
    reader = AsciiReader(data, header, path) if header.encoding == "ascii" else BinaryReader(data, header, path)
    used = {"vertex", "face", "tristrips", "edge"}
    last = max((i for i, element in enumerate(header.elements) if element.name in used), default=-1)
    vertex: dict[str, NDArray] | None = None
    face: Faces | None = None
    strips: Lists | None = None
    edges: dict[str, NDArray] = {}
    for element in header.elements[: last + 1]:
        if element.name == "vertex":
            vertex = reader.columns(element)
            continue
        if element.name == "edge":
            edges = reader.columns(element)
            continue
        if element.name not in used:
            reader.skip(element)
            continue
        name = next((p.name for p in element.properties if p.name in _INDICES and p.length_type), None)
        if name is None and element.count:
            raise ViewerError(
                f"{path}: element {element.name}", "has no list 'vertex_indices'", "its corners are not known"
            )
        if name is None:
            empty = Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
            face, strips = (Faces(empty), strips) if element.name == "face" else (face, empty)
        elif element.name == "tristrips":
            strips = reader.lists(element, name)
        else:
            face = faces_of(reader, element, name, warnings)
    for name, lines in reader.longer.items():
        if lines:
            warnings.append(f"{lines:,} lines of element {name} have more values than it declares, which are left out")
    return vertex, face, strips, edges


_Cut = tuple[NDArray[np.int64], NDArray[np.int64]]


def _cut_faces(face: Lists, positions: NDArray, path: Path, warnings: list[str]) -> _Cut | None:
    """Triangles as numbers of corners (T, 3), and the face of each (T,); None where all faces are triangles, see
    `_whole_triangles`."""

    def name(at: int) -> str:
        return f"face {int(np.searchsorted(np.cumsum(face.lengths), at, 'right')):,}"

    _check(face.values, len(positions), name, path)
    if (face.lengths == 3).all():
        return None
    thin = int(np.count_nonzero(face.lengths < 3))
    if thin:
        warnings.append(f"{thin:,} faces with fewer than three corners were left out")
    triangles, polygon, tangled = triangulate(positions, face.values.astype(np.int64), face.lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    return triangles, polygon


def _whole_triangles(face: Lists) -> _Cut:
    """`_cut_faces` where it cuts nothing."""
    return np.arange(len(face.values)).reshape(-1, 3), np.arange(len(face.lengths))


def _cut_strips(strips: Lists, count: int, path: Path) -> NDArray[np.int64]:
    """Triangle strips; -1 or a new list begins a new one; every second triangle is reversed."""
    values = np.asarray(strips.values).astype(np.int64)
    values[strips.values == -1] = -1
    values = np.insert(values, np.cumsum(strips.lengths)[:-1], -1)
    ends = values == -1
    _check(values[~ends], count, lambda at: f"tristrips: entry {at:,}", path)
    number = np.arange(len(values))
    nth = number - np.maximum.accumulate(np.where(ends, number, -1)) - 1  # position in its strip
    last = np.flatnonzero(~ends & (nth >= 2))
    odd = (nth[last] % 2).astype(bool)
    a, b, c = values[last - 2], values[last - 1], values[last]
    # Strips are joined by repeated vertices: their degenerate triangles are dropped.
    real = (a != b) & (b != c) & (c != a)
    return np.stack([a, np.where(odd, c, b), np.where(odd, b, c)], axis=1)[real]


def _check(values: NDArray, count: int, name: Callable[[int], str], path: Path) -> None:
    """Raises ViewerError for a number of no vertex; ``name`` describes its position."""
    first = -1
    if len(values) and (int(values.min()) < 0 or int(values.max()) >= count):
        first = int(np.argmax((values < 0) | (values >= count)))
    if first >= 0:
        raise ViewerError(f"{path}: {name(first)}", f"names vertex {values[first]} of {count:,}", DAMAGED)
