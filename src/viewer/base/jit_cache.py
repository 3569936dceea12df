"""Object files of compiled loops: kept in the user's cache folder, and linked into the process by LLVM."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

FORMAT = 1  # of the calls and of the files; a change makes all of them anew
FOLDER = "RAYSTREAM_CACHE_DIR"


@dataclass(frozen=True)
class Object:
    """A loop's machine code.

    results : kinds of the numbers that it returns, "b", "i", "f"; a tuple's after a "(".
    code    : the object file. entry : where there is none, numba's function, which has an ``address``.
    """

    results: str
    code: bytes
    entry: Any = None


def folder() -> Path:
    """Where object files are kept: ``RAYSTREAM_CACHE_DIR``, or the user's cache folder."""
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    from platformdirs import user_cache_path

    return user_cache_path("raystream", appauthor=False) / "loops"


def key(name: str, content: str) -> str:
    """Names the object file of a loop of this content for this machine, and its symbol in there."""
    return f"{name}_{hashlib.sha256(f'{_machine()} {content}'.encode()).hexdigest()[:32]}"


def find(key: str) -> Object | None:
    """The object file; None where there is none, or a damaged one."""
    try:
        data = (folder() / f"{key}.o").read_bytes()
    except OSError:
        return None
    checksum, _, rest = data.partition(b"\n")
    if checksum != hashlib.sha256(rest).hexdigest().encode():
        return None
    results, _, code = rest.partition(b"\n")
    return Object(results.decode(), code)


def keep(key: str, made: Object) -> None:
    """Keep an object file for later processes, where there is one and the folder can be written."""
    if not made.code:
        return
    rest = made.results.encode() + b"\n" + made.code
    with suppress(OSError):
        path = folder()
        path.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path)
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
            os.replace(temporary, path / f"{key}.o")  # whole, whoever else writes it
        except OSError:
            os.unlink(temporary)
            raise


@cache
def _machine() -> str:
    """Everything beside the loop that its machine code depends on; numba's version goes with llvmlite's."""
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
    static = target.name.startswith("x86")  # LLVM's linker of code in memory needs it there
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


def link(key: str, made: Object) -> int:
    """The address of a loop's machine code, linked into this process."""
    if not made.code:
        return int(made.entry.address)
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(made.code))
    engine.finalize_object()
    return int(engine.get_function_address(key))
