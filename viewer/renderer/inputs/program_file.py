"""Programs in files of users: ``--program my_ao.py``, a Python file with a `PictureProgram` named ``PROGRAM``.

The file is read when it is named, and again when it has changed. Its faults are a `ViewerError` with the file's line.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from types import ModuleType
from typing import Any

from raystream.base.errors import ViewerError, WiringError
from raystream.options import table as options
from raystream.programs.registry import PICTURES, PictureProgram, register
from raystream.stream.declare.program import Program

EXTENSION, NAME = ".py", "PROGRAM"
REMEDY = f"{NAME} = PictureProgram(name, function, help, caption)"

Stamp = tuple[int, int]  # time of change in nanoseconds, and bytes


@dataclass(frozen=True)
class _ProgramFile:
    """A file that has been read. path : absolute. name : of its program."""

    path: str
    name: str
    stamp: Stamp


_FILES: dict[str, _ProgramFile] = {}  # by path


def read_program(value: Any) -> str:
    """The name of a program that is given by name, or by its file. Raises ViewerError."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and value.endswith(EXTENSION) and value not in PICTURES:
        value = _current(os.path.abspath(value))
    return str(options.check("program", value, PICTURES))


def file_of(name: str) -> str | None:
    """The absolute path of the file that a program comes from; None for one of this or another distribution."""
    return next((file.path for file in _FILES.values() if file.name == name), None)


def program_files() -> list[str]:
    """The absolute paths of all files that have been read."""
    return list(_FILES)


@contextmanager
def renewed() -> Iterator[None]:
    """Read changed files again; the programs are the former ones again where the body, or a file, raises."""
    pictures, files = dict(PICTURES), dict(_FILES)
    try:
        for path in files:
            _current(path)
        yield
    except BaseException:
        PICTURES.clear()
        PICTURES.update(pictures)
        _FILES.clear()
        _FILES.update(files)
        raise


def _current(path: str) -> str:
    """The name of a file's program, as the file is now."""
    stamp, before = _stamp(path), _FILES.get(path)
    if before is not None and before.stamp == stamp:
        return before.name
    program = _read(path)
    if before is not None and before.name != program.name:
        what = f"its program was '{before.name}' and is now '{program.name}'"
        raise ViewerError(path, what, "keep the name, or start again")
    former = PICTURES.pop(before.name) if before is not None else None
    try:
        register(program)
    except ValueError as error:
        if former is not None:
            register(former)
        raise ViewerError(path, str(error), "give the program another name or key") from None
    _FILES[path] = _ProgramFile(path, program.name, stamp)
    return program.name


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError as error:
        raise ViewerError(path, f"no program: {error.strerror}", "name a Python file") from None
    return status.st_mtime_ns, status.st_size


def _read(path: str) -> PictureProgram:
    """The program of a file, whose wiring has been tried."""
    # A module of its own, in which dataclasses find their names; its name is no other module's.
    module = ModuleType(f"raystream_program_{os.path.splitext(os.path.basename(path))[0]}")
    module.__file__ = path
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        raise ViewerError(path, f"no program: {error.strerror}", "name a Python file") from None
    except SyntaxError as error:
        raise ViewerError(f"{path}:{error.lineno}" if error.lineno else path, f"{error.msg}") from None
    except ValueError as error:  # a null byte
        raise ViewerError(path, str(error), "name a Python file") from None
    with _line_named(path):
        sys.modules[module.__name__] = module
        exec(code, vars(module))
    program: Any = getattr(module, NAME, None)
    if program is None:
        raise ViewerError(path, f"has no {NAME}", REMEDY)
    if not isinstance(program, PictureProgram):
        raise ViewerError(path, f"{NAME} is of type {type(program).__name__}, not PictureProgram", REMEDY)
    if not callable(program.make):
        raise ViewerError(path, f"the maker of {NAME} is no function", REMEDY)
    program = replace(program, make=_guarded(program.make, path))
    wired: Any = program()
    if not isinstance(wired, Program):
        where = f"{path}:{_first_line(program.make)}"
        raise ViewerError(where, f"the maker of {NAME} returns {type(wired).__name__}, not Program")
    return program


def _guarded(make: Callable[..., Program], path: str) -> Callable[..., Program]:
    """A maker of programs whose faults name the file's line."""

    @wraps(make)
    def guarded(*traversal: Any, **form: Any) -> Program:
        with _line_named(path, make):
            return make(*traversal, **form)

    return guarded


@contextmanager
def _line_named(path: str, make: Callable[..., Any] | None = None) -> Iterator[None]:
    """Have whatever the file's code raises be a ViewerError with the innermost line of the file; without one, with the
    first line of ``make``."""
    try:
        yield
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        line = lines[-1] if lines else _first_line(make)
        where = f"{path}:{line}" if line else path
        if isinstance(error, WiringError):
            raise WiringError(where, f"{error.where}: {error.what}", error.hint) from None
        if isinstance(error, ViewerError):
            raise ViewerError(where, f"{error.where}: {error.what}", error.hint) from None
        raise ViewerError(where, f"{type(error).__name__}: {error}") from None


def _first_line(make: Any) -> int | None:
    """The first line of a function."""
    code = getattr(getattr(make, "__wrapped__", make), "__code__", None)
    return None if code is None else code.co_firstlineno
