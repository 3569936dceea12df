"""Object files of compiled loops: cached in the user's cache folder, linked into the process by LLVM."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from raystream.base import cache_folder

FORMAT = 1  # of calls and files; a change recompiles all


@dataclass(frozen=True)
class Object:
    """A loop's machine code.

    results : kinds of the returned numbers, "b", "i", "f"; a tuple's after a "(".
    code    : the object file. entry : without one, numba's function, with an ``address``.
    """

    results: str
    code: bytes
    entry: Any = None


def folders() -> list[Path]:
    """Folders of object files, see `raystream.base.cache_folder`."""
    return cache_folder.folders("loops")


def key(name: str, content: str) -> str:
    """Name of the object file, and of its symbol, for a loop of this content on this machine."""
    return f"{name}_{hashlib.sha256(f'{_machine()} {content}'.encode()).hexdigest()[:32]}"


def find(key: str) -> Object | None:
    """The object file; None if missing or damaged."""
    for _, content in cache_folder.find(folders(), f"{key}.o"):
        results, _, code = content.partition(b"\n")
        return Object(results.decode(), code)
    return None


def keep(key: str, machine_code: Object) -> None:
    """Cache an object file for later processes, if there is one and the folder is writable."""
    if machine_code.code:
        cache_folder.keep(folders(), f"{key}.o", machine_code.results.encode() + b"\n" + machine_code.code)


@cache
def _machine() -> str:
    """All that machine code depends on besides the loop; numba's version follows llvmlite's."""
    made_by = f"{FORMAT} {llvmlite.__version__} {sys.version_info[:2]} {np.__version__}"
    return f"{made_by} {llvm.get_process_triple()} {llvm.get_host_cpu_name()} {_features()}"


@cache
def _features() -> str:
    return llvm.get_host_cpu_features().flatten()


def target_machine() -> Any:
    """LLVM's code generator for this machine, as numba sets it up."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    static = target.name.startswith("x86")  # LLVM's in-memory linker needs it there
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc="static" if static else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())


def link(key: str, machine_code: Object) -> int:
    """The address of a loop's machine code, linked into this process."""
    if not machine_code.code:
        return int(machine_code.entry.address)
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code.code))
    engine.finalize_object()
    return int(engine.get_function_address(key))
