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
    """The name of a program: ``value`` itself, or that of the program in the file ``value``. Raises ViewerError."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and value.endswith(EXTENSION) and value not in PICTURES:
        value = _read_if_changed(os.path.abspath(value))
    return str(options.check("program", value, PICTURES))


def program_path(name: str) -> str | None:
    """The absolute path of the file that a program was read from; None for built-in programs and plug-ins."""
    return next((file.path for file in _FILES.values() if file.name == name), None)


def program_files() -> list[str]:
    """The absolute paths of all files that have been read."""
    return list(_FILES)


@contextmanager
def reread_programs() -> Iterator[None]:
    """Read changed files again; restore the former programs where the body of the ``with``, or a file, raises."""
    pictures, files = dict(PICTURES), dict(_FILES)
    try:
        for path in files:
            _read_if_changed(path)
        yield
    except BaseException:
        PICTURES.clear()
        PICTURES.update(pictures)
        _FILES.clear()
        _FILES.update(files)
        raise


def _read_if_changed(path: str) -> str:
    """The name of a file's program; the file is read, and the program registered, where it is new or has changed."""
    stamp, before = _file_stamp(path), _FILES.get(path)
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


def _file_stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError as error:
        raise ViewerError(path, f"no program: {error.strerror}", "name a Python file") from None
    return status.st_mtime_ns, status.st_size


def _read(path: str) -> PictureProgram:
    """The program of a file, which has been wired once as a check. Raises ViewerError."""
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
    with _errors_with_line(path):
        sys.modules[module.__name__] = module
        exec(code, vars(module))
    program: Any = getattr(module, NAME, None)
    if program is None:
        raise ViewerError(path, f"has no {NAME}", REMEDY)
    if not isinstance(program, PictureProgram):
        raise ViewerError(path, f"{NAME} is of type {type(program).__name__}, not PictureProgram", REMEDY)
    if not callable(program.make):
        raise ViewerError(path, f"the maker of {NAME} is no function", REMEDY)
    program = replace(program, make=_with_error_lines(program.make, path))
    wired: Any = program()
    if not isinstance(wired, Program):
        where = f"{path}:{_first_line(program.make)}"
        raise ViewerError(where, f"the maker of {NAME} returns {type(wired).__name__}, not Program")
    return program


def _with_error_lines(make: Callable[..., Program], path: str) -> Callable[..., Program]:
    """The function ``make``, with errors that name a line of the file at ``path``."""

    @wraps(make)
    def guarded(*traversal: Any, **form: Any) -> Program:
        with _errors_with_line(path, make):
            return make(*traversal, **form)

    return guarded


@contextmanager
def _errors_with_line(path: str, make: Callable[..., Any] | None = None) -> Iterator[None]:
    """Turn whatever the body raises into a ViewerError with the innermost line of the file in the traceback, or the
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
