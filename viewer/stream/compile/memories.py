"""GLSL of a kernel's inputs: memories with a texture of their own, cold tables in the arena, uniforms, and gathered
streams.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from raystream.base.errors import DeviceError
from raystream.stream.declare.kernel import Module, Table, Texels, Volume
from raystream.stream.declare.record import SMALL, Record

# -- addresses of memories in generated programs: the layout of each, and a cold table's base in the arena -------------
# Hot memories, read in every traversal step, have a texture each. A scene's cold tables share one float texture,
# the *arena*, so that no step reads from many samplers.

MAX_ROW_TEXELS = 16384  # texels of a row in use: enough for 2^24 records of up to 16 texels in as many rows
MAX_LAYERS = 256  # of a 2-D array texture, guaranteed by OpenGL 3.3
IN_BUFFER = 0  # `Addressing.per_row` of a buffer texture


@dataclass(frozen=True)
class Addressing:
    """Addressing of a memory: ``per_row`` records (a power of two) in a row of a 2-D texture, 0 in a buffer texture.

    channels : per texel. layers : of a 2-D array texture, with equal rows; 0: not an array. large : more records than
    `SMALL`.
    """

    per_row: int
    channels: int
    layers: int = 0
    large: bool = False


class Addresses(Protocol):
    """The generator's view of the placement of memories.

    A cold table's base in the arena is not part of a program but a uniform, `Resources.base` of the table.
    """

    @property
    def arena_row(self) -> int:
        """Texels in a row of the arena, a power of two; 0 for a buffer texture."""

    def layout(self, memory: Table | Volume | Texels) -> Addressing:
        """The layout of a memory with a texture of its own."""


class PlannedAddresses:
    """Addresses planned from a driver's limits, without OpenGL."""

    def __init__(self, largest: int, buffer_texels: int = 0) -> None:
        """largest: edge of a 2-D texture. buffer_texels: of a buffer texture."""
        self.largest, self.buffer_texels = largest, buffer_texels

    @property
    def arena_row(self) -> int:
        """See `Addresses`."""
        return arena_row(self.largest, self.buffer_texels)

    def layout(self, memory: Table | Volume | Texels) -> Addressing:
        """See `Addresses`."""
        return layout(self.largest, memory, self.buffer_texels)


def texels_of(table: Table) -> int:
    """Texels of a table in the arena; an empty one has room for one record, so that address 0 is valid."""
    return max(1, table.record.texels) * max(1, len(table.data))


def arena_row(largest: int, buffer_texels: int) -> int:
    """`Addresses.arena_row`: a buffer texture where the driver's are larger than OpenGL 3.3 guarantees."""
    return IN_BUFFER if buffer_texels >= 1 << 24 else 1 << min(largest, MAX_ROW_TEXELS).bit_length() - 1


def layout(largest: int, memory: Table | Volume | Texels, buffer_texels: int = 0) -> Addressing:
    """The layout of a memory. largest: edge of a 2-D texture; buffer_texels: of a buffer texture; both the driver's.

    In 2-D a row holds a power of two of records, so that none straddles two rows.
    """
    if isinstance(memory, Volume):
        return Addressing(IN_BUFFER if memory.data.size <= buffer_texels else 1, 1)
    if isinstance(memory, Texels):
        return _texel_layout(largest, memory, buffer_texels)
    texels, count = max(1, memory.record.texels), max(1, len(memory.data))
    channels = 4 if texels > 1 or memory.record.scalars > 2 else memory.record.scalars
    if texels * count <= buffer_texels:
        return Addressing(IN_BUFFER, channels, large=count > SMALL)
    per_row = 1 << (min(largest, MAX_ROW_TEXELS) // texels).bit_length() - 1
    # A small table needs no long row; about square suits tiled textures.
    while per_row > 64 and (per_row // 2) ** 2 * texels >= 2 * count:
        per_row //= 2
    if -(-count // per_row) > largest:
        raise DeviceError(
            f"memory {memory.name}",
            f"{count:,} records of {texels} texels exceed a texture of {largest} x {largest}",
            "use a smaller scene",
        )
    return Addressing(per_row, channels, large=count > SMALL)


def _texel_layout(largest: int, memory: Texels, buffer_texels: int) -> Addressing:
    """`layout` of single texels: in layers where one texture is too small."""
    count = max(1, len(memory.data))
    if count <= buffer_texels:
        return Addressing(IN_BUFFER, 4)
    per_row = 1 << min(largest, MAX_ROW_TEXELS).bit_length() - 1
    while per_row > 64 and (per_row // 2) ** 2 >= 2 * count:
        per_row //= 2
    if count <= per_row * per_row or -(-count // per_row) <= largest:
        return Addressing(per_row, 4)
    layers = -(-count // per_row**2)
    if layers > MAX_LAYERS:
        what = f"{count:,} texels exceed {MAX_LAYERS} textures of {per_row} x {per_row}"
        raise DeviceError(f"memory {memory.name}", what, "reduce the images by --max-texture")
    return Addressing(per_row, 4, layers)


# -- GLSL of a kernel's inputs -----------------------------------------------------------------------------------------


def memory_glsl(memory: Table | Volume | Texels, layout: Addressing, counting: bool) -> str:
    """The sampler and ``fetch_<name>`` of a memory with its own texture."""
    sampler, texture = f"memory_{memory.name}", "sampler2D"
    texels, parameter, setup = 1, "ivec3 at", ""
    if isinstance(memory, Texels):
        result_type, value, parameter = "vec4", "{}", "int i"
        shift, mask = layout.per_row.bit_length() - 1, layout.per_row - 1
        if layout.layers:
            texture = "sampler2DArray"
            address = f"ivec3(i & {mask}, (i >> {shift}) & {mask}, i >> {2 * shift})"
            fetches = [f"texelFetch({sampler}, {address}, 0)"]
        elif layout.per_row:
            fetches = [f"texelFetch({sampler}, ivec2(i & {mask}, i >> {shift}), 0)"]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, i)"]
    elif isinstance(memory, Volume):
        _, height, width = memory.data.shape
        result_type, value = "float", "{}.x"
        if layout.per_row:
            texture, fetches = "sampler3D", [f"texelFetch({sampler}, at, 0)"]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, at.x + {width} * (at.y + {height} * at.z))"]
    else:
        result_type, texels, parameter = memory.record.name, memory.record.texels, "int i"
        value = f"unpack_{result_type}({{}})"
        if layout.per_row:
            shift = layout.per_row.bit_length() - 1
            setup = f"    ivec2 at = ivec2((i & {layout.per_row - 1}) * {texels}, i >> {shift});\n"
            fetches = [f"texelFetch({sampler}, at + ivec2({k}, 0), 0)" for k in range(texels)]
        else:
            texture, fetches = "samplerBuffer", [f"texelFetch({sampler}, i * {texels} + {k})" for k in range(texels)]
    if counting:
        words = 1 if isinstance(memory, Texels) else texels * layout.channels
        setup += f"    random_words += {words};\n"
    fetched = value.format(", ".join(fetches))
    function = f"{result_type} fetch_{memory.name}({parameter}) {{\n{setup}    return {fetched};\n}}"
    return f"uniform {texture} {sampler};\n{function}"


def arena_glsl(row: int) -> str:
    """The sampler of the arena, and ``arena_texel``. row : texels in a row, 0 for a buffer texture."""
    if not row:
        return "uniform samplerBuffer memory_arena;\nvec4 arena_texel(int i) { return texelFetch(memory_arena, i); }"
    at = f"ivec2(i & {row - 1}, i >> {row.bit_length() - 1})"
    return f"uniform sampler2D memory_arena;\nvec4 arena_texel(int i) {{ return texelFetch(memory_arena, {at}, 0); }}"


def base_name(table: Table) -> str:
    """The uniform of a cold table's first texel in the arena."""
    return f"arena_base_{table.name}"


def tables_of(modules: Iterable[Module]) -> dict[str, Table]:
    """The tables of these modules by name; modules that share a table have the same one."""
    return {memory.name: memory for module in modules for memory in module.memories if isinstance(memory, Table)}


def cold_tables(modules: Iterable[Module]) -> list[Table]:
    """The tables of modules that lie in the arena."""
    return [m for module in modules for m in module.memories if isinstance(m, Table) and not m.hot]


def cold_glsl(table: Table, counting: bool, once: bool = True) -> str:
    """``fetch_<name>`` of a table in the arena, its base a uniform: tables of other sizes and edited scenes share a
    program, without recompilation by the driver. ``counting``: it adds the words read to ``random_words``.
    ``once``: see `uniform_glsl`."""
    record, texels, base = table.record.name, table.record.texels, base_name(table)
    declared = uniform_glsl("int", base, once=once)
    fetches = ", ".join(f"arena_texel(at + {k})" if k else "arena_texel(at)" for k in range(texels))
    setup = f"    random_words += {4 * texels};\n" if counting else ""
    setup += f"    int at = i * {texels} + {base};\n" if texels else ""
    return f"{declared}\n{record} fetch_{table.name}(int i) {{\n{setup}    return unpack_{record}({fetches});\n}}"


def uniform_glsl(type_: str, name: str, about: str = "", once: bool = True) -> str:
    """A uniform. ``once``: of a fragment program for a driver that rasterises on the CPU, read once: llvmpipe (Mesa
    22.3) reads a uniform inside a loop in every iteration, lane by lane, with some thirty instructions. It also undoes
    copies that do not depend on the fragment. Arrays stay as they are. On a GPU the copy would take a register."""
    declared = f"uniform {type_} {name};{about and '  // '}{about}"
    if not once or type_.endswith("]"):
        return declared
    return f"{declared}\n{type_} once_{name} = gl_FragCoord.x < 0.0 ? {type_}(0) : {name};\n#define {name} once_{name}"


def gather_glsl(argument: str, stream: str, record: Record, counting: bool) -> str:
    """``fetch_<argument>`` over a stream, elements numbered row by row."""
    fetches = ", ".join(f"texelFetch(in_{stream}_{k}, at, 0)" for k in range(record.texels))
    setup = f"    random_words += {4 * record.texels};\n" if counting else ""
    return (
        f"{record.name} fetch_{argument}(int i) {{\n{setup}"
        f"    ivec2 at = texel_of(i, textureSize(in_{stream}_0, 0).x);\n    return unpack_{record.name}({fetches});\n}}"
    )
