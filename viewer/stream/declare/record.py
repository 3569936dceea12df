"""Records: the fields of a stream element, declared once; NumPy dtype, GLSL struct and packing are derived.

A record takes the fewest RGBA32F texels that hold it. Integers are stored as floats of the same value (the memory model
of Purcell 2004, section 3.2), exact up to 2^24.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError, WiringError

LARGEST_INTEGER = 1 << 24  # exact in float32 up to here
SMALL = 1 << 22  # magnitude up to which shaders/lib/int_of.glsl converts by bits
ROWS = 0  # `Field.within` of integers that number rows of tables
WIDTHS = {"float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "int": 1, "ivec2": 2, "ivec3": 3, "ivec4": 4}
COMPONENTS = "xyzw"
IDENTIFIER = re.compile(r"(?!gl_)(?!.*__)[A-Za-z_][A-Za-z0-9_]*")  # GLSL 3.30, section 3.6


@dataclass(frozen=True)
class Field:
    """One field: its GLSL type, with unit, space and meaning for the reader.

    within : largest magnitude of an integer; `ROWS`: that of the row numbers of the largest table. Those up to `SMALL`
    become integers faster.
    """

    name: str
    type: str
    unit: str = ""
    space: str = ""
    about: str = ""
    within: int = LARGEST_INTEGER

    def __post_init__(self) -> None:
        if self.type not in WIDTHS:
            raise WiringError(f"field {self.name}", f"unknown type '{self.type}'", f"one of {', '.join(WIDTHS)}")

    @property
    def width(self) -> int:
        """Scalars in the field."""
        return WIDTHS[self.type]

    @property
    def integer(self) -> bool:
        """Whether the field is integral."""
        return self.type.startswith("i")

    @property
    def dtype(self) -> tuple[str, Any, tuple[int, ...]]:
        """The field in a NumPy structured dtype."""
        return (self.name, np.int32 if self.integer else np.float32, (self.width,) if self.width > 1 else ())


def matrix_rows(name: str, type_: str, about: str) -> tuple[Field, ...]:
    """The rows ``name_x``, ``name_y`` and ``name_z`` of a matrix: of "vec4" each with a fourth column."""
    return tuple(Field(f"{name}_{axis}", type_, about=f"row {axis} of {about}") for axis in "xyz")


@dataclass(frozen=True)
class FieldSlice:
    """A part of a field within one texel: ``size`` scalars from ``first`` on, at ``component``."""

    field: Field
    first: int
    size: int
    texel: int
    component: int

    @property
    def swizzle(self) -> str:
        """The GLSL suffix that selects the slice from its field; empty for a whole field."""
        return "" if self.size == self.field.width else "." + COMPONENTS[self.first : self.first + self.size]


@dataclass(frozen=True)
class Record:
    """A named tuple of fields; equal if names and fields are."""

    name: str
    fields: tuple[Field, ...] = field(default_factory=tuple)

    def __init__(self, name: str, *fields: Field) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "fields", fields)
        names = [f.name for f in fields]
        for identifier in (name, *names):
            if not IDENTIFIER.fullmatch(identifier):
                raise WiringError(f"record {name}", f"'{identifier}' is no name in GLSL", "letters, digits, _")
        if len(set(names)) != len(names):
            raise WiringError(f"record {name}", f"two fields of one name among {', '.join(names)}")

    @property
    def scalars(self) -> int:
        """Scalars in the record."""
        return sum(f.width for f in self.fields)

    @property
    def texels(self) -> int:
        """RGBA32F texels of a record: the fewest possible."""
        return -(-self.scalars // 4)

    @cached_property
    def dtype(self) -> np.dtype:
        """The record as a NumPy structured dtype, fields in the declared order."""
        return np.dtype([f.dtype for f in self.fields])

    @cached_property
    def slices(self) -> tuple[FieldSlice, ...]:
        """The texels and components of all fields. Wide fields are placed first, whole where a texel has room; the
        others fill the gaps, in parts if need be."""
        free = [4] * self.texels
        slices: list[FieldSlice] = []
        for f in sorted(self.fields, key=lambda f: -f.width):
            whole_texel = next((k for k, room in enumerate(free) if room >= f.width), None)
            first = 0
            while first < f.width:
                texel = whole_texel if whole_texel is not None else next(k for k, room in enumerate(free) if room)
                size = min(f.width - first, free[texel])
                slices.append(FieldSlice(f, first, size, texel, 4 - free[texel]))
                free[texel] -= size
                first += size
        return tuple(slices)

    def pack(self, array: NDArray, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """(...) structured -> (..., texels, 4) float32, into ``out`` (zeros) if given.

        Raises ViewerError for a mismatch of fields, and for an integer beyond 2^24.
        """
        array = np.asarray(array)
        if array.dtype.names != self.dtype.names:  # NumPy would match fields by position
            raise ViewerError(
                f"record {self.name}",
                f"fields {array.dtype.names} given",
                f"they are {', '.join(self.dtype.names or ())}",
            )
        if out is None:
            out = np.zeros((*array.shape, self.texels, 4), np.float32)
        for f in self.fields:
            values = array[f.name]
            if f.integer and values.size:
                largest, limit = max(int(values.min()), int(values.max()), key=abs), f.within or LARGEST_INTEGER
                if abs(largest) > limit:
                    beyond = "2^24, which a float cannot hold" if limit == LARGEST_INTEGER else f"{limit:,}"
                    raise ViewerError(
                        f"record {self.name}.{f.name}",
                        f"integer {largest} is beyond {beyond}",
                        "use a smaller scene or grid",
                    )
        for piece in self.slices:
            values = array[piece.field.name]
            if piece.field.width > 1:
                values = values[..., piece.first : piece.first + piece.size]
            else:
                values = values[..., None]
            out[..., piece.texel, piece.component : piece.component + piece.size] = values
        return out

    def unpack(self, texels: NDArray[np.float32]) -> NDArray:
        """(..., texels, 4) float32 -> (...) structured, the inverse of `pack`."""
        out = np.zeros(texels.shape[:-2], self.dtype)
        for piece in self.slices:
            values = texels[..., piece.texel, piece.component : piece.component + piece.size]
            if piece.field.width > 1:
                out[piece.field.name][..., piece.first : piece.first + piece.size] = values
            else:
                out[piece.field.name] = values[..., 0]
        return out

    def glsl_struct(self) -> str:
        """The GLSL struct, each field commented with unit and space."""
        lines = [f"struct {self.name} {{"]
        for f in self.fields:
            remark = ", ".join(x for x in (f.about, f.unit, f.space and f.space + " space") if x)
            lines.append(f"    {f.type} {f.name};" + (f"  // {remark}" if remark else ""))
        if not self.fields:
            lines.append("    float unused;")  # GLSL has no empty struct
        return "\n".join([*lines, "};"])

    def glsl_zero(self) -> str:
        """The record of zeros."""
        return f"{self.name}({', '.join(f'{f.type}(0)' for f in self.fields) or '0.0'})"

    def glsl_unpack(self) -> str:
        """``unpack_X(vec4 t0, ...)``; an empty record has none. Needs ``lib/int_of.glsl``."""
        if not self.fields:
            return ""
        arguments = ", ".join(f"vec4 t{k}" for k in range(self.texels))
        lines = [f"{self.name} unpack_{self.name}({arguments}) {{", f"    {self.name} r;"]
        for piece in self.slices:
            value = f"t{piece.texel}.{COMPONENTS[piece.component : piece.component + piece.size]}"
            value = _to_integer_glsl(piece, value) if piece.field.integer else value
            lines.append(f"    r.{piece.field.name}{piece.swizzle} = {value};")
        return "\n".join([*lines, "    return r;", "}"])

    def glsl_pack(self, function: str = "") -> str:
        """``pack_X(X r, out vec4 t0, ...)``; an empty record has none. function : of GLSL, applied to each texel, if
        any."""
        if not self.fields:
            return ""
        arguments = ", ".join(f"out vec4 t{k}" for k in range(self.texels))
        lines = [f"void pack_{self.name}({self.name} r, {arguments}) {{"]
        for texel in range(self.texels):
            components, used = [], 0
            for piece in sorted((r for r in self.slices if r.texel == texel), key=lambda r: r.component):
                value = f"r.{piece.field.name}{piece.swizzle}"
                components.append(f"{_glsl_type(False, piece.size)}({value})" if piece.field.integer else value)
                used += piece.size
            components += ["0.0"] * (4 - used)
            value = f"vec4({', '.join(components)})"
            lines.append(f"    t{texel} = {function}({value});" if function else f"    t{texel} = {value};")
        return "\n".join([*lines, "}"])


def _to_integer_glsl(piece: FieldSlice, value: str) -> str:
    """The GLSL expression that converts ``value``, floats of integral value, into the integers of a field."""
    within = piece.field.within
    function = "row_of" if within == ROWS else "int_of" if within <= SMALL else _glsl_type(True, piece.size)
    return f"{function}({value})"


def _glsl_type(integer: bool, size: int) -> str:
    """The GLSL type of ``size`` components."""
    if size == 1:
        return "int" if integer else "float"
    return f"{'ivec' if integer else 'vec'}{size}"
