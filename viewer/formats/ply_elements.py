"""The body of PLY files: elements read as columns and lists, from binary of either endian and from text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.formats.files import short
from raystream.formats.text import BAD, FULL, SMALL, grown, lists, table, with_newlines

# -- the header of PLY files: encoding, elements and their properties --------------------------------------------------

# Longer than any real header; the search for end_header stops here.
_LONGEST = 1 << 20

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
    at, number = 0, 0
    while True:
        line, at = _line(data, at)
        number += 1
        if line is None:
            raise ViewerError(str(path), "the PLY header does not end", "the file is damaged or truncated")
        words = line.decode("utf-8", "replace").split()
        where = f"{path}: line {number}"
        if not words or words[0] in ("comment", "obj_info") or number == 1:
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
    return Header(encoding, [element for element in elements if element.properties], at, textures, unknown)


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


def _line(data: bytes, at: int) -> tuple[bytes | None, int]:
    """The line at ``at`` without its end (newline, carriage return or both), and the start of the next."""
    newline = data.find(b"\n", at, _LONGEST)
    ret = data.find(b"\r", at, newline if newline >= 0 else _LONGEST)
    if newline < 0 and ret < 0:
        tail = data[at:_LONGEST]
        return (tail, len(data)) if tail.strip() == b"end_header" else (None, at)
    if ret >= 0 and ret + 1 != newline:  # old Macintosh files
        return data[at:ret], ret + 1
    return data[at:newline].rstrip(b"\r"), newline + 1


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
        self.at = header.size
        self.path = path
        self.longer: dict[str, int] = {}  # lines with more values than declared, of each element

    def _go(self, at: int) -> None:
        """Go on from a byte of the file."""
        self.at = at

    def several(self, element: Element, names: Sequence[str], scalars: bool) -> tuple[dict[str, NDArray], list[Lists]]:
        """The scalar properties by name, if asked for, and these list properties: the first as integers."""
        begin, columns, list_properties = self.at, dict[str, NDArray](), list[Lists]()
        for number, name in enumerate(names):
            self._go(begin)
            list_properties.append(self.lists(element, name, integers=not number))
        if scalars:
            self._go(begin)
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

    def _short(self, element: Element) -> ViewerError:
        remaining = len(self.data) - self.at
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
        run(gather, bytes_, starts[0], lengths[0], kind.itemsize, raw, small=len(self.data) < SMALL)
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
        if element.count * kind.itemsize > len(self.data) - self.at:
            raise self._short(element)
        if not kind.itemsize:
            return np.zeros(0, kind)
        rows = np.frombuffer(self.data, kind, element.count, self.at)
        self._go(self.at + rows.nbytes)
        return rows

    def _uniform(self, element: Element, name: str) -> Lists | None:
        """The list if every row has lists of the first row's lengths; None otherwise."""
        fields: list[tuple] = []
        at = self.at
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
        if at - self.at >= 1 << 31:  # beyond NumPy's records
            return None
        record = np.dtype(fields)
        if element.count * record.itemsize > len(self.data) - self.at:
            return None
        rows = np.frombuffer(self.data, record, element.count, self.at)
        if any((rows[f"{other} length"] != length).any() for other, length in lengths.items()):
            return None
        self._go(self.at + rows.nbytes)
        return Lists(np.full(element.count, lengths[name], np.int64), rows[name].reshape(-1))

    def _scan(self, element: Element, chosen: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets of the chosen properties in every row, and their lengths: (chosen, count) int64 each."""
        smallest = sum(np.dtype(p.length_type or p.type).itemsize for p in element.properties)
        if element.count * smallest > len(self.data) - self.at:
            raise self._short(element)
        lengths = [np.dtype(p.length_type) if p.length_type else None for p in element.properties]
        if any(kind is not None and kind.kind == "f" for kind in lengths):
            raise self._fail(element, "has a list whose length is a float")
        starts, counts = np.empty((2, len(chosen), element.count), np.int64)
        at, bad = run(
            traversal,
            np.frombuffer(self.data, np.uint8),
            self.at,
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
        self._go(at)
        return starts, counts


class AsciiReader(_Reader):
    """Elements of a text file, by compiled loops over its bytes.

    Where there are lines enough for all entries, each begins one, and further values in its line are passed over.
    """

    def __init__(self, data: bytes, header: Header, path: Path) -> None:
        super().__init__(with_newlines(data), header, path)
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.by_lines = self.data.count(b"\n", self.at) + 1 >= sum(element.count for element in header.elements)

    def columns(self, element: Element) -> dict[str, NDArray]:
        """The scalar properties by name, float64."""
        scalars = [k for k, p in enumerate(element.properties) if not p.length_type]
        if len(scalars) < len(element.properties):
            begin, columns = self.at, {}
            for k in scalars:  # a rare layout: the element is read once for each
                self._go(begin)
                columns[element.properties[k].name] = self._list(element, k).values
            if not scalars:
                self.skip(element)
            return columns
        self._check_size(element)
        values = np.empty((element.count, len(scalars)))
        at, bad, longer = run(table, self.bytes, self.at, values, self.by_lines, small=len(self.data) < SMALL)
        self._go(at)
        self.longer[element.name] = longer
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
                self.at,
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
            self._go(at)
            if state != FULL:
                break
            values = grown(values)
        self.longer[element.name] = longer
        bad = row if state == BAD else -1
        if bad >= 0:
            raise self._bad_row(element, bad)
        return Lists(lengths, values[:filled])

    def _check_size(self, element: Element) -> None:
        # A number and its separator take two bytes; the last may lack the separator.
        if 2 * element.count * len(element.properties) > len(self.data) - self.at + 1:
            raise self._short(element)

    def _bad_row(self, element: Element, row: int) -> ViewerError:
        line = self.data.count(b"\n", 0, self.at) + 1
        word = self.data[self.at : self.at + 40].split()
        actual = short(word[0].decode("utf-8", "replace"), 30) if word else "the end of the file"
        return self._fail(element, f"entry {row:,} (line {line}): expected a number, got {actual}")


def traversal(data, at, count, length_sizes, length_signed, sizes, big, chosen, starts, lengths):
    """Find the offsets of the chosen properties in every entry.

    length_sizes (P,): bytes of a list's length, 0 for scalars; sizes (P,): bytes of a value; big: big-endian. starts,
    lengths (W, count) int64, written. Returns the end, and the entry beyond the end of the data or -1.
    """
    end = len(data)
    for row in range(count):
        for p in range(len(sizes)):
            length = 1
            width = length_sizes[p]
            if width > 0:
                if at + width > end:
                    return at, row
                length = 0
                for k in range(width):
                    byte = np.int64(data[at + k if big else at + width - 1 - k])
                    if k == 0 and length_signed[p] and byte >= 128:
                        return at, row
                    if length > (1 << 40):
                        return at, row
                    length = length * 256 + byte  # type: ignore[assignment]
                at += width
            if length < 0 or length > (end - at) // sizes[p]:
                return at, row
            for w in range(len(chosen)):
                if chosen[w] == p:
                    starts[w, row] = at
                    lengths[w, row] = length
            at += length * sizes[p]
    return at, -1


def gather(data, starts, lengths, size, out):
    """Concatenate the bytes of all lists: entry i has lengths[i] values of ``size`` bytes from starts[i]."""
    to = 0
    for row in range(len(starts)):
        for k in range(lengths[row] * size):
            out[to] = data[starts[row] + k]
            to += 1
