"""The header of PLY files: encoding, elements and their properties."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from raystream.base.errors import ViewerError
from raystream.formats.files import short

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
