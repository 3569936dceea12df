"""PLY, the Stanford polygon format (Turk 1994): ASCII and binary of both endians, any properties and elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.formats.files import read_file, referenced_file, short
from raystream.formats.image.images import MODELLERS, ImageMemory, read_image
from raystream.formats.polygons import triangulate
from raystream.formats.text import (
    ARRAY_FULL,
    BAD_ROW,
    SMALL,
    decoded,
    doubled,
    lists,
    table,
    with_newlines,
    without_mark,
)
from raystream.scene.geometry.normals import unit_normals
from raystream.scene.geometry.quadrics import Quadrics, line_radius, point_radius
from raystream.scene.geometry.vertices import centred, finite_uvs, weld
from raystream.scene.material import Material
from raystream.scene.mesh import Float, Mesh, quiet_nans
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

# -- the header of PLY files: encoding, elements and their properties --------------------------------------------------

# Longer than any real header; the search for end_header stops here.
_MAX_HEADER_BYTES = 1 << 20

_TYPES = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "float": "f4",
    "double": "f8",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "float32": "f4",
    "float64": "f8",
}
_STATEMENTS = ("format", "element", "property")
_TEXTURE = re.compile(rb"(?:comment|obj_info)\s+texture[ _]?file:?\s+(.*\S)", re.IGNORECASE)
_ENCODINGS = ("ascii", "binary_little_endian", "binary_big_endian")


@dataclass
class Property:
    """A property of an element's entries; ``length_type`` is that of a list's length, "" for scalars. NumPy type
    codes."""

    name: str
    type: str
    length_type: str = ""


@dataclass
class Element:
    """``count`` entries, each of these properties in this order."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


@dataclass
class Header:
    """The file's declared contents, and the header's size in bytes. textures: files of `comment TextureFile`.
    unknown: lines that are no statement."""

    encoding: str
    elements: list[Element]
    size: int
    textures: list[bytes] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def types(self, element: str) -> dict[str, str]:
        """The types of an element's properties by name."""
        return {p.name: p.type for entry in self.elements if entry.name == element for p in entry.properties}


def read_header(data: bytes, path: Path) -> Header:
    """The header of a file. Raises ViewerError with the faulty line."""
    encoding = ""
    elements: list[Element] = []
    textures: list[bytes] = []
    unknown: list[str] = []
    offset, line_number = 0, 0
    while True:
        line, offset = _line(data, offset)
        line_number += 1
        if line is None:
            raise ViewerError(str(path), "the PLY header does not end", "the file is damaged or truncated")
        words = line.decode("utf-8", "replace").split()
        where = f"{path}: line {line_number}"
        if not words or words[0] in ("comment", "obj_info") or line_number == 1:
            textures += _TEXTURE.findall(line)
            continue
        if words[0] not in (*_STATEMENTS, "end_header"):
            unknown.append(line.decode("utf-8", "replace"))
            continue
        if words[0] == "end_header":
            break
        if words[0] == "format" and len(words) >= 2:
            encoding = words[1]
            if encoding not in _ENCODINGS:
                raise ViewerError(where, f"unknown encoding {short(encoding)}", f"known are {', '.join(_ENCODINGS)}")
        elif words[0] == "element" and len(words) == 3:
            if not (words[2].isascii() and words[2].isdigit() and len(words[2]) <= 18):
                raise ViewerError(where, f"expected a count of {short(words[1])}, got {short(words[2])}")
            if any(element.name == words[1] for element in elements):
                raise ViewerError(where, f"element {short(words[1])} appears twice", "the file is damaged")
            elements.append(Element(words[1], int(words[2])))
        elif words[0] == "property" and elements and len(words) in (3, 5):
            _add_property(elements[-1], words, where)
        else:
            text = short(line.decode("utf-8", "replace"))
            raise ViewerError(
                where, f"{text} is not a line of a PLY header, before 'end_header'", "the file is damaged"
            )
    if not encoding:
        raise ViewerError(str(path), "the PLY header has no line 'format'", "the file is damaged")
    # Entries without properties take no space, whatever their count.
    return Header(encoding, [element for element in elements if element.properties], offset, textures, unknown)


def _add_property(element: Element, words: list[str], where: str) -> None:
    types, name = words[1:-1], words[-1]
    if len(types) == 3:
        if types[0] != "list":
            raise ViewerError(where, f"expected 'property list ...', got {short(' '.join(words))}")
        types = types[1:]
    for name_of_type in types:
        if name_of_type not in _TYPES:
            raise ViewerError(where, f"unknown type {short(name_of_type)}", f"known are {', '.join(_TYPES)}")
    if any(p.name == name for p in element.properties):
        raise ViewerError(where, f"property {short(name)} appears twice", "the file is damaged")
    codes = [_TYPES[name_of_type] for name_of_type in types]
    element.properties.append(Property(name, codes[-1], codes[0] if len(codes) == 2 else ""))


def _line(data: bytes, start: int) -> tuple[bytes | None, int]:
    """The line at ``at`` without its end (newline, carriage return or both), and the start of the next."""
    newline = data.find(b"\n", start, _MAX_HEADER_BYTES)
    carriage_return = data.find(b"\r", start, newline if newline >= 0 else _MAX_HEADER_BYTES)
    if newline < 0 and carriage_return < 0:
        tail = data[start:_MAX_HEADER_BYTES]
        return (tail, len(data)) if tail.strip() == b"end_header" else (None, start)
    if carriage_return >= 0 and carriage_return + 1 != newline:  # old Macintosh files
        return data[start:carriage_return], carriage_return + 1
    return data[start:newline].rstrip(b"\r"), newline + 1


# -- the body: elements read as columns and lists, from binary of either endian and from text --------------------------

DAMAGED = "the file is damaged or truncated"


@dataclass
class Lists:
    """One list property of all entries: lengths (N,) int64, and the values concatenated."""

    lengths: NDArray[np.int64]
    values: NDArray


class _Reader:
    """Reads a file's body, element by element."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        self.data = data
        self.position = header.size
        self.path = path
        self.overlong: dict[str, int] = {}  # lines with more values than declared, of each element

    def _seek(self, at: int) -> None:
        """Go on from a byte of the file."""
        self.position = at

    def read_both(
        self, element: Element, names: Sequence[str], scalars: bool
    ) -> tuple[dict[str, NDArray], list[Lists]]:
        """The scalar properties by name, if asked for, and these list properties: the first as integers."""
        start, columns, list_properties = self.position, dict[str, NDArray](), list[Lists]()
        for index, name in enumerate(names):
            self._seek(start)
            list_properties.append(self.lists(element, name, integers=not index))
        if scalars:
            self._seek(start)
            columns = self.columns(element)
        return columns, list_properties

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name."""
        raise NotImplementedError

    def lists(self, element: Element, name: str, integers: bool = True) -> Lists:
        """One list property, of integers if ``integers``."""
        raise NotImplementedError

    def _fail(self, element: Element, what: str) -> ViewerError:
        return ViewerError(f"{self.path}: element {element.name}", what, DAMAGED)

    def _too_short(self, element: Element) -> ViewerError:
        remaining = len(self.data) - self.position
        return self._fail(element, f"says {element.count:,} entries, but only {remaining:,} bytes are left")

    def _as_integers(self, element: Element, lists: Lists) -> Lists:
        """The list with integer values."""
        if lists.values.dtype.kind != "f":
            return lists
        # float64 holds every 32-bit integer; non-finite values are out of range.
        integers = np.where(np.abs(lists.values) < 2**53, lists.values, -(2.0**53))
        if (integers != np.floor(integers)).any():
            raise self._fail(element, "has a fractional vertex number")
        return Lists(lists.lengths, integers.astype(np.int64))


class BinaryReader(_Reader):
    """Elements of a binary file, whole or column by column."""

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        super().__init__(data, header, path)
        self.order = "<" if header.encoding == "binary_little_endian" else ">"

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name."""
        if not any(p.length_type for p in element.properties):
            rows = self._rows(element, [(p.name, self.order + p.type) for p in element.properties])
            return {p.name: rows[p.name] for p in element.properties}
        scalars = [k for k, p in enumerate(element.properties) if not p.length_type]
        starts, _ = self._scan(element, scalars)
        bytes_ = np.frombuffer(self.data, np.uint8)
        columns = {}
        for row, k in enumerate(scalars):
            p = element.properties[k]
            size = np.dtype(p.type).itemsize
            raw = bytes_[starts[row][:, None] + np.arange(size)]
            columns[p.name] = np.ascontiguousarray(raw).view(self.order + p.type).ravel()
        return columns

    def lists(self, element: Element, name: str, integers: bool = True) -> Lists:
        """One list property, of integers if ``integers``; vectorised where all its lists are equally long, the usual
        case."""
        uniform = self._uniform(element, name)
        if uniform is not None:
            return self._as_integers(element, uniform) if integers else uniform
        index = next(k for k, p in enumerate(element.properties) if p.name == name)
        starts, lengths = self._scan(element, [index])
        kind = np.dtype(self.order + element.properties[index].type)
        bytes_ = np.frombuffer(self.data, np.uint8)
        raw = np.empty(int(lengths[0].sum()) * kind.itemsize, np.uint8)
        run(concatenate_bytes, bytes_, starts[0], lengths[0], kind.itemsize, raw, small=len(self.data) < SMALL)
        lists = Lists(lengths[0], raw.view(kind))
        return self._as_integers(element, lists) if integers else lists

    def skip(self, element: Element) -> None:
        """Go behind an element."""
        if any(p.length_type for p in element.properties):
            self._scan(element, [])
        else:
            self._rows(element, [(p.name, self.order + p.type) for p in element.properties])

    def _rows(self, element: Element, fields: Sequence[tuple]) -> NDArray:
        kind = np.dtype(list(fields))
        if element.count * kind.itemsize > len(self.data) - self.position:
            raise self._too_short(element)
        if not kind.itemsize:
            return np.zeros(0, kind)
        rows = np.frombuffer(self.data, kind, element.count, self.position)
        self._seek(self.position + rows.nbytes)
        return rows

    def _uniform(self, element: Element, name: str) -> Lists | None:
        """The list if every row has lists of the first row's lengths; None otherwise."""
        fields: list[tuple] = []
        at = self.position
        lengths = {}
        if not element.count:
            return Lists(np.zeros(0, np.int64), np.zeros(0, np.int64))
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
        if at - self.position >= 1 << 31:  # beyond NumPy's records
            return None
        record = np.dtype(fields)
        if element.count * record.itemsize > len(self.data) - self.position:
            return None
        rows = np.frombuffer(self.data, record, element.count, self.position)
        if any((rows[f"{other} length"] != length).any() for other, length in lengths.items()):
            return None
        self._seek(self.position + rows.nbytes)
        return Lists(np.full(element.count, lengths[name], np.int64), rows[name].reshape(-1))

    def _scan(self, element: Element, chosen: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets of the chosen properties in every row, and their lengths: (chosen, count) int64 each."""
        smallest = sum(np.dtype(p.length_type or p.type).itemsize for p in element.properties)
        if element.count * smallest > len(self.data) - self.position:
            raise self._too_short(element)
        lengths = [np.dtype(p.length_type) if p.length_type else None for p in element.properties]
        if any(kind is not None and kind.kind == "f" for kind in lengths):
            raise self._fail(element, "has a list whose length is a float")
        starts, counts = np.empty((2, len(chosen), element.count), np.int64)
        at, bad = run(
            find_offsets,
            np.frombuffer(self.data, np.uint8),
            self.position,
            element.count,
            np.array([0 if kind is None else kind.itemsize for kind in lengths], np.int64),
            np.array([kind is not None and kind.kind == "i" for kind in lengths], np.bool_),
            np.array([np.dtype(p.type).itemsize for p in element.properties], np.int64),
            self.order == ">",
            np.array(chosen, np.int64),
            starts,
            counts,
            small=len(self.data) < SMALL,
        )
        if bad >= 0:
            raise self._fail(element, f"entry {bad:,} has a list that runs past the end of the file")
        self._seek(at)
        return starts, counts


class AsciiReader(_Reader):
    """Elements of a text file, by compiled loops over its bytes.

    Where there are lines enough for all entries, each begins one, and further values in its line are passed over.
    """

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        super().__init__(with_newlines(data), header, path)
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.by_lines = self.data.count(b"\n", self.position) + 1 >= sum(element.count for element in header.elements)

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name, float64."""
        scalars = [k for k, p in enumerate(element.properties) if not p.length_type]
        if len(scalars) < len(element.properties):
            start, columns = self.position, {}
            for k in scalars:  # a rare layout: the element is read once for each
                self._seek(start)
                columns[element.properties[k].name] = self._list(element, k).values
            if not scalars:
                self.skip(element)
            return columns
        self._check_size(element)
        values = np.empty((element.count, len(scalars)))
        at, bad, longer = run(table, self.bytes, self.position, values, self.by_lines, small=len(self.data) < SMALL)
        self._seek(at)
        self.overlong[element.name] = longer
        if bad >= 0:
            raise self._bad_row(element, bad)
        return {p.name: values[:, k] for k, p in enumerate(element.properties)}

    def lists(self, element: Element, name: str, integers: bool = True) -> Lists:
        """A list property's numbers, integers if ``integers``."""
        index = next(k for k, p in enumerate(element.properties) if p.name == name)
        lists = self._list(element, index)
        return self._as_integers(element, lists) if integers else lists

    def skip(self, element: Element) -> None:
        """Go behind an element."""
        self._list(element, -1)

    def _list(self, element: Element, index: int) -> Lists:
        self._check_size(element)
        kinds = np.array([bool(p.length_type) for p in element.properties], np.bool_)
        lengths, values = np.empty(element.count, np.int64), np.empty(4 * element.count + 16)
        filled = row = longer = 0
        while True:
            filled, at, row, state, longer = run(
                lists,
                self.bytes,
                self.position,
                row,
                kinds,
                index,
                lengths,
                values,
                filled,
                self.by_lines,
                longer,
                small=len(self.data) < SMALL,
            )
            self._seek(at)
            if state != ARRAY_FULL:
                break
            values = doubled(values)
        self.overlong[element.name] = longer
        bad = row if state == BAD_ROW else -1
        if bad >= 0:
            raise self._bad_row(element, bad)
        return Lists(lengths, values[:filled])

    def _check_size(self, element: Element) -> None:
        # A number and its separator take two bytes; the last may lack the separator.
        if 2 * element.count * len(element.properties) > len(self.data) - self.position + 1:
            raise self._too_short(element)

    def _bad_row(self, element: Element, row: int) -> ViewerError:
        line = self.data.count(b"\n", 0, self.position) + 1
        word = self.data[self.position : self.position + 40].split()
        actual = short(word[0].decode("utf-8", "replace"), 30) if word else "the end of the file"
        return self._fail(element, f"entry {row:,} (line {line}): expected a number, got {actual}")


def find_offsets(data, offset, count, length_sizes, length_signed, sizes, big, chosen, starts, lengths):
    """Find the offsets of the chosen properties in every entry.

    length_sizes (P,): bytes of a list's length, 0 for scalars; sizes (P,): bytes of a value; big: big-endian. starts,
    lengths (W, count) int64, written. Returns the end, and the entry beyond the end of the data or -1.
    """
    end = len(data)
    for row in range(count):
        for prop in range(len(sizes)):
            length = 1
            width = length_sizes[prop]
            if width > 0:
                if offset + width > end:
                    return offset, row
                length = 0
                for k in range(width):
                    byte = np.int64(data[offset + k if big else offset + width - 1 - k])
                    if k == 0 and length_signed[prop] and byte >= 128:
                        return offset, row
                    if length > (1 << 40):
                        return offset, row
                    length = length * 256 + byte  # type: ignore[assignment]
                offset += width
            if length < 0 or length > (end - offset) // sizes[prop]:
                return offset, row
            for chosen_row in range(len(chosen)):
                if chosen[chosen_row] == prop:
                    starts[chosen_row, row] = offset
                    lengths[chosen_row, row] = length
            offset += length * sizes[prop]
    return offset, -1


def concatenate_bytes(data, starts, lengths, size, out):
    """Concatenate the bytes of all lists: entry i has lengths[i] values of ``size`` bytes from starts[i]."""
    target = 0
    for row in range(len(starts)):
        for k in range(lengths[row] * size):
            out[target] = data[starts[row] + k]
            target += 1


# -- attributes of PLY files: colours and texture coordinates of vertices and of faces, and textures -------------------

_UVS = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0"))
_COLORS = (
    ("red", "green", "blue", "alpha"),
    ("diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"),
    ("r", "g", "b", "a"),
)
_CORNER_UVS = ("texcoord", "texcoords", "tex_coord", "uv")
_TEXTURE_NUMBERS = ("texnumber", "texture_number")
# Floats of colours beyond this are of 0 to 255, and whole ones beyond 1.
_MAX_LINEAR = 32.0


@dataclass
class Faces:
    """Faces: their corners' vertex numbers; colors (F, 4) linear; uvs, two for each corner; textures (F,), numbers."""

    corners: Lists
    colors: Float | None = None
    uvs: NDArray | None = None
    textures: NDArray | None = None

    @property
    def attributes(self) -> bool:
        """Whether there are any besides the corners."""
        return self.colors is not None or self.uvs is not None


def read_faces(reader: AsciiReader | BinaryReader, element: Element, indices: str, warnings: list[str]) -> Faces:
    """The faces of an element, whose list of vertex numbers is named; other properties are told."""
    kinds = {p.name: p.type for p in element.properties if not p.length_type}
    uvs = next((p.name for p in element.properties if p.name in _CORNER_UVS and p.length_type), None)
    textures = next((name for name in _TEXTURE_NUMBERS if name in kinds), None)
    colors = next((names for names in _COLORS if all(name in kinds for name in names[:3])), ())
    columns, lists = reader.read_both(
        element, (indices,) if uvs is None else (indices, uvs), bool(colors) or textures is not None
    )
    faces = Faces(lists[0], read_colors(columns, kinds, warnings))
    if uvs is not None and (lists[1].lengths == 2 * lists[0].lengths).all():
        faces.uvs = np.asarray(lists[1].values, np.float64).reshape(-1, 2)
    elif uvs is not None:
        wrong = lists[1].lengths != 2 * lists[0].lengths
        if lists[1].lengths.any():
            warnings.append(f"{int(wrong.sum()):,} faces lack texture coordinates for their corners; none are used")
    faces.textures = columns[textures] if textures is not None else None
    used = {indices, uvs, textures, *colors}
    unused = [p.name for p in element.properties if p.name not in used]
    if unused:
        warnings.append(f"properties of faces left out: {', '.join(short(name, 30) for name in unused[:5])}")
    return faces


def stack_columns(columns: dict[str, NDArray], names: Sequence[str]) -> Float | None:
    """(N, len(names)) float32, or None if one is missing."""
    if not all(name in columns for name in names):
        return None
    out = np.empty((len(columns[names[0]]), len(names)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows become infinite, and are counted later
        for k, name in enumerate(names):
            out[:, k] = columns[name]
    return quiet_nans(out)


def vertex_uvs(vertex: dict[str, NDArray], warnings: list[str]) -> Float | None:
    """(V, 2), their origin at the upper left instead of the lower one."""
    for names in _UVS:
        uvs = stack_columns(vertex, names)
        if uvs is not None:
            uvs = finite_uvs(uvs, warnings)
            uvs[:, 1] = np.float32(1) - uvs[:, 1]
            return uvs
    return None


def read_colors(columns: dict[str, NDArray], types: dict[str, str], warnings: list[str]) -> Float | None:
    """(N, 4) linear; None without.

    Integers are sRGB of 0 to their type's largest; those of more than 8 bits of 0 to 255 where none is larger. Floats
    are linear of 0 to 1, but sRGB of 0 to 255 where they are whole numbers of that range, or beyond any light of a
    picture.
    """
    for names in _COLORS:
        if not all(name in columns for name in names[:3]):
            continue
        present = [name for name in names if name in columns]
        if all(columns[name].dtype == np.uint8 for name in present):  # the usual case, by a table
            return _colors_of_bytes([columns[name] for name in present])
        values = np.ones((len(columns[names[0]]), 4))
        for k, name in enumerate(present):
            column = columns[name]
            values[:, k] = quiet_nans(column) if column.dtype.kind == "f" else column
        values = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
        kind = np.dtype(types[names[0]])
        rgb = values[:, :3]
        largest = float(rgb.max(initial=0.0))
        if kind.kind == "f":
            integral = bool((rgb == np.floor(rgb)).all())
            scale = 255.0 if largest <= 255.0 and (largest > _MAX_LINEAR or (integral and largest > 1.0)) else None
            if scale is not None:
                warnings.append(f"colours up to {largest:g} are taken for sRGB of 0 to 255")
        else:
            limits = [255.0, 65535.0, float(np.iinfo(kind).max)] if kind.itemsize > 1 else [float(np.iinfo(kind).max)]
            scale = next((limit for limit in limits if largest <= limit), limits[-1]) if largest else limits[-1]
            scale = min(scale, float(np.iinfo(kind).max))
        if scale is not None:
            rgb[:] = linear_from_srgb(np.minimum(rgb / scale, 1.0))
            if len(present) > 3:
                values[:, 3] = np.minimum(values[:, 3] / scale, 1.0)
        return np.minimum(values, np.finfo(np.float32).max).astype(np.float32)
    return None


def _colors_of_bytes(columns: list[NDArray]) -> Float:
    linear = np.arange(256) / 255.0
    tables = np.stack([linear_from_srgb(linear), linear]).astype(np.float32)
    colors = np.ones((len(columns[0]), 4), np.float32)
    for k, column in enumerate(columns):
        colors[:, k] = tables[int(k == 3)][column]
    return colors


def with_attributes(
    mesh: Mesh, normals: Float | None, faces: Faces, corners: NDArray, polygon: NDArray, warnings: list[str]
) -> tuple[Mesh, Float | None]:
    """The mesh, and its vertices' normals, with a vertex for each combination of attributes at corners.

    corners (T, 3): indices of corners of triangles, the mesh's first ones; polygon (T,): their faces. Triangles behind
    these have the vertices' attributes. Of colours of faces and of vertices those are used that differ.
    """
    order = mesh.triangles.ravel()
    count = 3 * len(corners)
    rows = [order.astype(np.uint32)[:, None]]
    uvs = colors = None
    if faces.uvs is not None:
        flipped = np.array([0.0, 1.0]) + np.array([1.0, -1.0]) * finite_uvs(faces.uvs, warnings)
        uvs = np.zeros((len(order), 2), np.float32) if mesh.uvs is None else mesh.uvs[order]
        uvs[:count] = flipped[corners.ravel()]
        rows.append(uvs.view(np.uint32))
    if faces.colors is not None and (mesh.colors is None or not _all_equal(faces.colors) or _all_equal(mesh.colors)):
        colors = np.ones((len(order), 4), np.float32) if mesh.colors is None else mesh.colors[order]
        colors[:count] = np.repeat(faces.colors[polygon], 3, axis=0)
        rows.append(colors.view(np.uint32))
    indices, first = weld(np.ascontiguousarray(np.concatenate(rows, axis=1)), small=len(order) < SMALL)
    source = order[first]
    mesh = Mesh(
        mesh.positions[source],
        indices.reshape(-1, 3),
        mesh.materials,
        uvs=uvs[first] if uvs is not None else None if mesh.uvs is None else mesh.uvs[source],
        colors=colors[first] if colors is not None else None if mesh.colors is None else mesh.colors[source],
        name=mesh.name,
    )
    if faces.textures is not None:
        chosen = np.zeros(len(mesh.triangles), np.int32)
        chosen[: len(corners)] = np.clip(np.nan_to_num(faces.textures), 0, 1 << 20).astype(np.int32)[polygon]
        mesh.materials = chosen
    return mesh, None if normals is None else normals[source]


def _all_equal(rows: NDArray) -> bool:
    """Whether all rows are alike."""
    return bool((rows == rows[:1]).all())


def read_textures(
    mesh: Mesh, names: list[str], folder: Path, warnings: list[str], lenient: bool, max_texture: int | None
) -> tuple[list[Material], list[Texture]]:
    """The materials of a mesh and their textures, one for each file named; the mesh's numbers of materials are numbers
    of textures, and its colours are left out where a texture has them."""
    if not names or mesh.uvs is None:
        mesh.materials = np.zeros_like(mesh.materials)
        if names:
            warnings.append(f"texture {short(names[0])} is left out: no vertex and no face has texture coordinates")
        if mesh.colors is not None:
            return [Material(base_color=(1.0, 1.0, 1.0, 1.0))], []
        return [Material()], []
    memory, textures, materials, readable = ImageMemory(max_texture), list[Texture](), list[Material](), True
    for name in names:
        try:
            image = read_image(memory, read_file(referenced_file(folder, name, name), name), name, name, MODELLERS)
        except ViewerError as error:
            readable = False
            image = Image.checkerboard(name) if lenient else Image.white(name)
            instead = "a checkerboard" if lenient else "white"
            warnings.append(f"texture {short(name)} not read, {instead} instead: {error.what}")
        materials.append(Material(name, (1.0, 1.0, 1.0, 1.0), texture=len(textures)))
        textures.append(Texture(image, name=name))
    mesh.materials = np.minimum(mesh.materials, len(names) - 1)
    if mesh.colors is not None and readable:
        mesh.colors = None
        warnings.append("colours of vertices and faces are left out: the texture has them")
    return materials, textures


def points_or_lines(positions: Float, edges: dict[str, NDArray], colors: Float | None, name: str) -> Quadrics:
    """Cylinders along the edges, which name two vertices each; spheres around the vertices without any."""
    if "vertex1" in edges and "vertex2" in edges:
        lines = np.stack([edges["vertex1"], edges["vertex2"]], axis=1).astype(np.int64)
        lines = lines[((lines >= 0) & (lines < len(positions))).all(axis=1)].astype(np.int32)
        mesh = Quadrics.cylinders(positions, lines, line_radius(positions), colors, name)
        if len(mesh.triangles):
            return mesh
    return Quadrics.spheres(positions, point_radius(positions), colors, name)


# -- the reader --------------------------------------------------------------------------------------------------------

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
    names. Raises ViewerError for malformed or truncated files.
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
    positions, transform = centred(np.stack([quiet_nans(vertex[name]).astype(kind) for name in "xyz"], axis=1))
    mesh = Mesh(positions, np.zeros((0, 3), np.int32), name=path.stem)
    mesh.colors, mesh.uvs = read_colors(vertex, header.types("vertex"), warnings), vertex_uvs(vertex, warnings)
    normals = stack_columns(vertex, ("nx", "ny", "nz"))
    triangles = []
    cut = None
    if face is not None:
        cut = _triangulate_faces(face.corners, positions, path, warnings)
        # Where all are triangles their corners are the file's own.
        vertex_numbers = face.corners.values
        triangles.append((vertex_numbers.reshape(-1, 3) if cut is None else vertex_numbers[cut[0]]).astype(np.int32))
    if strips is not None:
        triangles.append(_strip_triangles(strips, len(positions), path).astype(np.int32))
    faces = np.concatenate(triangles) if len(triangles) > 1 else triangles[0] if triangles else NO_TRIANGLES
    if not (face and len(face.corners.lengths)) and not (strips and len(strips.lengths)) and len(positions):
        mesh = points_or_lines(positions, edges, mesh.colors, path.stem)
        materials, _ = read_textures(mesh, [], path.parent, warnings, lenient, max_texture)
        return Scene([mesh], [Instance(0, transform)], materials, name=path.stem, warnings=warnings)
    mesh.triangles, mesh.materials = faces, np.zeros(len(faces), np.int32)
    if face is not None and face.attributes:
        corners, polygon = _whole_triangles(face.corners) if cut is None else cut
        mesh, normals = with_attributes(mesh, normals, face, corners, polygon, warnings)
    if normals is not None:
        mesh.normals, mended = unit_normals(mesh.positions, mesh.triangles, normals)
        if mended:
            warnings.append(f"{mended:,} vertices have a normal without direction; recomputed from their faces")
    names = [decoded(name) for name in header.textures]
    materials, textures = read_textures(mesh, names, path.parent, warnings, lenient, max_texture)
    return Scene([mesh], [Instance(0, transform)], materials, name=path.stem, warnings=warnings, textures=textures)


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
            face = read_faces(reader, element, name, warnings)
    for name, lines in reader.overlong.items():
        if lines:
            warnings.append(f"{lines:,} lines of element {name} have more values than it declares, which are left out")
    return vertex, face, strips, edges


_CornerTriangles = tuple[NDArray[np.int64], NDArray[np.int64]]


def _triangulate_faces(face: Lists, positions: NDArray, path: Path, warnings: list[str]) -> _CornerTriangles | None:
    """Triangles as numbers of corners (T, 3), and the face of each (T,); None where all faces are triangles, see
    `_whole_triangles`."""

    def name(at: int) -> str:
        return f"face {int(np.searchsorted(np.cumsum(face.lengths), at, 'right')):,}"

    _check(face.values, len(positions), name, path)
    if (face.lengths == 3).all():
        return None
    degenerate = int(np.count_nonzero(face.lengths < 3))
    if degenerate:
        warnings.append(f"{degenerate:,} faces with fewer than three corners were left out")
    triangles, polygon, tangled = triangulate(positions, face.values.astype(np.int64), face.lengths)
    if tangled:
        warnings.append(f"{tangled:,} polygons cross themselves too often to be cut well")
    return triangles, polygon


def _whole_triangles(face: Lists) -> _CornerTriangles:
    """`_triangulate_faces` where it cuts nothing."""
    return np.arange(len(face.values)).reshape(-1, 3), np.arange(len(face.lengths))


def _strip_triangles(strips: Lists, count: int, path: Path) -> NDArray[np.int64]:
    """Triangle strips; -1 or a new list begins a new one; every second triangle is reversed."""
    values = np.asarray(strips.values).astype(np.int64)
    values[strips.values == -1] = -1
    values = np.insert(values, np.cumsum(strips.lengths)[:-1], -1)
    ends = values == -1
    _check(values[~ends], count, lambda at: f"tristrips: entry {at:,}", path)
    indices = np.arange(len(values))
    position_in_strip = indices - np.maximum.accumulate(np.where(ends, indices, -1)) - 1  # position in its strip
    last = np.flatnonzero(~ends & (position_in_strip >= 2))
    odd = (position_in_strip[last] % 2).astype(bool)
    a, b, c = values[last - 2], values[last - 1], values[last]
    # Strips are joined by repeated vertices: their degenerate triangles are dropped.
    is_proper = (a != b) & (b != c) & (c != a)
    return np.stack([a, np.where(odd, c, b), np.where(odd, b, c)], axis=1)[is_proper]


def _check(values: NDArray, count: int, name: Callable[[int], str], path: Path) -> None:
    """Raises ViewerError for a number of no vertex; ``name`` describes its position."""
    first = -1
    if len(values) and (int(values.min()) < 0 or int(values.max()) >= count):
        first = int(np.argmax((values < 0) | (values >= count)))
    if first >= 0:
        raise ViewerError(f"{path}: {name(first)}", f"names vertex {values[first]} of {count:,}", DAMAGED)
