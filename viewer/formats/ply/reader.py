"""PLY, the Stanford polygon format (Turk 1994): ASCII and binary of both endians, any properties and elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.formats.files import read_file
from viewer.formats.ply.elements import DAMAGED, AsciiReader, BinaryReader, Lists
from viewer.formats.ply.header import Header, read_header
from viewer.formats.polygons import triangulate
from viewer.scene.geometry.normals import unit_normals
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh, quiet_nans
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import linear_from_srgb

NAME = "PLY"

_INDICES = ("vertex_indices", "vertex_index")
_UVS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0"))
_COLORS = (("red", "green", "blue", "alpha"), ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"))


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with the line 'ply'."""
    return head[:3] == b"ply" and head[3:4] in (b"\n", b"\r", b" ", b"\t", b"")


def read(path: Path) -> Scene:
    """The scene of one mesh.

    Vertices: x, y, z; nx, ny, nz; colours (integers are sRGB and become linear, floats are linear); s, t or u, v, whose
    origin moves from lower to upper left. Faces with any number of corners are triangulated in the file's order;
    tristrips too. Raises ViewerError for malformed or truncated files.
    """
    data = read_file(path)
    header = read_header(data, path)
    vertex, face, strips = _read_elements(data, header, path)
    if vertex is None:
        raise ViewerError(str(path), "has no element 'vertex'", "it holds no geometry")
    warnings: list[str] = []
    positions = _columns(vertex, ("x", "y", "z"))
    if positions is None:
        raise ViewerError(f"{path}: element vertex", "lacks x, y or z", "it holds no geometry")
    triangles = []
    if face is not None:
        triangles.append(_cut_faces(face, positions, path, warnings))
    if strips is not None:
        triangles.append(_cut_strips(strips, len(positions), path))
    faces = np.concatenate(triangles) if triangles else np.zeros((0, 3), np.int64)
    if not triangles and len(positions):
        warnings.append(f"{len(positions):,} points without faces: there is nothing to trace")
    mesh = Mesh(positions, faces.astype(np.int32), uvs=_uvs(vertex), colors=_colors(vertex, header), name=path.stem)
    normals = _columns(vertex, ("nx", "ny", "nz"))
    if normals is not None:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals)
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; recomputed from their faces")
    return Scene([mesh], [Instance(0)], [Material()], name=path.stem, warnings=warnings)


def _read_elements(
    data: bytes, header: Header, path: Path
) -> tuple[dict[str, NDArray] | None, Lists | None, Lists | None]:
    """The vertices' columns, and the lists of vertices of faces and strips; later elements are not read."""
    reader = AsciiReader(data, header, path) if header.encoding == "ascii" else BinaryReader(data, header, path)
    wanted = {"vertex", "face", "tristrips"}
    last = max((i for i, element in enumerate(header.elements) if element.name in wanted), default=-1)
    vertex: dict[str, NDArray] | None = None
    lists: dict[str, Lists] = {}
    for element in header.elements[: last + 1]:
        if element.name == "vertex":
            vertex = reader.columns(element)
        elif element.name in wanted:
            name = next((p.name for p in element.properties if p.name in _INDICES and p.length_type), None)
            if name is None and element.count:
                raise ViewerError(
                    f"{path}: element {element.name}", "has no list 'vertex_indices'", "its corners are not known"
                )
            lists[element.name] = reader.lists(element, name)
        else:
            reader.skip(element)
    return vertex, lists.get("face"), lists.get("tristrips")


def _columns(columns: dict[str, NDArray], names: Sequence[str]) -> NDArray[np.float32] | None:
    """(N, len(names)) float32, or None if one is missing."""
    if not all(name in columns for name in names):
        return None
    out = np.empty((len(columns[names[0]]), len(names)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows become infinite, and are counted later
        for k, name in enumerate(names):
            out[:, k] = columns[name]
    return quiet_nans(out)


def _uvs(vertex: dict[str, NDArray]) -> NDArray[np.float32] | None:
    for names in _UVS:
        uvs = _columns(vertex, names)
        if uvs is not None:
            uvs[:, 1] = np.float32(1) - uvs[:, 1]
            return uvs
    return None


def _colors(vertex: dict[str, NDArray], header: Header) -> NDArray[np.float32] | None:
    types = {p.name: p.type for e in header.elements if e.name == "vertex" for p in e.properties}
    for names in _COLORS:
        rgb = _columns(vertex, names[:3])
        if rgb is None:
            continue
        colors = np.ones((len(rgb), 4), np.float32)
        for k, name in enumerate(names):
            if name not in vertex:
                continue
            kind = np.dtype(types[name])
            given = np.asarray(vertex[name])
            value = np.asarray(quiet_nans(given) if given.dtype.kind == "f" else given, np.float64)
            if kind.kind == "f":
                value = np.where(np.isfinite(value), np.maximum(value, 0.0), 0.0)
            else:
                value = np.clip(value / np.iinfo(kind).max, 0.0, 1.0)
                if k < 3:
                    value = linear_from_srgb(value)
            with np.errstate(over="ignore"):
                colors[:, k] = np.minimum(value, np.finfo(np.float32).max)
        return colors
    return None


def _cut_faces(face: Lists, positions: NDArray, path: Path, warnings: list[str]) -> NDArray[np.int64]:
    def name(at: int) -> str:
        return f"face {int(np.searchsorted(np.cumsum(face.lengths), at, 'right')):,}"

    corners = _checked(face.values, len(positions), name, path)
    if (face.lengths == 3).all():
        return corners.reshape(-1, 3)
    thin = int(np.count_nonzero(face.lengths < 3))
    if thin:
        warnings.append(f"{thin:,} faces with fewer than three corners were left out")
    triangles, _, tangled = triangulate(positions, corners, face.lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    return corners[triangles]


def _cut_strips(strips: Lists, count: int, path: Path) -> NDArray[np.int64]:
    """Triangle strips; -1 or a new list begins a new one; every second triangle is reversed."""
    values = np.asarray(strips.values).astype(np.int64)
    values[strips.values == -1] = -1
    values = np.insert(values, np.cumsum(strips.lengths)[:-1], -1)
    ends = values == -1
    _checked(values[~ends], count, lambda at: f"tristrips: entry {at:,}", path)
    number = np.arange(len(values))
    nth = number - np.maximum.accumulate(np.where(ends, number, -1)) - 1  # position in its strip
    last = np.flatnonzero(~ends & (nth >= 2))
    odd = (nth[last] % 2).astype(bool)
    a, b, c = values[last - 2], values[last - 1], values[last]
    # Strips are joined by repeated vertices: their degenerate triangles are dropped.
    real = (a != b) & (b != c) & (c != a)
    return np.stack([a, np.where(odd, c, b), np.where(odd, b, c)], axis=1)[real]


def _checked(values: NDArray, count: int, name: Callable[[int], str], path: Path) -> NDArray[np.int64]:
    """Vertex numbers as int64, checked; ``name`` describes the position of a fault."""
    first = -1
    if len(values) and (int(values.min()) < 0 or int(values.max()) >= count):
        first = int(np.argmax((values < 0) | (values >= count)))
    if first >= 0:
        raise ViewerError(f"{path}: {name(first)}", f"names vertex {values[first]} of {count:,}", DAMAGED)
    return values.astype(np.int64)
