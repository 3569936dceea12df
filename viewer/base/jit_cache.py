"""Object files of compiled loops: cached in the user's cache folder, linked into the process by LLVM."""

from __future__ import annotations

import hashlib
import os
import stat
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

FORMAT = 1  # of calls and files; a change recompiles all
FOLDER = "RAYSTREAM_CACHE_DIR"


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
    """Folders of object files: ``RAYSTREAM_CACHE_DIR``, or the user's cache folder, or if that is not writable, as
    without a home, a private folder among the temporary ones."""
    if os.environ.get(FOLDER):
        return [Path(os.environ[FOLDER])]
    from platformdirs import user_cache_path

    path = user_cache_path("raystream", appauthor=False) / "loops"
    beside = None if _writable(path) else _temporary()
    return [path] if beside is None else [path, beside]


def _writable(path: Path) -> bool:
    there = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _temporary() -> Path | None:
    """A temporary folder that no other user can have written machine code to; None without one."""
    if not hasattr(os, "getuid"):
        return None
    path = Path(tempfile.gettempdir()) / f"raystream-{os.getuid()}"
    try:
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if own else None


def key(name: str, content: str) -> str:
    """Name of the object file, and of its symbol, for a loop of this content on this machine."""
    return f"{name}_{hashlib.sha256(f'{_machine()} {content}'.encode()).hexdigest()[:32]}"


def find(key: str) -> Object | None:
    """The object file; None if missing or damaged."""
    for path in folders():
        with suppress(OSError):
            found = _checked((path / f"{key}.o").read_bytes())
            if found is not None:
                return found
    return None


def _checked(data: bytes) -> Object | None:
    checksum, _, rest = data.partition(b"\n")
    if checksum != hashlib.sha256(rest).hexdigest().encode():
        return None
    results, _, code = rest.partition(b"\n")
    return Object(results.decode(), code)


def keep(key: str, made: Object) -> None:
    """Cache an object file for later processes, if there is one and the folder is writable."""
    if not made.code:
        return
    rest = made.results.encode() + b"\n" + made.code
    with suppress(OSError):
        path = folders()[-1]
        path.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path)
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)
            os.replace(temporary, path / f"{key}.o")  # atomic among concurrent writers
        except OSError:
            os.unlink(temporary)
            raise


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


def link(key: str, made: Object) -> int:
    """The address of a loop's machine code, linked into this process."""
    if not made.code:
        return int(made.entry.address)
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(made.code))
    engine.finalize_object()
    return int(engine.get_function_address(key))
