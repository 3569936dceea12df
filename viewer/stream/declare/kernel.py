"""Declarations of kernels and modules: arguments, exits, and needs of GLSL functions. No OpenGL here.

A kernel is one GLSL function, in ``shaders/kernels/<name>.glsl``, that advances one ray and returns an exit
(``EXIT_AGAIN`` for the exit ``again``). A module is GLSL that provides functions to kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import WiringError
from raystream.stream.declare.record import IDENTIFIER, LARGEST_INTEGER, Record


class Access(Enum):
    """A kernel's access to an argument."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    GATHER = "gather"

    @property
    def reads(self) -> bool:
        """Whether the ray's own element is loaded before the call."""
        return self in (Access.IN, Access.INOUT)

    @property
    def writes(self) -> bool:
        """Whether the ray's own element is stored after the call."""
        return self in (Access.OUT, Access.INOUT)


@dataclass(frozen=True)
class ModuleState:
    """A record whose fields the providing module decides (traversal state differs among structures)."""

    name: str


@dataclass(frozen=True)
class Argument:
    """A kernel's argument: its name, its record (or the name of a module's), its access."""

    name: str
    record: Record | ModuleState
    access: Access


def IN(name: str, record: Record | ModuleState) -> Argument:
    """A read-only argument."""
    return Argument(name, record, Access.IN)


def OUT(name: str, record: Record | ModuleState) -> Argument:
    """An argument written in full at every exit."""
    return Argument(name, record, Access.OUT)


def INOUT(name: str, record: Record | ModuleState) -> Argument:
    """An argument updated in place."""
    return Argument(name, record, Access.INOUT)


def GATHER(name: str, record: Record) -> Argument:
    """A stream of any size that is read at any index: the kernel calls ``fetch_<name>(int) -> <record>``.

    Not an argument of the GLSL function. No step may gather from a stream that it writes.
    """
    return Argument(name, record, Access.GATHER)


@dataclass(frozen=True)
class Kernel:
    """A GLSL function ``int name(arguments)`` in ``kernels/<name>.glsl``; of `copying` it is generated.

    exits : possible return values. needs : functions of modules. copies : pairs of arguments, the second a copy of the
    first. source : the path of its file elsewhere, of a plug-in.
    """

    name: str
    arguments: tuple[Argument, ...]
    exits: tuple[str, ...]
    needs: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        for label, names in (("arguments", [a.name for a in self.arguments]), ("exits", list(self.exits))):
            for identifier in (self.name, *names):
                if not IDENTIFIER.fullmatch(identifier):
                    raise WiringError(f"kernel {self.name}", f"'{identifier}' is no name in GLSL", "letters, digits, _")
            if len({name.upper() for name in names} if label == "exits" else set(names)) != len(names):
                raise WiringError(f"kernel {self.name}", f"two {label} of one name among {', '.join(names)}")
        if not self.exits:
            raise WiringError(f"kernel {self.name}", "no exits", "a kernel returns an exit for its ray")

    @property
    def file(self) -> str:
        """Its source, relative to ``shaders/``; empty where that is generated."""
        return "" if self.copies else self.source or f"kernels/{self.name}.glsl"

    @property
    def copy_glsl(self) -> str:
        """The function of a kernel that copies."""
        assignments = "".join(f"    {copy} = {source};\n" for source, copy in self.copies)
        return f"{self.prototype().removesuffix(';')} {{\n{assignments}    return EXIT_DONE;\n}}"

    def prototype(self) -> str:
        """The GLSL prototype, generated here so that the compiler rejects a source with another signature."""
        arguments = ", ".join(f"{a.access.value} {a.record.name} {a.name}" for a in self.glsl_arguments)
        return f"int {self.name}({arguments});"

    @property
    def glsl_arguments(self) -> tuple[Argument, ...]:
        """The arguments of the GLSL function: the ray's own elements."""
        return tuple(a for a in self.arguments if a.access is not Access.GATHER)

    @property
    def gathered(self) -> tuple[Argument, ...]:
        """The streams that it reads at any index."""
        return tuple(a for a in self.arguments if a.access is Access.GATHER)


def copying(name: str, *copies: tuple[str, str, Record | ModuleState]) -> Kernel:
    """The kernel that copies streams, with the exit "done"; copies : (source, copy, record)."""
    arguments = [argument for source, copy, record in copies for argument in (IN(source, record), OUT(copy, record))]
    return Kernel(name, tuple(arguments), ("done",), copies=tuple((source, copy) for source, copy, _ in copies))


@dataclass
class Table:
    """Read-only records with 1-D addresses: ``fetch_<name>(int) -> <record>`` in GLSL.

    data : (N,) structured of ``record.dtype``. hot : read in every traversal step, in a texture of its own; a scene's
    cold tables share the arena.

    Raises WiringError beyond 2^24 records: addresses are floats.
    """

    name: str
    record: Record
    data: NDArray
    hot: bool = False

    def __post_init__(self) -> None:
        if not self.record.fields:
            raise WiringError(f"memory {self.name}", f"record {self.record.name} has no fields")
        if len(self.data) > LARGEST_INTEGER:
            raise WiringError(
                f"memory {self.name}",
                f"{len(self.data):,} records; an address in a float is exact up to 2^24 = {LARGEST_INTEGER:,}",
                "use a smaller scene or a coarser grid",
            )


@dataclass
class Volume:
    """Read-only floats with 3-D addresses: ``fetch_<name>(ivec3) -> float`` in GLSL. data: (D, H, W) float32."""

    name: str
    data: NDArray[np.float32]


@dataclass
class Texels:
    """Read-only RGBA8 texels with 1-D addresses: ``fetch_<name>(int) -> vec4``, 0 .. 1, in GLSL.

    data : (N, 4) uint8. Addresses are GLSL integers, never floats: N may exceed 2^24.
    """

    name: str
    data: NDArray[np.uint8]


@dataclass(frozen=True)
class PreparedValue:
    """A value derived from a stream's record alone, computed once per load or write of that stream in a step. Without
    it the module's functions would compute it in each call, with code for every call.

    record : name of the record. function : ``<type> function(record)``. variable : of that type, declared by the
    module, with the value for the current kernel's record. feature : under which the functions read it. serves : the
    functions; kernels that need one of them read a single stream of such records. preserved_by : kernels that need one
    of these functions may write the record, but leave the value unchanged.
    """

    record: str
    type: str
    function: str
    variable: str
    feature: str
    serves: frozenset[str]
    preserved_by: frozenset[str] = frozenset()


@dataclass
class Module:
    """GLSL that provides functions, with its memories, uniforms, and the record it keeps between calls.

    provides : function names. source : file relative to ``shaders/``. uniforms : name -> (GLSL type, value). constants
    : name -> value, emitted as GLSL ``const`` (declared once, in Python). module_state : the record, or None. needs :
    functions of other modules. uses : records of its functions' arguments. text : generated GLSL, emitted before the
    source. local : it has variables besides its record (a stack) that end with the pass. capacities : names of
    constants that may be larger than necessary; programs with the larger value are reused. features : conditional
    parts of sources, its own and other modules'; see `raystream.stream.compile.source`. prepared : values derived from
    a record for its functions.
    """

    name: str
    provides: tuple[str, ...]
    source: str
    memories: tuple[Table | Volume | Texels, ...] = ()
    uniforms: dict[str, tuple[str, Any]] = field(default_factory=dict)
    constants: dict[str, int | float] = field(default_factory=dict)
    module_state: Record | None = None
    needs: tuple[str, ...] = ()
    uses: tuple[Record, ...] = ()
    text: str = ""
    local: bool = False
    features: frozenset[str] = frozenset()
    capacities: frozenset[str] = frozenset()
    prepared: PreparedValue | None = None
