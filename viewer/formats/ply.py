"""PLY, the Stanford polygon format (Turk 1994): ASCII and binary of both endians, any properties and elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viewer.errors import ViewerError
from viewer.formats.color import linear_from_srgb
from viewer.formats.files import read_file, short
from viewer.formats.ply_header import Element, Header, read_header
from viewer.formats.polygons import triangulate
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.normals import unit_normals
from viewer.scene.scene import Instance, Scene

NAME = "PLY"
SUFFIXES = (".ply",)

_DAMAGED = "the file is damaged or truncated"
_INDICES = ("vertex_indices", "vertex_index")
_UVS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0"))
_COLORS = (("red", "green", "blue", "alpha"), ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"))


@dataclass
class _Lists:
    """One list property of all rows: lengths (N,) int64, and the values in a row."""

    lengths: NDArray[np.int64]
    values: NDArray


def sniff(head: bytes, path: Path) -> bool:
    """Whether it begins with the line 'ply'."""
    return head[:3] == b"ply" and head[3:4] in (b"\n", b"\r", b" ", b"\t", b"")


def read(path: Path) -> Scene:
    """The scene of one mesh.

    Vertices: x, y, z; nx, ny, nz; colours (integers are sRGB and become linear, floats are taken as linear); s, t or
    u, v, whose origin is the lower left and becomes the upper left. Faces of any number of corners are cut into
    triangles in the file's order; tristrips too. Raises ViewerError for malformed or truncated files.
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
    mesh = Mesh(positions, faces, uvs=_uvs(vertex), colors=_colors(vertex, header), name=path.stem)
    normals = _columns(vertex, ("nx", "ny", "nz"))
    if normals is not None:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals)
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; made from their faces")
    return Scene([mesh], [Instance(0)], [Material()], name=path.stem, warnings=warnings)


def _read_elements(
    data: bytes, header: Header, path: Path
) -> tuple[dict[str, NDArray] | None, _Lists | None, _Lists | None]:
    """The vertices' columns, the faces' and the strips' lists of vertices; elements after the last of these are not read."""
    reader = _AsciiReader(data, header, path) if header.encoding == "ascii" else _BinaryReader(data, header, path)
    wanted = {"vertex", "face", "tristrips"}
    last = max((i for i, element in enumerate(header.elements) if element.name in wanted), default=-1)
    vertex: dict[str, NDArray] | None = None
    lists: dict[str, _Lists] = {}
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


class _Reader:
    """Goes through a file's body, element by element."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        self.data = data
        self.at = header.size
        self.path = path

    def _fail(self, element: Element, what: str) -> ViewerError:
        return ViewerError(f"{self.path}: element {element.name}", what, _DAMAGED)

    def _short(self, element: Element) -> ViewerError:
        left = len(self.data) - self.at
        return self._fail(element, f"says {element.count:,} entries, but only {left:,} bytes are left")


class _BinaryReader(_Reader):
    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        super().__init__(data, header, path)
        self.order = "<" if header.encoding == "binary_little_endian" else ">"

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name."""
        if not any(p.length_type for p in element.properties):
            rows = self._rows(element, [(p.name, self.order + p.type) for p in element.properties])
            return {p.name: rows[p.name] for p in element.properties}
        scalars = [k for k, p in enumerate(element.properties) if not p.length_type]
        starts, _ = self._walk(element, scalars)
        bytes_ = np.frombuffer(self.data, np.uint8)
        columns = {}
        for row, k in enumerate(scalars):
            p = element.properties[k]
            size = np.dtype(p.type).itemsize
            raw = bytes_[starts[row][:, None] + np.arange(size)]
            columns[p.name] = np.ascontiguousarray(raw).view(self.order + p.type).ravel()
        return columns

    def lists(self, element: Element, name: str | None) -> _Lists:
        """One list property; at one go where all lists of a property are equally long, as they mostly are."""
        if name is None:
            return _Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
        uniform = self._uniform(element, name)
        if uniform is not None:
            return uniform
        index = next(k for k, p in enumerate(element.properties) if p.name == name)
        starts, lengths = self._walk(element, [index])
        kind = np.dtype(self.order + element.properties[index].type)
        from viewer.formats.ply_kernels import gather

        raw = gather(np.frombuffer(self.data, np.uint8), starts[0], lengths[0], kind.itemsize)
        return _Lists(lengths[0], raw.view(kind))

    def skip(self, element: Element) -> None:
        if any(p.length_type for p in element.properties):
            self._walk(element, [])
        else:
            self._rows(element, [(p.name, self.order + p.type) for p in element.properties])

    def _rows(self, element: Element, fields: Sequence[tuple]) -> NDArray:
        kind = np.dtype(list(fields))
        if element.count * kind.itemsize > len(self.data) - self.at:
            raise self._short(element)
        if not kind.itemsize:
            return np.zeros(0, kind)
        rows = np.frombuffer(self.data, kind, element.count, self.at)
        self.at += rows.nbytes
        return rows

    def _uniform(self, element: Element, name: str) -> _Lists | None:
        """The list where every row has lists of the first row's lengths; None otherwise."""
        fields: list[tuple] = []
        at = self.at
        lengths = {}
        if not element.count:
            return _Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
        for p in element.properties:
            kind = np.dtype(self.order + p.type)
            if not p.length_type:
                fields.append((p.name, kind))
                at += kind.itemsize
                continue
            size = np.dtype(self.order + p.length_type)
            if at + size.itemsize > len(self.data):
                return None
            length = int(np.frombuffer(self.data, size, 1, at)[0])
            if length < 0 or size.kind == "f" or length * kind.itemsize > len(self.data) - at:
                return None
            fields += [(f"{p.name} length", size), (p.name, kind, (length,))]
            lengths[p.name] = length
            at += size.itemsize + length * kind.itemsize
        record = np.dtype(fields)
        if element.count * record.itemsize > len(self.data) - self.at:
            return None
        rows = np.frombuffer(self.data, record, element.count, self.at)
        if any((rows[f"{other} length"] != length).any() for other, length in lengths.items()):
            return None
        self.at += rows.nbytes
        return _Lists(np.full(element.count, lengths[name], np.int64), rows[name].reshape(-1))

    def _walk(self, element: Element, wanted: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the wanted properties of every row begin, and their lengths: (wanted, count) int64 each."""
        from viewer.formats.ply_kernels import walk

        smallest = sum(np.dtype(p.length_type or p.type).itemsize for p in element.properties)
        if element.count * smallest > len(self.data) - self.at:
            raise self._short(element)
        lengths = [np.dtype(p.length_type) if p.length_type else None for p in element.properties]
        if any(kind is not None and kind.kind == "f" for kind in lengths):
            raise self._fail(element, "has a list whose length is a float")
        starts, counts, at, bad = walk(
            np.frombuffer(self.data, np.uint8),
            self.at,
            element.count,
            np.array([0 if kind is None else kind.itemsize for kind in lengths], np.int64),
            np.array([kind is not None and kind.kind == "i" for kind in lengths], np.bool_),
            np.array([np.dtype(p.type).itemsize for p in element.properties], np.int64),
            self.order == ">",
            np.array(wanted, np.int64),
        )
        if bad >= 0:
            raise self._fail(element, f"entry {bad:,} has a list that runs past the end of the file")
        self.at = at
        return starts, counts


class _AsciiReader(_Reader):
    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        super().__init__(data, header, path)
        self.bytes = np.frombuffer(bytearray(data), np.uint8)

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name, float64."""
        scalars = [k for k, p in enumerate(element.properties) if not p.length_type]
        if len(scalars) < len(element.properties):
            begin, columns = self.at, {}
            for k in scalars:  # a rare layout: the element is read once for each
                self.at = begin
                columns[element.properties[k].name] = self._lists(element, k).values
            if not scalars:
                self.skip(element)
            return columns
        from viewer.formats.text import table

        self._check_size(element)
        values, self.at, bad = table(self.bytes, self.at, element.count, len(scalars))
        if bad >= 0:
            raise self._bad_row(element, bad)
        return {p.name: values[:, k] for k, p in enumerate(element.properties)}

    def lists(self, element: Element, name: str | None) -> _Lists:
        if name is None:
            return _Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
        index = next(k for k, p in enumerate(element.properties) if p.name == name)
        found = self._lists(element, index)
        # float64 holds every index of 32 bits; what is no whole number is out of range below.
        whole = np.where(np.abs(found.values) < 2**53, found.values, -1.0)
        if (whole != np.floor(whole)).any():
            raise self._fail(element, "has a vertex number that is not whole")
        return _Lists(found.lengths, whole.astype(np.int64))

    def skip(self, element: Element) -> None:
        self._lists(element, -1)

    def _lists(self, element: Element, index: int) -> _Lists:
        from viewer.formats.text import lists

        self._check_size(element)
        kinds = np.array([bool(p.length_type) for p in element.properties], np.bool_)
        lengths, values, self.at, bad = lists(self.bytes, self.at, element.count, kinds, index)
        if bad >= 0:
            raise self._bad_row(element, bad)
        return _Lists(lengths, values)

    def _check_size(self, element: Element) -> None:
        # A number and its separator take two bytes; the last may lack the separator.
        if 2 * element.count * len(element.properties) > len(self.data) - self.at + 1:
            raise self._short(element)

    def _bad_row(self, element: Element, row: int) -> ViewerError:
        line = self.data.count(b"\n", 0, self.at) + 1
        word = self.data[self.at : self.at + 40].split()
        found = short(word[0].decode("utf-8", "replace"), 30) if word else "the end of the file"
        return self._fail(element, f"entry {row:,} (line {line}): expected a number, got {found}")


def _columns(columns: dict[str, NDArray], names: Sequence[str]) -> NDArray[np.float32] | None:
    """(N, len(names)) float32, or None unless all are there."""
    if not all(name in columns for name in names):
        return None
    out = np.empty((len(columns[names[0]]), len(names)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # what float32 cannot hold becomes infinite, and is counted
        for k, name in enumerate(names):
            out[:, k] = columns[name]
    return out


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
            value = np.asarray(vertex[name], np.float64)
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


def _cut_faces(face: _Lists, positions: NDArray, path: Path, warnings: list[str]) -> NDArray[np.int64]:
    ends = np.cumsum(face.lengths)
    corners = _checked(face.values, len(positions), lambda at: f"face {int(np.searchsorted(ends, at, 'right'))}", path)
    thin = int(np.count_nonzero(face.lengths < 3))
    if thin:
        warnings.append(f"{thin:,} faces with fewer than three corners were left out")
    triangles, _, tangled = triangulate(positions, corners, face.lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    return corners[triangles] if not (face.lengths == 3).all() else corners.reshape(-1, 3)


def _cut_strips(strips: _Lists, count: int, path: Path) -> NDArray[np.int64]:
    """Triangle strips, -1 begins a new one; every second triangle is turned round."""
    values = np.asarray(strips.values).astype(np.int64)
    values[strips.values == -1] = -1
    inside = values >= 0
    inside |= values < -1
    _checked(values[inside], count, lambda at: "tristrips", path)
    # A strip's number for every entry; breaks are the -1 and the ends of lists.
    broken = values == -1
    starts = np.zeros(len(values) + 1, np.int64)
    starts[np.minimum(np.cumsum(strips.lengths), len(values))] = 1
    strip = np.cumsum(broken + starts[: len(values)])
    begins = np.flatnonzero(np.concatenate([[True], strip[1:] != strip[:-1]])) if len(values) else np.zeros(0, np.int64)
    begin = np.zeros(len(values), np.int64)
    begin[begins] = begins
    begin = np.maximum.accumulate(begin) if len(values) else begin
    first = begin + broken[begin] if len(values) else begin
    k = np.arange(max(len(values) - 2, 0))
    whole = (strip[k] == strip[k + 2]) & ~broken[k]
    k = k[whole]
    odd = ((k - first[k]) % 2).astype(bool)
    a, b, c = values[k], values[k + 1], values[k + 2]
    triangles = np.stack([a, np.where(odd, c, b), np.where(odd, b, c)], axis=1)
    # Strips are stitched by repeating vertices: those triangles are no part of the surface.
    real = (triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2]) & (triangles[:, 2] != triangles[:, 0])
    return triangles[real]


def _checked(values: NDArray, count: int, name: object, path: Path) -> NDArray[np.int64]:
    """Vertex numbers as int64, all in range. ``name``(position) tells whose it is."""
    if values.dtype.kind == "f":
        bad = ~((values >= 0) & (values < count) & (values == np.floor(values)))
        first = int(np.argmax(bad)) if bad.any() else -1
    else:
        first = -1
        if len(values) and (int(values.min()) < 0 or int(values.max()) >= count):
            first = int(np.argmax((values < 0) | (values >= count)))
    if first >= 0:
        label = name(first)  # type: ignore[operator]
        raise ViewerError(f"{path}: {label}", f"names vertex {values[first]} of {count:,}", _DAMAGED)
    return values.astype(np.int64)
