"""Calls any GLSL function on NumPy arrays: the function's twin is then compared in NumPy float64.

>>> nonzero = Function(device, "vec3 nonzero(vec3 direction)", includes=["lib/direction.glsl"])
>>> (result,) = nonzero(np.zeros((5, 3)))

A fragment program is generated that reads the arguments of call i from texel i of a float texture, calls the function
and writes what comes back. Outputs are ``invariant``, as those of the machines are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.stream.compile.generate import VERSION, add_modules
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import WIDTHS, Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, Tiles
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream

COLUMNS = 256
_SIGNATURE = re.compile(r"\s*(\w+)\s+(\w+)\s*\(([^)]*)\)\s*;?\s*")


@dataclass(frozen=True)
class _Value:
    """An argument or the result: its GLSL type (or record), and the fields that carry it through textures."""

    name: str
    type: str
    record: Record | None

    @property
    def carried(self) -> list[Field]:
        if self.record is not None:
            return [Field(f"{self.name}_{f.name}", f.type) for f in self.record.fields]
        return [Field(self.name, {"bool": "int"}.get(self.type, self.type))]

    def construct(self, source: str) -> str:
        """The value, from the carrying record."""
        if self.record is None:
            return f"{self.type}({source}.{self.name})"
        return f"{self.type}({', '.join(f'{source}.{f.name}' for f in self.carried) or '0.0'})"

    def assign(self, target: str, value: str) -> list[str]:
        """The statements that put the value into the carrying record."""
        if self.record is None:
            return [f"{target}.{self.name} = {'int' if self.type == 'bool' else ''}({value});"]
        return [f"{target}.{self.name}_{f.name} = {value}.{f.name};" for f in self.record.fields]

    def put(self, into: NDArray, array: ArrayLike) -> None:
        """Fill the carrying record's fields."""
        if self.record is None:
            into[self.name] = array
            return
        for f in self.record.fields:
            into[f"{self.name}_{f.name}"] = np.asarray(array)[f.name]

    def take(self, held: NDArray) -> NDArray:
        """The value out of the carrying record's fields."""
        if self.record is None:
            array = np.ascontiguousarray(held[self.name])
            return array.astype(bool) if self.type == "bool" else array
        out = np.zeros(held.shape, self.record.dtype)
        for f in self.record.fields:
            out[f.name] = held[f"{self.name}_{f.name}"]
        return out


class Function:
    """A GLSL function, callable on arrays.

    signature : as in GLSL; types are scalars, vectors, ``bool`` and records. includes : files below ``shaders/``.
    modules : bring their memories, uniforms, constants, records and source (before the includes).
    records : further records by their name in the signature. text : GLSL behind the includes.
    """

    def __init__(
        self,
        device: Device,
        signature: str,
        includes: Sequence[str] = (),
        modules: Sequence[Module] = (),
        records: Sequence[Record] = (),
        text: str = "",
    ) -> None:
        match = _SIGNATURE.fullmatch(signature)
        assert match is not None, signature
        self.device = device
        known = self._records(modules, records)
        returns, self.name, arguments = match.groups()
        self.inputs: list[_Value] = []
        self.outputs: list[_Value] = []
        self.arguments: list[_Value] = []
        if returns != "void":
            self.outputs.append(_Value("result", returns, known.get(returns)))
        for part in filter(None, (a.strip() for a in arguments.split(","))):
            *qualifiers, kind, name = part.split()
            assert kind in WIDTHS or kind == "bool" or kind in known, f"{part}: unknown type"
            value = _Value(name, kind, known.get(kind))
            self.arguments.append(value)
            if "out" not in qualifiers:
                self.inputs.append(value)
            if "out" in qualifiers or "inout" in qualifiers:
                self.outputs.append(value)
        self.given = Record("GlslIn", *(f for v in self.inputs for f in v.carried))
        self.made = Record("GlslOut", *(f for v in self.outputs for f in v.carried))
        assert self.made.texels <= 8, "too many outputs for one pass"
        self.streams: dict[int, tuple[Stream, Stream, moderngl.Framebuffer, Drawing]] = {}  # by rows
        self.resources, self.modules = Resources(device), tuple(modules)
        with device.current():
            self.shader = Shader(device, self._source(modules, includes, known, text))
            for module in modules:
                self.set({name: value for name, (_, value) in module.uniforms.items()})
            self.set(self.resources.bases(modules))

    @staticmethod
    def _records(modules: Sequence[Module], records: Sequence[Record]) -> dict[str, Record]:
        found = list(records)
        for module in modules:
            found += [*module.uses, *([module.module_state] if module.module_state else [])]
            found += [memory.record for memory in module.memories if isinstance(memory, Table)]
        return {record.name: record for record in found}

    def _source(
        self, modules: Sequence[Module], includes: Sequence[str], records: Mapping[str, Record], text: str
    ) -> Source:
        source = Source(features=frozenset().union(*(module.features for module in modules)))
        source.add(VERSION, "version")
        for record in (*records.values(), self.given, self.made):
            source.add_record(record, pack=True)
        add_modules(source, modules, self.resources, counting=False, once=True)
        for name in includes:
            source.include(name)
        source.add(text, "text of the test")
        for k in range(self.given.texels):
            source.add(f"uniform sampler2D in_{k};", "helper")
        for k in range(self.made.texels):
            source.add(f"layout(location = {k}) out vec4 out_{k};\ninvariant out_{k};", "helper")
        source.add("uniform int calls;", "helper")
        source.add("\n".join(self._main()), "helper")
        return source

    def _main(self) -> list[str]:
        lines = ["void main() {", "    ivec2 at = ivec2(gl_FragCoord.xy);"]
        lines.append(f"    if (at.x >= {COLUMNS} || at.y * {COLUMNS} + at.x >= calls) return;")
        if self.given.fields:
            fetched = ", ".join(f"texelFetch(in_{k}, at, 0)" for k in range(self.given.texels))
            lines.append(f"    GlslIn given = unpack_GlslIn({fetched});")
        for value in self.arguments:
            begin = f" = {value.construct('given')}" if value in self.inputs else ""
            lines.append(f"    {value.type} a_{value.name}{begin};")
        call = f"{self.name}({', '.join(f'a_{v.name}' for v in self.arguments)});"
        returned = next((v for v in self.outputs if v not in self.arguments), None)
        lines.append(f"    {returned.type} a_result = {call}" if returned else f"    {call}")
        lines.append("    GlslOut made;")
        for value in self.outputs:
            lines += [f"    {line}" for line in value.assign("made", f"a_{value.name}")]
        lines.append(f"    pack_GlslOut(made, {', '.join(f'out_{k}' for k in range(self.made.texels))});")
        return [*lines, "}"]

    def set(self, uniforms: Mapping[str, Any]) -> None:
        """Set uniforms; those that the compiler removed are ignored."""
        for name, value in uniforms.items():
            self.shader.set(name, value)

    def __call__(self, *arrays: ArrayLike) -> tuple[NDArray, ...]:
        """The result (where there is one) and the out and inout arguments, each of N calls.

        arrays : for each in and inout argument (N,) or (N, width), or (N,) structured for a record.
        """
        assert len(arrays) == len(self.inputs), f"{self.name} takes {len(self.inputs)} arguments"
        count = len(np.asarray(arrays[0])) if arrays else 1
        rows = max(1, -(-count // COLUMNS))
        given = np.zeros(rows * COLUMNS, self.given.dtype)
        for value, array in zip(self.inputs, arrays, strict=True):
            value.put(given[:count], array)
        if rows not in self.streams:
            made = Stream(self.device, self.made, (COLUMNS, rows))
            target = self.device.context.framebuffer(made.textures)
            tiles = Tiles(self.device, made.size, max(made.size))
            tiles.set_alive(None)
            drawing = Drawing(self.device, self.shader, tiles)
            self.streams[rows] = Stream(self.device, self.given, made.size), made, target, drawing
        read, write, target, drawing = self.streams[rows]
        if self.given.fields:
            read.write(given.reshape(rows, COLUMNS))
        samplers = {f"in_{k}": texture for k, texture in enumerate(read.textures)}
        for module in self.modules:
            for memory in module.memories:
                if not isinstance(memory, Table) or memory.hot:
                    samplers[f"memory_{memory.name}"] = self.resources.get(memory).texture
        if self.resources.arena.tables():
            samplers["memory_arena"] = self.resources.arena
        for name, texture in samplers.items():
            self.shader.bind(name, texture)
        self.set({"calls": count, "depth": 0.5})
        target.use()
        self.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        drawing.render()
        result = write.read().reshape(-1)[:count]
        return tuple(value.take(result) for value in self.outputs)
